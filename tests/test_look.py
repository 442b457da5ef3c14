"""Looks at what a job would do: exact where that is quick, an estimate for large tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import NoSolution
from kanopy._job.job import Job
from kanopy.release.prepare import prepare
from kanopy.release.sweeps import preview
from kanopy.study.column_profiles import look_at_columns, people_under


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Ages, towns and years, nearly all of them different together."""
    draw = np.random.default_rng(5)
    rows = 6_000
    return pl.DataFrame({
        "age": draw.integers(18, 90, rows), "town": [f"T{n}" for n in draw.zipf(1.6, rows).clip(1, 60)],
        "year": draw.integers(1950, 2010, rows),
    })  # fmt: skip


def test_a_small_search_is_looked_at_exactly(people: pl.DataFrame) -> None:
    job = Job(quasi=["age", "town"], k=8, suppress=0.02)
    found = preview.Previews(prepare(people, preview.quick_job(job))).at(job)
    release = kanopy.anonymize(people, job)
    assert found.exact and found.looked_at == found.rows == len(people)
    assert found.loss == pytest.approx(release.losses["loss"]) and found.levels == release.levels
    assert (found.classes, found.smallest_class, found.suppressed) == (
        release.summary()["classes"], release.summary()["smallest_class"], release.summary()["suppressed"]
    )  # fmt: skip


def test_parts_of_a_large_table_say_about_what_all_of_it_does(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(quasi=["age", "town", "year"], k=4, local=True)
    prepared = prepare(people, preview.quick_job(job))
    whole = preview.Previews(prepared).at(job)
    assert whole.algorithm == "mondrian" and not whole.exact and whole.looked_at == len(people)
    for name, value in (("MOST_CELLS", 1_000), ("PART_ROWS", 200), ("PARTS", 8)):
        monkeypatch.setattr(preview, name, value)
    part = preview.Previews(prepared).at(job)
    assert 8 * 200 <= part.looked_at < len(people) and part.rows == len(people) and part.smallest_class >= 4
    assert part.loss == pytest.approx(whole.loss, rel=0.15) and part.classes == pytest.approx(whole.classes, rel=0.15)
    # The parts stay the same, so that a slider moves the numbers and not chance.
    assert preview.Previews(prepared).at(job).loss == part.loss
    assert part.loss < preview.Previews(prepared).at(job.replaced(k=20)).loss
    # Classes too large for a part, and other models, are looked at in the whole table.
    assert preview.Previews(prepared).at(job.replaced(k=preview.LARGEST_K + 1)).looked_at == len(people)


def test_what_has_no_solution_is_said(people: pl.DataFrame) -> None:
    job = Job(quasi=["age", "town"], k=8, max_levels={"age": 0, "town": 0})
    with pytest.raises(NoSolution):
        preview.Previews(prepare(people, preview.quick_job(job))).at(job)


def test_columns_are_looked_at_as_the_job_reads_them() -> None:
    frame = pl.DataFrame({
        "age": ["31", "-9", "52", "52"], "day": ["2020-01-01", "2020-01-05", "2020-01-05", "2021-06-01"],
        "tags": [["a"], ["b"], [], ["a"]],
    })  # fmt: skip
    age, day, tags = look_at_columns(frame, Job(column_tokens={"age": ["-9"]}))
    assert (age.distinct, age.missing, age.bars, age.low, age.high) == (2, 1, (1, 2), "31", "52")
    assert (day.distinct, day.unique) == (3, 0.5) and age.type != day.type != "String"
    assert (tags.distinct, tags.bars, tags.unique) == (None, (), None)
    many = next(look_at_columns(pl.DataFrame({"n": list(range(140))}), Job()))
    assert many.bars == (10,) * 14 and (many.low, many.high) == ("0", "139")


def test_only_parts_are_prepared_anew_when_a_hierarchy_is_edited(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MOST_CELLS", 1_000), ("PART_ROWS", 200), ("PARTS", 8)):
        monkeypatch.setattr(preview, name, value)
    trees = {name: kanopy.build_hierarchy(people[name]) for name in people.columns}
    job = Job(quasi=people.columns, k=4, local=True, hierarchies=trees)
    looks = preview.Previews(prepare(people, preview.quick_job(job)))
    first = looks.at(job)
    again = looks.with_hierarchies(people, job, job)
    assert again is not None and "prepared" not in vars(again)
    same = again.at(job)
    assert (same.loss, same.classes, same.rows) == (pytest.approx(first.loss), first.classes, len(people))
    flat = kanopy.Hierarchy.flat(list(trees["year"].values), name="year")
    edited = job.replaced(hierarchies={**trees, "year": flat})
    lost = looks.with_hierarchies(people, job, edited)
    assert lost is not None and lost.at(edited).loss > first.loss and lost.sizes_before == looks.sizes_before
    # Where the parts do not tell enough, all is prepared.
    assert lost.at(edited.replaced(k=preview.LARGEST_K + 1)).looked_at == len(people)
    assert looks.with_hierarchies(people, job, job.replaced(quasi=["age"])) is None
    assert looks.with_hierarchies(people, job, job.replaced(hierarchies={})) is None


def test_nodes_of_a_tree_count_people_where_rows_belong_to_them() -> None:
    rows = pl.DataFrame({
        "who": ["a", "a", "b", "c", "c"], "town": ["Bonn", "Ulm", "Ulm", "Jena", None], "age": [1, 2, 3, 4, 5],
    })  # fmt: skip
    tree = kanopy.Hierarchy.from_rows([["Bonn", "west", "*"], ["Ulm", "south", "*"], ["Jena", "east", "*"]])
    found = people_under(rows, "town", tree, Job(quasi=["town"], unit=["who"]))
    assert found[1, "south"] == 2 and found[1, "west"] == 1 and found[2, "*"] == 3
