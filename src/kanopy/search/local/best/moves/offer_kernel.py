"""Open a class in a box that somebody suggests, whatever rows it holds; keep the change if it pays."""

from __future__ import annotations

from dataclasses import dataclass

from kanopy._arrays import Floats, IntRows, Ints, Longs, Words
from kanopy._compiler import Arrays, helper, kernel
from kanopy.search.local.best.moves.journal_kernel import Journal, begin, move, settle, touch, worth_filled
from kanopy.search.local.best.partition_kernel import WORK, Partition, new_class
from kanopy.search.local.joins_kernel import Joins, copy_box, draw


@dataclass(frozen=True, eq=False)
class Offers(Arrays):
    """Boxes with their weights, and all records that each holds: `record[start[b]:start[b + 1]]`."""

    box: IntRows
    weight: Floats
    start: Longs
    record: Ints


@helper
def _worth(part: Partition, offers: Offers, b: int, k: int) -> float:
    """What rows would save in a box; very negative if it cannot be filled."""
    weight = offers.weight[b]
    gain = 0.0
    taken = 0
    spare = 0
    spare_paid = 0.0
    for p in range(offers.start[b], offers.start[b + 1]):
        t = offers.record[p]
        for y in range(part.first[t], part.first[t + 1]):
            c = part.class_of[y]
            if c < 0:
                continue
            if part.weight[c] > weight:
                gain += part.weight[c] - weight
                taken += 1
            elif part.size[c] > k:
                spare += 1
                spare_paid += part.weight[c]
    return worth_filled(gain, taken, spare, spare_paid, weight, k)


@kernel(makes_arrays=False)
def offer(
    joins: Joins, part: Partition, journal: Journal, near: IntRows, offers: Offers, k: int, heat: float, steps: int,
    random: Words, logs: Floats, stats: Longs,
) -> float:  # fmt: skip
    """Try `steps` times to open a class in a random box of those offered; returns the change in cost."""
    gained = 0.0
    part.state[WORK] += steps
    for _ in range(steps):
        if part.state[0] == 0:
            break
        b = draw(random, len(offers.weight))
        limit = heat * logs[draw(random, 1024)]
        held = offers.start[b + 1] - offers.start[b]
        part.state[WORK] += held >> 2
        if _worth(part, offers, b, k) <= -limit:
            continue
        stats[6] += 1
        part.state[WORK] += held
        begin(journal)
        fresh = new_class(part)
        touch(part, journal, fresh)
        copy_box(offers.box, b, part.box, fresh)
        weight = offers.weight[b]
        part.weight[fresh] = weight
        old = 0.0
        # First the rows that pay more where they are, then, if they are too few, rows that classes can spare.
        for wanted in range(2):
            for p in range(offers.start[b], offers.start[b + 1]):
                t = offers.record[p]
                for y in range(part.first[t], part.first[t + 1]):
                    c = part.class_of[y]
                    if c < 0 or c == fresh:
                        continue
                    if (wanted == 0 and part.weight[c] > weight) or (
                        wanted == 1 and part.size[fresh] < k and part.size[c] > k
                    ):
                        old += touch(part, journal, c)
                        move(part, journal, y, fresh)
            if part.size[fresh] >= k:
                break
        change = settle(joins, part, journal, near, k, fresh, old, limit, random)
        if change != 0.0:
            stats[7] += 1
            gained += change
    return gained
