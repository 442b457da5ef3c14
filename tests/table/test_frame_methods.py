"""`.kanopy` on frames, tables of Ibis, points of GeoPandas, and the metadata of Arrow."""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest

import kanopy
import kanopy.frames
from kanopy._errors import DataError

TABLE = {"age": [31, 34, 45, 47, 52, 58], "ill": ["a", "b", "a", "b", "a", "b"]}
JOB = kanopy.Job(quasi="age", sensitive="ill", k=2)


def test_the_methods_are_the_functions() -> None:
    pandas = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    expected = kanopy.anonymize(TABLE, JOB).data
    for frame in (pl.DataFrame(TABLE), pl.LazyFrame(TABLE), pandas.DataFrame(TABLE)):
        methods = frame.kanopy
        assert methods.check(quasi="age").to_dict() == kanopy.check(TABLE, quasi="age").to_dict()
        assert methods.risk(quasi="age").to_dict() == kanopy.assess_risk(TABLE, quasi="age").to_dict()
        assert set(methods.guess_job().job.roles) == set(TABLE)
        for result in (methods.anonymize(JOB), methods.anonymize(quasi="age", sensitive="ill", k=2)):
            assert type(result.data) is type(frame)
            data = result.data.collect() if isinstance(frame, pl.LazyFrame) else result.data
            assert {name: list(data[name]) for name in TABLE} == expected
        assert methods.anonymize(JOB, k=3).verification.smallest_class >= 3


def test_importing_kanopy_alone_registers_nothing() -> None:
    code = "import kanopy, sys; print('kanopy.frames' in sys.modules, 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"


def test_tables_of_ibis_are_read_where_an_engine_is() -> None:
    ibis = pytest.importorskip("ibis", reason="pip install 'kanopy[ibis]'")
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("create table people (age integer, ill text)")
    connection.executemany("insert into people values (?, ?)", list(zip(*TABLE.values(), strict=True)))
    table = ibis.duckdb.from_connection(connection).table("people")
    release = kanopy.anonymize(table.filter(table.age > 31), JOB).data
    assert len(release.to_pyarrow()) == 5 and kanopy.check(release, quasi="age").k >= 2
    with pytest.raises(DataError, match=r"tables are read, not"):
        kanopy.check(table.age, quasi="age")

    class Elsewhere:
        __module__ = "ibis.expr"
        columns = ("age",)

        def get_backend(self) -> object:
            return type("Backend", (), {"name": "bigquery"})()

    with pytest.raises(DataError, match="not from 'bigquery'"):
        kanopy.check(Elsewhere(), quasi="age")


def test_points_become_places_in_degrees() -> None:
    geopandas = pytest.importorskip("geopandas", reason="pip install 'kanopy[geo]'")
    east, north = [13.41, 13.42, 13.43, 2.35, 2.36, 2.37], [52.51, 52.52, 52.53, 48.85, 48.86, 48.87]
    points = geopandas.GeoDataFrame({"ill": list("ababab")}, geometry=geopandas.points_from_xy(east, north, crs=4326))
    job = kanopy.Job(
        quasi="geometry", sensitive="ill", k=3, hierarchies={"geometry": {"method": "cells", "sizes": [1]}}
    )
    release = kanopy.anonymize(points, job).data
    assert sorted(set(release["geometry"])) == ["48–49 N, 2–3 E", "52–53 N, 13–14 E"]
    assert "geometry" not in {str(kind) for kind in release.dtypes}
    metres = points.to_crs(3857)
    assert list(kanopy.anonymize(metres, job).data["geometry"]) == list(release["geometry"])
    with pytest.raises(DataError, match="no coordinate system"):
        kanopy.anonymize(points.set_crs(None, allow_override=True), job)
    with pytest.raises(DataError, match="not points: 'Polygon'"):
        kanopy.anonymize(metres.set_geometry(metres.buffer(10)), job)


def test_metadata_of_arrow_is_kept_where_it_is_still_true() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'kanopy[pandas]'")
    own = {"age": {"description": "in years", "max": "58"}, "ill": {"description": "code", "source": "ward"}}
    fields = [
        pyarrow.field("age", pyarrow.int64(), metadata=own["age"]),
        pyarrow.field("ill", pyarrow.string(), metadata=own["ill"]),
    ]
    about = {"title": "patients", "geo": json.dumps({"bbox": [31, 58]}), "pandas": "{}"}
    table = pyarrow.table([TABLE["age"], TABLE["ill"]], schema=pyarrow.schema(fields, metadata=about))
    released = kanopy.anonymize(table, JOB).data.schema
    assert released.metadata == {b"title": b"patients"}
    assert released.field("age").metadata == {b"description": b"in years"}
    assert released.field("ill").metadata == {b"description": b"code", b"source": b"ward"}
