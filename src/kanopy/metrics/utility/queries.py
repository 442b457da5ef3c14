"""How wrong are typical count queries on the release? Random conjunctions, answered before and after.

A query asks how many rows fall into a range (numbers) or a set (categories) in each of a few columns. On the release a
row counts with the share of what its labels cover that falls into the query (uniform assumption; LeFevre et al. 2006,
Xiao and Tao 2006). The error is relative to the true answer, but at least to a small share of the table, so that empty
answers do not dominate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.numbering import distinct_tuples
from kanopy._errors import JobError
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.column_utility import nearest_value
from kanopy.metrics.utility.published_values import Covers

SANITY = 0.001
"""Errors are relative to the true answer or this share of the rows, whichever is greater."""


@dataclass(frozen=True)
class QueryErrors(DictMixin):
    """Relative errors of `queries` random count queries over up to `columns` columns each."""

    queries: int
    columns: int
    selectivity: float
    median: float
    mean: float
    upper_quartile: float
    ninetieth: float
    by_columns: dict[int, float]


def query_errors(
    columns: Sequence[tuple[Ints, Ints, Covers]],
    *,
    queries: int = 500,
    most_columns: int = 3,
    selectivity: float = 0.1,
    seed: int = 0,
) -> QueryErrors:
    """Relative errors of random conjunctive count queries, each meant to select about `selectivity` of the rows.

    Each column is given as value codes of the original rows, label codes of the released rows, and what the labels
    cover.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> ages = ColumnDomain("age", ("20", "30"), np.array([1, 1]), np.array([20.0, 30]))
    >>> same = np.array([0, 1], np.int32)
    >>> query_errors([(same, same, understand(["20", "30"], ages))], queries=20).mean
    0.0
    """
    if not columns:
        raise JobError("Count queries need at least one column.")
    if not 0.0 < selectivity <= 1.0 or queries < 1:
        raise JobError("Ask at least one query, and let it select a share of the rows above 0 and at most 1.")
    random = np.random.default_rng(seed)
    most_columns = max(1, min(most_columns, len(columns)))
    before, rows_before = _tuples([column[0] for column in columns])
    after, rows_after = _tuples([column[1] for column in columns])
    floor = SANITY * float(rows_before.sum())
    errors = np.empty(queries)
    widths = np.empty(queries, np.int64)
    for number in range(queries):
        width = int(random.integers(1, most_columns + 1))
        chosen = random.choice(len(columns), width, replace=False)
        truth, answer = rows_before.astype(np.float64), rows_after.astype(np.float64)
        for j in chosen:
            covers = columns[j][2]
            wanted = _predicate(covers, selectivity ** (1.0 / width), random)
            truth = truth * wanted[before[:, j]]
            answer = answer * _shares(covers, wanted)[after[:, j]]
        true = float(truth.sum())
        errors[number] = abs(float(answer.sum()) - true) / max(true, floor)
        widths[number] = width
    return QueryErrors(
        queries=queries,
        columns=most_columns,
        selectivity=selectivity,
        median=float(np.median(errors)),
        mean=float(errors.mean()),
        upper_quartile=float(np.quantile(errors, 0.75)),
        ninetieth=float(np.quantile(errors, 0.9)),
        by_columns={
            width: float(np.median(errors[widths == width]))
            for width in range(1, most_columns + 1)
            if (widths == width).any()
        },
    )


def _tuples(codes: Sequence[Ints]) -> tuple[Ints, Longs]:
    """Distinct rows and how often each occurs: queries then cost what differs, not what is there."""
    tuples, counts, _, _ = distinct_tuples(codes, ascending=True)
    return tuples, counts


def _predicate(covers: Covers, share: float, random: np.random.Generator) -> Floats:
    """Which values a random range (numbers) or set (categories) of about this share of the rows holds: 1 or 0."""
    domain = covers.domain
    present = domain.present
    wanted = np.zeros(domain.size)
    counts = domain.counts[:present]
    if domain.numbers is not None and present:
        reached = np.cumsum(counts) / max(int(counts.sum()), 1)
        start = random.random() * max(0.0, 1.0 - share)
        first = int(np.searchsorted(reached, start, "right"))
        last = int(np.searchsorted(reached, start + share, "left"))
        wanted[min(first, present - 1) : min(last, present - 1) + 1] = 1.0
        return wanted
    order = random.permutation(domain.size)
    reached = np.cumsum(domain.counts[order]) / max(int(domain.counts.sum()), 1)
    wanted[order[: int(np.searchsorted(reached, share, "left")) + 1]] = 1.0
    return wanted


def _shares(covers: Covers, wanted: Floats) -> Floats:
    """Per label the share of what it covers that is wanted."""
    sums = np.concatenate([[0.0], np.cumsum(wanted[covers.members])])
    sizes = covers.sizes
    shares: Floats = (sums[covers.stop] - sums[covers.start]) / np.maximum(sizes, 1)
    for label in np.flatnonzero(sizes == 0):
        if covers.domain.numbers is not None:
            shares[label] = wanted[nearest_value(covers, int(label))]
    return shares
