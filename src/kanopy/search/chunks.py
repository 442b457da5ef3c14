"""Top-down splitting by hierarchy into chunks small enough for quadratic work."""

from __future__ import annotations

import numpy as np

from kanopy.classes import Longs
from kanopy.kernels.boxes import AT, LEVELS, VALUES
from kanopy.search.boxes import Layout


def chunk_records(layout: Layout, rows: int, k: int) -> tuple[Longs, Longs]:
    """Split the records into chunks of about `rows` rows, each of at least `k`: an order and where chunks start.

    A part is split along the attribute where going one level down saves most weight; children with few rows stay
    together. Parts that no attribute splits are cut in lexicographic order. Strata are never joined; those with
    fewer than `k` rows are left out.
    """
    least = max(k, rows // 8)
    stack = [np.flatnonzero(layout.stratum == s) for s in np.unique(layout.stratum)]
    done: list[Longs] = []
    while stack:
        part = stack.pop()
        total = int(layout.counts[part].sum())
        if total < k:
            continue
        if total <= rows or len(part) < 4:
            done.append(part)
            continue
        stack.extend(_split(layout, part, total, least, rows))
    starts = np.concatenate([[0], np.cumsum([len(part) for part in done])]).astype(np.int64)
    return (np.concatenate(done) if done else np.zeros(0, np.int64)), starts


def _split(layout: Layout, part: Longs, total: int, least: int, rows: int) -> list[Longs]:
    boxes, counts = layout.boxes, layout.counts[part]
    best, chosen = 0.0, None
    for j in range(boxes.tuples.shape[1]):
        size, levels, at = (int(boxes.head[j, column]) for column in (VALUES, LEVELS, AT))
        table = boxes.codes[at : at + size * levels].reshape(levels, size)
        cost = boxes.weights[at : at + size * levels].reshape(levels, size)
        values = boxes.tuples[part, j]
        level = 0
        while level < levels - 1 and (table[level, values] != table[level, values[0]]).any():
            level += 1
        if level == 0:
            continue
        child = table[level - 1, values]
        inside = np.bincount(child, weights=counts)
        large = inside >= least
        rest = float(inside[~large].sum())
        if large.sum() + (rest >= least) < 2:
            continue
        gain = float(np.dot(counts * large[child], cost[level, values] - cost[level - 1, values]))
        if gain > best:
            group = np.where(large[child], child, -1)
            if 0 < rest < least:
                # Too few for a part of their own: they stay with the smallest large child.
                group[group < 0] = np.flatnonzero(large)[np.argmin(inside[large])]
            best, chosen = gain, group
    if chosen is None:
        pieces = max(2, -(-total // rows))
        cuts = np.searchsorted(np.cumsum(counts), total * np.arange(1, pieces) // pieces)
        cut = [piece for piece in np.split(part, np.unique(cuts)) if len(piece)]
        if len(cut) < 2 or min(int(layout.counts[piece].sum()) for piece in cut) < least:
            half = max(1, min(len(part) - 1, int(np.searchsorted(np.cumsum(counts), total / 2)) + 1))
            cut = [part[:half], part[half:]]
            if min(int(layout.counts[piece].sum()) for piece in cut) < least:
                return [part[:1], part[1:]] if False else _give_up(part)
        return cut
    return [part[chosen == group] for group in np.unique(chosen)]


def _give_up(part: Longs) -> list[Longs]:
    raise AssertionError(len(part))
