"""Checks that stand between raw labels and a `Hierarchy`: rows of one length, one parent each, no cycles."""

from __future__ import annotations

import contextlib
import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError, listed, some

Bounds = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@contextlib.contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the search for reference cycles while many objects without cycles are made: for a file of 100,000 values
    it takes two thirds of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def level_table(
    rows: Iterable[Sequence[str]], name: str, require_nesting: bool, where: str = "", lines: Sequence[int] = ()
) -> tuple[int, list[str], Ints | None, Ints]:
    """Size, labels, parents (`None` if it does not nest) and level table of rows of labels.

    Errors name the rows, or the `lines` of the file `where` that they come from.
    """
    table = [tuple(row) for row in rows]
    if not table:
        raise HierarchyError("The hierarchy has no rows. Give one row per value: value, broader, …, *.")
    where = where or f"The hierarchy{f' of {name}' if name else ''}"
    kind, number = ("line", lines) if lines else ("row", range(1, len(table) + 1))
    width = Counter(map(len, table)).most_common(1)[0][0]
    ragged = [f"{kind} {number[i]} has {len(row)}" for i, row in enumerate(table) if len(row) != width]
    if ragged:
        raise HierarchyError(
            f"{where}: every row needs the same number of levels. Most rows have {width}, but {listed(ragged)}. "
            "Repeat a label to fill a level, and quote labels that contain the separator."
        )
    first: dict[str, int] = {}
    twice = [
        f"{row[0]!r} ({kind}s {number[earlier]} and {number[i]})"
        for i, row in enumerate(table)
        if table[earlier := first.setdefault(row[0], i)] != row
    ]
    if twice:
        raise HierarchyError(f"{where}: values with two parents: {listed(twice)}. Keep one row per value.")
    codes = np.empty((width, len(first)), np.int32)
    labels: list[str] = []
    for level, column in enumerate(zip(*(table[i] for i in first.values()), strict=True)):
        index = {label: number for number, label in enumerate(dict.fromkeys(column), len(labels))}
        codes[level] = np.fromiter(map(index.__getitem__, column), np.int32, len(column))
        labels.extend(index)
    parent, broken = parents_of_table(codes, len(labels))
    if broken is not None and require_nesting:
        level, nodes = broken
        examples = []
        for node in nodes:
            here = np.flatnonzero(codes[level] == node)
            above = codes[level + 1][here]
            ends = [int(here[0]), int(here[np.argmax(above != above[0])])]
            under = (f"{labels[codes[level + 1][i]]!r} ({kind} {number[list(first.values())[i]]})" for i in ends)
            examples.append(f"{labels[node]!r} under {' and '.join(under)}")
        raise HierarchyError(
            f"{where} does not nest between level {level} and {level + 1}: {listed(examples)}. "
            "Each label must have one parent: give the parts different labels."
        )
    return len(first), labels, None if broken else parent, codes


def parents_of_table(codes: Ints, nodes: int) -> tuple[Ints, tuple[int, list[int]] | None]:
    """Parents of the nodes of a level table whose node numbers grow with the level.

    The second result names the first level that does not nest and the nodes there with two parents.
    """
    parent = np.full(nodes, -1, np.int32)
    for level in range(len(codes) - 1):
        below, above = codes[level], codes[level + 1]
        parent[below] = above
        wrong = parent[below] != above
        if wrong.any():
            return parent, (level, [int(x) for x in np.unique(below[wrong])])
    return parent, None


def depths(parent: Ints) -> Ints:
    """Edges from each node of a forest up to its root."""
    depth = (parent >= 0).astype(np.int32)
    jump = parent.copy()
    while (inside := jump >= 0).any():  # each round doubles how far a node has looked up
        depth[inside] += depth[jump[inside]]
        jump[inside] = jump[jump[inside]]
    return depth


def spans(parent: Ints, low: Bounds, high: Bounds) -> tuple[Bounds, Bounds]:
    """The intervals of all nodes from those of the leaves; parents come after their children."""
    inner = len(parent) - len(low)
    # Above the leaves an interval begins with what any interval of a leaf replaces.
    lows, highs = np.append(low, [low.max()] * inner), np.append(high, [high.min()] * inner)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            lows[above] = min(lows[above], lows[node])
            highs[above] = max(highs[above], highs[node])
    return lows, highs


def bounds_array(values: Sequence[int | float]) -> Bounds:
    """Bounds as whole numbers where all are, otherwise as floats."""
    if all(isinstance(value, int) for value in values):
        return np.array(values, np.int64)
    return np.array(values, np.float64)


def forest(
    pairs: Mapping[str, str | None] | Iterable[tuple[str, str | None]], leaves: Sequence[str] | None
) -> tuple[int, list[str], Ints]:
    """Size, labels (leaves first, parents after children) and parents from child and parent labels."""
    above: dict[str, str | None] = {}
    for child, up in pairs.items() if isinstance(pairs, Mapping) else pairs:
        up = up or None
        if child in above and above[child] is not None and up is not None and above[child] != up:
            raise HierarchyError(f"{child!r} has two parents: {above[child]!r} and {up!r}. Keep one.")
        above[child] = up if up is not None else above.get(child)
        if up is not None:
            above.setdefault(up, None)
    if not above:
        raise HierarchyError("The hierarchy is empty. Give child and parent labels.")
    inner = {up for up in above.values() if up is not None}
    own_leaves = [label for label in above if label not in inner]
    if leaves is not None:
        wrong = [label for label in leaves if label not in above]
        if wrong:
            raise HierarchyError(f"These leaves are not in the hierarchy: {some(wrong)}.")
        not_leaves = [label for label in leaves if label in inner]
        if not_leaves:
            raise HierarchyError(f"These have children, so they cannot be leaves: {some(not_leaves)}.")
        above = _pruned(above, leaves)
        own_leaves = list(leaves)
    level = heights(above)
    order = own_leaves + sorted((label for label in level if label in inner), key=lambda label: level[label])
    index = {label: i for i, label in enumerate(order)}
    parent = np.array([-1 if (up := above[label]) is None else index[up] for label in order], np.int32)
    return len(own_leaves), order, parent


def _pruned(above: Mapping[str, str | None], leaves: Sequence[str]) -> dict[str, str | None]:
    """Only the given leaves and what lies above them."""
    pruned: dict[str, str | None] = {}
    for leaf in leaves:
        node: str | None = leaf
        while node is not None and node not in pruned:
            pruned[node] = above[node]
            node = above[node]
    return pruned


def heights(above: Mapping[str, str | None]) -> dict[str, int]:
    """Longest distance from a leaf up to each node, in one pass from the leaves upwards; raises on cycles."""
    waiting = dict.fromkeys(above, 0)
    for up in above.values():
        if up is not None:
            waiting[up] += 1
    ready = [label for label, children in waiting.items() if children == 0]
    level = dict.fromkeys(ready, 0)
    for label in ready:  # grows while it is read: a node becomes ready when its last child has been seen
        up = above[label]
        if up is None:
            continue
        level[up] = max(level.get(up, 0), level[label] + 1)
        waiting[up] -= 1
        if waiting[up] == 0:
            ready.append(up)
    cyclic = [label for label, children in waiting.items() if children > 0]
    if cyclic:
        raise HierarchyError(f"The hierarchy has a cycle through {some(cyclic)}. Remove one of these links.")
    return level
