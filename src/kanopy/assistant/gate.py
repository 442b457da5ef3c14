"""What may be told of a table to somebody who must not see its rows.

A value may be told if at least `k` rows share it. The gate knows every value that fewer rows have, of every table that
was opened, and looks for it in everything that is about to leave: numbers are compared as numbers, words without case,
and of longer texts every three words in a row. It judges the answer and not how the answer was made, so that a note or
an error written anywhere in Kanopy is judged as well. What it cannot judge is withheld.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

WINDOW = 3
"""So many words in a row of a longer text are looked for."""
LEAST_NUMBER = 1000
"""Smaller whole numbers in answers are counts; as texts they are judged like all others."""
MOST_DECIMALS = 4
"""Figures are told to so many decimals."""
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_GROUPED = re.compile(r"\d{1,3}(?:[ ,'’\u00a0\u2009\u202f]\d{3})+(?!\d)")
"""A number with separators of thousands."""
_LONG_NUMBER = re.compile(r"-?\d{5,}\.\d+")
"""Numbers that are looked for with fewer decimals, too."""

Tokens = tuple[str, ...]


class Count(int):
    """A number of rows or of different values: computed, not read from a cell."""


class Fixed(str):
    """A text of ours that repeats nothing of a table."""


def tokens_of(text: str) -> Tokens:
    """The words and numbers of a text, as they are compared.

    >>> tokens_of("Ann-Marie, 041.50")
    ('ann', 'marie', '41.5')
    """
    return tuple(format(float(token), "g") if token[0].isdecimal() and len(token) < 16 else token.lstrip("0") or "0"
                 for token in _TOKEN.findall(text.casefold()))  # fmt: skip


def readings_of(text: str) -> list[Tokens]:
    """The tokens of a text; a second time with digits in groups read as one number, where there are some.

    >>> readings_of("1,234.5 rows")
    [('1', '234.5', 'rows'), ('1234.5', 'rows')]
    """
    joined = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    return [tokens_of(text)] if joined == text else [tokens_of(text), tokens_of(joined)]


def texts_of(column: pl.Series) -> pl.Series:
    """The values of a column as texts; lists and bytes as Python writes them."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return pl.Series([None if value is None else str(value) for value in column.to_list()], dtype=pl.String)
    return column.cast(pl.String, strict=False)


def parts_of(value: Any) -> set[str]:
    """The texts in a value of a nested column, each by itself; bytes as text, where they are one.

    >>> sorted(parts_of({"tags": ["a", b"b", None]}))
    ['a', 'b']
    """
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, bytes):
        return {value.decode("utf-8", "replace")}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return {text for part in value for text in parts_of(part)}
    return set() if value is None else {str(value)}


def header_is_a_row(frame: pl.DataFrame) -> bool:
    """Whether the names of the columns may be values of a person: a table without a header, read as if it had one.

    >>> import polars as pl
    >>> header_is_a_row(pl.DataFrame({"name": ["Ann"], "town": ["Lyon"]}))
    False
    >>> header_is_a_row(pl.DataFrame({"Bob": ["Ann"], "Lyon": ["Lyon"]}))
    True
    """
    for column in frame.iter_columns():
        name = column.name.strip().casefold()
        tokens = tokens_of(name)
        number = bool(tokens) and not any(token.isalpha() for token in _TOKEN.findall(name))
        if number or "@" in name or (texts_of(column).str.strip_chars().str.to_lowercase() == name).any():
            return True
    return False


class Gate:
    """Knows which values fewer than `k` rows have, and withholds whatever repeats one.

    >>> import polars as pl
    >>> gate = Gate(2)
    >>> gate.learn(pl.DataFrame({"town": ["Lyon", "Lyon", "Little Rock"]}))
    >>> gate.clean({"towns": ["Lyon", "Little Rock"], "note": "No hierarchy knows 'little rock'."})
    {'towns': ['Lyon', None], 'note': None}
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._rare: set[Tokens] = set()
        self._shared: set[Tokens] = set()
        self._odd: set[str] = set()

    def learn(self, frame: pl.DataFrame) -> None:
        """Take in the values of a table. A value that is shared in one column may be told, also where it is rare."""
        import polars as pl

        for column in frame.iter_columns():
            counted = texts_of(column).drop_nulls().value_counts()
            values, counts = counted.to_series(0).to_list(), counted.to_series(1).to_list()
            for value, rows in zip(values, counts, strict=True):
                self._learn_value(value, rows >= self.k)
            if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
                for part, rows in Counter(part for value in column.to_list() for part in parts_of(value)).items():
                    self._learn_value(part, rows >= self.k)
        self._rare -= self._shared

    def _learn_value(self, value: str, shared: bool) -> None:
        for tokens in readings_of(value):
            if not tokens and not shared and value.strip():
                self._odd.add(value.strip())
            if tokens:
                (self._shared if shared else self._rare).update(_windows(tokens))
            if not shared and len(tokens) == 1 and _LONG_NUMBER.fullmatch(value.strip()):
                number = abs(float(value))
                self._rare |= {tokens_of(f"{number:.{decimals}f}") for decimals in range(MOST_DECIMALS + 1)}

    def passes(self, text: str) -> bool:
        """Whether a text repeats no value that too few rows have. Shortened texts may hide one, and do not pass."""
        if "…" in text or any(odd in text for odd in self._odd):
            return False
        return not any(
            tokens[at : at + size] in self._rare
            for tokens in readings_of(text)
            for size in range(1, WINDOW + 1)
            for at in range(len(tokens) - size + 1)
        )

    def clean(self, answer: Any) -> Any:
        """An answer without what must not be told: `None` stands where something was withheld."""
        if isinstance(answer, (Fixed, Count, bool)) or answer is None:
            return answer
        if isinstance(answer, str):
            return answer if self.passes(answer) else None
        if isinstance(answer, float):
            return round(answer, MOST_DECIMALS) if self.passes(repr(round(answer, MOST_DECIMALS))) or (
                abs(answer) <= 1.0
            ) else None  # fmt: skip
        if isinstance(answer, int):
            return answer if abs(answer) < LEAST_NUMBER or self.passes(str(answer)) else None
        if isinstance(answer, Mapping):
            return {key: self.clean(value) for key, value in answer.items() if self.clean(key) is not None}
        if isinstance(answer, (Sequence, set, frozenset)) and not isinstance(answer, (bytes, bytearray)):
            return [self.clean(item) for item in answer]
        return None

    def lines(self, text: str) -> list[str]:
        """A text of several lines, without those that must not be told."""
        return [line if self.passes(line) else "# withheld" for line in text.splitlines()]


def _windows(tokens: Tokens) -> Iterable[Tokens]:
    return [tokens] if len(tokens) <= WINDOW else list(_slide(tokens))


def _slide(tokens: Tokens) -> Iterator[Tokens]:
    for at in range(len(tokens) - WINDOW + 1):
        yield tokens[at : at + WINDOW]
