"""Codes and texts: hide characters (ZIP), keep prefixes (ICD, NACE), or hide everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import HierarchyError, short
from kanopy._parameter_types import Flag, Integer, ListOf, OneOf, Optional, Text
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy

ANY = frozenset({*Builder.fits, "text"})
LONGEST_CODE = 100


def _one(text: str) -> None:
    if len(text) != 1:
        raise HierarchyError(f"char must be a single character, not {short(text)}.")


def _pattern(text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise HierarchyError(f"ends holds {short(text)}, which is no pattern: {error}.") from error


JOINING = "omit levels that join no more values than the level below"


def _that_join(levels: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The values, of the levels above them those with fewer groups than the one below (but more than one), and the top.

    >>> list(_that_join([["75001", "75013"], ["7500*", "7501*"], ["750**", "750**"], ["*", "*"]]))
    [['75001', '75013'], ['*', '*']]
    """
    yield levels[0]
    groups = len(set(levels[0]))
    for level in levels[1:-1]:
        if 1 < (fewer := len(set(level))) < groups:
            yield level
            groups = fewer
    yield levels[-1]


@dataclass(frozen=True)
class Redact(Builder):
    """Hide ever more characters of a code, from the right (default) or from the left, until all are hidden.

    `steps` says how many characters each level hides in addition (one by default). Codes of different lengths are
    filled up to the longest at the side that is hidden; with `keep_length=False` the hidden part is one `char`. With
    `joining` only levels remain that put values together which were apart below. `zeros` says how many digits numbers
    have that lost their leading zeros.

    >>> list(Redact(steps=(2,)).build(["75001", "75013", "13001"]).rows())
    [('13001', '130**', '*****'), ('75001', '750**', '*****'), ('75013', '750**', '*****')]
    >>> list(Redact(joining=True).build(["75001", "75013", "13001"]).rows())
    [('13001', '130**', '*****'), ('75001', '750**', '*****'), ('75013', '750**', '*****')]
    >>> list(Redact(steps=(2,), zeros=5).build([2139, 21390]).rows())
    [('2139', '021**', '*****'), ('21390', '213**', '*****')]
    """

    method: ClassVar[str] = "redact"
    summary: ClassVar[str] = "hide the characters of a code step by step (ZIP)"
    fits: ClassVar[frozenset[str]] = frozenset({"text", "integer"})
    side: Annotated[Literal["right", "left"], OneOf("right", "left"), "the side where hiding begins"] = "right"
    steps: Annotated[tuple[int, ...], ListOf(Integer(1)), "characters hidden per level [default: one]"] = ()
    char: Annotated[str, Text("a single character", usable=_one), "the replacement of a hidden character"] = "*"
    keep_length: Annotated[bool, Flag(), "replace hidden characters; otherwise they are cut off"] = True
    joining: Annotated[bool, Flag(), JOINING] = False
    zeros: Annotated[
        int | None, Optional(Integer(1)), "the digits of codes that lost leading zeros: with 5, 2139 becomes 02139"
    ] = None

    def build_column(self, column: Column) -> Hierarchy:
        values = column.labels()
        codes = values if self.zeros is None else [c.zfill(self.zeros) if c.isdecimal() else c for c in values]
        length = max(len(code) for code in codes)
        if length > LONGEST_CODE:
            raise HierarchyError(
                f"{column.where} holds texts of up to {length} characters: too long to redact one by one. "
                "Use prefix with a few lengths, or suppress."
            )
        levels = [values, *([self._masked(code, length, hidden) for code in codes] for hidden in self._hidden(length))]
        published_levels = _that_join(levels) if self.joining else levels
        return Hierarchy.from_rows(zip(*published_levels, strict=True), name=column.name)

    def _hidden(self, length: int) -> list[int]:
        hidden, total = [], 0
        for step in self.steps or (1,) * length:
            total += step
            if total >= length:
                break
            hidden.append(total)
        return [*hidden, length]

    def _masked(self, code: str, length: int, hidden: int) -> str:
        visible = length - hidden
        if self.side == "right":
            prefix = code[:visible]
            return prefix + self.char * (length - len(prefix) if self.keep_length else 1)
        prefix = code[max(len(code) - visible, 0) :]
        return self.char * (length - len(prefix) if self.keep_length else 1) + prefix


@dataclass(frozen=True)
class Prefix(Builder):
    """Levels of ever shorter prefixes: the first `lengths` characters, or the first parts before `separator`.

    A prefix of digits alone ends in a star, so that `02` of `0213` is not read as a number. Where codes have parts of
    different lengths, `ends` are the regular expressions of ever shorter prefixes; what one does not find stays.

    >>> list(Prefix(lengths=(3, 1)).build(["A01.1", "A01.2", "B20"]).rows())
    [('A01.1', 'A01', 'A', '*'), ('A01.2', 'A01', 'A', '*'), ('B20', 'B20', 'B', '*')]
    >>> Prefix(separator=".").build(["10.1.1", "10.1.2", "20.3"]).labels_at(1)
    ('10.1', '20.3')
    >>> list(Prefix(ends=("[A-Z]+[0-9]+", "[A-Z]+")).build(["AB12/7", "C3/11"]).rows())
    [('AB12/7', 'AB12', 'AB', '*'), ('C3/11', 'C3', 'C', '*')]
    """

    method: ClassVar[str] = "prefix"
    summary: ClassVar[str] = "ever shorter prefixes (ICD, paths)"
    fits: ClassVar[frozenset[str]] = frozenset({"text", "integer"})
    lengths: Annotated[tuple[int, ...], ListOf(Integer(1)), "characters or parts kept per level, descending"] = ()
    separator: Annotated[
        str | None, Optional(Text()), "the separator of parts, such as . or / [default: count characters]"
    ] = None
    ends: Annotated[
        tuple[str, ...], ListOf(Text(usable=_pattern)), "regular expressions of ever shorter prefixes, not lengths"
    ] = ()
    joining: Annotated[bool, Flag(), JOINING] = False

    def contradictions(self) -> Iterable[str]:
        if list(self.lengths) != sorted(set(self.lengths), reverse=True):
            yield f"lengths must descend, for example (3, 1); {self.lengths} do not."
        if self.ends and (self.lengths or self.separator is not None):
            yield "ends already define the prefixes: leave out lengths and separator."

    def build_column(self, column: Column) -> Hierarchy:
        codes = column.labels()
        longest = max(self._measure(code) for code in codes)
        lengths = self.ends or self.lengths or tuple(range(longest - 1, 0, -1))
        if len(lengths) > LONGEST_CODE:
            raise HierarchyError(
                f"{column.where} holds texts of up to {longest} characters. State the prefixes to keep, for example "
                "lengths=(3, 1)."
            )
        columns: list[Sequence[str]] = [list(codes)]
        for length in lengths:
            level = [self._cut(code, length) for code in codes]
            if level != columns[-1]:  # a level that changes nothing only makes searches longer
                columns.append(level)
        columns.append([SUPPRESSED_LABEL] * len(codes))
        published_columns = _that_join(columns) if self.joining else columns
        return Hierarchy.from_rows(zip(*published_columns, strict=True), name=column.name)

    def _measure(self, code: str) -> int:
        return len(code) if self.separator is None else code.count(self.separator) + 1

    def _cut(self, code: str, length: int | str) -> str:
        if isinstance(length, str):
            return matched[0] if (matched := re.match(length, code)) else code
        if self.separator is not None:
            return self.separator.join(code.split(self.separator)[:length])
        # The first digits of a number read as another number; a star says that something follows.
        return code[:length] + SUPPRESSED_LABEL * (length < len(code) and code[:length].isdigit())


@dataclass(frozen=True)
class Suppress(Builder):
    """One level above the values: `*`.

    >>> list(Suppress().build(["f", "m"]).rows())
    [('f', '*'), ('m', '*')]
    """

    method: ClassVar[str] = "suppress"
    summary: ClassVar[str] = "keep the value or suppress it"
    fits: ClassVar[frozenset[str]] = ANY
    top: Annotated[str, Text(), "the label of the top"] = SUPPRESSED_LABEL

    def build_column(self, column: Column) -> Hierarchy:
        return Hierarchy.flat(column.labels(), name=column.name, top=self.top)
