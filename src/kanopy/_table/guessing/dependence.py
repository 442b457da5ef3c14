"""Columns that say what another column hides: recodings, codes with labels, sums and differences, other units, parts of
dates and of codes.

How far one column is a function of another is measured as Chatterjee does (A new coefficient of correlation, Journal of
the American Statistical Association 116, 2021): rows are sorted by the one, and what neighbours differ in the other is
compared with what any two rows differ in. It is 1 for a function of whatever form and about 0 for columns that have
nothing to do with each other, needs no counts of pairs, and is not misled by values that only one row has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints, Longs, Mask

MOST_ROWS = 10_000
"""So many rows, drawn evenly, tell whether columns depend on each other."""
FUNCTION, NUMERIC_FUNCTION = 0.9, 0.95
"""From here on a column is taken for a function of another (few values; many numbers on either side)."""
FEWEST_ROWS, EXPECTED = 30, 10.0
"""Neighbours that are compared, and differences that chance would bring: with fewer nothing can be said."""
FEW_NUMBERS = 30
SOMETIMES = 0.05
BY_CHANCE = 10.0
"""Columns that agree in so many binary digits do not by chance: that happens to one pair in a thousand."""


@dataclass(frozen=True)
class Dependence:
    """A `column` that is published as it is and tells something about generalized ones: `revealed` with its own
    values, or together with those of `beside`."""

    column: str
    revealed: str
    how: str
    strength: float
    beside: tuple[str, ...] = ()
    relation: Relation | None = None
    """What gives the column as a sum or product of `revealed` and those `beside`."""


@dataclass(frozen=True)
class Relation:
    """A `total` that is a sum of parts, each times its factor, and a constant; or the same of their logarithms."""

    total: str
    factors: Mapping[str, float]
    constant: float
    error: float
    """What is left of the total: rounding, as a standard deviation."""
    logarithms: bool = False


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as numbers from 0 on (-1 is missing), in the order of its values where they have one."""

    codes: Ints
    size: int
    numbers: Floats | None
    texts: pl.Series | None

    @property
    def measured(self) -> Floats | None:
        """Numbers to add up: those of the values, 0 and 1 where there are two."""
        if self.numbers is None and self.size == 2:
            return np.where(self.codes < 0, np.nan, self.codes)
        return self.numbers

    @property
    def ordered(self) -> bool:
        """Whether values have an order."""
        return self.numbers is not None

    def of_rows(self, rows: Longs) -> Coded:
        """The same for some rows."""
        numbers, texts = self.numbers, self.texts
        return Coded(
            self.codes[rows],
            self.size,
            None if numbers is None else numbers[rows],
            None if texts is None else texts[rows],
        )


def coded(column: pl.Series) -> Coded | None:
    """A column ready to be compared; `None` if there is nothing to compare.

    >>> coded(pl.Series([2.5, None, 1.0])).codes.tolist(), coded(pl.Series(["2020-01-31", "2019-01-31"])).ordered
    ([1, -1, 0], True)
    """
    dtype, column = column.dtype, column.rename("")
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Null):
        return None
    numbers: pl.Series | None = None
    texts: pl.Series | None = None
    if dtype.is_numeric():
        numbers = column.cast(pl.Float64)
    elif dtype.is_temporal():
        numbers = column.to_physical().cast(pl.Float64)
    elif dtype == pl.Boolean:
        column = column.cast(pl.UInt32)
    else:
        texts = column.cast(pl.String)
        few = texts.drop_nulls().head(50)
        for read in (_as_numbers, _as_days):
            if len(few) and read(few).null_count() <= 0.1 * len(few):
                read_numbers = read(texts)
                if read_numbers.null_count() - texts.null_count() <= 0.1 * len(texts):
                    numbers = read_numbers
                    break
        column = texts
    if numbers is not None:
        numbers = numbers.fill_nan(None)
        if numbers.is_infinite().any():
            numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
        column = numbers
    rank = column.rank("dense").cast(pl.Int32)
    codes = (rank.fill_null(0).to_numpy() - 1).astype(np.int32)
    size = int(codes.max(initial=-1)) + 1
    if size < 2:
        return None
    return Coded(codes, size, None if numbers is None else numbers.fill_null(np.nan).to_numpy(), texts)


def _as_numbers(texts: pl.Series) -> pl.Series:
    return texts.str.strip_chars().cast(pl.Float64, strict=False)


def _as_days(texts: pl.Series) -> pl.Series:
    return texts.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)


@lru_cache(maxsize=4)
def drawn(rows: int, most: int = MOST_ROWS) -> Longs:
    """Rows in an order of their own, at most so many: the same for the same table, not to be changed."""
    chosen = np.random.default_rng(20).permutation(rows)[:most].astype(np.int64)
    chosen.flags.writeable = False
    return chosen


def in_no_order(columns: Mapping[str, Coded]) -> dict[str, Coded]:
    """The same rows in an order that depends on nothing but their values, and says nothing of them.

    Rows that are equal in all columns are numbered, and lie apart: side by side they would look like a dependence.
    """
    draw, mixed = np.random.default_rng(20), np.uint64(0)
    for codes in (columns[name].codes for name in sorted(columns)):
        mixed = _mixed(mixed, codes, draw)
    order = np.argsort(mixed, kind="stable")
    new = np.append(True, np.diff(mixed[order]) > 0)  # type: ignore[index]
    position = np.arange(len(order))
    alike = np.empty_like(position)
    alike[order] = position - np.maximum.accumulate(np.where(new, position, 0))
    order = np.argsort(_mixed(mixed, alike, draw), kind="stable")
    return {name: column.of_rows(order) for name, column in columns.items()}


def _mixed(before: Any, codes: Ints | Longs, draw: np.random.Generator) -> Any:
    """Numbers that say nothing of codes, and of what was mixed before."""
    factor = draw.integers(1, 1 << 62, dtype=np.uint64)
    mixed = (before ^ (codes + 1).astype(np.uint64)) * (2 * factor + np.uint64(1))
    return mixed ^ (mixed >> np.uint64(29))


class Neighbours:
    """Rows that stand beside each other when a column is sorted: `first` and `second`, and those of equal values."""

    def __init__(self, column: Coded) -> None:
        codes = column.codes.astype(np.uint16) if column.size < 65_535 else column.codes
        order = np.argsort(codes, kind="stable")
        order = order[column.codes[order] >= 0]
        first, second = order[:-1], order[1:]
        if not column.ordered:
            same = column.codes[first] == column.codes[second]
            first, second = first[same], second[same]
            if len(first) < SOMETIMES * len(order):
                # Where hardly any value is repeated, those that are say what made them so, not what the column tells.
                first, second = first[:0], second[:0]
        self.first, self.second = first, second
        self.every, self.many = len(order) == len(column.codes), column.ordered and column.size > FEW_NUMBERS


class Spread:
    """What two rows differ in, in a column: by rank where it holds many numbers, else whether they differ."""

    def __init__(self, column: Coded) -> None:
        self.codes, self.size = column.codes, column.size
        self.known: Mask = column.codes >= 0
        self.every = bool(self.known.all())
        counts = np.bincount(column.codes[self.known], minlength=column.size)
        self.by_rank = column.ordered and column.size > FEW_NUMBERS
        upto = np.cumsum(counts) / counts.sum()
        self._middle = upto - counts / counts.sum() / 2
        self.place = np.append(self._middle, 0.0)[column.codes] if self.by_rank else column.codes
        self.apart = self._apart(counts)

    def _apart(self, counts: Longs) -> float:
        """What two rows drawn at random differ in."""
        share = counts / max(int(counts.sum()), 1)
        if not self.by_rank:
            return float(1 - (share**2).sum())
        upto = np.cumsum(share)[:-1]
        return float(2 * (np.diff(self._middle) * upto * (1 - upto)).sum())

    def strength(self, by: Neighbours) -> float:
        """How far the column is a function of another; nothing where too few rows can be compared."""
        first, second, apart = by.first, by.second, self.apart
        if not self.every:
            both = self.known[first] & self.known[second]
            first, second = first[both], second[both]
        rows = len(first)
        if rows < FEWEST_ROWS or rows * apart < EXPECTED:
            return 0.0
        if self.by_rank:
            differ = float(np.abs(self.place[first] - self.place[second]).mean())
        else:
            differ = float((self.place[first] != self.place[second]).mean())
        if differ > 0.5 * apart:
            return 0.0
        if not (by.every and self.every):  # those that have values in both columns may be of one kind
            apart = self._apart(np.bincount(self.codes[first], minlength=self.size))
        return 1 - differ / apart if rows * apart >= EXPECTED else 0.0

    def enough(self, by: Neighbours) -> float:
        """From which strength on the column is taken for a function of another."""
        return NUMERIC_FUNCTION if self.by_rank or by.many else FUNCTION


def dependences(published: Mapping[str, Coded], generalized: Mapping[str, Coded]) -> list[Dependence]:
    """Which columns that are published unchanged tell something about which generalized ones, the surest first.

    All columns have the same rows, in an order that says nothing (`drawn`).

    >>> ages = pl.Series([20 + i * 37 % 60 for i in range(400)])
    >>> shown = {"born": coded(2020 - ages), "adult": coded(ages // 10), "x": coded(pl.Series([*range(8)] * 50))}
    >>> [(each.column, each.how) for each in dependences(shown, {"age": coded(ages)})]
    [('born', 'determines'), ('adult', 'is a coarser form of')]
    """
    from kanopy._table.guessing.arithmetic_relations import relations

    by_pair: dict[tuple[str, str], Dependence] = {}
    hidden = {name: (Neighbours(column), Spread(column)) for name, column in generalized.items()}
    for name, column in published.items():
        beside, spread = Neighbours(column), Spread(column)
        for revealed, (others, wide) in hidden.items():
            ahead, back = wide.strength(beside), spread.strength(others)
            if ahead >= wide.enough(beside):
                by_pair[name, revealed] = Dependence(name, revealed, "determines", ahead)
            elif back >= spread.enough(others):
                by_pair[name, revealed] = Dependence(name, revealed, "is a coarser form of", back)
            elif _part_of_text(column, generalized[revealed]):
                by_pair[name, revealed] = Dependence(name, revealed, "is a part of", 1.0)
            elif _same_values(column, generalized[revealed]):
                by_pair[name, revealed] = Dependence(name, revealed, "is a copy of", 1.0)
    joint = relations(published, generalized, by_pair)
    by_pair |= {(dependence.column, dependence.revealed): dependence for dependence in joint}
    totals = {dependence.column: Spread(published[dependence.column]) for dependence in joint}
    for name, column in published.items() if joint else ():  # what says a sum in other words gives away as much
        beside = Neighbours(column)
        strengths = {total: spread.strength(beside) for total, spread in totals.items() if total != name}
        for dependence in joint:
            strength = strengths.get(dependence.column, 0.0)
            if strength >= totals[dependence.column].enough(beside) and name not in dependence.beside:
                how = f"determines {dependence.column!r}, which {dependence.how}"
                by_pair.setdefault(
                    (name, dependence.revealed), replace(dependence, column=name, how=how, strength=strength)
                )
    return list(by_pair.values())


def _same_values(one: Coded, other: Coded) -> bool:
    """Whether two columns hold the same values, in more rows than chance explains: for that, few rows are enough."""
    if one.size != other.size or (one.numbers is None) != (other.numbers is None):
        return False
    if one.numbers is not None and other.numbers is not None:
        same = np.array_equal(one.numbers, other.numbers, equal_nan=True)
    elif one.texts is not None and other.texts is not None:
        same = one.texts.equals(other.texts, check_names=False)
    else:
        same = np.array_equal(one.codes, other.codes)
    return same and int((one.codes >= 0).sum()) * np.log2(one.size) >= BY_CHANCE


def _part_of_text(one: Coded, other: Coded) -> bool:
    """Whether the texts of one column begin as those of the other do, where hardly any value occurs twice."""
    if one.texts is None or other.texts is None or other.size < 0.5 * len(other.codes):
        return False
    pairs = [(a, b) for a, b in zip(one.texts[:2_000], other.texts[:2_000], strict=True) if a and b]
    begin = sum(a.startswith(b) or b.startswith(a) for a, b in pairs)
    return len(pairs) >= FEWEST_ROWS and one.size > 2 and begin >= FUNCTION * len(pairs)
