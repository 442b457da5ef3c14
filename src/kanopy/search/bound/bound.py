"""A proved lower bound on the loss of any local recoding: prices that no class can fail to pay.

Give every row a price so that in every generalization box with at least k rows the k dearest rows cost, on average, no
more than the box's weight (what each row in it loses). Then all prices together are a lower bound; the argument is in
`kanopy.search.bound.certificate`, which also checks it. The best such prices solve the dual of the linear program that
chooses classes. It has far too many constraints to write down, so they are found as they are needed: each pass goes
through all boxes, keeps those that are too dear, caps the prices in them, which gives a bound, and then finds the best
prices for all boxes kept so far (cutting planes; Kelley 1960). The next pass looks between those and the best honest
prices (Ben-Ameur and Neto 2007), since the former are far off where no box was kept yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import Cancelled, JobError
from kanopy._progress import SILENT, Progress
from kanopy._shown import Short
from kanopy.metrics.full_domain import Loss
from kanopy.search.bound.certificate import Certificate, certify
from kanopy.search.bound.cut_prices_kernel import improve_prices
from kanopy.search.bound.ladders import Ladder, left_out, make_ladders, price_records
from kanopy.search.bound.prices_kernel import Cuts, make_cuts, make_walk, scan_boxes
from kanopy.search.local.best.best import row_weights
from kanopy.search.local.boxes import lay_out
from kanopy.search.problem import Problem
from kanopy.search.release import check_k
from kanopy.search.work import Work

MOST_COMBINATIONS = 200_000
"""Level combinations to look at; with more, levels are joined until there are as few."""
VISITS_PER_SECOND = 3e7
"""About how fast boxes are gone through; decides only how many levels a budget is enough for at first."""
VISIT_SECONDS, ENTRY_SECONDS, LAYING_SECONDS = 3.3e-8, 4e-9, 3e-6
"""Seconds of an ordinary machine for a record visited, for an entry of a box kept each time prices are improved, and
for a row at the start."""
PART = 4_000_000
"""Visits between two looks at what is spent."""
TRIAL_PASSES = 4
CHECK_PASSES = 3
"""The final check takes about as long as this many passes."""
MOST_CUTS, MOST_ENTRIES, MOST_KEPT = 500_000, 8_000_000, 24_000_000
PASSES, MOST_PASSES = 8, 1000
CONVERGED = 1e-5
"""Stop when the improved prices promise only this much more (relatively) than is proved."""
START_AT = 0.85
"""The first pass asks for this part of what rows lose in a release."""
BLOCKS = (40, 60, 90, 130, 180)
"""Steps between restarts when the prices are improved for the boxes kept so far."""
GROWTH, LEAST_GROWTH = 1.2, 0.02
"""How far prices may rise in one pass."""
BALANCE = 3.0
FIRST_SHARE, LEAST_SHARE, BOLDER, SHYER = 0.3, 0.1, 1.25, 0.7
"""How far from the honest prices towards the improved ones the next pass looks, and how that changes."""
MUCH_HELD, LITTLE_HELD = 0.4, 0.15


@dataclass(frozen=True, eq=False)
class Bound(Short):
    """No local recoding of this problem has a `loss` below `value` (`exact`, rounded down).

    `prices` holds one per distinct tuple of the domain, `passes` how often they were improved, `history` what each pass
    reached, `checked` how many level combinations the check covers, `pass_seconds` how long a pass took on average,
    `left_out` the quasi-identifiers of which levels were joined because there were too many combinations (a weaker
    bound, but as valid).
    """

    value: float
    exact: Fraction
    prices: Floats
    passes: int
    history: tuple[float, ...]
    checked: int
    pass_seconds: float = 0.0
    left_out: tuple[str, ...] = ()

    def to_dict(self, loss: float) -> dict[str, Any]:
        """Plain data beside the loss of a release."""
        return {
            "loss": loss,
            "bound": self.value,
            "gap": self.gap(loss),
            "passes": self.passes,
            "checked": self.checked,
            "left_out": list(self.left_out),
        }

    def gap(self, loss: float) -> float:
        """How much of a loss may be avoidable, at most: 0 is proved optimal."""
        return 0.0 if loss <= 0 else max(0.0, 1.0 - self.value / loss)


def lower_bound(
    problem: Problem, *, passes: int | None = None, budget_seconds: float | None = None, progress: Progress = SILENT
) -> Bound:
    """A lower bound on the `loss` of any release of the problem with these hierarchies, levels, weights and k.

    Valid for any further privacy model (they only take releases away), with suppression (a suppressed row loses
    everything, which is never less than its price) and with rows excluded from the start; not for columns published
    without their hierarchy. More passes give a higher bound (8, if neither they nor a budget are given); stopping
    early, by budget, callback or Ctrl-C, gives what the passes until then prove. A budget too small for a pass over all
    levels joins some of them.

    >>> from kanopy.search.example import letters
    >>> round(lower_bound(letters("abcd")).value, 6)
    0.333333
    """
    if passes is None:
        passes = PASSES if budget_seconds is None else MOST_PASSES
    if passes < 1:
        raise JobError(f"The bound needs at least one pass, not {passes}.")
    if budget_seconds is not None and not budget_seconds > 0:
        raise JobError(f"The budget of the bound must be more than 0 seconds, not {budget_seconds:g}. Try 30.")
    if not isinstance(problem.metric, Loss):
        raise JobError(
            f"The lower bound is one on the metric 'loss'; this job minimizes {problem.metric.name!r}, for which it "
            "proves nothing. Use the metric 'loss', or leave the bound out."
        )
    problem.require_nesting()
    usable = int(problem.domain.counts.sum())
    check_k(problem.k, usable)
    ladders = make_ladders(problem, _affordable(problem, budget_seconds))
    work = Work(budget_seconds)
    stages = [_Prices(problem, ladders, passes, progress, work)]
    deadline = None if budget_seconds is None else work.seconds
    interrupted = False
    try:
        # With levels joined, a few passes show how much finer they may be.
        joined = deadline is not None and bool(left_out(problem, ladders))
        stages[-1].run(deadline, TRIAL_PASSES if joined else passes)
        while deadline is not None and joined and work.spent < stages[-1].deadline_of_passes:
            finer = stages[-1].affordable_ladders(work.left)
            joined = finer != stages[-1].ladders
            stages.append(_Prices(problem, finer, passes, progress, work, stages[-1]))
            stages[-1].run(deadline, TRIAL_PASSES if left_out(problem, finer) and joined else passes)
    except (Cancelled, KeyboardInterrupt):
        interrupted = True
    # A stage that was stopped in its first pass has proved nothing that the one before it has not.
    search = next((stage for stage in reversed(stages) if stage.own_passes), stages[0])
    best, ladders = search.best[search.priced.record_of_tuple], search.ladders
    proof: Certificate = certify(problem, best, ladders, SILENT if interrupted else _Unstoppable(progress))
    return Bound(
        proof.value,
        proof.loss,
        np.ldexp(proof.prices.astype(np.float64), -proof.bits),
        len(search.history),
        tuple(search.history),
        proof.combinations,
        search.seconds / max(1, len(search.history)),
        left_out(problem, ladders),
    )


def _affordable(problem: Problem, budget_seconds: float | None) -> int:
    """Level combinations to begin with: a pass and the final check should take a small part of the budget each."""
    if budget_seconds is None:
        return MOST_COMBINATIONS
    visits = budget_seconds / 8 * VISITS_PER_SECOND
    return min(MOST_COMBINATIONS, max(1, int(visits / max(1, len(problem.domain.counts)))))


class _Unstoppable(Progress):
    """Reports, but takes no refusal: a check that stops half-way proves nothing."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def __call__(self, stage: str, fraction: float | None = None, note: str = "") -> None:
        """Report."""
        try:
            self._progress(stage, fraction, note)
        except Cancelled:
            self._progress = SILENT


class _OutOfTime(Exception):
    """The budget is used up."""


class _Prices:
    """Prices under improvement: `best` are the best honest ones so far, `history` what each pass reached.

    `earlier` prices, found with fewer rungs, are where to go on: they are honest here too.
    """

    def __init__(
        self, problem: Problem, ladders: tuple[Ladder, ...], passes: int, progress: Progress, work: Work,
        earlier: _Prices | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.k, self.progress, self.passes = problem, problem.k, progress, passes
        self.ladders, self.work = ladders, work
        self.priced = price_records(problem, ladders)
        self.records = len(self.priced.counts)
        self.best = np.zeros(self.records)
        self.best_value = 0.0
        self.history: list[float] = []
        self.seconds = 0.0
        self.deadline: float | None = None
        self.started = 0.0
        # The weight of a suppressed row.
        whole = sum(problem.weights)
        pairs = zip(problem.weights, problem.domain.hierarchies, strict=True)
        self.most = sum(weight / whole for weight, hierarchy in pairs if hierarchy.size > 1)
        # Few values first: their levels weigh most, so most groups are given up early.
        self.attributes = np.argsort(self.priced.sizes[:, 0], kind="stable").astype(np.int64)
        self.pool = _Pool()
        self.first_price: Floats | None = None
        self.pass_seconds = 0.0
        self.own_passes = 0
        if earlier is not None and earlier.first_price is not None:
            self.best[self.priced.record_of_tuple] = earlier.best[earlier.priced.record_of_tuple]
            self.best_value = float(self.best @ self.priced.counts)
            self.history, self.seconds, self.first_price = [*earlier.history], earlier.seconds, earlier.first_price
            self.pass_seconds = earlier.pass_seconds
            if earlier.ladders == ladders:
                self.pool = earlier.pool

    def affordable_ladders(self, seconds: float) -> tuple[Ladder, ...]:
        """As many rungs as can be gone through several times in what is left of the time, judging by the last pass."""
        now = prod(len(ladder) for ladder in self.ladders)
        more = min(16.0, seconds / (2 * CHECK_PASSES) / max(1e-3, self.pass_seconds))
        return make_ladders(self.problem, min(MOST_COMBINATIONS, int(now * more))) if more > 1.5 else self.ladders

    @property
    def deadline_of_passes(self) -> float:
        """When passes must end so that there is time for the check."""
        return np.inf if self.deadline is None else self.deadline

    def run(self, deadline: float | None, passes: int) -> None:
        """Pass after pass. Time for the final check is set aside."""
        self.deadline, self.started = deadline, self.work.spent
        if self.deadline is not None:
            self.deadline -= CHECK_PASSES * self.pass_seconds
        self.progress("laying out")
        price = target = self._start()
        share = FIRST_SHARE
        passes = min(passes, self.passes - len(self.history))
        try:
            if len(self.pool.weight):
                target = self._target(price, 0)
                price = share * target + (1 - share) * self.best
            for number in range(passes):
                begun = self.work.spent
                before, asked = self.best_value, float(price @ self.priced.counts)
                reached = self._pass(price, number)
                self.pass_seconds = self.work.spent - begun
                if number:
                    held = (reached - before) / max(1e-12, asked - before)
                    share *= BOLDER if held > MUCH_HELD else SHYER if held < LITTLE_HELD else 1.0
                    share = min(1.0, max(LEAST_SHARE, share))
                converged = share == 1.0 and asked - self.best_value <= CONVERGED * self.best_value
                if number + 1 == passes or converged:
                    self.seconds += self.work.spent - begun
                    break
                if deadline is not None and number == 0:
                    self.deadline = deadline - CHECK_PASSES * self.pass_seconds
                target = self._target(target, number)
                self.seconds += self.work.spent - begun
                price = share * target + (1 - share) * self.best
        except _OutOfTime:
            pass

    def _tell(self, stage: str, number: int, part: float) -> None:
        if self.deadline is not None and self.work.spent > self.deadline:
            raise _OutOfTime
        note = f"bound {self._loss(self.best_value):.4f}" if self.history else ""
        done = (number + part) / self.passes
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
            weights = row_weights(layout, self.k, 0, self.progress, rounds=0)
            of_item = self.problem.domain.tuple_of_row[layout.rows]
            paid = np.bincount(of_item, weights[layout.record_of_item], len(self.problem.domain.counts))
            self.first_price = np.asarray(paid / np.maximum(1, self.problem.domain.counts), np.float64)
        of_tuple = self.first_price * self.problem.domain.counts
        mean = np.bincount(self.priced.record_of_tuple, of_tuple, self.records) / np.maximum(1, self.priced.counts)
        return np.asarray(np.maximum(self.best, np.minimum(START_AT * mean, self.most)), np.float64)

    def _pass(self, price: Floats, number: int) -> float:
        """Go through all boxes: keep those that are too dear and cap the prices in them."""
        priced = self.priced
        order = np.argsort(-price, kind="stable").astype(np.int32)
        walk = make_walk(priced.boxes, int(priced.counts.sum()), self.k, order)
        entries = min(MOST_ENTRIES, max(1000, 20 * self.records * min(self.k, 100)))
        cuts = make_cuts(min(MOST_CUTS, max(1000, 20 * self.records)), entries)
        repaired, worst = price.copy(), np.full(self.records, -np.inf)
        done, parts = False, 0
        while not done:
            parts += 1
            self._tell("pricing rows", number, 0.8 * parts / (parts + 10))
            done = scan_boxes(
                priced.boxes, priced.sizes, self.attributes, price, priced.counts, self.k,
                walk, cuts, repaired, worst, PART,
            )  # fmt: skip
            self.work.spend(VISIT_SECONDS * int(walk.state[1, 0]))
        self.pool.add(cuts)
        value = float(repaired @ priced.counts)
        if value > self.best_value:
            self.best, self.best_value = repaired, value
        self.history.append(self._loss(self.best_value))
        self.own_passes += 1
        return value

    def _target(self, price: Floats, number: int) -> Floats:
        """The best prices for all boxes kept so far, not too far above those we have."""
        pool, gain = self.pool, self.priced.counts.astype(np.float64)
        ceiling = np.minimum(GROWTH * np.maximum(price, self.best) + LEAST_GROWTH, self.most)
        mean = max(1e-9, self.best_value / gain.sum())
        balance = BALANCE * float(gain.mean()) / mean
        price = price.copy()
        for i, steps in enumerate(BLOCKS):
            self._tell("balancing prices", number, 0.8 + 0.2 * i / len(BLOCKS))
            improve_prices(
                pool.start, pool.record, pool.share, pool.weight, gain, ceiling, price, pool.pressure, balance, steps
            )
            self.work.spend(ENTRY_SECONDS * steps * (len(pool.record) + len(price)))
        return price


class _Pool:
    """All cuts kept so far, with how hard each presses on the prices."""

    def __init__(self) -> None:
        self.start: Longs = np.zeros(1, np.int64)
        self.record = np.zeros(0, np.int32)
        self.share, self.weight, self.pressure = np.zeros(0), np.zeros(0), np.zeros(0)

    def add(self, cuts: Cuts) -> None:
        """Add what a pass has found; where that is too much, forget cuts that do not press."""
        count, entries, _ = cuts.used.tolist()
        if self.start[-1] + entries > MOST_KEPT:
            self._forget()
        self.start = np.concatenate([self.start, self.start[-1] + cuts.start[1 : count + 1]])
        self.record = np.concatenate([self.record, cuts.record[:entries]])
        self.share = np.concatenate([self.share, cuts.share[:entries]])
        self.weight = np.concatenate([self.weight, cuts.weight[:count]])
        self.pressure = np.concatenate([self.pressure, np.zeros(count)])

    def _forget(self) -> None:
        keep = self.pressure > 0
        lengths = np.diff(self.start)
        entries = np.repeat(keep, lengths)
        self.start = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
        self.record, self.share = self.record[entries], self.share[entries]
        self.weight, self.pressure = self.weight[keep], self.pressure[keep]
