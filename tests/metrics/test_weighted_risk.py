"""Individual and household risk by their definitions, and combinations of a few columns."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._errors import DataError, JobError, KanopyError
from kanopy.metrics.risk.combinations import unsafe_sets
from kanopy.metrics.risk.weighted import household_risks, individual_risks, matching_sums

CELLS = st.integers(-1, 2)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_matching_rows_by_looking_at_all_pairs(rows: list[tuple[int, ...]], random: Any) -> None:
    weights = np.array([random.randint(1, 9) for _ in rows], np.float64)
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    for means in ("any", "value"):
        alike, people = matching_sums(columns, [3, 3, 3], weights, means)
        for i, one in enumerate(rows):
            same = [
                all(a == b or (means == "any" and -1 in (a, b)) for a, b in zip(one, other, strict=True))
                for other in rows
            ]
            assert alike[i] == sum(same)
            assert people[i] == weights[same].sum()


def test_the_risk_falls_with_rows_and_with_people() -> None:
    """What makes `individual-risk` monotonic: adding rows, or weight, never raises it, in either form."""
    rows = np.repeat(np.arange(1, 60), 400)
    people = np.tile(np.concatenate([np.linspace(0.2, 70, 200), np.geomspace(71, 1e7, 200)]), 59)
    for exact in (False, True):
        table = individual_risks(rows, people, exact=exact).reshape(59, 400)
        assert (np.diff(table, axis=0) <= 1e-15).all(), "more rows, higher risk"
        assert (np.diff(table, axis=1) <= 1e-15).all(), "more people, higher risk"
        assert ((table > 0) & (table <= 1)).all()
    assert individual_risks([3, 3], [3.0, 1.5]).tolist() == [pytest.approx(1 / 3)] * 2  # a sample that is everybody


def test_households_by_hand() -> None:
    risks = np.array([0.5, 0.5, 1.0, 0.1, 0.0])
    assert household_risks(risks, np.array([0, 0, 1, 1, 2])).tolist() == pytest.approx([0.75, 0.75, 1.0, 1.0, 0.0])
    tiny = household_risks(np.full(3, 1e-12), np.array([0, 0, 0]))
    assert tiny == pytest.approx(np.full(3, 3e-12), rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=25))
def test_unsafe_combinations_by_counting(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)]
    every = {1: 3, 2: 2}
    found, at_risk = unsafe_sets("abc", columns, every)
    wanted, risky = {}, [False] * len(rows)
    for size, k in every.items():
        for chosen in combinations(range(3), size):
            shown = [tuple(row[j] for j in chosen) for row in rows]
            counts = Counter(values for values in shown if min(values) >= 0)
            few = {values for values, count in counts.items() if count < k}
            risky = [known or values in few for known, values in zip(risky, shown, strict=True)]
            if few:
                wanted["".join("abc"[j] for j in chosen)] = (len(counts), len(few), sum(counts[each] for each in few))
    assert {"".join(each.columns): (each.combinations, each.unsafe, each.rows) for each in found} == wanted
    assert at_risk.tolist() == risky


PEOPLE = {
    "age": [30, 30, 40, None], "sex": ["f", "f", "m", "m"], "w": [100.0, 50.0, 10.0, 1.0], "h": ["a", "b", "a", None],
}  # fmt: skip


def test_the_whole_assessment() -> None:
    found = kanopy.assess_risk(
        PEOPLE,
        quasi=["age", "sex"],
        sampling_weight="w",
        household="h",
        missing_means="any",
        suda=2,
        every={1: 2},
        threshold=0.01,
    )
    answers = found.answers
    assert answers.survey is not None and answers.survey.household is not None and answers.special is not None
    assert found.row_risks["rows_alike"].tolist() == [2, 2, 2, 2]
    assert found.row_risks["people_alike"].tolist() == [150.0, 150.0, 11.0, 11.0]
    assert answers.survey.household.households == 3 and answers.survey.household.alone == 1
    assert answers.survey.represented == 161 and answers.survey.rows_above == 4
    assert [each["values"] for each in answers.unsafe_combinations()] == [["40"]]
    assert found.row_risks["unsafe_combination"].tolist() == [False, False, True, False]
    assert answers.risky_values[0] == {"column": "age", "value": "40", "share": 1.0}
    plain = str(found.to_dict())
    assert "'40'" not in plain and found.to_dict()["every"]["rows"] == 1
    page = found.to_html("people.csv")
    for words in ("Risk by sampling weights", "Rows that few columns single out", "Combinations of a few columns",
                  "age = 40", "and values that groups disclose"):  # fmt: skip
        assert words in page
    assert page.count("<svg") >= 5


def test_suppressed_rows_have_no_risk() -> None:
    table = pl.DataFrame({"a": ["x", "x", "*"], "b": ["y", "y", "*"], "w": [3.0, 4.0, 5.0], "h": [1, 2, 1]})
    found = kanopy.assess_risk(table, quasi=["a", "b"], sampling_weight="w", household="h", suda=1, every="1:2")
    assert found.row_risks["individual_risk"][2] == found.row_risks["household_risk"][2] == 0
    assert found.row_risks["suda_score"].tolist() == [0, 0, 0] and not found.row_risks["unsafe_combination"].any()
    assert found.answers.survey is not None and found.answers.survey.represented == 7
    assert found.row_risks["household_risk"][0] == pytest.approx(found.row_risks["individual_risk"][0])


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"w": [1, 0, -2, None]}, DataError, "in 3 rows: '0', '-2', None in rows 2, 3, 4"),
        ({"w": [1.0, float("nan"), 1, 1]}, DataError, "missing, zero or negative in 1 row: None in rows 2"),
        ({"w": [1.0, float("inf"), 1, 1]}, DataError, "hold 'inf'"),
        ({"w": ["1", "two", "3", "?"]}, DataError, r"hold '\?', 'two'"),
        ({"w": [True, False, True, True]}, DataError, "A weight is a number above 0"),
        ({"sampling_weight": None}, JobError, "no sampling weights"),
        ({"sampling_weight": "age"}, JobError, "Named twice: 'age'"),
        ({"household": "w"}, JobError, "Named twice: 'w'"),
        ({"household": "hh"}, DataError, "no column 'hh'"),
        ({"sampling_weight": "ww"}, DataError, "no column 'ww'. Did you mean 'w'"),
        ({"missing_means": "nothing"}, JobError, "'any' or 'value', not 'nothing'"),
        ({"suda": -1}, JobError, "at least 0, not -1"),
        ({"every": "2"}, JobError, "such as 2:10,3:3"),
        ({"every": "0:2"}, JobError, "such as 2:10,3:3"),
        ({"every": "two:3"}, JobError, "such as 2:10,3:3"),
        ({"every": "2:1"}, JobError, "every of 2 must be a whole number of at least 2"),
        ({"every": {3: 2}}, JobError, "but has only 2"),
    ],
)  # fmt: skip
def test_bad_input(given: dict[str, Any], kind: type[KanopyError], words: str) -> None:
    table = {**PEOPLE, "w": given.pop("w", PEOPLE["w"])}
    settings = {"sampling_weight": "w", "household": "h", **given}
    with pytest.raises(kind, match=words):
        kanopy.assess_risk(table, quasi=["age", "sex"], **settings)


def test_weights_may_be_text() -> None:
    """Numbers of many digits stay text when a file is read."""
    text = {**PEOPLE, "w": ["100.0", "50", "10", "1.0"]}
    asked = {"quasi": ["age", "sex"], "sampling_weight": "w"}
    by_text, by_number = (kanopy.assess_risk(table, **asked) for table in (text, PEOPLE))
    assert by_text.to_dict() == by_number.to_dict()
