"""Label truth: true labels pass, whatever builder wrote them; false ones are caught."""

from __future__ import annotations

import polars as pl
import pytest

from kanopy._errors import VerificationFailed
from kanopy.verify.labels import false_labels, verify_labels

TRUE = [
    ("31", "31"), ("31", "[30, 39]"), ("31", "[30, 31]"), ("31", "30-39"), ("31", "30–39"), ("31", "≤ 31"),
    ("31", ">= 31"), ("31", "30+"), ("31", "{12, 31}"), ("31", "{12, 30 - 40}"), ("31", "*"), ("-5", "[-10, -1]"),
    ("-5", "-10–-1"), ("1.5", "[1, 2)"), ("2", "(1, 2]"), ("02140", "021**"), ("02140", "0*"), ("1500", "1,000-2,000"),
    ("2001-03-05", "2001-03"), ("2001-03-05", "2001"), ("2001-03-05", "2000s"), ("2001-03-05", "2001-Q1"),
    ("2001-03-05", "2001-W10"), ("2001-03-05", "[2001-01-01, 2001-12-31]"), ("13-01-1922", "01-01-1920–31-12-1929"),
    ("5.3.2001", "1.1.2001–31.12.2001"), ("2001-03-05T10:20:00", "2001-03-05T10"), ("Jones, A", "Jones, A"),
    ("18-24", "0-50"),
]  # fmt: skip
FALSE = [
    ("31", "[32, 39]"), ("31", "30"), ("31", "[20, 31)"), ("31", "(31, 40]"), ("31", "≤ 30"), ("31", "40+"),
    ("31", "{12, 32}"), ("-5", "[1, 10]"), ("02140", "022**"), ("02140", "1*"), ("2001-03-05", "2001-04"),
    ("2001-03-05", "2002"), ("2001-03-05", "1990s"), ("2001-03-05", "2001-Q2"), ("2001-03-05", "2001-W09"),
    ("13-01-1922", "22-06-1944–26-11-1970"), ("nurse", "food"), ("31", None),
    ("2001-03-05", "[2001-04-01, 2001-12-31]"), ("18-24", "20-50"), ("31", "(missing)"), ("31", "old"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "label"), TRUE)
def test_true_labels_pass(value: str, label: str) -> None:
    assert false_labels(pl.Series("x", [value]), pl.Series("x", [label])) is None


@pytest.mark.parametrize(("value", "label"), FALSE)
def test_false_labels_are_caught(value: str, label: str | None) -> None:
    found = false_labels(pl.Series("x", [value, value, None]), pl.Series("x", [label, label, None], pl.String))
    assert found is not None
    assert found.rows == 2 and found.examples == ((value, label),)


def test_groups_of_the_hierarchy_are_true_and_others_are_not() -> None:
    above = {"nurse": ["care", "*"], "cook": ["food", "*"]}
    original, published = pl.Series("job", ["nurse", "cook", "cook"]), pl.Series("job", ["care", "food", "care"])
    found = false_labels(original, published, lambda value: above[value])
    assert found is not None and found.examples == (("cook", "care"),) and found.rows == 1


def test_missing_values_are_published_as_missing_or_suppressed_only() -> None:
    original = pl.Series("age", ["31", None, "?", ""])
    for label, fine in [(None, True), ("*", True), ("(missing)", True), ("[30, 39]", False)]:
        published = pl.Series("age", ["31", label, label, ""], pl.String)
        assert (false_labels(original, published, missing_tokens=["?"]) is None) == fine


def test_an_ambiguous_date_is_read_in_the_form_that_fits_the_whole_column() -> None:
    days = pl.Series("d", ["03/04/2001", "25/04/2001"])
    assert false_labels(days, pl.Series("d", ["2001-04", "2001-04"])) is None
    assert false_labels(days, pl.Series("d", ["2001-03", "2001-04"])) is not None


def test_the_error_names_the_column_and_up_to_five_pairs() -> None:
    before = pl.DataFrame({"age": list(range(20))})
    after = pl.DataFrame({"age": ["[90, 99]"] * 20})
    with pytest.raises(VerificationFailed, match=r"20 rows of 'age'.*0 as \[90, 99\]") as caught:
        verify_labels(before, after, ["age"], {})
    assert str(caught.value).count(" as ") == 5


def test_hierarchies_made_by_people_are_taken_at_their_word_and_named() -> None:
    above = {"20": ["15-19", "*"], "17": ["15-19", "*"]}
    before, after = pl.DataFrame({"age": ["20", "17"]}), pl.DataFrame({"age": ["15-19", "15-19"]})
    with pytest.raises(VerificationFailed, match="20 as 15-19"):
        verify_labels(before, after, ["age"], {"age": above.__getitem__})
    (remark,) = verify_labels(before, after, ["age"], {"age": above.__getitem__}, given=["age"])
    assert "20 is called 15-19" in remark
    wrong = pl.DataFrame({"age": ["15-19", "30-39"]})
    with pytest.raises(VerificationFailed, match="17 as 30-39"):
        verify_labels(before, wrong, ["age"], {"age": above.__getitem__}, given=["age"])
