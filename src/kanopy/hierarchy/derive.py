"""Hierarchies made from another one: fewer levels, fewer values, one value more, one top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints
from kanopy._errors import HierarchyError
from kanopy.hierarchy.construct import parents_of_table
from kanopy.hierarchy.hierarchy import Bounds, Hierarchy


def with_levels_of_depth(h: Hierarchy) -> Hierarchy:
    """A tree whose leaves lie at one depth, with its depths as given levels."""
    return h.changed(table=h.table, level_of=(h.height - h.depth).astype(np.int32))


def from_table_of(source: Hierarchy, table: Ints, name: str) -> Hierarchy:
    """A hierarchy with an explicit level per row of `table`, whose entries are nodes of `source`."""
    codes = np.empty_like(table)
    picked: list[Ints] = []
    start = 0
    for level, row in enumerate(table):
        nodes, first, dense = np.unique(row, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        codes[level] = start + rank[dense]
        picked.append(nodes[order])
        start += len(nodes)
    nodes = np.concatenate(picked).astype(np.int32)
    parent, broken = parents_of_table(codes, len(nodes))
    return _picked(source, nodes, table.shape[1], None if broken else parent, name, codes)


def _picked(
    source: Hierarchy, nodes: Ints, size: int, parent: Ints | None, name: str, table: Ints | None = None
) -> Hierarchy:
    """A hierarchy of some nodes of another, with their labels and intervals."""
    low = None if source.low is None else source.low[nodes]
    high = None if source.high is None else source.high[nodes]
    return Hierarchy(
        size, lambda: [source.labels[node] for node in nodes], parent, name=name, table=table, low=low, high=high
    )


def with_levels(h: Hierarchy, levels: int) -> Hierarchy:
    """At most `levels` levels; leaf level and top kept, the others picked evenly."""
    if levels < 2:
        raise HierarchyError("A hierarchy needs at least two levels: the values and the top.")
    if levels > h.height:
        return h
    keep = sorted({round(i * h.height / (levels - 1)) for i in range(levels)})
    if h.has_table:
        return from_table_of(h, h.table[keep], h.name)
    from kanopy.hierarchy.trees_kernel import ancestors_at_depth

    parent, depth = h.tree(), h.depth
    rows = [ancestors_at_depth(parent, depth, h.height - level)[: h.size] for level in keep]
    return from_table_of(h, np.array(rows, np.int32), h.name)


def restrict(h: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """Only the given values (in the given order) and the nodes above them; levels stay the same."""
    leaves = np.array([h.find(value) for value in values], np.int32)
    if not len(leaves):
        raise HierarchyError("Restricting a hierarchy needs at least one value.")
    if len(np.unique(leaves)) < len(leaves):
        raise HierarchyError("Restricting a hierarchy needs every value once.")
    if h.has_table or h.parent is None:
        return from_table_of(h, h.table[:, leaves], h.name)
    wanted = np.zeros(h.size, np.int64)
    wanted[leaves] = 1
    used = h.subtree_sums(wanted) > 0
    inner = np.flatnonzero(used[h.size :]).astype(np.int32) + h.size
    nodes = np.concatenate([leaves, inner])
    number = np.full(h.node_count + 1, -1, np.int32)
    number[nodes] = np.arange(len(nodes))
    return _picked(h, nodes, len(leaves), number[h.tree()[nodes]], h.name)


def with_value(h: Hierarchy, value: str) -> Hierarchy:
    """Also `value`, as a leaf directly under the root, which is then called `*`: what it was called may not be true of
    the value. Over numbers it gets an interval of length 0.

    A value without a number (such as a missing one) then costs nothing while it is published as it is, and as
    much as the whole range as soon as it shares a node with any other value.
    """
    if value in h.index:
        return h
    top = np.unique(h.table[-1]) if h.has_table else h.roots
    if len(top) > 1 or h.height == 0:
        raise HierarchyError(f"Cannot add {value!r}: the hierarchy has several roots. Join them under '*' first.")
    root = int(top[0])

    def names() -> list[str]:
        return [SUPPRESSED_LABEL if node == root else label for node, label in enumerate(h.labels)]

    if not h.has_table:
        parent = h.tree()
        moved = np.where(parent >= 0, parent + 1, -1).astype(np.int32)
        parent = np.insert(moved, h.size, root + 1)
        low, high = _with_point(h.low, h.size, 1, h.high), _with_point(h.high, h.size, 1, h.high)
        labels = lambda: (*h.values, value, *names()[h.size :])  # noqa: E731 - made when someone looks
        return Hierarchy(h.size + 1, labels, parent, name=h.name, low=low, high=high)
    extra = np.arange(h.node_count, h.node_count + h.height, dtype=np.int32)
    column = np.append(extra, top).astype(np.int32)[:, None]
    source = h.changed(
        labels=lambda: (*names(), *([value] * h.height)),
        low=_with_point(h.low, h.node_count, h.height, h.high),
        high=_with_point(h.high, h.node_count, h.height, h.high),
    )
    return from_table_of(source, np.hstack([h.table, column]), h.name)


def placed(h: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """Also those of `values` whose place is plain because an interval of the hierarchy holds them; others are left out.

    At each level a value lies in the interval of that level, or of the first level above that has one for it: never in
    a narrower one. Leaves stay in ascending order.
    """
    new = _numbers_like(h, [value for value in values if value not in h.index])
    points = np.array(list(new.values()))
    table = np.full((h.height + 1, len(points)), -1, np.int64)
    for level in range(h.height, 0, -1):
        nodes = h.nodes_at(level)
        nodes = nodes[nodes >= h.size]
        if not len(nodes) or h.low is None or h.high is None:
            continue
        nodes = nodes[np.argsort(h.low[nodes], kind="stable")]
        node = nodes[np.maximum(np.searchsorted(h.low[nodes], points, side="right") - 1, 0)]
        labels = [h.labels[label_node] for label_node in node.tolist()]
        open_end = np.array([label.endswith(")") or label.startswith("<") for label in labels], np.bool_)
        no_least, no_most = (np.array([label[:1] in signs for label in labels], np.bool_) for signs in ("<≤*", ">≥*"))
        above = (h.low[node] <= points) | no_least
        inside = above & (np.where(open_end, points < h.high[node], points <= h.high[node]) | no_most)
        table[level] = np.where(inside, node, table[level + 1] if level < h.height else -1)
    is_placed = table[-1] >= 0
    if h.height == 0 or not is_placed.any():
        return h
    placed_values = [value for value, at in zip(new, is_placed.tolist(), strict=True) if at]
    points, table = points[is_placed], table[:, is_placed]
    table[0] = np.arange(len(placed_values)) + h.node_count
    low, high = (np.append(ends, points) for ends in (h.low, h.high))  # type: ignore[arg-type]
    source = h.changed(labels=(*h.labels, *placed_values), low=low, high=high, level_of=None)
    order = np.argsort(np.append(h.low[: h.size], points), kind="stable")  # type: ignore[index]
    return from_table_of(source, np.hstack([h.table, table])[:, order].astype(np.int32), h.name)


def _numbers_like(h: Hierarchy, values: Sequence[str]) -> dict[str, Any]:
    """The numbers of those values that can be read as the leaves of a hierarchy over numbers, dates or moments are."""
    from kanopy.hierarchy.column import column_of

    if h.low is None or not h.nested:
        return {}
    column = column_of(h.values).inferred()
    alike = ("integer", "decimal", "real") if column.kind in ("integer", "decimal", "real") else (column.kind,)
    read = [value for value in values if column_of([value]).inferred().kind in alike]
    both = column_of([*h.values, *read]).inferred()
    if both.numbers is None:
        return {}
    numbers = dict(zip(both.labels(), both.numbers.tolist(), strict=True))
    numbers_of_leaves = [numbers[value] for value in h.values]
    same = np.allclose(numbers_of_leaves, h.low[: h.size].astype(np.float64), rtol=1e-12, atol=0)
    return {value: numbers[value] for value in read} if same else {}


def _with_point(bounds: Bounds | None, at: int, times: int, high: Bounds | None) -> Bounds | None:
    """The bounds with `times` copies of the largest upper bound inserted: an interval of length 0 behind all values."""
    if bounds is None or high is None:
        return None
    point = high.max()
    return np.concatenate([bounds[:at], np.full(times, point, bounds.dtype), bounds[at:]])


def rooted(h: Hierarchy, top: str) -> Hierarchy:
    """One common top above several roots; unchanged if there is one already."""
    if h.nested and len(h.roots) == 1:
        return h
    labels = lambda: (*h.labels, top)  # noqa: E731 - made when someone looks
    low = None if h.low is None else np.append(h.low, h.low.min())
    high = None if h.high is None else np.append(h.high, h.high.max())
    if h.nested and not h.has_table:
        parent = h.tree()
        joined = np.append(np.where(parent < 0, len(parent), parent), -1).astype(np.int32)
        return Hierarchy(h.size, labels, joined, name=h.name, low=low, high=high)
    if len(np.unique(h.table[-1])) == 1:
        return h
    table = np.vstack([h.table, np.full((1, h.size), h.node_count, np.int32)])
    return from_table_of(h.changed(labels=labels, table=table, low=low, high=high), table, h.name)
