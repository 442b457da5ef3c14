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
        pieces = _split(layout, part, total, least)
        if pieces:
            stack.extend(pieces)
        else:
            done.append(part)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in done])]).astype(np.int64)
    return (np.concatenate(done) if done else np.zeros(0, np.int64)), starts


def _split(layout: Layout, part: Longs, total: int, least: int) -> list[Longs]:
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
        # Nothing to split by: cut in lexicographic order, as evenly as whole records allow.
        middle = int(np.argmin(np.abs(np.cumsum(counts) - total / 2))) + 1
        middle = min(max(1, middle), len(part) - 1)
        pieces = [part[:middle], part[middle:]]
        if min(int(layout.counts[piece].sum()) for piece in pieces) < least:
            return []
        return pieces
    return [part[chosen == group] for group in np.unique(chosen)]


def shuffled_order(layout: Layout, generator: np.random.Generator) -> Longs:
    """The records sorted by their generalized values, attributes and levels mixed at random, broad before fine.

    Records that agree in most of what is compared first stand close together; several such orders find nearly all
    near pairs without comparing all pairs.
    """
    boxes = layout.boxes
    left = [int(levels) - 1 for levels in boxes.head[:, LEVELS]]
    keys = []
    while any(left):
        j = int(generator.choice([j for j, count in enumerate(left) if count]))
        left[j] -= 1
        size, at = int(boxes.head[j, VALUES]), int(boxes.head[j, AT])
        keys.append(boxes.codes[at + left[j] * size : at + (left[j] + 1) * size][boxes.tuples[:, j]])
    if not keys:
        return np.arange(layout.records)
    packed = np.zeros(layout.records, np.int64)
    room = 1
    columns = []
    for key in keys:
        span = int(key.max()) + 1
        if room * span >= 2**62:
            columns.append(packed)
            packed, room = np.zeros(layout.records, np.int64), 1
        packed = packed * span + key
        room *= span
    columns.append(packed)
    return np.lexsort(columns[::-1]) if len(columns) > 1 else np.argsort(packed, kind="stable")
