"""What the loops of record fusion and its improvement are meant to do: slow, and independent of the loops."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy.masking.algorithms.fusion_kernel import FUSIONS, SCANS, FusionRules, FusionState
from kanopy.masking.algorithms.refinement_kernel import LARGEST_GROUP
from kanopy.masking.likeness_kernel import TICKS, Likeness, plain_row


def fuse(like: Likeness, state: FusionState, rules: FusionRules, most_scans: int) -> bool:
    """The algorithm as the thesis writes it: in every step all pairs are compared. Returns whether it is finished."""
    sizes, into, priority = state.sizes, state.into, state.priority
    budget = state.numbers[FUSIONS] + max(1, most_scans)
    while state.numbers[FUSIONS] < budget:
        left = np.flatnonzero(into < 0)
        unsafe = [int(g) for g in left if _is_unsafe(state, rules, int(g))]
        if not unsafe or len(left) == 1:
            return True
        if rules.smallest_first:
            smallest = min(sizes[g] for g in unsafe)
            unsafe = [g for g in unsafe if sizes[g] == smallest]
        fusions = []
        for own in unsafe:
            others = left[left != own]
            row = plain_row(like, own, others)
            best = row.max()
            tied = [int(t) for t in others[row == best]]
            taken = min(tied, key=lambda t: (sizes[t], priority[t]))
            result = int(sizes[own] + sizes[taken]) if rules.smallest_result else 0
            fusions.append((-int(best), result, int(priority[own]), own, taken))
        *_, own, taken = min(fusions)
        sizes[taken] += sizes[own]
        into[own] = taken
        for column, needed in enumerate(rules.needed):
            both = [v for v in (*state.seen[taken, column], *state.seen[own, column]) if v >= 0]
            kept = list(dict.fromkeys(both))[: int(needed)]
            state.seen[taken, column, : len(kept)] = kept
        state.numbers[FUSIONS] += 1
        state.numbers[SCANS] += len(unsafe)
    return False


def _is_unsafe(state: FusionState, rules: FusionRules, group: int) -> bool:
    short = [len({v for v in state.seen[group, c] if v >= 0}) < needed for c, needed in enumerate(rules.needed)]
    return bool(state.sizes[group] < rules.k or any(short))


def loads(counts: Longs, center: Longs) -> Longs:
    """People per published tuple; 0 for tuples that are not published."""
    return np.bincount(center, weights=counts, minlength=len(counts)).astype(np.int64)


def published_likeness(like: Likeness, center: Longs) -> Longs:
    """Per tuple how similar it is to what it publishes, in ticks; what is published as it was counts 1."""
    return np.array(
        [TICKS if c == t else int(plain_row(like, t, np.array([c]))[0]) for t, c in enumerate(center)], np.int64
    )


def reassign(like: Likeness, counts: Longs, center: Longs, k: int) -> int:
    """Move tuples to the published tuple most like them, as long as the group they leave keeps `k`; the gain."""
    load = loads(counts, center)
    now = published_likeness(like, center)
    centers = np.flatnonzero(load)
    gain = 0
    for t in range(len(counts)):
        if center[t] == t or load[center[t]] - counts[t] < k:
            continue
        row = plain_row(like, t, centers)
        best = int(np.argmax(row))
        if row[best] > now[t]:
            gain += int(counts[t] * (row[best] - now[t]))
            load[center[t]] -= counts[t]
            load[centers[best]] += counts[t]
            center[t] = centers[best]
    return gain


def recenter(like: Likeness, counts: Longs, center: Longs) -> int:
    """Let each group publish the member that is most like all its people; the gain."""
    gain = 0
    for own in np.unique(center):
        members = np.flatnonzero(center == own)
        if len(members) < 2 or len(members) > LARGEST_GROUP:
            continue
        likeness = np.array([plain_row(like, int(t), members) for t in members])
        np.fill_diagonal(likeness, TICKS)
        totals = counts[members] @ likeness
        now = int(totals[members == own][0])
        best = int(np.argmax(totals))
        if totals[best] > now:
            gain += int(totals[best]) - now
            center[members] = members[best]
    return gain


def open_groups(
    toward: Likeness, counts: Longs, center: Longs, now: Longs, load: Longs, k: int, first: int, last: int
) -> int:
    """Open new groups at the tuples `first … last-1`, where people gain more than those who must join lose; the gain.

    `now` and `load` are kept up to date.
    """
    everyone = np.arange(len(counts))
    total = 0
    for own in range(first, last):
        if center[own] == own or load[center[own]] - counts[own] < k:
            continue
        row = plain_row(toward, own, everyone)
        others = np.array([t for t in everyone if t != own and center[t] != t], np.int64)
        change = row[others] - now[others]
        start = int(counts[own] * (TICKS - now[own]))
        most = start + int((np.maximum(change, 0) * counts[others]).sum())
        able = others[change > -most]
        able = able[np.argsort(now[able] - row[able], kind="stable")]
        gain, people, taken = start, int(counts[own]), [own]
        left = {int(center[own]): int(counts[own])}
        for t in able:
            step = int(row[t] - now[t])
            if step <= 0 and people >= k:
                break
            donor = int(center[t])
            if load[donor] - left.get(donor, 0) - counts[t] < k:
                continue
            left[donor] = left.get(donor, 0) + int(counts[t])
            people += int(counts[t])
            gain += int(counts[t]) * step
            taken.append(int(t))
        if people < k or gain <= 0:
            continue
        for t in taken:
            load[center[t]] -= counts[t]
            center[t] = own
            now[t] = row[t]
        now[own] = TICKS
        load[own] = people
        total += gain
    return total


def close_groups(like: Likeness, counts: Longs, center: Longs) -> int:
    """Close groups whose people all fare better in other groups, taken together; the gain."""
    now = published_likeness(like, center)
    total = 0
    for own in np.unique(center):
        members = np.flatnonzero(center == own)
        centers = np.unique(center)
        centers = centers[centers != own]
        if not len(centers):
            break
        rows = np.array([plain_row(like, int(t), centers) for t in members])
        best = rows.argmax(axis=1)
        values = rows[np.arange(len(members)), best]
        gain = int((counts[members] * (values - now[members])).sum())
        if gain > 0:
            center[members] = centers[best]
            now[members] = values
            total += gain
    return total


def matrix(like: Likeness) -> Longs:
    """The similarities of all tuples with all tuples, in ticks; for small tables."""
    everyone = np.arange(like.codes.shape[1])
    return np.array([plain_row(like, int(own), everyone) for own in everyone], np.int64).reshape(-1, len(everyone))


def linkage(like: Likeness, counts: Longs, origin: Longs, shown: Longs) -> Floats:
    """The chance that a record is found by linking what it publishes to the original tuples most similar to that.

    The first `len(counts)` tuples of `like` are the originals. Move `m` is a record of tuple `origin[m]` that publishes
    tuple `shown[m]`.
    """
    everyone = np.arange(len(counts))
    found = np.zeros(len(origin))
    for tuple_ in np.unique(shown):
        row = plain_row(like, int(tuple_), everyone)
        linked = row == row.max()
        here = np.flatnonzero(shown == tuple_)
        found[here[linked[origin[here]]]] = 1.0 / counts[linked].sum()
    return found
