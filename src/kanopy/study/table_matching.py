"""Two tables side by side: a release and its original, columns matched by name, rows by order, key or values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import MISSING_LABEL, Ints, Longs, Mask
from kanopy._errors import DataError, near_miss, some
from kanopy.metrics.risk.linkage import LARGEST_TABLE, PublishedColumn, distance_table
from kanopy.metrics.utility.published_values import ColumnDomain, parse_moment, parse_number, understand
from kanopy.study.value_matching import match_by_values

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Matched:
    """Two tables laid side by side.

    `partner[i]` is the released row of original row i, or -1 if it was left out; `hidden` marks released rows that
    publish nothing in any quasi-identifier. `dropped` columns are not in the release; `skipped` ones could not be
    read and are no quasi-identifiers; `contradicted` counts the rows whose label excludes their original value.
    """

    columns: dict[str, PublishedColumn]
    quasi: tuple[str, ...]
    partner: Longs
    hidden: Mask
    released_rows: int
    dropped: tuple[str, ...]
    skipped: tuple[str, ...]
    contradicted: dict[str, int]
    by_values: bool = False
    """Whether the rows are in another order, and each was matched with one that its labels allow."""

    @property
    def left_out(self) -> int:
        """Original rows that are not in the release."""
        return int((self.partner < 0).sum())


def match_tables(
    original: pl.DataFrame,
    released: Any,
    *,
    quasi: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    key: str | None = None,
    compare: Sequence[str] | None = None,
    disturbed: bool = False,
    partner: Longs | None = None,
) -> Matched:
    """Lay a release beside its original, or say why they do not belong together.

    Rows are matched by `key` (a column with a different value in every row), or else by order; a release with fewer
    rows may be the original in the same order with some rows left out. Where labels then exclude values, the rows are
    in another order, and each released row is matched with an original one that all its labels allow. If there is no
    such way and no column agrees row by row, that is an error, unless `disturbed` says that values were exchanged or
    noise was added on purpose. Who knows the released row of every original row gives it as `partner` (-1 where there
    is none).
    """
    from kanopy._table.frames import to_polars

    frame, _ = to_polars(released)
    hierarchies = hierarchies or {}
    strangers = [name for name in frame.columns if name not in original.columns]
    if strangers:
        raise DataError(
            f"The release has columns that the original lacks: {some(strangers)}. "
            f"{near_miss(strangers[0], original.columns)} Give the original of this release, or rename the columns."
        )
    for name in (*quasi, *([key] if key else [])):
        if name not in original.columns:
            raise DataError(f"The original has no column {name!r}. {near_miss(name, original.columns)}")
    is_linked = partner is not None or key is not None or disturbed
    if partner is None:
        partner = _match_rows(original, frame, key)
    shared = [name for name in original.columns if name in frame.columns and name != key]
    wanted = shared if compare is None else [name for name in compare if name in shared]
    if not wanted:
        raise DataError("The release has none of the columns to be compared. Give the original of this release.")

    def read(partner: Longs | None) -> tuple[dict[str, PublishedColumn], tuple[str, ...], Sequence[str]]:
        changed = quasi or _changed_columns(original, frame, wanted, partner)
        return *_read_columns(original, frame, wanted, changed, hierarchies, partner), changed

    try:
        columns, skipped, changed = read(partner)
        if partner is None:
            partner = _embedded(columns, frame.height)
        contradicted = _contradictions(columns, partner, key, disturbed)
        wrong = None
    except DataError as error:
        if is_linked:
            raise
        wrong, contradicted = error, {}
    by_values = False
    if not is_linked and (wrong is not None or contradicted):
        other = match_by_values(list(read(None)[0].values()), most=frame.height == original.height)
        if other is not None:
            attempt = read(other)
            left = _contradictions(attempt[0], other, key, True)
            if wrong is not None or contradicted.keys() - left.keys():
                (columns, skipped, changed), partner, contradicted, by_values = attempt, other, left, True
        elif wrong is not None:
            raise wrong
    assert partner is not None
    quasi = changed
    hidden = np.ones(frame.height, bool)
    judged = [columns[name] for name in quasi if name in columns]
    for column in judged:
        anything = np.array([kind == "anything" for kind in column.covers.kinds])
        hidden &= anything[column.labels]
    if not judged or hidden.all():
        hidden[:] = False
    dropped = tuple(name for name in original.columns if name not in frame.columns)
    return Matched(columns, tuple(quasi), partner, hidden, frame.height, dropped, skipped, contradicted, by_values)


def _match_rows(original: pl.DataFrame, released: pl.DataFrame, key: str | None) -> Longs | None:
    """The released row of every original row, by key or by order; `None` if rows were left out and must be found."""
    if key is not None:
        if key not in released.columns:
            raise DataError(f"The release has no column {key!r} to match rows by. {near_miss(key, released.columns)}")
        from kanopy._table.column import column_values

        sides = []
        for frame, what in ((original, "original"), (released, "release")):
            labels, codes = column_values(frame[key]).sorted_as_text()
            if len(labels) < frame.height or None in labels:
                raise DataError(f"The key {key!r} is not different (or missing) in every row of the {what}.")
            sides.append({label: row for row, label in enumerate(labels[code] for code in codes)})
        before, after = sides
        unknown = [label for label in after if label not in before]
        if unknown:
            raise DataError(
                f"{len(unknown):,} rows of the release have a {key!r} that the original lacks: {some(unknown)}."
            )
        return np.array([after.get(label, -1) for label in before], np.int64)
    if released.height > original.height:
        raise DataError(
            f"The release has {released.height:,} rows, the original {original.height:,}. "
            "Give the original of this release, or the column that matches rows (on=…, --on)."
        )
    return np.arange(original.height) if released.height == original.height else None


def _changed_columns(
    original: pl.DataFrame, released: pl.DataFrame, names: Sequence[str], partner: Longs | None
) -> list[str]:
    """Columns whose published values are not those of the original: taken for the quasi-identifiers."""
    from kanopy._table.column import column_values

    changed = []
    for name in names:
        labels, codes = column_values(original[name]).sorted_as_text()
        others, other_codes = column_values(released[name]).sorted_as_text()
        if partner is None:
            if not set(others) <= set(labels):
                changed.append(name)
            continue
        number_of_label = {label: number for number, label in enumerate(labels)}
        there = np.array([number_of_label.get(label, -1) for label in others], np.int64)
        published_rows = partner >= 0
        if (there[other_codes[partner[published_rows]]] != codes[published_rows]).any():
            changed.append(name)
    return changed


def column_domain(column: pl.Series) -> tuple[ColumnDomain, Ints]:
    """The values of an original column, and the position of every row's value among them.

    Texts that are all numbers, or all dates, are ordered and read as such.

    >>> import polars as pl
    >>> domain, codes = column_domain(pl.Series("age", ["31", "9", None, "31"]))
    >>> domain.labels, domain.counts.tolist(), codes.tolist(), domain.numbers[:2].tolist()
    (('9', '31', '(missing)'), [1, 2, 1], [1, 0, 2, 1], [9.0, 31.0])
    """
    import polars as pl

    from kanopy._table.column import column_values, is_text

    labels, codes = column_values(column).sorted_as_text()
    labels_known = [label for label in labels if label is not None]
    if column.dtype in (pl.Date, pl.Datetime):
        readers = [parse_moment]
    elif column.dtype == pl.Boolean:
        readers = []
    else:
        readers = [parse_number, *([parse_moment] if is_text(column) else [])]
    order, numbers, temporal = np.arange(len(labels_known)), None, False
    for read in readers:
        numbers_read = np.array([read(label) for label in labels_known], np.float64)  # what cannot be read becomes NaN
        if len(numbers_read) and np.isfinite(numbers_read).all() and len(np.unique(numbers_read)) == len(numbers_read):
            order, temporal = np.argsort(numbers_read), read is parse_moment
            numbers = np.append(numbers_read[order], [np.nan] * (len(labels) - len(labels_known)))
            break
    new_code = np.append(np.argsort(order), len(labels_known)).astype(np.int32)[: len(labels)]
    moved = new_code[codes]
    names = (*(labels_known[i] for i in order), *([MISSING_LABEL] if len(labels) > len(labels_known) else []))
    counts = np.bincount(moved, minlength=len(names))
    return ColumnDomain(column.name, names, counts, numbers, temporal, len(labels) > len(labels_known)), moved


def _read_columns(
    original: pl.DataFrame,
    released: pl.DataFrame,
    names: Sequence[str],
    quasi: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    partner: Longs | None,
) -> tuple[dict[str, PublishedColumn], tuple[str, ...]]:
    """Every column of both tables as codes; columns that are no quasi-identifiers and cannot be read are skipped."""
    from kanopy._table.column import column_values

    published_columns: dict[str, PublishedColumn] = {}
    skipped = []
    for name in names:
        domain, values = column_domain(original[name])
        labels, codes = column_values(released[name]).sorted_as_text()
        nulls_are_missing = False
        if None in labels and domain.missing:
            empty = codes == labels.index(None)
            nulls_are_missing = partner is None
            if partner is not None:
                published_rows = partner >= 0
                was_missing = np.zeros(released.height, bool)
                was_missing[partner[published_rows]] = values[published_rows] == domain.present
                nulls_are_missing = bool(was_missing[empty].all())
        try:
            covers = understand(labels, domain, hierarchies.get(name), null_is_missing=nulls_are_missing)
        except DataError:
            if name in quasi:
                raise
            skipped.append(name)
            continue
        published_columns[name] = PublishedColumn(values, codes, covers)
    return published_columns, tuple(skipped)


def _embedded(columns: Mapping[str, PublishedColumn], rows: int) -> Longs:
    """The partner of every original row where the release left rows out but kept the order."""
    from kanopy.study.embedding_kernel import embed

    used = [
        column for column in columns.values() if column.covers.domain.size * len(column.covers.labels) <= LARGEST_TABLE
    ]
    tables = [distance_table(column.covers, "exact") == 0.0 for column in used]
    if not used:
        raise DataError(
            "Rows were left out, and no column shows which. Name a column that both tables have (on=…, --on)."
        )
    offsets = np.concatenate([[0], np.cumsum([table.size for table in tables])])[:-1].astype(np.int64)
    partner = embed(
        np.column_stack([column.values for column in used]).astype(np.int32),
        np.column_stack([column.labels for column in used]).astype(np.int32),
        np.concatenate([table.ravel() for table in tables]),
        offsets,
        np.array([table.shape[1] for table in tables], np.int64),
    )
    matched = int((partner >= 0).sum())
    if matched < rows:
        raise DataError(
            f"The release has fewer rows than the original, and its row {matched + 1:,} fits none of the original rows "
            "that follow those already matched: it is no part of the original in the same order. Give the original "
            "of this release, or the column that matches rows (on=…, --on)."
        )
    return partner


def _contradictions(
    columns: Mapping[str, PublishedColumn], partner: Longs, key: str | None, disturbed: bool
) -> dict[str, int]:
    """Rows per column whose label excludes their value; an error if that is so wherever it could be seen."""
    published_rows = partner >= 0
    contradicted_rows: dict[str, int] = {}
    witnesses = []
    for name, column in columns.items():
        labels = column.labels[partner[published_rows]]
        wrong = int((~column.covers.holds(labels, column.values[published_rows])).sum())
        contradicted_rows[name] = wrong
        if len(labels) and (labels != labels[0]).any():
            witnesses.append(name)
    if witnesses and all(contradicted_rows[name] for name in witnesses) and not disturbed:
        worst = max(witnesses, key=lambda name: contradicted_rows[name])
        how = "the keys match but" if key else "the rows are not in the same order, or"
        raise DataError(
            f"Original and release do not match row by row: {how} the values do not fit. In {worst!r}, "
            f"{contradicted_rows[worst]:,} of {int(published_rows.sum()):,} rows publish a value that does not match "
            "the original; no column matches in all rows. Sort both alike, or name the column to join by (on=…, "
            "--on), or give the hierarchies of the labels (--job, --hierarchies); if values were exchanged or "
            "disturbed on purpose, use --disturbed."
        )
    return {name: wrong for name, wrong in contradicted_rows.items() if wrong}
