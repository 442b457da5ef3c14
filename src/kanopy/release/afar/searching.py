"""Searches that see no rows: candidates are counted where the table lies, and parts that fit are solved there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._core.classes import Domain
from kanopy._errors import DataError
from kanopy._job.job import Job
from kanopy._progress import SILENT, Progress
from kanopy.release.large import pieces_of
from kanopy.release.prepare import make_problem

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints, Longs
    from kanopy._table.encode import EncodedColumn
    from kanopy.engine.afar import Afar
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.search.clustering.measure import Measure
    from kanopy.search.judge import LevelJudgement
    from kanopy.search.problem import Problem


def known_columns(columns: Sequence[EncodedColumn], rows_of: Sequence[Longs]) -> Domain:
    """What is known of a table from its columns alone: hierarchies, and how many rows have each value."""
    rows = int(rows_of[0].sum())
    hierarchies = tuple(column.hierarchy for column in columns)
    domain = Domain(
        tuple(column.name for column in columns), hierarchies, np.zeros((1, len(columns)), np.int32),
        np.array([rows]), np.zeros(1, np.int32), rows_of=np.array([rows]),
    )  # fmt: skip
    domain.__dict__["marginals"] = tuple(
        np.bincount(column.codes, weights=own, minlength=column.hierarchy.size).astype(np.int64)
        for column, own in zip(columns, rows_of, strict=True)
    )
    return domain


class JudgeAfar:
    """Judges candidates by counting them where the table lies."""

    def __init__(self, problem: Problem, afar: Afar) -> None:
        self.problem, self.afar = problem, afar

    def evaluate(self, levels: tuple[int, ...], /, ceiling: float = math.inf) -> LevelJudgement:
        """Judge one candidate."""
        from kanopy.search.judge import LevelJudgement

        problem = self.problem
        problem.judged += 1
        found = self.afar.count(levels, problem.k, problem.max_suppressed_rows)
        feasible, score = found.suppressed <= problem.max_suppressed_rows, math.inf
        if feasible:
            sums = np.zeros(len(levels))
            for j, (codes, rows) in enumerate(found.small):
                sums[j] = float((rows * problem.costs[j].extras[levels[j]][codes]).sum())
            score = problem.score(levels, found.kept, found.suppressed, found.squares, sums)
        return LevelJudgement(
            feasible=feasible, score=score, suppressed_rows=found.suppressed, levels=levels, classes=found.kept,
            all_classes=found.classes, all_squares=found.all_squares, least_suppressed=found.suppressed,
        )  # fmt: skip


def best_levels(afar: Afar, problem: Problem, progress: Progress) -> LevelJudgement:
    """The best full-domain candidate; every candidate that is looked at is one aggregation where the table lies."""
    from kanopy.search.full_domain.optimal import search_elsewhere

    problem.require_nesting()
    afar.levels([[h.level(level).codes for level in range(h.height + 1)] for h in problem.domain.hierarchies])
    return search_elsewhere(problem, JudgeAfar(problem, afar), progress)


def cut_until_parts_fit(afar: Afar, measure: Measure, k: int, most: int, progress: Progress) -> int:
    """Cut the table as Mondrian does until no part has more than `most` kinds of rows; returns how many there are.

    All parts that are too large are cut in one round. A cut falls between values, and both sides keep `k` rows.
    """
    parts = 1
    while large := afar.large_parts(most):
        progress("cutting where the table lies", None, f"{parts:,} parts")
        cuts = []
        for part, columns in large.items():
            found = best_cut(columns, measure, k)
            if found is None:
                raise DataError(
                    f"A part of the table has more than {most:,} different rows and cannot be cut so that both sides "
                    f"keep {k:,} rows. Name fewer or coarser columns, or let KANOPY_MOST_DIFFERENT say that more fit."
                )
            cuts.append((part, *found))
        afar.cut(cuts)
        parts += len(cuts)
    return parts


def best_cut(columns: Sequence[tuple[Ints, Longs]], measure: Measure, k: int) -> tuple[int, int] | None:
    """The column and the place to cut a part at: the costliest column that can be cut, between children of the common
    ancestor of its values if possible, as near to the middle as that allows. `None` if no cut leaves `k` rows."""
    from kanopy.search.clustering.lines_kernel import pair_costs

    def cost(j: int) -> int:
        places = columns[j][0]
        return int(pair_costs(measure.lines, j, places[:1], places[-1:])[0]) if len(places) > 1 else -1

    costs = [cost(j) for j in range(len(columns))]
    for j in sorted(range(len(columns)), key=lambda j: (-costs[j], j)):
        places, rows = columns[j]
        left, whole = np.cumsum(rows)[:-1], int(rows.sum())
        fits = (left >= k) & (whole - left >= k)
        if not fits.any():
            continue
        gaps = np.where(fits, pair_costs(measure.lines, j, places[:-1], places[1:]), -1)
        best = np.flatnonzero(gaps == gaps.max())
        return j, int(places[best[np.argmin(np.abs(2 * left[best] - whole))]])
    return None


@dataclass(frozen=True)
class SolvePart:
    """Solves a part by itself, wherever it is sent: from its kinds of rows to its pieces.

    `leaf_at` says which value stands at each place of a column. Every piece also says what it loses, so that losses
    add up over parts.
    """

    job: Job
    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    leaf_at: tuple[Ints, ...]
    missing: tuple[str | None, ...]

    def __call__(self, part: pl.DataFrame) -> pl.DataFrame:
        """The pieces of a part."""
        import polars as pl

        from kanopy._core.histograms import summed
        from kanopy._core.numbering import number_rows
        from kanopy.search.algorithms import make_algorithm

        job, axes = self.job, range(len(self.names))
        rows = part["n"].cast(pl.Int64).to_numpy()
        leaves = np.column_stack([self.leaf_at[j][part[f"c{j}"].to_numpy()] for j in axes]).astype(np.int32)
        number, first, _ = number_rows(leaves)
        counts = summed(rows, number, len(first))
        domain = Domain(self.names, self.hierarchies, leaves[first], counts, number, rows_of=rows)
        found = make_algorithm(job.algorithm, **job.parameters).solve(make_problem(domain, job), SILENT)
        recoding, pieces = found.recoding, pieces_of(found.recoding, domain)
        kinds = np.arange(len(rows), dtype=np.int32)
        kind, many, group = pieces if pieces is not None else (kinds, rows, recoding.group_of_row)
        gone = group < 0
        end = np.cumsum(many)
        base = (np.cumsum(rows) - rows)[kind]
        columns: dict[str, Any] = {"kind": kind}
        lost, weights = np.zeros(len(kind)), [job.weights.get(name, 1.0) for name in self.names]
        for j in axes:
            labels: list[str | None] = [
                None if label == self.missing[j] and label is not None else label for label in recoding.labels[j]
            ]
            codes = np.where(gone, len(labels), recoding.codes[group, j])
            texts = pl.Series([*labels, SUPPRESSED_LABEL], dtype=pl.String)
            columns[f"l{j}"] = texts.gather(pl.Series(codes))
            share, size = np.append(recoding.shares[j], 1.0)[codes], self.hierarchies[j].size
            if size > 1:
                lost += weights[j] / sum(weights) * (share - 1 / size) / (1 - 1 / size)
        columns |= {"gone": gone.astype(np.int32), "after": end - many - base, "upto": end - base, "lost": lost}
        return pl.DataFrame(columns)
