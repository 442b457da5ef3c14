"""A classification: codes with labels, each below a broader one, as official bodies publish them.

`codes[i]` lies directly below `codes[parent[i]]` (-1: nothing above) and belongs to the level `levels[rank[i]]`. Ranks
grow downwards: 0 is the broadest level. A chain may leave out levels (the code `I10` of ICD-10 has no subcategory), so
the rank of a code is not always its depth.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError, near_miss, some
from kanopy._mixins import ReprMixin

ENGLISH = "en"
_NO_WORD = re.compile(r"[^\w]+|_+")
_NO_CODE = re.compile(r"[\s.\-/_–—]+")
_SMALL_WORDS = MappingProxyType({"the": "", "of": "", "and": "", "st": "saint"})
_BARE = {at: None if chr(at) in " \t\r\f\v\x1c\x1d\x1e\x1f.-/_" else chr(at).upper() for at in range(128)} | {10: "\n"}
_ASCII = {**{at: " " for at in range(128) if not chr(at).isalnum()}, **{at: chr(at).lower() for at in range(65, 91)}}


@dataclass(frozen=True)
class About(ReprMixin):
    """What is to be known of a classification: where it comes from, who may use it, what its codes say of a person."""

    title: str = ""
    version: str = ""
    source: str = ""
    licence: str = ""
    notice: str = ""
    """The file of the notice, beside the data."""
    role: str = "quasi-identifier"
    """What a column of it usually is: diagnoses are sensitive, occupations can be known to others."""
    subject: str = ""
    """What its codes are about, in one word: the columns it may be guessed for."""


@dataclass(frozen=True, eq=False)
class Classification(ReprMixin):
    """Codes, labels and parents of one version of a classification; nothing in it changes.

    >>> fruit = Classification.from_rows([("F", "Fruit", ""), ("F1", "Apple", "F"), ("F2", "Pear", "F")], name="fruit")
    >>> fruit.label(fruit.find("f1")), [fruit.codes[at] for at in fruit.chain(fruit.find("F2"))]
    ('Apple', ['F2', 'F'])
    """

    name: str
    codes: Sequence[str]
    parent: Ints
    rank: Ints
    levels: tuple[str, ...]
    labels_by_language: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    aliases: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Other spellings of codes and labels, normalized by `plain`, and what they mean."""
    other_parents: Mapping[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    """Codes with several parents: all of them."""
    about: About = field(default_factory=About, repr=False)

    def __post_init__(self) -> None:
        for array in (self.parent, self.rank):
            array.flags.writeable = False

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str, str, str | Sequence[str]]],
        *,
        name: str,
        levels: Sequence[str] = (),
        language: str = ENGLISH,
        about: About | None = None,
        where: str = "",
    ) -> Classification:
        """From rows of code, label and parent ("" for none, a sequence where there are several), checked."""
        where = where or f"The classification {name!r}"
        given = [(code, label, (above,) if isinstance(above, str) else tuple(above)) for code, label, above in rows]
        index: dict[str, int] = {}
        twice = []
        for at, (code, label, _) in enumerate(given):
            if index.setdefault(code, at) != at and given[index[code]][1] != label:
                twice.append(code)
        if twice:
            raise HierarchyError(f"{where}: codes with two labels: {some(twice)}. Keep one row per code.")
        if not index:
            raise HierarchyError(f"{where} contains no codes. Give rows of code, label and parent.")
        parents: dict[str, dict[str, None]] = {code: {} for code in index}
        for code, _, above in given:
            parents[code] |= {parent_code: None for parent_code in above if parent_code}
        unknown = sorted({code for above in parents.values() for code in above if code not in index})
        if unknown:
            raise HierarchyError(
                f"{where}: parents that are not codes: {some(unknown)}. Add a row for each, or leave the parent empty."
            )
        codes = list(index)
        number = {code: at for at, code in enumerate(codes)}
        all_parents = [tuple(number[parent_code] for parent_code in parents[code]) for code in codes]
        depth = _depths(all_parents, codes, where)
        # Of several parents the deepest is taken until a column says which loses least.
        first = [max(above, key=lambda at: (depth[at], -at)) if above else -1 for above in all_parents]
        rank = _along(first)
        label_of = {code: label for code, label, _ in reversed(given)}
        deepest = int(rank.max()) + 1
        names = tuple(levels) if len(levels) == deepest else _level_names(deepest)
        return cls(
            name,
            codes,
            np.array(first, np.int32),
            rank,
            names,
            {language: [label_of[code] or code for code in codes]},
            {},
            {at: above for at, above in enumerate(all_parents) if len(above) > 1},
            about or About(title=name),
        )

    @property
    def size(self) -> int:
        """How many codes there are, of all levels."""
        return len(self.codes)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the labels, the main one first."""
        return tuple(self.labels_by_language)

    def labels(self, language: str = "") -> Sequence[str]:
        """All labels in one language (the main one unless given)."""
        if not self.labels_by_language:
            return self.codes
        if not language:
            return next(iter(self.labels_by_language.values()))
        if language not in self.labels_by_language:
            raise HierarchyError(
                f"{self.name} has no labels in the language {language!r}: it has {', '.join(self.languages)}."
            )
        return self.labels_by_language[language]

    def label(self, at: int, language: str = "") -> str:
        """The label of one code."""
        return self.labels(language)[at]

    @cached_property
    def index(self) -> dict[str, int]:
        """From a code without dots, spaces and case to its number; a code of more detail wins."""
        number_of_code = dict(self.aliases)
        bares = self.bare_codes
        for at in np.argsort(self.rank, kind="stable").tolist():
            number_of_code[bares[at]] = at
        # Ranges as they are written: without its dash, 31-33 is the code of an industry.
        ranges = (at for at in np.flatnonzero(self.rank < max(len(self.levels) - 1, 1)).tolist())
        return number_of_code | {self.codes[at].upper(): at for at in ranges if "-" in self.codes[at]}

    @cached_property
    def bare_codes(self) -> list[str]:
        """The codes without dots, spaces and case."""
        return all_bare(self.codes)

    @cached_property
    def by_label(self) -> dict[str, tuple[int, ...]]:
        """From a label in any language, normalized by `plain`, to the codes that have it."""
        numbers_of_label: dict[str, tuple[int, ...]] = {}
        for labels in self.labels_by_language.values():
            for at, key in enumerate(all_plain(labels)):
                known_numbers = numbers_of_label.get(key)
                if known_numbers is None:
                    numbers_of_label[key] = (at,)
                elif at not in known_numbers:
                    numbers_of_label[key] = (*known_numbers, at)
        return numbers_of_label

    def find(self, code: str) -> int:
        """The number of a code, however it is written; the error suggests near misses."""
        node = self.index.get(bare(code))
        if node is None:
            raise HierarchyError(f"{self.name} has no code {code!r}. {near_miss(code, self.codes[:10_000])}")
        return node

    def chain(self, at: int) -> list[int]:
        """A code and what lies above it, the nearest first."""
        chain = []
        while at >= 0:
            chain.append(at)
            at = int(self.parent[at])
        return chain

    def table(self, nodes: Ints) -> Ints:
        """Level by level, from the most detailed to the broadest, what lies above each of some codes.

        Where a chain leaves a level out, the code below stands in; where a code itself lies higher, it does.
        """
        rows = np.empty((len(self.levels), len(nodes)), np.int32)
        current = np.asarray(nodes, np.int32)
        for row, rank in enumerate(range(len(self.levels) - 1, -1, -1)):
            while True:
                above = self.parent[current]
                lower = (self.rank[current] > rank) & (above >= 0)
                if not lower.any():
                    break
                current = np.where(lower, above, current).astype(np.int32)
            rows[row] = current
        return rows

    def common_ancestor(self, nodes: Iterable[int]) -> int:
        """The lowest code above (or equal to) all given ones; -1 if there is none."""
        chains = [self.chain(at) for at in nodes]
        shared = set(chains[0]).intersection(*chains[1:])
        return next((at for at in chains[0] if at in shared), -1)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The codes directly below each (under -1 those without a parent)."""
        children: dict[int, list[int]] = {}
        for at, above in enumerate(self.parent.tolist()):
            children.setdefault(above, []).append(at)
        return children

    def counts(self) -> dict[str, int]:
        """How many codes each level has."""
        held = np.bincount(self.rank, minlength=len(self.levels))
        return {name: int(number) for name, number in zip(self.levels, held, strict=True)}

    def with_parents(self, chosen: Mapping[int, int]) -> Classification:
        """The same with other main parents for some codes that have several."""
        parent = self.parent.copy()
        for at, above in chosen.items():
            parent[at] = above
        rank = _along(parent.tolist())
        deepest = int(rank.max()) + 1
        levels = self.levels if deepest == len(self.levels) else _level_names(deepest)
        return Classification(
            self.name, self.codes, parent, rank, levels, self.labels_by_language, self.aliases, self.other_parents,
            self.about,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Classification {self.name}: {self.size:,} codes, {len(self.levels)} levels>"


def bare(code: str) -> str:
    """A code without dots, dashes, spaces and case: `a00.0` and `A000` are the same.

    >>> bare("a00.0"), bare("11-1011"), bare("31-33")
    ('A000', '111011', '3133')
    """
    return _NO_CODE.sub("", code).upper()


def plain(label: str) -> str:
    """A label without case, accents, punctuation and articles, to compare with others.

    >>> plain("Côte d'Ivoire"), plain("Bosnia & Herzegovina"), plain("St. Lucia")
    ('cote d ivoire', 'bosnia herzegovina', 'saint lucia')
    """
    if not label.isascii():
        label = "".join(c for c in unicodedata.normalize("NFKD", label) if not unicodedata.combining(c)).casefold()
    words = _NO_WORD.sub(" ", label).split() if not label.isascii() else label.translate(_ASCII).split()
    if _SMALL_WORDS.keys().isdisjoint(words):
        return " ".join(words)
    return " ".join(_SMALL_WORDS.get(word, word) for word in words if _SMALL_WORDS.get(word, word)) or " ".join(words)


def all_bare(codes: Sequence[str]) -> list[str]:
    """`bare` of many codes, all at once.

    >>> all_bare(["a00.0", "11-1011"])
    ['A000', '111011']
    """
    text = "\n".join(codes)
    if text.count("\n") != len(codes) - 1 or not text.isascii():
        return [bare(code) for code in codes]
    return text.translate(_BARE).split("\n")


def all_plain(labels: Sequence[str]) -> list[str]:
    """`plain` of many labels, all at once: a hundred thousand in a tenth of a second.

    >>> all_plain(["Côte d'Ivoire", "St. Lucia", "The of"])
    ['cote d ivoire', 'saint lucia', 'the of']
    """
    # Lines of one text: labels with letters of other alphabets, and with ends of lines, are seen to one by one.
    at_once = [label if label.isascii() and "\n" not in label else "" for label in labels]
    text = "".join((" ", " \n ".join(at_once), " ")).translate(_ASCII | {10: "\n"})
    for old, new in (
        ("  ", " "),
        *((f" {word} ", f" {other} ".replace("  ", " ")) for word, other in _SMALL_WORDS.items()),
    ):
        while old in text:
            text = text.replace(old, new)
    return [row.strip(" ") or plain(label) for row, label in zip(text.split("\n"), labels, strict=True)]


def joined(parts: Sequence[Classification]) -> Classification:
    """Several classifications as one: a value belongs to the first that knows it (ICD-10-CM with older ICD-9-CM).

    >>> a = Classification.from_rows([("A", "Apples", "")], name="a")
    >>> joined([a, Classification.from_rows([("B", "Berries", "")], name="b")]).codes
    ['A', 'B']
    """
    if len(parts) == 1:
        return parts[0]
    codes: list[str] = []
    parent, rank = [], []
    aliases: dict[str, int] = {}
    others: dict[int, tuple[int, ...]] = {}
    deepest = max(len(part_classification.levels) for part_classification in parts)
    main = parts[0].languages[:1] or (ENGLISH,)
    labels: list[str] = []
    taken: dict[str, int] = {}
    for part_classification in parts:
        start = len(codes)
        for key, at in part_classification.index.items():
            taken.setdefault(key, start + at)
        codes += part_classification.codes
        parent.append(np.where(part_classification.parent >= 0, part_classification.parent + start, -1))
        rank.append(part_classification.rank)
        aliases |= {key: at + start for key, at in part_classification.aliases.items() if key not in aliases}
        others |= {
            at + start: tuple(above_node + start for above_node in above)
            for at, above in part_classification.other_parents.items()
        }
        labels += part_classification.labels()
    made = Classification(
        "+".join(part_classification.name for part_classification in parts),
        codes,
        np.concatenate(parent).astype(np.int32),
        np.concatenate(rank).astype(np.int32),
        max((part_classification.levels for part_classification in parts), key=len) if deepest else (),
        {main[0]: labels},
        aliases,
        others,
        parts[0].about,
    )
    made.__dict__["index"] = taken
    return made


def _level_names(levels: int) -> tuple[str, ...]:
    return tuple(f"level {number}" for number in range(1, levels + 1))


def _along(parent: Sequence[int]) -> Ints:
    """The depth of each code along its main parents."""
    above = np.asarray(parent, np.int32)
    depth = (above >= 0).astype(np.int32)
    jump = above.copy()
    while (inside := jump >= 0).any():
        depth[inside] += depth[jump[inside]]
        jump[inside] = jump[jump[inside]]
    return depth


def _depths(parents: Sequence[Sequence[int]], codes: Sequence[str], where: str) -> list[int]:
    """The longest way from each code up to one without a parent; raises on cycles."""
    below: dict[int, list[int]] = {}
    waiting = [len(above) for above in parents]
    for at, above in enumerate(parents):
        for above_node in above:
            below.setdefault(above_node, []).append(at)
    depth = [0] * len(parents)
    ready = [at for at, number in enumerate(waiting) if number == 0]
    for at in ready:  # grows while it is read
        for child in below.get(at, ()):
            depth[child] = max(depth[child], depth[at] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    if len(ready) < len(parents):
        cyclic = [codes[at] for at, number in enumerate(waiting) if number > 0]
        raise HierarchyError(f"{where} has a cycle through {some(cyclic)}. Remove one of these links.")
    return depth
