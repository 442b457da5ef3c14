"""Columns whose values are substituted by other values of the same column: codes, labels, and where each value stands.

A published value is taken from a record that has it, so its type and spelling are exactly those of the column.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints
from kanopy._core.numbering import number_keys
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.column import column_values, nulled, readable
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
    plain = readable(series)
    tokens = [token.strip() for token in missing_tokens]
    labels, codes = column_values(series, missing_tokens=tokens, strip=True).sorted_as_text()
    first = number_keys(codes.astype(np.int64), len(labels), ascending=True).first.astype(np.int32)
    gone = codes == len(labels) - 1 if labels and labels[-1] is None else np.zeros(len(codes), np.bool_)
    if missing == "error" and gone.any():
        raise DataError(
            f"The column {series.name!r} has missing or empty values, e.g. in rows "
            f"{some((np.flatnonzero(gone)[:6] + 1).tolist())} (counted from 1, without the header). Fill them in, or "
            "choose missing='as-value'."
        )
    source = nulled(plain, gone) if int(gone.sum()) > plain.null_count() else plain
    return SubstitutedColumn(series.name, tuple(labels), codes, source, first, _numbers(plain, first))


def _numbers(plain: pl.Series, first: Ints) -> Floats | None:
    dtype = plain.dtype
    if not (dtype.is_numeric() or dtype.is_temporal()):
        return None
    values = plain.gather(pl.Series(first))
    if dtype.is_temporal():
        values = values.to_physical()
    return np.asarray(values.cast(pl.Float64).fill_null(float("nan")).to_numpy(), np.float64)
