"""From a partition of laid-out rows to a release: what may be left over, classes made safe, the answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import NoSolution
from kanopy.search.judge import ClassJudge
from kanopy.search.local.best.safety import joining_growth, unite_unsafe
from kanopy.search.local.boxes import FORBIDDEN, Layout, box_levels, class_runs
from kanopy.search.problem import Problem
from kanopy.search.release import check_k, release
from kanopy.search.solution import Solution

MANY_CLASSES = 2_000
"""Up to so many classes, unsafe ones look for their partner among all."""


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
                f"allow at least {lost:,} rows to be suppressed",
            ],
        )
    return lost


def unite_nearby(layout: Layout, class_of: Ints, problem: Problem, reach: int) -> tuple[Ints, int]:
    """Unite classes that a model finds unsafe with the best of those whose numbers are at most `reach` away.

    For large tables whose classes are numbered so that near ones are alike: looking at all classes for each unsafe one
    takes time that grows with their square. Also how many were united; those that found no partner stay unsafe.
    """
    judge = ClassJudge(problem)
    united = 0
    while True:
        order, starts = class_runs(class_of)
        sizes = np.diff(np.append(starts, len(order)))
        dense = np.full(len(class_of), -1, np.int32)
        dense[order] = np.repeat(np.arange(len(starts), dtype=np.int32), sizes)
        group_of_row = np.full(problem.domain.rows, -1, np.int32)
        group_of_row[layout.rows] = dense
        unsafe = np.flatnonzero(judge.unsafe_groups(group_of_row, len(starts)))
        record = layout.record_of_item[order]
        levels, weights = box_levels(layout.boxes, record, starts)
        reps = record[starts]
        target = np.arange(len(starts) + 1, dtype=np.int32)
        target[-1] = -1
        taken = np.zeros(len(starts), np.bool_)
        for c in unsafe:
            if taken[c]:
                continue
            first = max(0, int(c) - reach)
            near = slice(first, int(c) + reach + 1)
            growth = joining_growth(layout, reps[near], levels[near], weights[near], sizes[near], int(c) - first)
            # A class that took another, or was taken, is judged again in the next round.
            growth[taken[near]] = np.inf
            into = first + int(np.argmin(growth))
            if np.isfinite(growth[into - first]):
                target[c] = into
                taken[c] = taken[into] = True
        found = int(taken.sum()) // 2
        if not found:
            return class_of, united
        united += found
        class_of = target[dense]


def release_classes(
    name: str,
    layout: Layout,
    class_of: Ints,
    problem: Problem,
    *,
    reach: int = 0,
    judged: int = 0,
    notes: Sequence[str] = (),
) -> Solution:
    """The answer that publishes each class of items (-1: suppressed) at the lowest labels that its rows share.

    Classes that a model finds unsafe are united with the class whose loss grows least; classes with the same labels
    count as one. With `reach`, and many classes, partners are first looked for among classes with near numbers.
    """
    notes = list(notes)
    sizes = np.bincount(class_of[class_of >= 0])
    if not problem.of_sizes or ((sizes > 0) & (sizes < problem.k)).any():
        nearby = 0
        if reach and len(sizes) > MANY_CLASSES:
            class_of, nearby = unite_nearby(layout, class_of, problem, reach)
        class_of, united = unite_unsafe(layout, class_of, problem)
        united += nearby
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
