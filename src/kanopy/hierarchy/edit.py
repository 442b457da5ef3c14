"""Change a hierarchy by hand: rename, move, merge, split, insert or drop a level; every step can be undone.

Hierarchies do not change. Each function returns a new one, and an `Editor` keeps them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Concatenate, ParamSpec

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError, near_miss, some
from kanopy._lazy import public
from kanopy._mixins import HtmlReprMixin
from kanopy._usage import checked
from kanopy.hierarchy.construct import depths, spans
from kanopy.hierarchy.derive import from_table_of
from kanopy.hierarchy.hierarchy import Hierarchy

P = ParamSpec("P")


def node_of(h: Hierarchy, label: str, level: int | None = None) -> int:
    """The node with a label; `level` chooses among nodes of the same label.

    >>> node_of(Hierarchy.flat(["a", "b"]), "*")
    2
    """
    nodes = [node for node, text in enumerate(h.labels) if text == label]
    if level is not None:
        here = set(h.nodes_at(level).tolist())
        nodes = [node for node in nodes if node in here]
    if not nodes:
        labels = list(h.labels[:10_000]) if level is None else h.labels_at(level)[:10_000]
        where = "" if level is None else f" at level {level}"
        raise HierarchyError(f"The hierarchy has no node {label!r}{where}. {near_miss(label, labels)}")
    if len(nodes) > 1:
        raise HierarchyError(f"{len(nodes)} nodes are called {label!r}. State the level.")
    return nodes[0]


@public("kanopy.hierarchy")
@checked
def rename(h: Hierarchy, label: str, to: str, *, level: int | None = None) -> Hierarchy:
    """The node under another label. Two values may not get the same one.

    >>> rename(Hierarchy.flat(["a", "b"]), "*", "any").labels
    ('a', 'b', 'any')
    """
    node = node_of(h, label, level)
    if not to:
        raise HierarchyError("A label must not be empty.")
    if node < h.size and to != label and to in h.index:
        raise HierarchyError(f"The value {to!r} exists already. Choose another label.")
    labels = list(h.labels)
    labels[node] = to
    return h.changed(labels=labels)


@public("kanopy.hierarchy")
@checked
def move(
    h: Hierarchy, label: str, under: str, *, level: int | None = None, under_level: int | None = None
) -> Hierarchy:
    """The node, with everything below it, under another parent.

    >>> h = Hierarchy.from_parents({"cat": "mammal", "bat": "bird", "owl": "bird", "mammal": "*", "bird": "*"})
    >>> move(h, "bat", "mammal").generalize("bat", 1)
    'mammal'
    """
    node, target = node_of(h, label, level), node_of(h, under, under_level)
    if target < h.size:
        raise HierarchyError(f"{under!r} is a value, not a group. Move {label!r} under a group.")
    if node == target or node in h.ancestors(target):
        raise HierarchyError(f"{label!r} cannot be moved under {under!r}, which lies below it.")
    parent = h.tree().copy()
    parent[node] = target
    if h.has_table and h.depth[node] != h.depth[target] + 1:
        raise HierarchyError(
            f"{label!r} and {under!r} are not on neighbouring levels of this level table. Choose a parent one level up."
        )
    return _rebuilt(h, list(h.labels), parent)


@public("kanopy.hierarchy")
@checked
def merge(h: Hierarchy, labels: Iterable[str], into: str, *, level: int | None = None) -> Hierarchy:
    """Several groups with one common parent joined into one.

    >>> h = Hierarchy.from_rows([["a", "x", "*"], ["b", "y", "*"], ["c", "z", "*"]])
    >>> merge(h, ["x", "y"], "xy").labels_at(1)
    ('xy', 'z')
    """
    nodes = [node_of(h, label, level) for label in labels]
    if len(set(nodes)) < 2:
        raise HierarchyError("Merging needs at least two different groups.")
    values = [h.labels[node] for node in nodes if node < h.size]
    if values:
        raise HierarchyError(f"{some(values)} are values, not groups; move them under one group instead.")
    parent = h.tree().copy()
    if len({int(parent[node]) for node in nodes}) > 1:
        raise HierarchyError("Only groups with the same parent can be merged. Move them under one parent first.")
    keep = max(nodes)
    merged_nodes = set(nodes) - {keep}
    parent = np.where(np.isin(parent, list(merged_nodes)), keep, parent).astype(np.int32)
    names = list(h.labels)
    names[keep] = into
    return _rebuilt(h, names, parent, drop=merged_nodes)


@public("kanopy.hierarchy")
@checked
def split(h: Hierarchy, label: str, parts: Mapping[str, Iterable[str]], *, level: int | None = None) -> Hierarchy:
    """A group divided into new ones, each with some of its children; all children must find a place.

    >>> h = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "z", "*"]])
    >>> split(h, "x", {"x1": ["a"], "x2": ["b"]}).labels_at(1)
    ('z', 'x1', 'x2')
    """
    node = node_of(h, label, level)
    children = {h.labels[child]: child for child in h.children(node)}
    if not children:
        raise HierarchyError(f"{label!r} has no children to divide.")
    if int(h.tree()[node]) < 0:
        raise HierarchyError(f"{label!r} is the top and cannot be split. Insert a level below it instead.")
    placed = _placed(parts, children, f"{label!r} has no child")
    missing = [child for child in children if child not in placed]
    if missing:
        raise HierarchyError(f"These children of {label!r} are in none of the parts: {some(missing)}.")
    labels, parent = list(h.labels), h.tree().tolist()
    number = {}
    for group in parts:
        number[group] = len(labels)
        labels.append(group)
        parent.append(parent[node])
    for member, group in placed.items():
        parent[children[member]] = number[group]
    return _rebuilt(h, labels, np.array(parent, np.int32), drop={node})


@public("kanopy.hierarchy")
@checked
def drop_level(h: Hierarchy, level: int) -> Hierarchy:
    """The hierarchy without one of its levels; the values and the top stay.

    >>> drop_level(Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"]]), 1).height
    1
    """
    if not 0 < level < h.height:
        raise HierarchyError(f"Only levels 1 to {h.height - 1} can be dropped, not {level}: values and top stay.")
    return from_table_of(h, np.delete(h.table, level, axis=0), h.name)


@public("kanopy.hierarchy")
@checked
def insert_level(h: Hierarchy, level: int, groups: Mapping[str, Iterable[str]]) -> Hierarchy:
    """A new level `level` that groups the nodes of the level below it; nodes without a group stay as they are.

    >>> h = insert_level(Hierarchy.flat(["a", "b", "c"]), 1, {"ab": ["a", "b"]})
    >>> h.labels_at(1)
    ('ab', 'c')
    """
    if not 1 <= level <= h.height:
        raise HierarchyError(f"A level can be inserted at 1 to {h.height}, not at {level}.")
    below = h.balanced()
    nodes = {below.labels[node]: int(node) for node in below.nodes_at(level - 1)}
    placed = _placed(groups, nodes, f"Level {level - 1} has no node")
    group_of = {nodes[member]: group for member, group in placed.items()}
    parent = below.tree()
    above: dict[str, set[int]] = {}
    for node, group in group_of.items():
        above.setdefault(group, set()).add(int(parent[node]))
    broken = [group for group, parents in above.items() if len(parents) > 1]
    if broken:
        raise HierarchyError(f"These groups would lie under several nodes of the next level: {some(broken)}.")
    rows = [list(row) for row in below.rows()]
    for row, node in zip(rows, below.table[level - 1].tolist(), strict=True):
        row.insert(level, group_of.get(node, row[level - 1]))
    result = Hierarchy.from_rows(rows, name=h.name)
    if h.low is None or h.high is None:
        return result
    leaves = [h.index[value] for value in result.values]
    low, high = spans(result.tree(), h.low[leaves], h.high[leaves])
    return result.changed(low=low, high=high)


def _placed(groups: Mapping[str, Iterable[str]], allowed: Mapping[str, int], unknown: str) -> dict[str, str]:
    """The group of every member; each must be known and may have one group only."""
    placed: dict[str, str] = {}
    for group, members in groups.items():
        for member in members:
            if member not in allowed:
                raise HierarchyError(f"{unknown} {member!r}. {near_miss(member, allowed)}")
            if member in placed:
                raise HierarchyError(f"{member!r} is in both {placed[member]!r} and {group!r}. Choose one.")
            placed[member] = group
    return placed


def _rebuilt(h: Hierarchy, labels: list[str], parent: Ints, drop: set[int] | None = None) -> Hierarchy:
    """A hierarchy from changed parents: unused groups dropped, nodes renumbered so that parents follow children."""
    dropped = set(drop or ())
    while True:
        used = {int(up) for node, up in enumerate(parent) if node not in dropped and up >= 0}
        childless = {node for node in range(h.size, len(parent)) if node not in dropped and node not in used}
        if not childless:
            break
        dropped |= childless
    depth = depths(parent)
    inner = sorted((node for node in range(h.size, len(parent)) if node not in dropped), key=lambda node: -depth[node])
    order = [*range(h.size), *inner]
    number = {node: i for i, node in enumerate(order)}
    new_parent = np.array([number[int(parent[node])] if parent[node] >= 0 else -1 for node in order], np.int32)
    names = [labels[node] for node in order]
    low = high = None
    if h.low is not None and h.high is not None:
        low, high = spans(new_parent, h.low[: h.size], h.high[: h.size])
    result = Hierarchy(h.size, names, new_parent, name=h.name, low=low, high=high)
    return result.changed(table=result.table) if h.has_table else result


@public("kanopy.hierarchy")
class Editor(HtmlReprMixin):
    """A hierarchy being edited, with undo and redo.

    >>> editor = Editor(Hierarchy.flat(["a", "b"]))
    >>> editor.apply(rename, "*", "any").labels[-1]
    'any'
    >>> editor.undo().labels[-1], editor.redo().labels[-1]
    ('*', 'any')
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._states = [hierarchy]
        self._now = 0

    def __repr__(self) -> str:
        return f"<Editor: {self.hierarchy!r}, state {self._now + 1} of {len(self._states)}>"

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy as it is now."""
        return self._states[self._now]

    def apply(
        self, change: Callable[Concatenate[Hierarchy, P], Hierarchy], *args: P.args, **kwargs: P.kwargs
    ) -> Hierarchy:
        """Apply one of the functions of this module; what had been undone is forgotten."""
        changed = change(self.hierarchy, *args, **kwargs)
        del self._states[self._now + 1 :]
        self._states.append(changed)
        self._now += 1
        return changed

    def undo(self) -> Hierarchy:
        """One step back."""
        if self._now == 0:
            raise HierarchyError("There is nothing to undo.")
        self._now -= 1
        return self.hierarchy

    def redo(self) -> Hierarchy:
        """One step forward again."""
        if self._now + 1 == len(self._states):
            raise HierarchyError("There is nothing to redo.")
        self._now += 1
        return self.hierarchy
