"""The optimal microaggregation of one column: a shortest path over the sorted values (Hansen and Mukherjee 2003)."""

from __future__ import annotations

from kanopy._arrays import Floats, Longs
from kanopy._compiler import kernel


@kernel(makes_arrays=False)
def shortest_path(values: Floats, size: int, cost: Floats, before: Longs) -> None:
    """Fill `cost[i]`, the least squared error of the first i sorted values, and `before[i]`, where their last group is.

    Groups have `size` to 2·size - 1 values. Errors are added up value by value, from the last one down (Welford 1962),
    so that large numbers lose no digits.
    """
    rows = len(values)
    cost[0] = 0.0
    for end in range(1, rows + 1):
        cost[end] = 1e308
        before[end] = 0
        mean = 0.0
        error = 0.0
        longest = min(end, 2 * size - 1)
        for count in range(1, longest + 1):
            gap = values[end - count] - mean
            mean += gap / count
            error += gap * (values[end - count] - mean)
            # A stretch that leaves too few values before it is no last group.
            rest = end - count
            if count >= size and (rest == 0 or rest >= size) and cost[rest] + error < cost[end]:
                cost[end] = cost[rest] + error
                before[end] = rest
