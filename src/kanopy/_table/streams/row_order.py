"""The order in which published rows leave: a function of what they say, so that it tells nothing of the table's order.

Every row gets a hash of its published values, and rows are sorted by it. Equal rows have equal hashes, and which of two
equal rows stands first changes no byte. The hash is computed here, from the text or the bits of each value: the same
rows leave in the same order from every engine, on every machine, with every version of the libraries below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import Longs

LONG_TEXT = 256
"""Texts of more bytes are hashed one by one."""
ROWS_AT_ONCE = 1 << 17
TRIED, MOSTLY_DIFFERENT = 4096, 0.9
"""So many rows are looked at first, and rows mostly differ where this share of them does."""
WORD = 8
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(WORD)] + [(1 << 64) - 1], np.uint64)
_SEEDS = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], np.uint64)
_MISSING, _NOT_A_NUMBER = np.uint64(0xA0761D6478BD642F), np.uint64(0x7FF8000000000000)


def content_order(frame: pl.DataFrame) -> Longs:
    """The order in which rows are published: it depends on what they say, and not on the order they came in.

    >>> letters = pl.DataFrame({"a": ["x", "y", "z"]})
    >>> letters[content_order(letters)].equals(letters.reverse()[content_order(letters.reverse())])
    True
    """
    few = row_hashes(frame.head(TRIED), _SEEDS[:1])[0]
    if len(np.unique(few)) < MOSTLY_DIFFERENT * len(few):
        return sorted_by(*row_hashes(frame))
    # Where rows differ, the first hash tells nearly all of them apart: the second is made for those it does not.
    (first,) = row_hashes(frame, _SEEDS[:1])
    order = np.argsort(first)
    same = first[order[1:]] == first[order[:-1]]
    at = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(at):
        rows = order[at]
        (second,) = row_hashes(frame[rows], _SEEDS[1:])
        order[at] = rows[np.lexsort((second, first[rows]))]
    return np.asarray(order, np.int64)


def sorted_by(first: Any, second: Any) -> Longs:
    """The order of rows with these hashes; the second decides where the first does not."""
    order = np.argsort(first)
    ordered, other = first[order], second[order]
    if ((ordered[1:] == ordered[:-1]) & (other[1:] != other[:-1])).any():
        order = np.lexsort((second, first))
    return np.asarray(order, np.int64)


def row_hashes(frame: pl.DataFrame, seeds: Any = _SEEDS) -> list[Any]:
    """Independent hashes of 64 bits per row, of all its values in the order of the columns: two, or one per seed."""
    hashes_of_rows = [np.empty(frame.height, np.uint64) for _ in seeds]
    columns = [_plain(column.rename("")) for column in frame.get_columns()]  # names may be patterns
    for begin in range(0, frame.height, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, frame.height)
        hashes = [np.full(end - begin, start) for start in seeds]
        for column in columns:
            for which, values in enumerate(_of_values(column[begin:end], seeds)):
                hashes[which] = _mixed(hashes[which] ^ values)
        for which, values in enumerate(hashes):
            hashes_of_rows[which][begin:end] = values
    return hashes_of_rows


def _plain(column: pl.Series) -> pl.Series:
    """A column as texts, numbers or enumerations of texts; whatever else it holds is written out in full."""
    kind = column.dtype
    if kind == pl.String or isinstance(kind, pl.Enum) or (kind.is_numeric() and not _wide(kind)):
        return column
    if kind.is_temporal() or kind == pl.Boolean:
        return column.to_physical().cast(pl.Int64)
    if isinstance(kind, pl.Categorical) or kind.is_decimal() or kind.is_integer():
        return column.cast(pl.String)
    texts = [None if value is None else repr(value) for value in column.to_list()]
    return pl.Series(column.name, texts, pl.String)


def _wide(kind: pl.DataType) -> bool:
    return kind.is_decimal() or kind in (pl.Int128, pl.UInt128)


def _of_values(column: pl.Series, seeds: Any) -> Iterator[Any]:
    """The hashes of every value, one per seed."""
    missing = column.is_null().to_numpy() if column.null_count() else None
    if isinstance(column.dtype, pl.Enum):
        places = column.to_physical().fill_null(0).to_numpy()
        categories = _of_texts(column.dtype.categories, seeds)
        hashed = [values[places] if len(values) else np.zeros(len(places), np.uint64) for values in categories]
    elif column.dtype == pl.String:
        hashed = _of_texts(column.fill_null(""), seeds)
    else:
        hashed = [_bits(column)] * len(seeds)
    for values in hashed:
        yield values if missing is None else np.where(missing, _MISSING, values)


def _bits(column: pl.Series) -> Any:
    """Numbers as they are kept; all that are no numbers are alike."""
    if column.dtype.is_float():
        numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy()
        return np.where(np.isnan(numbers), _NOT_A_NUMBER, np.ascontiguousarray(numbers).view(np.uint64))
    if column.dtype == pl.UInt64:
        return np.ascontiguousarray(column.fill_null(0).to_numpy())
    return np.ascontiguousarray(column.cast(pl.Int64).fill_null(0).to_numpy()).view(np.uint64)


def _of_texts(texts: pl.Series, seeds: Any) -> list[Any]:
    """The hashes of every text: eight bytes after eight, of all texts that have so many."""
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    long = np.flatnonzero(lengths > LONG_TEXT)
    if len(long):
        long_texts = texts.gather(long).to_list()
        marks = pl.Series([hashlib.blake2b(text.encode("utf-8"), digest_size=32).hexdigest() for text in long_texts])
        texts = texts.clone().scatter(long, marks)
        lengths[long] = 64
    whole = b"".join((texts.str.join("").item().encode("utf-8"), bytes(WORD)))
    words = np.ndarray((len(whole) - WORD + 1,), "<u8", whole, strides=(1,))
    starts = np.cumsum(lengths) - lengths
    hashes = [_mixed(seed ^ lengths.astype(np.uint64)) for seed in seeds]
    left = np.flatnonzero(lengths)
    at = 0
    while len(left):
        word = words[starts[left] + at] & _MASKS[np.minimum(lengths[left] - at, WORD)]
        every = len(left) == len(lengths)
        for which, values in enumerate(hashes):
            if every:
                hashes[which] = _mixed(values ^ word)
            else:
                values[left] = _mixed(values[left] ^ word)
        at += WORD
        left = left[lengths[left] > at]
    return hashes


def _mixed(values: Any) -> Any:
    """Every bit of the input decides over every bit of the output (SplitMix64; Steele, Lea and Flood 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
