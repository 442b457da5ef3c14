"""The classes that an improvement starts from: merged bottom-up, cut top-down, or published in rounds."""

from __future__ import annotations

from functools import partial
from threading import Event

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.metrics.full_domain import Loss
from kanopy.privacy.models import KAnonymity
from kanopy.search.clustering.mondrian import mondrian_groups
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.local.best.agglomerate_kernel import agglomerate, make_units
from kanopy.search.local.best.cover import Covering
from kanopy.search.local.boxes import Layout, lay_out, partition_cost
from kanopy.search.local.chunks import chunk_records
from kanopy.search.local.rounds import Rounds
from kanopy.search.problem import Problem
from kanopy.search.work import Work, at_once

CHUNK_ROWS = 500
"""Rows per chunk of the bottom-up merging: its work grows with their square, and the improvement mends the seams."""
MERGED_AT_ONCE = 16
CUT_FROM = 50
"""Above this k the start is cut top-down: quicker than merging, and as good."""
CUT_SECONDS, MERGE_SECONDS = 1e-6, 1.8e-9
"""Seconds of an ordinary machine for a row that is cut, and for two records compared in one column."""
FROM_ROUNDS = 8
"""From this k on, rounds of full-domain search give the better start: measured on two tables, below it is even."""
MOST_CANDIDATES = 200_000
"""With more candidates a round takes too long."""
ROUNDS_SHARE = 0.4
"""The part of a stage that rounds may take."""
COVER_FROM = 20
COVER_SECONDS_PER_ROW = 3e-4
COVER_SHARE = 0.75
"""From this k on, and with so much time per row, a cover of boxes takes most of a stage: with less time it has not
cooled down, with smaller k there are too many classes to open."""


def bottom_up(layout: Layout, k: int, progress: Progress, work: Work | None = None, threads: int = 1) -> Ints:
    """The class of every item after merging within chunks; -1 for items that no class can hold."""
    work = work or Work(None)
    if k > CUT_FROM and not layout.stratum.any():
        progress("cutting")
        work.spend(CUT_SECONDS * len(layout.rows))
        return cut_classes(layout, k, progress)
    order, starts = chunk_records(layout, max(CHUNK_ROWS, 8 * k), k)
    owner = np.full(layout.records, -1, np.int32)
    chunks = len(starts) - 1
    width = layout.boxes.tuples.shape[1]
    work.spend(MERGE_SECONDS * width * float((np.diff(starts).astype(np.float64) ** 2).sum()) + 2e-7 * len(layout.rows))
    joins, longest = layout.joins, int(np.diff(starts).max(initial=1))
    threads = max(1, min(threads, chunks // MERGED_AT_ONCE))
    stop, done = Event(), np.zeros(threads, np.int64)

    def merge(worker: int) -> None:
        # Which thread merges a chunk changes nothing: chunks have nothing in common, and nothing is left to chance.
        units, random = make_units(longest, width), np.ones(1, np.uint64)
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


class Starts:
    """Where the stages of a search begin: the best so far, or classes found in quite another way if they are better.

    Which way pays depends on the table, so it is tried: rounds of full-domain search, and a cover of boxes where there
    is time for one to cool down. A way that loses twice is not tried again; where covers lose, rounds have their turn.
    """

    def __init__(self, layout: Layout, problem: Problem, k: int, seed: int) -> None:
        self.layout, self.problem, self.k, self.seed = layout, problem, k, seed
        self.lost = {"rounds": 0, "cover": 0}
        self.left: float | None = None
        self.stopped = False
        """Whether the caller said stop meanwhile."""

    def next(self, best: Ints, work: Work, stage: float, progress: Progress) -> Ints:
        """The classes that a stage of so many seconds begins with: `best`, or better ones."""
        layout, k = self.layout, self.k
        per_row = stage / len(layout.rows)
        if k < FROM_ROUNDS or layout.stratum.any():
            return best
        covers = k >= COVER_FROM and per_row >= COVER_SECONDS_PER_ROW and self.lost["cover"] < 2
        way = "cover" if covers else "rounds"
        # The more a round may leave, the better the classes, and the more rounds it takes.
        leave = 0.9 if per_row < 8e-5 else 0.95 if per_row < 5e-4 else 0.99
        if self.lost[way] > 1 or (leave == self.left and not covers):
            return best
        if covers:
            found, self.stopped = by_cover(layout, k, best, work.part(COVER_SHARE * stage), self.seed, progress)
        else:
            self.left = leave
            found = by_rounds(layout, self.problem, k, best, work.part(ROUNDS_SHARE * stage), progress, leave)
        self.lost[way] += found is best
        return found


def by_cover(layout: Layout, k: int, start: Ints, work: Work, seed: int, progress: Progress) -> tuple[Ints, bool]:
    """Classes of a cover of boxes opened where they gain most (`start` if that is better); whether it was stopped."""
    stopped = False
    covering = Covering(layout.boxes, layout.counts, k, seed)
    try:
        while not work.over:
            covering.round(1 - work.done)
            work.spend(covering.round_seconds)
            progress("covering", work.done, f"loss {layout.loss(covering.best_cost, 0):.4f}")
    except (Cancelled, KeyboardInterrupt):
        stopped = True
    found: Ints = np.repeat(covering.best, layout.counts).astype(np.int32)
    return (found if partition_cost(layout, found) < partition_cost(layout, start) else start), stopped


def by_rounds(
    layout: Layout, problem: Problem, k: int, start: Ints, work: Work, progress: Progress, leave: float = 0.9
) -> Ints:
    """Classes published in rounds of full-domain search, or `start` if that is better or rounds take too long.

    Each round may leave a share of the open rows to the next, and publishes the others at the levels that lose least:
    large groups of rows that agree in what matters are found at once, which merging pairs does not see. Rows still open
    when the work is over are merged bottom-up.
    """
    if problem.lattice.size > MOST_CANDIDATES or layout.stratum.any():
        return start
    of_sizes = problem.changed(models=[KAnonymity(k)], metric=Loss(), suppression_limit=0.0)
    rounds = Rounds(layout, of_sizes, Optimal(most_candidates=MOST_CANDIDATES, threads=1))
    while len(rounds.open) >= 2 * k and not work.over:
        begun = rounds.work_seconds
        if not rounds.publish(leave, progress):
            break
        work.spend(rounds.work_seconds - begun)
    if work.cut:
        # What comes of half the rounds says nothing about what more of them would have brought.
        return start
    found = _with_the_rest_merged(rounds, layout, k, progress, work)
    return found if partition_cost(layout, found) < partition_cost(layout, start) else start


def _with_the_rest_merged(rounds: Rounds, layout: Layout, k: int, progress: Progress, work: Work) -> Ints:
    """The class of every item; rows still open are merged among themselves."""
    if len(rounds.open) < 2 * k:
        return rounds.with_left_over()
    whole, left = rounds.problem, rounds.open
    own = lay_out(whole.changed(domain=whole.domain.part(left)))
    of_row = rounds.class_of_row.copy()
    of_row[left[own.rows]] = bottom_up(own, k, progress, work) + rounds.classes
    found: Ints = of_row[layout.rows]
    return found
