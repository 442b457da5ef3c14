"""Combinations of a few columns that too few rows share: nobody knows all columns, but many know some (subset-k)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Longs, Mask
from kanopy._core.numbering import SMALL_ALONE, number_rows
from kanopy._core.units import Units
from kanopy._errors import JobError
from kanopy._mixins import DictMixin, ReprMixin

MOST_SETS = 100_000

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class UnsafeSet(DictMixin, ReprMixin):
    """A set of columns, how many combinations of values it has, and those shared by fewer than `k` rows.

    `first[i]` is a row with the unsafe combination `i`, `counts[i]` how many rows share it.
    """

    columns: tuple[str, ...]
    k: int
    combinations: int
    unsafe: int
    rows: int
    first: Longs = field(repr=False)
    counts: Longs = field(repr=False)

    json_names = {"first": "", "counts": ""}  # noqa: RUF012


def check_sets(every: Mapping[int, int], columns: int) -> None:
    """Refuse sets that a number of columns does not have, or that are too many to look at."""
    if wrong := [size for size in every if size > columns]:
        raise JobError(
            f"The job requires combinations of {wrong[0]} quasi-identifiers, but has only {columns}. Require smaller "
            "ones, or name more columns."
        )
    sets = sum(comb(columns, size) for size in every)
    if sets > MOST_SETS:
        raise JobError(f"{sets:,} sets of columns are too many to examine ({MOST_SETS:,}). Use smaller combinations.")


def unsafe_sets(
    names: Sequence[str],
    columns: Sequence[Codes],
    every: Mapping[int, int],
    counts: Longs | None = None,
    sizes: Sequence[int] | None = None,
    units: Units | None = None,
) -> tuple[list[UnsafeSet], Mask]:
    """Every set of m columns with combinations of values that fewer than `every[m]` rows share, and those rows.

    `counts` says for how many rows each entry of the columns stands, or `units` whose it is: then people are counted. A
    negative code leaves the row out of the sets with that column. The check of sdcMicro's `combs`, and of the
    identification levels of μ-Argus.

    >>> found, at_risk = unsafe_sets(["a", "b"], [np.array([0, 0, 1]), np.array([0, 0, 0])], {1: 2})
    >>> found[0].columns, found[0].unsafe, at_risk.tolist()
    (('a',), 1, [False, False, True])
    """
    check_sets(every, len(names))
    unsafe_found, at_risk = [], np.zeros(len(columns[0]), np.bool_)
    for size, k in sorted(every.items()):
        for chosen in combinations(range(len(names)), size):
            chosen_sizes = None if sizes is None else [sizes[j] for j in chosen]
            number, first, rows = number_rows([columns[j] for j in chosen], chosen_sizes, small=SMALL_ALONE)
            if counts is not None:
                used = number >= 0
                rows = np.bincount(number[used], counts[used], len(first)).astype(np.int64)
            rows = rows if units is None else units.people(number, len(first))
            few = rows < k
            if few.any():
                wrong = np.append(few, False)[number]
                at_risk |= wrong
                names_of = tuple(names[j] for j in chosen)
                unsafe = first[few], rows[few]
                many = int(unsafe[1].sum()) if units is None else len(np.unique(units.of_row[wrong]))
                unsafe_found.append(UnsafeSet(names_of, k, len(first), len(unsafe[0]), many, *unsafe))
    return unsafe_found, at_risk
