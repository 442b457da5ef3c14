"""The engine for tables on a Spark cluster: one aggregation counts, native columns publish, no row passes by Python.

Only distinct rows come to the driver. What was found for them goes back as a small table that is joined (broadcast
where Spark finds it small enough); the release is a frame of the cluster, or files that appear when all are verified.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl

from kanopy._errors import DataError, JobError, MissingDependency
from kanopy._table.guessing.identifying_values import MOST_VALUES
from kanopy._table.streams.scans import require_same_columns
from kanopy.engine import statements as sql
from kanopy.engine.contract import MOST, RecodePlan, Recount, in_order, most_different, require_few
from kanopy.engine.pushdown import CELLS, GROUPS, Solve
from kanopy.engine.spark_rows import without_pandas
from kanopy.engine.statements import FRAGMENTS, PAIRS, Statements

LEAST_JAVA = 17
BROADCAST_ROWS = 1_000_000
"""Tables up to this length go to every executor; joins with longer ones sort."""
ROWS_PER_PARTITION = 100_000
PARTITIONS = "spark.sql.shuffle.partitions"
NO_RECORDS = "The table has columns but no records. Give one with at least one record."
ORDER, SOURCE, TREATED = "kanopy_order", "kanopy_source", "kanopy_treated"


class Treated(Protocol):
    """What a job makes of the columns that it treats."""

    @property
    def unit(self) -> Sequence[str]:
        """The columns that say whose a row is."""

    @property
    def digested(self) -> Sequence[str]:
        """The columns in which equal rows are numbered, where a treatment needs that."""

    def treat(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A piece of the table with its columns treated and verified."""

    def shared(self) -> Iterator[tuple[str, str, float]]:
        """The columns and values that several people must share, and what each is called."""

    def require_enough(self, column: str, what: str, people: int) -> None:
        """Refuse a release in which so few people share such a value."""


def is_spark(data: object) -> bool:
    """Whether something is a frame of Spark.

    >>> is_spark(pl.DataFrame())
    False
    """
    return type(data).__module__.startswith("pyspark.sql") and type(data).__name__ == "DataFrame"


def spark_session(master: str | None = None) -> Any:
    """A session on a cluster; refuses a wrong Java and a master that does not answer before Spark waits for them."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependency("Spark needs pyspark: pip install 'kanopy[spark]', and Java 17.") from None
    check_java()
    address = urllib.parse.urlparse(master or "")
    if address.scheme == "spark":
        try:
            socket.create_connection((address.hostname or "", address.port or 7077), timeout=5).close()
        except OSError as error:
            raise DataError(f"The Spark master {master} does not answer ({error}). Check its address.") from None
    if (master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers on this machine find what is installed here
    builder = SparkSession.builder.appName("kanopy").config("spark.ui.showConsoleProgress", "false")
    return (builder if master is None else builder.master(master)).getOrCreate()


def check_java() -> None:
    """Refuse to start Spark without a Java that it runs on."""
    java = shutil.which("java")
    if java is None:
        raise MissingDependency(f"Spark needs Java {LEAST_JAVA} or newer, and there is no 'java'. Install a JDK.")
    version_text = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    if match is None or int(match[1]) < LEAST_JAVA:
        version_shown = match[1] if match else "a strange one"
        raise MissingDependency(f"Spark needs Java {LEAST_JAVA} or newer, not {version_shown}. Install a newer JDK.")


def read_files(session: Any, path: str) -> Any:
    """The Parquet files of a path as a frame. Spark would take the columns of one file for all, and what others
    lack for missing values: such files are refused, as everywhere."""
    with told():
        frame = session.read.parquet(path)
        files, schemas = sorted(frame.inputFiles()), []
        parquet, settings = session._jvm.org.apache.parquet.hadoop, session._jsc.hadoopConfiguration()
        for file in files:
            file_path = session._jvm.org.apache.hadoop.fs.Path(file)
            footer = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(file_path, settings))
            try:
                fields = footer.getFooter().getFileMetaData().getSchema().getFields()
                schemas.append({field.getName(): " ".join(str(field).split()[1:]) for field in fields})
            finally:
                footer.close()
    require_same_columns(files, schemas)
    return frame


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What Spark says becomes one plain sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        # What a worker says comes with the places it came through: the first line after them tells.
        messages = [line for line in lines[1:] if line and not line[0].isspace() and not line.startswith("Traceback")]
        reason = (
            messages[0] if messages and ("Python worker" in lines[0] or "o.ParquetFileReader" in lines[0]) else lines[0]
        )
        if "ModuleNotFoundError" in reason:
            reason += ": executors need a Python with Kanopy, which PYSPARK_PYTHON names"
        raise DataError(f"Spark could not do it: {reason[:300]}. Nothing was published.") from None


class SparkEngine:
    """A frame of Spark; its release is the frame `remote`, also written to the folder `output` if one is named."""

    name, reads_batches, source, table = "spark", False, "a Spark table", SOURCE
    notes: tuple[str, ...] = ()

    def __init__(
        self, frame: Any, output: str | None = None, *, shuffle: bool = False, treated: Treated | None = None
    ) -> None:
        self.shuffle, self.treated = shuffle, treated
        self.frame, self.output, self.session = frame, output, frame.sparkSession
        self.target, self.remote = output, None
        if output is not None:
            self._files, self._path = _file_system(self.session, output)
            if self._files.exists(self._path):
                raise DataError(f"{output} exists already. Give another name: folders are never overwritten.")

    @property
    def plain_types(self) -> Mapping[str, str]:
        """Spark has no enumerations."""
        return {}

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns with their types."""
        return self.here(self.frame.limit(0)).schema

    def head(self, rows: int) -> pl.DataFrame:
        """Some of the rows; few, because they come to the driver."""
        return self.here(self.frame.limit(min(rows, 20_000)))

    def count(self, columns: Sequence[str]) -> pl.DataFrame:
        """The distinct rows, by one aggregation on the cluster."""
        self.frame.createOrReplaceTempView(SOURCE)
        most = most_different()
        counts = self.ask(f"select * from ({sql.count_statement(SOURCE, columns, sql.SPARK)}) c limit {most + 1}")
        require_few(counts.height, most)
        if not counts.height or not int(counts[counts.columns[-1]].sum()):
            raise DataError(NO_RECORDS)
        return in_order(counts, columns)

    def distinct(self, columns: Sequence[str], most: int = MOST_VALUES) -> dict[str, pl.DataFrame | None]:
        """The distinct values of some columns, by one aggregation each; of those with too many none is used."""
        self.frame.createOrReplaceTempView(SOURCE)
        return sql.distinct(SOURCE, self.schema, columns, sql.SPARK, most, self.ask)

    def sample(self, columns: Sequence[str], rows: int) -> pl.DataFrame:
        """Rows drawn on the cluster."""
        self.frame.createOrReplaceTempView(SOURCE)
        return self.ask(sql.sample_statement(SOURCE, columns, sql.SPARK, rows))

    @contextlib.contextmanager
    def write(self, plan: RecodePlan) -> Iterator[Recount]:
        """Make the release on the cluster; files are written aside and get their name when the block ends well."""
        asked = Statements(SOURCE, plan, sql.SPARK)
        backend = self.place
        backend.upload(FRAGMENTS, asked.fragments())
        with self._partitions_for(int(plan.multiplicity.sum())), self.released(asked) as (columns, release):
            backend.keep(PAIRS, asked.paired())
            try:
                if self.treated is not None:
                    for name, what, value in self.treated.shared():
                        shared_by = self.ask(self._made(asked).sharing(name, value, self.treated.unit))
                        self.treated.require_enough(name, what, int(shared_by.item()))
                yield asked.seen(columns, self.ask(asked.classes(release)), self.ask, PAIRS)
            finally:
                backend.forget()

    @contextlib.contextmanager
    def _partitions_for(self, rows: int) -> Iterator[None]:
        """Exchange few rows in few partitions: each of them is a task, and a small table is not worth hundreds."""
        before = self.session.conf.get(PARTITIONS)
        enough = rows // ROWS_PER_PARTITION + self.session.sparkContext.defaultParallelism
        self.session.conf.set(PARTITIONS, str(min(int(before), enough)))
        try:
            yield
        finally:
            self.session.conf.set(PARTITIONS, before)

    @contextlib.contextmanager
    def released(self, asked: Statements) -> Iterator[tuple[list[str], str]]:
        """The release that fragments on the cluster make: its columns, and the view to look at it before the end."""
        from pyspark.sql import functions

        table = self.frame
        if asked.in_fragments:
            table = table.withColumn(ORDER, functions.monotonically_increasing_id())
        table.createOrReplaceTempView(SOURCE)
        asked = self._made(asked, table)
        published = self.session.sql(asked.shuffled() if self.shuffle else asked.published())
        quote = asked.dialect.name  # metadata of columns list values, such as those that were indexed
        published = published.select(
            *(functions.col(quote(name)).alias(name, metadata={}) for name in published.columns)
        )
        aside = None
        try:
            if self.output is not None:
                aside = f"{self.output.rstrip('/')}.kanopy-part"
                with told():
                    published.write.mode("overwrite").parquet(aside)
                    published = self.session.read.parquet(aside)
            published.createOrReplaceTempView("kanopy_release")
            yield published.columns, "kanopy_release"
            if aside is not None:
                files, file_path = _file_system(self.session, aside)
                if not files.rename(file_path, self._path):
                    raise DataError(f"{self.output} could not get its name. Nothing was published.")
                published, aside = self.session.read.parquet(str(self.output)), None
            self.remote = published
        finally:
            if aside is not None:
                files, file_path = _file_system(self.session, aside)
                files.delete(file_path, True)

    def _made(self, asked: Statements, table: Any = None) -> Statements:
        """The same statements, with treated columns in the place of those that they are made of."""
        if self.treated is None:
            return asked
        treated_columns = [name for name in asked.plan.columns if name in asked.plan.renewed]
        made = {name: f"kanopy_made_{index}" for index, name in enumerate(treated_columns)}
        if table is not None:
            self._treated(table, made).createOrReplaceTempView(TREATED)
        return replace(asked, source=TREATED, made=made)

    def _treated(self, table: Any, made: Mapping[str, str]) -> Any:
        """A frame with treated columns, which executors make of pieces of it and verify there."""
        from kanopy.engine import spark_rows

        assert self.treated is not None
        treat, names, digested = self.treated.treat, list(made), self.treated.digested
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        head = self.head(1)
        sample = treat(head.with_columns(pl.lit(0, pl.Int64).alias(spark_rows.TURN)) if digested else head)
        unchanged = {made[name]: kinds[name] for name in names if sample[name].dtype == head[name].dtype}
        renamed = sample.select(pl.col(name).alias(made[name]) for name in names)
        like, dtypes = spark_rows.schema_of(renamed, self.session, unchanged), dict(renamed.schema)
        if digested:
            table = spark_rows.with_turns(spark_rows.with_digests(table, digested))

        def columns_of(rows: pl.DataFrame) -> pl.DataFrame:
            return treat(rows).select(pl.col(name).cast(dtypes[made[name]]).alias(made[name]) for name in names)

        return spark_rows.with_columns(table, columns_of, like)

    def require_rows_here(self, what: str) -> None:
        """Refuse to bring something of every row here, where there are too many."""
        rows, most = self.frame.count(), most_different()
        if not rows:
            raise DataError(NO_RECORDS)
        if rows > most:
            raise JobError(
                f"{what} looks at all rows first, and there are {rows:,}, too many for one machine. Leave it out, "
                f"choose a treatment that works row by row (`kanopy treatments`), or raise {MOST}."
            )

    def looked_at(self, names: Sequence[str], columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Any]]:
        """Some columns of all rows, which come to the driver, with the digests of the rows in other columns."""
        from kanopy.engine import spark_rows

        self.require_rows_here("A treatment of the job")
        frame = spark_rows.with_digests(self.frame, columns) if columns else self.frame
        wanted = [*names, *([spark_rows.DIGEST] if columns else [])]
        here = self.here(frame.select([_name(name) for name in wanted]))
        yield here.select(names), here[spark_rows.DIGEST].to_numpy().view(np.uint64) if columns else None

    def pushdown(self, columns: Sequence[str]) -> contextlib.AbstractContextManager[SparkEngine]:
        """The frame where not even its distinct rows come to the driver."""
        return contextlib.nullcontext(self)

    @property
    def place(self) -> SparkPlace:
        """Where statements about the frame are run."""
        self.frame.createOrReplaceTempView(SOURCE)
        return SparkPlace(self)

    def ask(self, query: str) -> pl.DataFrame:
        """The answer of the cluster."""
        return self.here(self.session.sql(query))

    def here(self, frame: Any) -> pl.DataFrame:
        """The rows of a frame, which come to the driver."""
        with told():
            here = pl.from_arrow(frame.toArrow())
        assert isinstance(here, pl.DataFrame)
        return here


class SparkPlace:
    """Statements about tables whose distinct rows stay on the cluster (`kanopy.engine.pushdown`)."""

    dialect = sql.SPARK

    def __init__(self, engine: SparkEngine) -> None:
        self._engine, self._session = engine, engine.session
        self._kept: list[tuple[str, Any]] = []

    def ask(self, query: str) -> pl.DataFrame:
        """The answer to a query."""
        return self._engine.ask(query)

    def keep(self, name: str, query: str) -> None:
        """What a query says, kept on the executors; what they lose is worked out again."""
        self._view(name, self._session.sql(query))

    def _view(self, name: str, frame: Any) -> None:
        if name in (GROUPS, CELLS):
            self.forget(name)
        self._kept.append((name, frame.persist()))
        frame.createOrReplaceTempView(name)

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        """A small table, which every executor gets whole unless it is long."""
        from pyspark.sql import functions

        made = self._session.createDataFrame(frame.to_arrow())
        (functions.broadcast(made) if frame.height <= BROADCAST_ROWS else made).createOrReplaceTempView(name)

    def solve(self, name: str, query: str, solve: Solve, like: pl.DataFrame) -> None:
        """Parts go to the executors as Arrow tables."""
        asked = self._session.sql(query)
        kinds = {field.name: field.dataType for field in asked.schema.fields}
        empty = self._session.createDataFrame(like.to_arrow()).schema
        for field in empty.fields:
            field.dataType = kinds.get(field.name, field.dataType)
        with without_pandas():
            solved = asked.groupBy("part").applyInArrow(_in_arrow(solve, like.columns), empty)
        self._view(name, solved)

    def forget(self, name: str | None = None) -> None:
        """Let go of what is kept under a name, or of everything."""
        for kept_name, frame in self._kept:
            if name in (None, kept_name):
                frame.unpersist()
        self._kept = [kept_frame for kept_frame in self._kept if name not in (None, kept_frame[0])]


def _in_arrow(solve: Solve, columns: Sequence[str]) -> Any:
    """What an executor does with a part: from its distinct rows to its fragments, in Arrow."""

    def work(arrow_part: Any) -> Any:
        distinct_rows = pl.from_arrow(arrow_part)
        assert isinstance(distinct_rows, pl.DataFrame)
        fragments = solve(distinct_rows)
        keys = [name for name in columns if name in distinct_rows.columns]
        taken = arrow_part.select(keys).take(fragments["distinct_row"].to_arrow())
        for name in columns[len(keys) :]:
            column = fragments[name].to_arrow()
            text = str(column.type) in ("large_string", "string_view")
            taken = taken.append_column(name, column.cast("string") if text else column)
        return taken

    return work


def _name(name: str) -> str:
    return sql.SPARK.name(name)


def _file_system(session: Any, path: str) -> tuple[Any, Any]:
    """Where files of a path lie, and the path as that place says it."""
    file_path = session._jvm.org.apache.hadoop.fs.Path(path)
    return file_path.getFileSystem(session._jsc.hadoopConfiguration()), file_path
