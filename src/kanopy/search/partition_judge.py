"""The judge of recodings that are no single candidate of the lattice: any partition of the distinct tuples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanopy.classes import Classes, Histogram, Ints, Longs, Recoding, recoding_from_nodes
from kanopy.errors import NoSolution
from kanopy.metrics.release import release_losses
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution

Mask = npt.NDArray[np.bool_]


class PartitionJudge:
    """Asks the models of a problem about classes that are sets of distinct tuples.

    For models that judge one class at a time (`Problem.require_local` refuses the others).

    >>> from kanopy.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> values, counts = np.arange(3, dtype=np.int32)[:, None], np.array([1, 2, 1])
    >>> one = Domain(("l",), (tree,), values, counts, np.array([0, 1, 1, 2]))
    >>> PartitionJudge(Problem(one, [KAnonymity(2)])).unsafe(np.array([0, 0, 1]), 2).tolist()
    [False, True]
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.counts: Longs = problem.domain.counts
        evidence = problem.evidence
        self._histogram = evidence.tuples().histogram if evidence.columns else None

    def sizes(self, class_of_tuple: npt.NDArray[np.integer], count: int) -> Longs:
        """Rows per class; tuples of class -1 are left out."""
        return self._sum(self.counts, class_of_tuple, count)

    def unsafe(self, class_of_tuple: npt.NDArray[np.integer], count: int) -> Mask:
        """Which classes some model finds unsafe; classes without rows are safe."""
        sizes = self.sizes(class_of_tuple, count)
        classes = Classes(sizes, histograms=self._histograms(class_of_tuple, count), facts=self.problem.evidence.facts)
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
        classes = Classes(sizes, histograms=histograms, facts=self.problem.evidence.facts)
        wrong = sizes < self.problem.k
        for model in self.problem.models:
            wrong |= model.violated(classes)
        return np.asarray(wrong & (sizes > 0), np.bool_)

    def _histograms(self, class_of_tuple: npt.NDArray[np.integer], count: int) -> dict[str, Histogram]:
        if self._histogram is None:
            return {}
        table = np.zeros((count, self._histogram.shape[1]), np.int64)
        used = class_of_tuple >= 0
        np.add.at(table, class_of_tuple[used], self._histogram[used])
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


def number_classes(nodes: Ints) -> tuple[npt.NDArray[np.int64], Ints]:
    """Per tuple the number of its class (equal nodes, equal class), and the nodes of each class."""
    distinct, number = np.unique(nodes, axis=0, return_inverse=True)
    return number.reshape(-1).astype(np.int64), distinct.astype(np.int32)


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
    unsafe = PartitionJudge(problem).unsafe(class_of, len(nodes))
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
    recoding = recoding_from_nodes(domain, group_of_row, nodes)
    return Solution(
        name, recoding, release_score(problem, recoding), optimal=optimal, judged=judged, candidates=candidates,
        notes=tuple(notes),
    )  # fmt: skip


def release_score(problem: Problem, recoding: Recoding) -> float:
    """The problem's metric of a release, `loss` where it is not defined for the release."""
    losses = release_losses(problem.domain, recoding, problem.weights)
    return losses.get(problem.metric.name, losses["loss"])
