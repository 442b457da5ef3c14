"""Who does the work, and what is kept of it: answers that places ask for, and those that they will ask for next."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanopy._errors import Cancelled, KanopyError
from kanopy._job.job import Job
from kanopy._progress import Step
from kanopy.app.project import Project
from kanopy.app.worker import Task, Worker
from kanopy.hierarchy.files.json_format import hierarchy_json

MOST_KEPT = 200
"""Answers that are kept, so that a place opens at once when one comes back to it."""
READING = ("skip_rows", "missing_tokens", "column_tokens", "decimals")
"""What of a job says how the table is read."""
AT_K, AT_ROLES = (*READING, "k", "unit"), (*READING, "quasi", "sensitive", "unit")
AHEAD_SECONDS = 1.5
UNASKED_ROWS = 100_000
"""Tables of up to so many rows are searched for risky rows without being asked."""


class Superseded(Exception):
    """A later question took the place of this one: nothing is to be said."""


@dataclass
class Underway:
    """Long work that a window can watch and cancel."""

    what: str
    task: Task
    step: Step = Step("starting")  # noqa: RUF009 - frozen


class Answers:
    """Workers of a project: for what is asked of the table, for looks at the release, for what takes longer."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.quick, self.looks, self.long = Worker(), Worker(), Worker()
        self.underway: Underway | None = None
        self.watchers: list[Callable[[], None]] = []
        self._kept: dict[str, Any] = {}
        self._pending: dict[str, Task] = {}
        self._waited_for: set[str] = set()
        self._preview = ""
        self._ahead: asyncio.Task[None] | None = None
        self._soon: asyncio.TimerHandle | None = None
        self._first: asyncio.Task[None] | None = None
        self._ready = self._closed = False
        project.listeners.append(self.tell)

    def tell(self) -> None:
        """Something has changed: every window looks again."""
        for watcher in list(self.watchers):
            watcher()

    def close(self) -> None:
        """Stop the workers and let the folder go."""
        self._closed = True
        if self._ahead is not None:
            self._ahead.cancel()
        for worker in (self.quick, self.looks, self.long):
            worker.stop()
        self.project.close()

    # ---- work ---------------------------------------------------------------------------------------------

    @property
    def asked(self) -> dict[str, str]:
        """The table and the job, as every task is given them."""
        return self.asking(self.project.work.job)

    def asking(self, job: Job) -> dict[str, str]:
        """The table and some job, as a task is given them."""
        return {"source": self.project.source, "job": job.to_toml(), "home": str(self.project.folder)}

    def _mark(self, *parts: Any) -> str:
        """Under what an answer about the table is kept: a file that was written anew is another table."""
        file = Path(self.project.source.partition("::")[0])
        return json.dumps([file.stat().st_mtime if file.is_file() else 0, *parts], sort_keys=True)

    async def short(self, name: str, **arguments: Any) -> Any:
        """Work of a moment."""
        return await self.quick.call(name, None, **arguments)

    def _ask(self, name: str, of: Sequence[str] | None, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Under what an answer is kept, and what is asked: the job with only those settings that the answer is of."""
        if of is not None:
            job = self.project.work.job
            arguments = {**self.asking(Job(**{field: getattr(job, field) for field in of})), **arguments}
        return self._mark(name, arguments), arguments

    def known(self, name: str, of: Sequence[str] | None, **arguments: Any) -> Any:
        """An answer that is kept already; `None` if there is none yet."""
        return self._kept.get(self._ask(name, of, **arguments)[0])

    async def kept(self, name: str, of: Sequence[str] | None, *, heavy: bool = False, **arguments: Any) -> Any:
        """Work whose answer stays the same for the same table, settings `of` the job, and arguments.

        What is `heavy` is done where long work is, unless that is under way.
        """
        mark, asked = self._ask(name, of, **arguments)
        self._waited_for.add(mark)
        return await self._shared(mark, self.long if heavy and self.underway is None else self.quick, name, asked)

    async def _shared(self, mark: str, worker: Worker, name: str, asked: dict[str, Any]) -> Any:
        """An answer that is kept, or is waited for already, or is asked for now."""
        if mark not in self._kept:
            task = self._pending.get(mark)
            if task is None or task.cancelled:
                task = self._pending[mark] = worker.submit(name, None, **asked)
            try:
                self._keep(mark, await asyncio.shield(task.answer))
            finally:
                if self._pending.get(mark) is task and task.answer.done():
                    del self._pending[mark]
                    self._waited_for.discard(mark)
        return self._kept[mark]

    async def preview(self, job: Job | None = None) -> Any:
        """What a job would do, the present one unless told; an earlier question not answered yet is dropped."""
        mark, asked = self._look(job or self.project.work.job)
        before, self._preview = self._preview, mark
        if before != mark and before in self._pending:
            self.looks.cancel(self._pending[before], force=False)
        try:
            return await self._shared(mark, self.looks, "releases.preview", asked)
        except Cancelled:
            raise Superseded from None

    def _look(self, job: Job) -> tuple[str, dict[str, Any]]:
        asked = self.asking(job)
        return self._mark("releases.preview", asked), asked

    def _keep(self, mark: str, found: Any) -> Any:
        """Keep an answer; when there are many, all earlier ones go."""
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
        self._kept[mark] = found
        return found

    # ---- ahead of questions ---------------------------------------------------------------------------------

    def look_ahead(self, after: float = AHEAD_SECONDS) -> None:
        """Find out what every place will ask for next, so that it answers at once; begun when nothing has happened for
        a while, since whatever is asked now goes first."""
        if self._soon is not None:
            self._soon.cancel()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._soon = loop.call_later(after, self._begin_ahead)
            if self._ready and self.project.work.source and self.project.work.job.quasi and self.underway is None:
                self._first = loop.create_task(self._quietly())  # the look at the release has a worker of its own

    async def _quietly(self) -> None:
        with contextlib.suppress(KanopyError, Superseded):
            await self.preview()

    def _begin_ahead(self) -> None:
        if not self._closed and (self._ahead is None or self._ahead.done()):
            self._ahead = asyncio.get_running_loop().create_task(self._look_ahead())

    async def _look_ahead(self) -> None:
        if not self._ready:
            self._ready = True
            for worker in (self.quick, self.looks, self.long):
                worker.submit("releases.ready", looks=worker is self.looks)
            await self.kept("releases.catalogue", None)
        if self.project.work.source and self.underway is None:
            before = self.project.job_mark
            with contextlib.suppress(KanopyError, Superseded):
                mark, asked = self._look(self.project.work.job)
                await self._shared(mark, self.looks, "releases.preview", asked)
                rows = await self.rows()
                for name, of, arguments in self._next_questions(rows):
                    if self.underway is not None or self.project.job_mark != before:
                        break
                    mark, asked = self._ask(name, of, **arguments)
                    with contextlib.suppress(KanopyError):
                        await self._shared(mark, self.long, name, asked)
            if self.project.job_mark != before:
                self.look_ahead()

    async def rows(self) -> int:
        """Rows of the table."""
        asked: dict[str, Any] = {"source": self.project.source, "first": 0, "number": 0, "columns": []}
        return int((await self.kept("table.rows", None, **asked))["total"])

    def _next_questions(self, rows: int) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
        quasi = self.project.work.job.quasi
        for column in quasi:
            tree = self.project.hierarchy(column)
            if tree is not None:
                yield "trees.tree", AT_K, {"column": column, "hierarchy": hierarchy_json(tree)}
            yield "trees.suggestions", AT_K, {"column": column, "everything": False}
        if len(quasi) > 1 and rows <= UNASKED_ROWS:
            yield "exploration.risky_rows", AT_ROLES, {}

    async def longer(self, what: str, name: str, **arguments: Any) -> Any:
        """Work that may take long: all windows see how far it is, and any of them can cancel it."""
        if self.underway is not None:
            raise KanopyError(f"{self.underway.what} is under way. Wait for it, or cancel it first.")

        def tell(step: Step) -> None:
            if self.underway is not None:
                self.underway.step = step

        for mark, ahead in self._pending.items():
            if mark not in self._waited_for and mark != self._preview:
                self.long.cancel(ahead, force=False)
        task = self.long.submit(name, tell, **arguments)
        self.underway = Underway(what, task)
        self.tell()
        try:
            return await task.answer
        finally:
            self.underway = None
            self.tell()

    async def longer_kept(self, what: str, name: str, of: Sequence[str]) -> Any:
        """Work that may take long, whose answer is kept."""
        mark, asked = self._ask(name, of)
        return self._keep(mark, await self.longer(what, name, **asked))

    def cancel(self) -> None:
        """Stop what is under way."""
        if self.underway is not None:
            self.long.cancel(self.underway.task)
