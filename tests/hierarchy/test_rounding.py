"""Cuts at round numbers: what they look like, that nobody's own value is an end, and what the whole table loses."""

from __future__ import annotations

import datetime as dt
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanopy
from kanopy._core.units import Units
from kanopy._errors import HierarchyError
from kanopy._job.cut_optimizer import CutOptimizer
from kanopy.cli import app
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.builders.bins import Cuts
from kanopy.hierarchy.builders.grouping import Frequency
from kanopy.hierarchy.builders.rounding import Round, is_round
from kanopy.hierarchy.column import column_of
from kanopy.hierarchy.suggest import choose_hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.problem import Problem
from kanopy.study.exposed_endpoints import exposed_endpoints, label_ends
from kanopy.study.risk_study import assess_risk
from kanopy.verify.labels import false_labels

PLAIN = ("equal_frequency", "equal_width", "chu", "iotf")


def people(rows: int = 1500) -> pl.DataFrame:
    """People whose income is skewed and whose ages are not."""
    draw = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "age": np.clip(draw.normal(44, 17, rows), 0, 99).astype(int),
            "income": np.round(draw.lognormal(10, 0.9, rows), 2),
            "hours": np.clip(draw.normal(38, 9, rows), 0, 80).astype(int),
            "sex": draw.choice(["f", "m"], rows),
        }
    )


@pytest.mark.parametrize(
    ("suppress", "k"),
    [
        (0.0, 5),
        (0.02, 10),
        pytest.param(0.0, 10, marks=pytest.mark.slow),
        pytest.param(0.02, 5, marks=pytest.mark.slow),
    ],
)
def test_the_default_loses_no_more_than_plain_builders(k: int, suppress: float) -> None:
    table = people()
    job = kanopy.Job(quasi=["age", "income", "hours", "sex"], k=k, suppress=suppress)
    own = kanopy.anonymize(table, job)
    numbers = ("age", "income", "hours")
    others = [
        kanopy.anonymize(table, job.replaced(hierarchies={name: {"method": method} for name in numbers})).score
        for method in PLAIN
    ]
    assert own.score <= 1.02 * min(others)
    labels = {label for name in numbers for label in own.data[name].unique().to_list()}
    ends = [end for label in labels for end in label_ends(str(label))]
    assert ends and all(is_round(end) or len(end) <= 2 for end in ends)
    assert not exposed_endpoints(table, own.data, numbers, k)
    assert kanopy.anonymize(table, job).data.equals(own.data), "the same job gives the same release"


def test_a_column_alone_is_cut_as_finely_as_plain_builders_cut_it() -> None:
    rng = np.random.default_rng(4)
    table = {"age": np.clip(rng.normal(53, 10, 700).round(), 21, 80).astype(int).tolist()}
    job = kanopy.Job(quasi="age", k=5, suppress=0.02)
    plain = [kanopy.anonymize(table, job.replaced(hierarchies={"age": {"method": method}})).score for method in PLAIN]
    assert (
        kanopy.anonymize(table, job).score <= min(plain) + 0.005
    )  # where next to nothing is lost, round ends cost a bit


def visits(people: int = 250) -> pl.DataFrame:
    """Several visits of each person, who grows older in between."""
    draw = np.random.default_rng(11)
    who = np.repeat(np.arange(people), draw.integers(1, 8, people))
    age, sex = draw.integers(20, 81, people)[who] + draw.integers(0, 4, len(who)), draw.choice(["f", "m"], people)[who]
    return pl.DataFrame({"who": who, "age": age, "sex": sex})


@pytest.mark.parametrize("known", [1, 2, "all"])
def test_cuts_are_fitted_to_people_where_one_has_many_rows(known: int | str) -> None:
    table = visits()
    job = kanopy.Job(quasi=["age", "sex"], unit="who", known=known, k=5, suppress=0.02, rest="leave out")
    plain = [kanopy.anonymize(table, job.replaced(hierarchies={"age": {"method": method}})).score for method in PLAIN]
    assert kanopy.anonymize(table, job).score <= 1.02 * min(plain)


def test_people_of_all_groups_of_a_column_are_counted_as_if_one_by_one() -> None:
    table, builder = visits(40), Round(k=2)
    units = Units(table["who"].to_numpy().astype(np.int32))
    domain = LocalEngine().count(table, {"age": builder.build(table["age"].to_list())}, units=units).domain
    fitting = CutOptimizer(Problem(domain, [KAnonymity(2)]), {0: builder.scale(column_of(table["age"].to_list()))})
    group = np.arange(len(domain.counts)) % 3
    of_row, cell_of_row = domain.tuple_of_row, fitting._cell_of_leaf[0][domain.tuples[domain.tuple_of_row, 0]]
    rows = list(zip(units.of_row.tolist(), group[of_row].tolist(), cell_of_row.tolist(), strict=True))

    def people(cells: range) -> list[int]:
        return [len({who for who, own, cell in rows if own == each and cell in cells}) for each in range(3)]

    cells = int(cell_of_row.max()) + 1
    passages = fitting._passages(0, group, 3)
    assert passages is not None
    counted = list(passages.from_each_cell())
    assert len(counted) == cells > 3
    for start, found in enumerate(counted):
        assert found.tolist() == [people(range(start, end)) for end in range(start + 1, cells + 1)]
    first, last, _ = fitting._first_and_last(0, group, 3)
    for cut in range(1, cells):
        assert first[:cut].sum(axis=0).tolist() == people(range(cut))
        assert last[cut:].sum(axis=0).tolist() == people(range(cut, cells))


def test_methods_of_papers_say_that_ends_are_values() -> None:
    table = people(300)
    job = kanopy.Job(quasi=["age", "income"], k=5, hierarchies={"income": {"method": "equal_frequency"}})
    found = kanopy.anonymize(table, job)
    assert any("'income' end at values that fewer than 5 rows have" in note for note in found.notes)
    assert not any("'age'" in note for note in found.notes)
    risk = assess_risk(table, quasi=["age", "income"], released=found.data, largest_subset=0)
    assert [each.column for each in risk.exposed] == ["income"]
    assert risk.to_dict()["exposed_ends"][0]["ends"] == len(risk.exposed[0].ends) > 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.integers(-500, 5000),
            st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)),
            st.floats(0, 1, width=32, allow_nan=False),
        ),
        min_size=3,
        max_size=80,
    ),
    st.integers(1, 6),
)
def test_every_label_is_true_and_open_at_both_ends(values: list[float], k: int) -> None:
    tree = Round(k=k).build(values)
    for level in range(1, tree.height + 1):
        published = pl.Series("x", [tree.generalize(value, level) for value in tree.values])
        assert false_labels(pl.Series("x", list(tree.values)), published) is None
    for label in tree.labels_at(min(1, tree.height)):
        assert "e" not in label.lower() or label == "other"


def test_an_end_that_is_not_round_is_a_value_of_many() -> None:
    ages = [20] * 30 + [21] * 30 + [22] * 2 + [23] * 30 + [24] * 30
    tree = Round(k=5, parts=64).build(ages)
    ends = {end for level in range(1, tree.height) for label in tree.labels_at(level) for end in label_ends(label)}
    assert "22" not in ends


def test_a_million_values_take_two_seconds() -> None:
    values = np.random.default_rng(1).lognormal(10, 1, 1_000_000)
    start = time.process_time()
    tree = Round().build(values)
    assert tree.level_sizes[1] < 70 and tree.labels_at(tree.height) == ("*",)
    assert time.process_time() - start < 6  # two seconds on a machine of its own


def test_thousands_and_labels_of_your_own() -> None:
    values = list(range(0, 50_000, 100))
    assert "[10,000, 20,000)" in Round(thousands=True, parts=4).build(values).labels
    assert any(" to " in text for text in Round(k=2, label="{low} to {high}").build(range(15, 60)).labels)


def test_groups_of_real_numbers_by_cuts_are_half_open() -> None:
    values = np.linspace(0, 1, 50) ** 2 * 3.3333333
    labels = Cuts(edges=(1, 2)).build(values).labels_at(1)
    assert labels[1] == "[1, 2)"


def test_times_and_durations() -> None:
    times = [dt.time(hour, minute) for hour in range(24) for minute in (5, 35)]
    assert choose_hierarchy(times, k=6).hierarchy.labels_at(2) == (
        "< 06:00",
        "[06:00, 12:00)",
        "[12:00, 18:00)",
        "≥ 18:00",
    )
    spans = [dt.timedelta(days=days) for days in range(100)]
    assert choose_hierarchy(spans, k=5).method == "round"


def test_common_values_stay_and_rare_ones_become_other() -> None:
    tree = Frequency(k=5).build(["Lyon"] * 40 + ["Rome"] * 20 + ["Oslo"] * 2 + ["Bern"])
    assert set(tree.labels_at(1)) == {"Lyon", "Rome", "other"} or set(tree.labels_at(1)) == {"Lyon", "other"}
    assert tree.generalize("Bern", 1) == "other"
    named = Frequency(k=2).build(["a"] * 9 + ["Other"] * 9 + ["b", "c"])
    assert named.generalize("b", 1) == named.generalize("Other", 1) == "Other"


BAD: dict[str, tuple[list[Any], str]] = {
    "one value": ([5] * 4, "round"),
    "one text": (["x"] * 4, "suppress"),
    "a hundred thousand numbers": (list(range(100_000)), "round"),
    "a hundred thousand codes": ([f"w{i}" for i in range(100_000)], "redact"),
    "words and codes": (["A12", "cat", "7", "B3"] * 3, "frequency"),
    "dates and texts": (["2020-01-01", "soon", "2020-02-02", "later"] * 3, "frequency"),
    "numbers and texts": (["12", "13", "unknown"] * 4, "frequency"),
    "leading zeros": (["01307", "02140", "02139"] * 3, "redact"),
    "negative numbers": ([-5, -3, -1, 4, 9] * 3, "round"),
}


@pytest.mark.parametrize("name", BAD)
def test_odd_columns_get_a_hierarchy_that_says_what_was_done(name: str) -> None:
    values, method = BAD[name]
    found = choose_hierarchy(values, k=2)
    assert found.method == method and "rows" in found.reason
    assert found.hierarchy.rooted().level(found.hierarchy.rooted().height).size == 1


def test_what_cannot_be_cut_is_said() -> None:
    with pytest.raises(HierarchyError, match=r"contains texts, and round needs numbers: .*soon"):
        kanopy.build_hierarchy(["1", "2", "soon"], "round")
    with pytest.raises(HierarchyError, match="infinite"):
        kanopy.build_hierarchy([1.0, float("inf")], "round")


def test_suggest_shows_labels_and_what_the_release_loses(tmp_path: Path) -> None:
    people(400).write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(kanopy.Job(quasi=["age", "sex"], k=5).to_toml(), encoding="utf-8")
    asked = ["hierarchy", "suggest", str(tmp_path / "people.csv"), "age", "--job", str(tmp_path / "job.toml"), "--json"]
    answer = json.loads(CliRunner().invoke(app, asked).stdout)
    proposal = next(each for each in answer["ranking"] if each["method"] == "round")
    assert proposal["labels"][-1] == ["*"] and proposal["labels"][0][0].startswith("≤")
    assert 0 < proposal["release_loss"] < 1
    losses = [each["release_loss"] for each in answer["ranking"]]
    first = losses.index(min(losses))  # what reads well may come before it
    assert losses[first:] == sorted(losses[first:]) and losses[0] <= 1.05 * min(losses)


def test_cuts_are_found_where_nothing_is_lost() -> None:
    """A column of weight 0 beside one of which nothing is lost: sums of shares came to less than nothing."""
    for sizes in ([2, 2, 2], [2, 3, 2]):
        words = [f"w{number}" for number, rows in enumerate(sizes) for _ in range(rows)]
        table = pl.DataFrame({"age": [(37 * i) % 90 for i in range(len(words))], "word": words})
        result = kanopy.anonymize(table, kanopy.Job(quasi=["age", "word"], k=2, weights={"age": 0.0}))
        assert result.score == pytest.approx(0.0, abs=1e-9) and result.frame["word"].to_list() == words
