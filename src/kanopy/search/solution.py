"""What every algorithm answers with, and what every algorithm looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from kanopy.classes import Recoding
from kanopy.progress import Progress

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


class Algorithm(Protocol):
    """An algorithm is a frozen dataclass of its parameters with one method."""

    name: ClassVar[str]
    recoding: ClassVar[str]
    """"full-domain", "subtree", "local" or "cell"."""

    def solve(self, problem: Problem, progress: Progress) -> Solution:
        """Find a release; raise `NoSolution` if there is none, `Cancelled` if the caller stops."""
        ...
