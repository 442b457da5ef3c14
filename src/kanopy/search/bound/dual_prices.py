"""Prices per row that no class can fail to pay, raised pass after pass: a linear program solved by cutting planes.

The best prices solve the dual of the program that chooses classes; what presses on them in the end are the classes
that the program would choose, in parts. `kanopy.search.bound.bound` proves a bound with the prices;
`kanopy.search.local.best.initial_solutions` takes their boxes for suggestions.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._progress import Progress
from kanopy.search.bound.box_enumeration import BoxEnumeration
from kanopy.search.bound.certificate import Allowances, stretches
from kanopy.search.bound.cut_prices_kernel import Eased, improve_prices, make_room
from kanopy.search.bound.level_chains import LevelChain, Priced, make_level_chains, price_records
from kanopy.search.bound.limits_kernel import find_limits, span_boxes
from kanopy.search.bound.odd_set_cuts import LARGEST, LEAST_PART, LimitedSets, no_limits, with_crowded
from kanopy.search.bound.prices_kernel import Cuts, Found, cap_boxes, cut_again, make_cuts, make_dear
from kanopy.search.budget import Budget
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.boxes import Layout, box_levels, class_runs, lay_out
from kanopy.search.problem import Problem

MOST_COMBINATIONS = 200_000
"""Level combinations to look at; with more, levels are joined until there are as few."""
VISIT_SECONDS, ENTRY_SECONDS, MEMBER_SECONDS, LIMIT_SECONDS, LAYING_SECONDS = 1.5e-8, 2.5e-9, 1e-8, 2.5e-8, 3e-6
"""Seconds of an ordinary machine for a record visited, for an entry of a box kept each time prices are improved, for a
record of a box looked at again, for a record that may lie in a box with a limit, and for a row at the start."""
CHECK_PASSES = 3
"""The final check takes about as long as this many passes."""
MOST_CUTS, MOST_ENTRIES, MOST_KEPT = 500_000, 8_000_000, 24_000_000
NO_LIMIT = 2**62
"""More rows than any box with a limit has."""
MEMBERS = 4
"""Records kept of a box, as a multiple of k."""
CONVERGED = 1e-5
"""Stop when the improved prices promise only this much more (relatively) than is proved."""
START_AT = 0.85
"""The first pass asks for this part of what rows lose in a release."""
BLOCKS, FEWER_BLOCKS = (40, 60, 90), (25, 35)
"""Steps between restarts when the prices are improved for the boxes kept so far: fewer where limits are
looked for, which change what is best."""
LOOKS_AGAIN, TOO_LITTLE = 2, 5e-5
"""How often the boxes kept are looked at again at improved prices before the next pass, and the excess (as a share of
the mean price) below which they are left alone."""
LOOK_FOR_LIMITS, MOST_LIMITED = (1, 3, 7), 60_000
"""After which passes limits are looked for, and the records with more of which they take too long: what it takes grows
with their square."""
GROWTH, LEAST_GROWTH = 1.2, 0.02
"""How far prices may rise in one pass."""
BALANCE = 3.0
FIRST_SHARE, LEAST_SHARE, BOLDER, SHYER = 0.5, 0.1, 1.5, 0.7
"""How far from the honest prices towards the improved ones the next pass looks, and how that changes."""
MUCH_HELD, LITTLE_HELD = 0.4, 0.15


class _OutOfTime(Exception):
    """The budget is used up."""


def row_weights(layout: Layout, class_of: Ints) -> Floats:
    """Per record the mean weight of its rows in a partition; rows in no class pay what suppression costs."""
    order, starts = class_runs(class_of)
    record = layout.record_of_item[order]
    _, weights = box_levels(layout.boxes, record, starts)
    paid = np.bincount(
        record, weights=np.repeat(weights, np.diff(np.append(starts, len(order)))), minlength=layout.records
    )
    held = np.bincount(record, minlength=layout.records)
    return np.where(held > 0, paid / np.maximum(held, 1), layout.suppressed_weight)


class DualPrices:
    """Prices under improvement: `best` are the best honest ones so far, `history` what each pass reached.

    `earlier` prices, found with fewer rungs, are where to go on: they are honest here too.
    """

    def __init__(
        self, problem: Problem, ladders: tuple[LevelChain, ...], passes: int, progress: Progress, work: Budget,
        threads: int, earlier: DualPrices | None = None, k: int | None = None, set_aside: int = CHECK_PASSES,
        limited: bool = False,
    ) -> None:  # fmt: skip
        self.problem, self.k, self.progress, self.passes = problem, k or problem.k, progress, passes
        self.ladders, self.work, self.set_aside = ladders, work, set_aside
        self.priced = price_records(problem, ladders)
        self.records = len(self.priced.counts)
        self.best = np.zeros(self.records)
        self.limited = limited and self.records <= MOST_LIMITED
        self.limits = no_limits(self.priced, self.k)
        # What classes within limits may cost more than they weigh: as improved, and as honest with the best prices.
        self.allowance, self.best_allowance = np.zeros(0), np.zeros(0)
        self.best_value = 0.0
        self.history: list[float] = []
        self.seconds = 0.0
        self.deadline: float | None = None
        self.started = 0.0
        # The weight of a suppressed row.
        whole = sum(problem.weights)
        pairs = zip(problem.weights, problem.domain.hierarchies, strict=True)
        self.most = sum(weight / whole for weight, hierarchy in pairs if hierarchy.size > 1)
        self.walks = BoxEnumeration(self.priced, self.k, threads)
        self.pool = _Pool(self.priced.boxes.tuples.shape[1])
        self.first_price: Floats | None = None
        self.pass_seconds = 0.0
        self.own_passes = 0
        if earlier is not None and earlier.first_price is not None:
            self.best[self.priced.record_of_tuple] = earlier.best[earlier.priced.record_of_tuple]
            self.history, self.seconds, self.first_price = [*earlier.history], earlier.seconds, earlier.first_price
            self.pass_seconds = earlier.pass_seconds
            if earlier.ladders == ladders:
                self.pool, self.limits = earlier.pool, earlier.limits
                self.allowance, self.best_allowance = earlier.allowance, earlier.best_allowance
            self.best_value = self._value(self.best, self.best_allowance)

    def affordable_ladders(self, seconds: float) -> tuple[LevelChain, ...]:
        """As many rungs as can be gone through several times in what is left of the time, judging by the last pass."""
        now = prod(len(ladder) for ladder in self.ladders)
        more = min(16.0, seconds / (2 * CHECK_PASSES) / max(1e-3, self.pass_seconds))
        return make_level_chains(self.problem, min(MOST_COMBINATIONS, int(now * more))) if more > 1.5 else self.ladders

    @property
    def deadline_of_passes(self) -> float:
        """When passes must end so that there is time for the check."""
        return np.inf if self.deadline is None else self.deadline

    def run(self, deadline: float | None, passes: int) -> None:
        """Pass after pass. Time for the final check is set aside."""
        self.deadline, self.started = deadline, self.work.spent
        if self.deadline is not None:
            self.deadline -= self.set_aside * self.pass_seconds
        self.progress("laying out")
        price = target = self._start()
        share, allowance = FIRST_SHARE, self.best_allowance
        passes = min(passes, self.passes - len(self.history))
        try:
            if len(self.pool.weight):
                target = self._target(price, 0)
                price, allowance = self._between(target, share)
            for number in range(passes):
                begun = self.work.spent
                before, asked = self.best_value, self._value(price, allowance)
                reached = self._pass(price, allowance, number)
                self.pass_seconds = self.work.spent - begun
                if number:
                    held = (reached - before) / max(1e-12, asked - before)
                    share *= BOLDER if held > MUCH_HELD else SHYER if held < LITTLE_HELD else 1.0
                    share = min(1.0, max(LEAST_SHARE, share))
                # Prices that hold but have just risen may rise further.
                converged = share == 1.0 and asked - before <= CONVERGED * self.best_value
                if number + 1 == passes or converged:
                    self.seconds += self.work.spent - begun
                    break
                if deadline is not None and number == 0:
                    self.deadline = deadline - self.set_aside * self.pass_seconds
                target = self._target(target, number)
                self.seconds += self.work.spent - begun
                price, allowance = self._between(target, share)
        except _OutOfTime:
            pass

    def _between(self, target: Floats, share: float) -> tuple[Floats, Floats]:
        """So far from the honest prices and allowances towards the improved ones."""
        return (
            share * target + (1 - share) * self.best, share * self.allowance + (1 - share) * self.best_allowance
        )  # fmt: skip

    def _value(self, price: Floats, allowance: Floats) -> float:
        """What prices prove if they are honest: all of them, less what classes within limits may have been allowed."""
        return float(price @ self.priced.counts) - float(allowance @ self.limits.classes)

    def chosen(self, least: float) -> Iterator[tuple[Ints, Longs]]:
        """Records and rows of the classes that the program chooses at least so much of, the surest ones first."""
        pool = self.pool
        for cut in np.argsort(-pool.pressure, kind="stable").tolist():
            if pool.pressure[cut] < least * self.k:
                return
            span = slice(int(pool.start[cut]), int(pool.start[cut + 1]))
            yield pool.record[span], np.rint(pool.share[span] * pool.size[cut]).astype(np.int64)

    def allowances(self) -> Allowances:
        """What goes with the best prices, for the tuples of the domain."""
        of_tuple = self.priced.record_of_tuple
        by_record, held = np.argsort(of_tuple, kind="stable"), np.bincount(of_tuple, minlength=self.records)
        lengths = held[self.limits.record]
        tuples = by_record[stretches((np.cumsum(held) - held)[self.limits.record], lengths)]
        start = np.concatenate([[0], np.cumsum(lengths)])[self.limits.start]
        return Allowances(start.astype(np.int64), tuples, self.best_allowance)

    def _tell(self, stage: str, number: int, fraction: float) -> None:
        if (self.deadline is not None and self.work.spent > self.deadline) or self.work.cut:
            raise _OutOfTime
        note = f"bound {self._loss(self.best_value):.4f}" if self.history else ""
        done = (number + fraction) / self.passes
        if self.deadline is not None:
            done = max(done, (self.work.spent - self.started) / max(1e-9, self.deadline - self.started))
        self.progress(stage, min(0.99, done), note)

    def _loss(self, paid: float) -> float:
        domain = self.problem.domain
        return (paid + domain.excluded_rows * self.most) / max(1, domain.rows)

    def _start(self) -> Floats:
        """What rows lose in a good release: there the prices of each class add up to exactly what it loses."""
        if self.first_price is None:
            layout = lay_out(self.problem)
            self.work.spend(LAYING_SECONDS * len(layout.rows))
            # Merged classes without improvement: dearer prices find more boxes early on, and improving takes its time.
            weights = row_weights(layout, bottom_up(layout, self.k, self.progress))
            of_item = self.problem.domain.tuple_of_row[layout.rows]
            paid = np.bincount(of_item, weights[layout.record_of_item], len(self.problem.domain.counts))
            self.first_price = np.asarray(paid / np.maximum(1, self.problem.domain.counts), np.float64)
        of_tuple = self.first_price * self.problem.domain.counts
        mean = np.bincount(self.priced.record_of_tuple, of_tuple, self.records) / np.maximum(1, self.priced.counts)
        return np.asarray(np.maximum(self.best, np.minimum(START_AT * mean, self.most)), np.float64)

    def _pass(self, price: Floats, allowance: Floats, number: int) -> float:
        """Go through all boxes: keep those that are too dear and cap the prices in them."""
        priced = self.priced
        entries = min(MOST_ENTRIES, max(1000, 20 * self.records * min(self.k, 100)))
        cuts = make_cuts(min(MOST_CUTS, max(1000, 20 * self.records)), entries)
        repaired, worst = price.copy(), np.full(self.records, -np.inf)
        parts, dear = 0, make_dear(self.records)

        def look() -> None:
            self._tell("pricing rows", number, 0.8 * parts / (parts + 10))

        for batches, visits in self.walks.too_dear(price, look):
            parts += 1
            look()
            for boxes in batches:
                before = int(cuts.used[0])
                cap_boxes(
                    priced.boxes, boxes, price, priced.counts, self.k, self.limits.arrays, allowance, cuts, repaired,
                    worst, dear,
                )  # fmt: skip
                self.pool.keep_boxes(priced, boxes, cuts.box[before : int(cuts.used[0])], self.k, self.limited)
            self.work.spend(VISIT_SECONDS * visits)
        # One cut per box kept, in their order.
        cuts.box[: int(cuts.used[0])] = np.arange(int(cuts.used[0])) + self.pool.count - int(cuts.used[0])
        self.pool.add(cuts)
        value = self._value(repaired, allowance)
        if value > self.best_value:
            self.best, self.best_allowance, self.best_value = repaired, allowance, value
        self.history.append(self._loss(self.best_value))
        self.own_passes += 1
        return value

    def _target(self, price: Floats, number: int) -> Floats:
        """The best prices for all boxes kept so far, not too far above those we have."""
        pool, gain = self.pool, self.priced.counts.astype(np.float64)
        ceiling = np.minimum(GROWTH * np.maximum(price, self.best) + LEAST_GROWTH, self.most)
        mean = max(1e-9, self.best_value / gain.sum())
        balance = BALANCE * float(gain.mean()) / mean
        price, blocks = price.copy(), FEWER_BLOCKS if self.limited else BLOCKS
        for look in range(1 + LOOKS_AGAIN):
            if look:
                if self.limited and look == 1 and number in LOOK_FOR_LIMITS:
                    self._add_limits()
                self._cut_again(price, TOO_LITTLE * mean)
            eased = pool.eased(self.limits, self.allowance)
            room = make_room(len(price), len(pool.weight), len(self.allowance))
            for i, steps in enumerate(blocks):
                done = (look + i / len(blocks)) / (1 + LOOKS_AGAIN)
                self._tell("balancing prices", number, 0.8 + 0.2 * done)
                improve_prices(
                    pool.start, pool.record, pool.share, pool.weight, gain, ceiling, price, pool.pressure, eased, room,
                    balance, steps,
                )  # fmt: skip
                self.work.spend(ENTRY_SECONDS * steps * (len(pool.record) + len(price)))
        return price

    def _cut_again(self, price: Floats, least: float) -> None:
        """Where other rows of the boxes kept are too dear at these prices, keep those too."""
        boxes, counts = self.pool.boxes(), self.priced.counts
        cuts = make_cuts(len(boxes.weight), len(boxes.weight) * min(2 * self.k, len(counts)))
        worst, no_ceiling = np.full(self.records, least), np.full(self.records, np.inf)
        start, limit = self.pool.limits_around(self.limits)
        of_box = np.repeat(np.arange(len(start) - 1), np.diff(start))
        allowed = np.bincount(of_box, self.allowance[limit], len(start) - 1).astype(np.float64)
        cut_again(boxes, price, counts, self.k, allowed, no_ceiling, cuts, worst, make_dear(self.records))
        self.work.spend(MEMBER_SECONDS * len(boxes.record))
        self.pool.add(cuts)

    def _add_limits(self) -> None:
        """New limits where parts of classes crowd, without allowances at first."""
        pool = self.pool
        fraction = pool.pressure / np.maximum(pool.size, 1.0)
        boxes, of_cut = np.unique(pool.box, return_inverse=True)
        of_box = np.bincount(of_cut.reshape(-1), fraction, len(boxes)).astype(np.float64)
        small = (of_box >= LEAST_PART) & (pool.rows[boxes] <= LARGEST * self.k)
        boxes, of_box, held = boxes[small], of_box[small], pool.boxes()
        lengths = np.diff(held.start)[boxes]
        self.limits, looked = with_crowded(
            self.priced, self.k, self.limits, pool.levels[boxes], of_box,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            held.record[stretches(held.start[boxes], lengths)], self.records,
        )  # fmt: skip
        self.work.spend(LIMIT_SECONDS * looked)
        more = np.zeros(len(self.limits.classes) - len(self.allowance))
        self.allowance = np.concatenate([self.allowance, more])
        self.best_allowance = np.concatenate([self.best_allowance, more])


class _Pool:
    """All cuts kept so far, with how hard each presses on the prices, and the boxes they were found in."""

    def __init__(self, width: int) -> None:
        self.start: Longs = np.zeros(1, np.int64)
        self.record = np.zeros(0, np.int32)
        self.share, self.weight, self.pressure, self.size = np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0)
        self.box: Longs = np.zeros(0, np.int64)
        self.count = 0
        nothing = np.zeros(0, np.int32)
        self._boxes: list[tuple[Floats, Longs, Ints, Ints, Ints, Longs]] = [
            (
                np.zeros(0),
                np.zeros(0, np.int64),
                nothing,
                nothing,
                np.zeros((0, width), np.int32),
                np.zeros(0, np.int64),
            )
        ]

    def keep_boxes(self, priced: Priced, boxes: Found, which: Longs, k: int, limited: bool) -> None:
        """Keep boxes with their dearest records, to look at them again at other prices."""
        begins = boxes.start[which]
        lengths = np.minimum(boxes.start[which + 1] - begins, MEMBERS * k)
        levels = np.zeros((len(which), priced.boxes.tuples.shape[1]), np.int32)
        rows = np.full(len(which), NO_LIMIT, np.int64)
        if limited:
            span_boxes(priced.boxes, priced.counts, boxes.start, boxes.record, which, LARGEST * k, levels, rows)
        record = boxes.record[stretches(begins, lengths)]
        self._boxes.append((boxes.weight[which], lengths, record, boxes.record[begins], levels, rows))
        self.count += len(which)

    def _all(self) -> tuple[Floats, Longs, Ints, Ints, Ints, Longs]:
        if len(self._boxes) > 1:
            weight, lengths, record, head, levels, rows = (
                np.concatenate(columns) for columns in zip(*self._boxes, strict=True)
            )
            self._boxes = [(weight, lengths, record, head, levels, rows)]
        return self._boxes[0]

    @property
    def head(self) -> Ints:
        """A record of every box."""
        return self._all()[3]

    @property
    def levels(self) -> Ints:
        """The levels of the smallest box around the records of every box."""
        return self._all()[4]

    @property
    def rows(self) -> Longs:
        """The rows of every box; of large ones, a number too large for any limit."""
        return self._all()[5]

    def boxes(self) -> Found:
        """All boxes kept."""
        weight, lengths, record = self._all()[:3]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Found(weight, start, record, np.array([len(weight), len(record)]))

    def limits_around(self, limits: LimitedSets) -> tuple[Longs, Ints]:
        """The limits around every box, end to end, and where those of each begin."""
        start = np.zeros(self.count + 1, np.int64)
        limit_numbers = np.zeros(0, np.int32)
        if len(limits.classes):
            find_limits(limits.arrays, self.head, self.levels, self.rows, start, limit_numbers)
            limit_numbers = np.zeros(int(start[-1]), np.int32)
            find_limits(limits.arrays, self.head, self.levels, self.rows, start, limit_numbers)
        return start, limit_numbers

    def eased(self, limits: LimitedSets, allowance: Floats) -> Eased:
        """The limits that every cut lies in."""
        start, limit_numbers = self.limits_around(limits)
        lengths = np.diff(start)[self.box]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        limit = limit_numbers[stretches(start[self.box], lengths)]
        return Eased(starts, limit, 1.0 / self.size, limits.classes, allowance)

    def add(self, cuts: Cuts) -> None:
        """Add what a pass has found; where that is too much, forget cuts that do not press."""
        count, entries, _ = cuts.used.tolist()
        if self.start[-1] + entries > MOST_KEPT:
            self._forget()
        self.start = np.concatenate([self.start, self.start[-1] + cuts.start[1 : count + 1]])
        self.record = np.concatenate([self.record, cuts.record[:entries]])
        self.share = np.concatenate([self.share, cuts.share[:entries]])
        self.weight = np.concatenate([self.weight, cuts.weight[:count]])
        self.size = np.concatenate([self.size, cuts.size[:count]])
        self.box = np.concatenate([self.box, cuts.box[:count]])
        self.pressure = np.concatenate([self.pressure, np.zeros(count)])

    def _forget(self) -> None:
        keep = self.pressure > 0
        lengths = np.diff(self.start)
        entries = np.repeat(keep, lengths)
        self.start = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
        self.record, self.share = self.record[entries], self.share[entries]
        self.weight, self.pressure, self.size = self.weight[keep], self.pressure[keep], self.size[keep]
        self.box = self.box[keep]
