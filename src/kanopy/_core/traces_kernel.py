"""What is known of units: the groups of each unit's rows in ascending order (its trace), and which traces are rare.

All counts are exact. Equal traces are found by a hash table that compares the traces themselves; combinations of rows
depth first, as in Eclat (Zaki 2000): all units that hold a combination are at hand when it is extended by one more
row, so that each extension is counted in a table of groups and no combination is ever stored.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from kanopy._arrays import IntRows, Ints, Longs, Mask
from kanopy._compiler import Arrays, helper, kernel


@dataclasses.dataclass(frozen=True, eq=False)
class Traces(Arrays):
    """`group[starts[u]:starts[u + 1]]` are the groups of unit `u`, ascending; `gone` are the units that leave."""

    group: Ints
    starts: Longs
    gone: Mask


@dataclasses.dataclass(frozen=True, eq=False)
class Combinations(Arrays):
    """Room for the search.

    Per size of combinations: who holds one, bucket after bucket, and the place of their trace behind it; where each
    bucket ends, how many there are, and which comes next. Per group: how many units hold it next, and which groups
    some do. Last, the rows of all units that leave.
    """

    holder: IntRows
    place: IntRows
    ends: IntRows
    buckets: Longs
    following: Longs
    tally: Ints
    touched: Ints
    lost: Longs


def room_for_combinations(rows: int, units: int, count: int, known: int) -> Combinations:
    """Room for combinations of up to `known` rows of a table with `count` groups."""
    held, ends = (known, max(rows, units)), (known, max(1, count))
    return Combinations(
        np.empty(held, np.int32), np.empty(held, np.int32), np.empty(ends, np.int32), np.zeros(known, np.int64),
        np.zeros(known, np.int64), np.zeros(max(1, count), np.int32), np.empty(max(1, count), np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip


def _sort_traces_plain(groups: Ints, units: Ints, group: Ints, starts: Longs, once: int) -> None:
    """NumPy twin of `sort_traces`."""
    pairs = np.column_stack([units, groups])[groups >= 0]
    pairs = np.unique(pairs, axis=0) if once else pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    group[: len(pairs)] = pairs[:, 1]
    starts[1:] = np.cumsum(np.bincount(pairs[:, 0], minlength=len(starts) - 1))


@helper
def _sort_part(group: Ints, begin: int, end: int) -> None:
    """Shell sort: traces are short as a rule, and no scratch space is needed for those that are not."""
    gap = 1
    while 3 * gap + 1 < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            value = group[i]
            at = i
            while at >= begin + gap and group[at - gap] > value:
                group[at] = group[at - gap]
                at -= gap
            group[at] = value
        gap //= 3


@kernel(_sort_traces_plain, makes_arrays=False)
def sort_traces(groups: Ints, units: Ints, group: Ints, starts: Longs, once: int) -> None:
    """Make the traces of rows that stand unit by unit; rows of group -1 are left out, equal ones if `once` is not 0."""
    to, last = 0, 0
    for row in range(len(groups)):
        while last < units[row]:
            last += 1
            starts[last] = to
        if groups[row] >= 0:
            group[to] = groups[row]
            to += 1
    while last < len(starts) - 1:
        last += 1
        starts[last] = to
    for u in range(len(starts) - 1):
        if starts[u + 1] - starts[u] > 1:
            _sort_part(group, starts[u], starts[u + 1])
    if once:
        to = 0
        for u in range(len(starts) - 1):
            begin = starts[u]
            starts[u] = to
            for i in range(begin, starts[u + 1]):
                if i == begin or group[i] != group[to - 1]:
                    group[to] = group[i]
                    to += 1
        starts[len(starts) - 1] = to


def _like_traces_plain(traces: Traces, slots: Ints, like: Ints, sizes: Ints) -> None:
    """A dictionary twin of `like_traces`."""
    first: dict[bytes, int] = {}
    for u in range(len(like)):
        trace = traces.group[traces.starts[u] : traces.starts[u + 1]]
        like[u] = first.setdefault(trace.tobytes(), u) if len(trace) else -1
        if like[u] >= 0:
            sizes[like[u]] += 1


@kernel(_like_traces_plain, makes_arrays=False)
def like_traces(traces: Traces, slots: Ints, like: Ints, sizes: Ints) -> None:
    """`like[u]` becomes the first unit whose trace equals that of `u` (-1: no rows), `sizes` how many are like it.

    `slots` is a hash table of first units, all -1 at first, a power of two long and at least twice as many.
    """
    group, starts = traces.group, traces.starts
    mask = len(slots) - 1
    for u in range(len(like)):
        begin, length = starts[u], starts[u + 1] - starts[u]
        like[u] = -1
        if length == 0:
            continue
        mixed = length
        for i in range(begin, begin + length):
            mixed = (mixed ^ group[i]) * -7046029254386353131
            mixed ^= mixed >> 29
        slot = (mixed ^ (mixed >> 32)) & mask
        while like[u] < 0:
            other = slots[slot]
            if other < 0:
                slots[slot] = u
                like[u] = u
            elif starts[other + 1] - starts[other] == length:
                # Not the hash decides but the traces: nothing is left to chance.
                same = 0
                while same < length and group[starts[other] + same] == group[begin + same]:
                    same += 1
                if same == length:
                    like[u] = other
            slot = (slot + 1) & mask
        sizes[like[u]] += 1


@helper
def _leave(traces: Traces, work: Combinations, u: int) -> None:
    """A unit leaves with all its rows."""
    if not traces.gone[u]:
        traces.gone[u] = True
        work.lost[0] += traces.starts[u + 1] - traces.starts[u]


@helper
def count_next(traces: Traces, work: Combinations, size: int, begin: int, end: int) -> int:
    """How many of the holders of a combination hold one more row of each group; returns how many groups some hold."""
    group, touched = traces.group, 0
    for entry in range(begin, end):
        u = work.holder[size, entry]
        if not traces.gone[u]:
            after = work.place[size, entry]
            for i in range(after, traces.starts[u + 1]):
                # The next row of a unit, or the first one of a later group: every combination once per unit.
                if i == after or group[i] != group[i - 1]:
                    if work.tally[group[i]] == 0:
                        work.touched[touched] = group[i]
                        touched += 1
                    work.tally[group[i]] += 1
    return touched


@helper
def _rare_leave(traces: Traces, work: Combinations, size: int, begin: int, end: int, k: int) -> None:
    """Holders leave that hold one more row as fewer than `k` do."""
    group = traces.group
    for entry in range(begin, end):
        u = work.holder[size, entry]
        after = work.place[size, entry]
        i = after
        while not traces.gone[u] and i < traces.starts[u + 1]:
            if work.tally[group[i]] < k and (i == after or group[i] != group[i - 1]):
                _leave(traces, work, u)
            i += 1


@helper
def _put_into_buckets(traces: Traces, work: Combinations, size: int, begin: int, end: int, touched: int) -> None:
    """The holders of a combination by the row that they hold next."""
    group, to = traces.group, 0
    for i in range(touched):
        many = work.tally[work.touched[i]]
        work.tally[work.touched[i]] = to
        to += many
        work.ends[size + 1, i] = to
    work.buckets[size + 1] = touched
    work.following[size + 1] = 0
    for entry in range(begin, end):
        u = work.holder[size, entry]
        if not traces.gone[u]:
            after = work.place[size, entry]
            for i in range(after, traces.starts[u + 1]):
                if i == after or group[i] != group[i - 1]:
                    at = work.tally[group[i]]
                    work.holder[size + 1, at] = u
                    work.place[size + 1, at] = i + 1
                    work.tally[group[i]] += 1


@helper
def begin_with_all(traces: Traces, work: Combinations) -> None:
    """The empty combination, which all hold who have not left."""
    units = 0
    for u in range(len(traces.gone)):
        if not traces.gone[u]:
            work.holder[0, units] = u
            work.place[0, units] = traces.starts[u]
            units += 1
    work.ends[0, 0] = units
    work.buckets[0] = 1
    work.following[0] = 0


@helper
def go_deeper(traces: Traces, work: Combinations, size: int, begin: int, end: int, touched: int, known: int) -> int:
    """Forget the counts; the size to go on with: that of combinations of one row more, if they may be `known`."""
    deeper = size + 1 < known
    if deeper:
        _put_into_buckets(traces, work, size, begin, end, touched)
    for i in range(touched):
        work.tally[work.touched[i]] = 0
    return size + 1 if deeper else size


@kernel(makes_arrays=False)
def leave_if_rare(traces: Traces, known: int, k: int, most: int, work: Combinations) -> None:
    """Units leave that hold a combination of up to `known` rows which fewer than `k` units hold.

    Who has left counts no more: a unit that leaves now would leave in the end, because no set of units in which its
    combination is rare is safe, nor any part of one. Call again until nobody leaves; once more than `most` rows have
    left the rest is not looked at.
    """
    begin_with_all(traces, work)
    size = 0
    while size >= 0 and work.lost[0] <= most:
        bucket = work.following[size]
        if bucket == work.buckets[size]:
            size -= 1
            continue
        work.following[size] += 1
        begin = work.ends[size, bucket - 1] if bucket > 0 else 0
        end = work.ends[size, bucket]
        touched = count_next(traces, work, size, begin, end)
        rare = False
        for i in range(touched):
            rare = rare or work.tally[work.touched[i]] < k
        if rare:
            _rare_leave(traces, work, size, begin, end, k)
            # Counted anew without those who left, so that buckets are full.
            for i in range(touched):
                work.tally[work.touched[i]] = 0
            touched = count_next(traces, work, size, begin, end) if size + 1 < known else 0
        size = go_deeper(traces, work, size, begin, end, touched, known)
