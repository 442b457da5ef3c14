"""Guessed roles beside those that a careful steward would accept, on eight public tables.

Source: `figures/roles.json`, judged by hand; the tables are read from beside the checkout and not copied.
"""

from __future__ import annotations

from collections import Counter

from kanopy._table.guessing.guess import guess_roles
from kanopy._table.sources import read_source
from tests.shared_input import figures, needs_shared

ENCODINGS = {"maven_patients": "latin-1"}


def verdict(role: str, accepted: list[str]) -> str:
    """What a guess is worth: an unsafe one would publish what should not leave as it is."""
    if role == "undecided" or role in accepted:
        return "undecided" if role == "undecided" else "right"
    if role in ("identifier", "withheld"):
        return "dropped"
    published = role in ("insensitive", "sensitive")
    return "unsafe" if published and not {"insensitive", "sensitive"} & set(accepted) else "wrong"


def test_few_guesses_are_unsafe_and_most_are_right() -> None:
    folder = needs_shared("data", "tables")
    worth: Counter[str] = Counter()
    for name, truth in figures("roles")["tables"].items():
        for guess in guess_roles(read_source(folder / f"{name}.csv.gz", encoding=ENCODINGS.get(name)).frame):
            accepted = truth["columns"].get(guess.column, truth["default"])
            worth["unsafe" if guess.role == "insensitive" and "insensitive" not in accepted else
                  verdict(str(guess.role), accepted)] += 1  # fmt: skip
            assert guess.reason and guess.certainty in ("sure", "likely", "unsure")
    columns = sum(worth.values())
    assert columns == 215
    assert worth["unsafe"] == 0
    assert worth["dropped"] <= 0.02 * columns
    assert worth["undecided"] <= 0.08 * columns
    assert worth["right"] >= 0.88 * columns
