"""The bundled data set and its hierarchies."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from kanopy._errors import InputError
from kanopy._table import datasets
from kanopy._table.encode import encode_column

RAW = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def test_adult_has_the_known_size() -> None:
    frame = datasets.adult()
    assert frame.shape == (48_842, 15)
    assert frame.columns[:5] == ["age", "workclass", "fnlwgt", "education", "education-num"]
    assert frame.columns[-1] == "income" and set(frame["income"]) == {"<=50K", ">50K"}
    assert frame.schema["age"] == pl.Int64 and frame.schema["sex"] == pl.String
    complete = datasets.adult(complete=True)
    assert complete.height == 45_222 and complete.equals(frame.drop_nulls())
    # adult.names: 30,162 complete records in adult.data, which has 32,561.
    assert frame.head(32_561).drop_nulls().height == 30_162
    assert datasets.path("adult.parquet").stat().st_size < 1_000_000
    assert "CC BY 4.0" in datasets.path("adult.LICENCE.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not RAW.exists(), reason="the raw files are not beside the project")
def test_adult_is_what_the_raw_files_say() -> None:
    lines = [
        line.rstrip(".")
        for name in ("adult.data.gz", "adult.test.gz")
        for line in gzip.decompress((RAW / name).read_bytes()).decode().splitlines()
        if ", " in line
    ]
    frame = datasets.adult().cast(pl.String).fill_null("?")
    assert [", ".join(row) for row in frame.rows()] == lines


def test_hierarchies_cover_their_columns() -> None:
    frame = datasets.adult()
    hierarchies = datasets.adult_hierarchies()
    assert set(hierarchies) == set(frame.columns) - {"fnlwgt", "capital-gain", "capital-loss"}
    for name, hierarchy in hierarchies.items():
        assert hierarchy.nested and hierarchy.labels_at(hierarchy.height) == ("*",) and hierarchy.name == name
        assert encode_column(frame[name], hierarchy).unknown_values == ()
        sizes = hierarchy.level_sizes
        assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)


def test_unknown_file() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'adult.parquet'"):
        datasets.path("adlt.parquet")
