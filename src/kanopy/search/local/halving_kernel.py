"""Top-down splitting in two: far-apart seeds, every other row to the seed where it loses less, again and again."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask, Shorts
from kanopy._compiler import helper, kernel
from kanopy.search.local.boxes_kernel import Boxes, box_weight, join, pair_weight, weight_with

SCANS = 3
"""How often the furthest row of a seed is looked for; more hardly finds pairs further apart (Xu et al. 2006)."""
HEIGHT, DONE = 0, 1


@helper
def _fill(
    boxes: Boxes, record: Ints, seen: int, levels: Shorts, small: Longs, n_small: int, large: Longs, n_large: int,
    k: int, prices: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Bring the small side up to `k` items from the large one, cheapest first; the new numbers of both."""
    missing = k - n_small
    for i in range(n_large):
        prices[i] = weight_with(boxes, seen, levels, record[large[i]])
    limit = np.partition(prices[:n_large], missing - 1)[missing - 1]
    below = 0
    for i in range(n_large):
        below += prices[i] < limit
    equal = missing - below
    kept = 0
    for i in range(n_large):
        take = prices[i] < limit
        if prices[i] == limit and equal > 0:
            take = True
            equal -= 1
        if take:
            small[n_small] = large[i]
            n_small += 1
        else:
            large[kept] = large[i]
            kept += 1
    return n_small, kept


@kernel()
def halve(
    boxes: Boxes, record: Ints, items: Longs, stack: Longs, state: Longs, opens: Mask, k: int, slice_items: int
) -> None:
    """Split the parts on the stack until each has fewer than `2k` items or nothing to gain; stops after a slice.

    A part is `items[begin:end]` for a row `(begin, end)` of `stack`, the topmost `state[HEIGHT] - 1`; `items` is
    reordered so that the parts stay stretches, and `opens[begin]` marks finished ones. `record[item]` is an item's
    record. The two seeds are the outcome of repeated looks for the furthest item. The others join, in order, the side
    whose box is then the lighter one; at a tie the side that grows less, then the smaller side, then the first. A
    side with fewer than `k` items takes those of the other side that fit its box best, first ones first.
    """
    width = boxes.tuples.shape[1]
    most = 0
    for i in range(state[HEIGHT]):
        most = max(most, stack[i, 1] - stack[i, 0])
    front = np.empty(most, np.int64)
    back = np.empty(most, np.int64)
    prices = np.empty(most, np.float64)
    levels = np.empty((2, width), np.int16)
    looked = 0
    while state[HEIGHT] > 0 and looked < slice_items:
        state[HEIGHT] -= 1
        begin, end = stack[state[HEIGHT], 0], stack[state[HEIGHT], 1]
        count = end - begin
        looked += count
        first = record[items[begin]]
        done = count < 2 * k
        if not done:
            levels[:] = 0
            for i in range(begin, end):
                join(boxes, first, levels[0], record[items[i]])
            # Then all are alike in whatever has weight. Otherwise two seeds are never the same item.
            done = box_weight(boxes, first, levels[0]) <= box_weight(boxes, first, levels[1])
        if done:
            opens[begin] = True
            state[DONE] += count
            continue
        seed, other = begin, begin
        for _ in range(SCANS):
            furthest, place = -1.0, begin
            for i in range(begin, end):
                distance = pair_weight(boxes, record[items[seed]], record[items[i]])
                if distance > furthest:
                    furthest, place = distance, i
            seed, other = place, seed
        levels[:] = 0
        one, two = record[items[seed]], record[items[other]]
        spent_one, spent_two = box_weight(boxes, one, levels[0]), box_weight(boxes, two, levels[1])
        front[0], back[0] = items[seed], items[other]
        n_front, n_back = 1, 1
        for i in range(begin, end):
            if i in (seed, other):
                continue
            item = items[i]
            r = record[item]
            price_one = weight_with(boxes, one, levels[0], r)
            price_two = weight_with(boxes, two, levels[1], r)
            to_front = price_one < price_two
            if price_one == price_two:
                rise_one, rise_two = price_one - spent_one, price_two - spent_two
                to_front = rise_one < rise_two or (rise_one == rise_two and n_front <= n_back)
            if to_front:
                front[n_front] = item
                n_front += 1
                join(boxes, one, levels[0], r)
                spent_one = price_one
            else:
                back[n_back] = item
                n_back += 1
                join(boxes, two, levels[1], r)
                spent_two = price_two
        if n_front < k:
            n_front, n_back = _fill(boxes, record, one, levels[0], front, n_front, back, n_back, k, prices)
        elif n_back < k:
            n_back, n_front = _fill(boxes, record, two, levels[1], back, n_back, front, n_front, k, prices)
        items[begin : begin + n_front] = front[:n_front]
        items[begin + n_front : end] = back[:n_back]
        stack[state[HEIGHT], 0], stack[state[HEIGHT], 1] = begin, begin + n_front
        stack[state[HEIGHT] + 1, 0], stack[state[HEIGHT] + 1, 1] = begin + n_front, end
        state[HEIGHT] += 2
