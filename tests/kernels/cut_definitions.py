"""What the loops of top-down specialization are meant to do, as simply as it can be said."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.subtree.specialize_kernel import NOTHING, Cut, Outlook, Records


def split(records: Records, cut: Cut, classes: int, j: int, v: int, held: Longs, changed: Longs) -> tuple[int, int]:
    """Every class under the node, by its children."""
    under = np.flatnonzero(cut.at[:classes, j] == v)
    found = 0
    for c in under.tolist():
        begin, end = int(cut.begin[c]), int(cut.end[c])
        members = cut.order[begin:end].copy()
        child = records.ancestor[records.depth[v] + 1, records.leaves[members, j]]
        ranked = np.argsort(child, kind="stable")
        cut.order[begin:end] = members[ranked]
        starts = np.flatnonzero(np.diff(child[ranked], prepend=-1))
        ends = np.append(starts[1:], end - begin)
        nodes = cut.at[c].copy()
        for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
            number = c if first == 0 else classes
            classes += first > 0
            cut.begin[number], cut.end[number] = begin + first, begin + last
            cut.size[number] = records.counts[cut.order[begin + first : begin + last]].sum()
            cut.at[number] = nodes
            cut.at[number, j] = child[ranked[first]]
            changed[found] = number
            found += 1
    return classes, found


def foresee(records: Records, cut: Cut, classes: Longs, k: int, held: Longs, touched: Ints) -> None:
    """Every class, column by column."""
    for c in classes.tolist():
        members = cut.order[cut.begin[c] : cut.end[c]]
        whole = float(records.worth[cut.at[c]].sum())
        for j, v in enumerate(cut.at[c].tolist()):
            cut.small[c, j], cut.least[c, j], cut.gain[c, j] = 0, NOTHING, 0.0
            if records.children[v] == 0:
                continue
            child = records.ancestor[records.depth[v] + 1, records.leaves[members, j]]
            parts, number = np.unique(child, return_inverse=True)
            sizes = np.bincount(number.reshape(-1), weights=records.counts[members]).astype(np.int64)
            below = sizes < k
            cut.small[c, j] = sizes[below].sum()
            cut.least[c, j] = sizes[~below].min(initial=NOTHING)
            if not cut.unsafe[c]:
                gained = sizes[~below] * (records.worth[parts[~below]] - records.worth[v])
                cut.gain[c, j] = float(gained.sum()) - float(sizes[below].sum()) * whole


def look_ahead(cut: Cut, classes: int, outlook: Outlook) -> None:
    """Every node with its classes."""
    for one in outlook:
        one[:] = 0
    outlook.least_now[:] = NOTHING
    outlook.least_after[:] = NOTHING
    unsafe = cut.unsafe[:classes] > 0
    size = cut.size[:classes]
    for j in range(cut.at.shape[1]):
        node = cut.at[:classes, j]
        np.add.at(outlook.gone, node[unsafe], size[unsafe])
        np.add.at(outlook.small, node, cut.small[:classes, j])
        np.add.at(outlook.gain, node, cut.gain[:classes, j])
        np.add.at(outlook.classes, node, 1)
        np.minimum.at(outlook.least_now, node[~unsafe], size[~unsafe])
        np.minimum.at(outlook.least_after, node, cut.least[:classes, j])
