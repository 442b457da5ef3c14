"""Top-down splitting by hierarchy into chunks small enough for quadratic work."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Longs
from kanopy.search.local.boxes import Layout, run_starts
from kanopy.search.local.boxes_kernel import LEVELS, VALUES, level_tables
from kanopy.search.local.chunking_kernel import chunk, make_parts


def chunk_records(layout: Layout, rows: int, k: int) -> tuple[Longs, Longs]:
    """Split the records into chunks of about `rows` rows, each of at least `k`: an order and where chunks start.

    A part is split along the attribute where going one level down saves most weight; children with few rows stay
    together. Parts that no attribute splits are cut in the middle. Strata are never joined; those with
    fewer than `k` rows are left out.
    """
    order = np.argsort(layout.stratum, kind="stable")
    stratum = layout.stratum[order]
    begins = run_starts(stratum)
    ends = np.append(begins[1:], len(order))
    enough = np.add.reduceat(layout.counts[order], begins) >= k
    if not enough.all():
        # Strata with too few rows hold no class: the order goes on without them.
        order = order[np.repeat(enough, ends - begins)]
        lengths = (ends - begins)[enough]
        ends = np.cumsum(lengths)
        begins = ends - lengths
    parts = make_parts(layout.records, int(layout.boxes.head[:, VALUES].max(initial=1)))
    parts.stack[: len(begins), 0], parts.stack[: len(begins), 1] = begins, ends
    starts = np.zeros(len(order) + 1, np.int64)
    count = chunk(layout.boxes, layout.counts, order, len(begins), rows, max(k, rows // 8), parts, starts)
    starts[count] = len(order)
    return order, np.sort(starts[: count + 1])


def some_rows(layout: Layout, rows: int, k: int) -> Longs:
    """About so many rows of the table in whole chunks, evenly spread over it: neighbours stay together.

    Classes lie within chunks, so what a search loses on some of them is about what it loses on all.
    """
    order, starts = chunk_records(layout, max(100, 4 * k), k)
    chunks = len(starts) - 1
    wanted = min(chunks, max(1, round(chunks * rows / max(1, len(layout.rows)))))
    chosen = (np.arange(wanted) * 2 + 1) * chunks // (2 * wanted)
    records = np.concatenate([order[starts[number] : starts[number + 1]] for number in chosen.tolist()])
    here = np.zeros(layout.records, np.bool_)
    here[records] = True
    return np.sort(layout.rows[here[layout.record_of_item]])


def shuffled_order(layout: Layout, generator: np.random.Generator) -> Longs:
    """The records sorted by their generalized values, attributes and levels mixed at random, broad before fine.

    Records that agree in most of what is compared first stand close together; several such orders find nearly all
    near pairs without comparing all pairs.
    """
    boxes = layout.boxes
    left = [int(levels) - 1 for levels in boxes.head[:, LEVELS]]
    keys = []
    while any(left):
        j = int(generator.choice([j for j, count in enumerate(left) if count]))
        left[j] -= 1
        keys.append(level_tables(boxes, j)[0][left[j], boxes.tuples[:, j]])
    if not keys:
        return np.arange(layout.records)
    packed = np.zeros(layout.records, np.int64)
    room = 1
    columns = []
    for key in keys:
        span = int(key.max()) + 1
        if room * span >= 2**62:
            columns.append(packed)
            packed, room = np.zeros(layout.records, np.int64), 1
        packed = packed * span + key
        room *= span
    columns.append(packed)
    return np.lexsort(columns[::-1]) if len(columns) > 1 else np.argsort(packed, kind="stable")
