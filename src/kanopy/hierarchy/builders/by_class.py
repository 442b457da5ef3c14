"""Discretizers that look at a class: ChiMerge joins neighbours whose classes are alike, MDL cuts where they differ."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._errors import HierarchyError, some
from kanopy._parameter_types import Integer, MapOf, Name, Optional
from kanopy.hierarchy.builders.base import NumericBuilder, bottom_up, span_tree
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy

MOST_CLASSES = 100
"""A column with more different values than this is no class."""
LEAST_EXPECTED = 0.5
"""Kerber's floor under expected counts, so that nothing is divided by almost nothing."""
CLOSE = 1e-12


@dataclass(frozen=True)
class ClassBuilder(NumericBuilder):
    """A builder that cuts where the classes of the rows change.

    `target` names the column of the table with the class; a job and `kanopy hierarchy build` count it. Without a
    table `classes` says it: per value the rows of each class. Values without a class say nothing about where to cut.
    Where the intervals end depends on the target: take no column that must not be guessed from them.
    """

    target: Annotated[str | None, Optional(Name()), "the column of the table with the class"] = None
    classes: Annotated[
        Mapping[str, Mapping[str, int]] | None,
        Optional(MapOf(MapOf(Integer(0), "{'yes': 3}"), "{'17': {'yes': 3, 'no': 1}}")),
        "rows of each class per value, if there is no table",
    ] = None

    def build_numbers(self, column: Column) -> Hierarchy:
        return self.build_classes(column, self.class_rows(column))

    def build_classes(self, column: Column, rows: Longs) -> Hierarchy:
        """The hierarchy, from the rows of each class (across) per value (down)."""
        raise NotImplementedError

    def class_rows(self, column: Column) -> Longs:
        """Rows of each class per value of the column."""
        if self.classes is None:
            asked = f"the classes of {self.target!r}, which only a table has" if self.target else "a class per row"
            raise HierarchyError(
                f"{self.method} needs {asked}. Name a column with target in a job or with `kanopy hierarchy build`, or "
                "give classes: per value the rows of each class."
            )
        names = sorted({name for rows_of_class in self.classes.values() for name in rows_of_class})
        if len(names) > MOST_CLASSES:
            raise HierarchyError(
                f"{self.method} separates classes, and {len(names):,} ({some(names)}) are too many. Choose a target "
                f"with at most {MOST_CLASSES} different values."
            )
        rows_per_class = np.zeros((column.size, max(len(names), 1)), np.int64)
        for at, label in enumerate(column.labels()):
            for number, name in enumerate(names):
                rows_per_class[at, number] = self.classes.get(label, {}).get(name, 0)
        return rows_per_class


def chi_square(left: Longs, right: Longs) -> float:
    """How much the classes of two neighbours differ, with Kerber's floor under small expected counts.

    >>> chi_square(np.array([4, 0]), np.array([2, 0])), round(chi_square(np.array([4, 0]), np.array([0, 4])), 6)
    (0.0, 8.0)
    """
    observed = np.array([left, right], np.float64)
    total = observed.sum()
    if not total:
        return 0.0
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / total
    return float(((observed - expected) ** 2 / np.maximum(expected, LEAST_EXPECTED)).sum())


@dataclass(frozen=True)
class ChiMerge(ClassBuilder):
    """Neighbours whose classes differ least are merged first (ChiMerge, Kerber 1992), up to the whole range.

    How much two neighbours differ is χ² of their rows per class; ties go to the leftmost pair. Kerber stops at a
    threshold: the intervals of every threshold are nodes of this tree.

    >>> classes = {"1": {"a": 4}, "2": {"a": 4}, "3": {"b": 4}, "4": {"b": 4}}
    >>> ChiMerge(classes=classes).build([1, 2, 3, 4]).labels_at(1)
    ('[1, 2]', '[3, 4]')
    """

    method: ClassVar[str] = "chimerge"
    summary: ClassVar[str] = "join neighbours with similar classes (ChiMerge, Kerber 1992)"

    def build_classes(self, column: Column, rows: Longs) -> Hierarchy:
        size = column.size
        held = list(rows)
        parent, first, last = [-1] * size, list(range(size)), list(range(size))
        before, after = [i - 1 for i in range(size)], [*range(1, size), -1]
        # Entries of pairs that are gone stay in the heap and are passed over: a merged node has a parent.
        heap = [(chi_square(held[i], held[i + 1]), i, i, i + 1) for i in range(size - 1)]
        heapq.heapify(heap)
        while heap:
            _, _, left, right = heapq.heappop(heap)
            if parent[left] >= 0 or parent[right] >= 0:
                continue
            new = len(parent)
            parent[left] = parent[right] = new
            parent.append(-1)
            first.append(first[left])
            last.append(last[right])
            held.append(held[left] + held[right])
            before.append(before[left])
            after.append(after[right])
            if before[new] >= 0:
                after[before[new]] = new
                heapq.heappush(heap, (chi_square(held[before[new]], held[new]), first[before[new]], before[new], new))
            if after[new] >= 0:
                before[after[new]] = new
                heapq.heappush(heap, (chi_square(held[new], held[after[new]]), first[new], new, after[new]))
        spans = np.array(first, np.int32), np.array(last, np.int32)
        return span_tree(column, np.array(parent, np.int32), *spans, self.label)


def entropies(rows: Longs) -> Floats:
    """The entropy, in bits, of each line of rows per class.

    >>> entropies(np.array([[4, 0], [2, 2]])).tolist()
    [0.0, 1.0]
    """
    share = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
    entropy: Floats = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1) + 0.0
    return entropy


def best_cut(rows: Longs) -> int | None:
    """After which value the classes are best told apart, or `None` if no cut is worth its description.

    Fayyad and Irani's rule: the gain of information must exceed (log₂(N − 1) + Δ)/N with
    Δ = log₂(3ᶜ − 2) − [c·E − c₁·E₁ − c₂·E₂], c counting the classes that occur. Ties go to the leftmost cut.

    >>> best_cut(np.array([[4, 0], [4, 0], [0, 4], [0, 4]])), best_cut(np.array([[1, 1], [1, 1]]))
    (1, None)
    """
    left = np.cumsum(rows, axis=0)
    whole, left = left[-1:], left[:-1]
    right = whole - left
    total, before, behind = int(whole.sum()), left.sum(axis=1), right.sum(axis=1)
    usable = (before > 0) & (behind > 0)
    if not usable.any():
        return None
    e, e1, e2 = entropies(whole)[0], entropies(left), entropies(right)
    mixed = np.where(usable, (before * e1 + behind * e2) / total, np.inf)
    cut = int(np.flatnonzero(mixed <= mixed.min() + CLOSE)[0])
    c, c1, c2 = ((counts > 0).sum() for counts in (whole[0], left[cut], right[cut]))
    delta = np.log2(3.0**c - 2) - (c * e - c1 * e1[cut] - c2 * e2[cut])
    return cut if e - mixed[cut] > (np.log2(total - 1) + delta) / total else None


@dataclass(frozen=True)
class Mdl(ClassBuilder):
    """Cuts that tell the classes apart, as long as they pay for their description (Fayyad and Irani 1993).

    From the whole range downwards each part is cut where the entropy of the class is least; a cut that tells less than
    it takes to write it down (minimum description length) is not made, and the values lie under their part.

    >>> classes = {str(value): {"young" if value < 5 else "old": 3} for value in range(1, 9)}
    >>> Mdl(classes=classes).build(range(1, 9)).labels_at(1)
    ('[1, 4]', '[5, 8]')
    """

    method: ClassVar[str] = "mdl"
    summary: ClassVar[str] = "cut between different classes, by minimum description length (Fayyad and Irani 1993)"

    def build_classes(self, column: Column, rows: Longs) -> Hierarchy:
        first, last, above = [0], [column.size - 1], [-1]
        leaf_above = np.zeros(column.size, np.int64)
        node = 0
        while node < len(first):  # parts are cut in the order in which they were found
            begin, end = first[node], last[node]
            leaf_above[begin : end + 1] = node
            cut = best_cut(rows[begin : end + 1])
            if cut is not None:
                for low, high in ((begin + cut + 1, end), (begin, begin + cut)):  # numbered from the back later
                    if low < high:  # a single value is a leaf, not a part of its own
                        first.append(low)
                        last.append(high)
                        above.append(node)
            node += 1
        begin_of, end_of, up = (np.array(nodes, np.int64) for nodes in (first, last, above))
        return span_tree(column, *bottom_up(begin_of, end_of, up, leaf_above), self.label)
