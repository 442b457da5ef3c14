"""Every entry of the evidence about roles holds for its example, has words, and weighs for what it points at."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy._table.guessing.evidence import model
from kanopy._table.guessing.evidence.facts import FACTS
from kanopy._table.guessing.evidence.people_numbers import FORMS, kind_of_numbers
from kanopy._table.guessing.evidence.readings import fits, readings
from kanopy._table.guessing.evidence.standards import KINDS, named_by_standards, standards
from kanopy._table.guessing.evidence.views import ColumnView, Condition
from kanopy._table.guessing.guess import view
from kanopy._table.guessing.lexicon import lexicon
from kanopy._table.roles import Role

ROWS = 400
MADE: dict[str, list[Any]] = {
    "numbered": [*range(5000, 5000 + ROWS)],
    "halved": [row // 2 for row in range(ROWS)],
    "drawn": [random.Random(1).randrange(60) for _ in range(1)] + [row * row % 61 for row in range(1, ROWS)],
    "thinned": [row if row % 3 == 0 else 3 * (row % 10) for row in range(ROWS)],
    "nested": [[[1], [2]]] * ROWS,
    "lists": [[1, 2], [2, 3]] * (ROWS // 2),
    "sentences": [f"patient {row} came in with a long story to tell about everything" for row in range(ROWS)],
    "names": [
        f"{'ABCDEFGHIJ'[row % 10]}nna{'bcdfghjklm'[row // 10 % 10]}a Mo{'bcdfghjk'[row % 8]}e{'lmnprst'[row % 7]}a"
        for row in range(ROWS)
    ],
    "stations": [f"Station {row}" for row in range(ROWS)],
    "days of stations": [f"Station {row // 20}" for row in range(ROWS)],
    "mails": [f"m{row}@example.org" for row in range(ROWS)],
    "phones": [f"0221-{100000 + row}" for row in range(ROWS)],
    "coded": [f"X{row:04}" for row in range(ROWS)],
    "rare": [1 + (row % 5 if row % 200 else 5 + row // 200) for row in range(ROWS)],
    "running": [1 + row % 5 for row in range(ROWS)],
    "degrees": [48.1 + row / 7000 for row in range(ROWS)],
}
SIGNS = {"cdisc": ["STUDYID", "USUBJID"], "nhanes": ["SEQN", "RIAGENDR"]}


def column_of(example: tuple[str, ...], fact: str = "") -> ColumnView:
    """The column of an example, in a table with columns that hang on keys and, where it asks, those of a standard."""
    name, kind, *standard = example
    if kind in MADE:
        values = MADE[kind]
    else:
        words = [None if word == "_" else word for word in kind.split()] or [None]
        values = [words[at * 7 % len(words) if at >= len(words) else at] for at in range(ROWS)]
    half = [row // 2 % 5 for row in range(ROWS)]
    others = {sign: [*range(ROWS)] for each in standard for sign in SIGNS[each] if sign != name}
    other = {"other": half} if kind == "halved" else {}
    _, columns = view(pl.DataFrame({name: values, **other, **others}, strict=False))
    return columns[name]


@pytest.mark.parametrize("entry", model.evidence(), ids=lambda entry: entry.when)
def test_an_entry_holds_for_its_example_and_points_where_it_says(entry: model.Evidence) -> None:
    column = column_of(entry.example)
    for fact in entry.condition.needs:
        if fact.startswith("context:"):
            column.context = {fact: "other", "relation": ""}
    assert entry.condition.holds(column), {fact: column.has(fact) for fact in entry.condition.facts}
    assert entry.because and set(entry.points) <= set(model.LETTERS)
    row = model.weights().table[model.evidence().index(entry)]
    if entry.fixed:
        assert row.tolist() == [entry.points.get(letter, 0.0) for letter in model.LETTERS]


def test_conditions_name_facts_that_exist() -> None:
    conditions = [entry.condition for entry in model.evidence()]
    conditions += [reading.when for each in readings().values() for reading in each]
    conditions += [condition for each in fits().values() for condition in each]
    unknown = {fact for each in conditions for fact in each.facts if fact.partition(":")[0] not in (*FACTS, "context")}
    assert not unknown


def test_readings_are_about_meanings_that_exist() -> None:
    says = {meaning.says for meaning in lexicon().meanings}
    roles = {str(role) for role in Role}
    assert set(readings()) <= says | roles and set(fits()) <= says
    assert {reading.instead for each in readings().values() for reading in each} <= {*says, ""}


def test_publishing_what_identifies_costs_most() -> None:
    costs = {
        true: dict(zip((*model.LETTERS, "?"), row, strict=True))
        for true, row in zip(model.LETTERS, model.costs(), strict=True)
    }
    for true in "iqx":
        assert min(costs[true]["s"], costs[true]["n"]) > max(costs[true][each] for each in "iqx?")
    assert all(costs[true][true] == 0 for true in model.LETTERS)


@pytest.mark.parametrize("standard", standards(), ids=lambda standard: standard.title)
def test_a_standard_defines_its_signs_and_says_where_it_is_from(standard: Any) -> None:
    assert standard.source.endswith(".") and len(standard.signs) >= standard.fewest
    missing = {sign for sign in standard.signs if standard.entry(sign) is None}
    assert not missing
    assert {entry.kind for entry in standard.exact.values()} <= {*KINDS, ""}


def test_a_standard_counts_only_beside_its_signs() -> None:
    assert named_by_standards(["age", "sex", "region", "weight"]) == {}
    assert named_by_standards(["V001", "V002", "V005", "V012"])["V005"].kind == "weight"


def test_any_digits_are_no_numbers_of_people() -> None:
    draw = random.Random(3)
    for digits in (8, 9, 10, 11, 12, 13, 14, 16):
        texts = [str(draw.randrange(10 ** (digits - 1), 10**digits)) for _ in range(200)]
        assert kind_of_numbers(texts) is None
    assert kind_of_numbers([f"{1950 + at % 50}-{1 + at % 12:02}-{1 + at % 28:02}" for at in range(100)]) is None
    assert len({module for module, _ in FORMS}) == len(FORMS)


def test_probabilities_add_up_and_undecided_is_cheapest_in_doubt() -> None:
    found = model.probabilities([0])
    assert np.isclose(found.sum(), 1) and model.decide(np.full(5, 0.2)) is None


def test_conditions_are_read() -> None:
    assert Condition.read("a & not b:1").facts == ("a", "b:1")
