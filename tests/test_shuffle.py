"""Row order: a shuffled release says nothing about the order of its table, and the same job gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import kanopy
from kanopy._job.guess import guess_job
from kanopy.cli import app

ROWS = 40


def people() -> dict[str, list[Any]]:
    draw = np.random.default_rng(5)
    return {
        "name": [f"person {i:02d}" for i in range(ROWS)],
        "age": draw.integers(20, 60, ROWS).tolist(),
        "ill": draw.choice(["flu", "gout", "cold"], ROWS).tolist(),
        "since": np.sort(draw.integers(1990, 2020, ROWS)).tolist(),
    }


def job(**changes: Any) -> kanopy.Job:
    widths = {"method": "widths", "widths": [10, 20]}
    given = {"quasi": ["age"], "k": 3, "sensitive": ["ill"], "insensitive": ["since"], "hierarchies": {"age": widths}}
    return kanopy.Job(**{**given, "shuffle": True, **changes})


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(pl.DataFrame(frame).rows(), key=str)


@pytest.mark.parametrize("changes", [{}, {"suppressed_rows": "drop", "k": 6, "suppress": 0.2}], ids=["all", "dropped"])
@pytest.mark.parametrize(
    "kind", [pl.DataFrame, pd.DataFrame, pa.table, dict], ids=["polars", "pandas", "arrow", "dict"]
)
def test_the_rows_are_the_same_in_another_order(kind: Any, changes: dict[str, Any]) -> None:
    table = kind(people())
    shuffled = kanopy.anonymize(table, job(**changes)).data
    plain = kanopy.anonymize(table, job(shuffle=False, **changes)).data
    if kind is pd.DataFrame:
        assert shuffled.index.equals(pd.RangeIndex(len(shuffled))), "row numbers tell the order"
        assert shuffled.dtypes.equals(plain.dtypes)
        shuffled, plain = pl.from_pandas(shuffled), pl.from_pandas(plain)
    if kind is pa.table:
        assert shuffled.schema == plain.schema
        shuffled, plain = pl.from_arrow(shuffled), pl.from_arrow(plain)
    assert rows_of(shuffled) == rows_of(plain) and pl.DataFrame(shuffled).rows() != pl.DataFrame(plain).rows()
    since = pl.DataFrame(shuffled)["since"]
    assert not since.is_sorted()


def test_an_index_that_is_published_stays_with_its_rows() -> None:
    frame = pd.DataFrame(people()).set_index("ill")
    found = kanopy.anonymize(frame, job()).data
    assert rows_of(found.reset_index(drop=True)) == rows_of(kanopy.anonymize(frame, job(shuffle=False)).data)


def test_the_order_says_nothing_about_the_one_of_the_table() -> None:
    table = pl.DataFrame(people())
    releases = [
        kanopy.anonymize(each, job()).data for each in (table, table.reverse(), table.sample(ROWS, shuffle=True))
    ]
    assert releases[0].equals(releases[1]) and releases[0].equals(releases[2])
    other = kanopy.anonymize(table, job(algorithm="best", parameters={"seed": 7, "steps": 3})).data
    assert rows_of(other.drop("age")) == rows_of(releases[0].drop("age"))


def test_seed_decides() -> None:
    table = pl.DataFrame(people())
    one, same, other = (
        kanopy.anonymize(table, job(algorithm="k-member", parameters={"seed": seed})) for seed in (1, 1, 2)
    )
    assert one.data.equals(same.data) and one.order is not None and other.order is not None
    assert one.order.tolist() == same.order.tolist() != other.order.tolist()


def test_the_page_numbers_rows_as_they_are_published(tmp_path: Path) -> None:
    result = kanopy.anonymize(people(), job())
    plain = kanopy.anonymize(people(), job(shuffle=False))
    page = result.report.to_html()
    rows = page.split("<caption>Published</caption>")[1].split("</table>")[0]
    assert [rows.index(f'<th scope="row">{place}</th>') > 0 for place in range(1, 11)] == [True] * 10
    assert '<th scope="row">11</th>' not in rows
    first = result.frame["ill"].to_list()[:10]
    assert [cell for cell in rows.replace(">", "<").split("<") if cell in ("flu", "gout", "cold")] == first
    assert "Before" in result.report.to_html(values=True)
    assert result.report.findings.utility == plain.report.findings.utility, "compared with the rows they were made from"
    assert result.mapping().equals(plain.mapping())


def test_masked_rows_can_be_shuffled_too() -> None:
    answers = {"why": ["beach", "beach", "seaside", "bird", "bird", "heron"], "no": [1, 2, 3, 4, 5, 6]}
    wanted = kanopy.MaskJob(text=["why"], k=3, insensitive=["no"])
    plain, mixed = kanopy.mask(answers, wanted), kanopy.mask(answers, wanted.replaced(shuffle=True))
    assert rows_of(plain.data) == rows_of(mixed.data) and plain.data != mixed.data
    assert json.loads(mixed.manifest())["job"]["shuffle"] is True


def test_on_the_command_line_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    pl.DataFrame(people()).write_csv(data)
    options = ["-q", "age", "-s", "ill", "-k", "3", "--shuffle", "--manifest"]
    for name in ("a", "b"):
        done = CliRunner().invoke(
            app, ["anonymize", str(data), *options, str(tmp_path / f"{name}.json"), "-o", str(tmp_path / f"{name}.csv")]
        )
        assert done.exit_code == 0, done.output
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text())["job"]["shuffle"] is True
    assert kanopy.Job.from_toml(job().to_toml()).shuffle is True


def test_init_offers_it_and_says_why() -> None:
    sorted_by_name = guess_job(people())
    assert sorted_by_name.job.shuffle and "in the order of 'name'" in sorted_by_name.text
    mixed = pl.DataFrame(people()).sample(ROWS, shuffle=True, seed=1)
    assert not guess_job(mixed).job.shuffle and "shuffle = false" in guess_job(mixed).text
