"""Published means and medians, computed again: each must be that of the rows which publish it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._errors import VerificationFailed

NEAR = 1e-9


def verify_averages(
    original: pl.DataFrame,
    published: pl.DataFrame,
    quasi: Sequence[str],
    averaged: Sequence[str],
    publish: str,
    missing_tokens: Sequence[str] = (),
    *,
    suppressed: npt.NDArray[np.bool_] | None = None,
    multiplicity: npt.NDArray[np.int64] | None = None,
) -> None:
    """Raise unless each class publishes, of each of the `averaged` columns, the mean or median of its rows.

    Rows of a class are those that publish the same of all quasi-identifiers, without `suppressed` ones. A class in
    which some values are missing publishes `*`, one in which all are publishes none.

    >>> before = pl.DataFrame({"age": [30, 34]})
    >>> verify_averages(before, pl.DataFrame({"age": [32.0, 32.0]}), ["age"], ["age"], "mean")
    >>> verify_averages(before, pl.DataFrame({"age": [33.0, 33.0]}), ["age"], ["age"], "mean")
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: 'age' would be published as 33.0 where the mean of the class is 32.0. Nothing ...
    """
    rows = np.arange(original.height)
    if suppressed is not None:
        rows = rows[~suppressed]
    if multiplicity is not None:
        rows = np.repeat(rows, multiplicity[rows])
    keys = pl.DataFrame([published[name].cast(pl.String).alias(f"q{at}") for at, name in enumerate(quasi)])[rows]
    for name in averaged:
        texts = original[name].cast(pl.String).replace(["", *missing_tokens], None)[rows]
        numbers = texts.cast(pl.Float64, strict=False).fill_nan(None)
        if (numbers.is_null() & texts.is_not_null() & (texts != "NaN")).any():
            raise _failed(f"{name!r} holds texts, of which there is no mean")
        table = keys.with_columns(number=numbers, shown=published[name].cast(pl.String)[rows])
        number = pl.col("number")
        by_class = table.group_by(keys.columns).agg(
            (number.mean() if publish == "mean" else number.median()).alias("average"),
            number.abs().max().alias("largest"), number.count().alias("known"), pl.len().alias("rows"),
            pl.col("shown").first(),
        )  # fmt: skip
        partly = (pl.col("known") > 0) & (pl.col("known") < pl.col("rows"))
        value = pl.col("shown").cast(pl.Float64, strict=False)
        near = (value - pl.col("average")).abs() <= NEAR * pl.max_horizontal("largest", 1e-300)
        allowed = (
            pl.when(pl.col("known") == 0).then(pl.col("shown").is_null())
            .when(partly).then(pl.col("shown") == "*")
            .otherwise(near)
        )  # fmt: skip
        wrong = by_class.filter(~allowed.fill_null(False))
        if wrong.height:
            published_value, average = wrong.row(0, named=True)["shown"], wrong.row(0, named=True)["average"]
            raise _failed(
                f"{name!r} would be published as {published_value} where the {publish} of the class is {average}"
            )


def _failed(what: str) -> VerificationFailed:
    return VerificationFailed(f"{what}. Nothing was written. This is an error in Kanopy: please report it.")
