"""Masking that publishes only what may be published: rare values are replaced first, and what an algorithm joins that
does not belong together becomes the neutral value; groups that are then too small lose further values, until none is.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.numbering import distinct_tuples
from kanopy._progress import Progress
from kanopy.masking.exclusion import excluded
from kanopy.masking.masking_result import Masked, Masking
from kanopy.masking.table import TEXT, Attribute, MaskingTable, Plan
from kanopy.masking.targets import LAST_RESORT

JOINED = 0.3
"""So similar are answers that stand for each other where several columns are masked together: a higher floor, as for
one column, would suppress one answer in seven of a survey with two questions instead of one in fifty."""
Values = tuple[int, ...]


def mask_by_plan(
    masking: Masking, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress
) -> Masked:
    """What the algorithm makes of the table once its rare values are replaced by the table's plan."""
    plan = table.plan
    assert plan is not None
    targets = np.column_stack([target[table.tuples[:, j]] for j, target in enumerate(plan.target)]).astype(np.int32)
    sizes = [len(attribute.labels) for attribute in table.attributes]
    tuples, _, of_tuple, _ = distinct_tuples(
        [np.ascontiguousarray(targets[:, j]) for j in range(targets.shape[1])], sizes
    )
    order = np.lexsort(tuples.T[::-1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    of_row = rank[of_tuple][table.tuple_of_row]
    replaced = MaskingTable(
        table.attributes, tuples[order], np.bincount(of_row).astype(np.int64), of_row, table.weights, table.sensitive
    )
    masked = masking.masked(replaced, k, needed, progress)
    rows = masked.codes_of_rows(replaced).copy()
    _keep_apart(table, rows, plan)
    if masking.guarantees_k:
        rng = np.random.default_rng(getattr(masking, "seed", 0))
        _settle(table, rows, plan.neutral, k, needed, rng)
    moves, move_of_row, people = np.unique(
        np.column_stack([table.tuple_of_row, rows]), axis=0, return_inverse=True, return_counts=True
    )
    return replace(
        masked,
        published=np.ascontiguousarray(moves[:, 1:], np.int32),
        origin=moves[:, 0].astype(np.int64),
        people=people.astype(np.int64),
        move_of_row=move_of_row.reshape(-1).astype(np.int32),
    )


def _keep_apart(table: MaskingTable, rows: Ints, plan: Plan) -> None:
    """Put the neutral value where a row would publish something that is not like what it had.

    What the plan says is true, even of what has no meaning of its own: a name is a person's.
    """
    for j, (attribute, target, neutral) in enumerate(zip(table.attributes, plan.target, plan.neutral, strict=True)):
        before = table.tuples[table.tuple_of_row, j].astype(np.int64)
        pairs, inverse = np.unique(np.column_stack([before, rows[:, j]]), axis=0, return_inverse=True)
        alike = attribute.similarities(pairs[:, 0], pairs[:, 1].astype(np.int64)) > 0
        if attribute.kind == TEXT:
            alike &= _true_enough(attribute, pairs, LAST_RESORT if len(table.attributes) == 1 else JOINED)
        alike |= pairs[:, 0] == pairs[:, 1]
        if plan.pinned and (pinned := plan.pinned[j]) is not None:
            alike &= ~pinned[pairs[:, 0]]
        alike |= (pairs[:, 1] == neutral) | (pairs[:, 1] == target[pairs[:, 0]])
        rows[~alike[inverse.reshape(-1)], j] = neutral


def _true_enough(attribute: Attribute, pairs: Longs, least: float) -> Mask:
    """Whether an answer may be published as another: near enough in meaning, and not excluded by it."""
    near = attribute.similarities(pairs[:, 0], pairs[:, 1]) >= least
    texts = [[attribute.labels[code] or "" for code in codes] for codes in pairs.T.tolist()]
    apart = [excluded([one], [other])[0, 0] for one, other in zip(*texts, strict=True)]
    return np.asarray(near & ~np.array(apart, bool), bool)


def _settle(
    table: MaskingTable, rows: Ints, neutral: Values, k: int, needed: Mapping[str, int], rng: np.random.Generator
) -> None:
    """Make groups that are too small lose the values that set them apart, until every group is safe."""
    confidential = [
        (column.code_of_row, needed[column.name]) for column in table.sensitive if needed.get(column.name, 1) > 1
    ]
    groups: dict[Values, Longs] = {}
    distinct, of_row = np.unique(rows, axis=0, return_inverse=True)
    order = np.argsort(of_row.reshape(-1), kind="stable")
    edges = np.searchsorted(of_row.reshape(-1)[order], np.arange(len(distinct) + 1))
    for number, values in enumerate(map(tuple, distinct.tolist())):
        groups[values] = order[edges[number] : edges[number + 1]]

    def unsafe(members: Longs) -> bool:
        return len(members) < k or any(len(np.unique(codes[members])) < need for codes, need in confidential)

    def move(old: Values, new: Values, members: Longs) -> None:
        rows[members] = new
        left = np.setdiff1d(groups.pop(old), members, assume_unique=True)
        if len(left):
            groups[old] = left
        groups[new] = np.concatenate([groups.get(new, members[:0]), members])

    silent = tuple(neutral)
    waiting = [(len(members), values) for values, members in groups.items() if values != silent and unsafe(members)]
    heapq.heapify(waiting)
    while waiting:
        size, values = heapq.heappop(waiting)
        members = groups.get(values)
        if members is None or len(members) != size or not unsafe(members):
            continue
        ways = [(*values[:j], neutral[j], *values[j + 1 :]) for j in range(len(values)) if values[j] != neutral[j]]
        best = max(ways, key=lambda way: len(groups.get(way, ())) if way != silent or len(values) == 1 else -1)
        move(values, best, members)
        if best != silent and unsafe(groups[best]):
            heapq.heappush(waiting, (len(groups[best]), best))
    while silent in groups and unsafe(groups[silent]) and len(groups) > 1:
        lacking = k - len(groups[silent])
        spare = [(len(groups[v]) - k, v) for v in groups if v != silent and len(groups[v]) > k]
        if 0 < lacking <= sum(more for more, _ in spare) and not confidential:
            # Some of the largest groups join, so that no group is lost.
            more, largest = max(spare)
            members = rng.choice(np.sort(groups[largest]), min(lacking, more), replace=False)
            move(largest, silent, np.sort(members))
        else:
            smallest = min((v for v in groups if v != silent), key=lambda v: (len(groups[v]), v))
            move(smallest, silent, groups[smallest])
