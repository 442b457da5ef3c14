"""The whole risk assessment: populations, releases, suggestions, bad input."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, JobError
from kanopy.study.risk_study import assess_risk, table_risk

PEOPLE = {
    "zip": ["1", "1", "2", "2", "2", "3"],
    "sex": ["f", "m", "f", "f", "f", "m"],
    "ill": ["flu", "flu", "cold", "cold", "cold", "flu"],
}
EVERYONE = {"zip": ["1"] * 4 + ["2"] * 6 + ["3"] * 2, "sex": ["f", "m", "m", "m"] + ["f"] * 6 + ["m"] * 2}


def test_class_sizes_by_hand() -> None:
    found = assess_risk(PEOPLE, quasi=["zip", "sex"], sensitive=["ill"])
    assert (found.sizes.classes, found.sizes.smallest_class, found.sizes.unique_rows) == (4, 1, 3)
    assert found.sizes.average_prosecutor == found.marketer == pytest.approx(4 / 6)
    assert found.rows_above_threshold == 6  # 1/3 > 0.2
    assert found.journalist.basis == "worst-case"
    disclosure = found.disclosure[0]
    assert (disclosure.certain_rows, disclosure.distinct) == (6, 1)
    assert found.given_away["ill"][0]["rows"] == 3
    assert found.given_away["ill"][0]["class"] == {"zip": "2", "sex": "f"}
    assert "cold" not in json.dumps(found.to_dict())  # the numbers name no value


def test_population_table() -> None:
    found = assess_risk(PEOPLE, quasi=["zip", "sex"], population=EVERYONE)
    # Classes (1,f) 1 of 1, (1,m) 1 of 3, (2,f) 3 of 6, (3,m) 1 of 2.
    assert found.journalist.k_map == 1
    assert found.journalist.highest == 1.0
    assert found.journalist.highest_presence == 1.0
    assert found.journalist.average == pytest.approx((1 + 1 / 3 + 3 / 6 + 1 / 2) / 6)
    assert found.marketer == pytest.approx((1 + 1 / 3 + 3 / 6 + 1 / 2) / 6)
    # Types may differ between the files: numbers against text.
    numbers = pl.DataFrame(EVERYONE).with_columns(pl.col("zip").cast(pl.Int64))
    assert assess_risk(PEOPLE, quasi=["zip", "sex"], population=numbers).journalist == found.journalist


def test_sampling_fraction_and_size_agree() -> None:
    by_size = assess_risk(PEOPLE, quasi=["zip"], population_size=600)
    by_share = assess_risk(PEOPLE, quasi=["zip"], sampling_fraction=0.01)
    assert by_size == by_share or by_size.to_dict() == by_share.to_dict()
    assert by_size.population is not None and by_size.journalist.basis == "estimated"
    whole = assess_risk(PEOPLE, quasi=["zip"], population_size=6)
    assert whole.population is None and whole.journalist.highest == 1.0


def test_suggested_quasi_identifiers() -> None:
    random = np.random.default_rng(0)
    rows = 300
    table = {
        "id": [f"p{i}" for i in range(rows)],
        "age": random.integers(0, 90, rows).tolist(),
        "town": random.integers(0, 50, rows).tolist(),
        "ok": ["yes"] * rows,
    }
    found = assess_risk(table)
    assert found.suggested_quasi and found.quasi == ("age", "town")
    assert found.identifying is not None and found.identifying.identifiers == ("id",)
    with pytest.raises(DataError, match="No column singles out"):
        assess_risk({"ok": ["yes"] * 5})


def test_attack_on_a_release() -> None:
    release = {"zip": ["{1, 2}"] * 5 + ["*"], "sex": ["f", "m", "f", "f", "f", "*"]}
    found = assess_risk(PEOPLE, quasi=["zip", "sex"], released=release)
    exact, near = found.attacks
    # Four rows share ({1, 2}, f), one is ({1, 2}, m), and the suppressed row cannot be picked.
    assert exact.found == pytest.approx(4 * 1 / 4 + 1)
    assert (exact.certain, exact.unmatched, exact.wrong) == (1, 1, 0)
    assert near.kind == "nearest" and near.attempts == 6
    # The release against itself: prosecutor's average risk is what the exact attack finds.
    same = assess_risk(PEOPLE, quasi=["zip", "sex"], released=PEOPLE)
    assert same.attacks[0].share == pytest.approx(same.sizes.average_prosecutor)


def test_the_order_of_rows_gives_everybody_away_unless_they_are_shuffled() -> None:
    people = {"id": list(range(40)), "age": [20 + i % 20 for i in range(40)]}
    release = {"id": people["id"], "age": ["20-39"] * 40}
    found = assess_risk(people, quasi=["age"], released=release)
    assert found.order is not None and (found.order.rows, found.order.found) == (40, 40)
    order = np.random.default_rng(1).permutation(40).tolist()
    shuffled = {"id": [people["id"][i] for i in order], "age": ["20-39"] * 40}
    hidden = assess_risk(people, quasi=["age"], released=shuffled, on="id").order
    assert hidden is not None and hidden.found == sum(i == at for at, i in enumerate(order)) < 4
    fewer = {name: values[5:] for name, values in release.items()}
    assert assess_risk(people, quasi=["age"], released=fewer, on="id").to_dict()["row_order"]["found"] == 35


def test_two_releases_in_which_people_came_and_went() -> None:
    before = {"pseudonym": list("abcdefgh"), "age": ["20-29"] * 4 + ["30-39"] * 4}
    after = {"pseudonym": list("abcdefgxyz"), "age": ["20-29"] * 4 + ["30-39"] * 4 + ["20-29"] * 2}
    found = assess_risk(after, quasi=["age"], beside=before, on="pseudonym", threshold=0.5).beside
    assert found is not None and (found.added, found.removed, found.rows) == (3, 1, 7)
    assert found.exposed_changes == 2  # x came alone to its class, h went alone; y and z came together
    counts = assess_risk(
        {"age": after["age"]}, quasi=["age"], beside={"age": before["age"]}, in_order=False, threshold=0.25
    ).to_dict()["beside"]
    assert (counts["joined_by"], counts["added"], counts["removed"], counts["exposed_changes"]) == ("values", 2, 0, 2)
    # A unit that both tables hold joins them person by person; without it, what joins them must be named.
    people = assess_risk(after, quasi=["age"], beside=before, unit="pseudonym", threshold=0.5).beside
    assert people is not None
    assert (people.joined_by, people.added, people.removed, people.rows, people.exposed_changes) == (
        "pseudonym", 3, 1, 7, 2,
    )  # fmt: skip
    with pytest.raises(DataError, match="joined by a column of all of them"):
        assess_risk(after, quasi=["age"], beside={"age": before["age"]}, unit="pseudonym")


def test_the_page_tells_what_order_time_and_another_release_give_away() -> None:
    """Unsorted matching, complementary release and temporal attack were in text and JSON only."""
    before = {"who": list("abcdefgh"), "age": ["20-29"] * 4 + ["30-39"] * 4}
    after = {"who": list("abcdefgx"), "age": ["20-24"] * 2 + ["25-34"] * 4 + ["35-39"] * 2}
    page = assess_risk(after, quasi=["age"], beside=before, on="who", threshold=0.34, sensitive=[]).to_html()
    counted = assess_risk(after, quasi=["age"], beside=before, on="who", threshold=0.34).beside
    assert counted is not None and counted.rows_below > 0
    for attack, number in (("Complementary release", counted.rows_below), ("Temporal", counted.exposed_changes)):
        assert re.search(rf"{attack}</t[hd]>\s*<td[^>]*>{number}<", page), attack
    assert "joined by who" in page and "narrow the values of age" in page and "1 row only in this one" in page
    people = {"age": [21, 22, 31, 32]}
    released = {"age": ["20-29", "20-29", "30-39", "30-39"]}
    found = assess_risk(people, quasi=["age"], released=released)
    assert found.order is not None and found.order.share == 1.0
    assert re.search(r"Unsorted matching</t[hd]>\s*<td[^>]*>4 \(100%\)", found.to_html())
    assert "Unsorted matching" not in assess_risk(people, quasi=["age"]).to_html()


def test_attack_agrees_with_the_classes_of_a_kanopy_release() -> None:
    """Full-domain labels do not overlap, so each class yields one expected match."""
    adult = kanopy.datasets.adult().head(1500)
    quasi = ["age", "sex", "race"]
    hierarchies = {name: tree for name, tree in kanopy.datasets.adult_hierarchies().items() if name in quasi}
    result = kanopy.anonymize(adult, kanopy.Job(quasi=quasi, k=4, suppress=0.05, hierarchies=hierarchies))
    found = assess_risk(adult, quasi=quasi, released=result.frame, hierarchies=hierarchies)
    assert found.attacks[0].found == pytest.approx(result.verification.classes)
    assert found.attacks[0].highest_risk <= 0.25


def test_a_table_that_is_itself_a_release() -> None:
    found = assess_risk({"a": ["x", "x", "*"], "b": ["1", "1", "*"]}, quasi=["a", "b"])
    assert (found.suppressed_rows, found.sizes.rows, found.sizes.smallest_class) == (1, 2, 2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"population_size": 5}, JobError, "a sample cannot be larger"),
        ({"population_size": 50, "sampling_fraction": 0.1}, JobError, "not both"),
        ({"sampling_fraction": 0.0}, JobError, "above 0 and at most 1"),
        ({"population": {"zip": ["1"], "sex": ["f"]}}, DataError, "cannot be smaller than a sample"),
        ({"population": {"zip": ["9"] * 9, "sex": ["f"] * 9}}, DataError, "more rows in the table than in the pop"),
        ({"population": {"zip": ["1"] * 9}}, DataError, "population table has no column 'sex'"),
        ({"population": EVERYONE, "population_size": 99}, JobError, "leave its size"),
        ({"threshold": 1.5}, JobError, "threshold must be a share"),
        ({"largest_subset": -1}, JobError, "at least 0, not -1"),
        ({"sensitive": ["sex"]}, JobError, "'sex' has two roles"),
        ({"sensitive": ["illness"]}, DataError, "no column 'illness'"),
        ({"released": {"zip": ["1"] * 7, "sex": ["f"] * 7}}, DataError, "7 rows, the original 6"),
        ({"released": {"zip": ["1"] * 6, "gender": ["f"] * 6}}, DataError, "columns that the original lacks"),
    ],
)
def test_bad_input(options: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        assess_risk(PEOPLE, quasi=["zip", "sex"], **options)  # type: ignore[arg-type]


def test_the_page_is_self_contained_and_escapes() -> None:
    nasty = {**PEOPLE, "ill": ["<script>alert(1)</script>"] * 6}
    page = assess_risk(nasty, quasi=["zip", "sex"], sensitive=["ill"], population_size=600).to_html("<b>.csv")
    assert "<script" not in page and "&lt;script&gt;" in page and "&lt;b&gt;.csv" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")
    for words in (
        "Three attackers",
        "unique in the population",
        "Which columns identify people",
        "What groups disclose",
    ):
        assert words in page


def test_nobody_is_found_where_everything_is_suppressed() -> None:
    """With a population beside it, a release without a class ended in a division by zero."""
    people = pl.DataFrame({"age": [31, 34], "town": ["Bonn", "Kiel"]})
    released = people.with_columns(pl.lit("*").alias(name) for name in people.columns)
    found = table_risk(released, people.columns, population=people, suppressed=np.ones(2, bool))
    assert (found.sizes.classes, found.journalist.highest, found.marketer) == (0, 0.0, 0.0)
