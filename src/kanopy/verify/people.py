"""People counted on the published labels, in code of its own: nothing here is shared with the search.

Whose row it is does not leave; it is looked up in the original table, beside the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from kanopy._arrays import Mask
from kanopy._errors import VerificationFailed
from kanopy.verify.regroup import labels_of_values


@dataclass(frozen=True, eq=False)
class UnitColumns:
    """Whose rows are published: the columns that say it, row by row beside the release.

    `known` is how many rows of one person others may know; `None` means all.
    """

    columns: pl.DataFrame
    known: int | None = 1
    called: str = "people"
    missing_tokens: tuple[str, ...] = ()
    once: bool = False
    """Whether equal labels of one are published once: elements of a list."""

    @cached_property
    def units(self) -> pl.Series:
        """A number per row, equal where the columns say the same; a row that does not say stands alone.

        >>> UnitColumns(pl.DataFrame({"patient": ["b", None, "b", None]})).units.n_unique()
        3
        """
        gap = "\0"
        texts = [
            labels_of_values(column, gap).replace(dict.fromkeys(self.missing_tokens, gap)).alias(str(index))
            for index, column in enumerate(self.columns)
        ]
        unit_texts = pl.DataFrame(texts)
        alone = unit_texts.select(pl.any_horizontal(pl.all() == gap)).to_series()
        # Equal values are known by the first row that has them.
        named = unit_texts.with_row_index("\0row").with_columns(
            pl.col("\0row").min().over(unit_texts.columns).alias("\0unit")
        )
        return named.select(pl.when(alone).then("\0row").otherwise("\0unit").alias("\0unit")).to_series()

    def of(self, rows: pl.Series) -> UnitColumns:
        """The same of some rows."""
        subset = replace(self, columns=self.columns.filter(rows))
        subset.__dict__["units"] = self.units.filter(rows)
        return subset


def people_of(frame: pl.DataFrame, quasi: Sequence[str], unit_columns: UnitColumns) -> pl.Series:
    """How many different units each published combination of labels has.

    >>> frame = pl.DataFrame({"age": ["30", "30", "40"]})
    >>> sorted(people_of(frame, ["age"], UnitColumns(pl.DataFrame({"patient": ["a", "b", "b"]}))).to_list())
    [1, 2]
    """
    keys, named = _named(frame, quasi, unit_columns)
    return named.lazy().group_by(keys).agg(pl.col("\0unit").n_unique()).collect()["\0unit"]


def require_traces(frame: pl.DataFrame, quasi: Sequence[str], unit_columns: UnitColumns, k: int) -> None:
    """Refuse a release in which what may be known of a person (`known`) fits fewer than `k`.

    >>> frame, patients = pl.DataFrame({"age": ["30", "40", "30", "30"]}), pl.DataFrame({"patient": list("aabb")})
    >>> require_traces(frame, ["age"], UnitColumns(patients, known=1), 1)
    >>> require_traces(frame, ["age"], UnitColumns(patients, known=None), 2)
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: All rows of one of the people fit only 1 of them, k is 2. ...
    """
    if unit_columns.known == 1 or not frame.height:
        return
    keys, named = _named(frame, quasi, unit_columns)
    rows = named.select("\0unit", pl.struct(keys).rank("dense").alias("\0class"))
    rows = rows.unique(maintain_order=True) if unit_columns.once else rows
    if unit_columns.known is None:
        traces = rows.group_by("\0unit").agg(pl.col("\0class").sort().cast(pl.String).alias("\0trace"))
        same = traces.select(pl.col("\0trace").list.join(" ")).group_by("\0trace").len()["len"]
        _require_enough(same, k, "All rows", unit_columns.called)
        return
    numbered = rows.sort("\0unit", "\0class").with_columns(pl.int_range(pl.len()).over("\0unit").alias("\0at"))
    chains = numbered.rename({"\0class": "1", "\0at": "\0last"})
    for size in range(1, unit_columns.known + 1):
        names = [str(index) for index in range(1, size + 1)]
        if size > 1:
            chains = chains.join(numbered, on="\0unit").filter(pl.col("\0at") > pl.col("\0last"))
            chains = chains.rename({"\0class": str(size)}).drop("\0last").rename({"\0at": "\0last"})
        # The same combination at other places of a trace is extended by the rows behind its first place.
        chains = chains.group_by(["\0unit", *names]).agg(pl.col("\0last").min())
        if not chains.height:
            return
        _require_enough(chains.group_by(names).len()["len"], k, f"{size} of the rows", unit_columns.called)


def rare_traces(frame: pl.DataFrame, quasi: Sequence[str], key: pl.Series, k: int) -> tuple[int, int]:
    """How many people there are by a published `key`, and how many of their whole traces fewer than `k` share.

    >>> frame = pl.DataFrame({"age": ["30", "40", "30", "40", "30"]})
    >>> rare_traces(frame, ["age"], pl.Series(["a", "a", "b", "b", "c"]), 2)
    (3, 1)
    """
    keys = [f"\0{index}" for index in range(len(quasi))]
    labels = [frame[name].alias(key_name) for name, key_name in zip(quasi, keys, strict=True)]
    rows = pl.DataFrame([*labels, key.alias("\0key")]).drop_nulls("\0key")
    if not rows.height:
        return 0, 0
    rows = rows.select("\0key", pl.struct(keys).rank("dense").alias("\0class"))
    traces = rows.group_by("\0key").agg(pl.col("\0class").sort().cast(pl.String).alias("\0trace"))
    shared = traces.select(pl.col("\0trace").list.join(" ")).group_by("\0trace").len()["len"]
    return traces.height, int(shared.filter(shared < k).sum())


def require_fixed(
    original: pl.DataFrame,
    frame: pl.DataFrame,
    quasi: Sequence[str],
    unit_columns: UnitColumns,
    suppressed: Mask | None = None,
    kept: Mask | None = None,
) -> None:
    """Refuse a release in which what is the same in all rows of each unit (sex, day of birth) is published in two ways.

    Two labels for one would together say more than either; `suppressed` are the suppressed rows, which show nothing.
    `kept`
    says which original rows are in the frame at all: what is the same is asked of all of them.

    >>> visits, unit_columns = pl.DataFrame({"sex": ["f", "f"]}), UnitColumns(pl.DataFrame({"patient": ["a", "a"]}))
    >>> require_fixed(visits, pl.DataFrame({"sex": ["f", "*"]}), ["sex"], unit_columns)
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: 'sex' is the same in all rows of each of the people, and published ...
    """
    is_published = pl.Series([True]).new_from_index(0, frame.height) if suppressed is None else pl.Series(~suppressed)
    published = unit_columns.units if kept is None else unit_columns.units.filter(pl.Series(kept))
    for name in quasi:
        before = pl.LazyFrame([original[name].alias("\0before"), unit_columns.units])
        fixed = before.group_by("\0unit").agg(pl.col("\0before").n_unique() == 1).select("\0before").collect()
        after = pl.DataFrame([frame[name].alias("\0after"), published]).filter(is_published)
        labels_per_unit = after.lazy().group_by("\0unit").agg(pl.col("\0after").n_unique())
        if fixed["\0before"].all() and labels_per_unit.select((pl.col("\0after") > 1).any()).collect().item():
            raise VerificationFailed(
                f"{name!r} is the same in all rows of each of the {unit_columns.called}, and published in two ways. "
                "Nothing was written. This is an error in Kanopy: please report it."
            )


def require_lists(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    column: str,
    separator: str | None,
    unit_columns: UnitColumns | None,
    k: int,
) -> None:
    """Refuse a table of lists, as it is about to leave, in which what may be known of a row fits fewer than `k`.

    Suppressed rows, which show nothing, are left out; whose rows these are is not asked again: each is its own.

    >>> frame = pl.DataFrame({"bought": [["ale", "nuts"], ["ale"]]})
    >>> unit_columns = UnitColumns(pl.DataFrame({"row": [0, 0, 1]}))
    >>> require_lists(frame, ["bought"], "bought", None, unit_columns, 1)
    >>> require_lists(frame, ["bought"], "bought", None, unit_columns, 2)
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: One element of one of the people fit only 1 of them, k is 2. ...
    """
    if unit_columns is None or list(unit_columns.columns.columns) != ["row"]:
        return  # several rows may be about one: they were counted together, element by element
    lists = frame[column] if separator is None else frame[column].fill_null("").str.split(separator)
    others = [frame[name] for name in quasi if name != column]
    table = pl.DataFrame([*others, lists.alias(column), pl.int_range(frame.height, eager=True).alias("row")])
    table = table.explode(column).with_columns(pl.col(column).cast(pl.String).replace("", None))
    stars = [table[name].cast(pl.String).fill_null("") == "*" for name in quasi]
    hidden = pl.DataFrame([star.alias(str(i)) for i, star in enumerate(stars)]).select(pl.all_horizontal(pl.all()))
    published_rows = table.filter(~hidden.to_series())
    units_of_rows = replace(unit_columns, columns=published_rows.select("row"), missing_tokens=())
    if published_rows.height:
        _require_enough(people_of(published_rows, quasi, units_of_rows), k, "One element", unit_columns.called)
        require_traces(published_rows, quasi, units_of_rows, k)


def _require_enough(fitting: pl.Series, k: int, what: str, called: str) -> None:
    fewest = fitting.min()
    assert isinstance(fewest, int)
    if fewest < k:
        raise VerificationFailed(
            f"{what} of one of the {called} fit only {fewest:,} of them, k is {k:,}. "
            "Nothing was written. This is an error in Kanopy: please report it."
        )


def _named(frame: pl.DataFrame, quasi: Sequence[str], unit_columns: UnitColumns) -> tuple[list[str], pl.DataFrame]:
    """The labels under names that no column has, and whose row each is."""
    keys = [f"\0{index}" for index in range(len(quasi))]
    labels = [frame[name].alias(key) for name, key in zip(quasi, keys, strict=True)]
    if len(unit_columns.units) != frame.height:
        raise VerificationFailed("It is not known whose rows would be published. Nothing was written.")
    return keys, pl.DataFrame([*labels, unit_columns.units])
