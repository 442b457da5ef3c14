"""Rule out candidates by looking at three attributes at a time (the idea of Incognito's subset rounds)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanopy.kernels.projection import small_cell_rows

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

LARGEST_TABLE = 1 << 18
MOST_TRIPLES = 400


def least_suppressed_rows(problem: Problem, threads: int = 1) -> npt.NDArray[np.int64]:
    """For every candidate, a number of rows that it must suppress at least.

    Sound for every model that includes k-anonymity on nesting hierarchies. Attributes with huge domains take part
    from the first level that keeps the table small; below that level the coarser level's number still holds,
    because finer candidates never suppress fewer rows.
    """
    lattice = problem.lattice
    width = len(lattice.shape)
    least = np.zeros(lattice.shape, np.int64)
    k = problem.k
    if k < 2 or width < 3:
        return least
    lowest = [
        problem.domain.hierarchies[j].level(lattice.lowest[j]).codes[problem.domain.tuples[:, j]] for j in range(width)
    ]

    def one(triple: tuple[int, ...]) -> tuple[tuple[int, ...], npt.NDArray[np.int64]]:
        return triple, _small_rows_of(problem, triple, lowest, k)

    triples = list(combinations(range(width), 3))[:MOST_TRIPLES]
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(one, triples))
    else:
        found = [one(triple) for triple in triples]
    for triple, rows in found:
        shape = [1] * width
        for axis, length in zip(triple, rows.shape, strict=True):
            shape[axis] = length
        np.maximum(least, rows.reshape(shape), out=least)
    return least


def _small_rows_of(
    problem: Problem, triple: tuple[int, ...], lowest: list[npt.NDArray[np.int32]], k: int
) -> npt.NDArray[np.int64]:
    lattice = problem.lattice
    hierarchies = [problem.domain.hierarchies[j] for j in triple]
    first = [0, 0, 0]
    sizes = [
        [h.level(level).size for level in range(lattice.lowest[j], lattice.highest[j] + 1)]
        for j, h in zip(triple, hierarchies, strict=True)
    ]
    while np.prod([float(sizes[a][first[a]]) for a in range(3)]) > LARGEST_TABLE:
        movable = [a for a in range(3) if first[a] < len(sizes[a]) - 1]
        if not movable:
            return np.zeros([len(s) for s in sizes], np.int64)
        widest = max(movable, key=lambda a: sizes[a][first[a]])
        first[widest] += 1
    most = max(len(s) for s in sizes)
    starts = np.zeros((3, most), np.int64)
    counts = np.ones((3, most + 1), np.int64)
    maps: list[npt.NDArray[np.int32]] = []
    length = 0
    for a, (j, h) in enumerate(zip(triple, hierarchies, strict=True)):
        base = h.level(lattice.lowest[j])
        for i, level in enumerate(range(lattice.lowest[j] + first[a], lattice.highest[j] + 1)):
            one = np.zeros(base.size, np.int32)
            one[base.codes] = h.level(level).codes
            maps.append(one)
            starts[a, i] = length
            counts[a, i] = h.level(level).size
            length += len(one)
        counts[a, len(sizes[a]) - first[a]] = base.size
    levels = np.array([len(s) - f for s, f in zip(sizes, first, strict=True)], np.int64)
    codes = np.stack([lowest[j] for j in triple])
    rows = small_cell_rows(codes, problem.domain.counts, np.concatenate(maps), starts, counts, levels, k)
    return np.pad(rows, [(f, 0) for f in first], mode="edge") if any(first) else rows
