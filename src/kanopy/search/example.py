"""The small problem that the examples of this room solve: one column of letters under a tree of two levels."""

from __future__ import annotations

from kanopy._core.classes import Domain
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution


def letters(text: str, groups: str = "ab cd", *, suppress: float = 0.0) -> Problem:
    """A row for each letter of `text`, of which two must be alike; letters of a group meet in x, y or z, all in `*`.

    >>> letters("aabc").domain.hierarchies[0].labels_at(1)
    ('x', 'y')
    """
    rows = [[letter, above, "*"] for above, group in zip("xyz", groups.split(), strict=False) for letter in group]
    column = Domain.of_column("letter", text, Hierarchy.from_rows(rows, name="letter"))
    return Problem(column, [KAnonymity(2)], suppression_limit=suppress)


def published(solution: Solution) -> list[str]:
    """What is published for each row, where all are.

    >>> from kanopy.search.full_domain.optimal import Optimal
    >>> published(Optimal().solve(letters("aabc")))
    ['*', '*', '*', '*']
    """
    recoding = solution.recoding
    return [recoding.labels[0][code] for code in recoding.codes[recoding.group_of_row, 0]]
