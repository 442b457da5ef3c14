"""Top and bottom coding: the largest and the smallest values become one value that enough people share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Longs, Mask
from kanopy._errors import JobError
from kanopy._parameter_types import Integer, Number, OneOf, Optional, Share
from kanopy.treatments.base import NUMBERS, Table, Treatment, numbers_of, published_numbers, settled

USUAL_SIZE = 3
PUBLISHED = ("threshold", "mean", "median")


@dataclass(frozen=True)
class TopCode(Treatment):
    """Top and bottom coding: values at or above `top`, and at or below `bottom`, are published as one value each.

    The limits are values, or shares of the rows with the largest and smallest values (`top_share = "1%"`). A tail is
    published as its threshold, mean or median. Fewer than `size` people in a tail are refused.

    >>> from kanopy.treatments.apply import treat_values
    >>> treat_values([1, 2, 3, 50, 60, 70], TopCode(top=50, size=3))
    [1, 2, 3, 50, 50, 50]
    """

    top: Annotated[float | None, Optional(Number()), "values from here on are coded"] = None
    bottom: Annotated[float | None, Optional(Number()), "values down from here are coded"] = None
    top_share: Annotated[float | None, Optional(Share(above=0, below=1, least=None, most=None)),
                         "the share of rows with the largest values that is coded"] = None  # fmt: skip
    bottom_share: Annotated[float | None, Optional(Share(above=0, below=1, least=None, most=None)),
                            "the share of rows with the smallest values that is coded"] = None  # fmt: skip
    publish: Annotated[str, OneOf(*PUBLISHED), "what a tail is published as"] = "threshold"
    size: Annotated[int | None, Optional(Integer(2)), "people that must share a coded value; the job's k, or 3"] = None

    name: ClassVar[str] = "top-code"
    summary: ClassVar[str] = "publishes the largest (and smallest) values as one value that several people share"
    guarantees: ClassVar[str] = (
        "no value beyond the limits is published; a coded value stands for at least `size` people"
    )
    lacks: ClassVar[str] = "values between the limits are published as they are: neither k nor differential privacy"
    source: ClassVar[str] = "Hundepool et al. 2012, Statistical Disclosure Control, section 3.2"
    takes: ClassVar[str] = NUMBERS
    piecewise: ClassVar[bool] = True

    def contradictions(self) -> Iterable[str]:
        """A side has one limit, and there is a side."""
        if self.top is not None and self.top_share is not None:
            yield "top-code has two limits at the top: give top or top_share."
        if self.bottom is not None and self.bottom_share is not None:
            yield "top-code has two limits at the bottom: give bottom or bottom_share."
        if {self.top, self.top_share, self.bottom, self.bottom_share} == {None}:
            yield "top-code has no limit: give top, top_share, bottom or bottom_share."
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            yield f"top-code: bottom ({self.bottom:g}) must lie below top ({self.top:g})."
        if (self.top_share or 0) + (self.bottom_share or 0) >= 1:
            yield "top-code: top_share and bottom_share together must be less than the whole table."

    def with_k(self, k: int) -> TopCode:
        """A coded value stands for k people unless the job gives a size."""
        return self if self.size is not None else replace(self, size=k)

    def measures(self, column: str) -> dict[str, pl.Expr]:
        """The limits, and how many values and which mean and median each tail has."""
        values = pl.col(column).cast(pl.Float64, strict=False)
        values = pl.when(values.is_finite()).then(values).drop_nulls()
        expressions = {"whole": ((values == values.floor()) & (values.abs() < 2.0**53)).all() & (values.len() > 0)}
        for side, limit, share in (("top", self.top, self.top_share), ("bottom", self.bottom, self.bottom_share)):
            if limit is None and share is None:
                continue
            if share is None:
                at = pl.lit(float(limit if limit is not None else 0))
            else:
                # Of equal values all are coded: a tail never ends within them.
                at = values.quantile(1 - share if side == "top" else share, "nearest")
            tail = values.filter(values >= at) if side == "top" else values.filter(values <= at)
            expressions |= {f"{side}_at": at.first(), f"{side}_rows": tail.len(), f"{side}_mean": tail.mean(),
                      f"{side}_median": tail.median()}  # fmt: skip
        return expressions

    def shared(self, facts: Mapping[str, Any]) -> dict[str, float]:
        """The values that the tails become, where they have rows."""
        name = "at" if self.publish == "threshold" else self.publish
        sides = [side for side in ("top", "bottom") if facts.get(f"{side}_rows")]
        return {side: facts[f"{side}_at"] if name == "at" else settled(facts[f"{side}_{name}"]) for side in sides}

    def too_few(self, column: str, what: str, value: float, people: int) -> str | None:
        """A tail of which suppressed rows leave fewer than `size` people; one of which nobody is left is no tail."""
        least = self.size or USUAL_SIZE
        if not 0 < people < least:
            return None
        return (
            f"Suppressed rows leave {people:,} {'person' if people == 1 else 'people'} of the {what} of {column!r}, "
            f"and a coded value must stand for at least {least}. Code a larger share of the rows, or suppress fewer."
        )

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Code the tails of a column."""
        series = table.rows[column]
        values = numbers_of(series, self.name)
        coded, least = values.copy(), self.size or USUAL_SIZE
        whole = bool(table.facts["whole"])
        for side in ("top", "bottom"):
            at = table.facts.get(f"{side}_at")
            if at is None:
                continue
            inside: Mask = values >= at if side == "top" else values <= at
            rows = int(table.facts[f"{side}_rows"])
            if not rows:
                table.say(
                    f"{column}: no value is at or {'above' if side == 'top' else 'below'} {at:g}; nothing was coded."
                )
                continue
            people = rows if table.units is None else len(np.unique(table.units[inside]))
            if people < least and not table.facts.get("pieces"):  # those of a piece are counted in the whole table
                raise JobError(_too_few(column, side, at, people, least, values, table.units))
            value = self.shared(table.facts)[side]
            coded[inside] = value
            whole = whole and float(value).is_integer()
        keeps = whole and (series.dtype.is_integer() or series.dtype == pl.String)
        return {column: published_numbers(coded, series, whole=keeps)}


def _too_few(column: str, side: str, at: float, people: int, size: int, values: Floats, units: Longs | None) -> str:
    present = np.flatnonzero(~np.isnan(values))
    ranked = present[np.argsort(-values[present] if side == "top" else values[present], kind="stable")]
    hint = "Protect the column in another way."
    # The rows with which each further person comes in, from the end inwards.
    first = np.sort(np.unique(ranked if units is None else units[ranked], return_index=True)[1])
    if len(first) > size:
        hint = f"Choose {side} = {values[ranked[first[size - 1]]]:g}, or another limit that more people reach."
    beyond = "above" if side == "top" else "below"
    return (
        f"Only {people:,} {'person' if people == 1 else 'people'} of {column!r} would be coded at or {beyond} {at:g}, "
        "and a "
        f"coded value must stand for at least {size}. {hint}"
    )
