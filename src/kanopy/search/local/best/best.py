"""The best local recoding we know how to find in a given time: merge bottom-up, then improve until time is up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kanopy._arrays import Ints
from kanopy._compiler import prepare
from kanopy._core.classes import Classes
from kanopy._errors import Cancelled, NoSolution
from kanopy._progress import Progress
from kanopy.search.budget import Budget, stages, usable_threads
from kanopy.search.local.best.improvement import KERNELS, Improvement
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.best.initial_solutions import Starts
from kanopy.search.local.best.safety import suppress_where_it_pays, unsafe_share
from kanopy.search.local.box_release import check_placeable, made_safe, release_classes
from kanopy.search.local.boxes import Layout, lay_out, partition_cost
from kanopy.search.partition_solution import never_together, safe_together
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, BudgetSeconds, Seed, Solution, Steps, Threads

ROW_SECONDS = 1e-6
"""Time per row for laying out the table and for writing up the release."""
FIRST_SECONDS_PER_ROW = 3e-5
"""Time per row that the first stage has at least."""
CHOICE_SHARE, HEAT_AFTER_CHOICE = 0.75, 0.3
"""Where boxes are suggested: the part of a stage for choosing among them, and how hot it gets in what follows."""
STOPPED = "Stopped before the budget was used up: this is the best release found until then."
MOST_UNSAFE = 0.8
"""Where other models find more rows than this share unsafe, classes are searched with twice as many rows."""


@dataclass(frozen=True)
class Best(Algorithm):
    """Local recoding to hierarchy nodes with the least `loss` that can be found within the budget.

    Classes are first merged bottom-up within chunks, always the pair whose cost rises least. For k from 8 on, rounds of
    full-domain search are tried as well (as in `iterative-local`). Where there is more time, the linear program behind
    the lower bound suggests boxes, and those are searched that are best together, of these and of the classes so far.
    Then several kinds of change compete for the time, each given as much of it as it has lately earned: moving or
    swapping rows, opening a class around a row from its nearest rows, opening one in the most rewarding of all
    generalizations of a row, giving a class up, merging a few neighbouring classes to split them anew, and, where
    classes are few, chains of moves.
    Changes are accepted as in simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983), so worse ones pass early on.

    `budget_seconds` is work, in seconds of an ordinary machine: the same job gives the same release, whatever the
    machine is busy with. It is spent in stages, each of which goes on from the best release so far, so that a larger
    budget begins with all that a smaller one does and is never worse. `steps` instead asks for a number of rounds.
    Interrupting keeps the best release so far, and the notes say that it was stopped. Nothing is suppressed unless the
    problem allows it and it pays. Heuristic: `kanopy.lower_bound` says how far from the best possible it
    can be. Not for hierarchies that do not nest. Models beside k-anonymity are satisfied by searching larger classes
    if most are unsafe, and uniting the unsafe ones at the end; models of the whole release by searching larger ones.
    Models that compare with a population or limit single labels are refused.
    """

    budget_seconds: BudgetSeconds = 5.0
    steps: Steps = None
    seed: Seed = 0
    threads: Threads = None
    name, recoding = "best", "local"
    about = About(
        does="merges rows bottom-up, then improves the classes until its time is up", source="Kanopy",
        search="greedy, then annealed", lowers="loss", models="rows", units=True, seeded=True,
        anytime=True,
    )  # fmt: skip

    @classmethod
    def kernels(cls) -> tuple[Any, ...]:
        return KERNELS

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Find a release; a callback that says stop ends the improvement, not the work."""
        prepare(KERNELS, progress)
        least = _first_size(problem, progress)
        solution = self._solve(problem, least, progress)
        while not safe_together(problem, solution.recoding):
            # Too many small classes for a model of the whole release: larger ones, with the same time again.
            least += max(1, least // 3)
            if problem.level_limits or least > int(problem.domain.counts.sum()):
                raise never_together(problem)
            solution = self._solve(problem, least, progress)
        if least == problem.k:
            return solution
        note = f"Classes were searched with at least {least} rows, so that the release is safe as a whole."
        return replace(solution, notes=(*solution.notes, note))

    def _solve(self, problem: Problem, least: int, progress: Progress) -> Solution:
        """The best classes of at least so many rows."""
        work = Budget(self.budget_seconds if self.steps is None else None)
        progress("laying out")
        layout = lay_out(problem)
        work.spend(ROW_SECONDS * len(layout.rows))
        lost = check_placeable(layout, problem)
        start = bottom_up(layout, least, progress, work, usable_threads(self.threads))
        while not problem.of_sizes and 4 * least <= len(layout.rows) and not layout.stratum.any():
            # Classes of k rows that are nearly all unsafe for another model would only be united again.
            if unsafe_share(layout, start, problem) <= MOST_UNSAFE:
                break
            least *= 2
            start = bottom_up(layout, least, progress, work, usable_threads(self.threads))
        search = Improvement(layout, start, least, self.seed, usable_threads(self.threads))
        finish = _Finish(problem, layout, search, problem.max_suppressed_rows - lost, work)
        notes = []
        if self.steps is None and work.over:
            notes.append(
                f"The first release alone took the work of {work.spent:.0f} s, the budget was {self.budget_seconds:g} "
                "s: nothing was improved. A larger budget gives a better release."
            )
        try:
            if self.steps is not None:
                search.go_on_from(Starts(layout, problem, least, self.seed).next(start, work, 0.0, progress))
                search.run_steps(self.steps, progress)
                finish.note()
            else:
                finish.note()
                starts = Starts(layout, problem, least, self.seed, usable_threads(self.threads))
                self._improve(search, starts, work, finish, progress)
        except (Cancelled, KeyboardInterrupt):
            notes.append(STOPPED)
            finish.note()
        return release_classes(self.name, layout, finish.classes(), problem, judged=search.rounds, notes=notes)

    def _improve(self, search: Improvement, starts: Starts, work: Budget, finish: _Finish, progress: Progress) -> None:
        """Stage after stage, each from the best so far, until the work is over."""
        rows = len(search.layout.rows)
        for end in stages(work.spent + max(0.05, FIRST_SECONDS_PER_ROW * rows)):
            stage = end - work.spent
            if work.over or search.best_cost <= 0.0:
                return
            if stage > 0:
                search.go_on_from(starts.next(search.best_classes(), work, stage, progress))
                search.floor = starts.floor
                if starts.stopped:
                    raise Cancelled
                if starts.choice is not None and end > work.spent:
                    search.heat = HEAT_AFTER_CHOICE
                    share = work.part(CHOICE_SHARE * (end - work.spent))
                    class_of, stopped = starts.choice.search(search.part.class_of, share, progress, search.floor)
                    search.go_on_from(class_of)
                    finish.note()
                    if stopped is not None:
                        raise stopped
                if end > work.spent:
                    search.run(work, end - work.spent, progress, finish.note if finish.compares else None)
                else:  # the start took more than its share: what it found is what the stage comes to
                    finish.note()


class _Finish:
    """What is published of the classes found: the best of what was noted at certain points of the search.

    Where rows may be suppressed, or models look at more than the size of a class, a partition that costs less can
    still end as a release that costs more. So releases are compared, at points that do not depend on the budget.
    """

    def __init__(self, problem: Problem, layout: Layout, search: Improvement, allowed: int, work: Budget) -> None:
        self.problem, self.layout, self.search, self.allowed, self.work = problem, layout, search, allowed, work
        self.best: tuple[float, Ints] | None = None
        self.noted = float(np.inf)

    @property
    def compares(self) -> bool:
        """Whether it takes a look to say which of two partitions is the better release."""
        return self.allowed > 0 or not self.problem.of_sizes

    def note(self) -> None:
        """Look at what the best classes so far come to, if they have changed and it takes a look."""
        if not self.compares or self.search.best_cost >= self.noted:
            return
        self.noted = self.search.best_cost
        self.work.spend(ROW_SECONDS * len(self.layout.rows))
        suppressed = self._suppressed()
        try:
            cost = partition_cost(self.layout, made_safe(self.layout, suppressed, self.problem)[0])
        except NoSolution:
            return
        if self.best is None or cost < self.best[0]:
            self.best = cost, suppressed

    def classes(self) -> Ints:
        """The classes to publish."""
        return self._suppressed() if self.best is None else self.best[1]

    def _suppressed(self) -> Ints:
        class_of = self.search.best_classes().copy()
        if self.allowed > 0:
            class_of = suppress_where_it_pays(self.layout, class_of, self.problem.k, self.allowed)
        return class_of


def _first_size(problem: Problem, progress: Progress) -> int:
    """The class size to begin with: `k`, or more where a model of the whole release asks for fewer classes."""
    k = least = problem.k
    if problem.level_limits or not any(model.of_release for model in problem.models):
        return k
    layout = lay_out(problem)
    while 2 * least <= len(layout.rows):
        class_of = bottom_up(layout, least, progress)
        classes = Classes(np.bincount(np.unique(class_of, return_inverse=True)[1]).astype(np.int64))
        if all(model.satisfied(classes, classes) for model in problem.models if model.of_release):
            break
        least += max(1, least // 3)
    return least
