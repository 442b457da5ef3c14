"""First guesses at the roles of columns."""

from __future__ import annotations

import polars as pl
import pytest

from kanopy._table import datasets
from kanopy._table.guessing.guess import guess_roles
from kanopy._table.roles import Role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Name", Role.IDENTIFIER),
        ("E-Mail", Role.IDENTIFIER),
        ("Prénom", Role.IDENTIFIER),
        ("customer_id", Role.IDENTIFIER),
        ("SSN", Role.IDENTIFIER),
        ("phoneNumber", Role.IDENTIFIER),
        ("zip_code", Role.QUASI_IDENTIFIER),
        ("PLZ", Role.QUASI_IDENTIFIER),
        ("Geburtsdatum", Role.QUASI_IDENTIFIER),
        ("dateOfBirth", Role.QUASI_IDENTIFIER),
        ("ETÀ", Role.QUASI_IDENTIFIER),
        ("gender", Role.QUASI_IDENTIFIER),
        ("estado civil", Role.QUASI_IDENTIFIER),
        ("Nationality", Role.QUASI_IDENTIFIER),
        ("Diagnosis", Role.SENSITIVE),
        ("monthly salary", Role.SENSITIVE),
        ("colour", Role.INSENSITIVE),
    ],
)
def test_names_in_several_languages(name: str, role: Role) -> None:
    (guess,) = guess_roles(pl.DataFrame({name: ["a", "b", "a", "c"]}))
    assert guess.role == role and guess.column == name
    assert "3 different values in 4 records" in guess.reason


def test_values_speak_too() -> None:
    frame = pl.DataFrame(
        {
            "code": [f"X{i:05d}" for i in range(100)],
            "remark": [f"patient {i} came in with a long story to tell about everything" for i in range(100)],
            "when": [f"2020-01-{i % 28 + 1:02d}" for i in range(100)],
            "same": ["x"] * 100,
            "measure": [i + 0.25 for i in range(100)],
            "void": pl.Series([None] * 100, dtype=pl.String),
            "many": [[1, 2]] * 100,
            "kind": ["a", "b"] * 50,
        }
    )
    guesses = {guess.column: guess for guess in guess_roles(frame)}
    assert guesses["code"].role == Role.IDENTIFIER and "100 of 100 records" in guesses["code"].reason
    assert guesses["remark"].role == Role.IDENTIFIER and "free text" in guesses["remark"].reason
    assert guesses["when"].role == Role.QUASI_IDENTIFIER and guesses["when"].hierarchy_hint == "date"
    assert guesses["same"].role == Role.INSENSITIVE and "same value" in guesses["same"].reason
    assert guesses["measure"].role == Role.UNDECIDED and "may tell people apart" in guesses["measure"].reason
    assert guesses["void"].role == Role.INSENSITIVE and "is empty" in guesses["void"].reason
    assert guesses["many"].role == Role.IDENTIFIER and guesses["kind"].role == Role.INSENSITIVE


def test_adult() -> None:
    for frame in (datasets.adult(), datasets.adult().cast(pl.String)):
        guesses = {guess.column: guess for guess in guess_roles(frame)}
        quasi = {name for name, guess in guesses.items() if guess.role == Role.QUASI_IDENTIFIER}
        assert quasi >= set(datasets.ADULT_QUASI_IDENTIFIERS)
        assert guesses["income"].role == Role.SENSITIVE and guesses["fnlwgt"].role == Role.UNDECIDED
        assert guesses["age"].hierarchy_hint == "numeric" and guesses["sex"].hierarchy_hint == "grouping"
