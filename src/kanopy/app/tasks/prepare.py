"""Preparing a table before its release: rows are chosen, values replaced or emptied, types changed, columns joined.

What is prepared is written as a table of its own, which everything that follows is made of; the original stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, near_miss
from kanopy._files import write_whole
from kanopy._progress import Callback
from kanopy.app.tasks.worker_state import WorkerState

if TYPE_CHECKING:
    import polars as pl

TESTS = ("=", "≠", "<", "≤", ">", "≥", "contains", "is missing", "is not missing")
TYPES = ("number", "text")
MOST_SHOWN = 12


def numbers_in(column: pl.Series) -> pl.Series | None:
    """A column as numbers, where it holds nothing else: files of text give texts.

    >>> import polars as pl
    >>> numbers_in(pl.Series(["1", " 2.5", None])).to_list(), numbers_in(pl.Series(["1", "b"]))
    ([1.0, 2.5, None], None)
    """
    import polars as pl

    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype != pl.String:
        return None
    texts = column.str.strip_chars()
    found = texts.cast(pl.Float64, strict=False)
    lost = found.is_null() & texts.is_not_null() & (texts != "")
    return None if bool(lost.any()) or found.null_count() == len(found) else found


def condition(frame: pl.DataFrame, where: Mapping[str, Any]) -> pl.Expr:
    """A condition on a column as an expression; numbers are compared as numbers where the column holds them.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 41, 63], "sex": ["f", "m", None]})
    >>> people.filter(condition(people, {"column": "age", "test": ">", "value": "30"}))["age"].to_list()
    [41, 63]
    >>> people.filter(condition(people, {"column": "sex", "test": "is missing"})).height
    1
    >>> texts = people.select(pl.col("age").cast(pl.String) + "0")
    >>> texts.filter(condition(texts, {"column": "age", "test": "<", "value": "300"}))["age"].to_list()
    ['200']
    """
    import polars as pl

    name, test, value = str(where.get("column", "")), str(where.get("test", "=")), str(where.get("value", ""))
    if name not in frame.columns:
        raise JobError(f"There is no column {name!r}. {near_miss(name, frame.columns)}")
    if test not in TESTS:
        raise JobError(f"There is no comparison {test!r}: choose one of {', '.join(TESTS)}.")
    column = pl.col(name)
    if test == "is missing":
        return column.is_null()
    if test == "is not missing":
        return column.is_not_null()
    if test == "contains":
        return column.cast(pl.String).str.contains(value, literal=True).fill_null(False)
    compared: Any = value
    # Codes such as 0123 are equal as they are written; larger and smaller are questions about numbers.
    texts = frame[name].dtype.is_numeric() is False and test in ("=", "≠")
    if not texts and numbers_in(frame[name]) is not None:
        column = column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        try:
            compared = float(value)
        except ValueError:
            raise JobError(f"{name!r} holds numbers: {value!r} is none.") from None
    else:
        column = column.cast(pl.String)
    found = {
        "=": column == compared, "≠": column != compared, "<": column < compared, "≤": column <= compared,
        ">": column > compared, "≥": column >= compared,
    }[test]  # fmt: skip
    made: pl.Expr = found.fill_null(False)
    return made


def prepared(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    """A table after one step, and the step in words.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 41, 63]})
    >>> prepared(people, {"do": "keep", "column": "age", "test": "<", "value": "50"})[1]
    'rows with age < 50: 2 of 3'
    >>> prepared(people, {"do": "type", "column": "age", "type": "text"})[0]["age"].to_list()
    ['20', '41', '63']
    """
    done = {"keep": _keep, "sample": _sample, "missing": _empty, "replace": _replace, "type": _type, "join": _join}
    kind = str(step.get("do", ""))
    if kind not in done:
        raise JobError(f"There is no step {kind!r}.")
    return done[kind](frame, step)


def _keep(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    found = frame.filter(condition(frame, step))
    if not found.height:
        raise DataError(f"No row has {_words(step)}: nothing would be left.")
    return found, f"rows with {_words(step)}: {found.height:,} of {frame.height:,}"


def _sample(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    rows = int(step.get("rows") or 0)
    if not 0 < rows <= frame.height:
        raise JobError(f"A sample has 1 to {frame.height:,} rows, not {rows:,}.")
    seed = int(step.get("seed") or 0)
    found = frame.with_row_index("\0row").sample(rows, seed=seed).sort("\0row").drop("\0row")
    return found, f"a sample of {rows:,} of {frame.height:,} rows, seed {seed}"


def _empty(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    import polars as pl

    name, wrong = str(step["column"]), condition(frame, step)
    count = int(frame.select(wrong.sum()).item())
    found = frame.with_columns(pl.when(wrong).then(None).otherwise(pl.col(name)).alias(name))
    return found, f"{_words(step)} became missing in {count:,} rows"


def _replace(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    import polars as pl

    name, wrong, new = str(step["column"]), condition(frame, step), str(step.get("new", ""))
    count = int(frame.select(wrong.sum()).item())
    value: Any = new
    if frame[name].dtype.is_numeric():
        try:
            value = float(new)
        except ValueError:
            raise JobError(f"{name!r} holds numbers: {new!r} is none. Make it a text first.") from None
    other = pl.lit(value) if isinstance(value, str) else pl.lit(value).cast(frame[name].dtype)
    found = frame.with_columns(pl.when(wrong).then(other).otherwise(pl.col(name)).alias(name))
    return found, f"{_words(step)} became {new!r} in {count:,} rows"


def _type(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    import polars as pl

    name, kind = str(step["column"]), str(step.get("type", ""))
    if name not in frame.columns or kind not in TYPES:
        raise JobError(f"Choose a column, and the type {' or '.join(TYPES)}.")
    if kind == "text":
        return frame.with_columns(pl.col(name).cast(pl.String)), f"{name} is text"
    numbers = frame[name].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    lost = frame[name].filter(numbers.is_null() & frame[name].is_not_null()).unique().head(5).to_list()
    if lost:
        raise DataError(f"{name!r} holds texts that are no numbers: {', '.join(map(repr, lost))}. Replace them first.")
    whole = numbers.drop_nulls()
    made = numbers.cast(pl.Int64) if len(whole) and bool((whole == whole.floor()).all()) else numbers
    return frame.with_columns(made.alias(name)), f"{name} is a number"


def _join(frame: pl.DataFrame, step: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    import polars as pl

    from kanopy._table.sources import read_source

    key = str(step.get("key", ""))
    other = read_source(str(step.get("other", ""))).frame
    for table, called in ((frame, "The table"), (other, "The other table")):
        if key not in table.columns:
            raise JobError(f"{called} has no column {key!r}. {near_miss(key, table.columns)}")
    if other[key].is_duplicated().any():
        raise DataError(f"The other table has several rows with the same {key!r}: it needs one row per value.")
    if other[key].dtype != frame[key].dtype:
        other = other.with_columns(pl.col(key).cast(frame[key].dtype, strict=False))
    fresh = [name for name in other.columns if name == key or name not in frame.columns]
    found = frame.join(other.select(fresh), on=key, how="left", maintain_order="left")
    return found, f"{len(fresh) - 1} columns joined by {key}"


def _words(step: Mapping[str, Any]) -> str:
    test = str(step.get("test", "="))
    value = "" if test.startswith("is ") else f" {step.get('value', '')}"
    return f"{step.get('column', '')} {test}{value}"


def preview(state: WorkerState, notify: Callback, *, source: str, step: dict[str, Any]) -> dict[str, Any]:
    """What a step would do, and some rows after it; nothing is written."""
    from kanopy.app.tasks.table import texts

    found, words = prepared(state.frame(source), step)
    names = found.columns[:MOST_SHOWN]
    return {"words": words, "columns": names, "rows": texts(found, 0, MOST_SHOWN, names), "total": found.height}


def write(state: WorkerState, notify: Callback, *, source: str, step: dict[str, Any], folder: str) -> dict[str, Any]:
    """Write the table after a step into a folder, whole; returns its name and the step in words."""
    import io

    from kanopy._table.sources import local_path

    found, words = prepared(state.frame(source), step)
    place = local_path(source)
    stem = "table" if place is None else place.stem.rpartition("-prepared-")[0] or place.stem
    for number in range(1, 10_000):
        target = Path(folder) / f"{_safe(stem)}-prepared-{number}.parquet"
        if not target.exists():
            break
    content = io.BytesIO()
    found.write_parquet(content)
    write_whole(target, content.getvalue(), private=True)
    return {"name": target.name, "words": words, "rows": found.height}


def _safe(stem: str) -> str:
    from kanopy.app.project import safe_name

    return safe_name(stem, "table")[:30]


def reading(state: WorkerState, notify: Callback, *, source: str, layout: dict[str, Any]) -> dict[str, Any]:
    """How a file would be read with some settings: its columns with their types, and the first rows; or why not."""
    from kanopy._errors import KanopyError
    from kanopy._job.job import Job
    from kanopy._job.reading_rules import read_records
    from kanopy._table.formats.layout import Layout
    from kanopy._table.sources import read_source
    from kanopy.app.tasks.table import texts

    try:
        job = Job(**layout)
        read = read_source(source, layout=Layout.of(job))
        records = read_records(read.frame, job, part=True)
    except KanopyError as error:
        return {"wrong": str(error), "columns": [], "types": [], "rows": [], "total": 0, "notes": []}
    names = records.columns[:MOST_SHOWN]
    return {
        "wrong": "", "columns": names, "types": [str(records[name].dtype).lower() for name in names],
        "rows": texts(records, 0, MOST_SHOWN, names), "total": records.height, "notes": list(read.notes),
        "width": records.width,
    }  # fmt: skip
