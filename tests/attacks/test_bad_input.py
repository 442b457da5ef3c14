"""What cannot be answered is said in words, before the work starts; what can be told is told."""

from __future__ import annotations

import polars as pl
import pytest

import kanopy
from kanopy._errors import KanopyError
from kanopy.report.documents.attacks import attack_document

PEOPLE = pl.DataFrame({
    "who": [f"p{place // 2}" for place in range(80)], "age": [20 + place * 7 % 40 for place in range(80)],
    "town": ["abcd"[place % 4] for place in range(80)], "ill": ["uvw"[place % 3] for place in range(80)],
})  # fmt: skip
OTHERS = PEOPLE.with_columns(who="x" + pl.col("who"), age=pl.col("age") + 41)
RELEASE = PEOPLE.select(
    pl.format("[{}, {}]", pl.col("age") // 10 * 10, pl.col("age") // 10 * 10 + 9).alias("age"), "town", "ill"
)
QUICK = {"guesses": 50, "learn": False}


def test_refused_with_words() -> None:
    for given, words in (
        ({"released": RELEASE, "control": PEOPLE[:40]}, "also rows of the original"),
        ({"released": RELEASE, "control": PEOPLE[:20], "unit": "who"}, "also in the original"),
        ({"released": RELEASE, "control": OTHERS.drop("town")}, "no column 'town'"),
        ({"released": RELEASE, "control": OTHERS.with_columns(age=[[1]] * 80)}, "holds List"),
        ({"released": RELEASE.rename({"age": "a", "town": "t", "ill": "i"})}, "no column of the original"),
        ({"released": RELEASE, "control": "20%"}, "exists already"),
        ({"control": "20%"}, "not held back needs a job"),
        ({"control": "0%", "job": kanopy.Job(quasi="age", k=3)}, "cannot be held out"),
        ({"control": "120%", "job": kanopy.Job(quasi="age", k=3)}, "120"),
        ({}, "no release to attack"),
        ({"released": RELEASE, "guesses": 0}, "at least 1"),
        ({"released": RELEASE, "first": "shoe"}, "cannot have 'shoe'"),
        ({"released": RELEASE, "quasi": "shoe"}, "no column 'shoe'"),
        ({"released": RELEASE.clear()}, "no re|no rows"),
        ({"released": RELEASE.with_columns(age=pl.lit("young"), town=pl.lit("here"), ill=pl.lit("so"))}, "can be read"),
        (
            {"released": RELEASE.with_columns(age=pl.lit("young")), "beside": RELEASE.drop("ill"), "sensitive": "ill"},
            "earlier release",
        ),
    ):
        with pytest.raises(KanopyError, match=words):
            kanopy.attack(PEOPLE, **{**QUICK, **given})


def test_said_and_counted() -> None:
    strange = RELEASE.with_columns(age=pl.when(pl.col("town") == "a").then(pl.lit("young")).otherwise("age"))
    found = kanopy.attack(PEOPLE, strange, control=OTHERS, quasi="age,town", sensitive="ill", **QUICK)
    assert [(each.column, each.labels, each.rows) for each in found.unreadable] == [("age", 1, 20)]
    assert any("1 labels of 'age' in 20 rows cannot be read ('young')" in note for note in found.notes)

    without = kanopy.attack(PEOPLE, RELEASE[["age"]], quasi="age", **QUICK)
    assert any("no sensitive column" in note for note in without.notes)
    assert any("no control group" in note for note in without.notes)
    assert without.criterion("inference") is None

    one_class = RELEASE.with_columns(age=pl.lit("*"), town=pl.lit("*"))
    found = kanopy.attack(PEOPLE, one_class, control=OTHERS, quasi="age,town", sensitive="ill", **QUICK)
    assert any("form one class" in note for note in found.notes)
    assert found.criterion("singling out") is None, "three predicates are too few for a risk"
    assert "could not be measured" in found.verdict

    nothing = RELEASE.with_columns(age=pl.lit("*"), town=pl.lit("*"), ill=pl.lit("*"))
    found = kanopy.attack(PEOPLE, nothing, control=OTHERS, quasi="age,town", sensitive="ill", **QUICK)
    assert any("Everything is suppressed" in note for note in found.notes)
    assert all(each.risk is None for each in found.attacks if each.attack == "singling out")

    few = kanopy.attack(PEOPLE, RELEASE, control=OTHERS[:10], quasi="age,town", sensitive="ill", **QUICK)
    assert any("10 people: too few" in note for note in few.notes)
    assert all(each.risk is None for each in few.attacks if each.attack in ("linkability", "inference"))


def test_the_same_seed_gives_the_same_figures() -> None:
    one, same, other = (
        kanopy.attack(PEOPLE, RELEASE, control=OTHERS, quasi="age,town", sensitive="ill", seed=seed, **QUICK).to_dict()
        for seed in (3, 3, 4)
    )
    assert one == same and one != other


def test_people_are_held_out_whole() -> None:
    job = kanopy.Job(quasi="age,town", sensitive="ill", unit="who", k=3)
    found = kanopy.attack(PEOPLE, job=job, control="25%", **QUICK)
    assert (found.people, found.control_people) == (30, 10)


@pytest.mark.parametrize(
    ("high", "words", "good"), [(0.05, "No attack does better", True), (0.4, "a risk of 40% is not excluded", None)]
)
def test_a_document_says_what_its_intervals_do_not_exclude(high: float, words: str, good: bool | None) -> None:
    found = kanopy.attack(PEOPLE, RELEASE, control=OTHERS, quasi="age,town", sensitive="ill", **QUICK).to_dict()
    one = next(each for each in found["criteria"].values() if each is not None)
    risk = {"value": 0.0, "low": 0.0, "high": high}
    found["criteria"] = {name: {**one, "attack": name, "risk": risk} for name in found["criteria"]}
    document = attack_document(found, "release.csv")
    assert words in document.verdict and document.good is good
