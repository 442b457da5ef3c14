"""Whether a text names somebody: lists of names, and the words that stand before one."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
MOST_NAMES = 4
"""More words in a row are no name."""
PARTICLES = frozenset(
    "van von der den de del della di da dos du la le el al bin ibn ben y e zu ter ten ní ó".split()  # noqa: SIM905
)
"""Small words within names."""
_NAME = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_INITIAL = re.compile(r"[^\W\d_]\.")


@cache
def given_names() -> frozenset[str]:
    """First names that are hardly ever anything else, in lower case."""
    return frozenset((DATA / "given_names.txt").read_text(encoding="utf-8").split())


@cache
def listed(name: str) -> frozenset[str]:
    """One of the lists of words by which texts that point at somebody are found, with and without accents."""
    words = tomllib.loads((DATA / "personal_words.toml").read_text(encoding="utf-8"))[name].split()
    return frozenset(words) | frozenset(map(_without_accents, words))


def names_somebody(words: list[str], is_word: Callable[[str], bool] = lambda word: False) -> bool:
    """Whether words name a person; `is_word` tells words of the language, which the lists of names do not know.

    >>> [names_somebody(text.split()) for text in ("Wei Zhang", "rahul gupta", "ask Tom", "dr. müller", "J. Smith")]
    [True, True, True, True, True]
    >>> names_somebody(["Rose", "Miller"]), names_somebody(["Rose", "Garden"]), names_somebody(["my", "son", "Leo"])
    (True, False, True)
    >>> names_somebody(["Wilson", "Disease"], lambda word: word == "disease")
    False
    """
    bare = [word.strip(".,;:!?\"'()").removesuffix("'s") for word in words]
    small = [word.casefold() for word in bare]
    if len(bare) <= MOST_NAMES and all(map(_NAME.fullmatch, bare)) and _is_name(bare, small, is_word):
        return True
    for at, word in enumerate(bare):
        after = bare[at + 1] if at + 1 < len(bare) else ""
        capital = _is_capital(after) and bool(_NAME.fullmatch(after))
        if small[at] in listed("titles") and capital and (_is_capital(word) or at == 0):
            return True
        if is_given_name(small[at]) and _is_capital(word):
            return True
        if small[at] in listed("before_names") and (at > 0 or not _is_capital(word)):
            if _may_be_name(after.casefold()) and (capital or is_given_name(after.casefold())):
                return True
            if capital and not is_word(after.casefold()):
                return True
        initial = _INITIAL.fullmatch(words[at]) and _is_capital(words[at])
        if initial and (capital or (at == 1 == len(bare) - 1 and is_given_name(small[0]))):
            return True
    return False


def _is_name(bare: list[str], small: list[str], is_word: Callable[[str], bool]) -> bool:
    """Whether a short text is a name as a whole."""
    is_known_name = [is_given_name(word) or word in listed("family") for word in small]
    capitals = all(_is_capital(word) or word in PARTICLES for word in bare)
    if len(bare) == 1:
        return is_given_name(small[0]) or (is_known_name[0] and capitals) or bare[0].startswith("O'")
    if len(bare) == 2 and small[0] in listed("titles") - {"miss", "sir"}:
        return True
    others = [word for word, sure in zip(small, is_known_name, strict=True) if not sure and word not in PARTICLES]
    if any(is_known_name) and (capitals or len(bare) == 2):
        return not any(is_word(word) and not _may_be_name(word) for word in others)
    return capitals and len(bare) == 2 and all(map(_may_be_name, small))


def is_given_name(word: str) -> bool:
    """Whether a word in small letters is a first name, or begins with one and a hyphen.

    >>> is_given_name("maria"), is_given_name("jean-luc"), is_given_name("airport")
    (True, True, False)
    """
    first = word.split("-")[0]
    return any(
        spelling in given_names() or spelling in listed("given") for spelling in (word, first, _without_accents(word))
    )


def _may_be_name(word: str) -> bool:
    return word in listed("also_names") or word in listed("family") or is_given_name(word)


def _is_capital(word: str) -> bool:
    """Whether a word begins with a capital, or is written in letters that have none."""
    return word[:1].isupper() or (word[:1].isalpha() and word[:1].lower() == word[:1].upper())


def _without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
