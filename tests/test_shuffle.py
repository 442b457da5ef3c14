"""Row order: what is written says nothing about the order of its table, and the same rows give the same bytes."""

from __future__ import annotations

import contextlib
import datetime
import json
import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kanopy
from kanopy._job.guess import guess_job
from kanopy._table.streams.row_order import LONG_TEXT, content_order, row_hashes, sorted_by
from kanopy._table.streams.shuffling import shuffled
from kanopy.cli import app
from kanopy.engine.database import DatabaseEngine
from kanopy.release.engine_choice import open_engine
from kanopy.release.out_of_core import run_on_engine
from tests.engine.jobs import planned

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


DROPPED = {"suppressed_rows": "drop", "k": 10, "suppress": 0.5, "max_levels": {"age": 1}}


def multiplicity(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(pl.DataFrame(frame).rows(), key=str)


# ---- the order itself -------------------------------------------------------------------------------------------

KINDS: dict[str, list[Any]] = {
    "text": ["", "a", "b", "12345678", "123456789", "ä", "x" * LONG_TEXT, "x" * (LONG_TEXT + 1), "y" * 5000, None],
    "whole": [0, 1, -1, 2**62, None],
    "number": [0.0, -0.0, 1.5, float("inf"), float("nan"), None],
    "truth": [True, False, None],
    "day": [datetime.date(2020, 1, 1), datetime.date(1950, 1, 1), None],
    "moment": [datetime.datetime(2020, 1, 1, 12), None],
    "decimal": [Decimal("1.10"), Decimal("1.20"), None],
    "list": [list(range(100)), [*range(99), 0], [], None],  # the library shows no more than the first of them
    "record": [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, None],
    "bytes": [b"a", b"b", None],
}


def everything() -> pl.DataFrame:
    return pl.DataFrame({name: [values[i % len(values)] for i in range(60)] for name, values in KINDS.items()})


@pytest.mark.parametrize("kind", KINDS)
def test_different_values_are_ordered_whatever_kind_they_are(kind: str) -> None:
    column = pl.DataFrame({kind: KINDS[kind]}, strict=False)
    first, second = row_hashes(column)
    assert len(set(first.tolist())) == len(set(second.tolist())) == len(KINDS[kind])
    again = row_hashes(column.reverse())[0].tolist()
    assert first.tolist() == again[::-1]


@given(order=st.permutations(range(60)))
def test_the_order_depends_on_what_rows_say(order: list[int]) -> None:
    frame = everything()
    other = frame[order]
    assert frame[content_order(frame)].equals(other[content_order(other)], null_equal=True)


def test_texts_are_ordered_alike_however_they_are_kept() -> None:
    texts = pl.DataFrame({"a": ["c", "a", None, "b"] * 3, "b": list("xyz") * 4})
    kinds = [texts, texts.cast(pl.Categorical), texts.cast(pl.Enum(["z", "c", "y", "b", "x", "a"]))]
    assert len({tuple(content_order(each)) for each in kinds}) == 1


def test_the_order_is_the_same_with_every_version_of_the_libraries() -> None:
    first, second = row_hashes(pl.DataFrame({"a": ["flu", "a longer text"], "b": [1, None], "c": [0.5, 2.0]}))
    found = [f"{each:016x}" for each in (*first, *second)]
    assert found == ["3c989bfc9ac9709a", "cb9d6b6de0479823", "2b3493f0b9af5cfd", "14578327febb0131"]


def test_the_second_hash_decides_where_the_first_does_not() -> None:
    first, second = np.array([7, 3, 7], np.uint64), np.array([2, 1, 1], np.uint64)
    assert sorted_by(first, second).tolist() == [1, 2, 0]


@pytest.mark.parametrize("buffer", [1, 500, 20_000, None])
def test_rows_that_do_not_fit_in_memory_are_in_the_same_order(buffer: int | None) -> None:
    frame = pl.concat([everything().drop("list", "record")] * 5).with_row_index("row")
    whole = frame[content_order(frame)]
    for parts in (1, 7):
        pieces = frame.sample(fraction=1.0, shuffle=True, seed=parts).iter_slices(frame.height // parts)
        assert pl.concat(shuffled(pieces, buffer=buffer)).equals(whole, null_equal=True)
    assert list(shuffled(iter([]), buffer=buffer)) == []


# ---- files and tables --------------------------------------------------------------------------------------------


def tables() -> list[pl.DataFrame]:
    table = pl.DataFrame(people())
    return [table, table.reverse(), table.sample(ROWS, shuffle=True, seed=2)]


@pytest.mark.parametrize("changes", [{}, DROPPED], ids=["all", "dropped"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".arrow", ".dta"])
def test_files_are_the_same_whatever_order_the_table_came_in(
    suffix: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    written = []
    for number, table in enumerate(tables()):
        result = kanopy.anonymize(table, job(shuffle=None, **changes))
        result.write(tmp_path / f"{number}{suffix}")
        written.append((tmp_path / f"{number}{suffix}").read_bytes())
        kept = np.full(ROWS, True) if result.kept is None else result.kept
        assert result.frame["since"].equals(table["since"].filter(kept)), "frames keep the order"
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("engine", ["memory", "stream", "duckdb", "sqlite"])
def test_every_engine_writes_the_same_file(engine: str, tmp_path: Path) -> None:
    written = []
    for number, table in enumerate(tables()):
        data = str(tmp_path / f"{number}.parquet")
        if engine == "duckdb":
            data = f"{tmp_path}/{number}.duckdb::people"
            with duckdb.connect(f"{tmp_path}/{number}.duckdb") as made:
                made.register("came", table.to_arrow())
                made.execute("create table people as select * from came")
        elif engine == "sqlite":
            data = f"{tmp_path}/{number}.sqlite::people"
            with contextlib.closing(sqlite3.connect(f"{tmp_path}/{number}.sqlite")) as made, made:
                made.execute("create table people (name text, age integer, ill text, since integer)")
                made.executemany("insert into people values (?, ?, ?, ?)", table.rows())
        else:
            table.write_parquet(data)
        out = str(tmp_path / f"out{number}.csv")
        name = engine if engine in ("memory", "stream") else "database"
        if name == "memory":
            kanopy.anonymize(data, job(shuffle=None)).write(out)
        else:
            with open_engine(name, data, out, job(shuffle=None)) as holder:
                run_on_engine(holder, job(shuffle=None))
        written.append(Path(out).read_bytes())
    kanopy.anonymize(tables()[0], job(shuffle=None)).write(tmp_path / "plain.csv")
    assert set(written) == {(tmp_path / "plain.csv").read_bytes()}


def test_a_table_that_does_not_fit_is_shuffled_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanopy._table.streams.shuffling.BUFFER_BYTES", 100)
    monkeypatch.setenv("KANOPY_MOST_DIFFERENT", "27")
    wanted, written = job(shuffle=None, quasi=["age", "ill"], sensitive=[]), []
    for number, table in enumerate(tables()):
        table.write_parquet(tmp_path / f"{number}.parquet")
        with open_engine("stream", tmp_path / f"{number}.parquet", str(tmp_path / "out.csv"), wanted) as holder:
            assert "stayed where they are" in "".join(run_on_engine(holder, wanted).notes)
        written.append((tmp_path / "out.csv").read_bytes())
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("shuffle", [None, False])
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_tables_of_databases(kind: str, shuffle: bool | None, tmp_path: Path) -> None:
    found = []
    for number, table in enumerate(tables()):
        path = f"{tmp_path}/{number}.{kind}"
        connected: Any = duckdb.connect if kind == "duckdb" else sqlite3.connect
        with contextlib.closing(connected(path)) as made:
            made.execute("create table people (name varchar, age integer, ill varchar, since integer)")
            made.executemany("insert into people values (?, ?, ?, ?)", table.rows())
            if kind == "sqlite":
                made.commit()
        wanted = job(shuffle=shuffle)
        with open_engine("database", f"{path}::people", f"{path}::release", wanted) as holder:
            assert isinstance(holder, DatabaseEngine)
            notes = run_on_engine(holder, wanted).notes
        with contextlib.closing(connected(path)) as made:
            found.append(made.execute("select * from release").fetchall())
        assert any("Rows are not shuffled" in note for note in notes) is (shuffle is False)
        if shuffle is False and kind == "duckdb":
            assert [row[-1] for row in found[-1]] == table["since"].to_list()
    assert shuffle is False or found[0] == found[1] == found[2]


def test_statements_sort_by_what_they_publish(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    from kanopy.engine.statements import emitted

    tables()[0].write_parquet(tmp_path / "people.parquet")
    with open_engine("stream", tmp_path / "people.parquet", None, job(shuffle=None)) as holder:
        recoded = planned(holder, job(shuffle=None))
    found = []
    for table in tables():
        with duckdb.connect() as made:
            made.register("came", table.to_arrow())
            made.execute("create table people as select * from came")
            made.execute(emitted(recoded, "people", "release", "duckdb"))
            found.append(made.execute("select * from release").fetchall())
    assert found[0] == found[1] == found[2]
    assert "ORDER BY" not in emitted(recoded, "people", "release", "duckdb", shuffle=False)


def test_lists_are_shuffled_by_row(tmp_path: Path) -> None:
    shop = pl.DataFrame({"bought": [["ale"], ["nuts", "ale"], ["nuts"]] * 4, "day": range(12)})
    wanted = kanopy.Job(quasi=["bought"], k=2, insensitive=["day"], suppress=0.5)
    written = []
    for number, table in enumerate((shop, shop.reverse())):
        result = kanopy.anonymize(table, wanted)
        result.write(tmp_path / f"{number}.parquet")
        written.append((tmp_path / f"{number}.parquet").read_bytes())
        assert result.frame["day"].to_list() == table["day"].to_list()
    assert written[0] == written[1]
    assert pl.read_parquet(tmp_path / "0.parquet")["day"].to_list() != list(range(12))


# ---- frames, and the order kept ------------------------------------------------------------------------------------


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
    assert multiplicity(shuffled) == multiplicity(plain) and pl.DataFrame(shuffled).rows() != pl.DataFrame(plain).rows()
    since = pl.DataFrame(shuffled)["since"]
    assert not since.is_sorted()


def test_an_index_that_is_published_stays_with_its_rows() -> None:
    frame = pd.DataFrame(people()).set_index("ill")
    found = kanopy.anonymize(frame, job()).data
    assert multiplicity(found.reset_index(drop=True)) == multiplicity(kanopy.anonymize(frame, job(shuffle=False)).data)


def test_the_order_says_nothing_about_the_one_of_the_table() -> None:
    table = pl.DataFrame(people())
    releases = [
        kanopy.anonymize(each, job()).data for each in (table, table.reverse(), table.sample(ROWS, shuffle=True))
    ]
    assert releases[0].equals(releases[1]) and releases[0].equals(releases[2])
    other = kanopy.anonymize(table, job(algorithm="best", parameters={"seed": 7, "steps": 3})).data
    assert multiplicity(other.drop("age")) == multiplicity(releases[0].drop("age"))


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
    assert multiplicity(plain.data) == multiplicity(mixed.data) and plain.data != mixed.data
    assert json.loads(mixed.manifest())["job"]["shuffle"] is True


def run(*arguments: str | Path) -> Any:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done


def test_on_the_command_line(tmp_path: Path) -> None:
    """Shuffled unless the order is asked for, by an option or the job, of which the option wins."""
    data, kept = tmp_path / "people.csv", tmp_path / "keep.toml"
    pl.DataFrame(people()).write_csv(data)
    kept.write_text(job(shuffle=False).to_toml())
    assert "shuffle = false" in kept.read_text()
    base = [data, "-q", "age", "-s", "ill", "--insensitive", "since", "-k", "3"]
    options: dict[str, list[str | Path]] = {
        "default": base,
        "again": base,
        "shuffled": [*base, "--shuffle"],
        "ordered": [*base, "--keep-order"],
        "job": [data, "--job", kept],
        "both": [data, "--job", kept, "--shuffle"],
    }
    written, said, rows = {}, {}, {}
    for name, own in options.items():
        out, manifest = tmp_path / f"{name}.csv", tmp_path / f"{name}.json"
        said[name] = run("anonymize", *own, "-o", out, "--manifest", manifest).stderr
        written[name] = out.read_bytes()
        rows[name] = json.loads(manifest.read_text())["beside_others"]["rows"]
    assert written["default"] == written["again"] == written["shuffled"] != written["ordered"]
    years = {name: pl.read_csv(tmp_path / f"{name}.csv")["since"].is_sorted() for name in options}
    assert years == {
        "default": False, "again": False, "shuffled": False, "ordered": True, "job": True, "both": False
    }  # fmt: skip
    ordered = {name for name, where in rows.items() if where == "in the order of the input"}
    assert ordered == {name for name, own in said.items() if "Rows keep the order" in own} == {"ordered", "job"}
    words = " ".join(said["ordered"].split())
    assert "finds 40 of 40 rows. They are in the order of 'name'." in words
    assert run("anonymize", *base, "-o", "-").stdout_bytes == written["default"]


def test_applied_and_masked_releases_are_shuffled(tmp_path: Path) -> None:
    data, solution = tmp_path / "people.csv", tmp_path / "solution.json"
    pl.DataFrame(people()).write_csv(data)
    (tmp_path / "job.toml").write_text(job(shuffle=None).to_toml())
    run("anonymize", data, "--job", tmp_path / "job.toml", "-o", tmp_path / "a.csv", "--solution", solution)
    for command in (("apply", solution, data), ("mask", data, "--text", "ill", "-k", "2", "--insensitive", "since")):
        for option, kept in (("--shuffle", False), ("--keep-order", True)):
            out = tmp_path / f"{command[0]}{option}.csv"
            run(*command, option, "-o", out)
            assert pl.read_csv(out)["since"].is_sorted() is kept
        run(*command, "-o", tmp_path / "plain.csv")
        assert (tmp_path / "plain.csv").read_bytes() == (tmp_path / f"{command[0]}--shuffle.csv").read_bytes()


def test_the_manifest_of_a_frame_says_its_own_order() -> None:
    def rows(result: kanopy.Result, **given: Any) -> str:
        found: str = json.loads(result.manifest(**given))["beside_others"]["rows"]
        return found

    plain, mixed, kept = (kanopy.anonymize(people(), job(shuffle=own)) for own in (None, True, False))
    assert rows(plain) == rows(kept) == rows(kept, written=True) == "in the order of the input"
    assert rows(plain, written=True) == rows(mixed) == rows(mixed, written=True) == "shuffled"


def test_what_the_kept_order_gives_away_is_said(tmp_path: Path) -> None:
    """An identifier that runs 1, 2, …, n, as text too, and rows of a person that are adjacent."""
    visits = {
        "no": [str(i + 1) for i in range(ROWS)],
        "who": [f"p{(i * 7 // 2) % 19}" for i in range(ROWS)],
        **people(),
    }
    visits["who"] = [f"p{(i // 2 * 7) % 20}" for i in range(ROWS)]
    expected = "finds 40 of 40 rows. They are in the order of 'no'. Rows with the same 'who' are adjacent."
    frame = pl.DataFrame(visits).drop("name")
    wanted = job(shuffle=False, unit=["who"], identifiers=["no"], k=2)
    assert [note for note in kanopy.anonymize(frame, wanted).notes if expected in note]
    frame.write_csv(tmp_path / "visits.csv")
    with open_engine("stream", tmp_path / "visits.csv", str(tmp_path / "out.csv"), wanted) as holder:
        assert [note for note in run_on_engine(holder, wanted).notes if expected in note]
    apart = frame.sample(fraction=1.0, shuffle=True, seed=1)
    said = "".join(kanopy.anonymize(apart, wanted).notes)
    assert "Rows keep the order" in said and "stand in the order" not in said and "stand together" not in said
    dropped = kanopy.anonymize(people(), job(shuffle=False, **DROPPED))
    assert dropped.kept is not None and f"finds {int(dropped.kept.sum())} of 40 rows" in "".join(dropped.notes)


def test_init_says_nothing_of_it() -> None:
    guessed = guess_job(people())
    assert guessed.job.shuffle is None and "shuffle" not in guessed.text


def test_jobs_say_it_only_where_it_is_said() -> None:
    for own in (None, True, False):
        assert kanopy.Job.from_toml(job(shuffle=own).to_toml()).shuffle is own
        assert ("shuffle" in job(shuffle=own).to_toml()) is (own is not None)
        masking = kanopy.MaskJob(text=["why"], shuffle=own).to_dict()
        assert masking.get("shuffle") is own
