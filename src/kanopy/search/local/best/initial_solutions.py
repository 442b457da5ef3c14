"""Where the stages of a search begin: classes found in quite another way than by improving those at hand."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints
from kanopy._errors import Cancelled
from kanopy._progress import Progress
from kanopy.metrics.full_domain import Loss
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.certificate import stretches
from kanopy.search.bound.dual_prices import MOST_COMBINATIONS, DualPrices
from kanopy.search.bound.level_chains import left_out, make_level_chains
from kanopy.search.budget import Budget, so_far
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.local.best.box_selection import BoxChoice
from kanopy.search.local.best.cover import Covering
from kanopy.search.local.best.initial_classes import bottom_up
from kanopy.search.local.boxes import Layout, box_levels, lay_out, partition_cost
from kanopy.search.local.iterations import Rounds
from kanopy.search.problem import Problem

FROM_ROUNDS = 8
"""From this k on, rounds of full-domain search often give the better start; below they are tried once, where there is
more time than this per row, for a smaller part of a stage."""
LITTLE_SECONDS_PER_ROW, TRIAL_SHARE = 8e-5, 0.1
MOST_CANDIDATES = 200_000
"""With more candidates a round takes too long."""
ROUNDS_SHARE = 0.4
"""The part of a stage that rounds may take."""
COVER_FROM = 20
COVER_SECONDS_PER_ROW = 3e-4
COVER_SHARE = 0.75
"""From this k on, with so much time per row, and where no boxes are suggested, a cover of boxes takes most of a stage:
with less time it has not cooled down, with smaller k there are too many classes to open."""
PRICES_SECONDS_PER_ROW, PRICES_SHARE, PRICES_PASSES = 3e-4, 0.5, 6
"""With so much time per row, a stage begins with the linear program behind the lower bound, which takes up to this part
of it and so many passes through all boxes."""
LEAST_CHOSEN, LEAST_SUGGESTED = 1e-3, 0.01
"""Classes of which the program chooses less than this are left to the merging; boxes of which it chooses at least so
much of a class are suggested."""


class Starts:
    """Where the stages of a search begin: the best so far, or classes found in quite another way if they are better.

    Which way pays depends on the table, so it is tried: rounds of full-domain search, and a cover of boxes where there
    is time for one to cool down. A way that loses twice (for small k, once) is not tried again; where covers lose,
    rounds have their turn.
    Once there is time for it, a linear program suggests boxes, and a stage goes on by choosing among them.
    """

    def __init__(self, layout: Layout, problem: Problem, k: int, seed: int, threads: int = 1) -> None:
        self.layout, self.problem, self.k, self.seed, self.threads = layout, problem, k, seed, threads
        self.prices: DualPrices | None = None
        self.choice: BoxChoice | None = None
        """The boxes that were suggested, and the search among them."""
        self.lost = {"rounds": 0, "cover": 0}
        self.left: float | None = None
        self.stopped = False
        """Whether the caller said stop meanwhile."""

    def next(self, best: Ints, work: Budget, stage: float, progress: Progress) -> Ints:
        """The classes that a stage of so many seconds begins with: `best`, or better ones."""
        layout, k = self.layout, self.k
        per_row = stage / len(layout.rows)
        if layout.stratum.any():
            return best
        if self.prices is None and per_row >= PRICES_SECONDS_PER_ROW:
            best = self.by_prices(best, work.part(PRICES_SHARE * stage), progress)
        if self.choice is not None:
            return best
        if k < FROM_ROUNDS and per_row < LITTLE_SECONDS_PER_ROW:
            return best
        covers = k >= COVER_FROM and per_row >= COVER_SECONDS_PER_ROW and self.lost["cover"] < 2
        way = "cover" if covers else "rounds"
        # The more a round may leave, the better the classes, and the more rounds it takes.
        leave = 0.9 if per_row < LITTLE_SECONDS_PER_ROW else 0.95 if per_row < 5e-4 else 0.99
        if self.lost[way] > (k >= FROM_ROUNDS) or (leave == self.left and not covers):
            return best
        if covers:
            class_of, self.stopped = by_cover(layout, k, best, work.part(COVER_SHARE * stage), self.seed, progress)
        else:
            self.left = leave
            share = ROUNDS_SHARE if k >= FROM_ROUNDS else TRIAL_SHARE
            class_of = by_rounds(layout, self.problem, k, best, work.part(share * stage), progress, leave)
        self.lost[way] += class_of is best
        return class_of

    @property
    def floor(self) -> float:
        """A loss that no classes can go below, as far as prices say; 0 if there are none, or for larger classes."""
        honest = self.prices is not None and self.prices.history and self.k == self.problem.k
        # Found with rounded numbers, and shown only: a bound that is reported has a check in whole numbers.
        return self.prices.history[-1] * (1 - 1e-9) if honest and self.prices is not None else 0.0

    def by_prices(self, best: Ints, work: Budget, progress: Progress) -> Ints:
        """The classes that the linear program behind the lower bound chooses most of; `best` if it has no time to.

        They need not be better at once: what is left over is merged without much choice, which the choice among the
        boxes of both, and of all that the program chooses a part of, is to mend.
        """
        layout, problem, k = self.layout, self.problem, self.k
        ladders = make_level_chains(problem, MOST_COMBINATIONS)
        if left_out(problem, ladders):
            return best
        prices = self.prices = DualPrices(
            problem, ladders, PRICES_PASSES, progress, work, self.threads, k=k, set_aside=0, limited=True
        )
        prices.run(work.seconds, PRICES_PASSES)
        if work.cut or prices.own_passes < 2:
            return best
        self.choice = BoxChoice(layout, k, self.seed, *self._suggested(prices))
        self.choice.add(best)
        of_item = np.full(len(layout.rows), -1, np.int32)
        record = prices.priced.record_of_tuple[problem.domain.tuple_of_row[layout.rows]]
        by_record = np.argsort(record, kind="stable")
        free = np.searchsorted(record[by_record], np.arange(prices.records))
        left = np.bincount(record, minlength=prices.records)
        classes = 0
        for records, rows in prices.chosen(LEAST_CHOSEN):
            while (left[records] >= rows).all() and left.sum() - rows.sum() >= k:
                for t, n in zip(records.tolist(), rows.tolist(), strict=True):
                    of_item[by_record[free[t] : free[t] + n]] = classes
                    free[t] += n
                left[records] -= rows
                classes += 1
        return _with_the_rest_merged(problem, layout, of_item, k, progress, work)

    def _suggested(self, prices: DualPrices) -> tuple[Ints, Ints, Floats]:
        """The boxes that the program chooses a part of: a record, levels and the weight of each."""
        layout, pool = self.layout, prices.pool
        boxes, of_cut = np.unique(pool.box, return_inverse=True)
        weight_of_box = np.bincount(of_cut.reshape(-1), pool.pressure / np.maximum(pool.size, 1.0), len(boxes))
        chosen, pool_boxes = boxes[weight_of_box >= LEAST_SUGGESTED], pool.boxes()
        lengths = np.diff(pool_boxes.start)[chosen]
        of_priced = np.zeros(prices.records, np.int32)
        of_priced[prices.priced.record_of_tuple[self.problem.domain.tuple_of_row[layout.rows]]] = layout.record_of_item
        held = of_priced[pool_boxes.record[stretches(pool_boxes.start[chosen], lengths)]]
        starts = (np.cumsum(lengths) - lengths).astype(np.int64)
        return held[starts], *box_levels(layout.boxes, held, starts)


def by_cover(layout: Layout, k: int, start: Ints, work: Budget, seed: int, progress: Progress) -> tuple[Ints, bool]:
    """Classes of a cover of boxes opened where they gain most (`start` if that is better); whether it was stopped."""
    stopped = False
    covering = Covering(layout.boxes, layout.counts, k, seed)
    try:
        while not work.over:
            covering.round(1 - work.done)
            work.spend(covering.round_seconds)
            progress("covering", work.done, so_far("loss", layout.loss(covering.best_cost, 0)))
    except (Cancelled, KeyboardInterrupt):
        stopped = True
    class_of: Ints = np.repeat(covering.best, layout.counts).astype(np.int32)
    return (class_of if partition_cost(layout, class_of) < partition_cost(layout, start) else start), stopped


def by_rounds(
    layout: Layout, problem: Problem, k: int, start: Ints, work: Budget, progress: Progress, leave: float = 0.9
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
    if len(rounds.open) < 2 * k:
        class_of = rounds.with_left_over()
    else:
        class_of = _with_the_rest_merged(of_sizes, layout, rounds.class_of_row[layout.rows], k, progress, work)
    return class_of if partition_cost(layout, class_of) < partition_cost(layout, start) else start


def _with_the_rest_merged(
    problem: Problem, layout: Layout, of_item: Ints, k: int, progress: Progress, work: Budget
) -> Ints:
    """The class of every item; those in none yet are merged among themselves."""
    left = np.flatnonzero(of_item < 0)
    left = left[np.argsort(layout.rows[left])]
    rest = lay_out(problem.changed(domain=problem.domain.part(layout.rows[left])))
    class_of = of_item.copy()
    class_of[left[rest.rows]] = bottom_up(rest, k, progress, work) + int(of_item.max(initial=-1)) + 1
    return class_of
