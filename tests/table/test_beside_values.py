"""What travels beside the values of a table: categories that no published row has, metadata, attributes of a frame."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanopy
from kanopy._errors import VerificationFailed
from kanopy._table.column import used_categories
from kanopy.engine.contract import MOST
from kanopy.verify.job import require_used_categories

OF_NOBODY = ("only suppressed", "only dropped", "another year")
REGIONS, ILL = ["north", "south", *OF_NOBODY[::2]], ["a", "b", *OF_NOBODY[1:]]


def people() -> pl.DataFrame:
    """Two hundred people, one of them alone in a region and with a diagnosis; and categories of another year."""
    rows = range(200)
    region = [OF_NOBODY[0] if row == 0 else REGIONS[row % 2] for row in rows]
    ill = [OF_NOBODY[1] if row == 0 else "ab"[row // 2 % 2] for row in rows]
    return pl.DataFrame({
        "region": pl.Series(region, dtype=pl.Enum(REGIONS)), "ill": pl.Series(ill, dtype=pl.Enum(ILL)),
        "text": pl.Series(ill, dtype=pl.Categorical),
    })  # fmt: skip


def job(**settings: Any) -> kanopy.Job:
    return kanopy.Job(
        quasi="region", k=5, suppress=0.05, suppressed_rows="drop", insensitive=["ill", "text"],
        hierarchies={"region": kanopy.Hierarchy.flat(REGIONS)}, max_levels={"region": 0}, **settings,
    )  # fmt: skip


def told(path: Path) -> list[str]:
    """The values of nobody that stand anywhere in a file."""
    return [value for value in OF_NOBODY if value.encode() in path.read_bytes()]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize(("engine", "most"), [("memory", None), ("stream", None), ("stream", "4")])
def test_no_file_holds_categories_that_no_published_row_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, most: str | None, suffix: str
) -> None:
    if most is not None:
        pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
        monkeypatch.setenv(MOST, most)
    people().write_parquet(tmp_path / "people.parquet")
    assert told(tmp_path / "people.parquet")
    released = tmp_path / f"release{suffix}"
    kanopy.anonymize(str(tmp_path / "people.parquet"), job(), engine=engine, output=str(released))
    assert told(released) == []
    read = (pl.read_parquet if suffix == ".parquet" else pl.read_ipc)(released)
    assert read.height == 199
    assert set(read["region"].cast(pl.String)) == {"north", "south"}


@pytest.mark.parametrize("most", [None, "4"])
def test_no_table_of_a_database_has_types_that_list_values_of_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: str | None
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="pip install 'kanopy[duckdb]'")
    if most is not None:
        monkeypatch.setenv(MOST, most)
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.register("given", people().select(pl.col("region", "ill").cast(pl.String)).to_arrow())
        for name, values in (("place", REGIONS), ("diagnosis", ILL)):
            listed = ", ".join(f"'{value}'" for value in values)
            database.execute(f"create type {name} as enum ({listed})")
        database.execute("create table people (region place, ill diagnosis, ills diagnosis[])")
        database.execute("insert into people select region, ill, [ill] from given")
        kinds = database.execute("describe people").fetchall()
    assert [kind[:4] for _, kind, *_ in kinds] == ["ENUM"] * 3
    asked = job().replaced(insensitive=["ill", "ills"])
    kanopy.anonymize(f"{tmp_path}/people.duckdb::people", asked, output=f"{tmp_path}/people.duckdb::release")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        kinds = database.execute("describe release").fetchall()
        assert database.execute("select count(*), count(distinct ill) from release").fetchall() == [(199, 2)]
    assert [kind for _, kind, *_ in kinds] == ["VARCHAR", "VARCHAR", "VARCHAR[]"]


def test_frames_of_pandas_keep_neither_categories_nor_attributes_of_others() -> None:
    pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'")
    given = people().to_pandas()
    given.attrs = {"title": "Patients", "worst": ["only suppressed"], "source": {"ward": "another year"}}
    for asked in (job(), job().replaced(suppressed_rows="keep", suppress=0.0, max_levels={})):
        released = kanopy.anonymize(given, asked).data
        everything = set(given["ill"]) if asked.suppressed_rows == "keep" else {"a", "b"}
        assert set(released["ill"].cat.categories) == everything
        assert released.attrs == {"title": "Patients"}


def test_tables_of_arrow_keep_descriptions_only() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'")
    about = {"title": "patients", "r": "row.names: Ann, Bob", "org.apache.spark.sql.parquet.row.metadata": "vals: Ann"}
    table = people().to_arrow().replace_schema_metadata(about)
    field = table.schema.field("ill").with_metadata({"label": "diagnosis", "ml_attr": "vals: only dropped"})
    table = table.set_column(1, field, table.column("ill"))
    assert pyarrow.types.is_dictionary(field.type)
    released = kanopy.anonymize(table, job()).data
    assert released.schema.metadata == {b"title": b"patients"}
    assert released.schema.field("ill").metadata == {b"label": b"diagnosis"}
    assert released.column("ill").combine_chunks().dictionary.to_pylist() == ["a", "b"]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
def test_what_is_narrowed_passes_the_second_look(values: list[str]) -> None:
    frame = pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(list("abcd")))})
    with pytest.raises(VerificationFailed, match=f"{4 - len(set(values))} categories that no row has"):
        require_used_categories(frame)
    narrowed = used_categories(frame)
    require_used_categories(narrowed)
    assert narrowed["a"].to_list() == values
    assert narrowed["a"].dtype.categories.to_list() == sorted(set(values))
