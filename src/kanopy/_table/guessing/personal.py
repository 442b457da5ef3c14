"""What a single text points at: a person, a place of theirs, a number of theirs. For answers that people typed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kanopy._table.guessing.values import DATES, MISSING_WORDS, PATTERNS

NAMES = Path(__file__).resolve().parents[2] / "data" / "given_names.txt"
NUMBER, DATE, LONG, PERSON, PLACE = "a number", "a date", "a long text", "a person's name", "a place's name"
KINDS = dict(zip(
    ("email", "web", "uuid", "hash", "ip", "mac", "iban", "ssn", "phone", "coordinates", "address",
     "date", "number", "person", "place", "long"),
    (*(says for says, _ in PATTERNS), DATE, NUMBER, PERSON, PLACE, LONG),
    strict=True,
))  # fmt: skip
"""What may be found in a text: short names, and in words."""
MOST_WORDS, MOST_NAMES = 10, 4
LONGEST_ANSWER = 80
"""More words or letters are a text of somebody's own, not an answer that others give too."""
LONGEST_WINDOW = 6
"""Telephone numbers and IBANs are written in up to so many groups."""
NO_ANSWERS = MISSING_WORDS | frozenset({
    "none", "nothing", "nil", "nada", "nichts", "rien", "niente", "no comment", "no comments", "no reply", "no idea",
    "nothing special", "nothing in particular", "nothing else", "none at all", "not sure", "idk", "i don't know",
    "i dont know", "i do not know", "no opinion", "n/r", "nr", "dk", "*", "x", "xx", "xxx", ".", "...", "…", "/",
})  # fmt: skip
"""Texts that answer nothing, in lower case and without a full stop."""

_PATTERNS = tuple((says, re.compile(pattern)) for says, pattern in PATTERNS)
_DATES = re.compile(DATES)
_NUMBER = re.compile(r"^[\W_]*\d[\d\s.,:/%€$£+'()-]*$")
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "herr", "frau", "señor", "señora", "mme", "sra"})
_HONOURED = re.compile(r"[^\W\d_]+")


@cache
def given_names() -> frozenset[str]:
    """First names that are hardly ever anything else, in lower case."""
    return frozenset(NAMES.read_text(encoding="utf-8").split())


def first_names(texts: Sequence[str]) -> float:
    """The share of texts that are a first name, alone or with one to three other words: `Ann`, `Ann Lee`, `Lee, Ann`.

    >>> first_names(["Anna Müller", "Weber, Hans", "Hans", "New York"]), first_names([])
    (0.75, 0.0)
    """
    names = given_names()
    parts = [[word.strip(".,") for word in text.split()] for text in texts]
    named = [words for words in parts if len(words) <= MOST_NAMES and any(word.casefold() in names for word in words)]
    return sum(all(word[:1].isupper() for word in words) for words in named) / max(len(texts), 1)


def folded(text: str) -> str:
    """A text as it is compared: small letters, single blanks, no signs around it.

    >>> folded("  The  Beach! "), folded("N/A"), folded("...")
    ('the beach', 'n/a', '...')
    """
    plain = " ".join(text.casefold().split())
    return plain.strip(" .,;:!?\"'()[]") or plain


def answers_nothing(text: str) -> bool:
    """Whether a text says that there is no answer.

    >>> answers_nothing("N/A"), answers_nothing("Nothing."), answers_nothing("no parking")
    (True, True, False)
    """
    plain = " ".join(text.casefold().split())
    return plain in NO_ANSWERS or folded(text) in NO_ANSWERS or not any(c.isalnum() for c in text)


def found_in(text: str) -> str:
    """What kind of thing is in a text that may point at somebody; nothing if it is an answer like others.

    >>> [found_in(text) for text in ("to ada@example.org", "call me: +34 600 123 456", "12 Elm Street", "about 7")]
    ['an e-mail address', 'a telephone number', 'a street address', '']
    >>> found_in("Maria Lopez"), found_in("mein Nachbar Jürgen Schmidt"), found_in("Nature Reserve"), found_in("7,5")
    ("a person's name", "a person's name", '', 'a number')
    """
    plain = " ".join(text.split())
    words = plain.split(" ")
    windows = [plain] if len(words) == 1 else [plain, *words]
    if any(c.isdigit() for c in plain) and len(words) <= 60:
        sizes = range(2, min(LONGEST_WINDOW, len(words) - 1) + 1)
        windows += [" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)]
    bare = [window.strip(",;:!?\"'<>").rstrip(".") for window in windows if len(window) <= 200]
    for says, pattern in _PATTERNS:
        if any(pattern.match(window) for window in bare):
            return says
    if _DATES.match(plain):
        return DATE
    if _NUMBER.match(plain):
        return NUMBER
    if _names_somebody(words):
        return PERSON
    return LONG if len(words) > MOST_WORDS or len(plain) > LONGEST_ANSWER else ""


def _names_somebody(words: list[str]) -> bool:
    """A first name, or a title, with a capitalised word behind it; or a first name alone."""
    bare = [word.strip(".,;:!?\"'()").removesuffix("'s") for word in words]
    names = given_names()
    for at, word in enumerate(bare):
        following = bare[at + 1] if at + 1 < len(bare) else ""
        capital = following[:1].isupper() and _HONOURED.fullmatch(following.replace("-", "").replace("'", ""))
        if word.casefold() in _TITLES and capital and (word[:1].isupper() or at == 0):
            return True
        if word.casefold() in names and word[:1].isupper() and (capital or len(bare) == 1 or at > 0):
            return True
        # All small letters, as on telephones: only two names in a row are clear.
        if word in names and len(bare) == 2 and at == 0 and bare[1].isalpha():
            return True
    return False
