"""Searches that see no rows: candidates are counted where the table lies, and parts that fit are solved there."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._core.classes import Classes, Domain, Sensitive
from kanopy._errors import DataError
from kanopy._job.job import Job
from kanopy._progress import SILENT, Progress
from kanopy.release.out_of_core import fragments_of
from kanopy.release.prepare import make_problem

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints, Longs, Mask
    from kanopy._table.encode import EncodedColumn
    from kanopy.engine.pushdown import DistinctTable
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.search.clustering.costs import Measure
    from kanopy.search.judge import LevelJudgement
    from kanopy.search.problem import Problem


def known_columns(
    columns: Sequence[EncodedColumn], multiplicity: Sequence[Longs], sensitive: Sequence[Sensitive] = ()
) -> Domain:
    """What is known of a table from its columns alone: hierarchies, and how many rows have each value."""
    rows = int(multiplicity[0].sum())
    hierarchies = tuple(column.hierarchy for column in columns)
    domain = Domain(
        tuple(column.name for column in columns), hierarchies, np.zeros((1, len(columns)), np.int32),
        np.array([rows]), np.zeros(1, np.int32), tuple(sensitive), multiplicity=np.array([rows]),
    )  # fmt: skip
    domain.__dict__["marginals"] = tuple(
        np.bincount(column.codes, weights=rows_of_value, minlength=column.hierarchy.size).astype(np.int64)
        for column, rows_of_value in zip(columns, multiplicity, strict=True)
    )
    return domain


class PushdownJudge:
    """Judges candidates by counting them where the table lies. Of the classes of a candidate, models look at how many
    rows have each value: that comes here, about `most` lines at once."""

    def __init__(self, problem: Problem, table: DistinctTable, most: int) -> None:
        self.problem, self.table, self.most = problem, table, most

    def evaluate(self, levels: tuple[int, ...], /, ceiling: float = math.inf) -> LevelJudgement:
        """Judge one candidate."""
        from kanopy.metrics.full_domain import ClassMetric
        from kanopy.search.judge import LevelJudgement

        problem = self.problem
        problem.judged += 1
        counts = self.table.count(levels, problem.k, problem.max_suppressed_rows)
        sums = np.zeros(len(levels))
        for j, (codes, rows) in enumerate(counts.small):
            sums[j] = float((rows * problem.costs[j].extras[levels[j]][codes]).sum())
        classes, suppressed_rows, squares, least = counts.kept, counts.suppressed, counts.squares, counts.suppressed
        feasible = suppressed_rows <= problem.max_suppressed_rows
        score = problem.score(levels, classes, suppressed_rows, squares, sums) if feasible else math.inf
        beaten = not isinstance(problem.metric, ClassMetric) and score > ceiling
        if not problem.of_sizes and feasible and not beaten:
            unsafe, must_go = self.unsafe(levels)
            rows = unsafe["n"].to_numpy()
            classes, suppressed_rows, squares = (
                classes - len(rows),
                suppressed_rows + int(rows.sum()),
                squares - int((rows * rows).sum()),
            )
            least += must_go
            feasible = suppressed_rows <= problem.max_suppressed_rows
            for j in range(len(levels)):
                sums[j] += float((rows * problem.costs[j].extras[levels[j]][unsafe[f"g{j}"].to_numpy()]).sum())
            score = problem.score(levels, classes, suppressed_rows, squares, sums) if feasible else math.inf
        feasible &= not beaten
        return LevelJudgement(
            feasible=feasible, score=score if feasible else math.inf, suppressed_rows=suppressed_rows, levels=levels,
            classes=classes,
            all_classes=counts.classes, all_squares=counts.all_squares, least_suppressed=least,
        )  # fmt: skip

    def unsafe(self, levels: Sequence[int]) -> tuple[pl.DataFrame, int]:
        """The classes of k rows or more that a model finds unsafe, of the candidate that was counted last; and how many
        of their rows every finer candidate must suppress, too."""
        import polars as pl

        from kanopy._core.histograms import histogram, summed
        from kanopy._core.numbering import number_rows

        problem, codes = self.problem, [f"g{j}" for j in range(len(levels))]
        unsafe = [pl.DataFrame(schema={**dict.fromkeys(codes, pl.Int64), "n": pl.Int64})]
        least = 0
        for index, column in enumerate(problem.class_statistics.sensitive):
            models = [model for model in problem.models if column.name in model.sensitive]
            width, must_go = len(column.values), 0
            for cells in self.table.cells(levels, problem.k, len(levels) + index, width, self.most):
                rows = cells["n"].cast(pl.Int64).to_numpy()
                classes_of = cells.select(pl.col(code).cast(pl.Int64) for code in codes)
                number, first, _ = number_rows(classes_of.to_numpy().astype(np.int32))
                sizes = summed(rows, number, len(first))
                values = histogram(number, cells["s"].to_numpy(), len(first), width, rows)
                seen = Classes(sizes, histograms={column.name: values}, facts=problem.class_statistics.facts)
                wrong, must_suppress = np.zeros(len(first), np.bool_), np.zeros(len(first), np.int64)
                for model in models:
                    violated = model.violated(seen)
                    wrong |= violated
                    np.maximum(must_suppress, model.must_go(seen, violated), out=must_suppress)
                must_go += int(np.minimum(must_suppress, sizes).sum())
                unsafe.append(classes_of[first[wrong]].with_columns(pl.Series("n", sizes[wrong])))
            least = max(least, must_go)
        unsafe_fragments = pl.concat(unsafe).unique()
        if (
            unsafe_fragments.height
            and not problem.max_suppressed_rows
            and all(model.monotonic for model in problem.models)
        ):
            least = max(least, 1)
        return unsafe_fragments, least


def best_levels(
    table: DistinctTable, problem: Problem, most: int, progress: Progress
) -> tuple[LevelJudgement, pl.DataFrame]:
    """The best full-domain candidate and those of its classes that are not small but unsafe. Every candidate that is
    looked at is one aggregation where the table lies, and another where models look at values."""
    from kanopy.search.full_domain.optimal import search_elsewhere

    problem.require_nesting()
    table.levels([[h.level(level).codes for level in range(h.height + 1)] for h in problem.domain.hierarchies])
    judge = PushdownJudge(problem, table, most)
    best = search_elsewhere(problem, judge, progress)
    table.group(best.levels)
    return best, judge.unsafe(best.levels)[0]


def cut_until_parts_fit(table: DistinctTable, measure: Measure, problem: Problem, most: int, progress: Progress) -> int:
    """Cut the table as Mondrian does until no part has more than `most` kinds of rows; returns how many there are.

    All parts that are too large are cut in one round. A cut falls between values, and both sides would be safe as one
    class each: they keep k rows, and every model holds for them.
    """
    parts = 1
    while large := table.large_parts(most):
        progress("cutting in the database", None, f"{parts:,} parts")
        cuts = []
        for fragment, columns in large.items():
            cut = best_cut(columns, measure, problem.k, functools.partial(_safe_cuts, table, problem, fragment))
            if cut is None:
                raise DataError(
                    f"A part of the table has more than {most:,} different rows and cannot be cut so that both sides "
                    f"keep {problem.k:,} rows and satisfy the models. Name fewer or coarser columns, or raise "
                    "KANOPY_MOST_DIFFERENT."
                )
            cuts.append((fragment, *cut))
        table.cut(cuts)
        parts += len(cuts)
    return parts


def _safe_cuts(table: DistinctTable, problem: Problem, fragment: int, axis: int, places: Ints) -> Mask:
    """Behind which places of a column a part can be cut so that the models hold for both sides, each as one class."""
    from kanopy._core.histograms import histogram
    from kanopy.search.class_statistics import LARGEST_HISTOGRAM

    safe = np.ones(len(places) - 1, np.bool_)
    for number, column in enumerate(problem.class_statistics.sensitive):
        if len(places) * len(column.values) > LARGEST_HISTOGRAM:
            raise DataError(
                f"{problem.domain.names[axis]!r} has {len(places):,} values, {column.name!r} {len(column.values):,}: "
                "too many to look at together. Round one of them."
            )
        cells = table.beside(fragment, axis, problem.domain.width + number)
        at = np.searchsorted(places, cells["c"].to_numpy())
        counts = histogram(at, cells["s"].to_numpy(), len(places), len(column.values), cells["n"].to_numpy())
        left = np.cumsum(counts, axis=0)
        for side in (left[:-1], left[-1] - left[:-1]):
            seen = Classes(side.sum(axis=1), histograms={column.name: side}, facts=problem.class_statistics.facts)
            for model in problem.models:
                if column.name in model.sensitive:
                    safe &= ~model.violated(seen)
    return safe


def best_cut(
    columns: Sequence[tuple[Ints, Longs]], measure: Measure, k: int, safe: Callable[[int, Ints], Mask] | None = None
) -> tuple[int, int] | None:
    """The column and the place to cut a part at: the costliest column that can be cut, between children of the common
    ancestor of its values if possible, as near to the middle as that allows. `None` if no cut leaves `k` rows, or none
    is `safe`."""
    from kanopy.search.clustering.lines_kernel import pair_costs

    def cost(j: int) -> int:
        places = columns[j][0]
        return int(pair_costs(measure.lines, j, places[:1], places[-1:])[0]) if len(places) > 1 else -1

    costs = [cost(j) for j in range(len(columns))]
    for j in sorted(range(len(columns)), key=lambda j: (-costs[j], j)):
        places, rows = columns[j]
        left, whole = np.cumsum(rows)[:-1], int(rows.sum())
        fits = (left >= k) & (whole - left >= k)
        if fits.any() and safe is not None:
            fits &= safe(j, places)
        if not fits.any():
            continue
        gaps = np.where(fits, pair_costs(measure.lines, j, places[:-1], places[1:]), -1)
        best = np.flatnonzero(gaps == gaps.max())
        return j, int(places[best[np.argmin(np.abs(2 * left[best] - whole))]])
    return None


@dataclass(frozen=True)
class SolvePart:
    """Solves a part by itself, wherever it is sent: from its kinds of rows to its pieces.

    `leaf_at` says which value stands at each place of a column. Models compare with the whole table, which `sensitive`
    tells of. Every piece also says what it loses, so that losses add up over parts.
    """

    job: Job
    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    leaf_at: tuple[Ints, ...]
    missing: tuple[str | None, ...]
    sensitive: tuple[Sensitive, ...] = ()

    def __call__(self, fragment: pl.DataFrame) -> pl.DataFrame:
        """The pieces of a part."""
        import polars as pl

        from kanopy._core.histograms import summed
        from kanopy._core.numbering import number_rows
        from kanopy.search.algorithms import make_algorithm

        job, axes = self.job, range(len(self.names))
        rows = fragment["n"].cast(pl.Int64).to_numpy()
        leaves = np.column_stack([self.leaf_at[j][fragment[f"c{j}"].to_numpy()] for j in axes]).astype(np.int32)
        number, first, _ = number_rows(leaves)
        counts = summed(rows, number, len(first))
        columns_of_models = []
        for index, column in enumerate(self.sensitive, len(self.names)):
            sensitive = replace(column, code_of_row=fragment[f"c{index}"].to_numpy(), multiplicity=rows)
            sensitive.__dict__["facts"] = column.facts
            columns_of_models.append(sensitive)
        domain = Domain(
            self.names, self.hierarchies, leaves[first], counts, number, tuple(columns_of_models), multiplicity=rows
        )
        solution = make_algorithm(job.algorithm, **job.parameters).solve(make_problem(domain, job), SILENT)
        recoding, pieces = solution.recoding, fragments_of(solution.recoding, domain)
        kinds = np.arange(len(rows), dtype=np.int32)
        kind, many, group = pieces if pieces is not None else (kinds, rows, recoding.group_of_row)
        is_suppressed = group < 0
        end = np.cumsum(many)
        base = (np.cumsum(rows) - rows)[kind]
        columns: dict[str, Any] = {"distinct_row": kind}
        lost, weights = np.zeros(len(kind)), [job.weights.get(name, 1.0) for name in self.names]
        for j in axes:
            labels: list[str | None] = [
                None if label == self.missing[j] and label is not None else label for label in recoding.labels[j]
            ]
            codes = np.where(is_suppressed, len(labels), recoding.codes[group, j])
            texts = pl.Series([*labels, SUPPRESSED_LABEL], dtype=pl.String)
            columns[f"l{j}"] = texts.gather(pl.Series(codes))
            share, size = np.append(recoding.shares[j], 1.0)[codes], self.hierarchies[j].size
            if size > 1:
                lost += weights[j] / sum(weights) * (share - 1 / size) / (1 - 1 / size)
        columns |= {
            "gone": is_suppressed.astype(np.int32),
            "after": end - many - base,
            "upto": end - base,
            "lost": lost,
        }
        return pl.DataFrame(columns)
