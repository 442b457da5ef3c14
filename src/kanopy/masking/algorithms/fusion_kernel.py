"""Record fusion (Martínez 2010, section 4.3): groups of equal records take the values of the group most like them.

The thesis looks at all pairs of tuples in every step. Here each group remembers its best fusion, and a heap orders the
groups by it. Nothing that happens later makes a remembered fusion better: targets only grow or disappear. So a
remembered key is a bound from below, and a group that comes up with a key that still holds is the one the plain
algorithm chooses. Only groups that come up with an outdated key look for their target again, in one pass over the
groups that are left; no table of pairs of tuples is ever made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.masking.likeness_kernel import TICKS, Likeness, likeness_row

SCANS, FUSIONS, WAITING, LEFT = 0, 1, 2, 3
"""Places in `FusionState.numbers`."""


class FusionRules(NamedTuple):
    """`k`; which heuristics choose the next group; per confidential column how many different values are needed."""

    k: int
    smallest_first: bool
    smallest_result: bool
    needed: Longs


class FusionState(NamedTuple):
    """Where the fusion stands. `into[g]` is the group that took group `g` in, or -1.

    `seen[g, c]` holds up to `needed[c]` different values of confidential column `c` in group `g`, -1 where there is
    none. The first `numbers[LEFT]` columns of `codes` and `values` describe the groups `order` that are left;
    `place` is the inverse. `heap` holds the groups that wait, with the keys remembered for them.
    """

    sizes: Longs
    into: Longs
    seen: npt.NDArray[np.int32]
    priority: Longs
    order: Longs
    place: Longs
    codes: Ints
    values: Floats
    heap: Longs
    key: Longs
    target: Longs
    target_size: Longs
    numbers: Longs


def begin_fusion(like: Likeness, counts: Longs, seen: npt.NDArray[np.int32], priority: Longs) -> FusionState:
    """The state before the first fusion: every tuple is a group."""
    tuples = len(counts)
    key = np.zeros((tuples, 3), np.int64)
    key[:, 1] = -4 * TICKS  # more similar than possible: the first look at a group replaces it
    return FusionState(
        sizes=counts.astype(np.int64),
        into=np.full(tuples, -1, np.int64),
        seen=np.ascontiguousarray(seen, np.int32),
        priority=np.ascontiguousarray(priority, np.int64),
        order=np.arange(tuples),
        place=np.arange(tuples),
        codes=like.codes.copy(),
        values=like.numbers.copy(),
        heap=np.empty(tuples, np.int64),
        key=key,
        target=np.full(tuples, -1, np.int64),
        target_size=np.zeros(tuples, np.int64),
        numbers=np.array([0, 0, -1, tuples], np.int64),
    )


@helper
def _is_unsafe(state: FusionState, rules: FusionRules, group: int) -> bool:
    if state.sizes[group] < rules.k:
        return True
    for column in range(len(rules.needed)):
        if rules.needed[column] > 0 and state.seen[group, column, rules.needed[column] - 1] < 0:
            return True
    return False


@helper
def _add_seen(state: FusionState, rules: FusionRules, target: int, source: int) -> None:
    for column in range(len(rules.needed)):
        count = 0
        while count < rules.needed[column] and state.seen[target, column, count] >= 0:
            count += 1
        for x in range(rules.needed[column]):
            value = state.seen[source, column, x]
            if value < 0 or count >= rules.needed[column]:
                break
            known = False
            for y in range(count):
                if state.seen[target, column, y] == value:
                    known = True
            if not known:
                state.seen[target, column, count] = value
                count += 1


@helper
def _before(key: Longs, priority: Longs, a: int, b: int) -> bool:
    for x in range(3):
        if key[a, x] != key[b, x]:
            return bool(key[a, x] < key[b, x])
    return bool(priority[a] < priority[b])


@helper
def _sink(heap: Longs, count: int, at: int, key: Longs, priority: Longs) -> None:
    own = heap[at]
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and _before(key, priority, heap[child + 1], heap[child]):
            child += 1
        if not _before(key, priority, heap[child], own):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = own


@helper
def _pop(state: FusionState) -> None:
    """Take the first group off the heap."""
    state.numbers[WAITING] -= 1
    state.heap[0] = state.heap[state.numbers[WAITING]]
    _sink(state.heap, state.numbers[WAITING], 0, state.key, state.priority)


@helper
def _rank(state: FusionState, rules: FusionRules, own: int) -> bool:
    """Bring the sizes in a group's key up to date; whether they were not."""
    first = state.sizes[own] if rules.smallest_first else 0
    result = state.sizes[own] + state.sizes[state.target[own]] if rules.smallest_result else 0
    changed = state.key[own, 0] != first or state.key[own, 2] != result
    state.key[own, 0] = first
    state.key[own, 2] = result
    return bool(changed)


@helper
def _look(like: Likeness, state: FusionState, rules: FusionRules, own: int, score: Floats) -> None:
    """Find the best fusion of a group and remember it."""
    order = state.order
    sizes = state.sizes
    priority = state.priority
    count = state.numbers[LEFT]
    likeness_row(like, own, state.codes, state.values, count, score)
    score[state.place[own]] = -1.0
    # First the highest score, then exact ticks only among what could reach it: one pass stays simple and fast.
    top = -1.0
    for x in range(count):
        if score[x] > top:
            top = score[x]
    best = int(top * TICKS + 0.5)
    floor = top - 2.0 / TICKS
    taken = -1
    for x in range(count):
        if score[x] >= floor and score[x] >= 0.0 and int(score[x] * TICKS + 0.5) == best:
            other = order[x]
            if (
                taken < 0
                or sizes[other] < sizes[taken]
                or (sizes[other] == sizes[taken] and priority[other] < priority[taken])
            ):
                taken = other
    state.target[own] = taken
    state.target_size[own] = sizes[taken]
    state.key[own, 1] = -best
    _rank(state, rules, own)
    state.numbers[SCANS] += 1


@helper
def _remove(state: FusionState, group: int) -> None:
    """Take a group out of those that are left; the last one moves into its place."""
    last = state.numbers[LEFT] - 1
    at = state.place[group]
    moved = state.order[last]
    state.order[at] = moved
    state.place[moved] = at
    state.place[group] = -1
    for j in range(state.codes.shape[0]):
        state.codes[j, at] = state.codes[j, last]
        state.values[j, at] = state.values[j, last]
    state.numbers[LEFT] = last


@kernel()
def fuse(like: Likeness, state: FusionState, rules: FusionRules, most_scans: int) -> bool:
    """Fuse until every group is safe or `most_scans` passes were made; returns whether it is finished."""
    sizes = state.sizes
    heap = state.heap
    key = state.key
    priority = state.priority
    score = np.empty(state.numbers[LEFT])
    if state.numbers[WAITING] < 0:
        count = 0
        for group in range(len(sizes)):
            if _is_unsafe(state, rules, group):
                key[group, 0] = sizes[group] if rules.smallest_first else 0
                heap[count] = group
                count += 1
        state.numbers[WAITING] = count
        for at in range(count // 2 - 1, -1, -1):
            _sink(heap, count, at, key, priority)
    budget = state.numbers[SCANS] + most_scans
    while state.numbers[WAITING] > 0 and state.numbers[LEFT] > 1:
        if state.numbers[SCANS] >= budget:
            return False
        own = heap[0]
        if state.into[own] >= 0 or not _is_unsafe(state, rules, own):
            _pop(state)
            continue
        target = state.target[own]
        if target >= 0 and state.into[target] < 0 and sizes[target] == state.target_size[own]:
            # Where only the group itself grew its target is as good as before, but its turn may be another.
            if _rank(state, rules, own):
                _sink(heap, state.numbers[WAITING], 0, key, priority)
                continue
        else:
            if rules.smallest_first and key[own, 0] != sizes[own]:
                key[own, 0] = sizes[own]  # it waits for its new turn before it looks again
            else:
                _look(like, state, rules, own, score)
            _sink(heap, state.numbers[WAITING], 0, key, priority)
            continue
        _pop(state)
        state.into[own] = target
        sizes[target] += sizes[own]
        _add_seen(state, rules, target, own)
        _remove(state, own)
        state.numbers[FUSIONS] += 1
    return True
