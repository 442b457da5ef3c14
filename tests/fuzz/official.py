"""Columns that random jobs read as official classifications, ZIP codes and places on the map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from kanopy._job.usage import used_alone
from tests.fuzz.options import Drawn

COUNTRIES = ("Germany", "France", "Japan", "Brazil", "Kenya", "Peru")
ZIPS = ("10001", "10002", "03601", "94110", "94107", "60601")
SPOT = "spot"
BOX = re.compile(r"([\d.]+)(?: ([NSEW]))? ?– ?([\d.]+) ([NSEW])")


class Words:
    """Labels above words, which the textbook does not know: any but another of the words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def __call__(self, value: str) -> Sequence[str]:
        return self  # type: ignore[return-value]

    def __contains__(self, label: object) -> bool:
        return label not in self.words


class Boxes:
    """The boxes of latitude and longitude that hold a place, as `35 S – 50 N, 80–0 W` says them."""

    def __init__(self, place: str) -> None:
        self.place = tuple(float(part) for part in place.split(","))

    def __contains__(self, label: object) -> bool:
        sides = BOX.findall(str(label))
        if len(sides) != 2:
            return False
        for number, (first, own, last, other) in zip(self.place, sides, strict=True):
            ends = sorted(
                float(end) * (-1 if half in "SW" else 1) for end, half in ((first, own or other), (last, other))
            )
            if not ends[0] <= number <= ends[1]:
                return False
        return True


def with_countries(draw: np.random.Generator) -> tuple[Sequence[Any], dict[str, Any], Any]:
    """Values of a classification, its hierarchy, and what may be said of a value."""
    source: dict[str, Any] = {"method": "classification", "classification": "countries"}
    return COUNTRIES, source | ({"labels": "label"} if draw.random() < 0.3 else {}), Words(COUNTRIES)


def with_zips(draw: np.random.Generator) -> tuple[Sequence[Any], dict[str, Any], Any]:
    """ZIP codes by the rule of three digits."""
    return ZIPS, {"method": "hipaa_zip"}, lambda value: [f"{value[:3]}**", "000 (few people)"]


def places(draw: np.random.Generator, case: Drawn) -> Drawn:
    """A quasi-identifier more, which is made of latitude and longitude."""
    if case.people is not None or case.models.keys() & {"k-map", "delta-presence"} or "guarding" in case.models:
        return case
    rows = case.table.height
    north, east = (np.round(draw.choice(draw.uniform(-60, 60, 6), rows), 3) for _ in range(2))
    builder: dict[str, Any] = {"method": str(draw.choice(["cells", "quadtree"]))}
    builder |= {"sizes": [1.0, 30.0]} if builder["method"] == "cells" else {"k": 2}
    table = case.table.with_columns(pl.Series("lat", north), pl.Series("lon", east))
    trees = {**case.job.hierarchies, SPOT: builder}
    job = case.job.replaced(quasi=[*case.job.quasi, SPOT], places={SPOT: ["lat", "lon"]}, hierarchies=trees)
    above = {**case.above, SPOT: lambda value: Boxes(value)}
    return replace(case, table=table, job=used_alone(job), above=above)  # type: ignore[arg-type]
