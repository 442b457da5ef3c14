"""Random jobs on every engine, through files, as the command runs them: each publishes what memory does.

The table of a job is written as CSV, as Parquet, or into a database. `kanopy anonymize` reads it twice, once in memory
and once with the engine that can do without. Both must end alike, with equal rows, levels and losses; the release of
the engine is judged by the textbook; and where a command fails, nothing that it was asked to write may be there.
"""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import datetime as dt
import io
import json
import math
import sqlite3
import sys
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

import kanopy
from kanopy.hierarchy.hierarchy import Hierarchy
from tests.fuzz.jobs import Case, make_case
from tests.fuzz.judging import KEY, key_of
from tests.fuzz.options import Drawn, with_options
from tests.fuzz.people import any_case, judge_any_release, people_case
from tests.fuzz.servers import tables_of_postgres, write_postgres
from tests.fuzz.textbook import text_of

SOURCES = {"csv": "stream", "parquet": "stream", "duckdb": "database", "sqlite": "database"}
"""How the table of a job is kept, and the engine that reads it there."""
ENGINES = SOURCES | {"postgresql": "database", "spark": "spark"}
"""The same with the engines that need a server."""
DIFFER: dict[str, str] = {}
"""Algorithms whose releases may differ between engines, with the reason. There are none."""
OUTPUTS = ("mapping", "manifest", "solution")
FULL_DOMAIN = ("optimal", "samarati", "datafly", "incognito")
"""Algorithms whose solution can be applied to other tables, and so kept."""
TOLD = ("levels", "score", "losses", "rows", "suppressed", "classes", "smallest_class", "optimal")
"""What the command says of a release, and every engine must say alike."""
NEEDS_MEMORY = (
    "needs the table in memory",
    "needs all rows in memory",
    "has no effect without all rows in memory",
    "only the engine memory splits",
    "This engine does not support",
    "is not changed while it is read",
    "does not treat columns",
    "read piece by piece",
)
"""How an engine refuses what only memory can do."""


@dataclasses.dataclass(frozen=True)
class Ran:
    """How a command ended, what it said, and what it published."""

    status: int
    said: str
    told: dict[str, Any]
    release: pl.DataFrame | None = None


def compare(seed: int, kind: str | None = None, address: str = "") -> str:
    """Run the job of a number in memory and on an engine: `released`, `refused`, `no solution`, or what is wrong."""
    return compare_case(any_case(seed), kind or list(SOURCES)[seed // 12 % len(SOURCES)], address)


def compare_before(seed: int) -> str:
    """The same with the fewer options that once were drawn."""
    case = with_options(people_case(seed) if seed % 3 == 2 else make_case(seed))
    return compare_case(case, list(SOURCES)[seed % len(SOURCES)])


def compare_case(case: Case, kind: str, address: str = "") -> str:
    """Run a job in memory and on an engine: `released`, `refused`, `no solution`, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        folder = Path(place)
        try:
            source, job = write_source(folder, kind, case, address), write_job(folder, case, kind)
        except UnkeepableError:
            return "not kept"
        # What would help is worked out in memory on every engine: once for each job, here or there.
        with _without_advice(case.seed % 2 == 0):
            memory = run(folder, source, job, kind, "memory", case)
        with _without_advice(case.seed % 2 == 1):
            there = run(folder, source, job, kind, ENGINES[kind], case)
        if there.status == 2 and memory.status != 2 and any(words in there.said for words in NEEDS_MEMORY):
            return "memory only"
        assert there.status == memory.status, f"{ENGINES[kind]} of {kind}: {_short(there)}; memory: {_short(memory)}"
        if there.release is None or memory.release is None:
            return {1: "no solution", 2: "refused"}[there.status]
        judge_any_release(case, there.release, kanopy.read_table(source, **form_of(case, kind)))
        if case.job.algorithm in DIFFER:
            return "released, differs"
        same(memory, there, f"{ENGINES[kind]} of {kind}")
    return "released"


def _without_advice(left_out: bool) -> contextlib.AbstractContextManager[Any]:
    nothing = mock.patch("kanopy.release.sweeps.advice.advice", lambda result: ())
    return nothing if left_out else contextlib.nullcontext()


def same(memory: Ran, there: Ran, who: str) -> None:
    """Both say the same numbers and publish the same rows."""
    assert memory.release is not None and there.release is not None
    for name in TOLD:
        one, other = memory.told.get(name), there.told.get(name)
        if name == "losses":
            near = one.keys() == other.keys() and all(
                math.isclose(one[k], other[k], rel_tol=1e-9, abs_tol=1e-12) for k in one
            )
        else:
            near = one == other or (isinstance(one, float) and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12))
        assert near, f"{who} says {name} {other}, memory {one}"
    ours, theirs = multiplicity(memory.release), multiplicity(there.release)
    if ours != theirs:
        lost, more = list((ours - theirs).elements()), list((theirs - ours).elements())
        raise AssertionError(f"{who} publishes {len(more)} other rows, e.g. {more[:2]} where memory has {lost[:2]}")


def multiplicity(frame: pl.DataFrame) -> Counter[tuple[Any, ...]]:
    """The published rows, each how often, every value as it would be written."""
    return Counter(tuple(_written(value) for value in row) for row in frame.select(sorted(frame.columns)).rows())


def _written(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_written, value))
    return None if value is None else text_of(value)


# ---- commands ---------------------------------------------------------------------------------------------------


def run(folder: Path, source: str, job: Path, kind: str, engine: str, case: Case) -> Ran:
    """`kanopy anonymize` in this process; whatever it was asked to write is there if it ended well, else nothing."""
    out = folder / engine
    out.mkdir()
    output = str(out / ("release.csv" if kind == "csv" else "release.parquet"))
    into = engine == "database" and case.seed % 3 > 0
    if into:
        output = f"{source.partition('::')[0]}::release"
    if engine == "spark":
        output = str(out / "release")
    arguments = ["anonymize", source, "--job", job, "-o", output, "--engine", engine, "--json"]
    asked = OUTPUTS if case.job.algorithm in FULL_DOMAIN else OUTPUTS[:2]
    for name in asked if case.seed % 5 == 0 else ():
        arguments += [f"--{name}", out / f"{name}.{'csv' if name == 'mapping' else 'json'}"]
    if case.people is not None:
        arguments += ["--population", folder / "population.parquet"]
    if key_of(case) is not None:
        arguments += ["--key-file", folder / "key"]
    status, said, told = command(*arguments)
    assert status in (0, 1, 2), f"{engine} of {kind}: exit status {status}: {said[:400]}"
    there = sorted(path.name for path in out.iterdir())
    made = "release" in tables(source) if into else Path(output).exists()
    if status:
        assert not there and not made, f"exit status {status}, and {there or 'a table'} was written"
        return Ran(status, said, told)
    wanted = (0 if into else 1) + (len(asked) if case.seed % 5 == 0 else 0)
    assert made and len(there) == wanted, f"{there} of {wanted} outputs were written"
    if engine == "spark":
        return Ran(status, said, told, pl.read_parquet(f"{output}/*.parquet"))
    if into or kind != "csv":
        return Ran(status, said, told, kanopy.read_table(output))
    form = form_of(case, kind)
    raw = Path(output).read_bytes()
    text = raw.decode("utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else form.get("encoding", "utf-8"))
    frame = pl.read_csv(text.encode(), separator=form.get("delimiter", ","), infer_schema=False)
    return Ran(status, said, told, frame)


def command(*arguments: Any) -> tuple[int, str, dict[str, Any]]:
    """A command as a shell would run it: its exit status, what it said, and its JSON."""
    from kanopy.cli import main

    out, error, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["kanopy", *map(str, arguments)]
    status: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                main()
            except SystemExit as stop:
                status = stop.code or 0
    finally:
        sys.argv = before
    lines = out.getvalue().splitlines()
    told = json.loads(lines[-1]) if lines else {}
    return status, " ".join(error.getvalue().split()), told


def _short(ran: Ran) -> str:
    return f"exit status {ran.status} ({ran.said[-300:]})" if ran.status else "released"


# ---- files ------------------------------------------------------------------------------------------------------


class UnkeepableError(Exception):
    """A table that this kind of file or database cannot keep."""


def form_of(case: Case, kind: str) -> dict[str, Any]:
    """How the file of a case is written, where it is a file of text."""
    return case.form if isinstance(case, Drawn) and kind == "csv" else {}


def write_job(folder: Path, case: Case, kind: str) -> Path:
    """The job as a file, with its hierarchies beside it."""
    from kanopy.hierarchy.files.files import write_hierarchy

    given: dict[str, Any] = {}
    for name, tree in case.job.hierarchies.items():
        if isinstance(tree, kanopy.Hierarchy):
            write_hierarchy(tree, folder / f"{name}-tree.csv")
            given[name] = f"{name}-tree.csv"
        else:
            given[name] = tree
    if any(isinstance(each, Hierarchy) for each in case.job.parameters.values()):
        raise UnkeepableError
    if case.people is not None:
        case.people.write_parquet(folder / "population.parquet")
    (folder / "key").write_bytes(KEY)
    job = folder / "job.toml"
    job.write_text(case.job.replaced(hierarchies=given, **form_of(case, kind)).to_toml(), encoding="utf-8")
    return job


def write_source(folder: Path, kind: str, case: Case, address: str = "") -> str:
    """The table of a case as a file or in a database: its address."""
    table, path = case.table, folder / f"people.{kind}"
    nested = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    if kind == "postgresql":
        write_postgres(address, table, "people")
        write_postgres(address, pl.DataFrame(), "release")
        return f"{address}::people"
    if kind in ("parquet", "spark"):
        path = folder / "people.parquet"
        table.write_parquet(path, row_group_size=max(1, table.height // 3))
    elif kind == "csv":
        if nested:
            raise UnkeepableError
        form = form_of(case, kind)
        table = table.with_columns(_isoed(table[name]) for name in table.columns)
        text = "A survey of people\n" * (form.get("header_row", 1) - 1)
        text += table.write_csv(separator=form.get("delimiter", ","))
        path.write_bytes(text.encode(form.get("encoding", "utf-8")))
    elif kind == "duckdb":
        import duckdb

        with duckdb.connect(str(path)) as made:
            made.register("here", table.with_columns(pl.selectors.categorical().cast(pl.String)).to_arrow())
            made.execute("create table people as select * from here")
    else:
        if nested:
            raise UnkeepableError
        with contextlib.closing(sqlite3.connect(path)) as made:
            made.execute(f"create table people ({', '.join(table.columns)})")
            marks = ", ".join("?" * table.width)
            rows = [tuple(map(_stored, row)) for row in table.iter_rows()]
            made.executemany(f"insert into people values ({marks})", rows)
            made.commit()
    return f"{path}::people" if ENGINES[kind] == "database" else str(path)


def _isoed(column: pl.Series) -> pl.Series:
    """Durations as people write them; all else as it is."""
    if column.dtype != pl.Duration:
        return column
    return pl.Series(column.name, [None if value is None else str(value) for value in column.to_list()], pl.String)


def _stored(value: Any) -> Any:
    """A value as SQLite keeps it."""
    if isinstance(value, (dt.date, dt.datetime, dt.time)):
        return value.isoformat()
    if isinstance(value, (dt.timedelta, Decimal)):
        return str(value)
    return None if isinstance(value, float) and np.isnan(value) else value


def tables(source: str) -> list[str]:
    """The tables of a database."""
    path = source.partition("::")[0]
    if path.startswith("postgresql:"):
        return tables_of_postgres(path)
    if path.endswith(".duckdb"):
        import duckdb

        with duckdb.connect(path, read_only=True) as made:
            return [name for (name,) in made.execute("select table_name from information_schema.tables").fetchall()]
    with contextlib.closing(sqlite3.connect(path)) as made:
        return [name for (name,) in made.execute("select name from sqlite_master").fetchall()]
