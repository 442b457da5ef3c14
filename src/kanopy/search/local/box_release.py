"""From a partition of laid-out rows to a release: what may be left over, classes made safe, the answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import NoSolution
from kanopy._progress import Progress
from kanopy.search.local.best.safety import BoxSpace
from kanopy.search.local.boxes import FORBIDDEN, Layout, box_levels, class_runs, lay_out
from kanopy.search.merging import unite_unsafe
from kanopy.search.no_solution import more_suppression
from kanopy.search.partition_solution import check_k, release
from kanopy.search.problem import Problem
from kanopy.search.solution import Solution


def placeable_layout(problem: Problem, progress: Progress) -> Layout:
    """A problem laid out, once `check_placeable` has nothing against it."""
    progress("laying out")
    layout = lay_out(problem)
    check_placeable(layout, problem)
    return layout


def check_placeable(layout: Layout, problem: Problem) -> int:
    """How many rows no class can hold: level limits keep them apart from all but fewer than k others.

    Raises `NoSolution` if the problem does not allow that many to be suppressed.
    """
    k = problem.k
    check_k(k, len(layout.rows))
    rows = np.bincount(layout.stratum, weights=layout.counts).astype(np.int64)
    lost = int(rows[rows < k].sum())
    if lost > problem.max_suppressed_rows:
        domain, highest = problem.domain, problem.lattice.highest
        capped = [
            name
            for name, h, top in zip(domain.names, domain.hierarchies, highest, strict=True)
            if h.level(top).size > 1
        ]
        raise NoSolution(
            f"At the highest levels allowed, {lost:,} rows are alike to fewer than k = {k} rows, and "
            f"{problem.max_suppressed_rows:,} may be suppressed.",
            advice=[
                f"let {', '.join(capped)} be generalized further (a higher level, or '*' on top)",
                more_suppression(lost, domain.rows),
            ],
        )
    return lost


def made_safe(layout: Layout, class_of: Ints, problem: Problem) -> tuple[Ints, int]:
    """The same classes, those that a model finds unsafe united with others; and how many were."""
    sizes = np.bincount(class_of[class_of >= 0])
    if problem.of_sizes and not ((sizes > 0) & (sizes < problem.k)).any():
        return class_of, 0
    return unite_unsafe(BoxSpace(layout), class_of, problem)


def release_classes(
    name: str, layout: Layout, class_of: Ints, problem: Problem, judged: int = 0, notes: Sequence[str] = ()
) -> Solution:
    """The answer that publishes each class of items (-1: suppressed) at the lowest labels that its rows share.

    Classes that a model finds unsafe are united with the class whose loss grows least; classes with the same labels
    count as one.
    """
    notes = list(notes)
    class_of, united = made_safe(layout, class_of, problem)
    if united:
        notes.append(f"{united} classes were united with their nearest to satisfy the privacy models.")
    order, starts = class_runs(class_of)
    record = layout.record_of_item[order]
    levels, weights = box_levels(layout.boxes, record, starts)
    sizes = np.diff(np.append(starts, len(order)))
    if (weights >= FORBIDDEN).any():
        raise AssertionError(f"{name} broke a class")  # pragma: no cover - a defect, never an answer
    dense = np.full(len(class_of), -1, np.int32)
    dense[order] = np.repeat(np.arange(len(starts), dtype=np.int32), sizes)
    recoding = layout.recoding(dense, record[starts], levels)
    return release(name, problem, recoding, judged=judged, notes=notes)
