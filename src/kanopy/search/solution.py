"""What every algorithm answers with, and what every algorithm looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from kanopy._core.classes import Recoding
from kanopy._kinds import Maybe, Names, Seconds, Whole
from kanopy._parameters import Declared
from kanopy._progress import Progress
from kanopy.privacy.models import KAnonymity, Model

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


@dataclass(frozen=True, eq=False)
class Solution:
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


RECODINGS = {
    "full-domain": "one level per column, the same for all rows",
    "subtree": "every value has one published label per column, the same for all rows",
    "local": "rows are grouped, and every group has labels of its own",
    "cell": "every single cell may be generalized on its own",
}
"""Kinds of recoding, from the most uniform to the most flexible."""


@dataclass(frozen=True)
class About:
    """What `kanopy algorithms` says of an algorithm; the contract tests hold every word of it to be true.

    `models` is "any"; "monotone" (those for which a more general release is never less safe); "classes" (those
    that judge one class at a time by its rows: no population, no limits on generalization, nothing release-wide);
    "rows" (those and what judges the release as a whole by its rows); or "sizes" (k-anonymity alone). `search` is how
    it looks for a release, `lowers` the measure it tries to make small (nothing: the job's metric). `proves` says
    what is proved optimal, or is empty for a heuristic. `row_order` is whether permuting the rows may change the
    release.
    """

    does: str
    source: str
    search: str = "greedy"
    lowers: str = "the job's metric"
    proves: str = ""
    models: Literal["any", "monotone", "classes", "rows", "sizes"] = "classes"
    attributes: str = "hierarchies that nest"
    suppresses: bool = True
    level_limits: bool = True
    weights: bool = True
    row_order: bool = False
    seeded: bool = False
    anytime: bool = False

    def supports(self, model: Model, *, suppressing: bool) -> bool:
        """Whether the algorithm can satisfy a model, where rows may be suppressed or not."""
        if self.models == "any":
            return True
        if self.models == "monotone":
            return model.monotonic_with_suppression and not model.of_release if suppressing else model.monotonic
        if self.models == "classes":
            return not (model.needs_population or model.quasi or model.of_release)
        if self.models == "rows":
            return not (model.needs_population or model.quasi)
        return isinstance(model, KAnonymity)


Budget = Annotated[float, Seconds(), "how long the search may take"]
Steps = Annotated[int | None, Maybe(Whole(0)), "steps to take instead of a time, so that the machine plays no part"]
Seed = Annotated[int, Whole(0), "settles what is left to chance: the same seed gives the same release"]
FreeColumns = Annotated[tuple[str, ...], Names(), "numeric columns published as plain ranges, not as hierarchy nodes"]
"""Parameters that several algorithms have."""


class Algorithm(Declared):
    """An algorithm is a frozen dataclass of its parameters with one method."""

    family: ClassVar[str] = "algorithm"
    name: ClassVar[str]
    recoding: ClassVar[str]
    """One of `RECODINGS`."""
    about: ClassVar[About]

    def solve(self, problem: Problem, progress: Progress) -> Solution:
        """Find a release; raise `NoSolution` if there is none, `Cancelled` if the caller stops."""
        raise NotImplementedError
