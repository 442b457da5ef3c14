"""Average linkage over a matrix of similarities, by chains of nearest neighbours: quadratic time, exact."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel


def _average_linkage_plain(similarity: Floats, weights: Longs) -> tuple[Ints, Floats]:
    size = len(weights)
    own = similarity.copy()
    np.fill_diagonal(own, -np.inf)
    weight = weights.astype(np.float64)
    alive = np.ones(size, bool)
    merges = np.empty((size - 1, 2), np.int32)
    heights = np.empty(size - 1)
    chain: list[int] = []
    for step in range(size - 1):
        if not chain:
            chain.append(int(np.argmax(alive)))
        while True:
            last = chain[-1]
            row = np.where(alive, own[last], -np.inf)
            best = int(np.argmax(row))
            if len(chain) > 1 and row[chain[-2]] >= row[best]:
                best = chain[-2]
                break
            chain.append(best)
        a, b = min(last, best), max(last, best)
        merges[step] = a, b
        heights[step] = own[a, b]
        del chain[-2:]
        joined = (weight[a] * own[a] + weight[b] * own[b]) / (weight[a] + weight[b])
        own[a, :] = joined
        own[:, a] = joined
        own[a, a] = -np.inf
        weight[a] += weight[b]
        alive[b] = False
    return merges, heights


@kernel(_average_linkage_plain)
def average_linkage(similarity: Floats, weights: Longs) -> tuple[Ints, Floats]:
    """The merges of average linkage: per merge two items (the smaller stands for both from then on) and how similar.

    `similarity` is symmetric and is overwritten by the compiled loop; `weights` says how many values an item stands
    for. Merges come in the order the chains find them, not from the most similar down.
    """
    size = len(weights)
    own = similarity
    weight = weights.astype(np.float64)
    alive = np.ones(size, np.bool_)
    for i in range(size):
        own[i, i] = -np.inf
    merges = np.empty((size - 1, 2), np.int32)
    heights = np.empty(size - 1)
    chain = np.empty(size + 1, np.int32)
    length = 0
    for step in range(size - 1):
        if length == 0:
            first = 0
            while not alive[first]:
                first += 1
            chain[0] = first
            length = 1
        while True:
            last = chain[length - 1]
            best = -1
            highest = -np.inf
            for other in range(size):
                if alive[other] and own[last, other] > highest:
                    highest = own[last, other]
                    best = other
            if length > 1 and own[last, chain[length - 2]] >= highest:
                best = chain[length - 2]
                break
            chain[length] = best
            length += 1
        a, b = min(last, best), max(last, best)
        merges[step, 0] = a
        merges[step, 1] = b
        heights[step] = own[a, b]
        length -= 2
        total = weight[a] + weight[b]
        for other in range(size):
            joined = (weight[a] * own[a, other] + weight[b] * own[b, other]) / total
            own[a, other] = joined
            own[other, a] = joined
        own[a, a] = -np.inf
        weight[a] = total
        alive[b] = False
    return merges, heights
