"""Utility-based local recoding (Xu, Wang, Pei, Wang, Shi, Fu 2006): groups of least weighted certainty penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Ints, Longs
from kanopy._parameter_types import OneOf
from kanopy._progress import SILENT, Progress
from kanopy.search.local.box_release import placeable_layout, release_classes
from kanopy.search.local.boxes import Layout, box_levels, class_runs, run_starts
from kanopy.search.local.chunks import chunk_records
from kanopy.search.local.halving_kernel import DONE, HEIGHT, halve
from kanopy.search.local.pairing_kernel import join_small
from kanopy.search.solution import About, Algorithm, Seed, Solution

if TYPE_CHECKING:
    from kanopy.search.problem import Problem

DIRECTIONS = ("bottom-up", "top-down")
CHUNK_ROWS = 500
"""Rows among which a group looks for its partner. On Adult, four times as many cost up to 40 % more time and gain half
a per cent."""
STEP_CHUNKS = 16
SLICE_ITEMS = 500_000
"""Chunks merged and rows looked at between two looks at the progress callback."""


@dataclass(frozen=True)
class Xu(Algorithm):
    """Groups of rows by their weighted certainty penalty, bottom-up or top-down.

    *The paper* (Xu et al., KDD 2006) measures a group by its normalized certainty penalty: per row and attribute the
    share of the domain that the published label covers, times the weight (the utility) of the attribute. Bottom-up,
    every row starts as a group; in passes each group below k rows merges with the group that makes the penalty of the
    union least, and groups of 2k rows or more are split. Top-down, two seeds far apart divide the rows in two, each
    row going where it costs less, until groups have fewer than 2k; groups that came out too small then take rows from a
    neighbour or merge with it.

    *What we decided.* Bottom-up compares what a merge *adds* to the penalty of the whole release: the penalty of the
    union alone favours small partners and loses a fifth more on Adult. A group that is still too small after a merge
    goes on at once instead of in the next pass: groups then end nearer to k, which loses 4 % less. A group looks for
    partners among about 500 rows (the table is first divided along its hierarchies): the search over all groups is
    quadratic, and four times as many rows gain half a per cent. Groups of 2k rows or more are divided once, at the
    end, by the top-down rule. Equal rows start as one group. Top-down, a side that is too small takes the rows that
    fit it best from the other side at once, so every group ends up with k to 2k-1 rows (or with rows that are all
    alike), and no search for neighbours is needed. `seed` shuffles the rows for top-down, whose result depends on
    their order; bottom-up has no chance in it. Labels are hierarchy nodes and their penalty the share of the
    hierarchy's values they cover, also for numbers.

    *Guarantee.* Every class satisfies the models, levels lie within their limits, and nothing is suppressed but rows
    that level limits keep apart from all but a few others, where the problem allows it. Heuristic: no bound on the
    loss. Models other than k-anonymity are satisfied by uniting classes at the end.

    *Cost.* Bottom-up grows with rows times 500, top-down with rows times the logarithm of rows over k: a third of a
    second for Adult's 45,222 records at k = 5, some ten seconds for a million.

    *When not to use it.* `best` starts from a similar merging and improves it for as long as you let it. Top-down
    loses two fifths more than bottom-up at small k; it is the quicker one for large k.

    >>> from kanopy.search.example import letters, published
    >>> published(Xu("top-down").solve(letters("acbd")))
    ['x', 'y', 'x', 'y']
    """

    direction: Annotated[str, OneOf(*DIRECTIONS), "merge small groups, or divide large ones"] = "bottom-up"
    seed: Seed = 0
    name, recoding = "xu", "local"
    variants = ({"direction": "top-down"},)
    about = About(
        does="merges the groups whose union loses least, or splits the table between rows that are far apart",
        source="Xu, Wang, Pei, Wang, Shi, Fu 2006", suppresses=False, seeded=True,
    )  # fmt: skip

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Group the rows; groups that other models find unsafe are united with their nearest."""
        layout = placeable_layout(problem, progress)
        if self.direction == "bottom-up":
            class_of = merged_classes(layout, problem.k, progress)
        else:
            class_of = split_classes(layout, problem.k, self.seed, progress)
        return release_classes(self.name, layout, class_of, problem)


def merged_classes(layout: Layout, k: int, progress: Progress = SILENT) -> Ints:
    """Bottom-up: the class of every item, -1 for items that no class can hold."""
    order, starts = chunk_records(layout, max(CHUNK_ROWS, 8 * k), k)
    record, size = order.astype(np.int32), layout.counts[order]
    owner = np.zeros(len(record), np.int32)
    chunks = len(starts) - 1
    for begin in range(0, chunks, STEP_CHUNKS):
        progress("merging", begin / max(1, chunks))
        join_small(layout.boxes, record, size, starts, k, begin, min(chunks, begin + STEP_CHUNKS), owner)
    class_of_record = np.full(layout.records, -1, np.int32)
    class_of_record[order] = owner
    return _with_large_split(layout, np.repeat(class_of_record, layout.counts), k, progress)


def split_classes(layout: Layout, k: int, seed: int, progress: Progress = SILENT) -> Ints:
    """Top-down: the class of every item, -1 for items that no class can hold."""
    shuffled = np.random.default_rng(seed).permutation(len(layout.rows))
    stratum = layout.stratum[layout.record_of_item[shuffled]]
    order = np.argsort(stratum, kind="stable")
    items, stratum = shuffled[order], stratum[order]
    starts = run_starts(stratum)
    sizes = np.diff(np.append(starts, len(items)))
    large = sizes >= k
    opens = np.zeros(len(items), np.bool_)
    _halve_all(layout, items, np.column_stack([starts, starts + sizes])[large], opens, k, progress)
    placed = np.repeat(large, sizes)
    class_of = np.full(len(items), -1, np.int32)
    class_of[items[placed]] = np.cumsum(opens)[placed] - 1
    return class_of


def _with_large_split(layout: Layout, class_of: Ints, k: int, progress: Progress) -> Ints:
    """The classes, those with 2k rows or more divided where that saves anything."""
    order, starts = class_runs(class_of)
    sizes = np.diff(np.append(starts, len(order)))
    levels, _ = box_levels(layout.boxes, layout.record_of_item[order], starts)
    wide = np.flatnonzero((sizes >= 2 * k) & levels.any(axis=1))
    opens = np.zeros(len(order), np.bool_)
    opens[starts] = True
    _halve_all(layout, order, np.column_stack([starts[wide], starts[wide] + sizes[wide]]), opens, k, progress)
    result = np.full(len(class_of), -1, np.int32)
    result[order] = np.cumsum(opens) - 1
    return result


def _halve_all(
    layout: Layout, items: Longs, parts: Longs, opens: npt.NDArray[np.bool_], k: int, progress: Progress
) -> None:
    """Split `items[begin:end]` for every `(begin, end)` of `parts`; `opens` marks where the results begin."""
    stack = np.zeros((len(parts) + len(items) // k + 2, 2), np.int64)
    stack[: len(parts)] = parts
    state = np.array([len(parts), 0], np.int64)
    record = layout.record_of_item
    whole = max(1, int((parts[:, 1] - parts[:, 0]).sum()))
    while state[HEIGHT] > 0:
        progress("splitting", int(state[DONE]) / whole)
        halve(layout.boxes, record, items, stack, state, opens, k, SLICE_ITEMS)
