"""Worker processes: pages stay responsive, progress is reported, and cancelled tasks end, by force if necessary.

One task runs at a time. It is the name of a function in `tasks/` with plain arguments; its answer is plain data.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import itertools
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import Cancelled, KanopyError, NoSolution
from kanopy._progress import Step

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

GRACE_SECONDS = 3.0
"""Seconds that a cancelled task has to stop; then its process is ended and another one replaces it."""

READING_TASK = "table.open_table"


@dataclass(eq=False)
class Task:
    """A task that was submitted: awaiting `answer` returns its result or raises its error."""

    number: int
    name: str
    arguments: dict[str, Any]
    answer: asyncio.Future[Any]
    notify: Callable[[Step], None] | None = None
    cancelled: bool = False


class Worker:
    """A process that does one task after another. It starts with the first of them."""

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._numbers = itertools.count()
        self._tasks: dict[int, Task] = {}
        self._process: BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    @property
    def busy(self) -> bool:
        """Whether a task is under way."""
        return bool(self._tasks)

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._shared), daemon=True)
        self._process.start()
        other.close()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(self._pipe, self._process, loop), daemon=True).start()

    def submit(self, name: str, notify: Callable[[Step], None] | None = None, **arguments: Any) -> Task:
        """Submit a task; `notify` is called with its progress."""
        self.start()
        assert self._pipe is not None
        task = Task(next(self._numbers), name, arguments, asyncio.get_running_loop().create_future(), notify)
        self._tasks[task.number] = task
        try:
            self._pipe.send(("do", task.number, name, arguments))
        except OSError:  # the process has ended meanwhile
            self._finish(task.number, KanopyError(_why_it_ended(task, None)))
        return task

    async def call(self, name: str, notify: Callable[[Step], None] | None = None, **arguments: Any) -> Any:
        """Submit a task and wait for its answer."""
        return await self.submit(name, notify, **arguments).answer

    def cancel(self, task: Task, *, force: bool = True) -> None:
        """Cancel a task. With `force`, its process is ended if it does not stop within `GRACE_SECONDS`."""
        if self._tasks.get(task.number) is not task or self._pipe is None or task.cancelled:
            return
        task.cancelled = True
        with contextlib.suppress(OSError):
            self._pipe.send(("cancel", task.number))
        if force:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, self._force, task)

    def _force(self, task: Task) -> None:
        if self._tasks.get(task.number) is task:
            self.stop()

    def stop(self) -> None:
        """End the process and cancel its tasks."""
        if self._process is not None:
            self._process.kill()
        self._process = self._pipe = None
        for task in list(self._tasks.values()):
            self._finish(task.number, Cancelled(f"Stopped while {task.name}. Nothing was written."))

    def _listen(self, pipe: Connection[Any, Any], process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = pipe.recv()
                loop.call_soon_threadsafe(self._on_message, message)
        with contextlib.suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(self._on_exit, process)

    def _on_message(self, message: tuple[Any, ...]) -> None:
        kind, number, content = message
        if kind == "step":
            task = self._tasks.get(number)
            if task is not None and task.notify is not None and not task.cancelled:
                task.notify(content)
        else:
            self._finish(number, content)

    def _on_exit(self, process: BaseProcess) -> None:
        if process is self._process:
            self._process = self._pipe = None
            process.join(1)
            for task in list(self._tasks.values()):
                self._finish(task.number, KanopyError(_why_it_ended(task, process.exitcode)))

    def _finish(self, number: int, content: Any) -> None:
        task = self._tasks.pop(number, None)
        if task is None or task.answer.done():
            return
        if isinstance(content, Exception):
            task.answer.set_exception(content)
            task.answer.exception()  # seen: a page that was closed does not wait for it any more
        else:
            task.answer.set_result(content)


def _why_it_ended(task: Task, code: int | None) -> str:
    """What is said of a task whose process is gone."""
    memory = code in (-signal.SIGABRT, -signal.SIGKILL)  # allocations that fail, and those that the system ends
    if memory and task.name == READING_TASK:
        from kanopy.app.tasks.limits import too_much

        return too_much(str(task.arguments["source"]))
    why = "it took more memory than there is" if memory else "its process is gone"
    return f"The work ended before it was done: {why}. Nothing was written."


# ---- in the other process -------------------------------------------------------------------------------------


def _serve(pipe: Connection[Any, Any], shared: Path | None) -> None:
    """Run tasks until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    asked: queue.Queue[tuple[int, str, dict[str, Any]] | None] = queue.Queue()
    cancelled: set[int] = set()
    sending = threading.Lock()

    def listen() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                kind, *rest = pipe.recv()
                if kind == "do":
                    asked.put((rest[0], rest[1], rest[2]))
                else:
                    cancelled.add(rest[0])
        asked.put(None)

    def send(*message: Any) -> None:
        with sending, contextlib.suppress(OSError):
            pipe.send(message)

    threading.Thread(target=listen, daemon=True).start()
    from kanopy.app.tasks.worker_state import WorkerState

    state = WorkerState(shared)
    while (task := asked.get()) is not None:
        number, name, arguments = task

        def notify(step: Step, number: int = number) -> bool:
            if number in cancelled:
                return False
            send("step", number, step)
            return True

        try:
            if number in cancelled:
                raise Cancelled(f"Stopped before {name}. Nothing was written.")
            module, function = name.rsplit(".", 1)
            work = getattr(importlib.import_module(f"kanopy.app.tasks.{module}"), function)
            send("done", number, work(state, notify, **arguments))
        except Exception as error:
            send("failed", number, _picklable(error))


def _picklable(error: Exception) -> Exception:
    """An error that can be sent to another process, with its message and its advice."""
    if isinstance(error, Cancelled):
        return Cancelled(str(error))
    if isinstance(error, NoSolution):
        return error
    if isinstance(error, KanopyError):
        return KanopyError(str(error))
    return KanopyError(f"Something went wrong: {type(error).__name__}: {error}")
