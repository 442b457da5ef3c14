"""The second look at the job: a good release passes, and every kind of broken one is caught and not written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy._errors import VerificationFailed
from kanopy.cli import app
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import write_hierarchy
from kanopy.release.result import Result
from kanopy.verify.job import RECOUNTED, Claims, verify_job

AGES = kanopy.Hierarchy.from_rows([[str(a), f"{a // 10 * 10}s", f"{a // 20 * 20} on", "*"] for a in range(20, 60)])
TOWNS = kanopy.Hierarchy.from_rows(
    [["Lyon", "France", "Europe", "*"], ["Nice", "France", "Europe", "*"], ["Rome", "Italy", "Europe", "*"],
     ["Bari", "Italy", "Europe", "*"], ["Kyoto", "Japan", "Asia", "*"]]
)  # fmt: skip


def people(rows: int = 60) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    town = [["Lyon", "Nice", "Rome", "Bari"][i] for i in draw.integers(0, 4, rows)]
    town[7] = "Kyoto"
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": draw.integers(20, 60, rows),
            "town": town,
            "ill": draw.choice(["flu", "gout", "cold"], rows).tolist(),
            "note": [f"note {i % 7}" for i in range(rows)],
            "shoe": draw.integers(36, 46, rows),
        }
    )


def job(**changes: Any) -> kanopy.Job:
    given: dict[str, Any] = {
        "quasi": ["age", "town"], "k": 3, "suppress": "10%", "identifiers": ["name"], "sensitive": ["ill"],
        "insensitive": ["note"], "hierarchies": {"age": AGES, "town": TOWNS}, "max_levels": {"age": 2},
        "weights": {"age": 3.0}, "models": ["constrained:town:Europe|Asia"],
    }  # fmt: skip
    return kanopy.Job(**{**given, **changes})


def claims_of(result: Result) -> Claims:
    solution, domain = result.solution, result.domain
    assert solution is not None and domain is not None
    return Claims(
        rows=None if result.kept is None else np.flatnonzero(result.kept),
        suppressed=solution.recoding.group_of_row < 0,
        hierarchies=dict(zip(domain.names, domain.hierarchies, strict=True)),
        levels=result.levels,
        metric="loss",
        score=result.losses["loss"] if result.levels is not None else None,
    )


def labelled(frame: pl.DataFrame, name: str, row: int, label: str | None) -> pl.DataFrame:
    texts = frame[name].cast(pl.String).to_list()
    texts[row] = label
    return frame.with_columns(pl.Series(name, texts, dtype=pl.String))


Broken = Callable[[pl.DataFrame, Claims], "tuple[pl.DataFrame, Claims]"]
BREAKS: dict[str, tuple[str, Broken]] = {
    "an identifier leaves": ("'name' must not leave", lambda f, c: (people()[["name"]].hstack(f), c)),
    "a column without a role leaves": ("'shoe' must not leave", lambda f, c: (f.hstack(people()[["shoe"]]), c)),
    "a column is missing": ("'note' is missing", lambda f, c: (f.drop("note"), c)),
    "a quasi-identifier is missing": ("'town' is missing", lambda f, c: (f.drop("town"), c)),
    "a column nobody knows": ("other columns", lambda f, c: (f.with_columns(pl.lit(1).alias("new")), c)),
    "columns change places": ("another order", lambda f, c: (f[[*reversed(f.columns)]], c)),
    "a row is lost": ("rows where", lambda f, c: (f.head(59), c)),
    "a row is there twice": ("rows where", lambda f, c: (f.vstack(f.head(1)), c)),
    "an untouched value changes": ("1 values of 'note' were changed", lambda f, c: (labelled(f, "note", 0, "x"), c)),
    "an untouched value is lost": ("1 values of 'note' were changed", lambda f, c: (labelled(f, "note", 0, None), c)),
    "a sensitive value changes": ("of 'ill' were changed", lambda f, c: (labelled(f, "ill", 0, "plague"), c)),
    "a sensitive value of a published row is lost": (
        "of 'ill' were changed", lambda f, c: (labelled(f, "ill", 0, None), c),
    ),
    "another type": ("'note' would be published as", lambda f, c: (f.with_columns(pl.lit(1).alias("note")), c)),
    "values change places": ("of 'ill' were changed", lambda f, c: (f.with_columns(f["ill"].reverse()), c)),
    "a finer level": ("at another level", lambda f, c: (labelled(f, "age", 0, str(people()["age"][0])), c)),
    "a level beyond the limit": ("beyond its levels 0 to 2", lambda f, c: (labelled(f, "age", 0, "*"), c)),
    "beyond a named node": (
        "'constrained'",
        lambda f, c: (labelled(f, "town", 0, "*"), dataclasses.replace(c, levels=None, score=None)),
    ),
    "a weight is forgotten": ("claims a loss of", lambda f, c: (f, dataclasses.replace(c, score=(c.score or 0) * 0.9))),
}  # fmt: skip


@pytest.fixture(scope="module")
def release() -> Result:
    return kanopy.anonymize(people(), job())


@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "mondrian", "k-member", "cell-level"])
@pytest.mark.parametrize("changes", [{}, {"suppressed_rows": "drop"}, {"shuffle": True}], ids=str)
def test_a_good_release_passes(algorithm: str, changes: dict[str, Any]) -> None:
    models = () if algorithm != "optimal" else job().models
    wanted = job(algorithm=algorithm, models=models, **changes)
    result = kanopy.anonymize(people(), wanted)
    verify_job(wanted, people(), result.published, claims_of(result))


@pytest.mark.parametrize("name", list(BREAKS))
def test_every_broken_release_is_caught(release: Result, name: str) -> None:
    words, spoil = BREAKS[name]
    assert (release.suppressed, release.levels) == (1, {"age": 1, "town": 1}), "the breaks below rely on it"
    frame, claims = spoil(release.frame, claims_of(release))
    with pytest.raises(VerificationFailed, match=words):
        verify_job(job(), people(), frame, claims)


def test_more_suppression_than_the_job_allows_is_caught(release: Result) -> None:
    gone = np.zeros(60, np.bool_)
    gone[:7] = True
    frame = release.frame
    for name in ("age", "town"):
        for row in range(7):
            frame = labelled(frame, name, row, "*")
    with pytest.raises(VerificationFailed, match="rows are suppressed where the job allows 6"):
        verify_job(job(), people(), frame, dataclasses.replace(claims_of(release), suppressed=gone, score=None))


def test_a_suppressed_row_that_still_shows_something_is_caught(release: Result) -> None:
    claims = claims_of(release)
    assert claims.suppressed is not None
    (row,) = np.flatnonzero(claims.suppressed)
    with pytest.raises(VerificationFailed, match="still show 'town'"):
        verify_job(job(), people(), labelled(release.frame, "town", int(row), "Asia"), claims)


def test_rows_that_read_as_suppressed_and_are_not_are_caught() -> None:
    rooted = kanopy.Hierarchy.from_rows([["Lyon", "France", "World"], ["Rome", "Italy", "World"]])
    wanted = kanopy.Job(quasi=["town"], k=2, hierarchies={"town": rooted}, algorithm="mondrian")
    table = pl.DataFrame({"town": ["Lyon", "Lyon", "Rome", "Rome"]})
    result = kanopy.anonymize(table, wanted)
    verify_job(wanted, table, result.frame, claims_of(result))
    stars = pl.DataFrame({"town": ["*", "*", "Rome", "Rome"]})
    with pytest.raises(VerificationFailed, match="suppressed in rows that are not"):
        verify_job(wanted, table, stars, claims_of(result))


def test_missing_and_unknown_values_that_the_job_suppresses_are_suppressed() -> None:
    table = people().with_columns(pl.when(pl.arange(60) < 2).then(None).otherwise("town").alias("town"))
    wanted = job(missing="suppress", models=())
    result = kanopy.anonymize(table, wanted)
    claims = claims_of(result)
    verify_job(wanted, table, result.frame, claims)
    assert claims.suppressed is not None
    bare = dataclasses.replace(claims, suppressed=claims.suppressed & (np.arange(60) != 0), score=None)
    with pytest.raises(VerificationFailed, match="missing or unknown values"):
        verify_job(wanted, table, result.frame, bare)


def test_pseudonyms_are_one_to_one_and_never_the_value(release: Result) -> None:
    wanted = job(pseudonymize=["name"])
    result = kanopy.anonymize(people(), wanted, key=b"sixteen bytes or more")
    verify_job(wanted, people(), result.frame, claims_of(result))
    for bad in (people()["name"], pl.Series("name", ["one"] * 60), result.frame["name"].reverse().head(30)):
        own = bad if len(bad) == 60 else pl.concat([bad, bad])
        with pytest.raises(VerificationFailed, match="pseudonyms"):
            verify_job(wanted, people(), result.frame.with_columns(own.rename("name")), claims_of(result))


def test_a_masking_publishes_answers_of_the_table_only() -> None:
    answers = pl.DataFrame({"why": ["beach", "beach", "seaside", "bird", "bird", "heron"]})
    wanted = kanopy.MaskJob(text=["why"], k=3, targets="any")
    result = kanopy.mask(answers, wanted)
    verify_job(wanted, answers, result.frame)
    with pytest.raises(VerificationFailed, match="not answers of the table"):
        verify_job(wanted, answers, result.frame.with_columns(pl.lit("wine").alias("why")))


@pytest.mark.parametrize("what", ["a column more", "a changed value", "a level"])
def test_a_broken_release_is_not_written(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = LocalEngine.apply

    def dishonest(self: LocalEngine, frame: pl.DataFrame, *given: Any, **options: Any) -> Any:
        published, kept = honest(self, frame, *given, **options)
        if what == "a column more":
            published = published.with_columns(frame["shoe"])
        elif what == "a changed value":
            published = labelled(published, "note", 0, "x")
        else:  # every label one level up: true, and k holds
            above = {labels[1]: labels[2] for labels in AGES.rows()}
            published = published.with_columns(published["age"].cast(pl.String).replace(above))
        return published, kept

    monkeypatch.setattr(LocalEngine, "apply", dishonest)
    data, out = tmp_path / "people.csv", tmp_path / "out.csv"
    people().write_csv(data)
    write_hierarchy(AGES, tmp_path / "age.csv")
    write_hierarchy(TOWNS, tmp_path / "town.csv")
    done = CliRunner().invoke(
        app,
        ["anonymize", str(data), "-q", "age,town", "-k", "3", "--suppress", "10%", "--insensitive", "note",
         "--hierarchies", str(tmp_path), "-o", str(out), "--report", str(tmp_path / "r.html")],
    )  # fmt: skip
    assert isinstance(done.exception, VerificationFailed), done.output
    assert not out.exists() and not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("metric", RECOUNTED)
def test_every_score_that_can_be_counted_again_is(metric: str) -> None:
    """A release is made with each metric; the same release with another number is refused."""
    made = kanopy.anonymize(people(), job(metric=metric))
    claims = dataclasses.replace(claims_of(made), metric=metric, score=made.score)
    verify_job(job(metric=metric), people(), made.frame, claims)
    with pytest.raises(VerificationFailed, match=f"claims a {metric} of"):
        verify_job(
            job(metric=metric), people(), made.frame, dataclasses.replace(claims, score=made.score * 0.99 + 0.01)
        )
