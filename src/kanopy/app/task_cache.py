"""Tasks under way, and results that are kept: what pages ask for, and what they are likely to ask for next."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kanopy._errors import Cancelled, KanopyError
from kanopy._job.job import Job
from kanopy._progress import Step
from kanopy._temporary import Folder
from kanopy.app.project import Project
from kanopy.app.table_digest import signature
from kanopy.app.worker import Task, Worker
from kanopy.hierarchy.files.json_format import hierarchy_json

MAX_CACHED = 200
"""TaskCache that are kept, so that a place opens at once when one comes back to it."""
READING = ("skip_rows", "missing_tokens", "column_tokens", "decimals")
"""The settings of a job that say how the table is read."""
AT_K, AT_ROLES = (*READING, "k", "unit"), (*READING, "quasi", "sensitive", "unit")
ALL_OF_JOB = ("*",)
"""Results that depend on the whole job."""
PREFETCH_SECONDS = 1.5
MAX_PREFETCHED_ROWS = 100_000
"""Risky rows of larger tables are computed only on request."""


class Superseded(Exception):
    """A later request replaced this one: no message is shown."""


@dataclass
class Underway:
    """A long task that every session shows and can cancel."""

    what: str
    task: Task
    step: Step = Step("starting")  # noqa: RUF009 - frozen


class TaskCache:
    """The workers of a project (for short tasks, for previews, for long tasks) and the results that they gave."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.link_secret = project.key
        """What read-only links are signed with: that of the server, also when another project is opened."""
        self._tables = Folder()
        self.quick, self.previews, self.long = (Worker(self._tables.path) for _ in range(3))
        self.underway: Underway | None = None
        self.watchers: list[Callable[[], None]] = []
        self._results: dict[str, Any] = {}
        self._pending: dict[str, Task] = {}
        self._awaited: set[str] = set()
        self._preview = ""
        self._prefetching: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._prefetch_timer: asyncio.TimerHandle | None = None
        self._first_preview: asyncio.Task[None] | None = None
        self._ready = self._closed = False
        project.listeners.append(self.notify)

    def notify(self) -> None:
        """Something has changed: notify every session."""
        for watcher in list(self.watchers):
            watcher()

    def start(self) -> None:
        """Start the workers before anything is asked of them."""
        self._warming = asyncio.get_running_loop().create_task(self.warm_up())

    def close(self) -> None:
        """Stop the workers and release the folder."""
        self._closed = True
        if self._warming is not None:
            self._warming.cancel()
        if self._prefetching is not None:
            self._prefetching.cancel()
        for worker in (self.quick, self.previews, self.long):
            worker.stop()
        self._tables.remove()
        self.project.close()

    # ---- work ---------------------------------------------------------------------------------------------

    @property
    def task_arguments(self) -> dict[str, str]:
        """The table and the present job as arguments of a task."""
        return self.arguments_for(self.project.work.job)

    def arguments_for(self, job: Job) -> dict[str, str]:
        """The table and a job as arguments of a task."""
        return {"source": self.project.source, "job": job.to_toml(), "project_folder": str(self.project.folder)}

    def _cache_key(self, *parts: Any) -> str:
        """The key of a cached result. It contains the signature of the files: what was rewritten is another table."""
        return json.dumps([signature(self.project.source), self.project.work.table, *parts], sort_keys=True)

    async def run_short(self, name: str, **arguments: Any) -> Any:
        """Run a short task and return its result."""
        return await self.quick.call(name, None, **arguments)

    def _request(self, name: str, of: Sequence[str] | None, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The cache key and the arguments of a task; `of` names the settings of the job that its result depends on."""
        if of is not None:
            job = self.project.work.job
            if of != ALL_OF_JOB:
                job = Job(**{field: getattr(job, field) for field in of})
            arguments = {**self.arguments_for(job), **arguments}
        return self._cache_key(name, arguments), arguments

    def if_cached(self, name: str, of: Sequence[str] | None, **arguments: Any) -> Any:
        """A cached result; `None` if there is none yet."""
        return self._results.get(self._request(name, of, **arguments)[0])

    async def cached(self, name: str, of: Sequence[str] | None, *, heavy: bool = False, **arguments: Any) -> Any:
        """The result of a task that depends on the table, the settings `of` the job and the arguments only.

        A `heavy` task runs on the worker for long tasks, unless that is busy.
        """
        cache_key, request = self._request(name, of, **arguments)
        self._awaited.add(cache_key)
        return await self._shared(
            cache_key, self.long if heavy and self.underway is None else self.quick, name, request
        )

    async def _shared(self, cache_key: str, worker: Worker, name: str, request: dict[str, Any]) -> Any:
        """A result that is cached, or that is awaited already, or that is requested now."""
        if cache_key not in self._results:
            task = self._pending.get(cache_key)
            if task is None or task.cancelled:
                task = self._pending[cache_key] = worker.submit(name, None, **request)
            try:
                self._store(cache_key, await asyncio.shield(task.answer))
            finally:
                if self._pending.get(cache_key) is task and task.answer.done():
                    del self._pending[cache_key]
                    self._awaited.discard(cache_key)
        return self._results[cache_key]

    async def preview(self, job: Job | None = None) -> Any:
        """The preview of a job (by default the present one); an earlier request without result is cancelled."""
        cache_key, request = self._preview_request(job or self.project.work.job)
        before, self._preview = self._preview, cache_key
        if before != cache_key and before in self._pending:
            self.previews.cancel(self._pending[before], force=False)
        try:
            return await self._shared(cache_key, self.previews, "releases.preview_job", request)
        except Cancelled:
            raise Superseded from None

    def _preview_request(self, job: Job) -> tuple[str, dict[str, Any]]:
        request = self.arguments_for(job)
        return self._cache_key("releases.preview_job", request), request

    def _store(self, cache_key: str, result: Any) -> Any:
        """Cache a result. When the cache is full, it is emptied first."""
        if len(self._results) > MAX_CACHED:
            self._results.clear()
        self._results[cache_key] = result
        return result

    # ---- prefetching ---------------------------------------------------------------------------------------

    def schedule_prefetch(self, after: float = PREFETCH_SECONDS) -> None:
        """Compute what pages are likely to ask for next. It starts after some idle time, because requests of the user
        go first."""
        if self._prefetch_timer is not None:
            self._prefetch_timer.cancel()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._prefetch_timer = loop.call_later(after, self._start_prefetch)
            if self._ready and self.project.work.source and self.project.work.job.quasi and self.underway is None:
                # The preview has a worker of its own.
                self._first_preview = loop.create_task(self._preview_quietly())

    async def _preview_quietly(self) -> None:
        with contextlib.suppress(KanopyError, Superseded):
            await self.preview()

    def _start_prefetch(self) -> None:
        if not self._closed and (self._prefetching is None or self._prefetching.done()):
            self._prefetching = asyncio.get_running_loop().create_task(self._prefetch())

    async def warm_up(self) -> None:
        """Start the workers, one after another: the one that opens tables first, so that it is there when one is named.

        What takes longer to load follows when no table is being opened.
        """
        if self._ready:
            return
        self._ready = True
        with contextlib.suppress(KanopyError):  # the app is being closed
            for worker in (self.long, self.quick):
                await worker.call("table.warm_up")
            await self.previews.call("releases.warm_up")
            await self.quick.call("releases.warm_up", previews=False)
            await self.cached("catalogue.catalogue", None)

    async def _prefetch(self) -> None:
        await self.warm_up()
        if self.project.work.source and self.underway is None:
            before = self.project.job_mark
            with contextlib.suppress(KanopyError, Superseded):
                cache_key, request = self._preview_request(self.project.work.job)
                await self._shared(cache_key, self.previews, "releases.preview_job", request)
                rows = await self.rows()
                for name, of, arguments in self._likely_requests(rows):
                    if self.underway is not None or self.project.job_mark != before:
                        break
                    cache_key, request = self._request(name, of, **arguments)
                    with contextlib.suppress(KanopyError):
                        await self._shared(cache_key, self.long, name, request)
            if self.project.job_mark != before:
                self.schedule_prefetch()

    async def rows(self) -> int:
        """The number of rows of the table."""
        request: dict[str, Any] = {"source": self.project.source, "first": 0, "number": 0, "columns": []}
        return int((await self.cached("table.rows", None, **request))["total"])

    def _likely_requests(self, rows: int) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
        quasi = self.project.work.job.quasi
        for column in quasi:
            tree = self.project.hierarchy(column)
            if tree is not None:
                yield "trees.tree", AT_K, {"column": column, "hierarchy": hierarchy_json(tree)}
            yield "trees.suggestions", AT_K, {"column": column, "everything": False}
        if len(quasi) > 1 and rows <= MAX_PREFETCHED_ROWS:
            yield "exploration.risky_rows", AT_ROLES, {}

    async def run_long(self, what: str, name: str, **arguments: Any) -> Any:
        """Run a long task: all sessions show its progress, and each of them can cancel it."""
        if self.underway is not None:
            raise KanopyError(f"{self.underway.what} is under way. Wait for it, or cancel it first.")

        def notify(step: Step) -> None:
            if self.underway is not None:
                self.underway.step = step

        for cache_key, ahead in self._pending.items():
            if cache_key not in self._awaited and cache_key != self._preview:
                self.long.cancel(ahead, force=False)
        task = self.long.submit(name, notify, **arguments)
        self.underway = Underway(what, task)
        self.notify()
        try:
            return await task.answer
        finally:
            self.underway = None
            self.notify()

    async def run_long_cached(self, what: str, name: str, of: Sequence[str], **arguments: Any) -> Any:
        """Run a long task, unless its result is cached, and cache its result."""
        cache_key, request = self._request(name, of, **arguments)
        if cache_key not in self._results:
            self._store(cache_key, await self.run_long(what, name, **request))
        return self._results[cache_key]

    def cancel(self) -> None:
        """Cancel the long task that is under way."""
        if self.underway is not None:
            self.long.cancel(self.underway.task)
