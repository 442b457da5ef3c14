"""What every algorithm answers with, and what every algorithm looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from kanopy._core.classes import Recoding
from kanopy._errors import JobError, NoSolution, some
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import ColumnNames, Integer, Optional, Seconds
from kanopy._parameters import Declared
from kanopy._progress import SILENT, Progress
from kanopy.privacy.models import KAnonymity, Model

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Solution(ReprMixin):
    """A recoding that satisfies the job, and how it was found.

    `levels` is one level per quasi-identifier for full-domain recodings and `None` for local ones. `optimal`
    means proved: no other candidate of this kind of recoding scores lower. `judged` candidates were evaluated,
    `candidates - judged` were ruled out by bounds that cannot err (or, when not optimal, not looked at).
    """

    algorithm: str
    recoding: Recoding
    score: float
    levels: tuple[int, ...] | None = None
    optimal: bool = False
    judged: int = 0
    candidates: int = 0
    notes: tuple[str, ...] = ()
    floor: float | None = None
    """What no other candidate of this kind of recoding scores less than, where that is proved."""

    @property
    def gap(self) -> float | None:
        """How much of the score may be avoidable, at most: 0 is proved optimal."""
        if self.floor is None:
            return None
        return 0.0 if self.score <= 0 else max(0.0, 1.0 - self.floor / self.score)

    def proved(self) -> dict[str, float | None]:
        """What is proved of the score, as plain data: `None` where nothing is.

        >>> from kanopy.search.algorithms import make_algorithm
        >>> from kanopy.search.example import letters
        >>> make_algorithm("optimal").solve(letters("aabb")).proved()
        {'floor': 0.0, 'gap': 0.0}
        """
        floor = self.score if self.optimal and self.floor is None else self.floor
        return {"floor": floor, "gap": 0.0 if self.optimal else self.gap}


NESTING = "hierarchies that nest"
RECODINGS = {
    "full-domain": "one level per column, the same for all rows",
    "subtree": "every value has one published label per column, the same for all rows",
    "local": "rows are grouped, and every group has labels of its own",
    "cell": "every single cell may be generalized on its own",
}
"""Kinds of recoding, from the most uniform to the most flexible."""


@public("kanopy.extend")
@dataclass(frozen=True)
class About:
    """What `kanopy algorithms` says of an algorithm; the contract tests hold every word of it to be true.

    `models` is "any"; "monotone" (those for which a more general release is never less safe); "classes" (those
    that judge one class at a time by its rows: no population, no labels, no households, nothing release-wide);
    "rows" (those and what judges the release as a whole by its rows); "sizes" (k-anonymity alone); or
    "none". `search` is how it looks for a release, `lowers` the measure it tries to make small (nothing: the job's
    metric). `proves` says what is proved optimal, or is empty for a heuristic. `units` says whether it counts people
    where several rows may be about one. `row_order` is whether permuting the rows may change the release.
    """

    does: str
    source: str
    search: str = "greedy"
    lowers: str = "the job's metric"
    proves: str = ""
    models: Literal["any", "monotone", "classes", "rows", "sizes", "none"] = "classes"
    attributes: str = NESTING
    suppresses: bool = True
    level_limits: bool = True
    weights: bool = True
    row_order: bool = False
    seeded: bool = False
    anytime: bool = False
    units: bool = False

    def supports(self, model: Model, *, suppressing: bool, units: bool = False) -> bool:
        """Whether the algorithm can satisfy a model, where rows may be suppressed or not, or have units."""
        if self.models == "monotone" and units:
            return model.monotonic_with_units and not model.of_release
        if self.models == "monotone":
            return model.monotonic_with_suppression and not model.of_release if suppressing else model.monotonic
        if self.models == "sizes":
            return self.models == "sizes" and isinstance(model, KAnonymity)
        return self.models == "any" or not (
            model.needs_population
            or model.quasi
            or model.all_quasi
            or model.needs_households
            or (model.of_release and self.models == "classes")
        )

    def require(self, name: str, problem: Problem) -> None:
        """Refuse a problem that is none for the algorithm `name`, and say why."""
        if self.attributes == NESTING:
            problem.require_nesting()
        units = problem.domain.units
        alone = [model.name for model in problem.models if model.needs_weights or model.needs_households]
        if units is not None and alone:
            raise JobError(
                f"The model {alone[0]!r} adds up the sampling weights of rows: and would count {units.called} with "
                "several rows more than once. Leave the unit out, and the model holds of rows; or leave the model "
                f"out, and k holds of {units.called}."
            )
        if units is not None and not self.units:
            raise JobError(
                f"The algorithm {name!r} counts rows, and the job asks for {units.called}: rows of the same one would "
                "be taken for different ones. Use algorithm 'optimal'."
            )
        suppressing = problem.max_suppressed_rows > 0
        broken = [
            model for model in problem.models
            if not self.supports(model, suppressing=suppressing, units=units is not None)
        ]  # fmt: skip
        if broken and self.models == "monotone":
            where = " once rows may be suppressed" if suppressing else "" if units is None else " of people"
            raise JobError(
                f"The algorithm {name!r} needs models for which a more general release is never less safe; "
                f"{', '.join(model.name for model in broken)} is not one{where}. Use algorithm 'optimal'."
            )
        if broken and self.models == "sizes":
            by_class = replace(self, models="classes")
            local = all(by_class.supports(model, suppressing=suppressing) for model in broken)
            others = "'best', 'mondrian' or 'optimal'" if local else "'optimal'"
            raise JobError(
                f"The algorithm {name!r} knows k-anonymity alone, not {some([model.name for model in broken])}: its "
                f"bounds count rows. Use algorithm {others}."
            )
        if broken:
            reason = "it judges the release as a whole, and this algorithm looks at one class at a time"
            if broken[0].needs_population:
                reason = "it counts people of a population, and this algorithm knows only the rows of the table"
            elif broken[0].needs_households:
                reason = (
                    "members of a household are in several classes, and this algorithm looks at one class at a time"
                )
            elif broken[0].all_quasi:
                reason = "it counts values over all classes, and this algorithm looks at one class at a time"
            elif broken[0].quasi:
                reason = "it limits how far values are generalized, and uniting classes generalizes further"
            raise JobError(
                f"The algorithm {name!r} does not support the model {broken[0].name!r}: {reason}. "
                "Use algorithm 'optimal'."
            )
        if problem.level_limits and not self.level_limits:
            raise JobError(
                f"The algorithm {name!r} publishes labels that have no level, so the levels of a column "
                "cannot be limited. Drop the limits, or use algorithm 'optimal' or 'best'."
            )


BudgetSeconds = Annotated[float, Seconds(), "how much work the search may do, in seconds of an ordinary machine"]
EndingBudget = Annotated[
    float | None,
    Optional(Seconds()),
    "how much work the search may do, in seconds of an ordinary machine; none: it runs to its end",
]
Steps = Annotated[
    int | None, Optional(Integer(0)), "steps to take instead of a time, so that the machine plays no part"
]
Seed = Annotated[int, Integer(0), "the seed of random choices: the same seed gives the same release"]
Threads = Annotated[
    int | None,
    Optional(Integer(1)),
    "threads that work at the same time, all processors if none are given: the same release",
]
FreeColumns = Annotated[
    tuple[str, ...], ColumnNames(), "numeric columns published as plain ranges, not as hierarchy nodes"
]
"""Parameters that several algorithms have."""


@public("kanopy.extend")
class Algorithm(Declared):
    """An algorithm is a frozen dataclass of its parameters that says what it is and how it searches."""

    family: ClassVar[str] = "algorithm"
    to_write: ClassVar[tuple[str, ...]] = ("name", "recoding", "about", "search")
    name: ClassVar[str]
    recoding: ClassVar[str]
    """One of `RECODINGS`."""
    about: ClassVar[About]
    quick: ClassVar[bool] = False
    """Whether it answers in a moment: a preview runs it, and not a quick one in its place."""
    counts_whole_classes: ClassVar[bool] = False
    """Whether what it proves is also found where a table lies whose different rows do not fit on one machine, by
    counting the whole classes of some choices of levels there."""
    averages: ClassVar[bool] = False
    """Whether it publishes means or medians of classes: a numeric column takes no hierarchy then."""
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    """Parameters, besides none, with which a comparison of all algorithms also runs it."""

    @classmethod
    def kernels(cls) -> tuple[Any, ...]:
        """Compiled loops that its search is sure to need, made ready while the table is prepared."""
        return ()

    def solve(self, problem: Problem, progress: Progress = SILENT) -> Solution:
        """Find a release; raise `NoSolution` if there is none, `Cancelled` if the caller stops.

        Where the search finds none although the most general release is within the limits, that is the answer.
        """
        from kanopy._core.order import in_order
        from kanopy.search.partition_solution import most_general

        self.about.require(self.name, problem)
        by_people = problem.domain.units is not None and self.recoding == "local"
        # No release depends on the order of the rows: ties are settled in an order of values.
        by_rows = self.recoding in ("local", "cell")
        ordered = in_order(problem.domain, problem.class_statistics.sensitive, by_rows=by_rows)
        given = problem
        if ordered.domain is not problem.domain:
            problem = problem.changed(domain=ordered.domain)
        try:
            if by_people:
                from kanopy.search.local_people import solve_by_people

                solution = solve_by_people(self, problem, progress)
            else:
                solution = self.search(problem, progress)
        except NoSolution as reason:
            solution = most_general(self.name, self.recoding, problem, reason)
        finally:
            given.account_for(problem)
        return replace(solution, recoding=ordered.back(solution.recoding))

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """What `solve` does once the problem is known to be one for this algorithm."""
        raise NotImplementedError
