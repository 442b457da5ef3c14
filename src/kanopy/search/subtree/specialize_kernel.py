"""Specializing one node of a cut: split the classes under it, and foresee what each further split would do.

Classes are stretches of `order`, an arrangement of the records: class `c` is `order[begin[c]:end[c]]`, and
`at[c, j]` the node that it publishes in column `j`. Only the classes under the node that is split are touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel

Flags = npt.NDArray[np.uint8]

NOTHING = np.int64(2**62)
"""The least size of no class at all."""


class Records(NamedTuple):
    """What does not change: leaves and counts of the records, and the trees (see `kanopy.search.subtree.forest`)."""

    leaves: Ints
    counts: Longs
    ancestor: Ints
    depth: Ints
    children: Longs
    worth: Floats


class Cut(NamedTuple):
    """The classes of the present cut, room for as many as there are records.

    `unsafe[c]` is 1 where a class is suppressed. For the split of class `c` along column `j`, `small[c, j]` are the
    rows of parts below `k`, `least[c, j]` the size of the smallest other part, `gain[c, j]` what published rows gain.
    """

    order: Longs
    begin: Longs
    end: Longs
    size: Longs
    at: Ints
    unsafe: Flags
    small: Longs
    least: Longs
    gain: Floats


def make_cut(records: int, width: int) -> Cut:
    """Empty arrays."""
    return Cut(
        order=np.arange(records, dtype=np.int64),
        begin=np.zeros(records, np.int64),
        end=np.zeros(records, np.int64),
        size=np.zeros(records, np.int64),
        at=np.zeros((records, width), np.int32),
        unsafe=np.zeros(records, np.uint8),
        small=np.zeros((records, width), np.int64),
        least=np.zeros((records, width), np.int64),
        gain=np.zeros((records, width)),
    )


@kernel()
def foresee(records: Records, cut: Cut, classes: Longs, k: int, held: Longs, touched: Ints) -> None:
    """For some classes, what splitting them would do, column by column.

    `held` (zeros, one per node) and `touched` (one per node) are scratch.
    """
    width = cut.at.shape[1]
    for c in classes:
        whole = 0.0
        for j in range(width):
            whole += records.worth[cut.at[c, j]]
        for j in range(width):
            v = cut.at[c, j]
            small = np.int64(0)
            least = NOTHING
            gain = 0.0
            if records.children[v] > 0:
                below = records.depth[v] + 1
                found = 0
                for i in range(cut.begin[c], cut.end[c]):
                    record = cut.order[i]
                    child = records.ancestor[below, records.leaves[record, j]]
                    if held[child] == 0:
                        touched[found] = child
                        found += 1
                    held[child] += records.counts[record]
                for i in range(found):
                    child = touched[i]
                    rows = held[child]
                    held[child] = 0
                    if rows < k:
                        small += rows
                    else:
                        least = min(least, rows)
                        gain += rows * (records.worth[child] - records.worth[v])
                gain = 0.0 if cut.unsafe[c] else gain - small * whole
            cut.small[c, j] = small
            cut.least[c, j] = least
            cut.gain[c, j] = gain


@kernel()
def split(records: Records, cut: Cut, classes: int, j: int, v: int, held: Longs, changed: Longs) -> tuple[int, int]:
    """Split every class under node `v` of column `j` into its children; parts are in the order of the children.

    Writes the numbers of the classes that are new or smaller to `changed`; returns the number of classes and of those.
    `held` (zeros, one per node) is scratch.
    """
    below = records.depth[v] + 1
    width = cut.at.shape[1]
    found = 0
    before = classes
    for c in range(before):
        if cut.at[c, j] != v:
            continue
        begin, end = cut.begin[c], cut.end[c]
        members = np.empty(end - begin, np.int64)
        children = np.empty(end - begin, np.int32)
        kinds = np.empty(end - begin, np.int32)
        kind_count = 0
        for i in range(end - begin):
            record = cut.order[begin + i]
            child = records.ancestor[below, records.leaves[record, j]]
            members[i] = record
            children[i] = child
            if held[child] == 0:
                kinds[kind_count] = child
                kind_count += 1
            held[child] += 1
        used = np.sort(kinds[:kind_count])
        place = begin
        for child in used:
            length = held[child]
            held[child] = place
            number = c if place == begin else classes
            if place != begin:
                classes += 1
                for i in range(width):
                    cut.at[number, i] = cut.at[c, i]
            cut.begin[number] = place
            cut.end[number] = place + length
            cut.size[number] = 0
            cut.at[number, j] = child
            changed[found] = number
            found += 1
            place += length
        for i in range(end - begin):
            cut.order[held[children[i]]] = members[i]
            held[children[i]] += 1
        for child in used:
            held[child] = 0
    for i in range(found):
        number = changed[i]
        for at in range(cut.begin[number], cut.end[number]):
            cut.size[number] += records.counts[cut.order[at]]
    return classes, found


class Outlook(NamedTuple):
    """Per node of the cut, over the classes under it: suppressed rows now, small rows after its split, its gain, the
    smallest published class now and after, and how many classes there are."""

    gone: Longs
    small: Longs
    gain: Floats
    least_now: Longs
    least_after: Longs
    classes: Longs


def make_outlook(nodes: int) -> Outlook:
    """Empty arrays."""
    whole = [np.zeros(nodes, np.int64) for _ in range(5)]
    return Outlook(whole[0], whole[1], np.zeros(nodes), whole[2], whole[3], whole[4])


@kernel()
def look_ahead(cut: Cut, classes: int, outlook: Outlook) -> None:
    """Add up what is foreseen for the classes under every node."""
    for v in range(len(outlook.gone)):
        outlook.gone[v] = 0
        outlook.small[v] = 0
        outlook.gain[v] = 0.0
        outlook.least_now[v] = NOTHING
        outlook.least_after[v] = NOTHING
        outlook.classes[v] = 0
    for c in range(classes):
        size = cut.size[c]
        unsafe = cut.unsafe[c] > 0
        for j in range(cut.at.shape[1]):
            v = cut.at[c, j]
            outlook.classes[v] += 1
            outlook.small[v] += cut.small[c, j]
            outlook.gain[v] += cut.gain[c, j]
            outlook.least_after[v] = min(outlook.least_after[v], cut.least[c, j])
            if unsafe:
                outlook.gone[v] += size
            else:
                outlook.least_now[v] = min(outlook.least_now[v], size)
