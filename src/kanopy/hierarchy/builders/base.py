"""What all builders share: the shape of a builder, labels of intervals, constant columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs
from kanopy._errors import HierarchyError, InputError, short
from kanopy._lazy import public
from kanopy._parameter_types import Text
from kanopy._parameters import Declared
from kanopy.hierarchy.column import Column, column_of
from kanopy.hierarchy.hierarchy import Bounds, Hierarchy

INTERVAL = "[{low}, {high}]"
HALF_OPEN = "[{low}, {high})"
STYLES = {"interval": INTERVAL, "dash": "{low}–{high}"}
"""Names for common label formats; any text with `{low}` and `{high}` is a format of its own."""


@public("kanopy.hierarchy")
@dataclass(frozen=True)
class Builder(Declared):
    """A way to make a hierarchy from the values of a column; its fields are its parameters."""

    family: ClassVar[str] = "method"
    to_write: ClassVar[tuple[str, ...]] = ("method", "summary", "build_column")
    refusal: ClassVar[type[InputError]] = HierarchyError
    method: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    fits: ClassVar[frozenset[str]] = frozenset({"integer", "decimal", "real", "date", "datetime", "time", "duration"})
    """The kinds of column this method can work on."""
    examples: ClassVar[Mapping[str, list[Any]]] = MappingProxyType({})
    """Per kind a column of twelve values to try the method on, where it does not take any words or numbers."""
    k_of_job: ClassVar[bool | str] = False
    """Whether the parameter `k` is that of the job unless it is said; or the parameter that must be set for that."""

    def build(self, values: Iterable[Any], counts: Iterable[int] | None = None, *, name: str = "") -> Hierarchy:
        """The hierarchy over the distinct values; `counts` gives the rows per value if `values` are distinct."""
        return self.build_column(column_of(values, counts, name=name))

    def build_column(self, column: Column) -> Hierarchy:
        """The same from an already reduced column."""
        raise NotImplementedError


def label_format(label: str) -> str:
    """The format behind a label style, checked.

    >>> label_format("dash").format(low=17, high=25)
    '17–25'
    """
    written = STYLES.get(label, label)
    try:
        sample = written.format(low="1", high="2")
        distinct = sample != written.format(low="1", high="3") and sample != written.format(low="0", high="2")
    except (KeyError, IndexError, ValueError) as error:
        raise HierarchyError(
            f"The label format {short(label)} cannot be used ({error}). Use 'interval', 'dash', or a text with "
            "{low} and {high}, for example '{low} to {high}'."
        ) from error
    if not distinct:
        raise HierarchyError(
            f"The label format {short(label)} needs both {{low}} and {{high}}, or labels would collide."
        )
    return written


@public("kanopy.extend")
@dataclass(frozen=True)
class NumericBuilder(Builder):
    """A builder over numbers or dates. `label` is `interval`, `dash`, or a format with `{low}` and `{high}`."""

    label: Annotated[str, Text(usable=label_format), "interval, dash, or a text with {low} and {high}"] = "interval"

    def build_column(self, column: Column) -> Hierarchy:
        """A constant column has nothing to divide: it gets its value and, above it, `*`."""
        column = column.numeric(self.method)
        return constant(column) if column.size == 1 else self.build_numbers(column)

    def build_numbers(self, column: Column) -> Hierarchy:
        """The hierarchy over two or more distinct numbers."""
        raise NotImplementedError


def constant(column: Column) -> Hierarchy:
    """One value and, above it, `*`."""
    assert column.numbers is not None
    bounds: Bounds = column.numbers[[0, 0]]
    labels = [column.labels()[0], SUPPRESSED_LABEL]
    return Hierarchy(1, labels, np.array([1, -1], np.int32), name=column.name, low=bounds, high=bounds.copy())


def span_labels(column: Column, first: Ints, last: Ints, label: str) -> Callable[[], Sequence[str]]:
    """Labels of nodes that span the values `first` to `last`, made when someone looks at them."""
    written = label_format(label)

    def labels() -> list[str]:
        values = column.labels()
        ends = zip(first.tolist(), last.tolist(), strict=True)
        return [values[i] if i == j else written.format(low=values[i], high=values[j]) for i, j in ends]

    return labels


def span_tree(column: Column, parent: Ints, first: Ints, last: Ints, label: str) -> Hierarchy:
    """A tree whose nodes span the values `first` to `last`; intervals end at values present."""
    assert column.numbers is not None
    return Hierarchy.from_intervals(
        column.numbers[first],
        column.numbers[last],
        parent,
        column.size,
        labels=span_labels(column, first, last, label),
        name=column.name,
    )


def bottom_up(first: Longs, last: Longs, above: Longs, leaf_above: Longs) -> tuple[Ints, Ints, Ints]:
    """Parents, and the first and last value of every node, of a tree that was found from the top down.

    Inner nodes span `first` to `last` and lie under the node `above` (-1: the root); values lie under `leaf_above`.

    >>> [part.tolist() for part in bottom_up(*map(np.array, ([0, 1], [2, 2], [-1, 0], [0, 1, 1])))]
    [[4, 3, 3, 4, -1], [0, 1, 2, 1, 0], [0, 1, 2, 2, 2]]
    """
    size = len(leaf_above)
    up = np.append(leaf_above, above[::-1])
    parent = np.where(up < 0, -1, size + len(above) - 1 - up).astype(np.int32)
    begin, end = (np.append(np.arange(size), side[::-1]).astype(np.int32) for side in (first, last))
    return parent, begin, end
