"""Two or more hierarchies side by side: heights, nodes per level, and which groupings they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanopy._errors import HierarchyError
from kanopy._lazy import public
from kanopy._mixins import DictMixin, HtmlReprMixin, ReprMixin
from kanopy._usage import checked
from kanopy.hierarchy.hierarchy import Hierarchy

MOST_NODES = 200_000


@dataclass(frozen=True)
class Outline(ReprMixin, DictMixin):
    """One hierarchy in numbers."""

    json_names = {"values": "leaves"}  # noqa: RUF012 - of the class
    name: str
    values: int
    height: int
    nodes: int
    nodes_per_level: tuple[int, ...]
    nested: bool


@public("kanopy.hierarchy")
@dataclass(frozen=True)
class Comparison(HtmlReprMixin):
    """Outlines, and how the groupings of each two hierarchies agree.

    `shared_groups[i][j]` counts the groups of values that hierarchy i has and j has too (values themselves and the
    whole domain are not counted); `groups[i]` is how many i has. Both look only at values that all hierarchies know.
    """

    outlines: tuple[Outline, ...]
    common_values: int
    groups: tuple[int, ...]
    shared_groups: tuple[tuple[int, ...], ...]
    same: bool


def outline(h: Hierarchy) -> Outline:
    """One hierarchy in numbers.

    >>> outline(Hierarchy.flat(["a", "b"], name="x")).nodes_per_level
    (2, 1)
    """
    return Outline(h.name, h.size, h.height, h.node_count, tuple(h.level_sizes), h.nested)


@public("kanopy.hierarchy")
@checked
def compare_hierarchies(hierarchies: Sequence[Hierarchy]) -> Comparison:
    """Compare two or more hierarchies.

    >>> a = Hierarchy.from_rows([["1", "x", "*"], ["2", "x", "*"], ["3", "y", "*"]])
    >>> b = Hierarchy.from_rows([["1", "p", "*"], ["2", "p", "*"], ["3", "3", "*"]])
    >>> compare_hierarchies([a, b]).shared_groups
    ((1, 1), (1, 1))
    """
    if len(hierarchies) < 2:
        raise HierarchyError("Comparing needs at least two hierarchies.")
    common = set(hierarchies[0].values)
    for h in hierarchies[1:]:
        common &= set(h.values)
    groupings = [_groups(h, common) for h in hierarchies]
    shared = tuple(tuple(len(a & b) for b in groupings) for a in groupings)
    return Comparison(
        tuple(outline(h) for h in hierarchies),
        len(common),
        tuple(len(groups) for groups in groupings),
        shared,
        all(h.same_as(hierarchies[0]) for h in hierarchies[1:]),
    )


def _groups(h: Hierarchy, common: set[str]) -> set[frozenset[str]]:
    """The sets of common values that some node above the values stands for."""
    if h.node_count > MOST_NODES:
        raise HierarchyError(
            f"The hierarchy of {h.name!r} has {h.node_count:,} nodes: too many to compare group by group. "
            "Compare a version with fewer levels (`h.with_levels(10)`)."
        )
    groups: set[frozenset[str]] = set()
    for row in h.table[1:]:
        members: dict[int, set[str]] = {}
        for value, node in zip(h.values, row.tolist(), strict=True):
            if value in common:
                members.setdefault(node, set()).add(value)
        groups |= {frozenset(group) for group in members.values() if 1 < len(group) < len(common)}
    return groups
