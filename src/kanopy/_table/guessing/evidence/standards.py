"""Names that standards define: variables of clinical trials, of surveys, of example files.

A name such as `AGE` or `id` is in many standards and in none: a dictionary counts only in tables that hold enough of
its telling names (`signs`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path

from kanopy._table.roles import Role

DATA = Path(__file__).resolve().parents[3] / "data" / "roles" / "standards"
KINDS = {
    "unit": ("identifier", "the person or animal that several rows are about"),
    "household": ("withheld", "the household"),
    "weight": ("withheld", "a sampling weight"),
    "replicate": ("withheld", "a replicate weight"),
    "stratum": ("withheld", "a stratum of the sample"),
    "cluster": ("withheld", "a cluster of the sample"),
    "link": ("withheld", "a key that links tables"),
}
"""What a column can be besides its role, the role that it has then, and what that is called."""
DEFINED = {
    "identifier": "whose record it is",
    "quasi-identifier": "what an attacker may know",
    "sensitive": "what nobody should learn",
    "insensitive": "how the data were collected",
    "withheld": "the design of the sample",
}
FEWEST_SIGNS, SHARE = 2, 0.5


@dataclass(frozen=True)
class Entry:
    """What a standard says of a column."""

    standard: str
    role: str
    kind: str
    defined: str
    rank: int = 0
    """The place among columns of the same kind: the first is the one that counts."""


@dataclass(frozen=True, eq=False)
class Standard:
    """A dictionary of names."""

    title: str
    source: str
    signs: frozenset[str]
    fewest: int
    exact: Mapping[str, Entry]
    patterns: tuple[tuple[str, Entry], ...]

    def entry(self, name: str) -> Entry | None:
        """What it says of a name."""
        small = name.lower()
        exact_entry = self.exact.get(small)
        return exact_entry or next((entry for pattern, entry in self.patterns if re.fullmatch(pattern, small)), None)


@cache
def standards() -> tuple[Standard, ...]:
    """All dictionaries, read once.

    >>> "CDISC SDTM, SEND and ADaM" in [each.title for each in standards()]
    True
    """
    return tuple(_read(path) for path in sorted(DATA.glob("*.toml")))


def _read(path: Path) -> Standard:
    plain = tomllib.loads(path.read_text(encoding="utf-8"))
    exact: dict[str, Entry] = {}
    patterns: list[tuple[str, Entry]] = []
    for kind in (*KINDS, *(str(role) for role in Role)):
        for rank, name in enumerate(plain.get(kind, "").lower().split()):
            role, words = KINDS.get(kind, (kind, DEFINED.get(kind, "")))
            entry = Entry(plain["title"], role, kind if kind in KINDS else "", words, rank)
            if set("*?[") & set(name):
                patterns.append((translate(name), entry))
            else:
                exact.setdefault(name, entry)
    signs = frozenset(plain["signs"].lower().split())
    return Standard(plain["title"], plain["source"], signs, plain.get("fewest", FEWEST_SIGNS), exact, tuple(patterns))


def named_by_standards(names: Collection[str]) -> dict[str, Entry]:
    """What standards say of the columns of a table, where it holds enough of their telling names.

    >>> found = named_by_standards(["STUDYID", "USUBJID", "AGE", "SEX"])
    >>> found["USUBJID"].kind, found["AGE"].role, named_by_standards(["AGE", "SEX"])
    ('unit', 'quasi-identifier', {})
    """
    small = {name.lower() for name in names}
    fitting = [standard for standard in standards() if len(standard.signs & small) >= standard.fewest]
    fitting.sort(key=lambda standard: -sum(standard.entry(name) is not None for name in names))
    entries: dict[str, Entry] = {}
    for standard in fitting:
        for name in names:
            entry = standard.entry(name)
            if entry is not None:
                entries.setdefault(name, entry)
    return entries
