"""Columns that undo the generalization of another are found and held back, and no columns that are harmless."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._job.guess import guess_job
from kanopy._table.guessing.inference import find_dependences
from kanopy.release.engine_choice import open_engine
from kanopy.release.out_of_core import run_on_engine
from tests.engine.test_contract import fill

TOWNS = ["Bonn", "Kiel", "Ulm", "Lyon", "Nice", "Rome", "Bath", "York"]
LEVELS = ["none", "primary", "lower", "upper", "college", "bachelor", "master", "doctor"]


def planted(seed: int, rows: int = 3_000) -> pl.DataFrame:
    """Columns that others know, everything that can be made of them, and what has nothing to do with them."""
    draw = np.random.default_rng(seed)
    age, level = draw.integers(18, 90, rows), draw.integers(0, 8, rows)
    before, after = draw.normal(75, 14, rows).round(2), draw.normal(78, 14, rows).round(2)
    zipcode = draw.integers(0, 400, rows)
    day = [dt.date(1930, 1, 1) + dt.timedelta(days=int(each)) for each in draw.integers(0, 25_000, rows)]
    slope, shift = draw.uniform(0.1, 9) * draw.choice([-1, 1]), draw.uniform(-99, 99)
    code = draw.permutation(8)
    return pl.DataFrame(
        {
            "age": age, "level": [LEVELS[each] for each in level], "before": before, "after": after,
            "zip": [f"{53_000 + each}" for each in zipcode], "day": [each.isoformat() for each in day],
            "born": 2024 - age - draw.integers(0, 2, rows), "age_days": 365.25 * age, "age_squared": age**2,
            "log_age": np.log(age), "decade": age // 10 * 10, "minor": age < 30, "affine_age": slope * age + shift,
            "level_code": code[level], "schooled": level > 3, "copy": [LEVELS[each].upper() for each in level],
            "gain": (after - before).round(2), "total": before + after, "pounds": (before * 2.20462).round(1),
            "city": [TOWNS[each // 50] for each in zipcode], "zip3": [f"{53_000 + each}"[:3] for each in zipcode],
            "year": [each.year for each in day], "month_of": [f"{each:%Y-%m}" for each in day],
            "income": (900 + 60 * age * draw.uniform(0.2, 3, rows)).round(), "noise": draw.normal(0, 1, rows),
            "ill": draw.choice(["flu", "cold", "gout", "burn"], rows), "visits": draw.poisson(2, rows),
            "tall": (before + draw.normal(0, 9, rows)).round(1), "rare": draw.uniform(0, 1, rows) < 0.01,
        }
    )  # fmt: skip


QUASI = ["age", "level", "before", "after", "zip", "day"]
TELLING = {
    "born": "age", "age_days": "age", "age_squared": "age", "log_age": "age", "decade": "age", "minor": "age",
    "affine_age": "age", "level_code": "level", "schooled": "level", "copy": "level", "gain": "before",
    "total": "before", "pounds": "before", "city": "zip", "zip3": "zip", "year": "day", "month_of": "day",
}  # fmt: skip
HARMLESS = ["income", "noise", "ill", "visits", "tall", "rare"]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_made_of_a_generalized_column_is_found_and_nothing_else(seed: int) -> None:
    table = planted(seed)
    found = find_dependences(table, [*TELLING, *HARMLESS], QUASI)
    assert {each.column for each in found} == set(TELLING)
    for name, revealed in TELLING.items():
        assert revealed in {each.revealed for each in found if each.column == name}, name


def test_the_order_of_rows_and_wrong_values_change_nothing() -> None:
    table = planted(1)
    wrong = pl.int_range(table.height, eager=True) % 40 == 3  # one in forty is wrong, another is missing
    table = table.with_columns(
        level_code=pl.when(wrong).then(9).otherwise("level_code"),
        gain=pl.when(~wrong).then("gain"),
        born=pl.when(~wrong).then("born"),
    )
    one = {(each.column, each.revealed) for each in find_dependences(table, [*TELLING, *HARMLESS], QUASI)}
    again = table.sample(fraction=1, shuffle=True, seed=3)
    other = {(each.column, each.revealed) for each in find_dependences(again, [*TELLING, *HARMLESS], QUASI)}
    assert one == other and {column for column, _ in one} == set(TELLING)


@pytest.mark.parametrize("rows", [60, 1_000, 20_000])
def test_equal_rows_are_no_dependence(rows: int) -> None:
    """Of few columns with few values most rows are equal to many others."""
    for seed in range(5):
        draw = np.random.default_rng(seed)
        table = pl.DataFrame({"age": draw.integers(0, 5 + 20 * seed, rows), "ill": draw.choice(list("abcd"), rows)})
        assert find_dependences(table, ["ill"], ["age"]) == []
        table = table.with_columns(old=pl.col("age") > 3)
        found = find_dependences(table, ["ill", "old"], ["age"]) if rows > 60 else []
        assert {each.column for each in found} <= {"old"}


def composed(seed: int, rows: int = 1_000) -> pl.DataFrame:
    """What is made of several columns, rounded, and what looks like it."""
    draw = np.random.default_rng(seed)
    weight, height = draw.normal(75, 14, rows).round(1), draw.normal(1.72, 0.1, rows).round(2)
    pay, rent, rest, gift = (draw.gamma(3, 400, rows).round() for _ in range(4))
    age, hours, heads = draw.integers(18, 90, rows), draw.integers(10, 60, rows), draw.integers(1, 7, rows)
    origin = draw.choice(3, rows, p=[0.6, 0.3, 0.1])
    return pl.DataFrame(
        {
            "weight": weight, "height": height, "age": age, "pay": pay, "rent": rent, "rest": rest, "hours": hours,
            "north": origin == 0, "east": np.where(origin == 1, "yes", "no"),
            "bmi": (weight / height**2).round(1), "surface": np.sqrt(weight * height / 36).round(2),
            "total": pay + rent + rest,
            "everything": pay + rent + rest + gift, "index": (0.3 * pay + 0.5 * rent).round(),
            "mean": ((pay + rent + rest) / 3).round(1), "rate": (pay / hours).round(2),
            "bmi_band": (weight / height**2).round(),
            "south": (origin == 2).astype(int),
            "gift": gift, "heads": heads, "noisy_total": (pay + rent + draw.normal(0, 200, rows)).round(),
            "noisy_bmi": weight / height**2 * draw.uniform(0.9, 1.1, rows), "raised": pay * draw.uniform(0.5, 2, rows),
            "bought": draw.gamma(1, 100, rows).round(2), "rare": draw.uniform(0, 1, rows) < 0.02,
        }
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_sums_and_products_of_several_columns_are_found_and_nothing_else(seed: int) -> None:
    table = composed(seed)
    quasi = ["weight", "height", "age", "pay", "rent", "rest", "hours", "north", "east"]
    made = {"bmi": "height", "surface": "weight", "total": "rest", "index": "rent", "mean": "pay", "rate": "hours",
            "bmi_band": "weight", "south": "north"}  # fmt: skip
    found = find_dependences(table, [name for name in table.columns if name not in quasi], quasi)
    revealed = {each.column for each in found}
    # Of a sum of what is published and what is not, it is enough to hold one back.
    assert revealed - {"everything", "gift"} == set(made) and len(revealed & {"everything", "gift"}) == 1
    for name, column in made.items():
        assert column in {each.revealed for each in found if each.column == name}, name


def test_a_dependency_that_holds_in_most_rows_of_a_large_table_is_found() -> None:
    """What is decided on rows that are drawn: a function in nearly all rows is far from chance, and so in a few."""
    draw, rows = np.random.default_rng(7), 300_000
    age, chance = draw.integers(18, 90, rows), draw.uniform(0, 1, rows)
    table = pl.DataFrame(
        {
            "age": age,
            "most": np.where(chance < 0.99, 2024 - age, draw.integers(1934, 2006, rows)),
            "mostly": np.where(chance < 0.98, age // 10, draw.integers(1, 9, rows)),
            "seldom": [int(each) if known else None for each, known in zip(2024 - age, chance < 0.02, strict=True)],
            "half": np.where(chance < 0.5, age, draw.integers(18, 90, rows)),
        }
    )
    for seed in range(3):
        shuffled = table.sample(fraction=1, shuffle=True, seed=seed)
        found = {each.column for each in find_dependences(shuffled, table.columns[1:], ["age"])}
        assert found == {"most", "mostly", "seldom"}


AGES = {"age": {"method": "widths", "widths": [10, 40]}}
JOB = Job(quasi=["age", "level"], k=5, suppress=0.02, hierarchies=AGES, insensitive=["born", "level_code", "ill"],
          min_levels={"age": 1}, max_levels={"level": 0})  # fmt: skip


def test_a_release_leaves_out_what_undoes_it_and_says_of_how_many_rows() -> None:
    table = planted(0)
    result = kanopy.anonymize(table, JOB)
    # level is published as it is, but for suppressed rows: its code tells nothing that is hidden.
    assert result.data.columns == ["age", "level", "level_code", "ill"] and result.frame.columns == result.data.columns
    (note,) = [note for note in result.notes if "'born' was left out" in note]
    assert "determines 'age' (98 % of the rows" in note and "allow-dependent" in note
    assert any("'born' was left out" in note for note in result.summary()["notes"]) and result.to_html()
    assert not any("'born'" in note for note in result.notes if note.startswith("Published unchanged"))
    allowed = kanopy.anonymize(table, JOB.replaced(allow_dependent=["born"]))
    assert any("'born' (quasi" in note for note in allowed.notes if note.startswith("Published unchanged"))
    assert allowed.data.columns == ["age", "level", "born", "level_code", "ill"]
    assert any("'born' is published, as the job allows, although it determines 'age'" in note for note in allowed.notes)
    revealed = Job.from_toml(JOB.replaced(allow_dependent=["born"]).to_toml())
    assert revealed.allow_dependent == ("born",) and "allow" not in JOB.to_toml()


def test_what_a_model_guards_leaves_with_a_warning() -> None:
    job = Job(quasi=["age"], k=5, hierarchies=AGES, min_levels={"age": 2}, models=["l-distinct:decade:2"])
    result = kanopy.anonymize(planted(0), job)
    assert "decade" in result.data.columns
    assert any("'decade' is published because a model or the target names it" in note for note in result.notes)


def test_init_leaves_it_undecided() -> None:
    table = planted(0).select("age", "before", "after", "income", born="affine_age", outcome="gain").rename(
        {"before": "weight71", "after": "weight82", "born": "score"}
    )  # fmt: skip
    guessed = {each["column"]: each for each in guess_job(table).columns}
    for name in ("score", "outcome"):
        assert guessed[name]["role"] == "undecided" and "would undo the generalization" in guessed[name]["reason"], name
    assert guessed["income"]["role"] == "sensitive"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("p.csv", "out.csv"),
        ("p.parquet", "out.parquet"),
        ("p.duckdb::p", "p.duckdb::out"),
        ("p.sqlite::p", "p.sqlite::out"),
    ],
)
def test_every_engine_leaves_the_same_columns_out(source: str, output: str, tmp_path: Path) -> None:
    table = planted(2).select("age", "level", "before", "after", "born", "level_code", "gain", "ill")
    file = tmp_path / source.partition("::")[0]
    match file.suffix:
        case ".csv":
            table.write_csv(file)
        case ".parquet":
            table.write_parquet(file)
        case _:
            fill(str(file), table, "p")
    cuts = {"method": "widths", "widths": [20, 60]}
    job = Job(quasi=["age", "level", "before", "after"], k=5, suppress=0.1, rest="publish",
              hierarchies={**AGES, "before": cuts, "after": cuts})  # fmt: skip
    engine = "database" if "::" in source else "stream"
    with open_engine(engine, str(tmp_path / source), str(tmp_path / output), job) as opened:
        found = run_on_engine(opened, job)
    meant = kanopy.anonymize(table, job)
    held = [name for name in ("born", "level_code", "gain") if name not in meant.data.columns]
    assert "born" in held and "ill" in meant.data.columns
    assert [name for name in table.columns if name not in meant.data.columns] == held
    assert [
        name for name in table.columns if any(f"column {name!r} was left out" in note for note in found.notes)
    ] == held
    for notes in (meant.notes, found.notes):  # what is said to be published is
        said = [note for note in notes if note.startswith("Published unchanged")]
        assert not any(repr(name) in note for name in held for note in said)


def test_a_copy_is_one_in_a_few_rows_too() -> None:
    few = pl.DataFrame({"age": [31, 34, 38, 52, 57, 59, 60], "same": [31, 34, 38, 52, 57, 59, 60], "other": range(7)})
    assert [each.how for each in find_dependences(few, ["same"], ["age"])] == ["is a copy of"]
    assert find_dependences(few, ["other"], ["age"]) == []
    by_chance = pl.DataFrame({"sex": list("fmfmfm"), "smokes": list("fmfmfm")})
    assert find_dependences(by_chance, ["smokes"], ["sex"]) == []
