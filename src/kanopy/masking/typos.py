"""Answers written wrongly, and the frequent answer of the same column that is meant.

Candidates are found by leaving letters out on both sides (as in SymSpell), so that no answer is compared with all
others; what counts is the number of letters that were left out, added, changed or exchanged with their neighbour
(Damerau 1964).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SHORTEST, SHORT, LONG = 3, 8, 60
"""Shorter answers have no typos; below 8 letters one letter may be wrong, up to 60 two, beyond that nobody can tell."""


def wrong_letters(first: str, second: str, most: int) -> int:
    """How many letters are left out, added, changed or exchanged with a neighbour; `most + 1` if it is more.

    >>> wrong_letters("baech", "beach", 2), wrong_letters("bech", "beach", 2), wrong_letters("wine", "beach", 2)
    (1, 1, 3)
    """
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(second, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, above = above, row
    return min(above[-1], most + 1)


def allowed(text: str) -> int:
    """How many letters of an answer may be wrong.

    >>> [allowed(text) for text in ("tv", "wine", "swimming", "x" * 100)]
    [0, 1, 2, 0]
    """
    if not SHORTEST <= len(text) <= LONG:
        return 0
    return 1 if len(text) < SHORT else 2


def meant_answers(rare: Iterable[str], frequent: Mapping[str, int]) -> dict[str, list[str]]:
    """For each rare text the frequent ones that it may be a typo of: fewest wrong letters first, then most people.

    Digits and the first letter of three are never taken for typos: `level 1` is not `level 2`, `bus` not `pus`.

    >>> meant_answers(["baech", "wien", "wine bar", "level 2"], {"beach": 9, "wine": 7, "level 1": 8})
    {'baech': ['beach'], 'wien': ['wine']}
    """
    index: dict[str, list[str]] = {}
    for text in frequent:
        for shorter in _shortened(text, allowed(text)):
            index.setdefault(shorter, []).append(text)
    meant_by: dict[str, list[str]] = {}
    lengths = {len(text) + more for text in frequent for more in (-2, -1, 0, 1, 2)}
    for text in rare:
        if len(text) > LONG + 2 or len(text) not in lengths:
            continue
        near: dict[str, int] = {}
        for shorter in _shortened(text, allowed(text + "x")):
            for other in index.get(shorter, ()):
                if other != text and other not in near and _may_mean(text, other):
                    near[other] = wrong_letters(text, other, allowed(other))
        fits = [other for other, wrong in near.items() if wrong <= allowed(other)]
        if fits:
            meant_by[text] = sorted(fits, key=lambda other: (near[other], -frequent[other], other))
    return meant_by


def _may_mean(text: str, other: str) -> bool:
    if re.findall(r"\d+", text) != re.findall(r"\d+", other):
        return False
    return len(other) > SHORTEST or text[:1] == other[:1]


def _shortened(text: str, most: int) -> set[str]:
    """The text without up to so many of its letters."""
    shortened, last = {text}, {text}
    for _ in range(min(most, len(text) - 1)):
        last = {text[:at] + text[at + 1 :] for text in last for at in range(len(text))}
        shortened |= last
    return shortened
