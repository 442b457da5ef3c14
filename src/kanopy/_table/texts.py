"""Columns whose values are substituted by other values of the same column: codes, labels, and where each value stands.

A published value is taken from a record that has it, so its type and spelling are exactly those of the column.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.encode import _labels, _plain
from kanopy._table.policies import MISSING_POLICIES


@dataclass(frozen=True, eq=False)
class SubstitutedColumn:
    """A column as codes of its own values, ascending by label; the missing value, if any, is the last (`None`).

    `numbers` are the values of a numeric or temporal column (NaN where missing), otherwise `None`.
    """

    name: str
    labels: tuple[str | None, ...]
    codes: Ints
    source: pl.Series
    first_row: Ints
    numbers: Floats | None = None

    @property
    def missing_rows(self) -> int:
        """Records without a value."""
        return int((self.codes == len(self.labels) - 1).sum()) if self.labels and self.labels[-1] is None else 0

    def publish(self, codes: Ints) -> pl.Series:
        """The column with other values of its own.

        >>> column = substituted(pl.Series("n", [7, 5, 7]))
        >>> column.publish(np.array([0, 0, 1], np.int32)).to_list()
        [5, 5, 7]
        """
        return self.source.gather(pl.Series(self.first_row[codes])).rename(self.name)


def substituted(
    series: pl.Series, *, missing: str = "as-value", missing_tokens: Collection[str] = ()
) -> SubstitutedColumn:
    """Encode a column by its own values. Null, NaN, blank text and `missing_tokens` are one missing value.

    >>> column = substituted(pl.Series("why", ["walk", None, " ", "beach", "walk"]))
    >>> column.labels, column.codes.tolist()
    (('beach', 'walk', None), [1, 2, 2, 0, 1])
    """
    if missing not in ("as-value", "error"):
        known = {name: MISSING_POLICIES[name] for name in ("as-value", "error")}
        raise JobError(f"Masking has no policy missing={missing!r}. {near_miss(str(missing), known)}")
    plain = _plain(series)
    rows = pl.DataFrame({"value": plain, "row": pl.arange(len(plain), eager=True, dtype=pl.Int32)})
    distinct = rows.group_by("value").agg(pl.col("row").min()).sort("row")
    tokens = {token.strip() for token in missing_tokens}
    labels = [
        None if label is None or not label.strip() or label.strip() in tokens else label
        for label in _labels(distinct["value"])
    ]
    order = sorted({label for label in labels if label is not None})
    codes_of_label: dict[str | None, int] = {label: code for code, label in enumerate(order)}
    everything: list[str | None] = list(order)
    if None in labels:
        if missing == "error":
            wrong = distinct.filter(pl.Series([label is None for label in labels]))["row"].to_list()
            raise DataError(
                f"The column {series.name!r} has missing or empty values, e.g. in rows "
                f"{some([row + 1 for row in wrong])} (counted from 1, without the header). Fill them in, or choose "
                "missing='as-value'."
            )
        codes_of_label[None] = len(everything)
        everything.append(None)
    codes = pl.Series("code", [codes_of_label[label] for label in labels], dtype=pl.Int32)
    of_row = rows.join(distinct.select("value").with_columns(codes), on="value", how="left", nulls_equal=True)
    by_row = of_row.sort("row")["code"].to_numpy().astype(np.int32)
    first = np.zeros(len(everything), np.int32)
    # From last to first, so that the first record of each value stays.
    for label, row in zip(reversed(labels), reversed(distinct["row"].to_list()), strict=True):
        first[codes_of_label[label]] = row
    source = plain
    if None in codes_of_label and plain[int(first[-1])] is not None:
        source = plain.to_frame().with_columns(
            pl.when(pl.Series(by_row == len(everything) - 1)).then(None).otherwise(pl.col(plain.name)).alias(plain.name)
        )[plain.name]
    return SubstitutedColumn(series.name, tuple(everything), by_row, source, first, _numbers(plain, first))


def _numbers(plain: pl.Series, first: Ints) -> Floats | None:
    dtype = plain.dtype
    if not (dtype.is_numeric() or dtype.is_temporal()):
        return None
    values = plain.gather(pl.Series(first))
    if dtype.is_temporal():
        values = values.to_physical()
    return np.asarray(values.cast(pl.Float64).fill_null(float("nan")).to_numpy(), np.float64)
