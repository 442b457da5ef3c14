"""Does a masking publish only what it may? Read from the two tables, in code of its own.

Nothing here is shared with masking: answers are counted anew, and what points at somebody or denies is looked for by a
few plain rules that catch the clear cases.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

import polars as pl

from kanopy._errors import VerificationFailed
from kanopy.verify.labels import SUPPRESSED, written

DENYING = frozenset({"no", "not", "non", "never", "without", "cannot", "neither", "nor"})
MAY_DENY = re.compile(
    r"\bfree\b|\bw/o\b|\b(?:un|non)-?\w{4}|\w{3}less\b|\btoo (?:little|few)\b|\bgave up\b|\bruled out\b|\bmissing\b"
    r"|\bn.{1,2}[ -]|[不没無无未]|없|ない|ません"
)
"""Other ways to deny, and what may be one: of these texts nobody can say by rules that they affirm."""
PERSONAL = {
    "email": re.compile(r"\S@\S+\.\w"),
    "web": re.compile(r"https?://|www\."),
    "phone": re.compile(r"(?:\+|\b00)\d(?:[\s()./-]*\d){6,}"),
    "iban": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,}"),
    "number": re.compile(r"^\W*\d[\d\W]*$"),
}


def verify_answers(
    original: pl.DataFrame,
    published: pl.DataFrame,
    names: Sequence[str],
    k: int,
    *,
    texts: Collection[str] = (),
    terms: Mapping[str, Collection[str]] | None = None,
    allowed: Collection[str] = (),
) -> None:
    """Raise if a published value was given by fewer than `k` people, points at somebody, or denies what was affirmed.

    `terms` are the broader terms per column that the masking says it published; `texts` are the columns of free text,
    `allowed` kinds of personal texts that may be published.

    >>> before = pl.DataFrame({"why": ["walk", "walk", "wine"]})
    >>> verify_answers(before, before, ["why"], 2)
    Traceback (most recent call last):
    kanopy._errors.VerificationFailed: 1 published value of 'why' was given by fewer than 2 people. Nothing was...
    """
    for name in names:
        before, after = (_labels(table[name]) for table in (original, published))
        given = Counter(before)
        folded = {label.casefold() for label in given if label is not None}
        published_labels = {label for label in after if label is not None and label != SUPPRESSED}
        originals = {label for label in published_labels if label in given}
        together = Counter[str]()
        for label, count in given.items():
            together[_spelled(label)] += count if label is not None else 0
        rare = [label for label in originals if given[label] < k and together[_spelled(label)] < k]
        if rare:
            was = "value" if len(rare) == 1 else "values"
            raise _failed(f"{len(rare):,} published {was} of {name!r} was given by fewer than {k:,} people")
        made = set((terms or {}).get(name, ()))
        if any(label not in made or label.casefold() in folded for label in published_labels - originals):
            raise _failed(f"Published values of {name!r} are neither answers of the table nor broader terms")
        if name not in texts:
            continue
        for label in published_labels:
            if any(kind not in allowed and pattern.search(label) for kind, pattern in PERSONAL.items()):
                raise _failed(f"A published value of {name!r} points at somebody")
        for one, other in set(zip(before, after, strict=True)):
            if one is not None and other is not None and other != SUPPRESSED and _opposed(one, other):
                raise _failed(f"An answer of {name!r} would be published as its opposite")


def _spelled(label: str | None) -> str:
    """An answer without case, blanks and signs around it: ways to write the same words are one answer."""
    plain = " ".join((label or "").casefold().split())
    return plain.strip(" .,;:!?\"'()[]") or plain


def _failed(what: str) -> VerificationFailed:
    return VerificationFailed(f"{what}. Nothing was written. This is an error in Kanopy: please report it.")


def _labels(series: pl.Series) -> list[str | None]:
    return [None if value is None else written(value).strip() or None for value in series.to_list()]


@cache
def _may_deny() -> frozenset[str]:
    """Words that deny, in several languages."""
    listed = Path(__file__).resolve().parents[1] / "data" / "answer_words.toml"
    return frozenset(tomllib.loads(listed.read_text(encoding="utf-8"))["deny"].split())


def _opposed(one: str, other: str) -> bool:
    """Whether one text denies and the other does not; unclear where one may deny in other words or misspelled ones."""
    stances = []
    for text in (one, other):
        words = set(re.findall(r"[^\W\d_']+(?:'[^\W\d_]+)?", text.lower().replace("’", "'")))
        near = any(len(word) >= 4 and difflib.get_close_matches(word, DENYING, 1, 0.75) for word in words)
        if not words & DENYING and (near or words & _may_deny() or MAY_DENY.search(text.lower())):
            return False
        stances.append(bool(words & DENYING) or any(word.endswith("n't") for word in words))
    # "nothing" or "none" as an answer says that there is none: it is no denial of anything.
    return stances[0] != stances[1] and len(one.split()) > 1
