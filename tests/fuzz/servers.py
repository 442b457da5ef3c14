"""Engines that need something beside Kanopy: a PostgreSQL server of its own, and Spark in this process."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

KEPT_BY = ("postgresql", "spark")
"""What random jobs are tried on where it is there."""


class NotHereError(Exception):
    """Something is not installed on this machine; says what."""


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a temporary server that listens on a socket only, under an account without rights."""
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        raise NotHereError("pip install 'kanopy[postgres]'")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None:
        raise NotHereError("no PostgreSQL server binaries (Debian: apt install postgresql)")
    tools = Path(initdb).resolve().parent
    user: dict[str, object] = {}
    if os.geteuid() == 0:
        try:
            import pwd

            account = pwd.getpwnam("postgres")
        except KeyError:
            raise NotHereError("PostgreSQL does not run as the superuser, and there is no account 'postgres'") from None
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="kanopy-pg-", dir="/tmp"))
    folder.chmod(0o777)

    def run(*command: str) -> None:
        environment = {**os.environ, "LC_ALL": "C", "HOME": str(folder)}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False, **user
        )  # type: ignore[call-overload]
        if done.returncode != 0:
            raise NotHereError(f"PostgreSQL did not start: {done.stderr.strip()[-200:]}")

    data = str(folder / "data")
    try:
        run(str(tools / "initdb"), "-D", data, "-U", "kanopy", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        run(str(tools / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://kanopy@/postgres?host={folder}"
        finally:
            run(str(tools / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def with_server(what: str) -> Iterator[Callable[[int], str] | None]:
    """What tries a job on an engine that needs a server, while that runs; nothing for all that need none."""
    from tests.fuzz.engines import compare

    if what == "postgresql":
        with postgres_server() as address:
            yield lambda seed: compare(seed, "postgresql", address)
    elif what == "spark":
        with spark_here():
            yield lambda seed: compare(seed, "spark")
    else:
        yield None


@contextlib.contextmanager
def spark_here() -> Iterator[Any]:
    """A session of Spark in this process, which all jobs share."""
    if importlib.util.find_spec("pyspark") is None:
        raise NotHereError("pip install 'kanopy[spark]'")
    if shutil.which("java") is None:
        raise NotHereError("needs Java 17 (Debian: apt install openjdk-17-jre)")
    from pyspark.sql import SparkSession

    settings = {
        "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false", "spark.default.parallelism": "1", "spark.driver.memory": "1g",
        "spark.sql.adaptive.enabled": "false",
    }  # fmt: skip
    import sys

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def write_postgres(address: str, table: pl.DataFrame, name: str) -> None:
    """A table of a database, in the place of what was there; without a table the place is cleared."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as made, made.cursor() as cursor:
        cursor.execute(f"drop table if exists {name}")
        if table.width:
            plain = table.with_columns(pl.selectors.categorical().cast(pl.String))
            cursor.adbc_ingest(name, plain.to_arrow(), mode="create")


def tables_of_postgres(address: str) -> list[str]:
    """The tables that are there."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as made, made.cursor() as cursor:
        cursor.execute("select tablename from pg_tables where schemaname = 'public'")
        return [name for (name,) in cursor.fetchall()]
