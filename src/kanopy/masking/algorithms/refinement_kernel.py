"""Improve a finished masking: members that lie closer to another published tuple move there, a group publishes the
member that is most like all of it, and new groups open where enough people gain by them.

A masking is `center[t]`, the tuple whose values tuple `t` publishes; centers publish themselves. Similarity is counted
in whole ticks times people, every accepted change gains at least one, so the improvement ends and never loses.
`toward` is the likeness with its tables transposed: its rows say how similar all tuples are *to* one.
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import helper, kernel
from kanopy.masking.likeness_kernel import TICKS, Likeness, likeness_of, likeness_row

LARGEST_GROUP = 1024
"""Tuples in a group up to which every member is tried as the published one."""


@kernel()
def published_likeness(like: Likeness, center: Longs) -> Longs:
    """Per tuple how similar it is to what it publishes, in ticks; what is published as it was counts 1."""
    out = np.empty(len(center), np.int64)
    for t in range(len(center)):
        out[t] = TICKS if center[t] == t else likeness_of(like, t, center[t])
    return out


@helper
def _loads(counts: Longs, center: Longs) -> Longs:
    load = np.zeros(len(counts), np.int64)
    for t in range(len(counts)):
        load[center[t]] += counts[t]
    return load


@helper
def _columns(like: Likeness, chosen: Longs) -> tuple[Ints, Floats]:
    codes = np.empty((like.codes.shape[0], len(chosen)), np.int32)
    values = np.empty((like.codes.shape[0], len(chosen)))
    for j in range(like.codes.shape[0]):
        for x in range(len(chosen)):
            codes[j, x] = like.codes[j, chosen[x]]
            values[j, x] = like.numbers[j, chosen[x]]
    return codes, values


@helper
def _nearest(score: Floats, centers: Longs, load: Longs, but: int) -> tuple[int, int]:
    """The published tuple (but one) of the greatest likeness, the first of several, and that likeness in ticks."""
    best = -1
    nearest = -1
    for x in range(len(centers)):
        ticks = int(score[x] * TICKS + 0.5)
        if ticks > best and centers[x] != but and load[centers[x]] > 0:
            best = ticks
            nearest = centers[x]
    return nearest, best


@kernel()
def reassign(like: Likeness, counts: Longs, center: Longs, k: int) -> int:
    """Move tuples to the published tuple most like them, as long as the group they leave keeps `k`; the gain."""
    load = _loads(counts, center)
    centers = np.flatnonzero(load)
    codes, values = _columns(like, centers)
    score = np.empty(len(centers))
    gain = 0
    for t in range(len(counts)):
        if center[t] == t or load[center[t]] - counts[t] < k:
            continue
        now = likeness_of(like, t, center[t])
        likeness_row(like, t, codes, values, len(centers), score)
        to, best = _nearest(score, centers, load, -1)
        if best > now:
            gain += counts[t] * (best - now)
            load[center[t]] -= counts[t]
            load[to] += counts[t]
            center[t] = to
    return gain


@kernel()
def recenter(like: Likeness, counts: Longs, center: Longs) -> int:
    """Let each group publish the member that is most like all its people; the gain."""
    order = np.argsort(center, kind="mergesort")
    tuples = len(counts)
    gain = 0
    begin = 0
    while begin < tuples:
        own = center[order[begin]]
        end = begin
        while end < tuples and center[order[end]] == own:
            end += 1
        if 2 <= end - begin <= LARGEST_GROUP:
            now = 0
            best = -1
            chosen = own
            for x in range(begin, end):
                total = 0
                for y in range(begin, end):
                    ticks = TICKS if x == y else likeness_of(like, order[y], order[x])
                    total += counts[order[y]] * ticks
                if order[x] == own:
                    now = total
                if total > best:
                    best = total
                    chosen = order[x]
            if best > now:
                gain += best - now
                # `order` is kept from before, so a changed center cannot be met twice.
                for x in range(begin, end):
                    center[order[x]] = chosen
        begin = end
    return gain


@kernel()
def open_groups(
    toward: Likeness, counts: Longs, center: Longs, now: Longs, load: Longs, k: int, first: int, last: int
) -> int:
    """Open new groups at the tuples `first … last-1`, where people gain more than those who must join lose; the gain.

    `now` and `load` are kept up to date.
    """
    tuples = len(counts)
    score = np.empty(tuples)
    able = np.empty(tuples, np.int64)
    left = np.zeros(tuples, np.int64)
    taken = np.empty(tuples, np.int64)
    total = 0
    for own in range(first, last):
        if center[own] == own or load[center[own]] - counts[own] < k:
            continue
        likeness_row(toward, own, toward.codes, toward.numbers, tuples, score)
        start = counts[own] * (TICKS - now[own])
        most = start
        for t in range(tuples):
            if t != own and center[t] != t:
                change = int(score[t] * TICKS + 0.5) - now[t]
                if change > 0:
                    most += change * counts[t]
        if most <= 0:
            continue
        count = 0
        for t in range(tuples):
            if t != own and center[t] != t and int(score[t] * TICKS + 0.5) - now[t] > -most:
                able[count] = t
                count += 1
        loss = np.empty(count, np.int64)
        for x in range(count):
            loss[x] = now[able[x]] - int(score[able[x]] * TICKS + 0.5)
        order = np.argsort(loss, kind="mergesort")
        gain = start
        people = counts[own]
        left[center[own]] += counts[own]
        taken[0] = own
        joined = 1
        for x in range(count):
            t = able[order[x]]
            step = -loss[order[x]]
            if step <= 0 and people >= k:
                break
            donor = center[t]
            if load[donor] - left[donor] - counts[t] < k:
                continue
            left[donor] += counts[t]
            people += counts[t]
            gain += counts[t] * step
            taken[joined] = t
            joined += 1
        for x in range(joined):
            left[center[taken[x]]] = 0
        if people < k or gain <= 0:
            continue
        for x in range(joined):
            t = taken[x]
            load[center[t]] -= counts[t]
            center[t] = own
            now[t] = int(score[t] * TICKS + 0.5)
        now[own] = TICKS
        load[own] = people
        total += gain
    return total


@kernel()
def close_groups(like: Likeness, counts: Longs, center: Longs) -> int:
    """Close groups whose people all fare better in other groups, taken together; the gain."""
    tuples = len(counts)
    now = published_likeness(like, center)
    load = _loads(counts, center)  # which is kept for whether a group is still there
    centers = np.flatnonzero(load)
    codes, values = _columns(like, centers)
    score = np.empty(len(centers))
    # Members of a group as a list that begins with its center: per tuple the next one; lists change as groups close.
    following = np.full(tuples, -1, np.int64)
    for t in range(tuples - 1, -1, -1):
        if center[t] != t:
            following[t] = following[center[t]]
            following[center[t]] = t
    to = np.empty(tuples, np.int64)
    ticks = np.empty(tuples, np.int64)
    left = len(centers)
    total = 0
    for y in range(len(centers)):
        own = centers[y]
        if left < 2:
            break
        # The center itself loses most: if the others cannot gain as much as it loses, no need to look further.
        gain = 0
        could = 0
        t = own
        while t >= 0:
            could += counts[t] * (TICKS - now[t])
            t = following[t]
        t = own
        while t >= 0:
            likeness_row(like, t, codes, values, len(centers), score)
            to[t], ticks[t] = _nearest(score, centers, load, own)
            gain += counts[t] * (ticks[t] - now[t])
            could -= counts[t] * (TICKS - now[t])
            if gain + could <= 0:
                break
            t = following[t]
        if t >= 0 or gain <= 0:
            continue
        t = own
        while t >= 0:
            upcoming = following[t]
            center[t] = to[t]
            now[t] = ticks[t]
            following[t] = following[to[t]]
            following[to[t]] = t
            t = upcoming
        load[own] = 0
        left -= 1
        total += gain
    return total
