"""Around the engines: what is refused, kept counts, statements handed out, commands, and nothing half-written."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy._table.sources import read_table
from kanopy._table.streams.scans import scan
from kanopy._table.streams.sinks import FileSink
from kanopy.engine import publishing
from kanopy.engine.contract import RecodePlan, require_same
from kanopy.engine.database import DatabaseEngine
from kanopy.engine.statements import emitted
from kanopy.engine.stream import StreamEngine
from kanopy.engine.tally import Tally
from kanopy.release.engine_choice import choose_engine, open_engine
from kanopy.release.out_of_core import read_counts, run_on_engine
from tests.engine.jobs import as_texts, people, planned

BY_AGE = Job(quasi=["age", "sex"], k=5, suppress=0.05, insensitive=["pay"])


def _stream(source: Any, out: Any) -> StreamEngine:
    return StreamEngine(scan(source), FileSink(out))


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- bad input -----------------------------------------------------------------------------------------------


def test_a_column_missing_in_one_of_several_files_is_refused(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "a.parquet")
    people().drop("sex").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet lacks 'sex', which .*a\.parquet has"):
        scan(tmp_path)


def test_schema_drift_is_refused(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "a.parquet")
    people().with_columns(pl.col("age").cast(pl.String)).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"different types: age \(Int64 and String\)"):
        scan(tmp_path)


def test_a_corrupt_file_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    table, out = tmp_path / "people", tmp_path / "out"
    table.mkdir()
    out.mkdir()
    for name in "abc":
        people().write_parquet(table / f"{name}.parquet")
    data = bytearray((table / "b.parquet").read_bytes())
    data[200:2000] = bytes(1800)
    (table / "b.parquet").write_bytes(data)
    with pytest.raises(DataError, match="cannot be read to its end"):
        run_on_engine(_stream(table, out / "release.parquet"), BY_AGE)
    assert _left(out) == []


def test_short_records_and_blank_lines_are_read_as_in_memory(tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("age,sex,pay\n41,f,3\n41,f\n")
    with pytest.raises(DataError, match="line 3 has 2"):
        _stream(tmp_path / "short.csv", tmp_path / "out.csv").count(["age"])
    (tmp_path / "blank.csv").write_text("age,sex,pay\n41,f,3\n\n41,f,\n\n")
    engine = _stream(tmp_path / "blank.csv", tmp_path / "out.csv")
    assert engine.count(["age", "sex"]).rows() == [("41", "f", 2)]
    assert read_table(tmp_path / "blank.csv").height == 2


def test_a_table_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "p.parquet")
    engine = _stream(tmp_path / "p.parquet", tmp_path / "out.parquet")
    counts = engine.count(["age", "sex"])
    people().head(100).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError, match="changed while Kanopy read it"):
        run_on_engine(_stream(tmp_path / "p.parquet", tmp_path / "out.parquet"), BY_AGE, counts=counts)
    people().with_columns(pl.lit(7).alias("age")).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError, match="changed while Kanopy read it"):
        run_on_engine(_stream(tmp_path / "p.parquet", tmp_path / "out.parquet"), BY_AGE, counts=counts)
    assert _left(tmp_path) == ["p.parquet"]


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_csv(tmp_path / "p.csv")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kanopy._table.streams.sinks.write_text", full)
    with pytest.raises(DataError, match="The disk is full"):
        run_on_engine(_stream(tmp_path / "p.csv", tmp_path / "out.csv"), BY_AGE)
    assert _left(tmp_path) == ["p.csv"]


def test_outputs_that_exist_or_are_the_input_are_not_written_over(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "p.csv")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()
    with pytest.raises(DataError, match="never overwritten"):
        FileSink(f"{tmp_path}/out/")
    with (
        pytest.raises(DataError, match="is the input itself"),
        open_engine("stream", tmp_path / "p.csv", str(tmp_path / "p.csv"), BY_AGE),
    ):
        pass


def _sqlite(folder: Path) -> str:
    place = folder / "p.sqlite"
    with contextlib.closing(sqlite3.connect(place)) as made:
        made.execute("create table people (age integer, sex text collate nocase, pay integer)")
        rows = people().select("age", pl.col("sex"), "pay").rows()
        made.executemany("insert into people values (?, ?, ?)", [*rows, *[(41, "F", 1)] * 6])
        made.commit()
    return str(place)


def test_a_table_that_exists_is_only_replaced_when_told(tmp_path: Path) -> None:
    place = _sqlite(tmp_path)
    for overwrite in (False, True):
        with contextlib.closing(DatabaseEngine(f"{place}::people", f"{place}::release", overwrite=overwrite)) as engine:
            run_on_engine(engine, BY_AGE)
        if not overwrite:
            with pytest.raises(DataError, match="already has a table 'release'"):
                DatabaseEngine(f"{place}::people", f"{place}::release")
    with pytest.raises(DataError, match="is the input itself"):
        DatabaseEngine(f"{place}::people", f"{place}::people", overwrite=True)
    with pytest.raises(DataError, match="not in the database of the table"):
        DatabaseEngine(f"{place}::people", f"{tmp_path}/other.sqlite::release")


def test_values_that_a_database_calls_equal_are_told_apart(tmp_path: Path) -> None:
    place = _sqlite(tmp_path)
    with contextlib.closing(DatabaseEngine(f"{place}::people", f"{place}::release")) as engine:
        run_on_engine(engine, BY_AGE.replaced(hierarchies={"sex": kanopy.Hierarchy.flat(["f", "m", "F"])}))
    assert "F" in read_table(f"{place}::release")["sex"].to_list()


def test_a_lost_connection_leaves_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = _sqlite(tmp_path)
    with contextlib.closing(DatabaseEngine(f"{place}::people", f"{place}::release")) as engine:
        run = engine.connection.run

        def lost(statement: str) -> None:
            if "kanopy_pairs as" in statement:
                raise sqlite3.OperationalError("connection lost")
            run(statement)

        monkeypatch.setattr(engine.connection, "run", lost)
        with pytest.raises(DataError, match="connection lost"):
            run_on_engine(engine, BY_AGE)
    with contextlib.closing(sqlite3.connect(place)) as seen:
        assert seen.execute("select name from sqlite_master where name = 'release'").fetchall() == []


def test_a_release_that_is_not_what_was_found_is_not_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_parquet(tmp_path / "p.parquet")
    publish = publishing.Publisher.publish

    def wrong(self: publishing.Publisher, kinds: Any, others: pl.DataFrame) -> Any:
        published, remaining = publish(self, kinds, others)
        return published.with_columns(published["age"].reverse()), remaining

    monkeypatch.setattr(publishing.Publisher, "publish", wrong)
    with pytest.raises(VerificationFailed, match="differs from the planned one"):
        run_on_engine(_stream(tmp_path / "p.parquet", tmp_path / "out.parquet"), BY_AGE)
    assert _left(tmp_path) == ["p.parquet"]


def test_wrong_labels_of_a_value_are_noticed() -> None:
    keys, labels = pl.DataFrame({"age": [1, 2]}), pl.DataFrame({"age": ["low", "high"]})
    gone = np.zeros(2, np.bool_)
    meant = RecodePlan(keys, np.arange(2, dtype=np.int32), np.array([3, 3]), labels, gone, ("age",))
    swapped = RecodePlan(keys.reverse(), meant.distinct_row, meant.multiplicity, labels, gone, ("age",))
    require_same(meant, meant.expected())
    with pytest.raises(VerificationFailed, match="what is published for 'age'"):
        require_same(meant, swapped.expected())


def test_rows_of_every_type_are_numbered_and_come_back() -> None:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 678)
    table = pl.DataFrame(
        {
            "text": ["a", None, "", "a"],
            "enum": pl.Series(["x", None, "y", "x"], dtype=pl.Enum(["y", "x"])),
            "category": pl.Series(["x", None, "y", "x"], dtype=pl.Categorical),
            "whole": pl.Series([-(2**63), None, 0, -(2**63)], dtype=pl.Int64),
            "large": pl.Series([2**64 - 1, None, 0, 2**64 - 1], dtype=pl.UInt64),
            "small": pl.Series([1, None, 0, 1], dtype=pl.Int8),
            "float": [0.0, None, 1.5, -0.0],
            "single": pl.Series([0.1, None, float("inf"), 0.1], dtype=pl.Float32),
            "truth": [True, None, False, True],
            "day": [dt.date(1900, 1, 1), None, dt.date(2020, 1, 1), dt.date(1900, 1, 1)],
            "moment": pl.Series([moment, None, moment, moment], dtype=pl.Datetime("ms", "Europe/Paris")),
            "time": [dt.time(1, 2), None, dt.time(0), dt.time(1, 2)],
            "span": [dt.timedelta(1), None, dt.timedelta(0), dt.timedelta(1)],
            "exact": pl.Series(["1.10", None, "0.05", "1.10"]).cast(pl.Decimal(38, 2)),
            "nothing": pl.Series([None] * 4, dtype=pl.Null),
        }
    )
    tally = Tally(list(table.schema.values()))
    assert tally.add(table.get_columns()).tolist() == [0, 1, 2, 0]
    assert tally.add(table[2:].get_columns()).tolist() == [2, 0]
    found = tally.frame(table.columns)
    assert found["\0rows"].to_list() == [3, 1, 2]
    assert found.drop("\0rows").equals(table[:3], null_equal=True)
    assert found.drop("\0rows").schema == table.schema
    with pytest.raises(DataError, match="Only single numbers"):
        Tally([pl.List(pl.Int64)]).add([pl.Series([[1]])])


def test_no_space_for_what_kind_rows_are_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_parquet(tmp_path / "p.parquet")

    class Full:
        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda *_, **__: Full())
    with pytest.raises(DataError, match=r"no space in .* for which distinct row every row is"):
        run_on_engine(_stream(tmp_path / "p.parquet", tmp_path / "out.parquet"), BY_AGE)
    assert _left(tmp_path) == ["p.parquet"]


# ---- choosing, counts, statements ------------------------------------------------------------------------------


def test_engines_are_chosen_by_size_and_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_csv(tmp_path / "p.csv")
    source = str(tmp_path / "p.csv")
    assert choose_engine(source, "out.csv", BY_AGE) == "memory"
    monkeypatch.setattr("kanopy.release.engine_choice.LARGE_TEXT", 1000)
    assert choose_engine(source, "out.csv", BY_AGE) == "stream"
    assert choose_engine(source, "out.csv", BY_AGE, rows_needed=True) == "memory"
    assert choose_engine(str(tmp_path), "out/", BY_AGE) == "stream"
    assert choose_engine("p.sqlite::people", "p.sqlite::release", BY_AGE) == "database"
    columns = str(tmp_path / "p.parquet")
    people().write_parquet(columns)
    assert choose_engine(columns, "out.parquet", BY_AGE) == "memory"
    monkeypatch.setattr("kanopy.release.engine_choice.SMALL_COLUMNS", 1000)
    monkeypatch.setattr("kanopy.release.engine_choice.LARGE_CELLS", people().height * people().width)
    assert choose_engine(columns, "out.parquet", BY_AGE) == "stream"  # many cells, few ages
    monkeypatch.setattr("kanopy.release.engine_choice.FEW_DISTINCT", 0.0)
    assert choose_engine(columns, "out.parquet", BY_AGE) == "memory"
    with pytest.raises(JobError, match="Did you mean 'stream'"):
        choose_engine(source, "out.csv", BY_AGE, "straem")


def test_counts_of_months_add_up(tmp_path: Path) -> None:
    months = tmp_path / "months"
    months.mkdir()
    files = []
    for number in range(3):
        people()[number * 160 : number * 160 + 160].write_parquet(months / f"{number}.parquet")
        counts = StreamEngine(scan(months / f"{number}.parquet")).count(["age", "sex", "city"])
        files.append(tmp_path / f"counts{number}.parquet")
        counts.rename({"\0rows": "rows"}).write_parquet(files[-1])
    together = read_counts(files, ["age", "sex"])
    found = run_on_engine(_stream(months, tmp_path / "out.parquet"), BY_AGE, counts=together)
    meant = kanopy.anonymize(people(), BY_AGE)
    assert found.levels == meant.levels
    assert as_texts(pl.read_parquet(tmp_path / "out.parquet")) == as_texts(meant.frame)
    with pytest.raises(DataError, match="does not count 'pay'"):
        read_counts(files, ["pay"])
    with pytest.raises(DataError, match="holds no counts"):
        read_counts([months / "0.parquet"], ["age"])


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake", "bigquery", "databricks"])
@pytest.mark.parametrize("local", [False, True])
def test_statements_make_the_release(dialect: str, local: bool, tmp_path: Path) -> None:
    sqlglot = pytest.importorskip("sqlglot", reason="pip install 'kanopy[sql]'")
    duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    people().write_parquet(tmp_path / "people.parquet")
    job = Job(quasi=["age", "sex"], k=5, algorithm="mondrian") if local else BY_AGE
    recoded = planned(StreamEngine(scan(tmp_path / "people.parquet")), job)
    statement = emitted(recoded, "people", "release", dialect)
    # What other databases would run is read back into the one that is here.
    (back,) = sqlglot.transpile(statement, read=dialect, write="duckdb")
    with duckdb.connect() as there:
        there.register("people", people().to_arrow())
        there.execute(back)
        made = there.sql("select * from release").pl()
    assert as_texts(made) == as_texts(kanopy.anonymize(people(), job).frame)


def _dbt(quasi: list[str], k: int, unit: str | None = None) -> str:
    jinja2 = pytest.importorskip("jinja2", reason="pip install jinja2")
    text = (Path(__file__).parents[2] / "integrations" / "dbt" / "macros" / "k_anonymous.sql").read_text()
    text = re.sub(r"{% test (\w+)\((.*)\) %}", r"{% macro \1(\2) %}", text).replace("{% endtest %}", "{% endmacro %}")

    class Named:
        quote = staticmethod(lambda name: f'"{name}"')
        type_string = staticmethod(lambda: "varchar")

    made = jinja2.Environment().from_string(text, globals={"adapter": Named, "dbt": Named}).module
    statement: str = made.k_anonymous("release", quasi, k, unit)
    return statement


def test_the_dbt_test_finds_combinations_that_too_few_share() -> None:
    duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    release = pl.DataFrame(
        {"age": ["30", "30", "40", "*", None, None], "sex": ["f", "f", "m", "*", "f", "f"], "who": [1, 1, 2, 3, 4, 5]}
    )
    with duckdb.connect() as there:
        there.register("release", release.to_arrow())
        assert there.execute(_dbt(["age", "sex"], 2)).fetchall() == [("40", "m", 1)]
        few = sorted(there.execute(_dbt(["age", "sex"], 2, "who")).fetchall())
        assert few == [("30", "f", 1), ("40", "m", 1)]


def test_pseudonyms_and_skipped_rows_pass_by(tmp_path: Path) -> None:
    units = pl.DataFrame({name: ["text"] for name in people().columns})
    texts = people().with_columns(pl.all().cast(pl.String))
    pl.concat([units, texts]).write_csv(tmp_path / "p.csv")
    job = BY_AGE.replaced(skip_rows=1, pseudonymize=["note"])
    key = b"a key of at least sixteen bytes"
    with open_engine("stream", tmp_path / "p.csv", str(tmp_path / "out.csv"), job, key=key) as engine:
        run_on_engine(engine, job)
    meant = kanopy.anonymize(str(tmp_path / "p.csv"), job, key=key)
    assert as_texts(pl.read_csv(tmp_path / "out.csv", infer_schema=False)) == as_texts(meant.frame)
    with pytest.raises(JobError, match="'skip_rows'"), open_engine("database", "x.sqlite::p", None, job):
        pass
