"""Plain masking methods on tables, to compare with: none of them promises a k."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from kanopy._arrays import Floats
from kanopy._errors import JobError, called, some
from kanopy._table.delimited import check_columns
from kanopy.masking.baselines import (
    BASELINES,
    add_correlated_noise,
    add_noise,
    post_randomize,
    resample,
    round_to,
    sample,
    swap_ranks,
)


def baseline(
    frame: pl.DataFrame, method: str, columns: Sequence[str], amount: float | None = None, *, seed: int = 0
) -> pl.DataFrame:
    """The named columns of a table after a plain method that promises no k; columns that are not named are left out.

    >>> baseline(pl.DataFrame({"age": [12, 17, 18], "name": ["a", "b", "c"]}), "rounding", ["age"], 5)["age"].to_list()
    [10, 15, 20]
    """
    chosen = BASELINES[called(method, BASELINES, "method")]
    if not columns:
        raise JobError("Name the columns to publish; others are left out.")
    check_columns(list(columns), frame.columns, "The table")
    number = chosen.usual if amount is None else amount
    if number is None:
        raise JobError(f"{method} needs a number: {chosen.amount}.")
    named = frame.select(columns)
    if method == "sampling":
        return named[sample(len(named), number, seed=seed)]
    if method == "pram":
        return pl.DataFrame(
            [pl.Series(name, post_randomize(named[name].to_list(), number, seed=seed + at), named[name].dtype)
             for at, name in enumerate(columns)]
        )  # fmt: skip
    numbers = {name: _column_of_numbers(named[name]) for name in columns}
    if method == "correlated-noise":
        noisy = add_correlated_noise(np.column_stack(list(numbers.values())), number, seed=seed)
        return pl.DataFrame({name: noisy[:, at] for at, name in enumerate(columns)})
    run: dict[str, Callable[[Floats, int], Floats]] = {
        "noise": lambda values, own: add_noise(values, number, seed=own),
        "rank-swapping": lambda values, own: swap_ranks(values, number, seed=own),
        "rounding": lambda values, own: round_to(values, number),
        "resampling": lambda values, own: resample(values, int(number) if number == int(number) else -1, seed=own),
    }
    done = (pl.Series(name, run[method](values, seed + at)) for at, (name, values) in enumerate(numbers.items()))
    return pl.DataFrame([_whole(column.fill_nan(None), method in ("rounding", "rank-swapping")) for column in done])


def one_per_group(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Sampling by representatives: each published combination once, and how many people it stands for.

    Named as future work in Martínez 2010: a masked table, whose groups share their values, is published as one record
    per group.

    >>> one_per_group(pl.DataFrame({"why": ["bird", "beach", "bird"]}), ["why"]).rows()
    [('bird', 2), ('beach', 1)]
    """
    counted = "people" if "people" not in columns else "people_in_group"
    return frame.group_by(list(columns), maintain_order=True).len(name=counted)


def _column_of_numbers(column: pl.Series) -> Floats:
    numbers = column.cast(pl.Float64, strict=False)
    lost = column.filter(numbers.is_null() & column.is_not_null())
    if len(lost):
        raise JobError(f"{column.name!r} has values that are no numbers: {some(lost.unique().sort().to_list())}.")
    return numbers.fill_null(np.nan).to_numpy().astype(np.float64)


def _whole(column: pl.Series, wanted: bool) -> pl.Series:
    """Whole numbers as such, where a method keeps them whole."""
    return column.cast(pl.Int64) if wanted and bool((column.drop_nulls() % 1 == 0).all()) else column
