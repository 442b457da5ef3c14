"""Where several tables are written: a folder with a file per table, or a database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.sinks import Release

DATABASES = {".duckdb": "duckdb", ".ddb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}


def is_database_file(path: Path) -> bool:
    """Whether a path names a database file.

    >>> is_database_file(Path("out.duckdb")), is_database_file(Path("out"))
    (True, False)
    """
    return path.suffix.lower() in DATABASES


def targets_of(folder: Path, frames: Mapping[str, pl.DataFrame], sources: Mapping[str, Any]) -> dict[str, Path]:
    """The file of every table in a folder: named as the table, in the format that it was read from where that is a
    file of columns, else delimited text. The folder is made where it is missing."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"Several tables are written into a folder, and {str(folder)!r} is a file. Name a folder.")
    if not folder.exists():
        if not folder.parent.is_dir():
            raise DataError(f"There is no folder {str(folder.parent)!r} to make {folder.name!r} in. Create it first.")
        folder.mkdir()
    targets = {}
    for name in frames:
        source = sources.get(name)
        suffix = "" if source is None or source.path is None else source.path.suffix.lower()
        targets[name] = folder / f"{name}{suffix if suffix in ('.parquet', '.arrow', '.feather', '.tsv') else '.csv'}"
    return targets


def stage_database(release: Release, path: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    """Stage a new database file with a table per frame."""
    kind = DATABASES[path.suffix.lower()]
    if path.exists():
        raise DataError(f"The database {str(path)!r} exists, and may contain other tables. Name a new file.")

    def written(target: Path) -> None:
        target.unlink(missing_ok=True)
        (_duckdb if kind == "duckdb" else _sqlite)(target, frames)

    release.stage(str(path), written)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _duckdb(target: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    import duckdb

    with duckdb.connect(str(target)) as connection:
        for name, frame in frames.items():
            connection.register("kanopy_rows", _plain(frame).to_arrow())
            quoted = name.replace('"', '""')
            connection.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM kanopy_rows')
            connection.unregister("kanopy_rows")


def _sqlite(target: Path, frames: Mapping[str, pl.DataFrame]) -> None:
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(target)) as connection, connection:
        for name, frame in frames.items():
            table = name.replace('"', '""')
            columns = ", ".join('"' + column.replace('"', '""') + '"' for column in frame.columns)
            connection.execute(f'CREATE TABLE "{table}" ({columns})')
            marks = ", ".join("?" for _ in frame.columns)
            rows = (tuple(_value(value) for value in row) for row in _plain(frame).iter_rows())
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)


def _value(value: Any) -> Any:
    return value if value is None or isinstance(value, (int, float, str, bytes)) else str(value)
