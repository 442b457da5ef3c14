"""Draw a hierarchy: as text for a terminal, as SVG for a page, as HTML to fold and unfold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources

from kanopy._errors import HierarchyError
from kanopy._lazy import public
from kanopy._usage import Needs, checked, refuse_in_vain
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.report.charts.marks import short
from kanopy.report.shell import section, shell, snippet
from kanopy.report.text import Markup, esc, plural

LINES = 60
CHILDREN_SHOWN = 8
SVG_LEAVES = 60
ROW, STEP, CHAR = 20, 150, 6.6
INK, LINE, MARK = "currentColor", "#9aa5b1", "#d64545"


@public("kanopy.hierarchy")
@checked
def tree_text(h: Hierarchy, *, lines: int = LINES) -> str:
    """The tree with branches, folded where it is large: never more than about `lines` lines.

    >>> print(tree_text(Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])))
    *  (3 values)
    ├─ x  (2 values)
    │  ├─ a
    │  └─ b
    └─ y  (1 value)
       └─ c
    """
    open_nodes = _unfolded(h, lines)
    out: list[str] = []
    stack: list[tuple[int, str, str, str]] = [(int(root), "", "", "") for root in reversed(_ordered(h, h.roots))]
    while stack:
        node, before, mark, inside = stack.pop()
        if node < 0:  # a line that stands for children not shown
            out.append(f"{before}{mark}… {-node} more")
            continue
        out.append(f"{before}{mark}{h.labels[node]}{_size_note(h, node, node not in open_nodes)}")
        if node not in open_nodes:
            continue
        children = _ordered(h, h.children(node))
        children_shown = children if len(children) <= CHILDREN_SHOWN + 1 else children[:CHILDREN_SHOWN]
        entries = [
            *children_shown,
            *([-(len(children) - len(children_shown))] if len(children_shown) < len(children) else []),
        ]
        for i in range(len(entries) - 1, -1, -1):
            last = i == len(entries) - 1
            stack.append((entries[i], before + inside, "└─ " if last else "├─ ", "   " if last else "│  "))
    return "\n".join(out)


def _size_note(h: Hierarchy, node: int, folded: bool) -> str:
    if node < h.size:
        return ""
    leaves = int(h.leaf_counts[node])
    return f"  ({plural(leaves, 'value')}{', folded' if folded and h.children(node) else ''})"


def _ordered(h: Hierarchy, nodes: Iterable[int]) -> list[int]:
    """Children in the order of their numbers on the line, or as they came."""
    listed = [int(node) for node in nodes]
    low = h.low
    return listed if low is None else sorted(listed, key=lambda node: float(low[node]))


def _unfolded(h: Hierarchy, lines: int) -> set[int]:
    """Which nodes to open so that about `lines` lines result: level by level from the top."""
    opened: set[int] = set()
    used = len(h.roots)
    frontier = [int(root) for root in h.roots]
    while frontier:
        following: list[int] = []
        for node in frontier:
            children = h.children(node)
            cost = min(len(children), CHILDREN_SHOWN + 1)
            if not children or used + cost > lines:
                continue
            opened.add(node)
            used += cost
            following.extend(_ordered(h, children)[: cost if len(children) == cost else CHILDREN_SHOWN])
        frontier = following
    return opened


@public("kanopy.hierarchy")
@checked
def tree_svg(h: Hierarchy, *, level: int | None = None, leaves: int = SVG_LEAVES) -> str:
    """A picture of the tree, root at the left. `level` marks the nodes of a chosen level.

    Trees with more than `leaves` values are folded: the deepest levels that do not fit are left out, and each node
    where something was left out says how many values it stands for.

    >>> tree_svg(Hierarchy.flat(["a", "b"])).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    opened, marked = _unfolded(h, 2 * leaves), _marked(h, level)
    positions, below, texts, row = _placed(h, opened)
    for node in positions:
        if node >= 0:
            folded = node >= h.size and node not in opened
            texts[node] = h.labels[node] + (f" ({int(h.leaf_counts[node]):,})" if folded else "")
    widest: dict[int, float] = {}
    for node, (depth, _) in positions.items():
        widest[int(depth)] = max(widest.get(int(depth), 0.0), min(len(texts[node]), 28) * CHAR)
    left, x = {}, 12.0
    for depth in sorted(widest):
        left[depth] = x
        x += widest[depth] + 46
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x:.0f} {row * ROW + 16}" width="{x:.0f}" '
        f'height="{row * ROW + 16}" font-family="system-ui, sans-serif" font-size="12" role="img">',
        f"<title>{esc(f'Hierarchy {h.name}'.strip())}</title>",
    ]
    spot = {node: (left[int(depth)], 18 + y * ROW) for node, (depth, y) in positions.items()}
    for parent, child in ((node, child) for node, children_shown in below.items() for child in children_shown):
        (a, b), (c, d) = spot[parent], spot[child]
        a += min(len(texts[parent]), 28) * CHAR + 6
        middle = (a + c) / 2
        out.append(
            f'<path d="M{a:.1f},{b - 4:.1f} C{middle:.1f},{b - 4:.1f} {middle:.1f},{d - 4:.1f} '
            f'{c - 6:.1f},{d - 4:.1f}" fill="none" stroke="{LINE}"/>'
        )
    for node, (a, b) in spot.items():
        style = f' fill="{MARK}" font-weight="bold"' if node in marked else f' fill="{INK}"'
        out.append(f'<text x="{a:.1f}" y="{b:.1f}"{style}>{esc(short(texts[node]))}</text>')
    return "\n".join([*out, "</svg>"])


def _placed(
    h: Hierarchy, opened: set[int]
) -> tuple[dict[int, tuple[float, float]], dict[int, list[int]], dict[int, str], int]:
    """Depth and row of each node shown, what stands below it, what stands for children left out, and all rows."""
    positions: dict[int, tuple[float, float]] = {}
    texts: dict[int, str] = {}
    below: dict[int, list[int]] = {}
    row = 0
    # Post-order on an explicit stack: deep trees must not meet Python's recursion limit.
    stack: list[tuple[int, int, bool]] = [(int(root), 0, False) for root in reversed(_ordered(h, h.roots))]
    hidden = -1
    while stack:
        node, depth, done = stack.pop()
        if done:
            positions[node] = (depth, sum(positions[child][1] for child in below[node]) / len(below[node]))
            continue
        children = _ordered(h, h.children(node)) if node >= 0 and node in opened else []
        if not children:
            positions[node] = (depth, row)
            row += 1
            continue
        children_shown = children if len(children) <= CHILDREN_SHOWN + 1 else children[:CHILDREN_SHOWN]
        if len(children_shown) < len(children):
            texts[hidden] = f"… {len(children) - len(children_shown)} more"
            children_shown = [*children_shown, hidden]
            hidden -= 1
        below[node] = children_shown
        stack.append((node, depth, True))
        stack.extend((child, depth + 1, False) for child in reversed(children_shown))
    return positions, below, texts, row


def _marked(h: Hierarchy, level: int | None) -> set[int]:
    return set() if level is None else set(h.level(level).nodes.tolist())


@public("kanopy.hierarchy")
@checked
def tree_html(
    h: Hierarchy,
    *,
    level: int | None = None,
    edge_values: Mapping[int, float] | None = None,
    edge_title: str = "",
    whole_page: bool = True,
    open_nodes: int = LINES,
) -> str:
    """An interactive tree: click to fold and unfold, search by label; needs no network.

    `level` marks the nodes of a chosen level. `edge_values` gives numbers between 0 (good, green) and 1 (bad, red) to
    the edges above nodes, `edge_title` says what they mean. Children are drawn only when a node is opened, so
    thousands of nodes stay quick. `whole_page=False` returns a fragment to embed in a report.

    >>> "kanopy-tree" in tree_html(Hierarchy.flat(["a", "b"]))
    True
    """
    if edge_title and edge_values is None:
        refuse_in_vain({"edge_title": Needs("what it is about (edge_values=…)", lambda asked: False)})
    body = folding_tree(h, level=level, edge_values=edge_values, edge_title=edge_title, open_nodes=open_nodes)
    if not whole_page:
        return snippet(h.name or "hierarchy", plural(h.size, "value"), body)
    words = "Click a value to unfold what it covers."
    if level is not None:
        words += f" The values of level {level} are marked."
    return shell(
        "Hierarchy",
        h.name or "without a name",
        verdict=f"{plural(h.size, 'value')} in {plural(h.height + 1, 'level')}.",
        parts=[("tree", "Tree", section("The tree", words, body))],
        script=tree_script(),
    )


def folding_tree(
    h: Hierarchy,
    *,
    level: int | None = None,
    edge_values: Mapping[int, float] | None = None,
    edge_title: str = "",
    open_nodes: int = LINES,
) -> Markup:
    """The interactive tree as a part of a page that allows `tree_script`."""
    parent = h.tree()
    marked = _marked(h, level)
    opened = _unfolded(h, open_nodes)
    edges = {int(node): round(value, 4) for node, value in (edge_values or {}).items()}
    wrong = [node for node in edges if not 0 <= node < h.node_count]
    if wrong:
        raise HierarchyError(f"There are no nodes {wrong[:5]} to colour an edge of.")
    data = {
        "label": list(h.labels),
        "parent": parent.tolist(),
        "leaves": h.leaf_counts.tolist(),
        "size": h.size,
        "roots": _ordered(h, h.roots),
        "low": None if h.low is None else h.low.tolist(),
        "marked": sorted(marked),
        "opened": sorted(opened),
        "edges": edges,
        "edgeTitle": edge_title,
    }
    # Escaped inside JSON, nothing in the data can end the element early.
    embedded = json.dumps(data).translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"})
    return Markup(
        '<div class="kanopy-tree"><div><input type="search" placeholder="find a label" aria-label="find a label"/>'
        '<button data-do="open">unfold</button><button data-do="close">fold</button></div><div class="view"></div>'
        f'<script type="application/json">{embedded}</script><script>{tree_script()}</script></div>'
    )


def tree_script() -> str:
    """The script that folds and unfolds; pages that show a tree must allow it."""
    return (resources.files("kanopy.report.drawings") / "tree.js").read_text(encoding="utf-8")
