"""A proved lower bound on the loss of any local recoding: prices that no class can fail to pay.

Give every row a price so that in every generalization box with at least k rows the k dearest rows cost, on average, no
more than the box's weight (what each row in it loses). A class of any recoding has at least k rows and lies in its
box, so its rows together cost at most what the class loses; all prices together cost at most what any recoding loses.
This is a feasible solution of the dual of the set-partition program, found by multiplicative updates.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy.classes import Floats
from kanopy.errors import Cancelled, JobError
from kanopy.kernels.boxes import AGREE, AT, LEVELS, VALUES, Boxes, Shorts
from kanopy.kernels.prices import price_boxes
from kanopy.progress import SILENT, Progress
from kanopy.search.best import row_weights
from kanopy.search.boxes import FORBIDDEN, Layout, lay_out
from kanopy.search.kmember import check_k
from kanopy.search.problem import Problem

MOST_NODES = 200_000
"""Level combinations to look at; with more, the attributes that tell most apart for least weight are left out."""
PACE, LEAP, STARTS = 0.6, 1.1, 2
MARGIN = 1e-12
"""Boxes must be honest with this relative margin, far above the rounding of sums of k prices."""


@dataclass(frozen=True, eq=False)
class Bound:
    """No local recoding of this problem has a `loss` below `value`.

    `prices` is one per distinct record of the layout, `passes` how often they were improved, `checked` how many level
    combinations the final prices were checked against, `left_out` attributes counted as costing nothing.
    """

    value: float
    prices: Floats
    passes: int
    checked: int
    left_out: tuple[str, ...] = ()

    def to_dict(self, loss: float) -> dict[str, Any]:
        """Plain data beside the loss of a release."""
        return {
            "loss": loss,
            "bound": self.value,
            "gap": self.gap(loss),
            "passes": self.passes,
            "checked": self.checked,
            "left_out": list(self.left_out),
        }

    def gap(self, loss: float) -> float:
        """How much of a loss may be avoidable, at most: 0 is proved optimal."""
        return 0.0 if loss <= 0 else max(0.0, 1.0 - self.value / loss)


def lower_bound(
    problem: Problem, *, passes: int = 8, budget_seconds: float | None = None, progress: Progress = SILENT
) -> Bound:
    """A lower bound on the `loss` of any release of the problem with these hierarchies, levels, weights and k.

    Valid for any further privacy model (they only take releases away) and with suppression (a suppressed row loses
    everything, which is never less than its price). More passes give a higher bound; stopping early, by budget or
    by the callback, gives the best bound proved so far.

    >>> import numpy as np
    >>> from kanopy.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    >>> rows = np.arange(4, dtype=np.int32)
    >>> one = Domain(("letter",), (tree,), rows[:, None], np.ones(4, np.int64), rows)
    >>> round(lower_bound(Problem(one, [KAnonymity(2)])).value, 6)
    0.333333
    """
    if passes < 1:
        raise JobError(f"The bound needs at least one pass, not {passes}.")
    started = time.perf_counter()
    layout = lay_out(problem)
    check_k(problem.k, len(layout.rows))
    search = _Prices(layout, problem)
    best, done = np.zeros(layout.records), 0
    try:
        for done in range(1, passes + 1):
            found = search.improve(done, passes, progress)
            if float(found @ layout.counts) > float(best @ layout.counts):
                best = found
            if budget_seconds is not None and time.perf_counter() - started > budget_seconds:
                break
    except (Cancelled, KeyboardInterrupt):
        done -= 1
    best, checked = search.certify(best, progress)
    value = layout.loss(float(best @ layout.counts), 0)
    return Bound(value, best, done, checked, search.left_out)


class _Prices:
    """Prices under improvement."""

    def __init__(self, layout: Layout, problem: Problem) -> None:
        self.layout, self.k = layout, problem.k
        self.boxes, self.left_out = _manageable(layout, problem)
        # A row that no allowed box can hold is suppressed; a suppressed row loses this much.
        self.most = np.full(layout.records, layout.suppressed_weight)
        self.prices: Floats | None = None

    def _judge(
        self, prices: Floats, stage: str, fraction: float, progress: Progress
    ) -> tuple[Floats, Floats, Floats, int]:
        """Ratios (inside, among the dearest), cheapest weights, and how many level combinations were looked at.

        Boxes that weigh at least as much as the dearest row are honest without a look.
        """
        records = self.layout.records
        nodes = _nodes_below(self.boxes, float(prices.max()) * (1 + 1e-9))
        inside, among = np.zeros(records), np.zeros(records)
        cheapest = np.full(records, np.inf)
        order = np.argsort(-prices, kind="stable")
        step = max(1, 4_000_000 // max(1, records))
        for begin in range(0, len(nodes), step):
            progress(stage, fraction, f"{begin:,} of {len(nodes):,} level combinations")
            stop = min(len(nodes), begin + step)
            price_boxes(
                self.boxes, order, prices, self.layout.counts, nodes, begin, stop, self.k, inside, among, cheapest
            )
        return inside, among, cheapest, len(nodes)

    def improve(self, number: int, passes: int, progress: Progress) -> Floats:
        """One pass: judge the prices, derive honest ones from them, and raise or lower them for the next pass."""
        if self.prices is None:
            self.prices = self._start(progress)
        inside, among, _, _ = self._judge(self.prices, "pricing rows", (number - 1) / passes, progress)
        honest = self.prices / np.maximum(inside, 1.0)
        # Prices among the dearest of some box follow its ratio; the others may rise, but not by leaps.
        change = np.clip(np.where(among > 0, np.maximum(among, 1e-9), 1.0) ** -PACE, 0.0, LEAP)
        self.prices = np.minimum(self.prices * change, self.most)
        return np.asarray(honest, np.float64)

    def _start(self, progress: Progress) -> Floats:
        """What rows lose in a good release: there the prices of each class add up to exactly what it loses."""
        weights = np.zeros(self.layout.records)
        for seed in range(STARTS):
            weights += row_weights(self.layout, self.k, seed, progress)
        return np.asarray(np.minimum(weights / STARTS, self.most), np.float64)

    def certify(self, prices: Floats, progress: Progress) -> tuple[Floats, int]:
        """Prices that pass the check with a margin, lowered where they do not; and how many combinations it took."""
        prices = prices * (1 - 2 * MARGIN)
        while True:
            inside, _, _, checked = self._judge(prices, "checking the bound", 0.99, progress)
            if float(inside.max(initial=0.0)) * (1 + MARGIN) <= 1.0:
                return prices, checked
            prices = prices / np.where(inside * (1 + MARGIN) > 1.0, inside * (1 + 4 * MARGIN), 1.0)


def _nodes_below(boxes: Boxes, dearest: float) -> Shorts:
    """All level combinations with a box that weighs less than `dearest`, broad attributes first."""
    found = np.zeros((1, 0), np.int16)
    spent = np.zeros(1)
    for j in range(len(boxes.head)):
        size, levels, at = (int(boxes.head[j, column]) for column in (VALUES, LEVELS, AT))
        least = boxes.weights[at : at + size * levels].reshape(levels, size).min(axis=1)
        spent_here = (spent[:, None] + least[None, :]).reshape(-1)
        grown = np.column_stack(
            [np.repeat(found, levels, axis=0), np.tile(np.arange(levels, dtype=np.int16), len(found))]
        )
        keep = spent_here < dearest
        found, spent = grown[keep].astype(np.int16), spent_here[keep]
    return np.ascontiguousarray(found)


def _manageable(layout: Layout, problem: Problem) -> tuple[Boxes, tuple[str, ...]]:
    """Boxes with few enough level combinations: attributes beyond that count as costing nothing.

    That only lowers the bound: a box without an attribute holds more rows and weighs less.
    """
    boxes = layout.boxes
    head, weights, codes = boxes.head.copy(), boxes.weights.copy(), boxes.codes.copy()
    left_out: list[int] = []

    def too_many() -> bool:
        cells, values = 1, 1
        for j in range(len(head)):
            cells *= int(head[j, LEVELS])
            values *= int(head[j, VALUES]) if int(head[j, LEVELS]) > 1 else 1
        return cells > MOST_NODES or values >= 2**62

    while too_many():
        # The attribute that saves most combinations per weight lost.
        j = max(
            (j for j in range(len(head)) if j not in left_out),
            key=lambda j: np.log(head[j, LEVELS]) / (problem.weights[j] + 1e-9),
        )
        size, at = int(head[j, VALUES]), int(head[j, AT])
        head[j, LEVELS], head[j, VALUES], head[j, AGREE] = 1, size, -1
        codes[at : at + size] = 0
        weights[at : at + size] = 0.0
        left_out.append(j)
    names = tuple(problem.domain.names[j] for j in sorted(left_out))
    return Boxes(boxes.tuples, head, codes, np.minimum(weights, FORBIDDEN), boxes.agree), names
