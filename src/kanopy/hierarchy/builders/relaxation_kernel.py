"""Top-down binary splitting by relaxation error (Chu and Chiang 1994), with exact ties.

D(C) = Σᵢ Σⱼ cᵢ cⱼ |xᵢ − xⱼ| over the rows of C; splitting C into A and B leaves D(A)/W(A) + D(B)/W(B), with W the
number of rows. Running sums give D of both parts for every cut in one pass over the node's values.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kanopy._arrays import Longs
from kanopy._compiler import kernel
from kanopy.hierarchy.builders.merging_kernel import compare

Nodes = tuple[Longs, Longs, Longs, Longs]


def _split_plain(position: Longs, counts: Longs, fewest: int, exact: bool) -> Nodes:
    """The definition; `exact` is what it always is."""
    x, c = position.tolist(), counts.tolist()
    nodes: list[tuple[int, int, int]] = []
    leaf_above = np.full(len(x), -1, np.int64)
    stack = [(0, len(x), -1)]
    while stack:
        start, stop, above = stack.pop()
        if stop - start == 1:
            leaf_above[start] = above
            continue
        nodes.append((start, stop - 1, above))
        if stop - start < fewest:
            leaf_above[start:stop] = len(nodes) - 1
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
        stack += [(start, best[1], len(nodes) - 1), (best[1], stop, len(nodes) - 1)]
    first, last, node_above = np.array(nodes, np.int64).reshape(-1, 3).T
    return first, last, node_above, leaf_above


@kernel(_split_plain)
def split_by_relaxation(position: Longs, counts: Longs, fewest: int, exact: bool) -> Nodes:
    """Split ascending values in two, and again, while a part has at least `fewest` values; leftmost cut on ties.

    With `exact` the products must fit 62 bits (rows² · range); otherwise costs are floating point numbers.
    Returns the first and last leaf of the inner nodes and the node above each, in post-order backwards, and the node
    above each leaf.
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
    return node_first[:nodes], node_last[:nodes], node_above[:nodes], leaf_above
