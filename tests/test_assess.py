"""The whole utility assessment: releases of Kanopy and of other tools, and tables that do not belong together."""

from __future__ import annotations

import itertools
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanopy
from kanopy._errors import DataError, JobError
from kanopy.metrics.risk.linkage import PublishedColumn
from kanopy.metrics.utility.learning import learned
from kanopy.metrics.utility.published_values import ColumnDomain, understand
from kanopy.study.table_matching import column_domain, match_tables
from kanopy.study.utility_study import assess
from kanopy.study.value_matching import match_by_values

BEFORE = {
    "age": [21, 24, 33, 38, 52, 57],
    "town": ["Lyon", "Paris", "Lyon", "Rome", "Rome", "Paris"],
    "ill": ["flu", "cold", "flu", "cold", "flu", "cold"],
}
AFTER = {
    "age": ["[20-29]", "20-29", "30–39", "[30, 39]", "≥50", "*"],
    "town": ["{Lyon, Paris}", "{Lyon, Paris}", "Lyon", "Rome", "*", "*"],
    "ill": BEFORE["ill"],
}


MIXED = {name: values[-by:] + values[:-by] for (name, values), by in zip(BEFORE.items(), (1, 2, 1), strict=True)}
"""No row of this is one of the original."""


def test_a_release_of_another_tool() -> None:
    found = assess(BEFORE, AFTER, learn=False, queries=50)
    assert found.quasi == ("age", "town")
    columns = {column.name: column for column in found.columns}
    # age: shares 2 2 2 2 2 6 of six values -> (16/6 - 1) / 5; town: 2 2 1 1 3 3 of three -> (12/3 - 2) / 4.
    assert columns["age"].loss == pytest.approx((16 / 6 - 1) / 5)
    assert columns["town"].loss == pytest.approx((12 / 3 - 2) / 4)
    assert columns["ill"].loss == columns["ill"].total_variation == 0.0
    assert (columns["age"].hidden_rows, columns["town"].hidden_rows, found.hidden_rows) == (1, 2, 1)
    assert columns["town"].changed_rows == 4
    assert all(bound.holds for bound in found.bounds)
    mean = found.bounds[0]
    # Lows 20 20 30 30 50 21, highs 29 29 39 39 57 57: the open end and the hidden cell end where the column does.
    assert (mean.low, mean.high) == pytest.approx(
        ((20 + 20 + 30 + 30 + 50 + 21) / 6, (29 + 29 + 39 + 39 + 57 + 57) / 6)
    )
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["columns"][0]["name"] == "age"


def test_an_unchanged_table_loses_nothing() -> None:
    found = assess(BEFORE, BEFORE, learn=False)
    assert found.quasi == () and found.loss == 0.0
    assert all(column.loss == 0 and column.bits_kept == 1 and column.earth_movers == 0 for column in found.columns)
    assert found.queries is not None and found.queries.mean == 0.0
    assert all(pair.v_before == pair.v_after for pair in found.pairs)


def test_losses_equal_those_of_the_release_itself() -> None:
    adult = kanopy.datasets.adult().head(2000)
    quasi = ["age", "education", "race", "sex"]
    hierarchies = {name: tree for name, tree in kanopy.datasets.adult_hierarchies().items() if name in quasi}
    for rows in ("keep", "drop"):
        job = kanopy.Job(quasi=quasi, k=5, suppress=0.05, hierarchies=hierarchies, suppressed_rows=rows)
        result = kanopy.anonymize(adult, job)
        found = assess(adult, result.frame, job=job, learn=False, queries=20)
        losses = {column.name: column.loss for column in found.columns if column.name in quasi}
        assert losses == pytest.approx(result.column_losses)
        assert all(bound.holds for bound in found.bounds)
        assert not any(column.contradicted_rows for column in found.columns)


def test_rows_that_were_left_out_are_found_by_order() -> None:
    shorter = {name: [*values[:2], *values[3:]] for name, values in AFTER.items()}
    found = assess(BEFORE, shorter, quasi=["age", "town"], learn=False)
    assert (found.rows, found.released_rows) == (6, 5)
    assert all(bound.holds for bound in found.bounds)


def test_a_key_matches_rows_in_any_order() -> None:
    before, after = {"id": list("abcdef"), **BEFORE}, {"id": list("abcdef"), **AFTER}
    moved = pl.DataFrame(after).sample(fraction=1.0, shuffle=True, seed=1)
    straight = assess(before, after, on="id", learn=False).to_dict()
    assert assess(before, moved, on="id", learn=False).to_dict() == straight
    assert assess(before, moved.head(4), on="id", learn=False).released_rows == 4


@pytest.mark.parametrize("rows", ["keep", "drop"])
@pytest.mark.parametrize("local", [False, True], ids=["levels", "local"])
def test_rows_in_an_order_of_their_own_are_matched_by_what_they_say(rows: str, local: bool) -> None:
    draw = np.random.default_rng(3)
    people = pl.DataFrame({
        "age": draw.integers(20, 80, 400), "town": draw.choice(["Bonn", "Kiel", "Ulm", "Jena"], 400),
        "sex": draw.choice(["f", "m"], 400), "ill": draw.choice(["flu", None, "cold"], 400),
    })  # fmt: skip
    trees = {"age": {"method": "widths", "widths": [5, 10, 20]}, "town": {"method": "suppress"}}
    job = kanopy.Job(
        quasi=["age", "town", "sex"], sensitive=["ill"], k=4, suppress=0.1, suppressed_rows=rows, hierarchies=trees,
        local=local, parameters={"budget_seconds": 1} if local else {},
    )  # fmt: skip
    result = kanopy.anonymize(people, job)
    matched = match_tables(people, result.to_write, quasi=job.quasi)
    assert matched.by_values and not matched.contradicted and matched.left_out == 400 - result.to_write.height
    assert sorted(matched.partner[matched.partner >= 0]) == list(range(result.to_write.height))
    straight, other = (
        assess(people, each, job=job, learn=False, queries=20) for each in (result.frame, result.to_write)
    )
    losses = [{column.name: column.loss for column in found.columns} for found in (straight, other)]
    assert losses[0] == pytest.approx(losses[1]) and all(bound.holds for bound in other.bounds)
    assert not match_tables(people, result.frame, quasi=job.quasi).by_values, "where the order fits, it counts"


@given(data=st.data())
def test_rows_are_matched_wherever_they_can_be(data: st.DataObject) -> None:
    """Against all orders of a few rows."""
    values = st.sampled_from(["a", "b", "c"])
    labels = st.sampled_from(["a", "b", "{a, b}", "{b, c}", "*"])
    rows = data.draw(st.integers(1, 5))
    left = data.draw(st.integers(1, rows))
    before, after = (
        [data.draw(st.lists(one, min_size=size, max_size=size)) for _ in range(2)]
        for one, size in ((values, rows), (labels, left))
    )
    columns = []
    for own, told in zip(before, after, strict=True):
        domain, known = ColumnDomain("x", ("a", "b", "c"), np.ones(3, np.int64)), sorted(set(told))
        codes, covers = np.array(["abc".index(value) for value in own]), understand(known, domain)
        columns.append(PublishedColumn(codes, np.array([known.index(label) for label in told]), covers))

    def fits(source: int, target: int) -> bool:
        return all(bool(c.covers.holds(c.labels[[target]], c.values[[source]])[0]) for c in columns)

    possible = any(
        all(fits(source, target) for target, source in enumerate(order))
        for order in itertools.permutations(range(rows), left)
    )
    partner = match_by_values(columns, most=False)
    assert (partner is not None) is possible
    if partner is not None:
        assert sorted(partner[partner >= 0]) == list(range(left))
        assert all(fits(source, int(target)) for source, target in enumerate(partner) if target >= 0)


def test_missing_values() -> None:
    before = {"age": [20, None, 30, 40], "sex": ["f", "m", None, "m"]}
    after = {"age": ["20-30", None, "20-30", "*"], "sex": ["f", "m", None, "m"]}
    found = assess(before, after, learn=False)
    assert not found.notes
    assert found.bounds[0].truth == 30.0 and found.bounds[0].holds
    domain, codes = column_domain(pl.Series("x", [2.5, None, 1.0]))
    assert (domain.labels, codes.tolist(), domain.missing) == (("1", "2.5", "(missing)"), [1, 2, 0], True)


@pytest.mark.parametrize(
    ("released", "words"),
    [
        ({**AFTER, "agee": [1] * 6}, r"columns that the original lacks: 'agee'. Did you mean 'age'"),
        ({name: values * 2 for name, values in AFTER.items()}, "12 rows, the original 6"),
        (MIXED, "not in the same order"),
        ({name: values[:4] for name, values in MIXED.items()}, "fewer rows.*no part of the original"),
        ({"age": ["young"] * 6, "ill": BEFORE["ill"]}, "cannot be read: 'young'"),
    ],
)
def test_tables_that_do_not_match(released: dict[str, list[object]], words: str) -> None:
    with pytest.raises(DataError, match=words):
        assess(BEFORE, released, learn=False)


def test_more_bad_input() -> None:
    with pytest.raises(DataError, match="original has no column 'agee'"):
        assess(BEFORE, AFTER, quasi=["agee"])
    with pytest.raises(DataError, match="release has no column 'id'"):
        assess({**BEFORE, "id": list("abcdef")}, AFTER, on="id")
    with pytest.raises(DataError, match="'ill' is not different"):
        assess(BEFORE, AFTER, on="ill")
    with pytest.raises(DataError, match="lacks: 'z'"):
        assess({**BEFORE, "id": list("abcdef")}, {**AFTER, "id": list("abcdez")}, on="id")
    with pytest.raises(DataError, match="no column 'ilk' to predict"):
        assess(BEFORE, AFTER, target="ilk")
    with pytest.raises(JobError, match="at least 0"):
        assess(BEFORE, AFTER, queries=-1)
    with pytest.raises(DataError, match="job names columns that the original lacks: 'pay'"):
        assess(BEFORE, AFTER, job=kanopy.Job(quasi=["pay"]))


def test_disturbed_values_are_told_from_wrong_order() -> None:
    noisy = {**BEFORE, "age": [age + 1 for age in BEFORE["age"]]}
    found = assess(BEFORE, noisy, learn=False)
    assert {column.name: column.contradicted_rows for column in found.columns}["age"] == 6
    assert "disturbed" in found.notes[0]
    assert not found.bounds[0].holds
    alone = {"age": BEFORE["age"]}
    with pytest.raises(DataError, match="--disturbed"):
        assess(alone, {"age": noisy["age"]}, learn=False)
    assert assess(alone, {"age": noisy["age"]}, learn=False, disturbed=True).columns[0].contradicted_rows == 6


def test_classifiers() -> None:
    pytest.importorskip("sklearn")
    random = np.random.default_rng(3)
    rows = 240
    age = random.integers(20, 60, rows)
    ill = np.where(age + random.normal(0, 4, rows) > 40, "old", "young")
    before = pl.DataFrame({"age": age, "coin": random.choice(["h", "t"], rows), "ill": ill})
    good = before.with_columns(pl.Series("age", [f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in age]))
    useless = before.with_columns(pl.lit("*").alias("age"))
    kept = {each.learner: each for each in assess(before, good).learners}
    lost = {each.learner: each for each in assess(before, useless).learners}
    assert set(kept) == {"logistic regression", "decision tree", "random forest", "naive Bayes"}
    for name, each in kept.items():
        assert each.target == "ill"
        assert each.before > 0.8 and each.after > 0.75
        assert lost[name].after < 0.7 < lost[name].before
    matched = match_tables(before, good)
    features = [(c.values, c.labels, c.covers) for name, c in matched.columns.items() if name != "ill"]
    again = learned("ill", matched.columns["ill"].values, features, matched.partner, learners=["decision tree"])
    assert again == (kept["decision tree"],)  # the same seed gives the same folds


def test_the_page_is_self_contained_and_escapes() -> None:
    nasty = {**BEFORE, "town": ["<i>x</i>"] * 3 + ["Rome"] * 3}
    page = assess(nasty, {**AFTER, "town": ["*"] * 6}, learn=False).to_html("<b>.csv")
    assert "<i>x" not in page and "&lt;b&gt;.csv" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")
    for words in (
        "Loss per column",
        "Change of distributions",
        "Associations between columns",
        "Guaranteed statistics",
    ):
        assert words in page


def test_dates_and_other_kinds_of_columns() -> None:
    import datetime as dt

    days = [dt.date(2020, month, 1) for month in range(1, 7)]
    before = pl.DataFrame({"born": days, "ok": [True, False] * 3, "none": pl.Series([None] * 6, dtype=pl.Null)})
    after = before.with_columns(pl.Series("born", ["2020-01", "2020"] + ["[2020-03-01, 2020-12-31]"] * 4))
    found = assess(before, after, learn=False)
    # Covers of 1, 6, 4, 4, 4, 4 of six months.
    assert {column.name: column.loss for column in found.columns}["born"] == pytest.approx((23 / 6 - 1) / 5)
    assert not found.notes and not found.bounds
