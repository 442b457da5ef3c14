"""Full-domain search repeated on what it left out: every round publishes what its best level per column makes safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kanopy._errors import Cancelled
from kanopy._parameter_types import Integer, Seconds, Share
from kanopy._progress import Progress
from kanopy.search.budget import Budget, used_up
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.local.box_release import made_safe, placeable_layout, release_classes
from kanopy.search.local.boxes import partition_cost
from kanopy.search.local.iterations import Rounds
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, EndingBudget, Solution

STOP_SECONDS_PER_CELL = 1e-8
"""Seconds of an ordinary machine for knowing what stopping after a round would lose, per value of the table."""


@dataclass(frozen=True)
class IterativeLocal(Algorithm):
    """Full-domain search, repeated on the rows that it left out, until nothing is left.

    *Where it comes from.* ARX (Prasser, Kohlmayer 2015) calls this local recoding: find one level per column for all
    rows, allow many rows to be suppressed, publish the others, and search again among the suppressed ones.

    *What we decided.* `share` is the part of the open rows that a round may leave to the next, `rounds` the most
    rounds, of which the last one publishes all it can. A round takes the levels that lose
    least among those that leave few enough rows; rows that are left cost nothing extra, since they will be published
    later (counted as lost, the first round takes nearly all rows at coarse levels: three times the loss on ARX's
    example). The search is exact for k-anonymity and all models for which a larger class is never less safe; for the
    others it takes for granted that finer levels keep fewer rows, which can make it miss the best levels of a round,
    never its safety. Classes publish the lowest labels that their rows share, which may be finer than the levels of
    their round. The last rows, fewer than 2k, become one class, or join the classes whose loss they raise least, or are
    suppressed where that is allowed: whatever loses least. `seconds_per_round` bounds a round if there are more than
    a million candidates: then a best-effort search takes the place of the exact one.

    `budget_seconds` ends it after the round that uses them up: the rows still open become one class, or those that were
    open after an earlier round where that loses less, so that more work is never worse.

    *Guarantee.* Every class satisfies the models; the levels lie within their limits; the rows may come in any order.
    Interrupted, it publishes the rows still open as one class (one for each part that level limits keep apart).

    *Cost.* One search per round, each on fewer rows, and each starting from what the ones before ruled out. ARX's Adult
    example (30,162 rows, 12,960 candidates), k = 2 / 5 / 10 / 100: losses .0221 / .0532 / .0777 / .1945 in about a
    second each; with `share=0.99` .0215 / .0522 / .0766 / .1922 in two.

    *When not to use it.* With many columns there are too many candidates; `best` and `he-naughton` do not depend on
    their number. For the least loss use `best`; this one is the easiest to explain.

    >>> from kanopy.search.example import letters, published
    >>> published(IterativeLocal().solve(letters("aabccd")))
    ['a', 'a', '*', 'c', 'c', '*']
    """

    share: Annotated[float, Share(below=1, most=None), "of the open rows, what a round may leave to the next"] = 0.95
    rounds: Annotated[int, Integer(1), "at most so many searches"] = 1000
    seconds_per_round: Annotated[float, Seconds(), "time for a round that is too large to be exact"] = 2.0
    budget_seconds: EndingBudget = None
    name, recoding = "iterative-local", "local"
    about = About(
        does="finds the best level per column, publishes what that makes safe, and starts again with the other rows",
        source="what ARX (Prasser, Kohlmayer 2015) calls local recoding", anytime=True, units=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Publish round by round; a callback that says stop leaves the rows still open to one coarse class."""
        layout = placeable_layout(problem, progress)
        rounds = Rounds(layout, problem, Optimal(budget_seconds=self.seconds_per_round, threads=1))
        notes = []
        work = Budget(self.budget_seconds)
        stops: list[tuple[float, int]] = []
        """Where it could have stopped: what that would lose, and the classes that were published until then."""
        try:
            for number in range(1, self.rounds + 1):
                if self.budget_seconds is not None:
                    stops.append((partition_cost(layout, rounds.with_the_rest(rounds.classes)), rounds.classes))
                    work.spend_up_to(rounds.work_seconds + STOP_SECONDS_PER_CELL * number * layout.boxes.tuples.size)
                if work.over:
                    notes.append(used_up("all rounds were done", rounds.judged))
                    rounds.publish_together()
                    break
                if not rounds.publish(self.share if number < self.rounds else 0.0, progress):
                    break
        except (Cancelled, KeyboardInterrupt):
            notes.append("Stopped early: the rows not yet published share one class.")
            rounds.publish_together()
        class_of = rounds.with_left_over()
        if stops:
            earlier, _ = made_safe(layout, rounds.with_the_rest(min(stops)[1]), problem)
            class_of = min(
                (made_safe(layout, class_of, problem)[0], earlier),
                key=lambda candidate: partition_cost(layout, candidate),
            )
        notes.append(f"{rounds.done} rounds.")
        return release_classes(self.name, layout, class_of, problem, judged=rounds.judged, notes=notes)
