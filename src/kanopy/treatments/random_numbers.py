"""Random numbers that cannot be predicted: SHAKE-256 over a secret, in blocks.

A generator for simulations can be reconstructed from a few of its numbers: whoever knows some original values could
then undo all noise. The numbers of a row depend on its number alone, whatever the pieces in which a table is read.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import secrets
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import Floats, Longs

if TYPE_CHECKING:
    import polars as pl

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
