"""From the values of a column to codes, under the policies for missing values: leaves of its hierarchy, or its own
values where they are substituted by each other.

Missing are null, NaN, the empty text (unless the hierarchy has it as a value) and the tokens given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kanopy._arrays import MISSING_LABEL, SUPPRESSED_LABEL, Floats, Ints, Longs, Mask
from kanopy._core.numbering import number_keys
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.column import column_values, is_text, labels_of, nulled, readable, replaced, values_as_numbers
from kanopy._table.policies import MISSING_POLICIES, UNKNOWN_POLICIES

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column as leaf numbers of its hierarchy.

    `codes` is -1 in rows that must be suppressed (`suppressed_rows`). `hierarchy` may have grown by the leaf of
    missing values (`missing_leaf`) or by unknown values. `missing_rows` and `unknown_rows` are `None` where there
    are none.
    """

    name: str
    codes: Ints
    hierarchy: Hierarchy
    missing: str = "as-value"
    missing_rows: Mask | None = None
    missing_leaf: int | None = None
    unknown_rows: Mask | None = None
    unknown_values: tuple[str, ...] = field(default=())

    @property
    def suppressed_rows(self) -> Mask | None:
        """Rows that the policies for missing and unknown values suppress, or `None` if there are none."""
        suppressed = self.codes < 0
        return suppressed if suppressed.any() else None

    def of_rows(self, rows: Ints | Longs) -> EncodedColumn:
        """The same column with other rows: copies of those here."""
        masks = [None if mask is None else mask[rows] for mask in (self.missing_rows, self.unknown_rows)]
        return replace(self, codes=self.codes[rows], missing_rows=masks[0], unknown_rows=masks[1])

    def labels_at(self, level: int) -> list[str | None]:
        """What each code of a level is published as: its label, or null while a missing value is not generalized."""
        labels: list[str | None] = list(self.hierarchy.labels_at(level))
        if self.missing_leaf is not None:
            code = int(self.hierarchy.level(level).codes[self.missing_leaf])
            if labels[code] == self.hierarchy.values[self.missing_leaf]:
                labels[code] = None
        return labels

    def decode(self, level: int = 0, *, compact: bool = False) -> pl.Series:
        """The column as published at one level; rows to be suppressed are null.

        `compact=True` gives an enumeration instead of text: a tenth of the memory, written to files the same way.

        >>> from kanopy.hierarchy.hierarchy import Hierarchy
        >>> column = encode_column(pl.Series("n", [1, None, 2]), Hierarchy.flat(["1", "2"]))
        >>> column.decode(0).to_list(), column.decode(1).to_list()
        (['1', None, '2'], ['*', '*', '*'])
        """
        level_codes = self.hierarchy.level(level).codes
        suppressed = self.suppressed_rows
        codes = level_codes[self.codes if suppressed is None else np.maximum(self.codes, 0)]
        labels = pl.Series(self.labels_at(level), dtype=pl.String)
        if compact:
            labels = labels.cast(pl.Enum(labels.drop_nulls().unique(maintain_order=True)))
        decoded = labels.gather(pl.Series(codes))
        if suppressed is not None:
            decoded = nulled(decoded, suppressed)
        return decoded.rename(self.name)


def encode_column(
    series: pl.Series,
    hierarchy: Hierarchy,
    *,
    missing: str = "as-value",
    unknown: str = "error",
    missing_tokens: Collection[str] = (),
) -> EncodedColumn:
    """The leaf of every row's value, under the policies for missing and unknown values.

    `missing`: `as-value` gives missing values a leaf of their own, `suppress` marks their rows, `error` refuses.
    `unknown`: `error` refuses values that the hierarchy does not have, `suppress` marks their rows, `add` puts them
    directly under the top. A number or date that lies in an interval of the hierarchy is not unknown.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> column = encode_column(pl.Series("sex", ["m", "f", None]), Hierarchy.flat(["f", "m"]))
    >>> column.codes, column.hierarchy.values
    (array([1, 0, 2], dtype=int32), ('f', 'm', '(missing)'))
    """
    for given, policies, what in ((missing, MISSING_POLICIES, "missing"), (unknown, UNKNOWN_POLICIES, "unknown")):
        if given not in policies:
            raise JobError(f"There is no policy {what}={given!r}. {near_miss(given, policies)}")
    name = series.name or hierarchy.name
    plain = readable(series)
    tokens = {"", *missing_tokens} - ({""} & set(hierarchy.index))
    codes, missing_rows, unknown_rows = _leaves(plain, hierarchy, tokens)
    unknown_values: list[str] = []
    if unknown_rows is not None:
        stray = [
            label for label in labels_of(plain.filter(pl.Series(unknown_rows)).unique(maintain_order=True)) if label
        ]
        more = hierarchy.placed(stray)
        if more is not hierarchy:
            hierarchy = more
            codes, missing_rows, unknown_rows = _leaves(plain, hierarchy, tokens)
        unknown_values = [label for label in dict.fromkeys(stray) if label not in hierarchy.index]
    if unknown_rows is not None:
        if unknown == "error":
            raise _unknown_error(name, unknown_values, int(unknown_rows.sum()), hierarchy)
        if unknown == "add":
            hierarchy = _extended(hierarchy, unknown_values)
            codes, missing_rows, unknown_rows = _leaves(plain, hierarchy, tokens)
    missing_leaf = None
    if missing_rows is not None:
        if missing == "error":
            rows = np.flatnonzero(missing_rows)
            raise DataError(
                f"The column {name!r} has {len(rows):,} missing values, first in rows {some((rows[:5] + 1).tolist())} "
                "(counted from 1, without the header). Fill them in, or choose missing='as-value' or 'suppress'."
            )
        if missing == "as-value":
            label = _free_label(hierarchy)
            hierarchy = _with_top(hierarchy).with_value(label)
            missing_leaf = hierarchy.index[label]
            codes[missing_rows] = missing_leaf
    return EncodedColumn(
        name, codes, hierarchy, missing, missing_rows, missing_leaf, unknown_rows, tuple(unknown_values)
    )


def _free_label(hierarchy: Hierarchy) -> str:
    """A label for missing values that no node of the hierarchy has."""
    taken = set(hierarchy.labels)
    label, number = MISSING_LABEL, 2
    while label in taken:
        label, number = f"(missing {number})", number + 1
    return label


def _with_top(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy with one top that a further value can lie under; `*` is put above several, or above one value."""
    if hierarchy.height == 0:
        return type(hierarchy).flat(hierarchy.values, name=hierarchy.name)
    return hierarchy.rooted()


def _extended(hierarchy: Hierarchy, values: Iterable[str]) -> Hierarchy:
    """The hierarchy with all given values as leaves under its top; many at once unless nodes carry intervals."""
    first, *rest = values
    hierarchy = _with_top(hierarchy).with_value(first)
    if len(rest) > 50 and hierarchy.low is None:
        rows = list(hierarchy.rows())
        top = rows[0][-1]
        rows += [(value,) * hierarchy.height + (top if hierarchy.height else value,) for value in rest]
        return type(hierarchy).from_rows(rows, name=hierarchy.name, require_nesting=hierarchy.nested)
    for value in rest:
        hierarchy = hierarchy.with_value(value)
    return hierarchy


def _unknown_error(name: str, values: Sequence[str], rows: int, hierarchy: Hierarchy) -> DataError:
    spaced = [value for value in values if value.strip() in hierarchy.index]
    hint = f" Without surrounding spaces, {spaced[0]!r} is known." if spaced else ""
    hint_values = f" It knows {some(hierarchy.values, hierarchy.size)}."
    where = f"{rows:,} row{'s' * (rows > 1)}"
    return DataError(
        f"The hierarchy of {name!r} does not know {len(values):,} of the column's values ({where}): {some(values)}."
        f"{hint}{hint_values} Add them to the hierarchy, or choose unknown='suppress' or unknown='add'."
    )


def _leaves(plain: pl.Series, hierarchy: Hierarchy, tokens: set[str]) -> tuple[Ints, Mask | None, Mask | None]:
    """Leaf per row (-1 where there is none) and which of those rows are missing or unknown."""
    index = {label: leaf for label, leaf in hierarchy.index.items() if label not in tokens}
    if plain.dtype == pl.String:
        unique, leaves = pl.Series(list(index), dtype=pl.String), np.array(list(index.values()), np.int32)
    else:
        unique = plain.drop_nulls().unique()
        leaves = np.array([index.get(label or "", -1) for label in labels_of(unique)], np.int32)
    codes = replaced(plain, unique, leaves)
    without_leaf = codes < 0
    if not without_leaf.any():
        return codes, None, None
    missing = plain.is_null().to_numpy()
    if int(without_leaf.sum()) > plain.null_count():  # not only true nulls have no leaf: tell missing and unknown apart
        stray = plain.filter(pl.Series(without_leaf)).drop_nulls().unique()
        unknown = np.array([label not in tokens for label in labels_of(stray)], np.int32)
        missing = missing | (replaced(plain, stray, unknown) == 0)
    unknown_rows = without_leaf & ~missing
    return codes, missing if missing.any() else None, unknown_rows if unknown_rows.any() else None


@dataclass(frozen=True, eq=False)
class SubstitutedColumn:
    """A column as codes of its own values, ascending by label; the missing value, if any, is the last (`None`).

    A published value is taken from a record that has it, so its type and spelling are exactly those of the column.
    `numbers` are the values of a numeric or temporal column (NaN where missing), otherwise `None`.
    """

    name: str
    labels: tuple[str | None, ...]
    codes: Ints
    source: pl.Series
    first_row: Ints
    numbers: Floats | None = None

    @property
    def as_numbers(self) -> Floats | None:
        """The values as numbers, of texts too if all of them are some; NaN where missing or neutral."""
        if self.numbers is not None or not self.is_text:
            return self.numbers
        labels_present = [label for label in self.labels if label is not None and label != SUPPRESSED_LABEL]
        numbers = values_as_numbers(labels_present, self.source.dtype) if labels_present else None
        if numbers is None:
            return None
        number: dict[str | None, float] = dict(zip(labels_present, numbers.tolist(), strict=True))
        return np.array([number.get(label, np.nan) for label in self.labels])

    @property
    def counts(self) -> Longs:
        """Records per value."""
        return np.bincount(self.codes, minlength=len(self.labels)).astype(np.int64)

    @property
    def is_text(self) -> bool:
        """Whether any text can be a value of the column."""
        return is_text(self.source)

    @property
    def missing_rows(self) -> int:
        """Records without a value."""
        return int((self.codes == len(self.labels) - 1).sum()) if self.labels and self.labels[-1] is None else 0

    def extended(self, texts: Sequence[str]) -> SubstitutedColumn:
        """The column with further values that no record has: texts, and the missing value.

        >>> column = substituted(pl.Series("why", ["walk", "beach"])).extended(["shore"])
        >>> column.labels, column.publish(np.array([2, 3, 1], np.int32)).to_list()
        (('beach', 'walk', 'shore', None), ['shore', None, 'walk'])
        """
        labels_present = [label for label in self.labels if label is not None]
        source_texts = self.source.cast(pl.String) if texts and self.source.dtype != pl.String else self.source
        source = pl.concat([source_texts, pl.Series(source_texts.name, [*texts, None], dtype=source_texts.dtype)])
        last = len(labels_present) + len(texts)
        codes = np.where(self.codes >= len(labels_present), last, self.codes).astype(np.int32)
        more = len(source_texts) + np.arange(len(texts) + 1)
        first = np.concatenate([self.first_row[: len(labels_present)], more]).astype(np.int32)
        numbers = None if self.numbers is None else np.append(self.numbers[: len(labels_present)], np.nan)
        return SubstitutedColumn(self.name, (*labels_present, *texts, None), codes, source, first, numbers)

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
        policies = {name: MISSING_POLICIES[name] for name in ("as-value", "error")}
        raise JobError(f"Masking has no policy missing={missing!r}. {near_miss(str(missing), policies)}")
    plain = readable(series)
    tokens = [token.strip() for token in missing_tokens]
    labels, codes = column_values(series, missing_tokens=tokens, strip=True).sorted_as_text()
    first = number_keys(codes.astype(np.int64), len(labels), ascending=True).first.astype(np.int32)
    is_missing = codes == len(labels) - 1 if labels and labels[-1] is None else np.zeros(len(codes), np.bool_)
    if missing == "error" and is_missing.any():
        raise DataError(
            f"The column {series.name!r} has missing or empty values, e.g. in rows "
            f"{some((np.flatnonzero(is_missing)[:6] + 1).tolist())} (counted from 1, without the header). Fill them "
            f"in, or "
            "choose missing='as-value'."
        )
    source = nulled(plain, is_missing) if int(is_missing.sum()) > plain.null_count() else plain
    return SubstitutedColumn(series.name, tuple(labels), codes, source, first, _numbers(plain, first))


def _numbers(plain: pl.Series, first: Ints) -> Floats | None:
    dtype = plain.dtype
    if not (dtype.is_numeric() or dtype.is_temporal()):
        return None
    values = plain.gather(pl.Series(first))
    if dtype.is_temporal():
        values = values.to_physical()
    return np.asarray(values.cast(pl.Float64).fill_null(float("nan")).to_numpy(), np.float64)


def sampling_weights(series: pl.Series) -> Floats:
    """How many people each row stands for; refuses what is not a number above 0, with the rows where it stands.

    >>> sampling_weights(pl.Series("w", [1.0, 2.5])).tolist()
    [1.0, 2.5]
    """
    values = column_values(series)
    readable_as = series.dtype.is_numeric() or is_text(series)
    numbers = values_as_numbers(values.labels, series.dtype) if readable_as else None
    if numbers is None:
        strange = [
            label for label in values.labels if not readable_as or values_as_numbers([label], series.dtype) is None
        ]
        raise DataError(
            f"The sampling weights {series.name!r} hold {some(strange)}. A weight is a number above 0: how many "
            "people a row represents. Name the column with the weights."
        )
    weights = np.append(numbers, np.nan)[values.codes]
    wrong = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if len(wrong):
        held = [values.labels[code] if code >= 0 else None for code in values.codes[wrong].tolist()]
        rows = f"{len(wrong):,} {'row' if len(wrong) == 1 else 'rows'}"
        raise DataError(
            f"The sampling weights {series.name!r} are missing, zero or negative in {rows}: {some(held)} in rows "
            f"{some((wrong + 1).tolist())} (counted from 1, without the header). Correct the weights, or leave these "
            "rows out."
        )
    return weights


def household_codes(series: pl.Series) -> tuple[Ints, int]:
    """The household of every row, and how many rows name none: each of these is a household of its own.

    >>> household_codes(pl.Series("h", ["a", None, "a", None]))
    (array([0, 1, 0, 2], dtype=int32), 2)
    """
    values = column_values(series)
    codes, alone = values.codes.copy(), values.codes < 0
    codes[alone] = len(values.labels) + np.arange(int(alone.sum()))
    return codes, int(alone.sum())
