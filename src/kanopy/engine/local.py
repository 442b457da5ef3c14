"""The engine for tables that fit in memory: counts tuples and applies recodings; knows nothing of privacy or search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kanopy._arrays import MISSING_LABEL, SUPPRESSED_LABEL, Longs, Mask
from kanopy._core.classes import Domain, Population, Recoding, Sensitive, Survey, rows_by_group
from kanopy._core.numbering import distinct_tuples
from kanopy._core.units import Units
from kanopy._errors import DataError
from kanopy._table.column import column_values, nulled, values_as_numbers
from kanopy._table.encode import EncodedColumn, encode_column
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Counted:
    """A table reduced to its domain, and the encoded columns it came from."""

    domain: Domain
    columns: tuple[EncodedColumn, ...]
    population_columns: tuple[EncodedColumn, ...] = ()

    def published_population(self, levels: Sequence[int]) -> pl.DataFrame:
        """The labels that a full-domain release would publish for the population."""
        pairs = zip(self.population_columns, levels, strict=True)
        return pl.DataFrame([column.decode(level).alias(column.name) for column, level in pairs])


class LocalEngine:
    """Polars and NumPy on one machine."""

    def count(
        self,
        frame: pl.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        *,
        sensitive: Sequence[str] = (),
        sensitive_hierarchies: Mapping[str, Hierarchy] | None = None,
        population: pl.DataFrame | None = None,
        survey: Survey | None = None,
        missing: str = "as-value",
        unknown: str = "error",
        missing_tokens: Sequence[str] = (),
        units: Units | None = None,
        multiplicity: Longs | None = None,
    ) -> Counted:
        """Encode the quasi-identifiers (the keys of `hierarchies`, in order) and count distinct tuples.

        A population is encoded together with the table, so that a value has one code in both. `multiplicity` says for
        how many rows each row of the frame stands, where another engine counted them.
        """
        columns = tuple(
            encode_column(
                frame[name] if population is None else stacked(frame, population, name),
                hierarchy,
                missing=missing,
                unknown=unknown,
                missing_tokens=missing_tokens,
            )
            for name, hierarchy in hierarchies.items()
        )
        people: Population | None = None
        below: tuple[EncodedColumn, ...] = ()
        if population is not None:
            people = _population(columns, frame.height)
            below = tuple(_last_rows(column, frame.height) for column in columns)
            columns = tuple(_first_rows(column, frame.height) for column in columns)
        codes = [column.codes for column in columns]
        if codes:
            tuples, counts, tuple_of_row, _ = distinct_tuples(codes, [column.hierarchy.size for column in columns])
        else:  # a job of treatments only: all rows are one class, which promises nothing
            tuples, counts = np.zeros((1, 0), np.int32), np.array([frame.height], np.int64)
            tuple_of_row = np.zeros(frame.height, np.int32)
        if multiplicity is not None:
            counts = rows_by_group(tuple_of_row, len(counts), multiplicity)
        domain = Domain(
            names=tuple(hierarchies),
            hierarchies=tuple(column.hierarchy for column in columns),
            tuples=tuples,
            counts=counts,
            tuple_of_row=tuple_of_row,
            sensitive=tuple(
                sensitive_column(frame[name], (sensitive_hierarchies or {}).get(name), multiplicity)
                for name in sensitive
            ),
            population=people,
            survey=survey,
            units=units,
            multiplicity=multiplicity,
        )
        return Counted(domain, columns, below)

    def apply(
        self, frame: pl.DataFrame, counted: Counted, recoding: Recoding, *, dropped: Sequence[str], drop_rows: bool
    ) -> tuple[pl.DataFrame, Mask | None]:
        """The published frame, and which rows are in it (`None`: all).

        Quasi-identifiers carry their published labels, other columns stay as they are, `dropped` columns leave.
        A quasi-identifier that is published exactly as it was keeps its type.
        """
        is_suppressed = recoding.group_of_row < 0
        is_published = ~is_suppressed if drop_rows and is_suppressed.any() else None
        names = [name for name in frame.columns if name not in dropped]
        published = frame[names] if names else pl.DataFrame(height=frame.height)
        suppressed = bool(is_suppressed.any()) and not drop_rows
        replaced = []
        for j, column in enumerate(counted.columns):
            if not suppressed and _unchanged(recoding, column, j):
                unchanged = _as_it_was(frame[column.name], column)
                if unchanged is not None:
                    replaced.append(unchanged)
                    continue
            replaced.append(_labels_of_rows(recoding, column, j))
        published = published.with_columns(replaced)
        return (published if is_published is None else published.filter(pl.Series(is_published))), is_published


def _unchanged(recoding: Recoding, column: EncodedColumn, j: int) -> bool:
    """Whether every published label of an attribute is the original value itself."""
    if not len(recoding.nodes):
        return False
    nodes = recoding.nodes[j][recoding.codes[recoding.group_sizes > 0, j]]
    return bool(((nodes >= 0) & (nodes < column.hierarchy.size)).all())


def _as_it_was(series: pl.Series, column: EncodedColumn) -> pl.Series | None:
    """The column itself, all its missing values null; `None` where it tells values apart that have one label.

    Null, NaN, an empty text and the tokens for missing values are one value; so are -0.0 and 0.0, or moments less
    than a microsecond apart. Published as they are, they would split a class.
    """
    if column.missing_rows is not None and series.null_count() < int(column.missing_rows.sum()):
        series = nulled(series, column.missing_rows)
    original, series = series, series.rename("")
    if series.dtype.is_float():
        zeros = series.filter(series == 0.0).to_numpy()
        if len(zeros) and len(np.unique(np.signbit(zeros))) > 1:
            return None
    elif series.dtype in (pl.Datetime, pl.Duration, pl.Time):
        distinct = series.drop_nulls().n_unique()
        codes_used = np.unique(column.codes[series.is_not_null().to_numpy()])
        if distinct != len(codes_used):
            return None
    return original


def _labels_of_rows(recoding: Recoding, column: EncodedColumn, j: int) -> pl.Series:
    labels: list[str | None] = list(recoding.labels[j])
    if column.missing_leaf is not None:
        missing = column.hierarchy.values[column.missing_leaf]
        labels = [None if label == missing else label for label in labels]
    labels.append(SUPPRESSED_LABEL)
    by_group = np.append(recoding.codes[:, j], len(labels) - 1)
    codes = by_group[recoding.group_of_row]
    # A file holds the categories of its columns too: those of suppressed rows must not be among them.
    used = np.bincount(codes, minlength=len(labels)) > 0
    labels = [label if there else None for label, there in zip(labels, used, strict=True)]
    if recoding.averaged and recoding.averaged[j] and SUPPRESSED_LABEL not in labels:
        numbers = pl.Series(column.name, [None if label is None else float(label) for label in labels], pl.Float64)
        return numbers.gather(pl.Series(codes))
    categories = pl.Enum(list(dict.fromkeys(label for label in labels if label is not None)))
    return pl.Series(labels, dtype=categories).gather(pl.Series(codes)).rename(column.name)


def stacked(frame: pl.DataFrame, population: pl.DataFrame, name: str) -> pl.Series:
    """A column of the table with the same column of the population below it."""
    table_values, other = frame[name], population[name]
    if table_values.dtype != other.dtype:
        kinds = (pl.Categorical, pl.Enum)
        table_values = table_values.cast(pl.String) if isinstance(table_values.dtype, kinds) else table_values
        other = other.cast(pl.String) if isinstance(other.dtype, kinds) else other
    try:
        return pl.concat([table_values.to_frame(), other.to_frame()], how="vertical_relaxed").to_series()
    except pl.exceptions.PolarsError:
        raise DataError(
            f"The column {name!r} holds {table_values.dtype} values in the table and {other.dtype} values in the "
            f"population. "
            "Give both the same type."
        ) from None


def _first_rows(column: EncodedColumn, rows: int) -> EncodedColumn:
    masks = {
        name: None if mask is None or not mask[:rows].any() else mask[:rows]
        for name, mask in (("missing_rows", column.missing_rows), ("unknown_rows", column.unknown_rows))
    }
    return replace(column, codes=column.codes[:rows], **masks)  # type: ignore[arg-type]


def _last_rows(column: EncodedColumn, rows: int) -> EncodedColumn:
    return replace(column, codes=column.codes[rows:], missing_rows=None, unknown_rows=None)


def _population(columns: Sequence[EncodedColumn], rows: int) -> Population:
    """The tuples of the rows below the table; people with a value that is not known fit nothing that is published."""
    codes = [np.ascontiguousarray(column.codes[rows:]) for column in columns]
    tuples, counts, _, _ = distinct_tuples(codes, [column.hierarchy.size for column in columns])
    return Population(tuples, counts)


def sensitive_column(series: pl.Series, hierarchy: Hierarchy | None, multiplicity: Longs | None) -> Sensitive:
    """A sensitive column as codes; a missing value counts as a value of its own."""
    tree = hierarchy or Hierarchy.flat(column_values(series).labels or [MISSING_LABEL], name=series.name)
    encoded = encode_column(series, tree)
    labels = encoded.hierarchy.values
    return Sensitive(
        series.name,
        labels,
        encoded.codes,
        numbers=values_as_numbers(labels, series.dtype),
        hierarchy=encoded.hierarchy if hierarchy is not None else None,
        multiplicity=multiplicity,
    )
