"""Recodings that publish sets of values: every column's values are divided into sets, and a cell publishes its set.

What Bayardo and Agrawal (intervals of a total order) and Li and Li (any sets, or sets that a hierarchy guides) have in
common: the values that occur, in order; the label and the share of a set; and the answer made of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs, says_missing
from kanopy._core.classes import Domain
from kanopy._core.local_recoding import LocalRecoding
from kanopy._core.numbering import number_rows
from kanopy._errors import Hint, NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.utility.published_values import parse_interval, parse_moment, parse_number
from kanopy.search.clustering.costs import leaf_order
from kanopy.search.no_solution import more_suppression
from kanopy.search.partition_solution import check_k, release
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution

LARGEST_COUNT = 2**63 - 1


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """The values of a column that occur, in order: `leaves[position]` is a leaf of the hierarchy.

    `numbers` are the values as numbers, where they are numbers (NaN for the value that stands for missing ones).
    """

    name: str
    hierarchy: Hierarchy
    leaves: Ints
    numbers: Floats | None

    @property
    def size(self) -> int:
        """How many values occur."""
        return len(self.leaves)

    @cached_property
    def top(self) -> tuple[str, int] | None:
        """The label above all values, and its node (-1 where levels do not nest); nothing if there are several tops."""
        hierarchy = self.hierarchy
        if hierarchy.nested:
            return (hierarchy.label(root := int(hierarchy.roots[0])), root) if len(hierarchy.roots) == 1 else None
        labels = hierarchy.labels_at(hierarchy.height)
        return (labels[0], -1) if len(labels) == 1 else None

    @cached_property
    def spot(self) -> Longs:
        """Where each occurring value stands among all values of the domain, absent ones included."""
        return np.argsort(value_order(self.hierarchy), kind="stable")[self.leaves]

    @cached_property
    def exact_nodes(self) -> dict[tuple[int, ...], int]:
        """Inner nodes all of whose values occur and whose label no other set of values has, by their positions."""
        if not self.hierarchy.nested:
            return {}
        position = np.full(self.hierarchy.size, -1, np.int64)
        position[self.leaves] = np.arange(self.size)
        sets_of_label: dict[str, set[tuple[int, ...]]] = {}
        inner: list[tuple[tuple[int, ...], int]] = []
        for node in range(self.hierarchy.node_count):
            held = tuple(sorted(position[self.hierarchy.leaves_under(node)].tolist()))
            sets_of_label.setdefault(self.hierarchy.label(node), set()).add(held)
            if node >= self.hierarchy.size and held and held[0] >= 0 and len(held) > 1:
                inner.append((held, node))
        nodes: dict[tuple[int, ...], int] = {}
        for held, node in inner:
            if len(sets_of_label[self.hierarchy.label(node)]) == 1:
                nodes.setdefault(held, node)
        return nodes

    def is_run(self, positions: Sequence[int]) -> bool:
        """Whether positions (ascending) are neighbours in the order, and all of them numbers."""
        if self.numbers is None or positions[-1] - positions[0] + 1 != len(positions):
            return False
        return not np.isnan(self.numbers[list(positions)]).any()

    def share(self, positions: Sequence[int], *, spans: bool) -> float:
        """The share of the domain that a set of values covers; a set of all values that occur covers everything, if the
        hierarchy has one top.

        A set counts the values it lists. With `spans` a run of numbers is an interval and also counts the values of
        the domain between its ends that do not occur.
        """
        if len(positions) == 1:
            return 1 / self.hierarchy.size
        if len(positions) == self.size and self.top is not None:
            return 1.0
        if spans and self.is_run(positions):
            return float(self.spot[positions[-1]] - self.spot[positions[0]] + 1) / self.hierarchy.size
        return len(positions) / self.hierarchy.size

    def label(self, positions: Sequence[int], *, spans: bool) -> tuple[str, int]:
        """What a set of values publishes, and the hierarchy node behind it (-1 if there is none).

        One value is itself, all values are the top if there is one; a set that a node of the hierarchy holds exactly
        has its label; neighbouring numbers are an interval; anything else is listed.
        """
        hierarchy = self.hierarchy
        if len(positions) == 1:
            leaf = int(self.leaves[positions[0]])
            return hierarchy.label(leaf), leaf
        if len(positions) == self.size and self.top is not None:
            return self.top
        node = self.exact_nodes.get(tuple(positions))
        if node is not None:
            return hierarchy.label(node), node
        if self.is_run(positions) and (spans or self.spot[positions[-1]] - self.spot[positions[0]] < len(positions)):
            low, high = (hierarchy.label(int(self.leaves[end])) for end in (positions[0], positions[-1]))
            return f"[{low}, {high}]", -1
        return "{" + ", ".join(self._items(positions)) + "}", -1

    def _items(self, positions: Sequence[int]) -> list[str]:
        """The values of a set; three or more neighbouring numbers as `a - b`, which skips no value of the domain."""
        runs: list[list[int]] = []
        for p in positions:
            before = runs[-1][-1] if runs else -1
            follows = runs and self.is_run((before, p)) and self.spot[p] == self.spot[before] + 1
            if follows:
                runs[-1].append(p)
            else:
                runs.append([p])
        items = []
        for run in runs:
            names = [self.hierarchy.label(int(self.leaves[p])) for p in run]
            ends = f"{names[0]} - {names[-1]}"
            if len(run) > 2 and parse_interval(ends) is not None:
                items.append(ends)
            else:
                items += [_quoted(name) for name in names]
        return items


def _quoted(label: str) -> str:
    """An item of a set; quoted where it holds characters that mean something in a set."""
    if label != label.strip() or any(letter in label for letter in ",;{}\"'"):
        return '"' + label.replace('"', '""') + '"'
    return label


def value_order(hierarchy: Hierarchy) -> Ints:
    """All leaves in a total order: by number where the values are numbers, else as they stand in the hierarchy.

    A value that is no number among numbers (the one that stands for missing values) comes last.

    >>> value_order(Hierarchy.flat(["10", "9", "?"])).tolist()
    [1, 0, 2]
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"]])
    >>> value_order(tree).tolist()
    [0, 2, 1]
    """
    numbers = leaf_numbers(hierarchy)
    if numbers is not None:
        return np.argsort(numbers, kind="stable").astype(np.int32)
    return leaf_order(hierarchy) if hierarchy.nested else np.arange(hierarchy.size, dtype=np.int32)


def leaf_numbers(hierarchy: Hierarchy) -> Floats | None:
    """The values as numbers, NaN for one that is none; `None` for a column that is not about numbers.

    One value without a number may stand among numbers or moments: the one for missing values.
    """
    for read in (parse_number, parse_moment):
        if read is parse_moment and hierarchy.low is None:
            continue
        parsed = [read(label) for label in hierarchy.values]
        numbers = np.array([np.nan if number is None or not np.isfinite(number) else number for number in parsed])
        if np.isnan(numbers).sum() <= 1 < hierarchy.size or not np.isnan(numbers).any():
            return numbers
    if hierarchy.low is None:
        return None
    numbers = np.asarray(hierarchy.low[: hierarchy.size], np.float64).copy()
    numbers[[says_missing(label) for label in hierarchy.values]] = np.nan
    return numbers


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The distinct tuples as positions in the order of each column's values, sorted, with counts.

    Sorting makes every search over the table independent of the order of the rows.
    """

    columns: tuple[ValueColumn, ...]
    codes: Ints
    counts: Longs
    rows: int
    """All rows of the table, also those excluded from the start: what a suppressed row costs under discernibility."""

    @property
    def sizes(self) -> list[int]:
        """How many values each column has."""
        return [column.size for column in self.columns]


def value_table(problem: Problem) -> ValueTable:
    """The table of a problem as ordered values."""
    domain = problem.domain
    if not len(domain.counts):
        check_k(problem.k, 0)
    columns, codes = [], np.empty_like(domain.tuples)
    for j, (name, hierarchy) in enumerate(zip(domain.names, domain.hierarchies, strict=True)):
        order = value_order(hierarchy)
        leaves = order[domain.marginals[j][order] > 0]
        numbers = leaf_numbers(hierarchy)
        columns.append(ValueColumn(name, hierarchy, leaves, None if numbers is None else numbers[leaves]))
        position = np.full(hierarchy.size, -1, np.int32)
        position[leaves] = np.arange(len(leaves))
        codes[:, j] = position[domain.tuples[:, j]]
    by_value = np.lexsort(codes.T[::-1])
    return ValueTable(tuple(columns), np.ascontiguousarray(codes[by_value]), domain.counts[by_value], domain.rows)


def recoding_from_value_sets(
    domain: Domain, columns: Sequence[ValueColumn], set_of: Sequence[npt.NDArray[np.integer]], group_of_row: Ints,
    codes: Ints, *, spans: bool,
) -> LocalRecoding:  # fmt: skip
    """The recoding that publishes sets: `set_of[j][position]` is the number of a value's set, `codes[group, j]` too."""
    labels, shares, nodes, extents = [], [], [], []
    for column, number in zip(columns, set_of, strict=True):
        sets = [np.flatnonzero(number == s).tolist() for s in range(int(number.max(initial=-1)) + 1)]
        named = [column.label(positions, spans=spans) for positions in sets]
        labels.append(tuple(label for label, _ in named))
        nodes.append(np.array([node for _, node in named], np.int32))
        shares.append(np.array([column.share(positions, spans=spans) for positions in sets]))
        extents.append(np.array([_extent(column, positions, spans) for positions in sets]))
    return LocalRecoding(
        group_of_row, codes, tuple(labels), tuple(shares), tuple(nodes), domain.multiplicity, extents=tuple(extents)
    )


def _extent(column: ValueColumn, positions: Sequence[int], spans: bool) -> float:
    """The size of a set over that of the whole column: the range of its numbers, or its values but one."""
    if column.numbers is not None and not np.isnan(column.numbers).any():
        whole = float(column.numbers.max() - column.numbers.min())
        return float(np.ptp(column.numbers[list(positions)])) / whole if whole else 0.0
    values = round(column.share(positions, spans=spans) * column.hierarchy.size)
    return (values - 1) / max(1, column.hierarchy.size - 1)


def sets_solution(
    name: str,
    problem: Problem,
    columns: Sequence[ValueColumn],
    set_of: Sequence[npt.NDArray[np.integer]],
    *,
    spans: bool,
    candidates: int,
    notes: list[str],
    **facts: Any,
) -> Solution:
    """The answer that publishes the sets; see `release`."""
    domain = problem.domain
    of_tuple = np.empty_like(domain.tuples)
    for j, (column, number) in enumerate(zip(columns, set_of, strict=True)):
        lookup = np.full(column.hierarchy.size, -1, np.int32)
        lookup[column.leaves] = number
        of_tuple[:, j] = lookup[domain.tuples[:, j]]
    class_of, first, _ = number_rows(of_tuple, ascending=True)
    group_of_row = np.append(class_of, np.int32(-1))[domain.tuple_of_row]
    recoding = recoding_from_value_sets(domain, columns, set_of, group_of_row, of_tuple[first], spans=spans)
    if candidates > LARGEST_COUNT:
        notes.append(f"There are more than 10^{int((candidates.bit_length() - 1) * math.log10(2))} such recodings.")
        candidates = 0
    return release(name, problem, recoding, candidates=candidates, notes=notes, **facts)


def too_many_gone(name: str, problem: Problem, suppressed_rows: int) -> NoSolution:
    """The error when even the coarsest sets leave too many rows in classes of fewer than k."""
    usable = problem.domain.rows - problem.domain.excluded_rows
    advice: list[str] = [
        more_suppression(suppressed_rows, problem.domain.rows), Hint(f"choose k of at most {usable:,}", k=usable),
    ]  # fmt: skip
    if any(len(h.roots) > 1 for h in problem.domain.hierarchies if h.nested):
        advice.append("give every hierarchy one top (`h.rooted()`), so that all its values can be joined")
    return NoSolution(
        f"Even the coarsest release of {name!r} leaves {suppressed_rows:,} rows in classes of fewer than k = "
        f"{problem.k:,}, and "
        f"{problem.max_suppressed_rows:,} may be suppressed.",
        advice=advice,
    )
