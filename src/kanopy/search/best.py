"""The best local recoding we know how to find in a given time: merge bottom-up, then improve until time is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy.classes import Floats, Ints, Longs
from kanopy.errors import Cancelled, JobError, NoSolution
from kanopy.kernels.agglomerate import agglomerate
from kanopy.kernels.anneal import LOGS, anneal
from kanopy.kernels.boxes import LEVELS
from kanopy.kernels.neighbours import look_around
from kanopy.kernels.partition import Partition, make_partition
from kanopy.kernels.reopen import dissolve, make_journal, reopen
from kanopy.kernels.resplit import resplit
from kanopy.kernels.widen import widen
from kanopy.metrics.release import release_losses
from kanopy.progress import SILENT, Progress
from kanopy.search.boxes import FORBIDDEN, Layout, box_levels, lay_out
from kanopy.search.chunks import chunk_records, shuffled_order
from kanopy.search.kmember import check_k
from kanopy.search.mondrian import mondrian_groups
from kanopy.search.problem import Problem
from kanopy.search.safety import suppress_where_it_pays, unite_unsafe
from kanopy.search.solution import About, Solution

CHUNK_ROWS = 200
"""Rows per chunk of the bottom-up merging: its work grows with their square, and the improvement mends the seams."""
CUT_FROM = 50
"""Above this k the start is cut top-down: quicker than merging, and as good."""
NEIGHBOURS = 24
WINDOW = 12
ORDERS = 8
WIDE_ROWS = 40_000
"""Opening a class in any generalization of a row counts the rows of its chunk: chunks of this many at most."""
WIDE_CELLS = 20_000
SLICE_SECONDS = 0.1
clock = time.perf_counter
"""What the budget is measured by; benchmarks on a shared machine put processor time here."""


@dataclass(frozen=True)
class Best:
    """Local recoding to hierarchy nodes with the least `loss` that can be found within the budget.

    Classes are first merged bottom-up within chunks, always the pair whose cost rises least. Then five kinds of change
    compete for the time, each given as much of it as it has lately earned: moving or swapping rows, opening a class
    around a row from its nearest rows, opening one in the most rewarding of all generalizations of a row, giving a
    class up, and merging a few neighbouring classes to split them anew. Changes are accepted as in simulated annealing
    (Kirkpatrick, Gelatt, Vecchi 1983), so worse ones pass early on.

    `budget_seconds` is wall-clock time for everything; `steps` instead asks for a number of rounds, whose result
    depends on the `seed` alone. Interrupting keeps the best release so far. Nothing is suppressed unless the problem
    allows it and it pays. Heuristic: `kanopy.search.bound.lower_bound` says how far from the best possible it can be.
    Not for hierarchies that do not nest. Models other than k-anonymity are satisfied by uniting classes at the end.
    """

    budget_seconds: float = 5.0
    steps: int | None = None
    seed: int = 0
    name: ClassVar[str] = "best"
    recoding: ClassVar[str] = "local"
    about: ClassVar[About] = About(
        does="merges rows bottom-up, then improves the classes until its time is up",
        source="Kanopy",
        row_order=True,
        seeded=True,
        anytime=True,
    )

    def __post_init__(self) -> None:
        if self.steps is None and not self.budget_seconds > 0:
            raise JobError(f"The budget must be more than 0 seconds, not {self.budget_seconds:g}. Try 5.")
        if self.steps is not None and self.steps < 0:
            raise JobError(f"The number of steps must be 0 or more, not {self.steps}.")

    def solve(self, problem: Problem, progress: Progress = SILENT) -> Solution:
        """Find a release; a callback that says stop ends the improvement, not the work."""
        started = clock()
        problem.require_local(self.name)
        progress("laying out")
        layout = lay_out(problem)
        k = problem.k
        check_k(k, len(layout.rows))
        lost = _left_over(layout, k, problem)
        start = _bottom_up(layout, k, progress)
        search = _Improvement(layout, start, k, self.seed)
        notes = []
        try:
            if self.steps is not None:
                search.run_steps(self.steps, progress)
            else:
                search.run_seconds(self.budget_seconds, started, progress)
        except (Cancelled, KeyboardInterrupt):
            notes.append("Stopped before the budget was used up: this is the best release found until then.")
        class_of = search.best_classes()
        allowed = problem.max_suppressed_rows - lost
        if allowed > 0:
            class_of = suppress_where_it_pays(layout, class_of, k, allowed)
        if not problem.of_sizes:
            class_of, united = unite_unsafe(layout, class_of, problem)
            if united:
                notes.append(f"{united} classes were united with their nearest to satisfy the privacy models.")
        return _answer(self.name, layout, class_of, problem, search.rounds, notes)


def row_weights(layout: Layout, k: int, seed: int, progress: Progress, rounds: int = 24) -> Floats:
    """Per record the mean weight of its rows in a good partition."""
    search = _Improvement(layout, _bottom_up(layout, k, progress), k, seed)
    search.run_steps(rounds, progress)
    order, starts = _runs(search.best_classes())
    record = layout.record_of_item[order]
    _, weights = box_levels(layout.boxes, record, starts)
    paid = np.bincount(
        record, weights=np.repeat(weights, np.diff(np.append(starts, len(order)))), minlength=layout.records
    )
    held = np.bincount(record, minlength=layout.records)
    return np.where(held > 0, paid / np.maximum(held, 1), layout.suppressed_weight)


def _left_over(layout: Layout, k: int, problem: Problem) -> int:
    """Rows that level limits keep apart from everything else in groups of fewer than k: they must be suppressed."""
    sizes = np.bincount(layout.stratum, weights=layout.counts)
    lost = int(sizes[sizes < k].sum())
    if lost > problem.max_suppressed_rows:
        capped = [name for name, top, h in zip(
            problem.domain.names, problem.lattice.highest, problem.domain.hierarchies, strict=True
        ) if h.level(top).size > 1]  # fmt: skip
        raise NoSolution(
            f"With the highest levels allowed, {lost:,} rows share their values with fewer than k = {k} rows, and "
            f"{problem.max_suppressed_rows:,} may be suppressed.",
            advice=[
                f"let {', '.join(capped)} be generalized further (a higher level, or '*' on top)",
                f"allow at least {lost:,} rows to be suppressed",
            ],
        )
    return lost


def _bottom_up(layout: Layout, k: int, progress: Progress) -> Ints:
    """The class of every item after merging within chunks; -1 for items that no class can hold."""
    if k > CUT_FROM and not layout.stratum.any():
        progress("cutting")
        return cut_classes(layout, k, progress)
    order, starts = chunk_records(layout, max(CHUNK_ROWS, 8 * k), k)
    owner = np.full(layout.records, -1, np.int32)
    chunks = len(starts) - 1
    step = 4
    for begin in range(0, chunks, step):
        progress("merging", begin / max(1, chunks))
        agglomerate(layout.boxes, order, starts, layout.counts, k, begin, min(chunks, begin + step), owner)
    return np.repeat(owner, layout.counts)


def cut_classes(layout: Layout, k: int, progress: Progress) -> Ints:
    """The class of every item after Mondrian's cuts: for large k as good a start as merging, and much quicker."""
    groups = mondrian_groups(layout.domain, k, progress=progress)
    return groups.of_row[layout.rows]


class _Improvement:
    """The partition under improvement, and the best one seen."""

    def __init__(self, layout: Layout, class_of: Ints, k: int, seed: int) -> None:
        self.layout, self.k = layout, k
        self.generator = np.random.default_rng(seed)
        self.random = self.generator.integers(1, 2**63, 1).astype(np.uint64)
        self.part = _partition(layout, class_of, k)
        self.best_cost = self.cost()
        self.kept = self.part.class_of.copy()
        self.rounds = 0
        self.near = np.full((layout.records, NEIGHBOURS), -1, np.int32)
        self.far = np.full((layout.records, NEIGHBOURS), np.inf)
        self.journal = make_journal(len(self.part.record), len(self.part.size), layout.boxes.tuples.shape[1])
        self.stats = np.zeros(10, np.int64)

    def cost(self) -> float:
        """The sum of weights over all items."""
        return float(np.dot(self.part.size, self.part.weight))

    def best_classes(self) -> Ints:
        """The classes of the best partition seen."""
        self._keep()
        return self.kept

    def _keep(self) -> None:
        cost = self.cost()
        if cost < self.best_cost:
            self.best_cost = cost
            self.kept[:] = self.part.class_of

    def moves(self) -> list[Callable[[float, int], float]]:
        """The kinds of change: each takes a heat and a number of steps and returns the change in cost."""
        boxes, part, near, k, random, stats = (
            self.layout.boxes, self.part, self.near, self.k, self.random, self.stats
        )  # fmt: skip
        journal = self.journal
        order, starts = chunk_records(self.layout, WIDE_ROWS, k)
        chunk_of = np.zeros(self.layout.records, np.int32)
        chunk_of[order] = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
        cells = 1
        for levels in boxes.head[:, LEVELS].tolist():
            cells = min(WIDE_CELLS, cells * levels)
        pool = min(max(20, 4 * k), 120)
        found: list[Callable[[float, int], float]] = [
            lambda heat, n: reopen(boxes, part, journal, near, k, heat, n, random, LOGS, stats),
            lambda heat, n: anneal(boxes, part, near, k, heat, n, random, LOGS, stats),
            lambda heat, n: resplit(boxes, part, near, k, pool, 0.6, heat, n, random, LOGS, stats),
            lambda heat, n: dissolve(boxes, part, journal, near, k, heat, n, random, LOGS, stats),
            lambda heat, n: widen(
                boxes, part, journal, near, chunk_of, order, starts, cells, k, heat, n, random, LOGS, stats
            ),
        ]
        return found

    def look_for_neighbours(self, orders: int, progress: Progress) -> None:
        """Find near records in several random orders of the table."""
        records = self.layout.records
        for i in range(orders):
            order = shuffled_order(self.layout, self.generator)
            for begin in range(0, records, 100_000):
                progress("looking for neighbours", (i + begin / records) / orders)
                look_around(
                    self.layout.boxes, order, self.layout.stratum, WINDOW, begin, min(records, begin + 100_000),
                    self.near, self.far,
                )  # fmt: skip

    def run_steps(self, steps: int, progress: Progress) -> None:
        """A fixed amount of work: the same seed gives the same result."""
        if self.best_cost <= 0.0 or steps == 0:
            return
        self.look_for_neighbours(ORDERS, progress)
        moves = self.moves()
        items = len(self.part.record)
        amounts = [64 + items // 8, 256 + items // 2, 32 + items // 64, 16 + items // 64, 4 + items // 2000]
        hottest = _heat(self.cost(), self.part, steps / 4 * amounts[0] * 8 / items)
        for done in range(steps):
            heat = hottest * (1 - (done + 1) / steps) ** 2
            for move, amount in zip(moves, amounts, strict=True):
                move(heat, amount)
            self.rounds += 1
            self._keep()
            self._tell(progress, done / steps)

    def run_seconds(self, budget: float, started: float, progress: Progress) -> None:
        """Improve until the budget is used up; each kind of change gets time by what it has lately gained."""
        if self.best_cost <= 0.0:
            return
        items = len(self.part.record)
        # More orders find more near pairs; what they cost grows with the table, so they depend on the time per row.
        per_row = budget / items
        self.look_for_neighbours(ORDERS // 2 if per_row < 5e-5 else ORDERS if per_row < 3e-4 else 2 * ORDERS, progress)
        moves = self.moves()
        begun = clock()
        whole = max(1e-3, budget - (begun - started))
        hottest = _heat(self.cost(), self.part, whole / (3e-5 * items))
        count = len(moves)
        steps = [20, 200, 5, 10, 1]
        rate, share = np.zeros(count), np.full(count, 1 / count)
        part_seconds = min(SLICE_SECONDS, whole / 40)
        while (done := (clock() - begun) / whole) < 1:
            heat = hottest * (1 - done) ** 2
            for i, move in enumerate(moves):
                before = clock()
                gain = -move(heat, steps[i])
                spent = max(1e-6, clock() - before)
                rate[i] += 0.3 * (max(0.0, gain) / spent - rate[i])
                steps[i] = max(1, int(steps[i] * min(4.0, part_seconds * share[i] / spent)))
            earned = rate / rate.sum() if rate.sum() > 0 else np.full(count, 1 / count)
            share = 0.8 * earned + 0.2 / count
            self.rounds += 1
            self._keep()
            self._tell(progress, done)

    def _tell(self, progress: Progress, fraction: float) -> None:
        if progress.active:
            progress("improving", fraction, f"loss {self.layout.loss(self.best_cost, self.unplaced):.4f}")

    @property
    def unplaced(self) -> int:
        """Items in no class."""
        return int((self.part.class_of < 0).sum())


def _heat(cost: float, part: Partition, sweeps: float) -> float:
    """The highest temperature: a share of the mean weight that grows with the time there is to cool down."""
    return float(cost / max(1, len(part.record)) * min(3.0, max(0.05, 0.15 * sweeps**0.5)))


def _runs(class_of: Ints) -> tuple[Longs, Longs]:
    """Items of classes in order, and where each class begins; items of no class are left out."""
    order = np.argsort(class_of, kind="stable")
    order = order[np.searchsorted(class_of[order], 0) :]
    ordered = class_of[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(order) else order
    return order, starts.astype(np.int64)


def _partition(layout: Layout, class_of: Ints, k: int) -> Partition:
    order, starts = _runs(class_of)
    record = layout.record_of_item
    dense = np.full(len(class_of), -1, np.int32)
    dense[order] = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(order))))
    levels, weights = box_levels(layout.boxes, record[order], starts)
    return make_partition(
        layout.boxes, record, layout.first, dense, levels, weights, record[order[starts]], len(class_of) // k
    )


def _answer(name: str, layout: Layout, class_of: Ints, problem: Problem, rounds: int, notes: list[str]) -> Solution:
    """The release, its boxes computed from scratch and checked once more."""
    order, starts = _runs(class_of)
    record = layout.record_of_item[order]
    levels, weights = box_levels(layout.boxes, record, starts)
    sizes = np.diff(np.append(starts, len(order)))
    if (sizes < problem.k).any() or (weights >= FORBIDDEN).any():
        raise AssertionError("the search broke a class")  # pragma: no cover - a defect, never an answer
    dense = np.full(len(class_of), -1, np.int32)
    dense[order] = np.repeat(np.arange(len(starts), dtype=np.int32), sizes)
    recoding = layout.recoding(dense, record[starts], levels)
    losses = release_losses(problem.domain, recoding, problem.weights)
    score = losses.get(problem.metric.name, losses["loss"])
    return Solution(name, recoding, score, judged=rounds, notes=tuple(notes))
