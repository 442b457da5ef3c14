"""How many units what may be known of each fits: combinations of rows counted depth first, as in `traces_kernel`."""

from __future__ import annotations

from kanopy._arrays import Longs
from kanopy._compiler import helper, kernel
from kanopy._core.traces_kernel import Combinations, Traces, begin_with_all, count_next, go_deeper


@helper
def _least(traces: Traces, work: Combinations, size: int, begin: int, end: int, fits: Longs) -> None:
    """Remember of every holder how many hold one more row as it does, where that is the least so far."""
    group = traces.group
    for entry in range(begin, end):
        u = work.holder[size, entry]
        after = work.place[size, entry]
        for i in range(after, traces.starts[u + 1]):
            if (i == after or group[i] != group[i - 1]) and work.tally[group[i]] < fits[u]:
                fits[u] = work.tally[group[i]]


@kernel(makes_arrays=False)
def count_alike(traces: Traces, known: int, fits: Longs, work: Combinations) -> None:
    """`fits[u]` becomes the least number of units that hold a combination of up to `known` rows of unit `u`."""
    begin_with_all(traces, work)
    size = 0
    while size >= 0:
        bucket = work.following[size]
        if bucket == work.buckets[size]:
            size -= 1
            continue
        work.following[size] += 1
        begin = work.ends[size, bucket - 1] if bucket > 0 else 0
        end = work.ends[size, bucket]
        touched = count_next(traces, work, size, begin, end)
        _least(traces, work, size, begin, end, fits)
        size = go_deeper(traces, work, size, begin, end, touched, known)
