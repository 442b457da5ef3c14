"""A hierarchy as an icicle: the top above, every level a band, every node as wide as the values it covers.

The band (or, for local recodings, the nodes) that the release publishes is filled and outlined; the rest is pale.
Plain SVG without a plotting library, because a page may hold dozens of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Longs
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.report.text import esc, plural

WIDTH, BAND, LEFT, RIGHT = 980.0, 30.0, 74.0, 118.0
NARROWEST = 1.6
LETTER, BOLD_LETTER = 6.6, 7.4
MOST_VALUES, MOST_LEVELS = 5_000, 16


def can_draw(hierarchy: Hierarchy) -> bool:
    """Whether an icicle of it can be read: it nests and is neither too wide nor too deep."""
    return hierarchy.nested and hierarchy.size <= MOST_VALUES and hierarchy.height < MOST_LEVELS


def icicle_svg(
    hierarchy: Hierarchy,
    published: Collection[int],
    notes: dict[int, str],
    *,
    level: int | None = None,
    named: Collection[int] | None = None,
) -> str:
    """Draw it. `published` are nodes in the release, `notes` what to write beside a level.

    For a full-domain recoding `level` is the band that is published. Only nodes in `named` (default: all) show their
    label.

    >>> h = Hierarchy.from_rows([["Lyon", "France", "*"], ["Rome", "Italy", "*"]])
    >>> drawing = icicle_svg(h, [2, 3], {1: "published"}, level=1)
    >>> drawing.count("<rect"), "France" in drawing
    (5, True)
    """
    order = leaf_order(hierarchy.table)
    inner = WIDTH - LEFT - RIGHT
    step = inner / hierarchy.size
    height = (hierarchy.height + 1) * BAND
    parts = []
    for at in range(hierarchy.height, -1, -1):
        y = (hierarchy.height - at) * BAND
        chosen = at == level or (level is None and at in notes)
        parts.append(
            f'<text x="{LEFT - 10:.0f}" y="{y + 19:.0f}" text-anchor="end" class="{"on" if chosen else "off"}">'
            f"level {at}</text>"
        )
        row = hierarchy.table[at][order]
        starts = np.concatenate([[0], np.flatnonzero(np.diff(row)) + 1, [len(row)]])
        narrow_from: float | None = None
        for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            x, width = LEFT + first * step, (end - first) * step
            node = int(row[first])
            # Nodes too narrow to see are drawn together as one stretch.
            if width < NARROWEST:
                narrow_from = x if narrow_from is None else narrow_from
                continue
            if narrow_from is not None:
                parts.append(_rect(narrow_from, y, x - narrow_from, at == level, ""))
                narrow_from = None
            marked = at == level if level is not None else node in published
            label = hierarchy.label(node) if named is None or node in named else ""
            parts.append(_rect(x, y, width, marked, label))
        if narrow_from is not None:
            parts.append(_rect(narrow_from, y, LEFT + inner - narrow_from, at == level, ""))
        if at in notes:
            parts.append(f'<text x="{WIDTH - RIGHT + 10:.0f}" y="{y + 19:.0f}" class="on">◀ {esc(notes[at])}</text>')
    return (
        f'<svg class="icicle" role="img" aria-label="Hierarchy of {esc(hierarchy.name)}: '
        f'{plural(hierarchy.height + 1, "level")} over {plural(hierarchy.size, "value")}" '
        f'viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}" height="{height:.0f}">{"".join(parts)}</svg>'
    )


def leaf_order(levels: Iterable[npt.ArrayLike]) -> Longs:
    """The values from left to right, so that the values under every node are neighbours.

    `levels` name the node of each value, from the values themselves up; nodes stand in the order they first appear.

    >>> leaf_order([["a", "b", "c"], ["x", "y", "x"], ["*", "*", "*"]]).tolist()
    [0, 2, 1]
    """
    # Sort by the first value under the top node, then under the next one, and so on down to the value itself.
    keys = []
    for row in levels:
        _, first, node = np.unique(np.asarray(row), return_index=True, return_inverse=True)
        keys.append(first[node.reshape(-1)])
    return np.lexsort(keys)


def _rect(x: float, y: float, width: float, marked: bool, label: str) -> str:
    room = int((width - 8) / (BOLD_LETTER if marked else LETTER))
    shape = (
        f'<rect x="{x + 0.5:.1f}" y="{y + 1:.0f}" width="{max(width - 1, 0.8):.1f}" height="{BAND - 3:.0f}" rx="2" '
        f'class="{"on" if marked else "off"}"'
    )
    title = f"<title>{esc(label)}</title>" if label else ""
    shape += f">{title}</rect>" if title else "/>"
    if not label or room < min(len(label), 3):
        return shape
    text_shown = label if len(label) <= room else label[: room - 1] + "…"
    return (
        shape + f'<text x="{x + width / 2:.1f}" y="{y + 19:.0f}" text-anchor="middle" '
        f'class="{"name on" if marked else "name"}">{esc(text_shown)}</text>'
    )
