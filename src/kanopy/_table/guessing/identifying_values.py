"""Whether the values of a column that nobody gave a role point at people: judged on all of its different values.

The verdict depends on the name and on how often each value occurs, on nothing else: not on the order of the rows, not
on where the table lies, not on how much of it is looked at.
"""

from __future__ import annotations

import polars as pl

from kanopy._errors import DataError
from kanopy._table.column import as_labels
from kanopy._table.guessing.column_names import meanings_of
from kanopy._table.guessing.lexicon import RECORD_NUMBER
from kanopy._table.guessing.personal_data import first_names
from kanopy._table.guessing.value_kinds import FULL_NAME, HONOURED, MISSING_WORDS, MOSTLY, PATTERNS
from kanopy._table.roles import identifying_name

VALUE, COUNT = "value", "count"
MOST_VALUES = 100_000
"""A column of more different values is not looked through: it is taken to point at people."""
FEWEST_TO_JUDGE, HALF, FEWEST_NAMES, LONGEST_NAME = 20, 0.5, 5, 40
FLAGS = frozenset(
    "0 1 2 -1 true false yes no y n t f x ja nein j oui non o si sí s sim não nao nej nee tak nie evet hayır kyllä ei"  # noqa: SIM905
    .split()
)  # fmt: skip
"""What is said where something is so or not so: whatever the name of the column, it points at nobody."""
ANYWHERE = (
    ("an e-mail address", r"[^@\s]@[^@\s]+\.[A-Za-z]{2,}"),
    ("an address on the web", r"https?://|\bwww\.\w"),
    ("a telephone number", r"\+\d[\d\s()./-]{7,}\d"),
)
"""What points at people even among other words."""
_NUMBER = r"^-?(0|[1-9]\d{0,14})(\.\d+)?(e[-+]?\d+)?$"
"""Longer ones are digits of something, and computed with they would lose some."""


def why_pointing(name: str, values: pl.DataFrame | None) -> str | None:
    """Why a column may not leave unless somebody says so, or `None`.

    `values` are all its different values (`value`) and how often each occurs (`count`); `None` if there are more than
    anybody looks through.

    >>> mails = pl.DataFrame({"value": ["ann@example.org", None], "count": [1, 99]})
    >>> why_pointing("q7", mails), why_pointing("wave", pl.DataFrame({"value": [1, 2], "count": [50, 50]}))
    ('it holds an e-mail address', None)
    >>> why_pointing("email", pl.DataFrame({"value": [0, 1], "count": [50, 50]})), why_pointing("wave", None)
    (None, 'it has more than 100,000 different values')
    """
    meaning = identifying_name(name)
    if values is None:
        return f"its name suggests {meaning}" if meaning else f"it has more than {MOST_VALUES:,} different values"
    alone = values[VALUE]
    try:
        labels = (
            alone.fill_nan(None).cast(pl.String) if alone.dtype.is_float() else as_labels(alone)
        ).str.strip_chars()
    except DataError:
        return f"it holds {values[VALUE].dtype} values, which are not examined"
    # 1.50 and 1.5 are one number, however the table is stored.
    value, small = pl.col(VALUE), pl.col("small")
    number = pl.when("number").then(small).cast(pl.Float64, strict=False).cast(pl.String)
    valued = (
        pl.LazyFrame({VALUE: labels, COUNT: values[COUNT].cast(pl.Int64)})
        .drop_nulls(VALUE)
        .with_columns(small=value.str.to_lowercase())
        .with_columns(number=small.str.contains(_NUMBER))
        .filter((small != "") & ~small.is_in(list(MISSING_WORDS)))
        .group_by(pl.coalesce(number, value).alias(VALUE))
        .agg(pl.col(COUNT).sum(), pl.col("number").first())
        .collect()
    )
    if valued.height <= 2 and all(_said(value) in FLAGS for value in valued[VALUE].to_list()):
        return None
    if meaning is not None:
        return f"its name suggests {meaning}"
    rows, distinct = int(valued[COUNT].sum()), valued.height
    texts = valued.filter(~valued["number"])[VALUE]
    patterns = (*PATTERNS, *ANYWHERE)
    held = texts.to_frame().select(value.str.contains(pattern).any().alias(pattern) for _, pattern in patterns).row(0)
    if any(held):
        return f"it holds {patterns[held.index(True)][0]}"
    numbered = any(meant.meaning.says == RECORD_NUMBER for meant in meanings_of(name)[:1])
    if numbered and rows > 1 and distinct > HALF * rows:
        return f"its name speaks of {RECORD_NUMBER}"
    if len(texts) >= MOSTLY * distinct and _names(name, texts, rows):
        return "its values look like names of people"
    if rows >= FEWEST_TO_JUDGE and len(texts) >= HALF * distinct and distinct > HALF * rows:
        return "most rows have a unique text"
    return None


def _said(value: str) -> str:
    return value.lower().removesuffix(".0")


def _names(name: str, texts: pl.Series, rows: int) -> bool:
    """Whether texts are those of people: a title and a name each, first names, or capitalised words hardly repeated."""
    from kanopy._table.guessing.evidence.name_facts import about_places

    if about_places(name) or len(texts) <= 2:
        return False
    full = len(texts) > HALF * rows and rows >= FEWEST_NAMES and _share(texts, FULL_NAME) >= MOSTLY
    if full or _share(texts, HONOURED) >= MOSTLY:
        return True
    short = texts.filter(texts.str.len_chars() <= LONGEST_NAME)
    return len(texts) >= FEWEST_NAMES and first_names(short.to_list()) * len(short) >= HALF * len(texts)


def _share(texts: pl.Series, pattern: str) -> float:
    return int(texts.str.contains(pattern).sum()) / len(texts)


def distinct_values(column: pl.Series, most: int = MOST_VALUES) -> pl.DataFrame | None:
    """The different values of a column with how often each occurs; `None` if there are more than `most`.

    >>> distinct_values(pl.Series("a", ["x", "x", None])).sort("count").rows(), distinct_values(pl.Series([1, 2]), 1)
    ([(None, 1), ('x', 2)], None)
    """
    dtype = column.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        return pl.DataFrame({VALUE: column[:0].rename(VALUE), COUNT: pl.Series([], dtype=pl.Int64)})
    counted = column.rename(VALUE).value_counts(name=COUNT)
    return None if counted.height > most else counted


def more_values(counted: pl.DataFrame | None, column: pl.Series, most: int = MOST_VALUES) -> pl.DataFrame | None:
    """The same where some values were counted before."""
    more = distinct_values(column, column.len())
    assert more is not None
    if counted is not None:
        more = pl.concat([counted, more], how="vertical_relaxed").group_by(VALUE).agg(pl.col(COUNT).sum())
    return None if more.height > most else more
