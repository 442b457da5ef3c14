"""Classes that a model finds unsafe are united with others until none is: once, wherever classes lie."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import Histogram
from kanopy._errors import NoSolution
from kanopy._progress import SILENT, Progress
from kanopy.search.judge import ClassJudge
from kanopy.search.problem import Problem

PARTNERS = 16
"""How many of its cheapest partners a class looks at."""


class Space(Protocol):
    """Where classes lie and what uniting them costs. Items are rows of the table."""

    @property
    def rows(self) -> Longs:
        """The row of the table behind each item."""
        ...

    def settle(self, class_of: Ints) -> Ints:
        """The class of every item, one number for all classes that publish the same labels, from 0 without gaps."""
        ...

    def partners(self, asking: Longs) -> tuple[Ints, Floats]:
        """For some of the settled classes the cheapest to unite with, best first (-1: no more), and what that costs."""
        ...


def unite_unsafe(space: Space, class_of: Ints, problem: Problem, progress: Progress = SILENT) -> tuple[Ints, int]:
    """Unite classes of items (-1: suppressed) that a model finds unsafe until none is; also how many were united.

    Every unsafe class joins, of the classes where the loss grows least, the first that makes both safe, or simply the
    first where none does. Classes that publish the same labels are judged as one. Rows of a class without any partner
    are suppressed while the problem allows it.
    """
    judge = ClassJudge(problem)
    units = None if problem.domain.units is None else problem.domain.units.part(space.rows)
    united = 0
    while True:
        class_of = space.settle(class_of)
        count = int(class_of.max(initial=-1)) + 1
        sizes = np.bincount(class_of[class_of >= 0], minlength=count).astype(np.int64)
        tables = judge.histograms(class_of, count, space.rows)
        if units is not None:
            sizes = units.people(class_of, count)
        asking = np.flatnonzero(judge.unsafe_classes(sizes, tables))
        if not len(asking):
            return class_of, united
        progress("uniting unsafe classes", None, f"{len(asking):,} left")
        choice, rise = _choose(judge, sizes, tables, asking, *space.partners(asking))
        united_away = np.zeros(count, np.bool_)
        into = np.arange(count, dtype=np.int32)
        for i in np.argsort(rise, kind="stable"):
            c, other = int(asking[i]), int(choice[i])
            # A class whose partner has joined another one in this round asks again in the next.
            if united_away[c] or (other >= 0 and united_away[other]):
                continue
            into[c] = other
            united_away[c] = True
            if other >= 0:
                united_away[other] = True
                united += 1
        class_of = np.append(into, np.int32(-1))[class_of]
        if (class_of < 0).sum() > problem.max_suppressed_rows and (into < 0).any():
            wanted = " ".join(model.explain() for model in problem.models)
            raise NoSolution(
                f"No allowed generalization is safe for {int(sizes[into < 0].sum()):,} rows: {wanted}",
                advice=["loosen the privacy models", "allow rows to be suppressed", "allow higher levels"],
            )


def _choose(
    judge: ClassJudge, sizes: Longs, tables: dict[str, Histogram], asking: Longs, partners: Ints, growth: Floats
) -> tuple[Longs, Floats]:
    """Per class that asks its partner: the cheapest that makes both safe, else the cheapest; -1 where there is none."""
    choice, rise = partners[:, 0].astype(np.int64), growth[:, 0].copy()
    open_ = np.ones(len(asking), np.bool_)
    for rank in range(partners.shape[1]):
        rows = np.flatnonzero(open_ & (partners[:, rank] >= 0))
        if not len(rows):
            break
        one, other = asking[rows], partners[rows, rank]
        both = {name: table[one] + table[other] for name, table in tables.items()}
        safe = rows[~judge.unsafe_classes(sizes[one] + sizes[other], both)]
        choice[safe], rise[safe] = partners[safe, rank], growth[safe, rank]
        open_[safe] = False
    return choice, rise
