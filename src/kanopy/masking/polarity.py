"""Whether an answer affirms or denies: `no parking` is no parking lot, and `bad food` is no good food."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from kanopy.masking.typos import wrong_letters
from kanopy.ontology.senses.labels import NEGATIONS

_LISTED = tomllib.loads(
    (Path(__file__).resolve().parents[1] / "data" / "answer_words.toml").read_text(encoding="utf-8")
)
DENIALS = NEGATIONS | frozenset(_LISTED["deny"].split())
"""Words that deny what follows."""
GOOD = frozenset(_LISTED["good"].split())
BAD = frozenset(_LISTED["bad"].split())
_FREE = re.compile(r"-free\b|\bfree (?:of|from)\b|(?<=\w) free$|\bw/o\b")
_WITHOUT = re.compile(
    rf"{_FREE.pattern}|\btoo (?:little|few)\b|\bgave up\b|\bruled out\b|\b(?:is|are) missing\b|^missing\b"
    r"|[不没無无未]|없|ない|ません"
)
_UPSET = re.compile(
    r"[👎😡😠😞😢😭😤🤮🤢💔☹🙁😒😩😫😖😣🚫❌⛔]|[:=;]['-]?[(/\\\[]|\b(?:problems?|issues?|troubles?) with\b"
)
SENTENCE = frozenset(_LISTED["sentence"].split())
PREFIXES = ("un", "dis", "in", "im", "ir", "il", "non")
_LONG_DENIALS = tuple(word for word in sorted(DENIALS) if len(word) >= 5)
_WORDS = re.compile(r"[^\W\d_]+(?:['’`][^\W\d_]+)?")


def stance(text: str, is_word: Callable[[str], bool] = lambda word: False) -> int:
    """How a text stands to what it speaks of: 0 plainly, or the sum of 1 for a word that denies, 2 for one of
    dislike, and 4 for one that holds its own denial (`unmarried`).

    Texts of different stances never replace each other. `is_word` tells words from typos of words that deny.

    >>> [stance(text) for text in ("parking", "no parking", "don't like wine", "bad food", "not bad", "withot pain")]
    [0, 1, 1, 2, 3, 1]
    >>> stance("unfriendly staff"), stance("HIV negative"), stance("university"), stance("sugar-free")
    (2, 2, 0, 1)
    >>> stance("beach 👎"), stance("painless", lambda word: word == "pain"), stance("playa sucia")
    (2, 4, 2)
    """
    words, small = _words(text), text.lower()
    denied = bool(_WITHOUT.search(small)) or any(denies(word, is_word) for word in words)
    upset = bool(_UPSET.search(small)) or any(_is_bad(word) for word in words)
    return denied + 2 * upset + 4 * any(_denies_itself(word, is_word) for word in words)


def denies(word: str, is_word: Callable[[str], bool] = lambda word: False) -> bool:
    """Whether a word denies what follows it, even if one letter of it is wrong."""
    plain = word.replace("'", "").replace("’", "").replace("`", "")
    if plain in DENIALS or (word != plain and plain.endswith("nt")):
        return True
    return len(plain) >= 5 and _nearly_denies(plain) and not is_word(plain)


def without_denial(text: str, is_word: Callable[[str], bool] = lambda word: False) -> str:
    """What a text denies.

    >>> without_denial("No parking"), without_denial("without any pain"), without_denial("stress-free")
    ('parking', 'any pain', 'stress')
    """
    without = _FREE.sub("", text.lower())
    return " ".join(word for word in _words(without) if not denies(word, is_word))


def _denies_itself(word: str, is_word: Callable[[str], bool]) -> bool:
    if word in DENIALS or _is_bad(word):
        return False
    rests = (word.removeprefix("un"), word.removeprefix("non"), word.removesuffix("less"))
    return any(word != rest and len(rest) >= 4 and is_word(rest) for rest in rests)


def is_sentence(text: str) -> bool:
    """Whether a text tells something rather than names it.

    >>> is_sentence("had an operation last year"), is_sentence("the old town")
    (True, False)
    """
    return not SENTENCE.isdisjoint(_words(text))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]


@lru_cache(maxsize=65_536)
def _nearly_denies(word: str) -> bool:
    return any(wrong_letters(word, denial, 1) <= 1 for denial in _LONG_DENIALS)


@lru_cache(maxsize=65_536)
def _is_bad(word: str) -> bool:
    return word in BAD or any(word.startswith(prefix) and word[len(prefix) :] in GOOD for prefix in PREFIXES)
