"""Rule out candidates by looking at three attributes at a time (the idea of Incognito's subset rounds)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy.search.full_domain.projection_kernel import small_cell_rows
from kanopy.search.lattice import Levels

if TYPE_CHECKING:
    from kanopy.search.problem import Problem


LARGEST_TABLE = 1 << 18
MOST_TRIPLES = 1000
MOST_ROWS = 2**31 - 1


def least_suppressed_rows(problem: Problem, threads: int = 1) -> Longs:
    """For every candidate, a number of rows that it must suppress at least.

    Sound for every set of models that includes k-anonymity, on nesting hierarchies. Attributes with huge domains
    take part from the first level that keeps the table small; below that level the coarser level's number still
    holds, because finer candidates never suppress fewer rows.
    """
    lattice, domain = problem.lattice, problem.domain
    width = len(lattice.shape)
    if problem.k < 2 or width < 3 or domain.rows > MOST_ROWS:
        return np.zeros(lattice.shape, np.int64)
    most = max(lattice.shape)
    starts = np.zeros((width, most), np.int64)
    sizes = np.ones((width, most), np.int64)
    lifts: list[Ints] = []
    codes = np.empty((width, len(domain.counts)), np.int32)
    length = 0
    for j, hierarchy in enumerate(domain.hierarchies):
        base = hierarchy.level(lattice.lowest[j])
        codes[j] = base.codes[domain.tuples[:, j]]
        for i in range(lattice.shape[j]):
            level = hierarchy.level(lattice.lowest[j] + i)
            lift = np.zeros(base.size, np.int32)
            lift[base.codes] = level.codes
            starts[j, i], sizes[j, i] = length, level.size
            lifts.append(lift)
            length += len(lift)
    last = np.array(lattice.shape, np.int64) - 1
    # The attribute with the most values goes first, so that generalizing it shrinks everything below.
    order = sorted(range(width), key=lambda j: -int(sizes[j, 0]))
    triples = [t for t in combinations(order, 3) if all(sizes[j, last[j]] <= LARGEST_TABLE for j in t)]
    triples = triples[:MOST_TRIPLES]
    chunks = [triples[i::threads] for i in range(threads)] if threads > 1 else [triples]
    shared = (codes, domain.counts.astype(np.int32), np.concatenate(lifts), starts, sizes, last, problem.k)
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(lambda chunk: _small_rows(chunk, *shared), chunks))
    else:
        parts = [_small_rows(chunk, *shared) for chunk in chunks]
    return most_known(lattice.shape, chain.from_iterable(parts))


def _small_rows(
    triples: Sequence[tuple[int, ...]], codes: Ints, counts: Ints, lifts: Ints, starts: Longs, sizes: Longs,
    last: Longs, k: int,
) -> list[tuple[tuple[int, ...], Longs]]:  # fmt: skip
    """Per triple, the rows in small cells by level, the levels that were too large filled from the next one."""
    usable, first = [], []
    for triple in triples:
        begin = _first_levels(triple, sizes, last)
        if begin is not None:
            usable.append(triple)
            first.append(begin)
    if not usable:
        return []
    shapes = [
        tuple(int(last[j]) - f + 1 for j, f in zip(t, fs, strict=True)) for t, fs in zip(usable, first, strict=True)
    ]
    offsets = np.concatenate([[0], np.cumsum([math.prod(shape) for shape in shapes])]).astype(np.int64)
    out = np.zeros(int(offsets[-1]), np.int64)
    begins = np.array(first, np.int64)
    small_cell_rows(
        codes, counts, lifts, starts, sizes, np.array(usable, np.int64), begins, last, offsets, k, out
    )  # fmt: skip
    small_rows = []
    for i, (triple, begin, shape) in enumerate(zip(usable, first, shapes, strict=True)):
        rows = out[offsets[i] : offsets[i + 1]].reshape(shape)
        small_rows.append((triple, np.pad(rows, [(f, 0) for f in begin], mode="edge") if any(begin) else rows))
    return small_rows


def _first_levels(triple: tuple[int, ...], sizes: Longs, last: Longs) -> list[int] | None:
    """The finest levels of three attributes whose table is small enough."""
    first = [0, 0, 0]
    while math.prod(int(sizes[j, f]) for j, f in zip(triple, first, strict=True)) > LARGEST_TABLE:
        movable = [axis for axis in range(3) if first[axis] < last[triple[axis]]]
        if not movable:
            return None
        first[max(movable, key=lambda axis: int(sizes[triple[axis], first[axis]]))] += 1
    return first


def most_known(shape: Levels, minima: Iterable[tuple[tuple[int, ...], Longs]]) -> Longs:
    """For every candidate the largest of the numbers known for the levels of some attributes, in the order given.

    Attributes next to each other are looked at by themselves, ever more of them: most numbers are compared on a small
    grid, and few on that of all candidates.

    >>> known = [((0,), np.array([0, 5])), ((2, 1), np.array([[1], [7], [2]]))]
    >>> most_known((2, 1, 3), known).reshape(2, 3).tolist()
    [[1, 7, 2], [5, 7, 5]]
    """
    free = [j for j, levels in enumerate(shape) if levels > 1]
    sizes = [shape[j] for j in free] or [1]
    between: dict[tuple[int, int], list[tuple[list[int], Longs]]] = {}
    for axes, numbers in minima:
        free_axes = [free.index(j) for j in axes if shape[j] > 1]
        varying = numbers.reshape([size for size in numbers.shape if size > 1]).transpose(np.argsort(free_axes))
        between.setdefault((min(free_axes, default=0), max(free_axes, default=0)), []).append((free_axes, varying))
    shorter: list[Longs] = []
    for length in range(1, len(sizes) + 1):
        longer: list[Longs] = []
        for begin in range(len(sizes) - length + 1):
            grid = np.zeros(sizes[begin : begin + length], np.int64)
            if shorter:
                np.maximum(shorter[begin][..., None], shorter[begin + 1], out=grid)
            for free_axes, varying in between.get((begin, begin + length - 1), ()):
                aligned = varying.reshape([size if begin + i in free_axes else 1 for i, size in enumerate(grid.shape)])
                np.maximum(grid, aligned, out=grid)
            longer.append(grid)
        shorter = longer
    return shorter[0].reshape(shape)
