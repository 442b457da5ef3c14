"""Words known by the company they keep: which words stand in the same definitions more often than by chance."""

from __future__ import annotations

import numpy as np

from kanopy._arrays import FloatRows, Floats, Ints, Longs
from kanopy._compiler import kernel

RARE = 3
"""Words that stand in so few definitions, or fewer, tell nothing."""
BY_CHANCE = 1.0
"""So much (in nats) must two words meet above chance; only what goes beyond it counts."""


def _gather_plain(
    start: Ints, words: Ints, at: Ints, texts: Ints, wanted: Ints, shares: FloatRows,
    found: FloatRows, meets: Floats, together: Floats, touched: Longs,
) -> None:  # fmt: skip
    length = np.diff(start)
    uses = np.diff(at)
    meets[:] = np.bincount(words, weights=np.repeat(length, length), minlength=len(uses))
    for column, word in enumerate(wanted.tolist()):
        if uses[word] <= RARE:
            continue
        beside = [words[start[text] : start[text + 1]] for text in texts[at[word] : at[word + 1]].tolist()]
        other, joint = np.unique(np.concatenate(beside), return_counts=True)
        above = np.log(joint * meets.sum() / (meets[word] * meets[other])) - BY_CHANCE
        other, above = (one[(above > 0) & (uses[other] > RARE)] for one in (other, above))
        found[:, other] += np.outer(shares[:, column], above / max(float(np.linalg.norm(above)), 1e-12))


@kernel(_gather_plain, makes_arrays=False)
def gather(
    start: Ints, words: Ints, at: Ints, texts: Ints, wanted: Ints, shares: FloatRows,
    found: FloatRows, meets: Floats, together: Floats, touched: Longs,
) -> None:  # fmt: skip
    """`company` with room for what it finds, and three arrays of zeros to work with, one entry per word."""
    total = 0.0
    for text in range(len(start) - 1):
        length = start[text + 1] - start[text]
        total += length * length
        for place in range(start[text], start[text + 1]):
            meets[words[place]] += length
    for column in range(len(wanted)):
        word = wanted[column]
        if at[word + 1] - at[word] <= RARE:
            continue
        few = 0
        for use in range(at[word], at[word + 1]):
            for place in range(start[texts[use]], start[texts[use] + 1]):
                other = words[place]
                if together[other] == 0.0:
                    touched[few] = other
                    few += 1
                together[other] += 1.0
        square = 0.0
        kept = 0
        for i in range(few):
            other = touched[i]
            above = np.log(together[other] * total / (meets[word] * meets[other])) - BY_CHANCE
            if above > 0.0 and at[other + 1] - at[other] > RARE:
                together[other] = above
                square += above * above
                touched[kept] = other
                kept += 1
            else:
                together[other] = 0.0
        norm = square**0.5
        for i in range(kept):
            together[touched[i]] = together[touched[i]] / norm
        for row in range(len(shares)):
            share = shares[row, column]
            if share != 0.0:
                for i in range(kept):
                    found[row, touched[i]] += share * together[touched[i]]
        for i in range(kept):
            together[touched[i]] = 0.0


def company(start: Ints, words: Ints, at: Ints, texts: Ints, wanted: Ints, shares: Floats) -> Floats:
    """Per row of `shares` (how much each of the words `wanted` counts) how much each word goes with these.

    Text `i` holds the words `words[start[i]:start[i + 1]]`, word `j` stands in the texts `texts[at[j]:at[j + 1]]`. Two
    words go together by the logarithm of how much more often than by chance they meet (Church and Hanks 1990), above a
    threshold; each wanted word's company has length 1.
    """
    count = len(at) - 1
    found = np.zeros((len(shares), count))
    room = (np.zeros(count), np.zeros(count), np.zeros(count, np.int64))
    gather(start, words, at, texts, wanted, np.ascontiguousarray(shares), found, *room)
    return found
