"""What a worker keeps between tasks: the table it read, and the table as it was prepared for a search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kanopy._job.job import Job
from kanopy._progress import Callback, Progress

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.sources import Source
    from kanopy.hierarchy.column import Column
    from kanopy.release.prepare import Prepared
    from kanopy.release.result import Result
    from kanopy.release.sweeps.preview import Looks

LIVE = ("k", "suppress", "weights", "algorithm", "parameters", "local", "metric", "min_levels", "max_levels")
"""Settings that a table need not be prepared anew for."""

MOST_KEPT = 2
"""Prepared tables that are kept: what is undone is there at once."""
Kept = TypeVar("Kept")


class Bench:
    """A table, read once, and what was made of it last."""

    def __init__(self) -> None:
        self._named: tuple[Any, ...] | None = None
        self._layouts: dict[str, Any] = {}
        self._source: Source | None = None
        self._prepared: dict[Any, Prepared] = {}
        self._looks: dict[Any, tuple[Looks, Job]] = {}
        self.last: tuple[str, Result] | None = None
        """The release made last, and its folder."""

    def source(self, name: str, job: Job | None = None) -> Source:
        """The table of this name, read by the same code as on the command line, and anew if its file has changed.

        It is read as the job says (sheet, encoding, …), or as the last one said that was asked with.
        """
        from kanopy._table.formats.layout import Layout
        from kanopy._table.sources import local_path, read_source

        path = local_path(name)
        layout = Layout.of(job) if job is not None else self._layouts.get(name, Layout())
        self._layouts[name] = layout
        key = (name, path.stat().st_mtime if path is not None and path.exists() else 0.0, layout)
        if self._source is None or key != self._named:
            self._source, self._named, self._prepared, self._looks = read_source(name, layout=layout), key, {}, {}
        return self._source

    def frame(self, name: str, job: Job | None = None) -> pl.DataFrame:
        """Its rows."""
        return self.source(name, job).frame

    def column(self, name: str, column: str, job: Job) -> Column:
        """A column as hierarchies see it under a job: missing ones known, numbers read."""
        from kanopy.study.columns import column_under

        return column_under(self.frame(name, job), column, job)

    def prepared(self, name: str, job: Job, tell: Callback | None = None) -> Prepared:
        """The table prepared for searches; kept for jobs that differ in what a search may change."""
        from kanopy.release.prepare import prepare

        frame = self.frame(name, job)
        key = (self._named, _fixed(job))
        if key not in self._prepared:
            self._prepared[key] = prepare(frame, job, source=name, progress=Progress(tell))
        return self._newest(self._prepared, key)

    def looks(self, name: str, job: Job, tell: Callback | None = None) -> Looks:
        """Looks at what jobs would do to the table, kept likewise; a large one is not prepared anew for every edit."""
        from kanopy.release.sweeps.preview import Looks, quick_job

        quick = quick_job(job)
        self.frame(name, job)
        key = (self._named, _fixed(quick))
        if key not in self._looks:
            again = None
            if self._looks:
                before, own = next(reversed(self._looks.values()))
                again = before.with_hierarchies(self.frame(name, job), own, job)
            self._looks[key] = again or Looks(self.prepared(name, quick, tell)), job
        return self._newest(self._looks, key)[0]

    def _newest(self, kept: dict[Any, Kept], key: Any) -> Kept:
        """One of what is kept; what was not asked for longest goes."""
        kept[key] = kept.pop(key)
        while len(kept) > MOST_KEPT:
            del kept[next(iter(kept))]
        return kept[key]


def job_of(text: str, home: str) -> Job:
    """The job of a project's folder, as the command line reads it from there."""
    return Job.from_toml(text, folder=Path(home))


def _fixed(job: Job) -> str:
    """What of a job a prepared table depends on."""
    plain = job.replaced(k=None, algorithm=None, **{name: _default(name) for name in LIVE[1:] if name != "algorithm"})
    return plain.to_toml()


def _default(name: str) -> Any:
    return getattr(Job(), name)
