"""What the loop of record fusion is meant to do, as its author writes it: slow, and independent of the loop."""

from __future__ import annotations

import numpy as np

from kanopy.masking.algorithms.fusion_kernel import FUSIONS, SCANS, FusionRules, FusionState
from kanopy.masking.likeness_kernel import Likeness, plain_row


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
