"""Full-domain candidates judged by people: where several rows may be about the same unit, rows say too little.

A class never has more units than rows, and what `known` adds only asks for more: a candidate that fails by rows fails
by people. So the quick judges of rows go first, and this one looks at what they let through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Classes, ClassLabels, Recoding, full_domain_recoding
from kanopy._core.histograms import Histogram, summed
from kanopy._core.numbering import number_keys, number_lifted
from kanopy.privacy.models import KAnonymity
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Levels

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


@dataclass(frozen=True, eq=False)
class PeopleVerdict:
    """Which rows of some groups leave, how many of them every finer grouping loses too, and whether what stays is safe
    together."""

    gone: Mask
    least: int
    safe_together: bool = True


class PeopleJudge:
    """Asks the models of a problem about groups of rows, counted in units.

    The rows that leave are those of unsafe groups; where more than one row of a unit may be known, all rows of the
    units in them, again and again until what stays is safe.
    """

    def __init__(self, problem: Problem) -> None:
        units = problem.domain.units
        assert units is not None
        self.problem = problem
        # All rows stand unit by unit here, so that nothing has to be moved for every candidate.
        self.order = units.order
        assert self.order is None or not units.parents, "rows with parents stand unit by unit"
        self.units = units if self.order is None else replace(units, of_row=units.of_row[self.order])
        self.k = max((model.k for model in problem.models if isinstance(model, KAnonymity)), default=1)
        self.others = tuple(model for model in problem.models if not isinstance(model, KAnonymity))
        self._codes = {column.name: self._moved(column.code_of_row) for column in problem.class_statistics.sensitive}

    def _moved(self, of_row: Ints) -> Ints:
        return of_row if self.order is None else np.ascontiguousarray(of_row[self.order])

    def moved_back(self, of_row: Mask) -> Mask:
        """The same in the order of the table."""
        if self.order is None:
            return of_row
        in_table_order = np.empty_like(of_row)
        in_table_order[self.order] = of_row
        return in_table_order

    def look(
        self,
        group_of_row: Ints,
        count: int,
        *,
        most: int | None = None,
        population: Longs | None = None,
        labels: dict[str, ClassLabels] | None = None,
    ) -> PeopleVerdict:
        """Which rows (unit by unit) cannot be published in these groups; see `Units.leaving` for `most`."""
        units = self.units
        staying = group_of_row.astype(np.int64)
        staying[units.leaving(staying, count, self.k, most)] = -1
        least = int(((staying < 0) & (group_of_row >= 0)).sum())
        if not self.others or (most is not None and least > most):
            return PeopleVerdict((staying < 0) & (group_of_row >= 0), least)
        while True:
            classes = self.classes(staying, count, population, labels)
            wrong = np.zeros(count, np.bool_)
            for model in self.others:
                wrong |= model.violated(classes)
            wrong &= classes.sizes > 0
            leaving = np.append(wrong, False)[staying]
            if units.known != 1:
                leaving = np.isin(units.of_row, units.of_row[leaving]) & (staying >= 0)
            staying[leaving] = -1
            alone = units.known == 1 and not units.parents
            if not leaving.any() or (alone and not any(model.of_others for model in self.others)):
                break
            staying[units.leaving(staying, count, self.k)] = -1
        leaving_rows = (staying < 0) & (group_of_row >= 0)
        if all(model.monotonic_with_units for model in self.others):
            least = int(leaving_rows.sum())
        release_wide = [model for model in self.others if model.of_release]
        together = True
        if release_wide:
            published, everything = (self.classes(rows, count, population) for rows in (staying, group_of_row))
            if population is not None:
                published = replace(published, population=np.where(published.sizes > 0, population, 0))
            together = all(model.satisfied(published, everything) for model in release_wide)
        return PeopleVerdict(leaving_rows, least, together)

    def classes(
        self,
        group_of_row: Ints | Longs,
        count: int,
        population: Longs | None = None,
        labels: dict[str, ClassLabels] | None = None,
    ) -> Classes:
        """Groups of rows as models see them: units, and units by sensitive value."""
        class_statistics = self.problem.class_statistics
        histograms: dict[str, Histogram] = {
            name: self.units.histogram(group_of_row, codes, count, width)
            for (name, codes), width in zip(self._codes.items(), class_statistics.widths, strict=True)
        }
        sizes = self.units.people(group_of_row, count)
        facts = {name: self.problem.domain.facts[name] for name in self._codes}
        rows: dict[str, Any] = {}
        if any(model.of_others for model in self.others):
            rows = {"class_of_row": group_of_row, "units": self.units}
        return Classes(sizes, histograms=histograms, facts=facts, population=population, labels=labels or {}, **rows)


class PeopleOfLevels:
    """Judges full-domain candidates by people."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.judge = PeopleJudge(problem)
        people = problem.class_statistics.population
        # Tuples in the order in which units show them: looking up a row's class then walks through memory.
        of_row = self.judge._moved(problem.domain.tuple_of_row)
        self._tuple_of_row, first, counts = number_keys(of_row.astype(np.int64), len(problem.domain.tuples))
        self._own = len(counts)
        tuples = problem.domain.tuples[of_row[first]]
        tuples = tuples if people is None else np.concatenate([tuples, people.tuples])
        self._tuples = np.ascontiguousarray(tuples, np.int32)

    def _grouped(self, levels: Levels) -> tuple[Ints, Ints, Longs | None]:
        """The class of every row, the codes of every class, and what the population counts in each."""
        problem = self.problem
        picked = [h.level(level) for h, level in zip(problem.domain.hierarchies, levels, strict=True)]
        number, first, _ = number_lifted(
            self._tuples, [level.codes for level in picked], [level.size for level in picked]
        )
        codes = [level.codes[self._tuples[first, j]] for j, level in enumerate(picked)]
        own_tuples = self._own
        population = None
        if problem.class_statistics.population is not None:
            population = summed(problem.class_statistics.population.counts, number[own_tuples:], len(first))
        class_of_row = np.append(number[:own_tuples], np.int32(-1))[self._tuple_of_row]
        return class_of_row, np.column_stack(codes), population

    def _look(self, levels: Levels, most: int | None) -> tuple[PeopleVerdict, Ints, Ints]:
        problem = self.problem
        class_of_row, codes, population = self._grouped(levels)
        labels = {}
        for name in problem.class_statistics.quasi:
            j = problem.domain.names.index(name)
            hierarchy = problem.domain.hierarchies[j]
            labels[name] = ClassLabels(codes[:, j], hierarchy.labels_at(levels[j]), hierarchy)
        verdict = self.judge.look(class_of_row, len(codes), most=most, population=population, labels=labels)
        return verdict, class_of_row, codes

    def evaluate(self, levels: Levels) -> LevelJudgement:
        """Judge one candidate."""
        problem = self.problem
        limit = problem.max_suppressed_rows
        verdict, class_of_row, codes = self._look(levels, limit)
        count = len(codes)
        there = class_of_row >= 0
        sizes = np.bincount(class_of_row[there], minlength=count).astype(np.int64)
        suppressed_per_class = np.bincount(class_of_row[verdict.gone], minlength=count).astype(np.int64)
        published_per_class, suppressed = sizes - suppressed_per_class, int(suppressed_per_class.sum())
        feasible = suppressed <= limit and verdict.safe_together
        extra, starts = problem._extra
        sums = np.array(
            [(suppressed_per_class * extra[starts[j, level] + codes[:, j]]).sum() for j, level in enumerate(levels)]
        )
        score = math.inf
        if feasible:
            score = problem.score(
                levels,
                int((published_per_class > 0).sum()),
                suppressed,
                int((published_per_class * published_per_class).sum()),
                sums,
            )
        least = verdict.least
        if not verdict.safe_together and limit == 0 and problem.monotonic:
            least = max(least, 1)
        return LevelJudgement(
            feasible=feasible, score=score, suppressed_rows=suppressed, levels=levels,
            classes=int((published_per_class > 0).sum()),
            all_classes=int((sizes > 0).sum()), all_squares=int((sizes * sizes).sum()), least_suppressed=least,
        )  # fmt: skip

    def recoding(self, levels: Levels) -> Recoding:
        """The release of a candidate: its labels, with all rows suppressed that have to be."""
        verdict, _, _ = self._look(levels, None)
        nothing = np.zeros(len(self.problem.domain.tuples), np.bool_)
        recoding = full_domain_recoding(self.problem.domain, levels, nothing)
        suppressed = self.judge.moved_back(verdict.gone)
        return replace(recoding, group_of_row=np.where(suppressed, np.int32(-1), recoding.group_of_row))


def suppress_by_people(problem: Problem, recoding: Recoding, class_of_row: Ints, count: int) -> Recoding:
    """The recoding without the rows that cannot be published in their classes."""
    judge = PeopleJudge(problem)
    verdict = judge.look(judge._moved(class_of_row), count)
    suppressed = judge.moved_back(verdict.gone)
    if not suppressed.any():
        return recoding
    return replace(recoding, group_of_row=np.where(suppressed, np.int32(-1), recoding.group_of_row))


def together_by_people(problem: Problem, class_of_row: Ints) -> bool:
    """Whether the models of the whole release accept the people of these classes; rows of class -1 are suppressed."""
    judge = PeopleJudge(problem)
    return judge.look(judge._moved(class_of_row), int(class_of_row.max(initial=-1)) + 1).safe_together
