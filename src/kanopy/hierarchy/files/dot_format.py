"""Hierarchies as Graphviz DOT: to draw with `dot`, and to read back what this file wrote."""

from __future__ import annotations

import re

import numpy as np

from kanopy._errors import HierarchyError
from kanopy.hierarchy.construct import Bounds, bounds_array
from kanopy.hierarchy.derive import with_levels_of_depth
from kanopy.hierarchy.hierarchy import Hierarchy

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"\s*n(\d+) \[label={_TEXT}(?:, low={_TEXT}, high={_TEXT})?\];\s*")
_EDGE = re.compile(r"\s*n(\d+) -> n(\d+);\s*")
_HEAD = re.compile(rf"digraph {_TEXT} \{{\s*")
_FACT = re.compile(r"\s*// kanopy values=(\d+) levels=(\d+|tree)\s*")


def hierarchy_dot(h: Hierarchy) -> str:
    """The tree as DOT text, parents above children.

    >>> print(hierarchy_dot(Hierarchy.flat(["a", "b"], name="x")))
    digraph "x" {
      // kanopy values=2 levels=2
      node [shape=box, style=rounded, fontname="sans-serif"];
      n0 [label="a"];
      n1 [label="b"];
      n2 [label="*"];
      n2 -> n0;
      n2 -> n1;
    }
    <BLANKLINE>
    """
    levels = str(h.height + 1) if h.has_table else "tree"
    lines = [f"digraph {_quote(h.name)} {{", f"  // kanopy values={h.size} levels={levels}"]
    lines.append('  node [shape=box, style=rounded, fontname="sans-serif"];')
    parent = h.tree()
    for node, label in enumerate(h.labels):
        bounds = ""
        if h.low is not None and h.high is not None:
            bounds = f', low="{h.low[node].item()!r}", high="{h.high[node].item()!r}"'
        lines.append(f"  n{node} [label={_quote(label)}{bounds}];")
    lines.extend(f"  n{above} -> n{node};" for node, above in enumerate(parent.tolist()) if above >= 0)
    return "\n".join(lines) + "\n}\n"


def parse_dot(text: str, where: str, *, name: str = "") -> Hierarchy:
    """A hierarchy from DOT text that `hierarchy_dot` wrote; anything else is an error with its line number."""
    labels: dict[int, str] = {}
    bounds: dict[int, tuple[str, str]] = {}
    parents: dict[int, int] = {}
    size, levels, own_name = 0, "tree", ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _NODE.fullmatch(line):
            labels[int(match[1])] = _plain(match[2])
            if match[3] is not None:
                bounds[int(match[1])] = (match[3], match[4])
        elif match := _EDGE.fullmatch(line):
            above, child = int(match[1]), int(match[2])
            if parents.setdefault(child, above) != above:
                raise HierarchyError(f"{where}, line {number}: node n{child} has two parents. Keep one.")
        elif match := _HEAD.fullmatch(line):
            own_name = _plain(match[1])
        elif match := _FACT.fullmatch(line):
            size, levels = int(match[1]), match[2]
        elif line.strip() and line.strip() != "}" and not line.lstrip().startswith("node ["):
            raise HierarchyError(
                f"{where}, line {number}: only DOT files that Kanopy wrote can be read, and this line is not one of "
                f"theirs: {line.strip()[:60]!r}. Convert the graph to a child,parent CSV."
            )
    if not size or sorted(labels) != list(range(len(labels))) or any(x not in labels for x in parents.values()):
        raise HierarchyError(f"{where} has no complete hierarchy. Write it again with `write_hierarchy`.")
    parent = np.array([parents.get(node, -1) for node in range(len(labels))], np.int32)
    if any(above <= child or above < size for child, above in parents.items()):
        raise HierarchyError(f"{where}: parents must have larger node numbers than their children.")
    low, high = _bounds(bounds, len(labels), 0), _bounds(bounds, len(labels), 1)
    texts = [labels[node] for node in range(len(labels))]
    h = Hierarchy(size, texts, parent, name=name or own_name, low=low, high=high)
    return h if levels == "tree" else with_levels_of_depth(h)


def _bounds(bounds: dict[int, tuple[str, str]], nodes: int, side: int) -> Bounds | None:
    if len(bounds) < nodes:
        return None
    texts = [bounds[node][side] for node in range(nodes)]
    return bounds_array([int(text) if re.fullmatch(r"-?\d+", text) else float(text) for text in texts])


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)
