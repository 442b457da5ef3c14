"""Groups of values: explicit ones, or runs of neighbours in an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import HierarchyError, some
from kanopy._parameter_types import Anything, ColumnNames, Either, Integer, ListOf, MapOf, Optional, Text
from kanopy.hierarchy.builders.base import Builder, constant, label_format, span_tree
from kanopy.hierarchy.builders.masking import ANY
from kanopy.hierarchy.column import Column, canonical_label
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.ordinal import in_known_order
from kanopy.hierarchy.ranges import union_of

FINEST_SHARE = 64
"""A value that fewer than one in so many rows have is rare."""


def in_order(labels: Sequence[str]) -> bool:
    """Whether texts are codes whose alphabetical order means something: of one length, digits where others have digits.

    >>> in_order(["01307", "02140"]), in_order(["B12", "A07"]), in_order(["low", "mid"]), in_order(["9", "10"])
    (True, True, False, False)
    """
    shapes = {"".join("0" if c.isdigit() else "A" if c.isalpha() else c for c in label) for label in labels}
    return len(shapes) == 1 and "0" in next(iter(shapes))


@dataclass(frozen=True)
class Order(Builder):
    """Runs of `fan_out` neighbours in ascending order (or in the order given), again and again until one is left.

    `fan_out` may differ per level: (2, 5) puts two values into a group and five groups into the next. The last group
    of a level may be smaller. Numbers stay numbers; groups of texts are named after their first and last value. Texts
    have an order if they are dates in a usual form, codes of one length, bands of numbers (`18-24`, `65+`), whose
    groups are bands again, or words of a usual scale (`never`, `often`); other texts need the order given.

    >>> Order(fan_out=(2,), order=("low", "mid", "high")).build(["high", "low", "mid"]).labels_at(1)
    ('low–mid', 'high')
    """

    method: ClassVar[str] = "order"
    summary: ClassVar[str] = "groups of neighbouring values"
    fits: ClassVar[frozenset[str]] = ANY
    fan_out: Annotated[
        int | tuple[int, ...],
        Either(Integer(2), ListOf(Integer(2), 1)),
        "the number of neighbours joined per level, one number or one per level",
    ] = (2,)
    order: Annotated[
        tuple[str, ...], ColumnNames("values in their order"), "the values in order [default: by size]"
    ] = ()
    label: Annotated[str | None, Optional(Text(usable=label_format)), "the format of labels, as for intervals"] = None

    @property
    def _steps(self) -> tuple[int, ...]:
        return (self.fan_out,) if isinstance(self.fan_out, int) else self.fan_out

    def build_column(self, column: Column) -> Hierarchy:
        column = column if self.order else column.inferred()
        known_order = None if self.order or column.kind != "text" else in_known_order(column.labels())
        if column.kind == "text" and not self.order and known_order is None and not in_order(column.labels()):
            raise HierarchyError(
                f"{column.where} holds texts without a known order: {some(column.labels())}. Ranges need an order. "
                "Give the order (order=…), or use groups, prefix or suppress."
            )
        if self.order or column.kind == "text":
            return self._named(column, [canonical_label(value) for value in self.order] or known_order)
        if column.size == 1:
            return constant(column)
        size = column.size
        parent, first, last = [np.full(size, -1)], [np.arange(size)], [np.arange(size)]
        start, step = 0, 0
        while (nodes := len(first[-1])) > 1:
            fan_out = self._steps[min(step, len(self._steps) - 1)]
            heads = np.arange(0, nodes, fan_out)
            tails = np.append(heads[1:], nodes) - 1
            parent[-1] = start + nodes + np.arange(nodes) // fan_out
            first.append(first[-1][heads])
            last.append(last[-1][tails])
            parent.append(np.full(len(heads), -1))
            start, step = start + nodes, step + 1
        spans = np.concatenate(first).astype(np.int32), np.concatenate(last).astype(np.int32)
        return span_tree(column, np.concatenate(parent).astype(np.int32), *spans, self.label or "interval")

    def _named(self, column: Column, order: Sequence[str] | None) -> Hierarchy:
        labels = list(column.labels())
        if order:
            missing = sorted(set(labels) - set(order))
            if missing:
                raise HierarchyError(f"The order does not contain {some(missing)}. Add them.")
            labels = [label for label in order if label in set(labels)]
        written = label_format(self.label or "dash")
        level = [(i, i) for i in range(len(labels))]
        rows: list[list[str]] = [[label] for label in labels]
        step = 0
        while len(level) > 1:
            fan_out = self._steps[min(step, len(self._steps) - 1)]
            runs = [level[start : start + fan_out] for start in range(0, len(level), fan_out)]
            level = [(run[0][0], run[-1][1]) for run in runs]
            for i, j in level:
                top = len(level) == 1
                union = union_of(labels[i], labels[j]) if self.label is None else None
                name = labels[i] if i == j else union or written.format(low=labels[i], high=labels[j])
                for row in rows[i : j + 1]:
                    row.append(SUPPRESSED_LABEL if top else name)
            step += 1
        if len(labels) == 1:
            rows[0].append(SUPPRESSED_LABEL)
        return Hierarchy.from_rows(rows, name=column.name)


@dataclass(frozen=True)
class Frequency(Builder):
    """The common values stay, the rare ones become `other`: ever more of them from level to level.

    A value stays while at least `k` rows have it, then while twice as many do, and so on. `other` always holds two
    values or more, and as many rows as a value that stays.

    >>> h = Frequency(k=2).build(["cook"] * 5 + ["clerk"] * 3 + ["smith", "baker"])
    >>> [sorted(set(labels)) for labels in map(h.labels_at, range(1, h.height + 1))]
    [['clerk', 'cook', 'other'], ['cook', 'other'], ['*']]
    """

    method: ClassVar[str] = "frequency"
    summary: ClassVar[str] = "frequent values are kept, rare ones become other"
    fits: ClassVar[frozenset[str]] = ANY
    k: Annotated[int, Integer(1), "the rows that a value needs to be kept at the first level"] = 5
    other: Annotated[str, Text(), "the label of rare values"] = "other"

    def build_column(self, column: Column) -> Hierarchy:
        labels, counts = list(column.labels()), column.counts
        rest = [label.casefold() == self.other.casefold() for label in labels]
        other = next((label for label, named in zip(labels, rest, strict=True) if named), self.other)
        order = np.lexsort((-counts, np.array(rest)))  # a value that is called so already never stays by itself
        counts = np.where(rest, 0, counts)
        below = np.cumsum(column.counts[order][::-1])[::-1]  # rows of a value and all rarer ones
        levels, groups = [labels], len(labels)
        least = max(self.k, column.rows // FINEST_SHARE)
        while True:
            # Values stay that have enough rows, while those that go have enough together, and are two or more.
            stay = int((counts >= least).sum())
            while stay and (stay > len(labels) - 2 or below[stay] < least):
                stay -= 1
            if not stay:
                break
            if stay < groups:
                common = set(order[:stay].tolist())
                levels.append([label if i in common else other for i, label in enumerate(labels)])
                groups = stay
            least *= 2
        levels.append([SUPPRESSED_LABEL] * len(labels))
        return Hierarchy.from_rows(zip(*levels, strict=True), name=column.name)


@dataclass(frozen=True)
class Groups(Builder):
    """Your own groups: `{"Europe": ["France", "Italy"], "Asia": ["Japan"]}`, nested as deep as you like, below `*`.

    Values without a group go to `other` if it is given, and are an error otherwise. Values of the groups that the
    column does not have stay in the hierarchy: it may be used for other tables.

    >>> Groups({"Europe": ["France", "Italy"]}, other="elsewhere").build(["France", "Japan"]).generalize("Japan", 1)
    'elsewhere'
    """

    method: ClassVar[str] = "groups"
    summary: ClassVar[str] = "your own groups of values"
    fits: ClassVar[frozenset[str]] = ANY
    groups: Annotated[
        Mapping[str, Any], MapOf(Anything(), '{"Europe": ["France", "Italy"]}', 1), "labels and their values, or labels"
    ] = field(default_factory=dict, hash=False)
    other: Annotated[
        str | None, Optional(Text()), "the label of values without a group [default: they are an error]"
    ] = None
    top: Annotated[str, Text(), "the label above all groups"] = SUPPRESSED_LABEL

    def build_column(self, column: Column) -> Hierarchy:
        pairs = list(self._pairs(self.groups, self.top))
        children = {child for child, _ in pairs}
        inner = {parent for _, parent in pairs}
        strays = [value for value in column.labels() if value not in children or value in inner]
        if strays and self.other is None:
            raise HierarchyError(
                f"No group contains {some(strays)}. Add them to a group, or name a group for them with other=…"
            )
        if strays and self.other is not None:
            pairs += [(value, self.other) for value in strays]
            if self.other not in children:
                pairs.append((self.other, self.top))
        return Hierarchy.from_parents(pairs, name=column.name).balanced()

    def _pairs(self, content: Any, above: str) -> Iterator[tuple[str, str]]:
        """Every label of a nested mapping with the label above it."""
        if isinstance(content, Mapping):
            for label, below in content.items():
                yield str(label), above
                yield from self._pairs(below, str(label))
        elif isinstance(content, Sequence) and not isinstance(content, str):
            for value in content:
                if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
                    yield from self._pairs(value, above)
                else:
                    yield canonical_label(value), above
        else:
            yield canonical_label(content), above
