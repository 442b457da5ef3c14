"""The table as its job says it is to be read: rows that are no records, values that mean missing, decimal commas."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, near_miss, some

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy._table.formats.layout import Layout
    from kanopy._table.frames import Restore


@dataclass(frozen=True)
class ReadingRules:
    """What a job says of how its table is read, apart from everything else that it says.

    >>> from kanopy._job.job import Job
    >>> job = Job(quasi="age", skip_rows=1, column_tokens={"age": "99", "pay": "?"}, k=7)
    >>> ReadingRules.of(job).of_columns(["age", "sex"])
    ReadingRules(skip_rows=1, missing_tokens=(), column_tokens={'age': ('99',)}, decimals={}, places={})
    """

    skip_rows: int = 0
    missing_tokens: tuple[str, ...] = ()
    column_tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decimals: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, job: Any) -> ReadingRules:
        """Those of a job, or of one for masking, which has fewer."""
        return cls(**{name: getattr(job, name) for name in cls.__dataclass_fields__ if hasattr(job, name)})

    def of_columns(self, names: Collection[str]) -> ReadingRules:
        """Those that are about a table with these columns: a population, a release, a part of the table."""
        tokens_of_columns = {name: tokens for name, tokens in self.column_tokens.items() if name in names}
        signs = {name: sign for name, sign in self.decimals.items() if name in names}
        pairs = {name: pair for name, pair in self.places.items() if set(pair) <= set(names)}
        return replace(self, column_tokens=tokens_of_columns, decimals=signs, places=pairs)

    def of_records(self) -> ReadingRules:
        """Those for a table without rows below its header that are no records."""
        return replace(self, skip_rows=0)


def read_records(
    data: Any, job: Any, *, rules: ReadingRules | None = None, layout: Layout | None = None, part: bool = False
) -> pl.DataFrame:
    """The records of a table, a frame or where one is, as `anonymize` reads them: by what the job says of that.

    Parts of an index that have a role are columns. `rules` take the place of the job's own; where the table may be only
    a `part` of the job's, those about other columns are left out. A `layout` says how the file of such a table is read.

    >>> from kanopy._job.job import Job
    >>> read_records({"age": ["years", "41", "99"]}, Job(quasi="age", skip_rows=1, missing_tokens="99")).rows()
    [('41',), (None,)]
    """
    from kanopy._table.formats.layout import Layout
    from kanopy._table.frames import to_polars, without_index

    layout = Layout.of(job) if rules is None else layout
    frame, way_back = to_polars(without_index(data, job.roles)[0], layout)
    rules = rules or ReadingRules.of(job)
    return apply_reading_rules(frame, way_back, rules.of_columns(frame.columns) if part else rules)[0]


def apply_reading_rules(frame: pl.DataFrame, restore: Restore, job: Any) -> tuple[pl.DataFrame, Restore]:
    """The records of a table with missing values as nulls and written numbers as numbers, and the way back.

    >>> import polars as pl
    >>> from kanopy._job.job import Job
    >>> table = pl.DataFrame({"age": ["years", "41", "99"], "pay": ["EUR", "1.200,50", "?"]})
    >>> job = Job(skip_rows=1, missing_tokens="?", column_tokens={"age": "99"}, decimals={"pay": ","})
    >>> apply_reading_rules(table, lambda frame, published_rows: frame, job)[0].rows()
    [('41', 1200.5), (None, None)]
    """
    import numpy as np

    from kanopy._table.column import withheld_values
    from kanopy._table.guessing.text_formats import written_numbers

    decimals, tokens_of_columns = getattr(job, "decimals", {}), getattr(job, "column_tokens", {})
    skipped = getattr(job, "skip_rows", 0)
    absent = [name for name in (*tokens_of_columns, *decimals) if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    way_back = restore
    if skipped:
        if skipped >= frame.height:
            raise DataError(f"skip-rows is {skipped:,} but the table has only {frame.height:,} rows. Skip fewer.")
        rows = frame.height

        def of_records(frame: pl.DataFrame, published_rows: Mask | Longs | None = None) -> Any:
            records = np.arange(skipped, rows)
            return restore(frame, records if published_rows is None else records[published_rows])

        way_back, frame = of_records, frame.slice(skipped)
    changed = []
    for name, column in zip(frame.columns, frame.get_columns(), strict=True):
        tokens = (*job.missing_tokens, *tokens_of_columns.get(name, ()))
        if tokens and not column.dtype.is_nested():
            absent_rows = _says_missing(column, {token.strip() for token in tokens})
            if absent_rows.any():
                column = withheld_values(column, absent_rows)
        if name in decimals:
            column = written_numbers(column, decimals[name])
        changed.append(column)
    read = frame.with_columns(changed)
    if places := getattr(job, "places", {}):
        from kanopy._table.official.places import with_places

        read = with_places(read, places)
    return read, way_back


def _says_missing(column: pl.Series, tokens: set[str]) -> Mask:
    """Which values are a token but for spaces around it; a blank text is none unless a token is blank itself."""
    import numpy as np

    from kanopy._table.column import column_values, is_text

    values = column_values(column)
    named = [label.strip() in tokens for label in values.labels]
    # The empty text has no label of its own: it is missing wherever labels are looked at, and published as it is.
    empty = "" in tokens and is_text(column)
    is_missing = np.append(np.array(named, np.bool_), empty)[values.codes]
    return np.asarray(is_missing & column.is_not_null().to_numpy(), np.bool_)
