"""Pseudonyms by keys: the keyed hash, and how keys of recipients and versions come from one secret."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import polars as pl

from kanopy._errors import JobError
from kanopy._parameter_types import Integer, Text
from kanopy.treatments.base import KEY, Table, Treatment, labels_of, missing

DIGITS = 32


@dataclass(frozen=True)
class Pseudonym(Treatment):
    """What all pseudonyms by a key share. Their key depends on `domain` (the column's name if none), so that a person
    keeps a pseudonym in other tables that name the same domain; on `recipient`, so that two recipients cannot compare;
    and on `version`, which is raised to rotate the key: pseudonyms of two versions can be linked with the key alone.
    """

    domain: Annotated[str, Text("a text", empty=True), "columns of the same domain share pseudonyms"] = ""
    recipient: Annotated[str, Text("a text", empty=True), "each recipient gets other pseudonyms"] = ""
    version: Annotated[int, Integer(1), "raise it to rotate the key: all pseudonyms change"] = 1

    secret: ClassVar[str] = KEY
    piecewise: ClassVar[bool] = True
    for_identifiers: ClassVar[bool] = True

    def key(self, column: str, table: Table) -> bytes:
        """The key of this column, recipient and version."""
        return table.secrets.key_for(self.name, self.domain or column, self.recipient, str(self.version))

    def treat(self, column: str, table: Table) -> dict[str, pl.Series]:
        """Replace each value by its pseudonym; missing values stay missing."""
        key = self.key(column, table)
        return {column: replaced(table.rows[column], lambda labels: self.pseudonyms(column, labels, key))}

    def pseudonyms(self, column: str, labels: list[str], key: bytes) -> list[str]:
        """The pseudonyms of some labels."""
        raise NotImplementedError


def replaced(series: pl.Series, pseudonyms: Callable[[list[str]], list[str]]) -> pl.Series:
    """A column with other texts in place of its values; missing ones stay missing.

    >>> replaced(pl.Series("id", [7, None, 7]), lambda labels: [f"p{label}" for label in labels]).to_list()
    ['p7', None, 'p7']
    """
    is_missing = pl.Series(missing(series))
    plain = series.cast(pl.String) if isinstance(series.dtype, (pl.Categorical, pl.Enum)) else series
    present = plain.filter(~is_missing)
    distinct = present.unique()
    made = pl.Series(pseudonyms(labels_of(distinct)), dtype=pl.String)
    pairs = pl.DataFrame({"value": distinct, "made": made})
    joined_values = pl.DataFrame({"value": plain}).join(pairs, on="value", how="left", maintain_order="left")
    return joined_values["made"].rename(series.name)


@dataclass(frozen=True)
class KeyedHash(Pseudonym):
    """The keyed hash (HMAC-SHA256, 128 bits): it cannot be turned back, not even with the key but by trying all values.

    >>> from kanopy.treatments.apply import treat_values
    >>> len(treat_values(["Ada"], KeyedHash(), key=b"a key of sixteen bytes")[0])
    32
    """

    name: ClassVar[str] = "hash"
    summary: ClassVar[str] = "replaces values by a keyed hash that nobody can turn back"
    guarantees: ClassVar[str] = "without the key, a pseudonym cannot be recomputed from a list of candidates"
    lacks: ClassVar[str] = "rows of one person stay linked; who has the key can try candidates"
    source: ClassVar[str] = "RFC 2104; ENISA 2019, Pseudonymisation techniques and best practices"

    def pseudonyms(self, column: str, labels: list[str], key: bytes) -> list[str]:
        """HMAC-SHA256 of each label."""
        return [hmac.digest(key, label.encode("utf-8"), "sha256").hex()[:DIGITS] for label in labels]


def need_cryptography(method: str) -> Any:
    """The library that ciphers come from."""
    try:
        from cryptography.hazmat.primitives import ciphers
    except ImportError:
        from kanopy._errors import MissingDependency

        raise MissingDependency(f"{method} needs the cryptography library: pip install 'kanopy[crypto]'.") from None
    return ciphers


def refuse_value(method: str, column: str, value_shown: str, why: str) -> JobError:
    """An error about values that a method cannot take."""
    return JobError(f"{method} of {column!r}: {value_shown} {why}")
