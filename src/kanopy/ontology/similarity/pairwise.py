"""Similarities of many concepts with many others: blocks, whole matrices, nearest neighbours.

Blocks are computed in parallel threads (the kernels and NumPy release the interpreter) and handed out in order;
unless a whole matrix is asked for, nothing of quadratic size is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._errors import OntologyError
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.ontology.similarity.measures import Measure, find_measure
from kanopy.ontology.taxonomy import Taxonomy

LARGEST_MATRIX = 2_000_000_000


@public("kanopy.ontology")
@checked
def similarity_blocks(
    taxonomy: Taxonomy,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None = None,
    measure: str | Measure = "wu-palmer",
    *,
    threads: int | None = None,
) -> Iterator[tuple[int, Floats]]:
    """Row blocks of the similarity matrix, in order: the first row's position and the block.

    `columns` are the rows themselves if not given; `threads` is the number of processors if not given.

    >>> from kanopy.ontology import load_ontology
    >>> w = load_ontology("wordnet")
    >>> [(start, block.shape) for start, block in similarity_blocks(w, [w.sense("cat"), w.sense("dog")])]
    [(0, (2, 2))]
    """
    for start, block, _ in _blocks(taxonomy, rows, columns, find_measure(measure), threads, 0):
        yield start, block


@public("kanopy.ontology")
@checked
def similarity_matrix(
    taxonomy: Taxonomy,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None = None,
    measure: str | Measure = "wu-palmer",
    *,
    threads: int | None = None,
    dtype: npt.DTypeLike = np.float64,
) -> npt.NDArray[Any]:
    """The whole similarity matrix in memory. Ask for `float32` to halve it, or use `similarity_blocks`.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> similarity_matrix(w, [w.sense("cat"), w.sense("dog")]).round(3).tolist()
    [[1.0, 0.867], [0.867, 1.0]]
    """
    left = _concepts(rows)
    right = left if columns is None else _concepts(columns)
    if len(left) * len(right) > LARGEST_MATRIX:
        raise OntologyError(
            f"A matrix of {len(left):,} by {len(right):,} similarities is too large to keep. "
            "Use `similarity_blocks` or `nearest_concepts`."
        )
    out = np.empty((len(left), len(right)), dtype)
    for start, block in similarity_blocks(taxonomy, left, right, measure, threads=threads):
        out[start : start + len(block)] = block
    return out


@public("kanopy.ontology")
@checked
def nearest_concepts(
    taxonomy: Taxonomy,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None = None,
    measure: str | Measure = "wu-palmer",
    *,
    count: int = 10,
    threads: int | None = None,
) -> tuple[Longs, Floats]:
    """Per row concept the positions of its `count` most similar columns, best first, and their similarities.

    Of equally similar columns the first wins. A concept is its own nearest neighbour if it is among the columns.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> words = ["dog", "car", "lion"]
    >>> positions, _ = nearest_concepts(w, [w.sense("cat")], [w.sense(word) for word in words], count=2)
    >>> [words[at] for at in positions[0]]
    ['lion', 'dog']
    """
    if count < 1:
        raise OntologyError(f"Ask for at least one neighbour, not {count}.")
    indices, values = [], []
    for _, block, best in _blocks(taxonomy, rows, columns, find_measure(measure), threads, count):
        assert best is not None
        indices.append(best)
        values.append(np.take_along_axis(block, best, axis=1))
    if not indices:
        return np.empty((0, count), np.int64), np.empty((0, count))
    return np.concatenate(indices), np.concatenate(values)


def _blocks(
    taxonomy: Taxonomy,
    rows: npt.ArrayLike,
    columns: npt.ArrayLike | None,
    measure: Measure,
    threads: int | None,
    count: int,
) -> Iterator[tuple[int, Floats, Longs | None]]:
    from kanopy.ontology.similarity.subsumers_kernel import best_of_rows

    left = _concepts(rows)
    right = left if columns is None else _concepts(columns)
    if not len(left) or not len(right):
        return
    height = max(1, measure.pairs_at_once // len(right))

    def compute(start: int) -> tuple[int, Floats, Longs | None]:
        block = np.asarray(measure(taxonomy, left[start : start + height, None], right[None, :]), np.float64)
        return start, block, best_of_rows(np.ascontiguousarray(block), count) if count else None

    workers = threads or os.cpu_count() or 1
    starts = iter(range(0, len(left), height))
    yield from map(compute, islice(starts, 1))  # what is prepared once per taxonomy is prepared by one thread
    if workers == 1:
        yield from map(compute, starts)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: list[Future[tuple[int, Floats, Longs | None]]] = []
        for start in starts:
            waiting.append(pool.submit(compute, start))
            if len(waiting) > 2 * workers:  # bounded: finished blocks must not pile up
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()


def _concepts(concepts: npt.ArrayLike | Sequence[int]) -> Ints:
    array = np.ascontiguousarray(concepts, np.int32)
    if array.ndim != 1:
        raise OntologyError("Give the concepts as a flat list of numbers.")
    return array
