"""How dear the k dearest rows of every generalization box are: the work behind the lower bound.

Records come sorted by falling price, so the first k rows that fall into a box are its k dearest.
"""

from __future__ import annotations

import numpy as np

from kanopy.kernels.boxes import AT, VALUES, Boxes, Floats, Longs, Shorts
from kanopy.kernels.compiler import kernel

TINY = 1e-300
UNPAYABLE = 1e300


def _price_boxes_plain(
    boxes: Boxes, order: Longs, price: Floats, counts: Longs, nodes: Shorts, begin: int, stop: int, k: int,
    inside: Floats, among: Floats, cheapest: Floats,
) -> None:  # fmt: skip
    """The definition, box by box."""
    width = boxes.tuples.shape[1]
    for node in range(begin, stop):
        members: dict[tuple[int, ...], list[int]] = {}
        for t in order.tolist():
            box = []
            for j in range(width):
                size, _, at, _ = (int(x) for x in boxes.head[j])
                box.append(int(boxes.codes[at + int(nodes[node, j]) * size + int(boxes.tuples[t, j])]))
            members.setdefault(tuple(box), []).append(t)
        for found in members.values():
            if sum(int(counts[t]) for t in found) < k:
                continue
            weight = 0.0
            for j in range(width):
                size, _, at, _ = (int(x) for x in boxes.head[j])
                weight += float(boxes.weights[at + int(nodes[node, j]) * size + int(boxes.tuples[found[0], j])])
            top, rows, dear = 0.0, 0, []
            for t in found:
                if rows < k:
                    top += min(k - rows, int(counts[t])) * float(price[t])
                    dear.append(t)
                rows += int(counts[t])
            ratio = top / (k * weight) if weight > TINY else (UNPAYABLE if top > 0.0 else 0.0)
            for t in found:
                inside[t] = max(inside[t], ratio)
                cheapest[t] = min(cheapest[t], weight)
            for t in dear:
                among[t] = max(among[t], ratio)


@kernel(_price_boxes_plain)
def price_boxes(
    boxes: Boxes, order: Longs, price: Floats, counts: Longs, nodes: Shorts, begin: int, stop: int, k: int,
    inside: Floats, among: Floats, cheapest: Floats,
) -> None:  # fmt: skip
    """Judge all boxes at the level combinations `nodes[begin:stop]` that hold at least k rows.

    The ratio of a box is the mean of its k largest prices over its weight; the prices are honest if none is above 1.
    Raises `inside[t]` to the largest ratio of a box around record `t`, `among[t]` to the largest of those where `t` is
    among the k dearest, and lowers `cheapest[t]` to the least weight of a box around it. The numbers of all values
    of one level combination must fit in 62 bits.
    """
    width = boxes.tuples.shape[1]
    n = len(order)
    bits = 4
    while (1 << bits) < n + n // 2:
        bits += 1
    mask = (1 << bits) - 1
    keys = np.empty(mask + 1, np.int64)
    # Per slot: rows, sum of the k largest prices, weight. Side by side, since each record touches all of them.
    found = np.empty((mask + 1, 4), np.float64)
    slot_of = np.zeros(n, np.int32)
    dear = np.zeros(n, np.bool_)
    start = np.zeros(width, np.int64)
    for node in range(begin, stop):
        keys[:] = -1
        for j in range(width):
            start[j] = boxes.head[j, AT] + nodes[node, j] * boxes.head[j, VALUES]
        for i in range(n):
            t = order[i]
            key = np.int64(0)
            for j in range(width):
                key = key * boxes.head[j, VALUES] + boxes.codes[start[j] + boxes.tuples[t, j]]
            mixed = key ^ (key >> 29)
            mixed = (mixed * 0x9E3779B1) & 0x7FFFFFFFFFFFFFF
            slot = (mixed >> 17) & mask
            while keys[slot] >= 0 and keys[slot] != key:
                slot = (slot + 1) & mask
            if keys[slot] < 0:
                keys[slot] = key
                w = 0.0
                for j in range(width):
                    w += boxes.weights[start[j] + boxes.tuples[t, j]]
                found[slot, 0] = 0.0
                found[slot, 1] = 0.0
                found[slot, 2] = w
            slot_of[i] = slot
            rows = found[slot, 0]
            dear[i] = rows < k
            if rows < k:
                found[slot, 1] += min(k - rows, float(counts[t])) * price[t]
            found[slot, 0] = rows + counts[t]
        for i in range(n):
            slot = slot_of[i]
            if found[slot, 0] < k:
                continue
            t = order[i]
            w = found[slot, 2]
            if w > 1e-300:
                ratio = found[slot, 1] / (k * w)
            elif found[slot, 1] > 0.0:
                ratio = 1e300
            else:
                ratio = 0.0
            if ratio > inside[t]:
                inside[t] = ratio
            if dear[i] and ratio > among[t]:
                among[t] = ratio
            if w < cheapest[t]:
                cheapest[t] = w
