"""What a worker keeps between tasks: the table it read, and the table as it was prepared for a search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kanopy._errors import DataError
from kanopy._job.job import Job
from kanopy._progress import Callback, Progress
from kanopy.app.table_digest import digest_of, digest_of_frame, is_local, signature
from kanopy.app.tasks.limits import memory_limited
from kanopy.app.tasks.shared_table import read_once

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.formats.layout import Layout
    from kanopy._table.sources import Source
    from kanopy.hierarchy.column import Column
    from kanopy.release.prepare import Prepared
    from kanopy.release.result import Result
    from kanopy.release.sweeps.preview import Previews

SEARCH_SETTINGS = ("k", "suppress", "weights", "algorithm", "parameters", "local", "metric", "min_levels", "max_levels")
"""Settings that a table need not be prepared anew for."""

MOST_COLUMNS = 4_000
"""Each column is guessed, drawn and decided on: of more, that takes minutes."""
MAX_CACHED = 2
"""Prepared tables that are kept: undoing a step needs no new preparation."""
Cached = TypeVar("Cached")


class WorkerState:
    """A table, read once, and the results that were derived from it last."""

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._named: tuple[Any, ...] | None = None
        self._digest: tuple[Any, str] = ((), "")
        """The signature of a table's files, and the digest of their content."""
        self._layouts: dict[str, Any] = {}
        self._source: Source | None = None
        self._prepared: dict[Any, Prepared] = {}
        self._previews: dict[Any, tuple[Previews, Job]] = {}
        self.last: tuple[str, Result] | None = None
        """The release made last, and its folder."""

    def source(self, name: str, job: Job | None = None, *, anew: bool = False) -> Source:
        """The table of this name, read by the same code as on the command line, and anew if its file has changed.

        It is read as the job says (sheet, encoding, …), or as the last one said that was asked with. Servers and
        addresses are asked again only if told to (`anew`).
        """
        from kanopy._table.formats.layout import Layout

        layout = Layout.of(job) if job is not None else self._layouts.get(name, Layout())
        self._layouts[name] = layout
        digest = self._digest_of_files(name)
        key = (name, digest, layout)
        if self._source is None or key != self._named or (anew and not digest):
            source_read = read_once(self._shared, str(key), lambda: self._read(name, layout, digest), anew=anew)
            self._source, self._named, self._prepared, self._previews = source_read, key, {}, {}
        return self._source

    def _read(self, name: str, layout: Layout, digest: str) -> Source:
        from kanopy._table.sources import read_source

        with memory_limited(name):
            source_read = read_source(name, layout=layout)
        if (width := source_read.frame.width) > MOST_COLUMNS:
            raise DataError(
                f"The table has {width:,} columns; the app opens at most {MOST_COLUMNS:,}. Make a table of the columns "
                "that are needed, or use the command line: kanopy init."
            )
        if digest != digest_of(name):
            raise DataError("The table was written while it was read. Open it again when that has ended.")
        return source_read

    def _digest_of_files(self, name: str, *, surely: bool = False) -> str:
        """The digest of a source's files, computed anew if they were touched; nothing where there are none."""
        signed = (name, signature(name))
        if surely or self._digest[0] != signed:
            self._digest = signed, digest_of(name)
        return self._digest[1]

    def opened(self, name: str) -> str:
        """The digest of the table as it was read last."""
        return self._digest_of_files(name) or digest_of_frame(self.source(name).frame)

    def digest(self, name: str, job: Job | None = None) -> str:
        """The digest of a table's content as it is now: every byte is read."""
        digest_of_file = self._digest_of_files(name, surely=True)
        return digest_of_file if is_local(name) else digest_of_frame(self.source(name, job, anew=True).frame)

    def frame(self, name: str, job: Job | None = None) -> pl.DataFrame:
        """Its rows."""
        return self.source(name, job).frame

    def column(self, name: str, column: str, job: Job) -> Column:
        """A column as hierarchies see it under a job: missing ones known, numbers read."""
        from kanopy.study.column_profiles import column_under

        return column_under(self.frame(name, job), column, job)

    def prepared(self, name: str, job: Job, notify: Callback | None = None) -> Prepared:
        """The table prepared for searches; kept for jobs that differ in what a search may change."""
        from kanopy.release.prepare import prepare

        frame = self.frame(name, job)
        key = (self._named, _job_key(job))
        if key not in self._prepared:
            self._prepared[key] = prepare(frame, job, source=name, progress=Progress(notify))
        return self._newest(self._prepared, key)

    def previews(self, name: str, job: Job, notify: Callback | None = None) -> Previews:
        """Previews of jobs on the table, cached likewise; a large table is not prepared anew for every edit."""
        from kanopy.release.sweeps.preview import Previews, quick_job

        quick = quick_job(job)
        self.frame(name, job)
        key = (self._named, _job_key(quick))
        if key not in self._previews:
            reused = None
            if self._previews:
                earlier, earlier_job = next(reversed(self._previews.values()))
                reused = earlier.with_hierarchies(self.frame(name, job), earlier_job, job)
            self._previews[key] = reused or Previews(self.prepared(name, quick, notify)), job
        return self._newest(self._previews, key)[0]

    def _newest(self, cached: dict[Any, Cached], key: Any) -> Cached:
        """One of what is kept; what was not asked for longest goes."""
        cached[key] = cached.pop(key)
        while len(cached) > MAX_CACHED:
            del cached[next(iter(cached))]
        return cached[key]


def job_of(text: str, project_folder: str) -> Job:
    """The job of a project's folder, as the command line reads it from there."""
    return Job.from_toml(text, folder=Path(project_folder))


def _job_key(job: Job) -> str:
    """The part of a job that a prepared table depends on, as text."""
    defaults = {name: _default(name) for name in SEARCH_SETTINGS if name not in ("k", "algorithm")}
    return job.replaced(k=None, algorithm=None, **defaults).to_toml()


def _default(name: str) -> Any:
    return getattr(Job(), name)
