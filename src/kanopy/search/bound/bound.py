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
from typing import Any

import numpy as np

from kanopy._arrays import Floats
from kanopy._errors import Cancelled, JobError
from kanopy._mixins import ReprMixin
from kanopy._progress import SILENT, Note, Progress
from kanopy.metrics.full_domain import Loss
from kanopy.search.bound.certificate import NO_ALLOWANCES, Allowances, Certificate, certify
from kanopy.search.bound.dual_prices import MOST_COMBINATIONS, DualPrices
from kanopy.search.bound.level_chains import left_out, make_level_chains
from kanopy.search.budget import Budget, usable_threads
from kanopy.search.partition_solution import check_k
from kanopy.search.problem import Problem

VISITS_PER_SECOND = 3e7
"""About how fast boxes are gone through; decides only how many levels a budget is enough for at first."""
TRIAL_PASSES = 4
PASSES, MORE_PASSES, MOST_PASSES = 8, 5, 1000
"""Passes of small classes, by how many more of large ones (they take longer to converge), and with a budget."""


@dataclass(frozen=True, eq=False)
class Bound(ReprMixin):
    """No local recoding of this problem has a `loss` below `value` (`exact`, rounded down).

    `prices` holds one per distinct tuple of the domain, `allowances` what classes within limits may cost more than they
    weigh, so that together they prove the loss (see `kanopy.search.bound.certificate`), `passes` how often they were
    improved, `history` what each pass reached, `checked` how many level combinations the check covers, `pass_seconds`
    how long a pass took on average, `left_out` the quasi-identifiers of which levels were joined because there were too
    many combinations (a weaker bound, but as valid).
    """

    value: float
    exact: Fraction
    prices: Floats
    passes: int
    history: tuple[float, ...]
    checked: int
    pass_seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    allowances: Allowances = NO_ALLOWANCES

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
    problem: Problem, *, passes: int | None = None, budget_seconds: float | None = None, threads: int | None = None,
    progress: Progress = SILENT,
) -> Bound:  # fmt: skip
    """A lower bound on the `loss` of any release of the problem with these hierarchies, levels, weights and k.

    Valid for any further privacy model (they only take releases away), with suppression (a suppressed row loses
    everything, which is never less than its price) and with rows excluded from the start; not for columns published
    without their hierarchy. More passes give a higher bound (8 to 13, the more the larger k is, if neither they nor a
    budget are given); stopping early, by budget, callback or Ctrl-C, gives what the passes until then prove. A budget
    too small for a pass over all levels joins some of them. What is proved does not depend on the number of threads
    (all processors, if not given).

    >>> from kanopy.search.example import letters
    >>> round(lower_bound(letters("abcd")).value, 6)
    0.333333
    """
    if passes is None:
        passes = PASSES + min(MORE_PASSES, problem.k // 10) if budget_seconds is None else MOST_PASSES
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
    ladders, threads = make_level_chains(problem, _affordable(problem, budget_seconds)), usable_threads(threads)
    work = Budget(budget_seconds)
    whole = not left_out(problem, ladders)
    stages = [DualPrices(problem, ladders, passes, progress, work, threads, limited=whole)]
    deadline = None if budget_seconds is None else work.seconds
    interrupted = False
    try:
        # With levels joined, a few passes show how much finer they may be.
        joined = deadline is not None and not whole
        stages[-1].run(deadline, TRIAL_PASSES if joined else passes)
        while deadline is not None and joined and work.spent < stages[-1].deadline_of_passes:
            finer = stages[-1].affordable_ladders(work.left)
            joined, whole = finer != stages[-1].ladders, not left_out(problem, finer)
            stages.append(DualPrices(problem, finer, passes, progress, work, threads, stages[-1], limited=whole))
            stages[-1].run(deadline, TRIAL_PASSES if joined and not whole else passes)
    except (Cancelled, KeyboardInterrupt):
        interrupted = True
    # A stage that was stopped in its first pass has proved nothing that the one before it has not.
    search = next((stage for stage in reversed(stages) if stage.own_passes), stages[0])
    best, ladders = search.best[search.priced.record_of_tuple], search.ladders
    notify = SILENT if interrupted else _Unstoppable(progress)
    proof: Certificate = certify(problem, best, ladders, notify, threads, search.allowances())
    return Bound(
        proof.value,
        proof.loss,
        np.ldexp(proof.prices.astype(np.float64), -proof.bits),
        len(search.history),
        tuple(search.history),
        proof.combinations,
        search.seconds / max(1, len(search.history)),
        left_out(problem, ladders),
        proof.allowances,
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

    def __call__(self, stage: str, fraction: float | None = None, note: Note = "") -> None:
        """Report."""
        try:
            self._progress(stage, fraction, note)
        except Cancelled:
            self._progress = SILENT
