"""Top-down binary splitting by relaxation error (Chu and Chiang 1994), with exact ties.

D(C) = Σᵢ Σⱼ cᵢ cⱼ |xᵢ − xⱼ| over the rows of C; splitting C into A and B leaves D(A)/W(A) + D(B)/W(B), with W the
number of rows. Running sums give D of both parts for every cut in one pass over the node's values.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel
from kanopy.hierarchy.builders.merging_kernel import compare


def _split_plain(position: Longs, counts: Longs, fewest: int, exact: bool) -> tuple[Ints, Ints, Ints]:
    """The definition; `exact` is what it always is."""
    x, c = position.tolist(), counts.tolist()
    ranges: list[tuple[int, int]] = []
    stack = [(0, len(x))]
    while stack:
        start, stop = stack.pop()
        ranges.append((start, stop))
        if stop - start < max(fewest, 2):
            continue
        rows = sum(c[start:stop])
        left_rows = left_sum = left_spread = 0
        right_rows, right_sum = rows, sum(c[i] * x[i] for i in range(start, stop))
        right_spread, seen, total = 0, 0, 0
        for i in range(start, stop):
            right_spread += 2 * c[i] * (x[i] * seen - total)
            seen, total = seen + c[i], total + c[i] * x[i]
        best: tuple[Fraction, int] | None = None
        for i in range(start, stop - 1):
            left_spread += 2 * c[i] * (x[i] * left_rows - left_sum)
            left_rows, left_sum = left_rows + c[i], left_sum + c[i] * x[i]
            right_rows, right_sum = right_rows - c[i], right_sum - c[i] * x[i]
            right_spread -= 2 * c[i] * (right_sum - x[i] * right_rows)
            cost = (Fraction(left_spread, left_rows) + Fraction(right_spread, right_rows), i + 1)
            if best is None or cost < best:
                best = cost
        assert best is not None
        stack.append((start, best[1]))
        stack.append((best[1], stop))
    return _numbered(ranges, len(x))


def _numbered(ranges: list[tuple[int, int]], m: int) -> tuple[Ints, Ints, Ints]:
    """Leaves first, then the inner nodes children before parents and from left to right (post-order)."""
    inner = sorted((r for r in ranges if r[1] - r[0] > 1), key=lambda r: (r[1], -r[0]))
    inner_first = [r[0] for r in inner]
    inner_last = [r[1] - 1 for r in inner]
    parent = [-1] * (m + len(inner))
    open_nodes: list[tuple[int, int, int]] = []
    for leaf in range(m):
        open_nodes.append((leaf, leaf, leaf))
        for node, (start, stop) in enumerate(inner):
            if stop - 1 == leaf:
                while open_nodes and open_nodes[-1][0] >= start:
                    parent[open_nodes.pop()[2]] = m + node
                open_nodes.append((start, stop - 1, m + node))
    first = np.array([*range(m), *inner_first], np.int32)
    last = np.array([*range(m), *inner_last], np.int32)
    return np.array(parent, np.int32), first, last


@kernel(_split_plain)
def split_by_relaxation(position: Longs, counts: Longs, fewest: int, exact: bool) -> tuple[Ints, Ints, Ints]:
    """Split ascending values in two, and again, while a part has at least `fewest` values; leftmost cut on ties.

    With `exact` the products must fit 62 bits (rows² · range); otherwise costs are floating point numbers.
    Returns parents and first and last leaf of each node: leaves first, then inner nodes in post-order.
    """
    m = len(position)
    node_first = np.zeros(m, np.int64)
    node_last = np.zeros(m, np.int64)
    node_above = np.full(m, -1, np.int64)
    leaf_above = np.full(m, -1, np.int64)
    stack_start = np.zeros(m + 1, np.int64)
    stack_stop = np.zeros(m + 1, np.int64)
    stack_above = np.full(m + 1, -1, np.int64)
    stack_stop[0] = m
    depth = 1
    nodes = 0
    whole = np.zeros(2, np.int64)
    num = np.zeros(2, np.int64)
    den = np.ones(2, np.int64)
    # Visiting a node, then its right part, then its left part is post-order backwards.
    while depth > 0:
        depth -= 1
        start, stop, above = stack_start[depth], stack_stop[depth], stack_above[depth]
        if stop - start == 1:
            leaf_above[start] = above
            continue
        node = nodes
        nodes += 1
        node_first[node], node_last[node], node_above[node] = start, stop - 1, above
        if stop - start < fewest:
            for i in range(start, stop):
                leaf_above[i] = node
            continue
        base = position[start]
        cut = start + 1
        if exact:
            seen, total, right_spread = 0, 0, 0
            for i in range(start, stop):
                x = position[i] - base
                right_spread += 2 * counts[i] * (x * seen - total)
                seen += counts[i]
                total += counts[i] * x
            right_rows, right_sum = seen, total
            left_rows, left_sum, left_spread = 0, 0, 0
            for i in range(start, stop - 1):
                x = position[i] - base
                left_spread += 2 * counts[i] * (x * left_rows - left_sum)
                left_rows += counts[i]
                left_sum += counts[i] * x
                right_rows -= counts[i]
                right_sum -= counts[i] * x
                right_spread -= 2 * counts[i] * (right_sum - x * right_rows)
                a, b = left_spread // left_rows, right_spread // right_rows
                n = (left_spread - a * left_rows) * right_rows + (right_spread - b * right_rows) * left_rows
                d = left_rows * right_rows
                carry = n // d
                whole[1], num[1], den[1] = a + b + carry, n - carry * d, d
                if i == start or compare(whole, num, den, 1, 0) < 0:
                    whole[0], num[0], den[0] = whole[1], num[1], den[1]
                    cut = i + 1
        else:
            f_seen, f_total, f_right = 0.0, 0.0, 0.0
            for i in range(start, stop):
                fx = float(position[i] - base)
                f_right += 2.0 * counts[i] * (fx * f_seen - f_total)
                f_seen += counts[i]
                f_total += counts[i] * fx
            f_right_rows, f_right_sum = f_seen, f_total
            f_left_rows, f_left_sum, f_left = 0.0, 0.0, 0.0
            best = np.inf
            for i in range(start, stop - 1):
                fx = float(position[i] - base)
                f_left += 2.0 * counts[i] * (fx * f_left_rows - f_left_sum)
                f_left_rows += counts[i]
                f_left_sum += counts[i] * fx
                f_right_rows -= counts[i]
                f_right_sum -= counts[i] * fx
                f_right -= 2.0 * counts[i] * (f_right_sum - fx * f_right_rows)
                cost = f_left / f_left_rows + f_right / f_right_rows
                if cost < best:
                    best = cost
                    cut = i + 1
        stack_start[depth], stack_stop[depth], stack_above[depth] = start, cut, node
        stack_start[depth + 1], stack_stop[depth + 1], stack_above[depth + 1] = cut, stop, node
        depth += 2
    parent = np.full(m + nodes, -1, np.int32)
    first = np.empty(m + nodes, np.int32)
    last = np.empty(m + nodes, np.int32)
    for i in range(m):
        first[i] = i
        last[i] = i
        if leaf_above[i] >= 0:
            parent[i] = m + nodes - 1 - leaf_above[i]
    for node in range(nodes):
        i = m + nodes - 1 - node
        first[i], last[i] = node_first[node], node_last[node]
        if node_above[node] >= 0:
            parent[i] = m + nodes - 1 - node_above[node]
    return parent, first, last
