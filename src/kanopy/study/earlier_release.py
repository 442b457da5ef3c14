"""Two releases of the same people, side by side: what they give away together that neither does alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs, Mask
from kanopy._errors import DataError, some
from kanopy._mixins import DictMixin, ReprMixin
from kanopy.verify.labels import SUPPRESSED, set_items, spans

if TYPE_CHECKING:
    import polars as pl

BY_ROW, BY_VALUES = "row", "values"
MOST_PAIRS = 20_000_000
"""Pairs of classes that are looked at where rows cannot be joined."""


@dataclass(frozen=True)
class JointRisk(DictMixin, ReprMixin):
    """How rows group by what two releases say of them together.

    `joined_by` is the key column, "row" where rows were taken to be in the same order, or "values" where nobody can
    join them but by what both publish. `columns` are the quasi-identifiers of either. `rows` are in both releases,
    `unique_rows` alone in what both say; classes of fewer than `k` rows hold `rows_below` rows. `unique_alone` are the
    rows unique in one of the releases already. `narrowed` counts, per column, the rows whose value both ranges (or
    sets) together say more precisely than either. `added` rows came since the earlier release and `removed` ones went;
    `exposed_changes` of them came or went with fewer than `k` of the same labels, so that who knows of somebody's
    coming or going finds them among few (temporal attack, Sweeney 2002).
    """

    joined_by: str
    columns: tuple[str, ...]
    rows: int
    classes: int
    smallest_class: int
    k: int
    classes_below: int
    rows_below: int
    unique_rows: int
    unique_alone: int
    narrowed: dict[str, int]
    added: int = 0
    removed: int = 0
    exposed_changes: int = 0
    counted: str = "rows"
    """What is counted: rows, or people where several rows are about one, or several tables are joined."""
    releases: int = 1
    """Other releases or tables that were joined."""

    @property
    def holds(self) -> bool:
        """Whether every class of both releases together has k rows."""
        return self.rows_below == 0


def beside(
    new: pl.DataFrame,
    earlier: pl.DataFrame,
    quasi: Sequence[str],
    *,
    k: int = 2,
    key: str | None = None,
    earlier_quasi: Sequence[str] | None = None,
    in_order: bool = True,
    one_level: bool = False,
) -> JointRisk:
    """Join two releases row by row, and count who is alike in both.

    Whoever has both releases and can tell which rows belong together (by a pseudonym, or because rows stand in the same
    order) sees two labels for every value: only rows that agree in both stay alike. Rows are joined by `key`, a column
    of both whose values are different in every row; without one they are taken to be in the same order.
    `earlier_quasi` are the quasi-identifiers of the earlier release; where nobody says, those of the new one and all
    columns that the new one lacks.

    Rows that a release has shuffled (`in_order=False`) cannot be joined in order by anybody. Then a person is looked
    for in a class of each: those rows of both that may be of the same person, because the labels can be true of one
    value and everything published as it is agrees. The smallest such number over all pairs of classes is what is said,
    so the count errs on the safe side. `one_level` says that both releases have one level per column, so that
    different labels exclude each other where both use the same.

    >>> import polars as pl
    >>> one = pl.DataFrame({"age": ["20-29", "20-29", "30-39", "30-39"]})
    >>> two = pl.DataFrame({"age": ["20-24", "25-34", "25-34", "35-39"]})
    >>> beside(one, two, ["age"]).unique_rows, beside(one, two, ["age"]).narrowed
    (4, {'age': 2})
    >>> beside(one, one, ["age"], in_order=False).smallest_class
    2
    """
    from kanopy._table.grouping import require_columns

    require_columns(new, quasi)
    theirs = [name for name in quasi if name in earlier.columns]
    theirs += [name for name in earlier.columns if name not in new.columns and name != key]
    if earlier_quasi is not None:
        require_columns(earlier, earlier_quasi)
        theirs = list(earlier_quasi)
    if not theirs:
        raise DataError(
            f"The earlier release has none of the columns {some(list(quasi))}, so the two cannot be compared."
        )
    if key is None and not in_order:
        joint = _matched(new, earlier, quasi, theirs, k, one_level)
    else:
        joint = _joined(new, earlier, quasi, theirs, k, key)
    came, went = _changes(new, earlier, quasi, theirs, joint.joined_by)
    few = sum(int(sizes[sizes < k].sum()) for sizes in (came, went))
    return replace(joint, added=int(came.sum()), removed=int(went.sum()), exposed_changes=few)


def _changes(
    new: pl.DataFrame, earlier: pl.DataFrame, quasi: Sequence[str], theirs: Sequence[str], joined_by: str
) -> tuple[Longs, Longs]:
    """Rows that came since the earlier release and rows that went, per class of labels they have in common.

    By key they are those whose key the other release lacks. Shuffled releases that use the same labels show how much
    each class has grown or shrunk.
    """
    import polars as pl

    from kanopy._table.grouping import number_rows

    none = np.zeros(0, np.int64)
    if joined_by == BY_ROW:
        return none, none
    if joined_by != BY_VALUES:
        sides = ((new, earlier, quasi), (earlier, new, theirs))
        alone = [
            (side.filter(~side[joined_by].is_in(other[joined_by].implode())), names) for side, other, names in sides
        ]
        came, went = (number_rows(rows, names).sizes.astype(np.int64) if rows.height else none for rows, names in alone)
        return came, went
    if sorted(quasi) != sorted(theirs):
        return none, none
    counted = [
        pl.DataFrame([_comparable(frame[name]).alias(str(at)) for at, name in enumerate(quasi)])
        .group_by(pl.all()).len(which)
        for frame, which in ((new, "new"), (earlier, "earlier"))
    ]  # fmt: skip
    both = counted[0].join(counted[1], on=[str(at) for at in range(len(quasi))], nulls_equal=True)
    grown = both["new"].cast(pl.Int64).to_numpy() - both["earlier"].cast(pl.Int64).to_numpy()
    return grown[grown > 0], -grown[grown < 0]


@dataclass(frozen=True)
class RowOrder(DictMixin):
    """What the order of rows gives away (unsorted matching attack, Sweeney 2002): who takes the i-th row of a release
    for that of the i-th person finds `found` of `rows` people."""

    rows: int
    found: int

    @property
    def share(self) -> float:
        """The share of people who are found."""
        return self.found / self.rows if self.rows else 0.0


def row_order(partner: Longs) -> RowOrder:
    """How many rows stand where the original had them; `partner[i]` is the released row of row `i`, -1 for none.

    Rows that were left out do not help: where the others kept their order, each is still found by counting.

    >>> row_order(np.array([0, 1, -1, 2])).found, row_order(np.array([2, 1, 0])).found
    (3, 1)
    """
    published_rows = partner[partner >= 0]
    in_order = bool((np.diff(published_rows) > 0).all())
    return RowOrder(len(partner), len(published_rows) if in_order else int((partner == np.arange(len(partner))).sum()))


def _joined(
    new: pl.DataFrame, earlier: pl.DataFrame, quasi: Sequence[str], theirs: Sequence[str], k: int, key: str | None
) -> JointRisk:
    """What both say of each row, where rows can be joined."""
    import polars as pl

    from kanopy._table.grouping import number_rows, require_columns

    # By column and not by name: a name such as `*` or `^a.*$` would mean many columns.
    ours = pl.DataFrame([new[name].alias(f"new {name}") for name in quasi])
    before = pl.DataFrame([earlier[name].alias(f"earlier {name}") for name in theirs])
    if key is not None:
        for frame, which in ((new, "release"), (earlier, "earlier release")):
            require_columns(frame, [key])
            if frame[key].n_unique() < frame.height:
                raise DataError(f"The {which} has values of {key!r} in several rows, so rows cannot be joined by it.")
        joined = ours.with_columns(new[key].alias("key")).join(
            before.with_columns(earlier[key].alias("key")), on="key", how="inner", nulls_equal=True
        )
    elif new.height != earlier.height:
        raise DataError(
            f"The releases have {new.height:,} and {earlier.height:,} rows, so rows of the same number are not of "
            "the same person. Name a column that both have and that identifies people (on=…, --on)."
        )
    else:
        joined = ours.hstack(before)
    if not joined.height:
        raise DataError(f"No value of {key!r} is in both releases: they contain other people, or have other keys.")
    both = [*ours.columns, *before.columns]
    # A row that is `*` everywhere in one release is in no class there; with the other it may well be in one.
    suppressed = np.ones(joined.height, np.bool_)
    for name in both:
        suppressed &= (joined[name].cast(str) == SUPPRESSED_LABEL).fill_null(False).to_numpy()
    sizes = number_rows(joined, both, suppressed).sizes
    alone = np.zeros(joined.height, np.bool_)
    for names in (ours.columns, before.columns):
        rows = number_rows(joined, names)
        alone[rows.first[rows.sizes == 1]] = True
    narrowed = {}
    for name in (name for name in quasi if name in theirs):
        pairs = joined.select(pl.nth(joined.columns.index(f"{which} {name}")).cast(str) for which in ("new", "earlier"))
        counted = pairs.group_by(pl.all()).len()
        narrowed[name] = sum(rows for one, other, rows in counted.iter_rows() if _narrower(one, other))
    return JointRisk(
        joined_by=key or BY_ROW,
        columns=tuple(dict.fromkeys((*quasi, *theirs))),
        rows=joined.height,
        classes=len(sizes),
        smallest_class=int(sizes.min(initial=joined.height)) if len(sizes) else 0,
        k=k,
        classes_below=int((sizes < k).sum()),
        rows_below=int(sizes[sizes < k].sum()),
        unique_rows=int((sizes == 1).sum()),
        unique_alone=int(alone.sum()),
        narrowed={name: rows for name, rows in narrowed.items() if rows},
    )


def _matched(
    new: pl.DataFrame, earlier: pl.DataFrame, quasi: Sequence[str], theirs: Sequence[str], k: int, one_level: bool
) -> JointRisk:
    """What both say of somebody who is in a class of each, where rows can only be told apart by what they publish."""
    import polars as pl

    from kanopy._table.grouping import number_rows

    ours, before = number_rows(new, quasi), number_rows(earlier, theirs)
    alone = int((ours.sizes == 1).sum() + (before.sizes == 1).sum())
    untouched = [name for name in new.columns if name in earlier.columns and name not in (*quasi, *theirs)]
    columns = tuple(dict.fromkeys((*quasi, *theirs)))
    if not untouched:  # nothing but their classes can be joined, and these are as large as they are alone
        sizes = np.concatenate([ours.sizes, before.sizes])
        few = sizes[sizes < k]
        return JointRisk(
            BY_VALUES, columns, new.height, len(sizes), int(sizes.min(initial=new.height)), k, len(few),
            int(few.sum()), int((sizes == 1).sum()), alone, {},
        )  # fmt: skip
    both_tables = pl.concat(
        [pl.DataFrame([_comparable(frame[name]).alias(str(at)) for at, name in enumerate(untouched)]) for frame in
         (new, earlier)]
    )  # fmt: skip
    value = both_tables.select(pl.struct(pl.all()).rank("dense")).to_series()
    tables = [
        pl.DataFrame({which: numbered.class_of_row.astype(np.int64), "value": value_part})
        .group_by(which, "value")
        .len(f"{which} rows")
        for which, numbered, value_part in (
            ("new", ours, value[: new.height]),
            ("earlier", before, value[new.height :]),
        )
    ]
    counted = [table.group_by("value").len() for table in tables]
    work = counted[0].join(counted[1], on="value").select((pl.col("len") * pl.col("len_right").cast(pl.Int64)).sum())
    if int(work.item() or 0) > MOST_PAIRS:
        raise DataError(
            f"Rows are shuffled and {work.item():,} pairs of classes agree in the unchanged columns of both "
            "releases: too many to examine. Name a column that both have and that identifies people (on=…, --on)."
        )
    pairs = tables[0].join(tables[1], on="value").with_columns(rows=pl.min_horizontal("new rows", "earlier rows"))
    for name in (name for name in quasi if name in theirs):
        labels = [_labels_of(frame, name, rows.first) for frame, rows in ((new, ours), (earlier, before))]
        pairs = pairs.filter(
            pl.Series(_possible(labels, pairs["new"].to_numpy(), pairs["earlier"].to_numpy(), one_level))
        )
    together = pairs.group_by("new", "earlier").agg(pl.col("rows").sum().alias("size"))
    sizes = together["size"].to_numpy()
    small = pairs.join(together, on=["new", "earlier"]).filter(pl.col("size") < k)
    who = small.group_by("new", "value").agg(pl.col("new rows").first(), pl.col("size").min())
    return JointRisk(
        joined_by=BY_VALUES,
        columns=columns,
        rows=new.height,
        classes=len(sizes),
        smallest_class=int(sizes.min(initial=new.height)) if len(sizes) else 0,
        k=k,
        classes_below=int((sizes < k).sum()),
        rows_below=int(who["new rows"].sum()),
        unique_rows=int(who.filter(pl.col("size") == 1)["new rows"].sum()),
        unique_alone=alone,
        narrowed={},
    )


def _comparable(column: pl.Series) -> pl.Series:
    """Values as texts, the same for the same value whatever file it was read from."""
    if column.dtype.is_numeric():
        column = column.cast(float)
    return column.cast(str, strict=False)


def _labels_of(frame: pl.DataFrame, name: str, first: Longs) -> list[str | None]:
    """The label of each class; the last one stands for suppressed rows, which are class -1."""
    return [*frame[name].gather(first).cast(str).to_list(), SUPPRESSED]


def _possible(labels: Sequence[list[str | None]], new: Ints, earlier: Ints, one_level: bool) -> Mask:
    """Which pairs of classes may hold the same person, by the labels of one column."""
    words = [list(dict.fromkeys(column_labels)) for column_labels in labels]
    apart = one_level and set(words[0]) - {SUPPRESSED} == set(words[1]) - {SUPPRESSED}
    fits = np.array([[_meet(one, other, apart) for other in words[1]] for one in words[0]], np.bool_)
    codes = [
        np.array([distinct.index(label) for label in column_labels])
        for column_labels, distinct in zip(labels, words, strict=True)
    ]
    is_possible: Mask = fits[codes[0][new], codes[1][earlier]]
    return is_possible


def _meet(one: str | None, other: str | None, apart: bool) -> bool:
    """Whether two labels can be true of one value; where they cannot be read, they can unless known to be `apart`."""
    if one is None or other is None or one == other or SUPPRESSED in (one, other):
        return True
    if (both := spans(one, other)) is not None:
        return max(both[0][0], both[1][0]) <= min(both[0][1], both[1][1])
    if one.startswith("{") and other.startswith("{"):
        return bool(set(set_items(one)) & set(set_items(other)))
    return not apart


def _narrower(one: str | None, other: str | None) -> bool:
    """Whether two labels together say more than either: ranges that overlap, sets that share some members."""
    if one is None or other is None or one == other:
        return False
    if (both := spans(one, other)) is not None:
        inner = max(both[0][0], both[1][0]), min(both[0][1], both[1][1])
        return inner[0] <= inner[1] and inner not in both
    members = [set(set_items(label)) for label in (one, other)]
    return bool(members[0] & members[1]) and not (members[0] <= members[1] or members[1] <= members[0])


# ---- several releases, several rows per person ----------------------------------------------------------------------


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
) -> JointRisk:
    """What a release and one or several others say together: row by row where a key is different in every row, else
    person by person. `how` says of single rows whether they stand in order, as for `beside`."""
    from kanopy._table.frames import to_polars

    tables = [to_polars(table)[0] for table in (others if isinstance(others, (list, tuple)) else [others])]
    if key is None and len(unit) == 1 and all(unit[0] in table.columns for table in (new, *tables)):
        key = unit[0]
    repeated = key is not None and any(
        key in table.columns and table[key].n_unique() < table.height for table in (new, *tables)
    )
    if len(tables) == 1 and not unit and not repeated:
        return beside(new, tables[0], quasi, k=k, key=key, earlier_quasi=earlier_quasi, **how)
    if key is None:
        raise DataError(
            "Several releases, and releases with several rows per person, are joined by a column of all of them. "
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
) -> JointRisk:
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
        own_columns = list(quasi)
        if number:
            own_columns = [name for name in quasi if name in table.columns]
            own_columns += [name for name in table.columns if name not in new.columns and name != key]
            if earlier_quasi is not None:
                own_columns = [name for name in earlier_quasi if name in table.columns]
            if not own_columns:
                raise DataError(
                    f"One of the tables has none of the columns {some(list(quasi))}, so the two cannot be compared."
                )
        require_columns(table, own_columns)
        columns += own_columns
        traces.append(_traces(table, key, own_columns, f"t{number}"))
        sizes = traces[-1].group_by(f"t{number}").len()["len"]
        alone += int((sizes == 1).sum())
    whole = traces[0]
    for trace in traces[1:]:
        whole = whole.join(trace, on="key", how="full", coalesce=True)
    names = [f"t{number}" for number in range(len(traces))]
    later = whole.filter(pl.col("t0").is_not_null())
    joined = later.filter(pl.any_horizontal(pl.col(names[1:]).is_not_null()))
    if not joined.height:
        raise DataError(f"No value of {key!r} is in two of the tables: they contain other people, or have other keys.")
    # Who is in a table and who is not is told by the key: a missing trace is a trace like any other.
    sizes = joined.group_by(names).len()["len"]
    few = sizes.filter(sizes < k)
    came = later.filter(pl.all_horizontal(pl.col(names[1:]).is_null())).group_by("t0").len()["len"]
    went = whole.filter(pl.col("t0").is_null()).group_by(names[1:]).len()["len"]
    return JointRisk(
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

    labels = [table[column].cast(pl.String).fill_null("").alias(str(index)) for index, column in enumerate(quasi)]
    rows = pl.DataFrame([table[key].cast(pl.String).alias("key"), *labels]).drop_nulls("key")
    keys = [str(index) for index in range(len(quasi))]
    rows = rows.filter(~pl.all_horizontal(pl.col(keys) == SUPPRESSED_LABEL))
    numbered = rows.select("key", pl.struct(keys).rank("dense").cast(pl.String).alias("row"))
    return numbered.group_by("key").agg(pl.col("row").sort().str.join(" ").alias(name))
