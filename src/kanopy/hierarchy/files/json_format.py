"""Hierarchies as JSON, without loss: labels, node numbers, intervals, name, and whether the levels were given.

Nesting hierarchies are written as nested nodes, which people can read and edit; very deep trees and tables that
do not nest are written as arrays. Plain nested JSON of other origin (`{"label": …, "children": […]}` or a
dictionary of dictionaries and lists) can be read too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError, short, some
from kanopy.hierarchy.construct import Bounds, bounds_array, paused_collection
from kanopy.hierarchy.derive import with_levels_of_depth
from kanopy.hierarchy.hierarchy import Hierarchy

FORMAT = "kanopy-hierarchy"
DEEPEST_NESTED = 200
LABEL_KEYS = ("label", "name", "value", "id")


def hierarchy_json(h: Hierarchy) -> str:
    """The hierarchy as JSON text.

    >>> print(hierarchy_json(Hierarchy.flat(["a", "b"], name="x")))  # doctest: +ELLIPSIS
    {"format": "kanopy-hierarchy", "version": 1, "name": "x", "values": 2, "levels": 2,...
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "name": h.name,
        "values": h.size,
        "levels": (h.height + 1) if h.has_table else None,
    }
    if h.nested and h.height <= DEEPEST_NESTED and _levels_follow_from_depth(h):
        text = json.dumps(head, ensure_ascii=False, allow_nan=False)
        return f'{text[:-1]}, "tree": [{_tree_text(h)}]}}'
    else:
        head["nodes"] = {
            "label": list(h.labels),
            "parent": None if h.parent is None else h.parent.tolist(),
            "low": None if h.low is None else h.low.tolist(),
            "high": None if h.high is None else h.high.tolist(),
        }
        head["table"] = h.table.tolist() if h.has_table else None
        head["level_of"] = None if h.level_of is None else h.level_of.tolist()
    return json.dumps(head, ensure_ascii=False, allow_nan=False)


def _levels_follow_from_depth(h: Hierarchy) -> bool:
    """Whether the level table can be rebuilt from the tree alone."""
    if not h.has_table:
        return True
    return bool((h.depth[h.table] == np.arange(h.height, -1, -1)[:, None]).all())


def _tree_text(h: Hierarchy) -> str:
    """The nodes as nested JSON text; dictionaries of 100,000 nodes would take most of the time."""
    labels = h.labels
    bounds = [""] * len(labels)
    if h.low is not None and h.high is not None:
        # Whole numbers and finite fractions are written in JSON as Python writes them.
        if not (np.isfinite(h.low).all() and np.isfinite(h.high).all()):
            raise ValueError("Bounds that are not finite cannot be written as JSON.")
        pairs = zip(h.low.tolist(), h.high.tolist(), strict=True)
        bounds = [f', "low": {low!r}, "high": {high!r}' for low, high in pairs]

    def node_text(node: int) -> str:
        children = h.children(node) if node >= h.size else []
        below = f', "children": [{", ".join([node_text(child) for child in children])}]' if children else ""
        return f'{{"label": {encode_basestring(labels[node])}, "id": {node}{bounds[node]}{below}}}'

    return ", ".join([node_text(int(root)) for root in h.roots])


def parse_json(text: str, where: str, *, name: str = "") -> Hierarchy:
    """A hierarchy from JSON text; `where` names the file in errors.

    >>> parse_json('{"animal": {"mammal": ["cat", "dog"], "fish": ["carp"]}}', "animals.json").height
    2
    """
    try:
        with paused_collection():
            content = json.loads(text)
    except json.JSONDecodeError as error:
        raise HierarchyError(
            f"{where}, line {error.lineno}, column {error.colno}: not valid JSON ({error.msg})."
        ) from error
    except (RecursionError, ValueError) as error:  # a ValueError: numbers of thousands of digits
        raise HierarchyError(f"{where} is nested too deeply, or has too long numbers, to be read.") from error
    if not content:
        raise HierarchyError(f"{where} is empty. Give a tree of labels, or save one with `write_hierarchy`.")
    try:
        if isinstance(content, dict) and content.get("format") == FORMAT:
            return _written_here(content, name)
        return Hierarchy.from_parents(list(_from_elsewhere(content, None, where)), name=name)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise HierarchyError(
            f"{where} does not contain a hierarchy in the expected format ({type(error).__name__}: {error}). "
            'Expected {"label": …, "children": […]} or a file that Kanopy wrote.'
        ) from error


def _all_are(kind: type, values: Any, what: str) -> Any:
    """The list of what must all be of one kind; somebody may have edited the file.

    >>> _all_are(dict, "31", "children")
    Traceback (most recent call last):
    ValueError: children must be a list of objects, not '31'
    """
    if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
        named = {dict: "objects", str: "texts", int: "whole numbers"}[kind]
        raise ValueError(f"{what} must be a list of {named}, not {short(values)}")
    return values


def _written_here(content: dict[str, Any], name: str) -> Hierarchy:
    _all_are(str, [content["name"]], "the name of the hierarchy")
    name = name or content["name"]
    size = int(content["values"])
    if "nodes" in content:
        nodes = content["nodes"]
        _all_are(str, nodes["label"], "labels")
        given = (nodes["parent"], content["table"], content.get("level_of"))
        parent, table, level_of = (None if values is None else np.array(values, np.int32) for values in given)
        low, high = (None if nodes[side] is None else bounds_array(nodes[side]) for side in ("low", "high"))
        checked = _checked(size, nodes["label"], parent, low, high, table)
        if level_of is not None and level_of.shape != (len(nodes["label"]),):
            raise ValueError("every node needs one level")
        return Hierarchy(*checked, name=name, table=table, low=low, high=high, level_of=level_of)
    flat: list[tuple[dict[str, Any], int]] = []
    with paused_collection():
        for root in _all_are(dict, content["tree"], "the tree"):
            _collect(root, -1, flat)
    number = len(flat)
    ids = _all_are(int, [entry["id"] for entry, _ in flat], "node ids")
    _all_are(str, [entry["label"] for entry, _ in flat], "labels")
    if sorted(ids) != list(range(number)):
        raise ValueError("node ids must be 0, 1, 2, …, each once")
    labels, parent = [""] * number, np.full(number, -1, np.int32)
    lows: list[Any] = [None] * number
    highs: list[Any] = [None] * number
    for entry, above in flat:
        node = entry["id"]
        labels[node], parent[node] = entry["label"], above
        lows[node], highs[node] = entry.get("low"), entry.get("high")
    low = None if None in lows else bounds_array(lows)
    high = None if None in highs else bounds_array(highs)
    checked = _checked(size, labels, parent, low, high, None)
    h = Hierarchy(*checked, name=name, low=low, high=high)
    return h if content["levels"] is None else with_levels_of_depth(h)


def _checked(
    size: int, labels: list[str], parent: Ints | None, low: Bounds | None, high: Bounds | None, table: Ints | None
) -> tuple[int, list[str], Ints | None]:
    """Refuse arrays that would not make a hierarchy, whoever edited the file."""
    number = len(labels)
    if not 0 < size <= number:
        raise ValueError(f"{size} values but {number} nodes")
    if len(set(labels[:size])) < size:
        repeated = [label for label, times in Counter(labels[:size]).items() if times > 1]
        raise HierarchyError(f"Some values occur twice: {some(repeated)}. Keep one of each.")
    for array in (parent, low, high):
        if array is not None and len(array) != number:
            raise ValueError("labels, parents and bounds differ in length")
    if any(side is not None and not np.isfinite(side).all() for side in (low, high)):
        raise ValueError("bounds must be finite numbers")
    if parent is not None:
        inner = parent >= 0
        if (parent[inner] <= np.flatnonzero(inner)).any() or (parent >= number).any() or (parent[inner] < size).any():
            raise ValueError("a parent must be an inner node with a larger id than its children")
    if table is not None and (table.ndim != 2 or table.shape[1] != size or table.min() < 0 or table.max() >= number):
        raise ValueError("the level table does not fit the nodes")
    return size, labels, parent


def _collect(entry: dict[str, Any], above: int, flat: list[tuple[dict[str, Any], int]]) -> None:
    flat.append((entry, above))
    children = entry.get("children")
    if children is not None:
        node = int(entry["id"])
        for child in _all_are(dict, children, "children"):
            _collect(child, node, flat)


def _from_elsewhere(content: Any, above: str | None, where: str) -> Iterator[tuple[str, str | None]]:
    """Child and parent labels of nested JSON from elsewhere."""
    if isinstance(content, list):
        for item in content:
            yield from _from_elsewhere(item, above, where)
    elif isinstance(content, dict):
        key = next((key for key in LABEL_KEYS if isinstance(content.get(key), str | int | float)), None)
        if key is not None and ("children" in content or above is not None):
            label = str(content[key])
            yield label, above
            yield from _from_elsewhere(content.get("children") or [], label, where)
            return
        for label, below in content.items():
            yield label, above
            if below:
                yield from _from_elsewhere(below, label, where)
    elif isinstance(content, str | int | float):
        yield str(content), above
    else:
        raise HierarchyError(f"{where}: expected labels, lists or objects, found {content!r}.")
