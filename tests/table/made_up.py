"""Made-up columns: values of the shape that a real column has, none of them taken from it."""

from __future__ import annotations

import datetime as dt
import random
import re
import uuid
from typing import Any

import polars as pl

ROWS = 400
LETTERS = "abdefghiklmnoprstuvw"


def made_up(name: str, shape: Any, seed: int) -> pl.Series:
    """A column of a shape: a list of categories; `[low, high, digits, distinct]` of numbers (a share of the rows or a
    number of values); `{"shapes": …, "distinct": …}` of texts, letters and digits drawn; or a kind by name."""
    draw = random.Random(seed)
    if isinstance(shape, list) and shape and all(isinstance(each, str) for each in shape):
        return pl.Series(name, [draw.choice(shape) for _ in range(ROWS)])
    if isinstance(shape, list):
        low, high, digits, distinct = shape
        many = max(2, round(distinct * ROWS) if distinct <= 1 else min(int(distinct), ROWS))
        if many == ROWS and digits == 0:
            start = int(low)
            return pl.Series(name, [str(start + place) for place in draw.sample(range(2 * ROWS), ROWS)])
        pool = [f"{low + (high - low) * draw.random():.{digits}f}" for _ in range(many)]
        return pl.Series(name, [draw.choice(pool) for _ in range(ROWS)])
    if isinstance(shape, dict):
        distinct = shape["distinct"]
        many = max(2, round(distinct * ROWS) if distinct <= 1 else min(int(distinct), ROWS))
        pool = [_drawn(draw.choice(shape["shapes"]), draw) for _ in range(many)]
        return pl.Series(name, pool if many == ROWS else [draw.choice(pool) for _ in range(ROWS)])
    return pl.Series(name, _of_kind(shape, draw), dtype=pl.String)


def _drawn(shape: str, draw: random.Random) -> str:
    kinds = {"A": LETTERS.upper(), "a": LETTERS, "9": "0123456789"}
    return re.sub("[Aa9]", lambda sign: draw.choice(kinds[sign[0]]), shape)


def _of_kind(kind: str, draw: random.Random) -> list[str | None]:
    """Values of a kind of which words or numbers alone would say too little."""

    def word() -> str:
        return _drawn("Aaaaaa", draw)

    if kind.startswith("date "):
        first = dt.datetime(1960, 1, 1) if "%y" not in kind else dt.datetime(1975, 1, 1)
        days = [first + dt.timedelta(days=draw.randrange(16_000), minutes=draw.randrange(1440)) for _ in range(ROWS)]
        return [day.strftime(kind.removeprefix("date ")) for day in days]
    if kind == "words":
        pool = [word() for _ in range(40)]
        return [draw.choice(pool) for _ in range(ROWS)]
    if kind == "zip":
        pool = [f"{draw.randrange(1000, 99999):05d}" for _ in range(60)]
        return [draw.choice(pool) for _ in range(ROWS)]
    if kind == "icd":
        pool = [f"{draw.choice('AEGJK')}{draw.randrange(10, 99)}.{draw.randrange(10)}" for _ in range(30)]
        return [draw.choice(pool) for _ in range(ROWS)]
    if kind == "key":
        return [str(10_000 + place) for place in draw.sample(range(5 * ROWS), ROWS)]
    if kind == "repeated":
        return [str(1000 + draw.randrange(ROWS // 4)) for _ in range(ROWS)]
    made = {
        "empty": lambda: None,
        "names": lambda: f"{word()} {word()}",
        "street": lambda: f"{word()}straße {draw.randrange(1, 90)}",
        "phone": lambda: f"+49 {draw.randrange(100, 999)} {draw.randrange(100_000, 999_999)}",
        "email": lambda: f"{word()}@{word()}.org".lower(),
        "iban": lambda: f"DE{draw.randrange(10, 99)}" + "".join(str(draw.randrange(10)) for _ in range(18)),
        "uuid": lambda: str(uuid.UUID(int=draw.getrandbits(128))),
        "ip": lambda: ".".join(str(draw.randrange(1, 255)) for _ in range(4)),
        "text": lambda: " ".join(word().lower() for _ in range(12)),
        "comma": lambda: f"{draw.randrange(1, 9)}.{draw.randrange(100, 999)},{draw.randrange(10, 99)}",
    }[kind]
    return [made() for _ in range(ROWS)]
