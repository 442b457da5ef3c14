"""Draw a clustering as a tree: one SVG without text, its clusters in colours of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kanopy.metrics.partition_distance import Dendrogram
from kanopy.report.text import esc

WIDTH, HEIGHT = 520, 240
# Okabe and Ito's colours, repeated for more clusters: neighbours differ.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#7A7A7A")


def leaf_order(tree: Dendrogram) -> npt.NDArray[np.int64]:
    """The leaves from left to right, so that no lines cross.

    >>> from kanopy.metrics.partition_distance import ward
    >>> leaf_order(ward(np.array([[0.0, 9, 1], [9, 0, 9], [1, 9, 0.0]]), [1, 1, 1])).tolist()
    [1, 0, 2]
    """
    if not len(tree.merges):
        return np.arange(tree.leaves)
    order: list[int] = []
    stack = [tree.leaves + len(tree.merges) - 1]
    while stack:
        node = stack.pop()
        if node < tree.leaves:
            order.append(node)
        else:
            first, second = tree.merges[node - tree.leaves, :2].astype(int)
            stack += [int(second), int(first)]
    return np.array(order, np.int64)


def dendrogram_svg(tree: Dendrogram, people: npt.ArrayLike, clusters: int, description: str) -> str:
    """The tree with leaves as wide as they have people, and one colour per cluster of the cut."""
    order = leaf_order(tree)
    weights = np.asarray(people, np.float64)[order]
    edges = np.cumsum(weights) - weights / 2
    position = np.zeros(tree.leaves + len(tree.merges))
    position[order] = edges / max(1.0, weights.sum()) * WIDTH
    top = float(tree.merges[:, 2].max(initial=0.0)) or 1.0
    height = np.zeros(len(position))
    colour = np.full(len(position), -1)
    colour[: tree.leaves] = tree.cut(clusters)
    ranks = {cluster: rank for rank, cluster in enumerate(dict.fromkeys(colour[order].tolist()))}
    lines: dict[str, list[str]] = {}
    for step, (first, second, rise, _) in enumerate(tree.merges):
        node, a, b = tree.leaves + step, int(first), int(second)
        height[node] = rise
        # Weighted middles keep heavy branches upright.
        position[node] = (position[a] + position[b]) / 2
        colour[node] = colour[a] if colour[a] == colour[b] else -1
        y, ya, yb = (HEIGHT - 8 - level / top * (HEIGHT - 16) for level in (rise, height[a], height[b]))
        stroke = "var(--muted)" if colour[node] < 0 else COLOURS[ranks[int(colour[node])] % len(COLOURS)]
        path = f"M{position[a]:.1f} {ya:.1f}V{y:.1f}H{position[b]:.1f}V{yb:.1f}"
        lines.setdefault(stroke, []).append(path)
    drawn = "".join(
        f'<path d="{"".join(parts)}" fill="none" stroke="{stroke}" stroke-width="1"/>'
        for stroke, parts in lines.items()
    )
    return (
        f'<svg class="chart" role="img" aria-label="{esc(description)}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{drawn}</svg>'
    )
