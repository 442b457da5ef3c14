"""Everything else that a job may say, drawn on top of a random job, and columns of every type beside its own."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from tests.fuzz.jobs import Case
from tests.fuzz.textbook import text_of

VIENNA = ZoneInfo("Europe/Vienna")
ILL_TYPES: dict[str, list[Any]] = {
    "whole": [3, 1, 4, 15, 9],
    "float": [0.5, -1.25, 3.0, 8.75, 2.5],
    "date": [dt.date(1999, 12, 24 + i) for i in range(5)],
    "moment": [dt.datetime(2001, 2, 3, 4, i) for i in range(5)],
    "duration": [dt.timedelta(hours=7 * i, days=i) for i in range(5)],
    "truth": [True, False, None, None, None],
    "spaced": ["a", " b", "c d", "  ", "e "],
}
"""What a sensitive column may hold instead of letters, where no model names these."""
BY_LETTER = {"l-plus", "t-hierarchical", "guarding"}


@dataclass(frozen=True)
class Drawn(Case):
    """A case with more options: what the table says once it is read, and what else is published."""

    extras: tuple[str, ...] = ()
    tokens: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Per column the texts that mean missing."""
    skipped: int = 0
    pseudonyms: bool = False
    decimals: dict[str, str] = field(default_factory=dict)
    """Per column of numbers in texts their decimal sign."""
    maybe: tuple[str, ...] = ()
    """Columns that may be published, or not."""
    treated: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Per column how it is treated."""
    form: dict[str, Any] = field(default_factory=dict)
    """How a file of text is written, where that must be told."""

    def read(self, table: pl.DataFrame) -> pl.DataFrame:
        """The records of a table with nulls for what means missing."""
        table = table.slice(self.skipped)
        for name, tokens in self.tokens.items():
            if name not in table.columns:
                continue
            own = table[name]
            if not own.dtype.is_nested():
                left = [value is None or text_of(value).strip() not in tokens for value in own.to_list()]
                own = pl.select(pl.when(pl.Series(left)).then(own.rename(""))).to_series().alias(name)
                table = table.with_columns(own)
        for name, sign in self.decimals.items():
            texts = table[name].cast(pl.String).str.replace_all("," if sign == "." else ".", "", literal=True)
            table = table.with_columns(texts.str.replace(sign, ".", literal=True).cast(pl.Float64))
        if self.job.places and "spot" not in table.columns:
            pairs = [f"{float(north)!r}, {float(east)!r}" for north, east in table.select("lat", "lon").rows()]
            table = table.with_columns(pl.Series("spot", pairs))
        return table


def with_options(case: Case) -> Drawn:
    """A case with options of all kinds, from its number."""
    draw = np.random.default_rng([case.seed, 3])
    job, table, rows = case.job, case.table, case.table.height
    changes: dict[str, Any] = {}
    tokens: dict[str, tuple[str, ...]] = {}
    extras: list[str] = []
    if "ill" in table.columns and not case.models.keys() & BY_LETTER and draw.random() < 0.3:
        table = _other_ills(draw, table, str(draw.choice(list(ILL_TYPES))))
    if draw.random() < 0.4:
        column = _extra(draw, rows)
        table, extras = table.with_columns(column), ["extra"]
        changes["insensitive"] = [*job.insensitive, "extra"]
    if draw.random() < 0.12:
        changes["weights"] = {name: float(draw.choice([0.0, 0.5, 2.0])) for name in job.quasi if draw.random() < 0.7}
    if draw.random() < 0.1:
        changes["unknown"] = str(draw.choice(["suppress", "add"]))
    if draw.random() < 0.05:
        changes["neutralize_formulas"] = True
    if draw.random() < 0.15:
        changes |= _tokens(draw, table, job.quasi, tokens, bool(case.models.keys() & BY_LETTER))
    pseudonyms = "name" in job.identifiers and not job.unit and draw.random() < 0.08
    if pseudonyms:
        changes["pseudonymize"] = ["name"]
    if draw.random() < 0.05 and not job.unit and job.k >= 2:
        table = table.with_columns(
            pl.Series("stands", draw.integers(1, 40, rows) * 5.0), pl.Series("home", draw.integers(0, rows, rows))
        )
        changes["models"] = [*job.models, str(draw.choice(["individual-risk:0.3", "individual-risk:0.05"]))]
        changes["sampling_weight"] = "stands"
        if draw.random() < 0.4:
            changes["household"] = "home"
    skipped = int(draw.integers(1, 3)) if draw.random() < 0.08 else 0
    if skipped:
        changes["skip_rows"] = skipped
        table = pl.concat([table.head(1)] * skipped + [table])
    job = job.replaced(**changes)
    return Drawn(
        case.seed, table, job, case.models, case.above, case.people,
        extras=tuple(extras), tokens=tokens, skipped=skipped, pseudonyms=pseudonyms,
    )  # fmt: skip


def _other_ills(draw: np.random.Generator, table: pl.DataFrame, kind: str) -> pl.DataFrame:
    values = ILL_TYPES[kind]
    letters = table["ill"].to_list()
    if kind == "truth":
        return table.with_columns(pl.Series("ill", [letter < "c" for letter in letters]))
    return table.with_columns(pl.Series("ill", [values["abcdexyz".index(letter) % 5] for letter in letters]))


def _extra(draw: np.random.Generator, rows: int) -> pl.Series:
    """A column that is published as it is, of any type."""
    few = draw.integers(0, 4, rows).tolist()
    kinds: dict[str, Any] = {
        "floats": lambda: pl.Series([[0.0, -0.0, float("nan"), 1.5][i] for i in few]),
        "spaced": lambda: pl.Series([["x", " x", "   ", "x "][i] for i in few]),
        "truth": lambda: pl.Series([[True, False, None, True][i] for i in few]),
        "dates": lambda: pl.Series([dt.date(2020, 1, 1 + i) for i in few]),
        "zoned": lambda: pl.Series([dt.datetime(2020, 7, 1, i, tzinfo=VIENNA) for i in few]),
        "times": lambda: pl.Series([dt.time(i, 30) for i in few]),
        "durations": lambda: pl.Series([dt.timedelta(days=i, hours=7) for i in few]),
        "decimals": lambda: pl.Series([Decimal(i) / 4 for i in few]),
        "categories": lambda: pl.Series([f"c{i}" for i in few], dtype=pl.Categorical),
        "lists": lambda: pl.Series([[i, i + 1] if i else [] for i in few], dtype=pl.List(pl.Int64)),
        "words": lambda: pl.Series([[f"w{i}"] * i for i in few], dtype=pl.List(pl.String)),
        "formulas": lambda: pl.Series([["=1+1", "+4", "-x", "@y"][i] for i in few]),
        "quoted": lambda: pl.Series([['a "b"', "c,d", "e\nf", ""][i] for i in few]),
        "nothing": lambda: pl.Series([None] * rows, dtype=pl.String),
    }  # fmt: skip
    return kinds[str(draw.choice(list(kinds)))]().alias("extra")


def _tokens(
    draw: np.random.Generator,
    table: pl.DataFrame,
    quasi: tuple[str, ...],
    tokens: dict[str, tuple[str, ...]],
    by_letter: bool,
) -> dict[str, Any]:
    """Some value of a column is what means missing there, or everywhere."""
    name = str(draw.choice([*quasi] if by_letter else [*quasi, "ill"]))
    known = [text_of(value) for value in table[name].drop_nulls().to_list()]
    token = (str(draw.choice(known)).strip() if known else "?") or "?"
    if draw.random() < 0.5 and not by_letter and not token.lstrip("-").isdigit():  # which rows have as their number
        tokens |= dict.fromkeys(table.columns, (token,))
        return {"missing_tokens": [token]}
    tokens[name] = (token,)
    return {"column_tokens": {name: [token]}}
