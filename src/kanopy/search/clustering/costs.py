"""What generalizing costs, laid out for clustering: every attribute as a line, every cost a whole number.

The size of a node is `max - min` for numbers (Campan, Cooper, Truta 2011, Definition 4) and *values covered
minus one* for categories, so that a value alone costs nothing and the root costs its whole attribute in both.
Without a hierarchy (`free`) the cost is the range of the values over the range in the table.
Costs of different attributes are put over one common denominator; where that would not fit in 62 bits they are
rounded once to a fixed number of binary digits, which `Measure.exact` tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._core.classes import Domain
from kanopy._errors import DataError, HierarchyError, JobError, near_miss, some
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.search.clustering.lines_kernel import Lines, make_lines

LARGEST_COST = 1 << 62
DECIMAL_DIGITS = 9
FLOAT_ERROR = 1e-15
"""How far a decimal read as a float, times a power of ten, may lie from a whole number (relative)."""


@dataclass(frozen=True, eq=False)
class Measure:
    """Positions of the distinct tuples on the lines, and the cost of every stretch.

    `leaf_at[j][place]` is the value at a place. A cost `c` stands for `c / denominator` attributes' worth of
    loss; `exact` is false if costs had to be rounded.
    """

    lines: Lines
    positions: Ints
    leaf_at: tuple[Ints, ...]
    free: tuple[bool, ...]
    denominator: int
    exact: bool


def make_measure(domain: Domain, free: Sequence[str], weights: Sequence[float], multiplier: int) -> Measure:
    """Lay out a domain. `free` names attributes generalized without hierarchy; costs times `multiplier` must fit."""
    unknown = [name for name in free if name not in domain.names]
    if unknown:
        raise JobError(
            f"No quasi-identifier is called {some(unknown)}, so it cannot be generalized without a hierarchy. "
            f"{near_miss(unknown[0], domain.names)}"
        )
    shapes = [
        _number_line(domain, j) if name in free else _tree_line(hierarchy)
        for j, (name, hierarchy) in enumerate(zip(domain.names, domain.hierarchies, strict=True))
    ]
    factors, denominator, exact = _common_scale([shape.whole for shape in shapes], weights, multiplier)
    exact = exact and all(shape.exact for shape in shapes)
    positions = np.empty_like(domain.tuples)
    for j, shape in enumerate(shapes):
        position_of_leaf = np.full(domain.hierarchies[j].size, -1, np.int32)
        position_of_leaf[shape.leaf_at] = np.arange(len(shape.leaf_at), dtype=np.int32)
        positions[:, j] = position_of_leaf[domain.tuples[:, j]]
    lines = make_lines(
        [shape.free for shape in shapes],
        *(
            [_scaled(getattr(shape, field), factor) for shape, factor in zip(shapes, factors, strict=True)]
            for field in ("point", "value", "gap")
        ),
    )
    return Measure(
        lines,
        np.ascontiguousarray(positions, np.int32),
        tuple(shape.leaf_at for shape in shapes),
        tuple(shape.free for shape in shapes),
        denominator,
        exact,
    )


@dataclass(frozen=True, eq=False)
class _Line:
    """One attribute before its costs are put over the common denominator; sizes are whole units."""

    free: bool
    leaf_at: Ints
    point: Longs
    value: Longs
    gap: Longs
    whole: int
    exact: bool


def _tree_line(hierarchy: Hierarchy) -> _Line:
    """A hierarchy's leaves from left to right, and the sizes of the ancestors of neighbours."""
    hierarchy.tree()
    require_one_top(hierarchy)
    leaf_at = leaf_order(hierarchy)
    above = hierarchy.common_ancestors(leaf_at[:-1], leaf_at[1:])
    sizes, exact = node_sizes(hierarchy)
    return _Line(
        free=False,
        leaf_at=leaf_at,
        point=sizes[leaf_at],
        value=np.zeros(len(leaf_at), np.int64),
        gap=sizes[above],
        whole=int(sizes[hierarchy.roots[0]]),
        exact=exact,
    )


def require_one_top(hierarchy: Hierarchy) -> None:
    """Refuse a hierarchy in which some values have no common ancestor."""
    if len(hierarchy.roots) > 1:
        tops = some([hierarchy.label(int(node)) for node in hierarchy.roots])
        raise HierarchyError(
            f"The hierarchy{f' of {hierarchy.name}' if hierarchy.name else ''} has several tops ({tops}), so some "
            "values have nothing in common. Join them under '*' with `hierarchy.rooted()`."
        )


def _number_line(domain: Domain, j: int) -> _Line:
    """The numbers of a column in ascending order."""
    name, hierarchy = domain.names[j], domain.hierarchies[j]
    if hierarchy.low is None or hierarchy.high is None:
        raise JobError(
            f"{name!r} does not hold numbers, so it cannot be generalized to ranges without a hierarchy. "
            "Give it a hierarchy, or take it off the list of free attributes."
        )
    low, high = hierarchy.low[: hierarchy.size], hierarchy.high[: hierarchy.size]
    if (low != high).any():
        wide = np.flatnonzero(low != high)
        raise JobError(
            f"{name!r} holds ranges already ({some(hierarchy.label(int(leaf)) for leaf in wide[:5])}); "
            "only single numbers can be generalized without a hierarchy."
        )
    leaf_at = np.argsort(low, kind="stable").astype(np.int32)
    units, exact = whole_units(low[leaf_at], name)
    present = np.zeros(hierarchy.size, np.bool_)
    present[domain.tuples[:, j]] = True
    used = units[present[leaf_at]]
    return _Line(
        free=True,
        leaf_at=leaf_at,
        point=np.zeros(len(leaf_at), np.int64),
        value=units - units[0],
        gap=np.zeros(len(leaf_at) - 1, np.int64),
        whole=int(used[-1] - used[0]) if len(used) else 0,
        exact=exact,
    )


def leaf_order(hierarchy: Hierarchy) -> Ints:
    """The leaves from left to right, so that the leaves of every node are neighbours; siblings by first leaf.

    >>> h = Hierarchy.from_rows([["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"]])
    >>> leaf_order(h).tolist()
    [0, 2, 1]
    """
    parent, counts = hierarchy.tree(), hierarchy.leaf_counts.astype(np.int64)
    first = np.arange(len(parent), dtype=np.int64)
    first[hierarchy.size :] = hierarchy.size
    by_depth = np.argsort(hierarchy.depth, kind="stable")
    groups = np.split(by_depth, np.flatnonzero(np.diff(hierarchy.depth[by_depth])) + 1)
    for nodes in reversed(groups[1:]):
        np.minimum.at(first, parent[nodes], first[nodes])
    begin = np.zeros(len(parent) + 1, np.int64)  # the last place is that of the parent (-1) of all roots
    for nodes in groups:
        ordered = nodes[np.lexsort((first[nodes], parent[nodes]))]
        before = np.cumsum(counts[ordered]) - counts[ordered]
        opens = np.concatenate([[True], np.diff(parent[ordered]) != 0])
        own_start = before[opens][np.cumsum(opens) - 1]
        begin[ordered] = begin[parent[ordered]] + before - own_start
    order = np.empty(hierarchy.size, np.int32)
    order[begin[: hierarchy.size]] = np.arange(hierarchy.size)
    return order


def node_sizes(hierarchy: Hierarchy) -> tuple[Longs, bool]:
    """The size of every node in whole units, and whether nothing was rounded."""
    if hierarchy.low is None or hierarchy.high is None:
        return hierarchy.leaf_counts.astype(np.int64) - 1, True
    ends, exact = whole_units(np.concatenate([hierarchy.low, hierarchy.high]), hierarchy.name)
    half = len(ends) // 2
    return ends[half:] - ends[:half], exact


def whole_units(numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64], name: str = "") -> tuple[Longs, bool]:
    """Numbers as integers of one unit: exact for integers and decimals, rounded to 2**40 steps otherwise.

    >>> import numpy as np
    >>> whole_units(np.array([1.5, 2.25]))[0].tolist()
    [150, 225]
    """
    if numbers.dtype.kind in "iu":
        return numbers.astype(np.int64), True
    if not np.isfinite(numbers).all():
        raise DataError(
            f"{name or 'A column'!r} holds values that are not finite numbers (NaN or infinity). "
            "Replace them, or treat them as missing."
        )
    for digits in range(DECIMAL_DIGITS + 1):
        scaled = numbers * 10.0**digits
        if np.abs(scaled).max(initial=0.0) > 2**52:
            break
        rounded = np.rint(scaled)
        if (np.abs(scaled - rounded) <= FLOAT_ERROR * np.abs(scaled)).all():
            return rounded.astype(np.int64), True
    low, high = float(numbers.min()), float(numbers.max())
    return np.rint((numbers - low) / (high - low) * 2**40).astype(np.int64), False


def _common_scale(wholes: Sequence[int], weights: Sequence[float], multiplier: int) -> tuple[list[Fraction], int, bool]:
    """Per attribute the factor that turns its units into costs, the common denominator, and whether it is exact.

    An attribute that does not vary (whole = 0) costs nothing.
    """
    parts = [Fraction(weight).limit_denominator(1000) for weight in (weights or [1.0] * len(wholes))]
    ratios = [part_size / whole if whole else Fraction(0) for part_size, whole in zip(parts, wholes, strict=True)]
    shared = lcm(*(ratio.denominator for ratio in ratios))
    largest = sum(ratio * whole for ratio, whole in zip(ratios, wholes, strict=True)) or Fraction(1)
    if shared * largest * multiplier < LARGEST_COST:
        return [ratio * shared for ratio in ratios], shared, True
    digits = 40
    while (largest * multiplier) * (1 << digits) >= LARGEST_COST:
        digits -= 1
    return [ratio * (1 << digits) for ratio in ratios], 1 << digits, False


def _scaled(units: Longs, factor: Fraction) -> Longs:
    if factor.denominator == 1:
        return units * int(factor)
    return np.asarray(np.rint(units * float(factor)), np.int64)
