"""Identifiers as keyed hashes: the same person keeps the same pseudonym, and only who has the key can tell whose it is.

HMAC-SHA256 over the column's name and the value's label, cut to 128 bits. Without the key, pseudonyms cannot be
recomputed from a list of candidates, which a plain hash would allow. The key is never written anywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from kanopy._errors import JobError, VerificationFailed
from kanopy._files import usable
from kanopy.hierarchy.column import canonical_label

KEY_VARIABLE = "KANOPY_KEY"
SHORTEST_KEY = 16
DIGITS = 32


def read_key(path: str | Path | None = None) -> bytes:
    """The secret key: the content of a file, or of the environment variable KANOPY_KEY."""
    if path is not None:
        try:
            key = usable(path, JobError).read_bytes().strip()
        except OSError as error:
            raise JobError(f"The key file {str(path)!r} cannot be read: {error.strerror}.") from None
    else:
        key = os.environ.get(KEY_VARIABLE, "").encode("utf-8").strip()
        if not key:
            raise JobError(
                "Pseudonyms, treatments with a key and ledgers need a secret key: give a file with --key-file, or "
                f"set {KEY_VARIABLE}. Make one with: head -c 32 /dev/urandom | base64 > key.txt"
            )
    return check_key(key)


def given_key(path: str | Path | None = None) -> bytes | None:
    """The secret key, where there is a file or the environment variable; none otherwise."""
    given = path is not None or bool(os.environ.get(KEY_VARIABLE, "").strip())
    return read_key(path) if given else None


def check_key(key: bytes | None) -> bytes:
    """Refuse a key that is absent or can be guessed."""
    if key is None:
        raise JobError("Pseudonyms, treatments with a key and ledgers need a secret key (key=…). It is never stored.")
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
        raise JobError(f"The key for pseudonyms must have at least {SHORTEST_KEY} bytes: a shorter one can be guessed.")
    return key


def pseudonym(value: str, column: str, key: bytes) -> str:
    """The pseudonym of one value.

    >>> pseudonym("Ada", "name", b"a key of sixteen bytes") == pseudonym("Ada", "name", b"a key of sixteen bytes")
    True
    >>> len(pseudonym("Ada", "name", b"a key of sixteen bytes"))
    32
    """
    message = column.encode("utf-8") + b"\0" + value.encode("utf-8")
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:DIGITS]


def with_pseudonyms(
    published: pl.DataFrame,
    original: pl.DataFrame,
    columns: Sequence[str],
    key: bytes | None,
    published_rows: npt.NDArray[np.bool_] | None,
) -> pl.DataFrame:
    """The release with pseudonyms in place of identifiers, columns in their original order."""
    secret = check_key(key)
    made = {}
    for name in columns:
        source = original[name].rename("")
        source = source if published_rows is None else source.filter(pl.Series(published_rows))
        different = source.drop_nulls().unique()
        labels = [canonical_label(value) for value in different.to_list()]
        hashes = pl.Series([pseudonym(label, name, secret) for label in labels], dtype=pl.String)
        if set(labels) & set(hashes.to_list()):
            raise VerificationFailed(f"A pseudonym of {name!r} equals an original value. Nothing was written.")
        series = source.replace_strict(different, hashes, default=None, return_dtype=pl.String)
        made[name] = series.alias(name)
    order = [name for name in original.columns if name in published.columns or name in made]
    return published.with_columns(list(made.values()))[order]
