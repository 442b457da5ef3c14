"""Improving a partition until time is up: kinds of change that compete for it, accepted as in simulated annealing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from kanopy._arrays import Ints
from kanopy._progress import Progress
from kanopy.search.bound.cut_prices_kernel import improve_prices
from kanopy.search.bound.limits_kernel import find_limits, grow_crowds, span_boxes, sum_inside
from kanopy.search.bound.prices_kernel import cap_boxes, cut_again, walk_boxes
from kanopy.search.budget import Budget, so_far
from kanopy.search.local.best.agglomerate_kernel import agglomerate, make_units
from kanopy.search.local.best.choice_kernel import choose, lighten
from kanopy.search.local.best.moves.anneal_kernel import LOGS, anneal
from kanopy.search.local.best.moves.chains_kernel import chain, make_chains
from kanopy.search.local.best.moves.journal_kernel import FEW, make_journal
from kanopy.search.local.best.moves.reopen_kernel import dissolve, make_look, reopen
from kanopy.search.local.best.moves.resplit_kernel import resplit
from kanopy.search.local.best.moves.widen_kernel import make_lattice, widen
from kanopy.search.local.best.neighbours_kernel import look_around
from kanopy.search.local.best.parallel_partitions import Parts, parts_of
from kanopy.search.local.best.partition_kernel import WORK, Partition, fit_all, make_partition
from kanopy.search.local.boxes import Layout, class_runs
from kanopy.search.local.boxes_kernel import LEVELS
from kanopy.search.local.chunking_kernel import chunk
from kanopy.search.local.chunks import chunk_records, shuffled_order

NEIGHBOURS = 24
WINDOW = 12
ORDERS = 8
WIDE_ROWS = 40_000
"""Opening a class in any generalization of a row counts the rows of its chunk: chunks of this many at most."""
WIDE_CELLS = 20_000
SLICE_SECONDS = 0.1
NOTED = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Where in a stage a release is looked at."""
NEAR_SECONDS, LAYING_SECONDS = 1.1e-8, 5e-7
"""Seconds of an ordinary machine for looking at two records' values in a column, and for laying out a row."""

KERNELS = (
    chunk, look_around, fit_all, agglomerate, anneal, resplit, chain, reopen, dissolve, widen, choose, lighten,
    walk_boxes, cap_boxes, cut_again, improve_prices, span_boxes, find_limits, grow_crowds, sum_inside,
)  # fmt: skip
"""Those with much in common side by side: they are compiled by the same process."""


@dataclass(frozen=True)
class Kind:
    """A kind of change: `run` takes a heat and a number of steps and returns the change in cost.

    `per_sweep` steps per row are a round of a search that counts steps instead of seconds; `first` are tried before
    their time is known; `classes`: whole classes come and go, so that heat is measured against k rows, not one.
    `nanoseconds` is what a box it looks at takes in a table of 2,000 rows with eight columns, and what every doubling
    of the rows adds, since fewer of them lie in the processor's cache; `step_seconds` is what a step takes beside that.
    """

    run: Callable[[float, int], float]
    per_sweep: float
    first: int
    nanoseconds: tuple[float, float]
    classes: bool = False
    step_seconds: float = 3e-8


class Improvement:
    """The partition under improvement, and the best one seen."""

    def __init__(self, layout: Layout, class_of: Ints, k: int, seed: int, threads: int = 1) -> None:
        self.layout, self.k, self.threads = layout, k, threads
        self.generator = np.random.default_rng(seed)
        self.random = self.generator.integers(1, 2**63, 1).astype(np.uint64)
        self.part = partition_of(layout, class_of, k)
        self.best_cost = self.first_cost = self.cost()
        self.kept = self.part.class_of.copy()
        self.rounds = self.orders = 0
        self.floor = 0.0
        """A loss that no classes can go below."""
        self.heat = 1.0
        """How hot it gets, as a share of what is usual."""
        self.near = np.full((layout.records, NEIGHBOURS), -1, np.int32)
        self.far = np.full((layout.records, NEIGHBOURS), np.inf)
        self.stats = np.zeros(12, np.int64)

    def cost(self) -> float:
        """The sum of weights over all items."""
        return float((self.part.size * self.part.weight).sum())

    def best_classes(self) -> Ints:
        """The classes of the best partition seen."""
        self._keep()
        return self.kept

    def _keep(self) -> None:
        cost = self.cost()
        if cost < self.best_cost:
            self.best_cost = cost
            self.kept[:] = self.part.class_of

    def kinds(self) -> list[Kind]:
        """The kinds of change."""
        boxes, joins, partition, near, k = self.layout.boxes, self.layout.joins, self.part, self.near, self.k
        random, stats = self.random, self.stats
        width, classes, items = boxes.tuples.shape[1], len(partition.size), len(partition.record)
        journal = make_journal(items, classes, width)
        order, starts = chunk_records(self.layout, WIDE_ROWS, k)
        chunk_of = np.zeros(self.layout.records, np.int32)
        chunk_of[order] = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        cells = 1
        for levels in boxes.head[:, LEVELS].tolist():
            cells = min(WIDE_CELLS, cells * levels)
        lattice = make_lattice(boxes, cells, items, classes)
        look = make_look(NEIGHBOURS, width, int(boxes.head[:, LEVELS].max()))
        most = min(max(20, 4 * k), 120)
        units, pool = make_units(most, width), np.zeros((2, most), np.int32)
        kinds_of_change = [
            Kind(lambda heat, n: reopen(joins, partition, journal, look, near, k, heat, n, random, LOGS, stats), 1 / 8,
            64,
                 (15, 5)),
            Kind(lambda heat, n: anneal(joins, partition, near, k, heat, n, random, LOGS, stats), 1 / 2, 256, (10, 9)),
            Kind(
                lambda heat, n: dissolve(joins, partition, journal, near, k, heat, n, random, LOGS, stats), 1 / 64, 4,
                (18, 2), True,
            ),
            Kind(
                lambda heat, n: widen(
                    boxes, joins, partition, journal, lattice, near, chunk_of, order, starts, k, heat, n, random, LOGS,
                    stats
                ), 1 / 2000, 16, (10, 1), True,
            ),
        ]  # fmt: skip
        if most >= 2 * k:
            kinds_of_change.append(
                Kind(
                    lambda heat, n: resplit(joins, partition, near, units, pool, k, 0.6, heat, n, random, LOGS, stats),
                    1 / 64, 16, (22, 1),
                )
            )  # fmt: skip
        if classes <= FEW:
            room = make_chains(classes)
            # What changes nothing would change nothing again.
            kinds_of_change.append(Kind(lambda _, n: sum(takewhile(bool, (chain(joins, partition, room,
            k) for _ in range(n)))),
                              0.0, 1, (17, 0), step_seconds=6e-6))  # fmt: skip
        return kinds_of_change

    def look_for_neighbours(self, orders: int, progress: Progress) -> None:
        """Find near records in several random orders of the table, all in all."""
        records = self.layout.records
        for i in range(self.orders, orders):
            order = shuffled_order(self.layout, self.generator)
            for begin in range(0, records, 100_000):
                progress("looking for neighbours", (i + begin / records) / orders)
                look_around(
                    self.layout.joins, order, self.layout.stratum, WINDOW, begin, min(records, begin + 100_000),
                    self.near, self.far,
                )  # fmt: skip
        self.orders = max(self.orders, orders)

    def run_steps(self, steps: int, progress: Progress) -> None:
        """A fixed amount of work: the same seed gives the same result."""
        if self.best_cost <= 0.0 or steps == 0:
            return
        self.look_for_neighbours(ORDERS, progress)
        kinds = self.kinds()
        items = len(self.part.record)
        hottest, for_classes = self._heat(steps / 4), self._class_heat(steps / 4)
        for done in range(steps):
            heat = hottest * (1 - (done + 1) / steps) ** 2
            for kind in kinds:
                kind.run(heat * for_classes if kind.classes else heat, 1 + int(items * kind.per_sweep))
            self.rounds += 1
            self._keep()
            self._tell(progress, done / steps)

    def run(self, work: Budget, stage: float, progress: Progress, note: Callable[[], None] | None = None) -> None:
        """Improve for a stage of so many seconds, or until the work is over; `note` is called at a few points towards
        its end. Large tables are improved in parts, several at the same time."""
        if self.best_cost <= 0.0 or work.over:
            return
        if (count := parts_of(len(self.part.record))) > 1:
            Parts(self, self.generator.integers(0, 2**31, count), self.threads).run(work, stage, progress, note)
            return
        for _ in self.stretches(work, stage, progress):
            if note is not None:
                note()

    def stretches(self, work: Budget, stage: float, progress: Progress) -> Iterator[None]:
        """Improve for a stage, stretch by stretch; each kind of change gets time by what it has lately gained. Nothing
        but where it stops depends on how much work there is in all."""
        items, lookups = len(self.part.record), self.layout.lookups
        begun = work.spent
        # More orders find more near pairs; what they cost grows with the table, so they depend on the time per row.
        per_row = stage / items
        orders = ORDERS // 2 if per_row < 5e-5 else ORDERS if per_row < 3e-4 else 2 * ORDERS
        if orders > self.orders:
            work.spend(NEAR_SECONDS * WINDOW * self.layout.records * lookups * (orders - self.orders))
            self.look_for_neighbours(orders, progress)
        kinds = self.kinds()
        work.spend(LAYING_SECONDS * items)
        whole = max(0.5 * stage, stage - (work.spent - begun))
        begun = work.spent
        sweeps = whole / (3e-5 * items)
        hottest, for_classes = self._heat(sweeps), self._class_heat(sweeps)
        count = len(kinds)
        rate, share, credit = np.zeros(count), np.full(count, 1 / count), np.zeros(count)
        doublings = max(0.0, float(np.log2(items / 2000)))
        columns = (4 + lookups) / 12
        per_box = [1e-9 * (once + more * doublings) * columns for once, more in (k.nanoseconds for k in kinds)]
        seconds_per_step = np.zeros(count)
        slice_seconds = min(SLICE_SECONDS, whole / 40)
        points = iter((*NOTED, np.inf))
        next_point = next(points)
        while (done := (work.spent - begun) / whole) < 1 and not work.over:
            heat = hottest * (1 - done) ** 2
            credit += slice_seconds * share
            for i, kind in enumerate(kinds):
                steps = int(min(credit[i] / seconds_per_step[i], 1e6)) if seconds_per_step[i] else kind.first
                if steps < 1:
                    continue
                before = int(self.part.state[WORK])
                gain = -kind.run(heat * for_classes if kind.classes else heat, steps)
                spent = 2e-6 + kind.step_seconds * steps + per_box[i] * (int(self.part.state[WORK]) - before)
                work.spend(spent)
                credit[i] -= spent
                seconds_per_step[i] += (0.5 if seconds_per_step[i] else 1.0) * (spent / steps - seconds_per_step[i])
                rate[i] += 0.3 * (max(0.0, gain) / spent - rate[i])
            earned = rate / rate.sum() if rate.sum() > 0 else np.full(count, 1 / count)
            share = 0.8 * earned + 0.2 / count
            self.rounds += 1
            self._keep()
            if (work.spent - begun) / whole >= next_point:
                next_point = next(points)
                yield
            self._tell(progress, work.done)

    def go_on_from(self, class_of: Ints) -> None:
        """Put other classes under improvement; the best seen stays what it was, unless these are better."""
        self.part = partition_of(self.layout, class_of, self.k)
        self._keep()

    def _heat(self, sweeps: float) -> float:
        """The highest temperature: a share of the mean weight that grows with the time there is to cool down."""
        mean = self.cost() / max(1, len(self.part.record)) * self.heat
        return mean * min(3.0, max(0.05, 0.15 * float(np.sqrt(sweeps))))

    def _class_heat(self, sweeps: float) -> float:
        """How much hotter it must be for whole classes: they cost as much as many rows, and need longer to cool."""
        return max(1.0, self.k / 5 * min(2.5, max(1.0, float(np.sqrt(sweeps)))))

    def _tell(self, progress: Progress, fraction: float) -> None:
        if progress.active:
            progress("improving", fraction, self.note(self.best_cost))

    def note(self, cost: float) -> str:
        """What is said of a cost: the loss it comes to, and what none can be below, as far as that is known."""
        return so_far("loss", self.layout.loss(cost, self.unplaced), self.floor)

    @property
    def unplaced(self) -> int:
        """Items in no class."""
        return int((self.part.class_of < 0).sum())


def partition_of(layout: Layout, class_of: Ints, k: int) -> Partition:
    """The partition with the given class of every item."""
    order, starts = class_runs(class_of)
    dense = np.full(len(class_of), -1, np.int32)
    dense[order] = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(order))))
    return make_partition(layout.joins, layout.record_of_item, layout.first, dense, len(class_of) // k)
