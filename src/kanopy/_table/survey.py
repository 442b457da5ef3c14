"""A stand-in for the park survey of Martínez 2010, which is not public.

It has exactly the repetition profile the thesis prints (Table 5: 975 records, 211 different pairs of answers, 118 of
them unique). The answers are words of our own choice, paired by a seeded draw in which common answers come up more
often, so numbers that depend on meaning differ from the published ones while everything fixed by group sizes agrees.
"""

from __future__ import annotations

import numpy as np

from kanopy.hierarchy.hierarchy import Hierarchy

PROFILE = {
    1: 118, 2: 26, 3: 20, 4: 9, 5: 10, 7: 3, 8: 2, 9: 3, 10: 2, 11: 3, 13: 2, 14: 1, 15: 1, 17: 2, 18: 1, 19: 1, 23: 1,
    25: 1, 40: 1, 65: 1, 66: 1, 82: 1, 115: 1,
}  # fmt: skip
"""Table 5: how often an answer was given, and how many different answers were given so often."""

ANSWERS: dict[str, tuple[str, ...]] = {
    "nature": ("landscape", "nature", "scenery", "wildlife", "forest", "lake", "river", "coast", "marsh", "island",
               "cliff", "dune", "sunset", "silence"),
    "animals": ("bird", "duck", "eagle", "flamingo", "horse", "fish", "butterfly", "frog"),
    "plants": ("flower", "tree", "orchid", "mushroom"),
    "seaside": ("beach", "sea", "swimming", "sailing", "surfing", "sunbathing", "boat"),
    "sport": ("sport", "walk", "hiking", "cycling", "running", "fishing", "golf", "canoe", "bicycle", "hunting"),
    "rest": ("relaxation", "rest", "tranquility", "holiday", "weekend", "vacation", "sleep"),
    "culture": ("culture", "museum", "monument", "church", "history", "festival", "music", "photography", "painting",
                "architecture"),
    "food": ("gastronomy", "restaurant", "seafood", "wine", "rice", "dinner"),
    "people": ("family", "friend", "child", "wedding", "birthday", "party"),
    "duty": ("work", "business", "school", "research", "conference", "education"),
}  # fmt: skip
"""Words of our own, in the groups of an ad-hoc hierarchy such as a data holder would draw up."""

BROADER = {
    "nature": "outdoors", "animals": "outdoors", "plants": "outdoors", "seaside": "outdoors",
    "sport": "activity", "rest": "leisure", "culture": "leisure", "food": "leisure", "people": "society",
    "duty": "society",
}  # fmt: skip


def words() -> tuple[str, ...]:
    """All answers, most likely first: the groups take turns.

    >>> len(words()), words()[:3]
    (78, ('landscape', 'bird', 'flower'))
    """
    longest = max(map(len, ANSWERS.values()))
    return tuple(group[at] for at in range(longest) for group in ANSWERS.values() if at < len(group))


def ad_hoc_hierarchy() -> Hierarchy:
    """The hierarchy over the answers: three levels above the words (what Fig. 9 of the thesis is to its data).

    >>> ad_hoc_hierarchy().height
    3
    """
    rows = [[word, group, BROADER[group], "*"] for group, members in ANSWERS.items() for word in members]
    return Hierarchy.from_rows(rows, name="reasons")


def survey(seed: int = 0) -> dict[str, list[str]]:
    """The records, shuffled: `reason1` and `reason2`.

    >>> answers = survey()
    >>> len(answers["reason1"]), len(set(zip(answers["reason1"], answers["reason2"])))
    (975, 211)
    """
    rng = np.random.default_rng(seed)
    vocabulary = words()
    likely = 1.0 / np.arange(2, len(vocabulary) + 2)
    likely /= likely.sum()
    counts = sorted((count for count, times in PROFILE.items() for _ in range(times)), reverse=True)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < len(counts):
        first, second = rng.choice(len(vocabulary), 2, replace=False, p=likely)
        pairs.setdefault((int(first), int(second)))
    # Pairs of common words come up first, so they get the large counts.
    records = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    order = rng.permutation(len(records))
    return {
        "reason1": [vocabulary[records[at][0]] for at in order],
        "reason2": [vocabulary[records[at][1]] for at in order],
    }
