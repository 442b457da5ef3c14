"""A second opinion: regroup the published labels with code of its own, and compare with what was promised.

This module never sees codes, hierarchies or the search. It looks only at the frame that is about to leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._arrays import SUPPRESSED_LABEL, Longs
from kanopy._core.classes import Classes
from kanopy._errors import VerificationFailed
from kanopy.privacy.models import KAnonymity, Model, failing
from kanopy.verify.people import UnitColumns, people_of, require_traces
from kanopy.verify.regroup import Background, labels_of_values, published_classes
from kanopy.verify.suppressed import unguarded


@dataclass(frozen=True)
class Verification:
    """What the second look found. Rows with `*` in every quasi-identifier count as suppressed, not as a class."""

    rows: int
    suppressed_rows: int
    classes: int
    smallest_class: int
    people: int | None = field(default=None, repr=False)
    """Different units that are published, where they were counted; `smallest_class` counts them then."""
    tied_people: int | None = field(default=None, repr=False)
    """People whose published rows are tied together by something published, counted by what ties them."""
    rare_traces: int | None = field(default=None, repr=False)
    """Of these, people whose whole trace fewer than k share."""

    def to_dict(self) -> dict[str, int | None]:
        """Plain data for the report."""
        return {
            "rows": self.rows,
            "suppressed_rows": self.suppressed_rows,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            **({} if self.people is None else {"people": self.people}),
            **({} if self.tied_people is None else {"tied_people": self.tied_people, "rare_traces": self.rare_traces}),
        }


def regroup(frame: pl.DataFrame, quasi: Sequence[str]) -> Verification:
    """Group a published frame by its labels.

    >>> frame = pl.DataFrame({"age": ["30-39", "30-39", "*"], "sex": ["f", "f", "*"]})
    >>> regroup(frame, ["age", "sex"])
    Verification(rows=3, suppressed_rows=1, classes=1, smallest_class=2)
    """
    table, suppressed = class_table(frame, quasi)
    sizes = table["\0rows"].to_numpy()
    return Verification(frame.height, suppressed, len(sizes), int(sizes.min()) if len(sizes) else 0)


def verify(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    *,
    identifiers: Sequence[str] = (),
    rows: int,
    suppressed_rows: int,
    classes: int,
    gone: npt.NDArray[np.bool_] | None = None,
    sensitive: Sequence[str] = (),
    background: Background | None = None,
    unit_columns: UnitColumns | None = None,
    multiplicity: Longs | None = None,
) -> Verification:
    """Check a frame that is about to leave; raises `VerificationFailed` and never repairs anything.

    Every class must satisfy every model; no identifier may be present; rows, suppressed rows and classes must be
    those the release claims. Of the rows with `*` in every quasi-identifier, those beyond the suppressed ones form a
    class like any other (local recoding may generalize a group to the top of every hierarchy). `gone` says
    which of the published rows are the suppressed ones: they may show `sensitive` columns only if they are themselves a
    class that satisfies the models about them. `background` is what models beyond class sizes look at. `unit_columns`
    says whose rows these are: then classes are counted in people, and what may be known of a person must fit k of them.
    `multiplicity` says for how many published rows each row of the frame stands, where an engine counted them.
    """
    _require_absent(identifiers, frame)
    counted, hidden = _grouped(frame, quasi, multiplicity)
    height = frame.height if multiplicity is None else int(multiplicity.sum())
    sizes = counted["\0rows"].to_numpy().astype(np.int64)
    suppressed = min(hidden, suppressed_rows)
    if hidden > suppressed:
        sizes = np.append(sizes, hidden - suppressed)
    published_people = None
    if unit_columns is not None:
        published_frame, theirs = _shown(frame, quasi, gone, unit_columns)
        if len(sizes) != len(people := people_of(published_frame, quasi, theirs)):
            raise VerificationFailed("Two ways of counting the published classes disagree. Nothing was written.")
        sizes, published_people = people.to_numpy().astype(np.int64), theirs.units.n_unique()
        k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
        require_traces(published_frame, quasi, theirs, k)
    seen = Classes(sizes)
    if background is not None:
        seen = _seen(frame, quasi, models, gone, background, unit_columns, multiplicity)
        # Classes that only the population has are not published.
        published = seen.sizes[seen.sizes > 0]
        if sorted(published.tolist()) != sorted(sizes.tolist()):
            raise VerificationFailed("Two ways of counting the published classes disagree. Nothing was written.")
    called = "rows" if unit_columns is None else unit_columns.called
    for model in models:
        wrong = int((failing(model, seen) & (seen.sizes > 0)).sum())
        if wrong:
            raise VerificationFailed(
                f"{wrong:,} published classes violate the model {model.name!r} ({model.said(called)}) "
                "Nothing was written. This is an error in Kanopy: please report it."
            )
    if gone is not None and gone.any():
        guarded = None if unit_columns is None else unit_columns.of(pl.Series(gone))
        behind = None if multiplicity is None else multiplicity[gone]
        _require_guarded(frame.filter(pl.Series(gone)), quasi, models, sensitive, background, guarded, behind)
    smallest = int(sizes.min()) if len(sizes) else 0
    verification = Verification(height, suppressed, len(sizes), smallest, published_people)
    claims = {"rows": (height, rows), "suppressed rows": (suppressed, suppressed_rows)}
    claims["classes"] = (len(sizes), classes)
    for what, (there, claimed) in claims.items():
        if there != claimed:
            raise VerificationFailed(
                f"The published table has {there:,} {what}, the release claims {claimed:,}. "
                "Nothing was written. This is an error in Kanopy: please report it."
            )
    return verification


def _require_guarded(rows: pl.DataFrame, quasi: Sequence[str], models: Sequence[Model], *given: Any) -> None:
    """Refuse suppressed rows that tell what the few people behind them have; `given` as for `unguarded`."""
    for name, model in unguarded(rows, quasi, models, *given):
        raise VerificationFailed(
            f"The suppressed rows would be published with their values of {name!r}, and violate the model "
            f"{model.name!r}. Nothing was written. This is an error in Kanopy: please report it."
        )


def _require_absent(identifiers: Sequence[str], frame: pl.DataFrame) -> None:
    left = [name for name in identifiers if name in frame.columns]
    if left:
        raise VerificationFailed(f"Identifying columns would be published: {', '.join(left)}. Nothing was written.")


def verify_swapped(
    original: pl.DataFrame,
    frame: pl.DataFrame,
    quasi: Sequence[str],
    k: int,
    identifiers: Sequence[str] = (),
    *,
    missing_tokens: Sequence[str] = (),
    replaced: bool = False,
) -> Verification:
    """Check a frame whose values were swapped between rows: every column keeps its values, and nobody whose combination
    fewer than `k` rows share keeps an answer. Nothing is promised about how many rows share a published combination.
    Where rare values were `replaced` first, columns keep only the values that `verify_answers` looks at.

    >>> before = pl.DataFrame({"why": ["walk", "beach", "wine", "wine"]})
    >>> verify_swapped(before, pl.DataFrame({"why": ["beach", "walk", "wine", "wine"]}), ["why"], 2).smallest_class
    1
    """
    _require_absent(identifiers, frame)
    before, after = (
        pl.DataFrame([_answers(table[name], missing_tokens).alias(str(index)) for index, name in enumerate(quasi)])
        for table in (original, frame)
    )
    rare = before.select(pl.len().over(before.columns) < k).to_series()
    for index, name in enumerate(() if replaced else before.columns):
        is_kept = before.height == after.height and bool(((before[name] == after[name]) & rare).any())
        if is_kept or not before[name].sort().equals(after[name].sort()):
            raise VerificationFailed(
                f"Swapping changed how often values of {quasi[index]!r} occur, or left a rare answer in its place. "
                "Nothing was written. This is an error in Kanopy: please report it."
            )
    counted, stars = _grouped(frame, quasi)
    sizes = [*counted["\0rows"].to_list(), *([stars] if stars else [])]  # an answer that reads * is an answer
    return Verification(frame.height, 0, len(sizes), min(sizes, default=0))


def _answers(series: pl.Series, missing_tokens: Sequence[str]) -> pl.Series:
    """Answers as labels; blank ones and texts that mean missing are missing."""
    tokens = ["", *(token.strip() for token in missing_tokens)]
    gap = "\0"  # no answer reads like this, while one may well read (missing)
    labels = labels_of_values(series.rename(""), gap)
    missing = labels.str.strip_chars().is_in(tokens)
    return pl.select(pl.when(missing).then(pl.lit(gap)).otherwise(labels)).to_series()


def _seen(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    suppressed: npt.NDArray[np.bool_] | None,
    background: Background,
    unit_columns: UnitColumns | None = None,
    multiplicity: Longs | None = None,
) -> Classes:
    """The published classes with all that the models look at."""
    published_frame, theirs = _shown(frame, quasi, suppressed, unit_columns)
    if multiplicity is not None:
        background = replace(background, multiplicity=multiplicity if suppressed is None else multiplicity[~suppressed])
    if theirs is not None:
        background = replace(background, units=theirs.units)
    return published_classes(published_frame, quasi, models, background)


@overload
def _shown(
    frame: pl.DataFrame, quasi: Sequence[str], suppressed: npt.NDArray[np.bool_] | None, unit_columns: UnitColumns
) -> tuple[pl.DataFrame, UnitColumns]: ...
@overload
def _shown(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    suppressed: npt.NDArray[np.bool_] | None,
    unit_columns: UnitColumns | None,
) -> tuple[pl.DataFrame, UnitColumns | None]: ...
def _shown(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    suppressed: npt.NDArray[np.bool_] | None,
    unit_columns: UnitColumns | None,
) -> tuple[pl.DataFrame, UnitColumns | None]:
    """The rows that are not called suppressed, and whose they are; those called so must show nothing."""
    if suppressed is None or not suppressed.any():
        return frame, unit_columns
    empty = frame.filter(pl.Series(suppressed))
    if not all((empty[name].cast(pl.String) == SUPPRESSED_LABEL).fill_null(False).all() for name in quasi):
        raise VerificationFailed("Some suppressed rows still show quasi-identifiers. Nothing was written.")
    published_rows = pl.Series(~suppressed)
    return frame.filter(published_rows), None if unit_columns is None else unit_columns.of(published_rows)


def class_table(frame: pl.DataFrame, quasi: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """One line per class with its size in the column `"\\0rows"`, and how many rows are suppressed.

    If *every* row has only `*`, that is one class of the whole table: nothing distinguishes anybody.
    """
    table, suppressed = _grouped(frame, quasi)
    if suppressed and suppressed == frame.height:
        return frame.select(pl.len().alias("\0rows")), 0
    return table, suppressed


def _grouped(frame: pl.DataFrame, quasi: Sequence[str], multiplicity: Longs | None = None) -> tuple[pl.DataFrame, int]:
    """One line per different combination of labels but the one of only `*`, and how many rows have that one."""
    if not quasi:  # nothing is generalized: all rows are one class
        height = frame.height if multiplicity is None else int(multiplicity.sum())
        return pl.DataFrame({"\0rows": [height]}), 0
    # Numbered, so that no column of the table can have the name of one made here.
    keys = [f"\0{index}" for index in range(len(quasi))]
    # By column and not by name: a name such as `*` or `^a.*$` would mean many columns.
    named = pl.DataFrame([frame[name].alias(key) for name, key in zip(quasi, keys, strict=True)])
    if multiplicity is None:
        counted = named.lazy().group_by(keys).agg(pl.len().alias("\0rows")).collect()
    else:
        standing = named.with_columns(pl.Series("\0rows", multiplicity))
        counted = standing.lazy().group_by(keys).agg(pl.col("\0rows").sum()).collect()
    texts = (pl.String, pl.Categorical, pl.Enum)
    if not all(isinstance(frame.schema[name], texts) for name in quasi):
        return counted, 0
    hidden = pl.all_horizontal(
        (pl.col(key).cast(pl.String) == SUPPRESSED_LABEL).fill_null(False) for key in keys
    ).alias("\0hidden")
    marked = counted.with_columns(hidden)
    return marked.filter(~pl.col("\0hidden")), int(marked.filter(pl.col("\0hidden"))["\0rows"].sum())
