"""What a single text points at: a person, a place of theirs, a number of theirs. For answers that people typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache
from unicodedata import category, normalize

from kanopy._table.guessing.person_names import MOST_NAMES, given_names, listed, names_somebody
from kanopy._table.guessing.value_kinds import DATES, MISSING_WORDS, PATTERNS

NUMBER, DATE, LONG, PERSON, PLACE = "a number", "a date", "a long text", "a person's name", "a place's name"
KINDS = dict(zip(
    ("email", "web", "uuid", "hash", "ip", "mac", "iban", "ssn", "phone", "coordinates", "address",
     "date", "number", "person", "place", "long"),
    (*(says for says, _ in PATTERNS), DATE, NUMBER, PERSON, PLACE, LONG),
    strict=True,
))  # fmt: skip
"""What may be found in a text: short names, and in words."""
MOST_WORDS = 10
LONGEST_ANSWER = 80
"""More words or letters are a text of somebody's own, not an answer that others give too."""
LONGEST_SEARCHED, MOST_SEARCHED = 1_000, 100
"""So many letters and words of a text are searched: one that long is never published."""
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
_SMILEY = re.compile(r"[:;=]['-]?[()|/\\\[\]]")
_IBAN = re.compile(r"\b[a-z]{2}\d{2}(?:[\s-]?[a-z0-9]{4}){3,7}(?:[\s-]?[a-z0-9]{1,3})?\b", re.IGNORECASE)
_YEARS = re.compile(r"\b(?:1[5-9]|20)\d\d\s?[-–/]\s?(?:1[5-9]|20)?\d\d\b")
_CAPITALS = "A-ZÀ-ÖØ-ÞĀ-Ž"
_WRITTEN = re.compile(
    rf"\b\d+[a-zA-Z]?,?\s(?:[{_CAPITALS}]\w+\s){{1,3}}(?:Close|Court|Drive|Row|Square|Parade|Gardens|Grove|Rise|Walk)\b"
    rf"|\b(?:[Aa]m|[Ii]m|[Aa]n de[rn]|[Aa]uf de[rm]|[Uu]nter den|[Zz]u[mr]|In der|Hinter der)\s"
    rf"[{_CAPITALS}]\w+\s\d+\s?[a-z]?$"
    rf"|\b[Vv]ia\s[{_CAPITALS}]\w+(?:\s\w+){{0,3}},?\s\d+"
)
"""Street addresses whose words are others in small letters."""
_REACHED = r"tel|telephone|telefon|teléfono|phone|call|mobile|mobil|móvil|handy|cell|whatsapp|fax|sms|text"
_NETWORKS = r"insta(?:gram)?|facebook|fb|twitter|snap(?:chat)?|tiktok|telegram|skype|discord"
_NUMBERED = r"id|patient|case|file|member|customer|account|policy|passport|licen[cs]e|card|ssn|no\.|nr\.?|n[º°]"
_AMONG_WORDS = (
    # As people write what machines shall not read: john (at) mail dot com.
    ("email", r"\w\s?@\s?\w|\w\s?[(\[{]\s?(?:at|a|ät|arroba)\s?[)\]}]\s?\w|\w_at_\w"),
    ("email", r"\w\s(?:at|arroba|chez)\s[\w.-]+\s?(?:\.|\s(?:dot|punkt|punto|point)\s)\s?[a-z]{2,4}\b"),
    ("web", rf"\b[\w-]+\.[a-z]{{2,4}}/\w|(?:^|[\s(:])@\w{{2,}}|https?://|\bwww\.|\b(?:{_NETWORKS})\s?[:=]\s?\w"),
    ("phone", rf"\b(?:{_REACHED})\b\W{{0,3}}(?:[a-z]+\W{{1,3}}){{0,2}}\+?\(?\d(?:[\s()./-]{{0,2}}\d){{5,}}"),
    ("phone", r"(?:\+|\b0)\(?\d(?:[\s()./-]{0,2}\d){6,}"),
    ("number", rf"\d{{5}}|\d(?:[\s./-]?\d){{6}}|\b(?:{_NUMBERED})\W{{0,3}}\d{{2,}}"),
    ("date", r"\b(?:born|birthday|geboren|geb\.|née?|nacid[oa]|nat[oa])\b.*\d{2}"),
)  # fmt: skip
"""What is looked for anywhere in a text, in small letters."""


@cache
def _among_words() -> tuple[tuple[str, re.Pattern[str]], ...]:
    street, before, ending, month, digit = (
        "|".join(sorted(map(re.escape, listed(name)), key=len, reverse=True))
        for name in ("street", "street_before", "street_ending", "months", "digits")
    )
    end = r"(?=$|[,;]|\s\d|\s\w{2}$)"
    number = rf"(?:,|\s(?:no\.?|nr\.?|number|nummer|número|n[º°]))?\s?\d+\s?[a-z]?\b{end}"
    house = r"\b\d+\s?[a-z]?(?:\s(?:bis|ter))?,?\s"
    times = r"(?!(?:hours?|minutes?|mins?|days?|times?|km|miles?|metres?|meters?|stars?|way|lane)\b)"
    made = (
        ("address", rf"{house}{times}(?:[^\W\d]+\.?\s){{1,3}}(?:{street})\b\.?{end}"),
        ("address", rf"\b[^\W\d]+\s(?:{street})\b\.?{number}"),
        ("address", rf"(?:\bc/\s?|\b(?:{before})\b\.?\s)(?:[^\W\d]+\.?,?\s){{1,5}}?{number}"),
        ("address", rf"{house}(?:rue|avenue|boulevard|chemin|allée|impasse|quai|place)\s\w"),
        ("address", rf"[^\W\d]{{2}}[\s-]?(?:{ending})\.?\s\d+\s?[a-z]?\b"),
        ("address", r"\bp\.?\s?o\.?\s?box\s\w|\bpostfach\s\d|\bapartado\s.*\d|^[a-z]{1,2}\d[a-z\d]?\s?\d[a-z]{2}$"),
        ("date", rf"\b\d{{1,2}}(?:\.|st|nd|rd|th)?\s?(?:de\s|of\s)?(?:{month})\b|\b(?:{month})\s\d{{1,2}}\b"),
        ("phone", rf"\b(?:{digit})(?:\s(?:{digit})){{5,}}\b"),
    )  # fmt: skip
    # An address may hold what looks like any number: it is looked for before.
    return tuple(
        (KINDS[kind], re.compile(pattern)) for kind, pattern in (*_AMONG_WORDS[:-2], *made, *_AMONG_WORDS[-2:])
    )


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

    >>> answers_nothing("N/A"), answers_nothing("Nothing."), answers_nothing("no parking"), answers_nothing("👎")
    (True, True, False, False)
    """
    if not any(c.isalnum() for c in text) and (_SMILEY.search(text) or any(category(c) == "So" for c in text)):
        return False
    plain = " ".join(text.casefold().split())
    return plain in NO_ANSWERS or folded(text) in NO_ANSWERS or not any(c.isalnum() for c in text)


def found_in(text: str, is_word: Callable[[str], bool] = lambda word: False) -> str:
    """What kind of thing is in a text that may point at somebody; nothing if it is an answer like others.

    `is_word` tells words of the language, which are rather no names.

    >>> [found_in(text) for text in ("to ada@example.org", "call me: +34 600 123 456", "12 Elm Street", "about 7")]
    ['an e-mail address', 'a telephone number', 'a street address', '']
    >>> found_in("Maria Lopez"), found_in("mein Nachbar Jürgen Schmidt"), found_in("Nature Reserve"), found_in("7,5")
    ("a person's name", "a person's name", '', 'a number')
    >>> found_in("ada at mail dot com"), found_in("12 elm stret"), found_in("calle Mayor 5"), found_in("day at the sea")
    ('an e-mail address', 'a street address', 'a street address', '')
    """
    plain = " ".join(normalize("NFKC", text).replace("’", "'").split())
    words = plain.split(" ")
    windows = [plain] if len(words) == 1 else [plain, *words]
    digits = any(c.isdigit() for c in plain)
    if digits and len(words) <= 60:
        sizes = range(2, min(LONGEST_WINDOW, len(words) - 1) + 1)
        windows += [" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)]
    bare = [window.strip(",;:!?\"'<>").rstrip(".") for window in windows if len(window) <= 200]
    if digits and _IBAN.search(plain[:LONGEST_SEARCHED]):
        return KINDS["iban"]  # its groups look like other numbers
    for says, pattern in _PATTERNS:
        if any(pattern.match(window) for window in bare):
            return says
    if _DATES.match(plain):
        return DATE
    if _NUMBER.match(plain):
        return NUMBER
    if digits and _WRITTEN.search(plain[:LONGEST_SEARCHED]):
        return KINDS["address"]
    small = plain[:LONGEST_SEARCHED].lower()
    small = _YEARS.sub("", _streets_spelled(small)) if digits else small
    for says, pattern in _among_words():
        if pattern.search(small):
            return says
    if names_somebody(words[:MOST_SEARCHED], is_word):
        return PERSON
    return LONG if len(words) > MOST_WORDS or len(plain) > LONGEST_ANSWER else ""


def _streets_spelled(text: str) -> str:
    """A text in which words that are nearly a word for a street are that word."""
    streets = [word for word in listed("street") if len(word) > 5]
    near = (get_close_matches(word, streets, 1, 0.82) if len(word) > 4 else [] for word in text.split(" "))
    return " ".join((corrected or [word])[0] for word, corrected in zip(text.split(" "), near, strict=True))
