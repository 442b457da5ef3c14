"""What a finished partition may still need: suppression where it pays, and classes united for other models."""

from __future__ import annotations

import numpy as np

from kanopy.classes import Classes, Floats, Ints, Longs
from kanopy.errors import NoSolution
from kanopy.search.boxes import FORBIDDEN, Layout, box_levels
from kanopy.search.problem import Problem


def suppress_where_it_pays(layout: Layout, class_of: Ints, k: int, allowed: int) -> Ints:
    """Take single rows out of classes with more than `k` where that saves the others more than the row loses."""
    class_of = class_of.copy()
    record = layout.record_of_item
    order = np.argsort(class_of, kind="stable")
    order = order[np.searchsorted(class_of[order], 0) :]
    cuts = np.flatnonzero(np.diff(class_of[order])) + 1
    options: list[tuple[float, int, int]] = []
    for members in np.split(order, cuts):
        if len(members) <= k:
            continue
        whole = float(box_levels(layout.boxes, record[members], np.zeros(1, np.int64))[1][0])
        distinct = np.unique(record[members])
        if len(distinct) < 2:
            continue
        alone = [item for item in members if (record[members] == record[item]).sum() == 1]
        for item in alone:
            rest = members[members != item]
            weight = float(box_levels(layout.boxes, record[rest], np.zeros(1, np.int64))[1][0])
            gain = len(rest) * (whole - weight) - (layout.suppressed_weight - whole)
            if gain > 1e-12:
                options.append((-gain, int(class_of[item]), int(item)))
    touched: set[int] = set()
    for _, c, item in sorted(options):
        # One row per class: the gain of a second was not measured against the class as it is now.
        if allowed > 0 and c not in touched:
            class_of[item] = -1
            touched.add(c)
            allowed -= 1
    return class_of


def unite_unsafe(layout: Layout, class_of: Ints, problem: Problem) -> tuple[Ints, int]:
    """Unite classes that a model finds unsafe with the class whose loss grows least; also how many were united.

    Classes that publish the same labels are judged as one. Boxes above the highest allowed levels are no option: rows
    of a class that can only go there are suppressed while the problem allows it.
    """
    record = layout.record_of_item
    unit = _same_labels(layout, class_of)
    names = sorted({name for model in problem.models for name in model.sensitive})
    united = 0
    while True:
        order = np.argsort(unit, kind="stable")
        order = order[np.searchsorted(unit[order], 0) :]
        starts = np.flatnonzero(np.concatenate([[True], np.diff(unit[order]) != 0])) if len(order) else order
        number = unit[order[starts]]
        sizes = np.diff(np.append(starts, len(order))).astype(np.int64)
        dense = np.full(len(unit), -1, np.int64)
        dense[order] = np.repeat(np.arange(len(starts)), sizes)
        tables = {name: _histogram(layout, name, dense, len(starts)) for name in names}
        classes = Classes(sizes, histograms=tables, facts=layout.domain.facts)
        unsafe = np.zeros(len(starts), np.bool_)
        for model in problem.models:
            unsafe |= model.violated(classes)
        if not unsafe.any():
            return unit, united
        levels, weights = box_levels(layout.boxes, record[order], starts.astype(np.int64))
        reps = record[order[starts]]
        gone: set[int] = set()
        for c in np.flatnonzero(unsafe):
            if int(c) in gone:
                continue
            growth = joining_growth(layout, reps, levels, weights, sizes, int(c))
            growth[list(gone)] = np.inf
            into = int(np.argmin(growth))
            if not growth[into] < FORBIDDEN:
                rows = int((unit < 0).sum()) + int(sizes[c])
                if rows > problem.max_suppressed_rows:
                    wanted = " ".join(model.explain() for model in problem.models)
                    raise NoSolution(
                        f"No allowed generalization is safe for {int(sizes[c]):,} rows: {wanted}",
                        advice=["loosen the privacy models", "allow rows to be suppressed", "allow higher levels"],
                    )
                unit[unit == number[c]] = -1
                gone.add(int(c))
                continue
            unit[unit == number[c]] = number[into]
            united += 1
            # Both have changed: they are judged again in the next round.
            gone.update((int(c), into))
        unit = _same_labels(layout, unit)


def _same_labels(layout: Layout, class_of: Ints) -> Ints:
    """One number for all classes with the same box."""
    record = layout.record_of_item
    order = np.argsort(class_of, kind="stable")
    order = order[np.searchsorted(class_of[order], 0) :]
    if not len(order):
        return class_of.copy()
    starts = np.flatnonzero(np.concatenate([[True], np.diff(class_of[order]) != 0])).astype(np.int64)
    levels, _ = box_levels(layout.boxes, record[order], starts)
    nodes = np.column_stack(
        [table[levels[:, j], layout.boxes.tuples[record[order[starts]], j]] for j, table in enumerate(layout.nodes)]
    )
    _, number = np.unique(nodes, axis=0, return_inverse=True)
    result = np.full(len(class_of), -1, np.int32)
    result[order] = np.repeat(number.reshape(-1), np.diff(np.append(starts, len(order))))
    return result


def joining_growth(layout: Layout, reps: Ints, levels: Ints, weights: Floats, sizes: Longs, c: int) -> Floats:
    """By how much the cost of each class grows if class `c` joins it (infinite for itself)."""
    boxes = layout.boxes
    joint = np.zeros(len(reps))
    for j in range(boxes.tuples.shape[1]):
        size, count, at, _ = boxes.head[j]
        table = boxes.codes[at : at + size * count].reshape(count, size)
        a, b = boxes.tuples[reps, j], boxes.tuples[reps[c], j]
        agreed = np.zeros(len(reps), np.int32)
        for row in table[:-1]:
            agreed += row[a] != row[b]
        level = np.maximum(np.maximum(agreed, levels[:, j]), levels[c, j])
        joint += boxes.weights[at : at + size * count].reshape(count, size)[level, a]
    growth: Floats = (sizes + sizes[c]) * joint - sizes * weights - sizes[c] * weights[c]
    growth[joint >= FORBIDDEN] = np.inf
    growth[c] = np.inf
    return growth


def _histogram(layout: Layout, name: str, class_of: Longs, classes: int) -> Longs:
    column = next(sensitive for sensitive in layout.domain.sensitive if sensitive.name == name)
    table = np.zeros((classes, len(column.values)), np.int64)
    used = class_of >= 0
    np.add.at(table, (class_of[used], column.code_of_row[layout.rows[used]]), 1)
    return table
