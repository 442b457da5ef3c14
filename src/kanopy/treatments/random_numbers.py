"""Random numbers that cannot be predicted: SHAKE-256 over a secret, in blocks.

A generator for simulations can be reconstructed from a few of its numbers: whoever knows some original values could
then undo all noise. The numbers of a row depend on its number alone, whatever the pieces in which a table is read.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._arrays import Floats, Longs
from kanopy._errors import DataError

BLOCK = 1 << 16


def fresh_seed() -> bytes:
    """A secret that nobody knows: what is random with it cannot be repeated."""
    return secrets.token_bytes(32)


def derived(secret: bytes, *purpose: str) -> bytes:
    """A key for one purpose; it tells nothing about those for others (RFC 5869, with the purpose as information).

    >>> derived(b"a key of sixteen bytes", "noise", "income") == derived(b"a key of sixteen bytes", "noise", "age")
    False
    """
    message = b"".join(
        len(purpose_part.encode()).to_bytes(4, "big") + purpose_part.encode()
        for purpose_part in ("kanopy treatment 1", *purpose)
    )
    return hmac.digest(secret, message, "sha256")


def fingerprint(rows: pl.DataFrame) -> str:
    """What tells tables apart: SHA-256 of all values.

    >>> import polars as pl
    >>> fingerprint(pl.DataFrame({"x": [1, 2]})) == fingerprint(pl.DataFrame({"x": [1, 3]}))
    False
    """
    import polars.selectors as cs

    digest = hashlib.sha256()
    plain = rows.with_columns(cs.binary().bin.encode("hex"), cs.duration().dt.total_nanoseconds())
    for begin in range(0, max(rows.height, 1), BLOCK):
        buffer = io.BytesIO()
        plain.slice(begin, BLOCK).write_csv(buffer, quote_style="necessary", null_value="\0")
        digest.update(buffer.getbuffer())
    return digest.hexdigest()


def words(secret: bytes, first: int, count: int, stream: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The random words of 64 bits of the rows `first` to `first + count - 1`."""
    if not count:
        return np.zeros(0, np.uint64)
    begin, end = first // BLOCK, (first + count - 1) // BLOCK + 1
    blocks = [
        hashlib.shake_256(secret + stream.to_bytes(4, "big") + block.to_bytes(8, "big")).digest(8 * BLOCK)
        for block in range(begin, end)
    ]
    whole = np.frombuffer(b"".join(blocks), "<u8")
    return whole[first - begin * BLOCK :][:count].astype(np.uint64)


def uniforms(secret: bytes, first: int, count: int, stream: int = 0) -> Floats:
    """Uniform numbers above 0 and below 1.

    >>> bool(abs(uniforms(b"secret", 0, 10_000).mean() - 0.5) < 0.01)
    True
    """
    return np.asarray(((words(secret, first, count, stream) >> np.uint64(11)) + 0.5) / 2.0**53, np.float64)


def normals(secret: bytes, first: int, count: int, stream: int = 0) -> Floats:
    """Standard normal numbers (Box and Muller 1958).

    >>> bool(abs(normals(b"secret", 0, 10_000).std() - 1) < 0.02)
    True
    """
    radius = np.sqrt(-2.0 * np.log(uniforms(secret, first, count, 2 * stream + (1 << 20))))
    return np.asarray(radius * np.cos(2.0 * np.pi * uniforms(secret, first, count, 2 * stream + 1 + (1 << 20))))


def order(secret: bytes, count: int, stream: int = 0) -> Longs:
    """A random order of so many rows."""
    return np.argsort(words(secret, 0, count, stream), kind="stable").astype(np.int64)


# ---- places of rows ---------------------------------------------------------------------------------------------

Digests = npt.NDArray[np.uint64]


def row_digests(rows: pl.DataFrame) -> Digests:
    """A number per row that depends on its values, not on their types or on the order of columns.

    >>> one = row_digests(pl.DataFrame({"pay": [10, 20], "sex": ["f", "m"]}))
    >>> other = row_digests(pl.DataFrame({"sex": ["m", "f"], "pay": ["20.0", "10"]}))
    >>> bool((one == other[::-1]).all())
    True
    """
    columns = list[pl.Expr]()
    for name, dtype in sorted(rows.schema.items()):
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            continue
        value = pl.col(name).dt.total_nanoseconds() if dtype == pl.Duration else pl.col(name)
        text = value.cast(pl.String).str.strip_chars().str.to_lowercase()
        number = text.cast(pl.Float64, strict=False).cast(pl.String)
        columns.append(pl.coalesce(number, pl.when(text != "").then(text)).alias(str(len(columns))))
    return rows.select(columns).hash_rows(20).to_numpy() if columns else np.zeros(rows.height, np.uint64)


@dataclass(eq=False)
class Places:
    """The places of the rows that have a value: by this value, then by all else that a row holds.

    Rows that are equal in all columns take their places in turn, as they pass by.

    >>> rows = pl.DataFrame({"pay": [30.0, 10.0, 20.0, 10.0], "name": ["a", "b", "c", "b"]})
    >>> places, digests = Places.of(rows["pay"].to_numpy(), row_digests(rows)), row_digests(rows)
    >>> places.take(digests[2:]).tolist(), places.take(digests[:2]).tolist()
    ([2, 0], [3, 1])
    """

    fingerprint: str
    """What tells columns apart: SHA-256 of all values, ascending."""
    rows: int
    _distinct: Digests = field(repr=False)
    _first: Longs = field(repr=False)
    _count: Longs = field(repr=False)
    _places: Longs = field(repr=False)
    _used: Longs = field(repr=False)
    _numbers: dict[str, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, values: Floats, digests: Digests) -> Places:
        """The places of all rows of a table; a value that is missing is NaN."""
        known = ~np.isnan(values)
        values, digests = values[known] + 0.0, digests[known]
        order = np.lexsort((digests, values))
        fingerprint = hashlib.sha256(values[order].astype("<f8").tobytes()).hexdigest()
        by_digest = np.argsort(digests[order], kind="stable")
        distinct, first, count = np.unique(digests[order][by_digest], return_index=True, return_counts=True)
        places = by_digest.astype(np.int64)
        return cls(fingerprint, len(order), distinct, first, count, places, np.zeros(len(distinct), np.int64))

    def take(self, digests: Digests, turns: Longs | None = None) -> Longs:
        """The places of rows that have a value, those of equal rows one after the other, or by their `turns` where
        they were numbered before."""
        if not len(digests):
            return np.zeros(0, np.int64)
        at = np.minimum(np.searchsorted(self._distinct, digests), len(self._distinct) - 1)
        if not len(self._distinct) or (self._distinct[at] != digests).any():
            raise DataError("The table has rows that it did not have when it was first read. Nothing was written.")
        if turns is not None:
            return np.asarray(self._places[self._first[at] + turns % self._count[at]], np.int64)
        order = np.argsort(at, kind="stable")
        found, begins, counts = np.unique(at[order], return_index=True, return_counts=True)
        turn = np.empty(len(at), np.int64)
        turn[order] = np.arange(len(at)) - np.repeat(begins, counts) + np.repeat(self._used[found], counts)
        self._used[found] += counts
        return np.asarray(self._places[self._first[at] + turn % self._count[at]], np.int64)

    def numbers(self, purpose: str, draw: Callable[[int], Floats]) -> Floats:
        """Numbers for all places, drawn once for each purpose."""
        if purpose not in self._numbers:
            self._numbers[purpose] = draw(self.rows)
        return self._numbers[purpose]
