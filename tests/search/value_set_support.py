"""Tables, brute force and checks for searches over sets of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from kanopy._core.classes import Domain
from kanopy.search.problem import Problem
from kanopy.search.sets.value_sets import ValueTable
from kanopy.search.solution import Solution

Numbering = npt.NDArray[np.int64]


def classes_of(table: ValueTable, set_of: Sequence[Numbering]) -> Numbering:
    """Rows per class when every value publishes its set."""
    keys = np.column_stack([number[table.codes[:, j]] for j, number in enumerate(set_of)])
    _, inverse = np.unique(keys, axis=0, return_inverse=True)
    return np.bincount(inverse.reshape(-1), weights=table.counts).astype(np.int64)


def discernibility(table: ValueTable, sizes: Numbering, k: int) -> int:
    kept, gone = sizes[sizes >= k], int(sizes[sizes < k].sum())
    excluded = table.rows - int(table.counts.sum())
    return int((kept * kept).sum()) + table.rows * (gone + excluded)


def all_intervals(size: int) -> Iterator[Numbering]:
    for cuts in product([0, 1], repeat=size - 1):
        yield np.concatenate([[0], np.cumsum(cuts)]).astype(np.int64)


def all_partitions(size: int) -> Iterator[Numbering]:
    """Every division of `size` values into sets, by restricted growth."""

    def grow(done: list[int]) -> Iterator[list[int]]:
        if len(done) == size:
            yield done
            return
        for number in range(max(done, default=-1) + 2):
            yield from grow([*done, number])

    for numbers in grow([]):
        yield np.array(numbers, np.int64)


def check_release(problem: Problem, found: Solution) -> None:
    """k holds for the published labels, a value has one label, labels divide the values, limits are kept."""
    domain: Domain = problem.domain
    recoding = found.recoding
    usable = domain.tuple_of_row >= 0
    kept = recoding.group_of_row >= 0
    assert not (kept & ~usable).any()
    assert int((usable & ~kept).sum()) <= problem.max_suppressed_rows
    rows = np.flatnonzero(kept)
    published = [
        tuple(recoding.labels[j][code] for j, code in enumerate(recoding.codes[recoding.group_of_row[row]]))
        for row in rows
    ]
    for label in set(published):
        assert published.count(label) >= problem.k
    for j, hierarchy in enumerate(domain.hierarchies):
        of_value: dict[int, str] = {}
        for row, labels in zip(rows, published, strict=True):
            value = int(domain.tuples[domain.tuple_of_row[row], j])
            assert of_value.setdefault(value, labels[j]) == labels[j]
        assert len(set(recoding.labels[j])) == len(recoding.labels[j])
        shares = recoding.shares[j]
        assert ((shares >= 1 / hierarchy.size - 1e-12) & (shares <= 1 + 1e-12)).all()
        if hierarchy.size == int((domain.marginals[j] > 0).sum()):
            assert abs(shares.sum() - 1) < 1e-9


def permuted(domain: Domain, seed: int) -> tuple[Domain, npt.NDArray[np.int64]]:
    """The same table in another order of rows, its tuples numbered anew; also the order."""
    order = np.random.default_rng(seed).permutation(domain.rows)
    of_row = domain.tuple_of_row[order]
    seen = list(dict.fromkeys(of_row[of_row >= 0].tolist()))
    number = np.full(len(domain.counts) + 1, -1, np.int32)
    number[seen] = np.arange(len(seen))
    return (
        Domain(domain.names, domain.hierarchies, domain.tuples[seen], domain.counts[seen], number[of_row]),
        order.astype(np.int64),
    )


def published_rows(found: Solution) -> list[tuple[str, ...] | None]:
    recoding = found.recoding
    return [
        None if group < 0 else tuple(recoding.labels[j][code] for j, code in enumerate(recoding.codes[group]))
        for group in recoding.group_of_row.tolist()
    ]
