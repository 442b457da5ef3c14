"""Codes, post codes and numbers with units: what the default makes of them."""

from __future__ import annotations

import time

import polars as pl
import pytest

import kanopy
from kanopy.hierarchy.column import column_of
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.suggest import choose_hierarchy
from kanopy.verify.labels import false_labels


def levels_of(tree: Hierarchy) -> list[set[str]]:
    return [set(tree.labels_at(level)) for level in range(1, tree.height + 1)]


def chosen(values: list[object], name: str = "", k: int = 2) -> Hierarchy:
    """The default hierarchy, of which every label is true."""
    tree = choose_hierarchy(column_of(values, name=name), k=k).hierarchy
    above = {row[0]: row for row in tree.rows()}
    for level in range(1, tree.height + 1):
        published = pl.Series("x", [tree.generalize(value, level) for value in tree.values])
        original = pl.Series("x", list(tree.values))
        assert false_labels(original, published, lambda value: above[value]) is None
    return tree


@pytest.mark.parametrize(
    "values",
    [["75001", "75013", "13001", "13002"], ["W1A 0AX 1", "W1A 0AX 22", "W1B 0AX 1"], [f"w{i}" for i in range(120)]],
)
def test_every_level_of_codes_joins_something(values: list[object]) -> None:
    tree = chosen(values)
    sizes = [len(tree.labels_at(level)) for level in range(tree.height + 1)]
    assert sizes == sorted(set(sizes), reverse=True)


def test_levels_that_join_nothing_stay_if_not_said_otherwise() -> None:
    codes = ["75001", "75013"]
    assert kanopy.build_hierarchy(codes, "redact").height == 5
    assert kanopy.build_hierarchy(codes, "redact", joining=True).height == 1
    assert kanopy.build_hierarchy(codes, "prefix", joining=True).height == 1


MEASURED: dict[str, tuple[list[object], set[str]]] = {
    "unit": ([f"{n} kg" for n in range(50, 91)], {"60–69 kg", "≤ 59 kg"}),
    "tight unit": ([f"{n}cm" for n in range(50, 91)], {"60–69cm", "≤ 59cm"}),
    "decimals": ([f"{n / 2} kg" for n in range(100, 181)], {"[60 kg, 70 kg)"}),
    "percent": ([f"{n}%" for n in range(50, 91)], {"60–69%", "≤ 59%"}),
    "money": ([f"€ {n:,}" for n in range(500, 4600, 100)], {"< € 1,500"}),
    "millions": ([f"{n:,}" for n in range(500_000, 4_600_000, 100_000)], {"< 1,500,000"}),
    "years": ([f"{n} year{'s' * (n > 1)}" for n in range(1, 41)], {"≤ 14 years", "15–29 years"}),
}


@pytest.mark.parametrize("name", MEASURED)
def test_numbers_with_a_unit_are_cut_like_numbers(name: str) -> None:
    values, labels = MEASURED[name]
    assert labels <= set(chosen(values, k=10).labels)


@pytest.mark.parametrize(
    "values",
    [["12A", "14A", "17A"], ["007 m", "012 m", "113 m"], ["65 kg", "143 lb", "70 kg"], ["1,200", "1,350", "850"],
     ["€ 1.200", "€ 850", "€ 900"], ["w1", "w12", "w3"]],
)  # fmt: skip
def test_what_may_be_a_code_or_another_number_is_not_measured(values: list[object]) -> None:
    assert chosen(values).low is None


def test_releases_of_measured_columns_are_verified_and_name_no_own_values() -> None:
    weights = [f"{50 + (7 * i) % 41} kg" for i in range(300)]
    made = kanopy.anonymize({"weight": weights, "sex": ["f", "m"] * 150}, kanopy.Job(quasi=["weight", "sex"], k=8))
    labels = set(made.data["weight"])
    assert len(labels) > 2 and all(label.endswith("kg") for label in labels)
    assert not any("end at values" in note for note in made.notes)
    false = false_labels(pl.Series("w", ["65 kg", "72.5 kg"]), pl.Series("w", ["60–69 kg", "60–69 kg"]))
    assert false is not None and false.examples == (("72.5 kg", "60–69 kg"),)


BRITISH = ["SW1A 1AA", "SW1A 2BB", "SW1P 3CC", "M1 1AE", "M1 2AF", "M60 1NW", "EC1A 1BB", "B33 8TH"]
CANADIAN = ["K1A 0B1", "K1A 0B2", "K2P 1L4", "M5V 3L9", "M5V 1A1", "H2X 1Y4"]


def test_post_codes_are_shortened_to_the_places_they_name() -> None:
    british = levels_of(chosen(BRITISH * 3))
    assert british == [{"SW1A", "SW1P", "M1", "M60", "EC1A", "B33"}, {"SW", "M", "EC", "B"}, {"*"}]
    tight = levels_of(chosen([code.replace(" ", "") for code in BRITISH] * 3))
    assert tight == british
    assert levels_of(chosen(CANADIAN * 3)) == [{"K1A", "K2P", "M5V", "H2X"}, {"K", "M", "H"}, {"*"}]


def test_numbers_that_are_codes_by_their_name_are_shortened() -> None:
    jobs: list[object] = [2111, 2112, 2131, 5120, 5131, 9111, 9112]
    for name in ("isco", "ISCO08", "occupation_code", "OccCode"):
        assert levels_of(chosen(jobs * 3, name))[0] == {"211*", "213*", "512*", "513*", "911*"}
        assert levels_of(chosen([str(job) for job in jobs] * 3, name))[1] == {"21**", "51**", "91**"}
    assert chosen(jobs * 3, "income").low is not None
    assert chosen([*jobs, 110] * 3, "isco").low is not None, "whether 110 lost a zero is not known"


def test_zip_codes_get_their_leading_zeros_back() -> None:
    zips: list[object] = [2139, 2140, 10001, 10002, 90210, 90211, 501]
    tree = chosen(zips * 3, "zip_code")
    assert tree.generalize("2139", 1) == "0213*" and tree.generalize("501", 1) == "0050*"
    assert tree.generalize("2139", 2) == tree.generalize("2140", 2) == "021**"
    assert chosen(zips * 3, "plz").low is not None, "four digits are a code of Austria or Switzerland"


def test_jobs_and_init_shorten_them_alike() -> None:
    table = {
        "zip": [2139, 2140, 2139, 10001, 10002, 90210, 90211, 90210] * 10, "age": [30, 31, 32, 33] * 20,
        "postcode": BRITISH * 10,
    }  # fmt: skip
    made = kanopy.anonymize({"zip": table["zip"], "age": table["age"]}, kanopy.Job(quasi=["zip", "age"], k=15))
    assert set(made.data["zip"]) <= {"0213*", "0214*", "021**", "1000*", "100**", "9021*", "902**", "*****"}
    job = kanopy.guess_job(table).job
    assert job.hierarchies["zip"] == {
        "classification": "us-zip3",
        "fit": True,
    }  # areas that people know, instead of digits
    assert job.hierarchies["postcode"]["method"] == "prefix"
    assert set(kanopy.anonymize(table, job.replaced(quasi="postcode", k=20)).data["postcode"]) <= {
        "SW", "M", "EC", "B", "*",
    }  # fmt: skip


def test_long_texts_are_read_at_once() -> None:
    """Spaces before words took minutes to be found no number."""
    texts = pl.Series("x", [" " * 2000 + "y" * 2000 + str(i) for i in range(3)])
    start = time.process_time()
    assert false_labels(texts, pl.Series("x", ["10–19 kg"] * 3)) is not None
    assert column_of(texts).inferred().kind == "text"
    assert time.process_time() - start < 5
