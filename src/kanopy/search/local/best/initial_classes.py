"""The first classes of a search: merged bottom-up, or cut top-down."""

from __future__ import annotations

from functools import partial
from threading import Event

import numpy as np

from kanopy._arrays import Ints
from kanopy._progress import Progress
from kanopy.search.budget import Budget, at_once
from kanopy.search.clustering.mondrian import mondrian_groups
from kanopy.search.local.best.agglomerate_kernel import agglomerate, make_units
from kanopy.search.local.boxes import Layout
from kanopy.search.local.chunks import chunk_records

CHUNK_ROWS = 500
"""Rows per chunk of the bottom-up merging: its work grows with their square, and the improvement mends the seams."""
MERGED_AT_ONCE = 16
CUT_FROM = 50
"""Above this k the start is cut top-down: quicker than merging, and as good."""
CUT_SECONDS, MERGE_SECONDS = 1e-6, 1.8e-9
"""Seconds of an ordinary machine for a row that is cut, and for two records compared in one column."""


def bottom_up(layout: Layout, k: int, progress: Progress, work: Budget | None = None, threads: int = 1) -> Ints:
    """The class of every item after merging within chunks; -1 for items that no class can hold."""
    work = work or Budget(None)
    if k > CUT_FROM and not layout.stratum.any():
        progress("cutting")
        work.spend(CUT_SECONDS * len(layout.rows))
        return cut_classes(layout, k, progress)
    order, starts = chunk_records(layout, max(CHUNK_ROWS, 8 * k), k)
    owner = np.full(layout.records, -1, np.int32)
    chunks = len(starts) - 1
    pairs = float((np.diff(starts).astype(np.float64) ** 2).sum())
    work.spend(MERGE_SECONDS * layout.lookups * pairs + 2e-7 * len(layout.rows))
    joins, longest = layout.joins, int(np.diff(starts).max(initial=1))
    threads = max(1, min(threads, chunks // MERGED_AT_ONCE))
    stop, done = Event(), np.zeros(threads, np.int64)

    def merge(worker: int) -> None:
        # Which thread merges a chunk changes nothing: chunks have nothing in common, and nothing is left to chance.
        units, random = make_units(longest, layout.boxes.tuples.shape[1]), np.ones(1, np.uint64)
        for begin in range(worker * MERGED_AT_ONCE, chunks, threads * MERGED_AT_ONCE):
            if stop.is_set():
                return
            end = min(chunks, begin + MERGED_AT_ONCE)
            agglomerate(joins, order, starts, layout.counts, k, begin, end, units, random, owner)
            done[worker] += end - begin

    def look() -> None:
        progress("merging", int(done.sum()) / max(1, chunks))

    look()
    at_once([partial(merge, worker) for worker in range(threads)], threads, look, stop)
    return np.repeat(owner, layout.counts)


def cut_classes(layout: Layout, k: int, progress: Progress) -> Ints:
    """The class of every item after Mondrian's cuts: for large k as good a start as merging, and much quicker."""
    groups = mondrian_groups(layout.domain, k, progress=progress)
    return groups.of_row[layout.rows]
