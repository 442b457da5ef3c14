"""A stand-in for the one-question survey of the papers appended to Martínez 2010 (IPMU and MDAI), which is not public.

It has exactly the repetition profile that the IPMU paper prints (its Table 1: 975 records, 221 different answers, 84 of
them unique). The answers are words of our own: those of the two-question stand-in and further ones of their groups.
"""

from __future__ import annotations

import numpy as np

from kanopy._table.survey import words

PROFILE = {1: 84, 2: 9, 3: 6, 4: 24, 5: 23, 6: 37, 7: 12, 8: 1, 9: 2, 11: 7, 12: 5, 13: 1, 15: 5, 16: 2, 18: 2, 19: 1}
"""Table 1 of the IPMU paper: how often an answer was given, and how many different answers were given so often."""

_WORDS = """
    mountain valley hill meadow garden park waterfall pond stream bay delta lagoon sky star rain wind snow climate
    sun moon fog rainbow cave rock sand mud swamp reef heron stork gull swan goose owl hawk pigeon crow cow sheep
    goat dog cat fox deer rabbit snake lizard turtle toad spider bee ant dragonfly crab eel trout carp salmon grass
    reed willow oak pine palm rose lily fern moss seaweed herb kayak yacht ferry raft diving snorkeling surfboard
    kite rowing port lighthouse wave tide pier tennis football basketball volleyball jogging gymnastics skating
    climbing camping picnic archery riding exercise yoga spa meditation leisure tourism excursion trip tour visit
    journey adventure pleasure theater opera dance concert cinema book poetry sculpture castle tower bridge ruin
    village market craft tradition folklore language bread cheese oil fruit orange lemon tomato soup lunch breakfast
    tea coffee beer cake paella mother father grandmother brother neighbor couple
"""
FURTHER = tuple(_WORDS.split())


def one_question(seed: int = 0) -> list[str]:
    """The answers of 975 people to one question, shuffled.

    >>> from collections import Counter
    >>> given = Counter(one_question())
    >>> len(given), sum(given.values()), sum(count == 1 for count in given.values())
    (221, 975, 84)
    """
    rng = np.random.default_rng(seed)
    vocabulary = np.array([*words(), *(word for word in FURTHER if word not in words())])
    counts = np.repeat(list(PROFILE), list(PROFILE.values()))[::-1]
    chosen = rng.choice(vocabulary, len(counts), replace=False)
    records = np.repeat(chosen, counts)
    return [str(answer) for answer in rng.permutation(records)]
