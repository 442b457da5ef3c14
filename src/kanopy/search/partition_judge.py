"""The judge of recodings that are no single candidate of the lattice: any partition of the distinct tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Classes, Recoding, recoding_from_nodes
from kanopy._core.histograms import Histogram
from kanopy._errors import NoSolution
from kanopy.metrics.release import release_losses
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution

MANY_COLUMNS = 64
"""Wider tables are added up row by row, narrower ones column by column, which is quicker."""


class PartitionJudge:
    """Asks the models of a problem about classes that are sets of distinct tuples.

    For models that judge one class at a time (`Problem.require_local` refuses the others). With `unit_of_tuple` the
    classes are sets of units instead, where a unit is a set of tuples.

    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> values, counts = np.arange(3, dtype=np.int32)[:, None], np.array([1, 2, 1])
    >>> one = Domain(("l",), (tree,), values, counts, np.array([0, 1, 1, 2]))
    >>> PartitionJudge(Problem(one, [KAnonymity(2)])).unsafe(np.array([0, 0, 1]), 2).tolist()
    [False, True]
    """

    def __init__(self, problem: Problem, unit_of_tuple: npt.NDArray[np.integer] | None = None) -> None:
        self.problem = problem
        self.counts: Longs = problem.domain.counts
        evidence = problem.evidence
        self._histogram: Histogram | None = evidence.tuples().histogram if evidence.columns else None
        if unit_of_tuple is not None:
            count = int(unit_of_tuple.max()) + 1
            self.counts = self._sum(self.counts, unit_of_tuple, count)
            if self._histogram is not None:
                self._histogram = _add_rows(self._histogram, unit_of_tuple, count)

    def sizes(self, class_of_tuple: npt.NDArray[np.integer], count: int) -> Longs:
        """Rows per class; tuples of class -1 are left out."""
        return self._sum(self.counts, class_of_tuple, count)

    def unsafe(
        self, class_of_tuple: npt.NDArray[np.integer], count: int, members: npt.NDArray[np.integer] | None = None
    ) -> Mask:
        """Which classes some model finds unsafe; classes without rows are safe.

        With `members`, only these tuples (or units) are there, and `class_of_tuple` has one entry for each of them.
        """
        sizes = self._sum(self.counts if members is None else self.counts[members], class_of_tuple, count)
        if self.problem.of_sizes:
            return np.asarray((sizes < self.problem.k) & (sizes > 0), np.bool_)
        return self.unsafe_classes(sizes, self._histograms(class_of_tuple, count, members))

    def unsafe_classes(self, sizes: Longs, histograms: Mapping[str, Histogram]) -> Mask:
        """The same for classes whose rows and values of sensitive columns are counted already."""
        classes = Classes(sizes, histograms=histograms, facts=self.problem.evidence.facts)
        wrong = sizes < self.problem.k
        for model in self.problem.models:
            wrong |= model.violated(classes)
        return np.asarray(wrong & (sizes > 0), np.bool_)

    def unsafe_groups(self, group_of_row: Ints, count: int) -> Mask:
        """The same for groups of rows, where equal tuples may be in different groups."""
        used = group_of_row >= 0
        of_row = group_of_row[used]
        sizes = np.bincount(of_row, minlength=count).astype(np.int64)
        histograms: dict[str, Histogram] = {}
        for column in self.problem.evidence.sensitive:
            width = len(column.values)
            cells = np.bincount(of_row * np.int64(width) + column.code_of_row[used], minlength=count * width)
            histograms[column.name] = cells.reshape(count, width).astype(np.int64)
        return self.unsafe_classes(sizes, histograms)

    def _histograms(
        self, class_of_tuple: npt.NDArray[np.integer], count: int, members: npt.NDArray[np.integer] | None
    ) -> dict[str, Histogram]:
        if self._histogram is None:
            return {}
        table = _add_rows(self._histogram if members is None else self._histogram[members], class_of_tuple, count)
        found: dict[str, Histogram] = {}
        begin = 0
        for column, width in zip(self.problem.evidence.columns, self.problem.evidence.widths, strict=True):
            found[column] = table[:, begin : begin + width]
            begin += width
        return found

    @staticmethod
    def _sum(counts: Longs, class_of_tuple: npt.NDArray[np.integer], count: int) -> Longs:
        used = class_of_tuple >= 0
        return np.bincount(class_of_tuple[used], weights=counts[used], minlength=count).astype(np.int64)


def _add_rows(table: Histogram, number: npt.NDArray[np.integer], count: int) -> Longs:
    """The rows of a table added up by number; rows of number -1 are left out."""
    used = number >= 0
    found = np.zeros((count, table.shape[1]), np.int64)
    if table.shape[1] > MANY_COLUMNS:
        np.add.at(found, number[used], table[used])
    else:
        for column in range(table.shape[1]):
            found[:, column] = np.bincount(number[used], weights=table[used, column], minlength=count)
    return found


def number_classes(nodes: Ints) -> tuple[npt.NDArray[np.int64], Ints]:
    """Per tuple the number of its class (equal nodes, equal class), and the nodes of each class."""
    keys = np.zeros(len(nodes), np.int64)
    for column in nodes.T:
        distinct, code = np.unique(column, return_inverse=True)
        # Numbered again after every column, so that the keys of however many columns fit in one word.
        _, first, keys = np.unique(keys * len(distinct) + code, return_index=True, return_inverse=True)
    return keys.astype(np.int64), nodes[first].astype(np.int32)


def solution_from_nodes(
    name: str,
    problem: Problem,
    nodes_of_tuple: Ints,
    *,
    optimal: bool = False,
    judged: int = 0,
    candidates: int = 0,
    notes: Sequence[str] = (),
) -> Solution:
    """The answer that publishes `nodes_of_tuple[t, j]`; classes that break a model are suppressed.

    Raises `NoSolution` if that takes more rows than the problem allows.
    """
    domain = problem.domain
    class_of, nodes = number_classes(nodes_of_tuple)
    whole = recoding_from_nodes(domain, np.append(class_of, -1)[domain.tuple_of_row].astype(np.int32), nodes)
    # Nodes of different levels can have one label: what is published alike is one class.
    by_label = whole.class_of_group
    unsafe = PartitionJudge(problem).unsafe(by_label[class_of], len(nodes))[by_label]
    class_of = np.where(unsafe[class_of], -1, class_of)
    gone = int(domain.counts[class_of < 0].sum())
    if gone > problem.max_suppressed_rows:
        wanted = " ".join(model.explain() for model in problem.models)
        raise NoSolution(
            f"The release of {name!r} would suppress {gone:,} rows, and {problem.max_suppressed_rows:,} may be: "
            f"{wanted}",
            advice=["loosen the privacy models", "allow more rows to be suppressed", "allow higher levels"],
        )
    group_of_row = np.append(class_of, -1)[domain.tuple_of_row].astype(np.int32)
    recoding = replace(whole, group_of_row=group_of_row)
    return Solution(
        name, recoding, release_score(problem, recoding), optimal=optimal, judged=judged, candidates=candidates,
        notes=tuple(notes),
    )  # fmt: skip


def release_score(problem: Problem, recoding: Recoding) -> float:
    """The problem's metric of a release, `loss` where it is not defined for the release."""
    losses = release_losses(problem.domain, recoding, problem.weights)
    return losses.get(problem.metric.name, losses["loss"])
