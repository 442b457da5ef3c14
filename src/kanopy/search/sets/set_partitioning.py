"""What Li and Li's three algorithms share: the start, the refinement, the proof, the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy._errors import Cancelled, JobError, NoSolution
from kanopy._progress import Progress
from kanopy.metrics.full_domain import Discernibility, Loss
from kanopy.search.budget import Budget
from kanopy.search.full_domain.datafly import Datafly
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.problem import Problem
from kanopy.search.sets.set_schemes import Kind, Scheme, sets_of
from kanopy.search.sets.set_search import OutOfTime, Proof, Refinement, SetJudge, SetJudgement, Sets
from kanopy.search.sets.value_sets import ValueTable, sets_solution, too_many_gone, value_table
from kanopy.search.solution import About, Algorithm, BudgetSeconds, Seed, Solution, Steps

PROVABLE = 10**8
"""Partitions that a proof is tried for; beyond, the time goes into refining."""
PATIENCE = 150
"""Rounds without a lower cost after which refining ends; fewer where a proof can look at everything soon."""
HEAD_START = 10
"""The same for the stricter schemes that the search of a freer one begins with."""
STRICTEST_FIRST: tuple[Kind, ...] = ("ordered", "guided", "any")
MOST_LEVELS = 200_000
"""Full-domain candidates for which the optimum among them is looked up as a start; beyond, a greedy one."""
MOST_VALUES, MOST_CELLS = 5_000, 300_000_000
"""Values of a column, and values times distinct tuples, up to which sets of them can be weighed in memory."""


@dataclass(frozen=True)
class SetPartitioning(Algorithm):
    """What the three algorithms are: a scheme that says which sets are allowed, and how long to look for the best."""

    budget_seconds: BudgetSeconds = 10.0
    steps: Steps = None
    seed: Seed = 0
    recoding: ClassVar[str] = "subtree"
    scheme: ClassVar[Kind]

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """The best partition that the scheme allows, as far as the budget goes; a callback that says stop keeps it."""
        progress("ordering values")
        table = value_table(problem)
        schemes = [Scheme(column, self.scheme) for column in table.columns]
        _check_size(self.name, table)
        work = Budget(None if self.steps is not None else self.budget_seconds)
        judge = SetJudge(problem, table, work)
        coarsest = tuple(scheme.coarsest() for scheme in schemes)
        state = judge.evaluate(coarsest)
        _load_kernels(judge, state)
        if not state.feasible:
            raise too_many_gone(self.name, problem, state.suppressed_rows)
        candidates = math.prod(scheme.count for scheme in schemes)
        refinement = Refinement(judge, schemes, progress, self.seed)
        refinement.consider(coarsest)
        proved = False
        notes: list[str] = []
        assert refinement.best is not None
        proof: Proof | None = None
        try:
            start = _full_domain_start(problem, table, judge, progress)
            patience = min(PATIENCE, 5 + candidates // 100)
            if start is not None and refinement.consider(start):
                # Every partition of a stricter scheme is one of a freer scheme, and easier to find there.
                for stricter in STRICTEST_FIRST[: STRICTEST_FIRST.index(self.scheme)]:
                    refinement.schemes = [Scheme(column, stricter) for column in table.columns]
                    start = refinement.run([start], self.steps, min(patience, HEAD_START))
                refinement.schemes = schemes
            refinement.run([coarsest] if start is None else [coarsest, start], self.steps, patience)
            if candidates <= PROVABLE:
                proof = Proof(judge, schemes, refinement.best, progress)
                proof.run(None if self.steps is None else 100 * self.steps)
                proved = True
        except OutOfTime:
            notes.append("Its budget was used up: this is the best release found until then.")
        except (Cancelled, KeyboardInterrupt):
            notes.append("It was stopped: this is the best release found until then.")
        best = proof.best if proof is not None else refinement.best
        judged = refinement.judged + (proof.judged if proof is not None else 0)
        set_of = []
        for size, sets in zip(table.sizes, best.sets, strict=True):
            number = np.zeros(size, np.int64)
            for s, held in enumerate(sets):
                number[list(held)] = s
            set_of.append(number)
        if problem.metric.name not in ("loss", "discernibility"):
            notes.append(f"It lowers loss; the score is the job's metric, {problem.metric.name}.")
        return sets_solution(
            self.name, problem, table.columns, set_of, spans=False, optimal=proved, judged=judged,
            candidates=candidates, notes=notes,
        )  # fmt: skip


def about_sets(does: str, source: str, of_all: str, attributes: str = "hierarchies that nest") -> About:
    """What holds for each of the three, and what is its own."""
    return About(
        does=does, source=source, search="local search, then branch and bound",
        lowers="discernibility if that is the job's metric, else loss",
        proves=f"least loss (or discernibility) of all {of_all}, where there are few and time suffices",
        models="sizes", attributes=attributes, level_limits=False, seeded=True, anytime=True,
    )  # fmt: skip


def _load_kernels(judge: SetJudge, state: SetJudgement) -> None:
    """Have the kernels compiled before the clock starts."""
    first = state.sets[0]
    judge.weigh_joins(state, 0, np.zeros((len(first), len(first)), np.bool_))
    judge.weigh_partings(state, 0, [(0, first[0])])


def _check_size(name: str, table: ValueTable) -> None:
    """Refuse columns with more values than can be compared set by set."""
    for column in table.columns:
        if column.size > MOST_VALUES or column.size * len(table.counts) > MOST_CELLS:
            raise JobError(
                f"The algorithm {name!r} weighs every set of a column's values against every other: {column.name!r} "
                f"has {column.size:,} values in {len(table.counts):,} distinct tuples, which is too many. Publish "
                "broader values (a rounded number, a shorter code), or use algorithm 'iyengar', 'optimal' or 'best'."
            )


def _full_domain_start(problem: Problem, table: ValueTable, judge: SetJudge, progress: Progress) -> Sets | None:
    """The partition of the best full-domain release, which every scheme allows; `None` if none is found."""
    if not all(h.nested for h in problem.domain.hierarchies):
        return None
    easier = problem.changed(metric=Discernibility() if judge.squares else Loss())
    left = None if math.isinf(judge.work.seconds) else judge.work.left
    # Where its work is used up there is none left to refine with: more of it is never worse.
    algorithm = Optimal(budget_seconds=left) if easier.lattice.size <= MOST_LEVELS else Datafly()
    try:
        levels = algorithm.solve(easier, progress).levels
    except NoSolution:
        return None
    finally:
        judge.work.spend(easier.work_seconds)
    assert levels is not None
    partition = []
    for column, level in zip(table.columns, levels, strict=True):
        codes = column.hierarchy.level(level).codes[column.leaves]
        _, number = np.unique(codes, return_inverse=True)
        partition.append(tuple(sorted(sets_of(number.reshape(-1)))))
    return tuple(partition)
