"""A table whose quasi-identifiers are masked by substitution: values per attribute, distinct tuples, similarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.classes import Sensitive
from kanopy._errors import JobError
from kanopy._lazy import public
from kanopy.masking.answer_reading import Reading
from kanopy.masking.likeness_kernel import MISSING_NUMBER, NUMBER, Likeness
from kanopy.masking.meanings import Meanings

TEXT, CATEGORY, NUMERIC = "text", "category", "number"


@dataclass(frozen=True, eq=False)
class Attribute:
    """One quasi-identifier: its values (`None` is the missing one) and what tells how similar they are.

    `position[v]` is the row of value `v` in `table`; positions beyond the table are like nothing but themselves. A
    number has `numbers` instead, scaled to 0 … 1. Texts share one table (`meanings.table`).
    """

    name: str
    kind: str
    labels: tuple[str | None, ...]
    position: Ints
    table: npt.NDArray[np.float32]
    numbers: Floats | None = None
    meanings: Meanings | None = None
    text_of: Ints | None = None
    """Per value its number among `meanings.values`, -1 for the missing one."""

    def row(self, code: int) -> Floats:
        """How similar one value is to all values, between 0 and 1, from the table that guides."""
        if self.numbers is not None:
            near: Floats = np.maximum(0.0, 1.0 - np.abs(self.numbers - self.numbers[code]))
        elif self.position[code] < len(self.table):
            similarities = np.append(self.table[self.position[code]].astype(np.float64), 0.0)
            near = similarities[np.minimum(self.position, len(self.table))]
        else:
            near = np.zeros(len(self.position))
        near[code] = 1.0
        return near

    def similarities(self, first: Longs, second: Longs, *, raw: bool = False) -> Floats:
        """How similar pairs of values are; `raw` asks for the scale of the ontology's measure in texts."""
        if self.numbers is not None:
            return np.asarray(np.maximum(0.0, 1.0 - np.abs(self.numbers[first] - self.numbers[second])), np.float64)
        same = first == second
        if self.meanings is not None and self.text_of is not None:
            a, b = self.text_of[first], self.text_of[second]
            out = np.full(len(first), self.meanings.worst)
            out[same] = self.meanings.best
            out[(a < 0) & (b < 0)] = self.meanings.best  # no answer in other words
            both = ~same & (a >= 0) & (b >= 0)
            out[both] = self.meanings.raw(a[both], b[both])
            return out if raw else self.meanings.unit(out)
        a, b = self.position[first], self.position[second]
        inside = (a < len(self.table)) & (b < len(self.table))
        equal: Floats = same.astype(np.float64)
        equal[inside] = self.table[a[inside], b[inside]]
        return equal


@dataclass(frozen=True, eq=False)
class Plan:
    """Per attribute what replaces each of its values (its number, itself where it may stay), and the neutral one."""

    target: tuple[Ints, ...]
    neutral: tuple[int, ...]
    pinned: tuple[Mask | None, ...] = ()
    """Which values nothing but their own target may replace, because a steward decided so."""


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class MaskingTable:
    """Distinct tuples with counts; `tuples[t, j]` is a value of `attributes[j]`.

    Tuples are in ascending order of their values, so that nothing depends on the order of the records.
    """

    attributes: tuple[Attribute, ...]
    tuples: Ints
    counts: Longs
    tuple_of_row: Ints
    weights: tuple[float, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    plan: Plan | None = None
    """What rare values are replaced by first; `None` if any value may replace another."""
    readings: tuple[Reading, ...] = ()
    """How the textual columns were read, where they were."""

    def __post_init__(self) -> None:
        weights = self.weights or (1.0,) * len(self.attributes)
        if len(weights) != len(self.attributes) or min(weights) < 0 or not sum(weights) > 0:
            raise JobError(f"Weights must be one number of at least 0 per column, not all 0; got {list(weights)}.")
        object.__setattr__(self, "weights", tuple(float(weight) for weight in weights))

    @property
    def rows(self) -> int:
        """Records."""
        return len(self.tuple_of_row)

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def likeness(self) -> Likeness:
        """The distinct tuples as the kernels compare them."""
        return self.likeness_of(self.tuples)

    def likeness_of(self, tuples: Ints) -> Likeness:
        """Any tuples of this table's values as the kernels compare them."""
        shape = (len(self.attributes), len(tuples))
        codes, numbers = np.zeros(shape, np.int32), np.zeros(shape)
        start, size = np.full(shape[0], NUMBER, np.int64), np.zeros(shape[0], np.int64)
        tables: list[npt.NDArray[np.float32]] = [np.zeros(0, np.float32)]
        places: dict[int, int] = {}
        for j, attribute in enumerate(self.attributes):
            if attribute.numbers is not None:
                numbers[j] = attribute.numbers[tuples[:, j]]
                continue
            codes[j] = attribute.position[tuples[:, j]]
            if id(attribute.table) not in places:
                places[id(attribute.table)] = sum(map(len, tables))
                tables.append(attribute.table.reshape(-1))
            start[j], size[j] = places[id(attribute.table)], len(attribute.table)
        # A single table, which may be large, is not copied.
        flat = tables[1] if len(tables) == 2 else np.concatenate(tables)
        weights = np.array(self.weights)
        return Likeness(codes, numbers, start, size, np.ascontiguousarray(flat), weights / weights.sum())

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Values of textual columns that no ontology knows."""
        return tuple(dict.fromkeys(u.value for a in self.attributes if a.meanings for u in a.meanings.unknown))


def text_attributes(
    names: Sequence[str], labels: Sequence[Sequence[str | None]], meanings: Meanings
) -> tuple[Attribute, ...]:
    """Textual columns that share their meanings; `labels[j]` are the values of column `j`."""
    index = {value: number for number, value in enumerate(meanings.values)}
    numbers = ([-1 if label is None else index[label] for label in own_labels] for own_labels in labels)
    return tuple(
        text_attribute(name, own_labels, meanings, np.array(text_of, np.int32))
        for name, own_labels, text_of in zip(names, labels, numbers, strict=True)
    )


def text_attribute(name: str, labels: Sequence[str | None], meanings: Meanings, text_of: Ints) -> Attribute:
    """A textual column; `text_of[v]` is the text among `meanings.values` that value `v` means, -1 if it is missing."""
    none = int(meanings.meaning_of.max(initial=-1)) + 1  # one past all meanings: missing is like nothing but itself
    meaning = np.append(meanings.meaning_of, max(none, len(meanings.table)))
    position = meaning[text_of].astype(np.int32)  # -1, the missing one, is last
    return Attribute(name, TEXT, tuple(labels), position, meanings.table, meanings=meanings, text_of=text_of)


def number_attribute(name: str, labels: Sequence[str | None], numbers: Floats) -> Attribute:
    """A numeric column: values differ by their distance over the range of the column.

    >>> number_attribute("age", ["20", "30", "40"], np.array([20.0, 30.0, 40.0])).numbers.tolist()
    [0.0, 0.5, 1.0]
    """
    present = numbers[np.isfinite(numbers)]
    low = float(present.min()) if len(present) else 0.0
    extent = (float(present.max()) - low) if len(present) else 0.0
    scaled = np.where(np.isfinite(numbers), (numbers - low) / (extent or 1.0), MISSING_NUMBER)
    return Attribute(
        name, NUMERIC, tuple(labels), np.zeros(len(labels), np.int32), np.zeros((0, 0), np.float32), numbers=scaled
    )


def category_attribute(
    name: str, labels: Sequence[str | None], table: npt.NDArray[np.float32] | None = None
) -> Attribute:
    """A categorical column: similar by `table` (one row per value), or only equal or not."""
    similar = np.zeros((0, 0), np.float32) if table is None else np.ascontiguousarray(table, np.float32)
    return Attribute(name, CATEGORY, tuple(labels), np.arange(len(labels), dtype=np.int32), similar)
