"""Several releases or tables with a common key, side by side: what they give away together of people, not rows.

Each person is known by the key. In every table the published rows of a person are a trace; whoever joins the tables
sees all traces at once, and in which tables the person is at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import DataError, some
from kanopy.study.beside import Beside, beside

if TYPE_CHECKING:
    import polars as pl


def joined_releases(
    new: pl.DataFrame,
    others: Any,
    quasi: Sequence[str],
    *,
    k: int,
    key: str | None,
    unit: Sequence[str] = (),
    earlier_quasi: Sequence[str] | None = None,
    called: str = "people",
    **how: Any,
) -> Beside:
    """What a release and one or several others say together: row by row where a key is different in every row, else
    person by person. `how` says of single rows whether they stand in order, as for `beside`."""
    from kanopy._table.frames import to_polars

    tables = [to_polars(each)[0] for each in (others if isinstance(others, (list, tuple)) else [others])]
    if key is None and len(unit) == 1 and all(unit[0] in each.columns for each in (new, *tables)):
        key = unit[0]
    repeated = key is not None and any(
        key in each.columns and each[key].n_unique() < each.height for each in (new, *tables)
    )
    if len(tables) == 1 and not unit and not repeated:
        return beside(new, tables[0], quasi, k=k, key=key, earlier_quasi=earlier_quasi, **how)
    if key is None:
        raise DataError(
            "Several releases, and releases with several rows per person, are joined by a column that all of "
            "them have. "
            "Name it (on=…, --on)."
        )
    return beside_people(new, tables, quasi, k=k, key=key, earlier_quasi=earlier_quasi, called=called)


def beside_people(
    new: pl.DataFrame,
    others: Sequence[pl.DataFrame],
    quasi: Sequence[str],
    *,
    k: int,
    key: str,
    earlier_quasi: Sequence[str] | None = None,
    called: str = "people",
) -> Beside:
    """Count people by what all tables say of them; rows with `*` everywhere show nothing.

    The quasi-identifiers of another table are those named, or those of the new one and all columns that it lacks.

    >>> import polars as pl
    >>> one = pl.DataFrame({"who": [1, 2, 3, 4], "sex": list("ffff")})
    >>> two = pl.DataFrame({"who": [1, 1, 2, 2, 3], "ward": list("ababa")})
    >>> found = beside_people(one, [two], ["sex"], k=2, key="who")
    >>> found.rows, found.rows_below
    (3, 1)
    """
    import polars as pl

    from kanopy._table.grouping import require_columns

    traces: list[pl.DataFrame] = []
    columns: list[str] = []
    alone = 0
    for number, table in enumerate((new, *others)):
        require_columns(table, [key])
        own = list(quasi)
        if number:
            own = [name for name in quasi if name in table.columns]
            own += [name for name in table.columns if name not in new.columns and name != key]
            if earlier_quasi is not None:
                own = [name for name in earlier_quasi if name in table.columns]
            if not own:
                raise DataError(
                    f"One of the tables has none of the columns {some(list(quasi))}: there is nothing to compare."
                )
        require_columns(table, own)
        columns += own
        traces.append(_traces(table, key, own, f"t{number}"))
        sizes = traces[-1].group_by(f"t{number}").len()["len"]
        alone += int((sizes == 1).sum())
    whole = traces[0]
    for each in traces[1:]:
        whole = whole.join(each, on="key", how="full", coalesce=True)
    names = [f"t{number}" for number in range(len(traces))]
    later = whole.filter(pl.col("t0").is_not_null())
    joined = later.filter(pl.any_horizontal(pl.col(names[1:]).is_not_null()))
    if not joined.height:
        raise DataError(
            f"No value of {key!r} is in two of the tables: they are about other people, or have other keys."
        )
    # Who is in a table and who is not is told by the key: a missing trace is a trace like any other.
    sizes = joined.group_by(names).len()["len"]
    few = sizes.filter(sizes < k)
    came = later.filter(pl.all_horizontal(pl.col(names[1:]).is_null())).group_by("t0").len()["len"]
    went = whole.filter(pl.col("t0").is_null()).group_by(names[1:]).len()["len"]
    return Beside(
        joined_by=key,
        columns=tuple(dict.fromkeys(columns)),
        rows=joined.height,
        classes=len(sizes),
        smallest_class=int(sizes.min() or 0),  # type: ignore[arg-type]
        k=k,
        classes_below=len(few),
        rows_below=int(few.sum()),
        unique_rows=int((sizes == 1).sum()),
        unique_alone=alone,
        narrowed={},
        added=int(came.sum()),
        removed=int(went.sum()),
        exposed_changes=int(came.filter(came < k).sum()) + int(went.filter(went < k).sum()),
        counted=called,
        releases=len(others),
    )


def _traces(table: pl.DataFrame, key: str, quasi: Sequence[str], name: str) -> pl.DataFrame:
    """The trace of every key: its published rows as one text."""
    import polars as pl

    labels = [table[column].cast(pl.String).fill_null("").alias(str(place)) for place, column in enumerate(quasi)]
    rows = pl.DataFrame([table[key].cast(pl.String).alias("key"), *labels]).drop_nulls("key")
    keys = [str(place) for place in range(len(quasi))]
    rows = rows.filter(~pl.all_horizontal(pl.col(keys) == SUPPRESSED_LABEL))
    numbered = rows.select("key", pl.struct(keys).rank("dense").cast(pl.String).alias("row"))
    return numbered.group_by("key").agg(pl.col("row").sort().str.join(" ").alias(name))
