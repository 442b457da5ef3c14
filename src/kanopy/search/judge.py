"""What every search asks, and what it is told: one interface for judges, one form of their answers.

A candidate is whatever a search changes step by step: a level per column (`Problem`, `LevelJudge`), a cut through each
hierarchy (`CutJudge`), sets of values (`SetJudge`). Each has a judge that groups rows in its own quick way; all of them
answer with a `Judgement`, and all that know more models than k-anonymity ask `ClassJudge`, or `Problem.verdict`, which
classes are unsafe. Tests compare the judges on candidates that several of them can look at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Longs, Mask
from kanopy._core.classes import Classes, rows_by_group
from kanopy._core.histograms import Histogram, sensitive_histograms, summed
from kanopy._lazy import cached_property
from kanopy.search.lattice import Levels

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

SCORE_TOLERANCE = 1e-12
WEIGHTS = "\0weights"
"""Sampling weights, in whole numbers, go with the histograms as a column of one value: they are added up alike."""
Numbers = npt.NDArray[np.integer[Any]]
Candidate = TypeVar("Candidate", contravariant=True)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a judge says of a candidate. `suppressed_rows` leaves out rows excluded from the start; the score of what
    is not feasible is infinite where nobody needs it."""

    feasible: bool
    score: float
    suppressed_rows: int

    def better_than(self, other: Judgement | None) -> bool:
        """Feasible, then fewer rows to suppress where neither is, then the lower score."""
        return other is None or self.rank < other.rank

    @property
    def rank(self) -> tuple[int, float]:
        """What candidates are sorted by, the best first."""
        return (0, self.score) if self.feasible else (1 + self.suppressed_rows, math.inf)


@dataclass(frozen=True, kw_only=True)
class LevelJudgement(Judgement):
    """What a judge says of a full-domain candidate."""

    levels: Levels
    classes: int = 0
    all_classes: int = 0
    all_squares: int = 0
    least_suppressed: int = 0
    """Rows that this candidate and every finer one must suppress."""

    def better_than(self, other: Judgement | None) -> bool:
        """Lower score; at a tie the smaller sum of levels, then the first in lexicographic order."""
        if other is None:
            return True
        assert isinstance(other, LevelJudgement)
        if abs(self.score - other.score) > SCORE_TOLERANCE * (1.0 + abs(other.score)):
            return self.score < other.score
        return (sum(self.levels), self.levels) < (sum(other.levels), other.levels)


def ceiling_of(best: Judgement | None) -> float:
    """Candidates whose bound lies above this cannot win, not even by a tie."""
    return math.inf if best is None else best.score + SCORE_TOLERANCE * (1.0 + abs(best.score))


def best_of(scores: Floats, judgement: Callable[[int], LevelJudgement]) -> LevelJudgement | None:
    """The judgement of the candidate with the least score, ties decided as everywhere; `None` if all are infinite."""
    least = float(scores.min(initial=math.inf))
    best: LevelJudgement | None = None
    if math.isfinite(least):
        for number in np.flatnonzero(scores <= least + SCORE_TOLERANCE * (1.0 + abs(least))).tolist():
            candidate = judgement(number)
            best = candidate if candidate.better_than(best) else best
    return best


class Judge(Protocol[Candidate]):
    """Judges candidates of one kind."""

    def evaluate(self, candidate: Candidate, /, ceiling: float = math.inf) -> Judgement:
        """Judge a candidate; one that cannot score `ceiling` or less may be called infeasible without a close look."""
        ...


class ClassJudge:
    """Asks the models of a problem about classes that are sets of distinct tuples, or any groups of rows.

    For models that judge one class at a time. With `unit_of_tuple` the classes are sets of units instead, where a unit
    is a set of tuples.

    >>> from kanopy.search.example import letters
    >>> ClassJudge(letters("abbc")).unsafe(np.array([0, 0, 1]), 2).tolist()
    [False, True]
    """

    def __init__(self, problem: Problem, unit_of_tuple: Numbers | None = None) -> None:
        self.problem = problem
        self._unit_of_tuple = unit_of_tuple

    @cached_property
    def _counts(self) -> Longs:
        counts: Longs = self.problem.domain.counts
        return counts if self._unit_of_tuple is None else self._of_units(counts)

    @cached_property
    def _histogram(self) -> Histogram | None:
        class_statistics = self.problem.class_statistics
        histogram = class_statistics.tuples().histogram if class_statistics.columns else None
        return histogram if self._unit_of_tuple is None or histogram is None else self._of_units(histogram)

    @cached_property
    def _weights(self) -> Longs | None:
        class_statistics = self.problem.class_statistics
        if class_statistics.survey is None:
            return None
        return (
            class_statistics.weight_of_tuple
            if self._unit_of_tuple is None
            else self._of_units(class_statistics.weight_of_tuple)
        )

    def _of_units(self, counted: Numbers) -> Longs:
        assert self._unit_of_tuple is not None
        return summed(counted, self._unit_of_tuple, int(self._unit_of_tuple.max()) + 1)

    def unsafe(self, class_of_tuple: Numbers, count: int, members: Numbers | None = None) -> Mask:
        """Which classes some model finds unsafe; classes without rows are safe.

        With `members`, only these tuples (or units) are there, and `class_of_tuple` has one entry for each of them.
        """

        def total(counted: Numbers) -> Longs:
            return summed(counted if members is None else counted[members], class_of_tuple, count)

        histograms: dict[str, Histogram] = {}
        if not self.problem.of_sizes and self._histogram is not None:
            histograms = self.problem.class_statistics.by_column(total(self._histogram))
        if self._weights is not None:
            histograms[WEIGHTS] = total(self._weights)[:, None]
        return self.unsafe_classes(total(self._counts), histograms)

    def unsafe_classes(self, sizes: Longs, histograms: Mapping[str, Histogram]) -> Mask:
        """The same for classes whose rows and values of sensitive columns are counted already."""
        wrong = sizes < self.problem.k
        if not self.problem.of_sizes:
            class_statistics, weights = self.problem.class_statistics, histograms.get(WEIGHTS)
            people = None if weights is None else weights[:, 0] / class_statistics.weight_scale
            classes = Classes(sizes, histograms=histograms, facts=class_statistics.facts, weights=people)
            for model in self.problem.models:
                wrong |= model.violated(classes)
        return np.asarray(wrong & (sizes > 0), np.bool_)

    def unsafe_groups(self, group_of_row: Numbers, count: int) -> Mask:
        """The same for groups of rows, where equal tuples may be in different groups."""
        sizes = rows_by_group(group_of_row, count, self.problem.domain.multiplicity)
        return self.unsafe_classes(sizes, self.histograms(group_of_row, count))

    def histograms(self, groups: Numbers, count: int, rows: Numbers | None = None) -> dict[str, Histogram]:
        """What the models look at, counted by group; `groups` has an entry per row of the table, or of `rows`."""
        class_statistics = self.problem.class_statistics
        tables = sensitive_histograms(class_statistics.sensitive, groups, count, rows)
        if class_statistics.survey is not None:
            weights = class_statistics.weight_of_row if rows is None else class_statistics.weight_of_row[rows]
            tables[WEIGHTS] = summed(weights, groups, count)[:, None]
        return tables
