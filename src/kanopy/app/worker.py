"""Work in a process of its own: the page stays awake, progress is told, what is cancelled ends, if need be by force.

One task runs at a time: the name of a function of the `bench` room and plain arguments; its answer is plain data.
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
from typing import TYPE_CHECKING, Any

from kanopy._errors import Cancelled, KanopyError, NoSolution
from kanopy._progress import Step

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

PATIENCE = 3.0
"""Seconds that cancelled work has to notice; then its process is ended and another takes its place."""


@dataclass(eq=False)
class Task:
    """Work that was asked for: `answer` arrives, or raises what went wrong in plain words."""

    number: int
    name: str
    arguments: dict[str, Any]
    answer: asyncio.Future[Any]
    tell: Callable[[Step], None] | None = None
    cancelled: bool = False


class Worker:
    """A process that does one task after another. It starts with the first of them."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tasks: dict[int, Task] = {}
        self._process: BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    @property
    def busy(self) -> bool:
        """Whether anything is under way."""
        return bool(self._tasks)

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(self._pipe, self._process, loop), daemon=True).start()

    def submit(self, name: str, tell: Callable[[Step], None] | None = None, **arguments: Any) -> Task:
        """Ask for work; `tell` hears where it is."""
        self.start()
        assert self._pipe is not None
        task = Task(next(self._numbers), name, arguments, asyncio.get_running_loop().create_future(), tell)
        self._tasks[task.number] = task
        self._pipe.send(("do", task.number, name, arguments))
        return task

    async def call(self, name: str, tell: Callable[[Step], None] | None = None, **arguments: Any) -> Any:
        """Ask for work and wait for its answer."""
        return await self.submit(name, tell, **arguments).answer

    def cancel(self, task: Task, *, force: bool = True) -> None:
        """Stop a task; the answer becomes `Cancelled`, if `force` at the latest after a little patience."""
        if self._tasks.get(task.number) is not task or self._pipe is None or task.cancelled:
            return
        task.cancelled = True
        with contextlib.suppress(OSError):
            self._pipe.send(("cancel", task.number))
        if force:
            asyncio.get_running_loop().call_later(PATIENCE, self._force, task)

    def _force(self, task: Task) -> None:
        if self._tasks.get(task.number) is task:
            self.stop()

    def stop(self) -> None:
        """End the process; what was under way is cancelled."""
        if self._process is not None:
            self._process.kill()
        self._process = self._pipe = None
        for task in list(self._tasks.values()):
            self._settle(task.number, Cancelled(f"Stopped while {task.name}. Nothing was written."))

    def _listen(self, pipe: Connection[Any, Any], process: BaseProcess, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                message = pipe.recv()
                loop.call_soon_threadsafe(self._heard, message)
        with contextlib.suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(self._died, process)

    def _heard(self, message: tuple[Any, ...]) -> None:
        kind, number, content = message
        if kind == "step":
            task = self._tasks.get(number)
            if task is not None and task.tell is not None and not task.cancelled:
                task.tell(content)
        else:
            self._settle(number, content)

    def _died(self, process: BaseProcess) -> None:
        if process is self._process:
            self._process = self._pipe = None
            for task in list(self._tasks.values()):
                self._settle(task.number, KanopyError("The work ended before it was done: its process is gone."))

    def _settle(self, number: int, content: Any) -> None:
        task = self._tasks.pop(number, None)
        if task is None or task.answer.done():
            return
        if isinstance(content, Exception):
            task.answer.set_exception(content)
            task.answer.exception()  # seen: a page that was closed does not wait for it any more
        else:
            task.answer.set_result(content)


# ---- in the other process -------------------------------------------------------------------------------------


def _serve(pipe: Connection[Any, Any]) -> None:
    """Do what is asked for until nobody is there any more."""
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
    from kanopy.app.tasks.worker_state import Bench

    bench = Bench()
    while (task := asked.get()) is not None:
        number, name, arguments = task

        def tell(step: Step, number: int = number) -> bool:
            if number in cancelled:
                return False
            send("step", number, step)
            return True

        try:
            if number in cancelled:
                raise Cancelled(f"Stopped before {name}. Nothing was written.")
            module, function = name.rsplit(".", 1)
            work = getattr(importlib.import_module(f"kanopy.app.tasks.{module}"), function)
            send("done", number, work(bench, tell, **arguments))
        except Exception as error:
            send("failed", number, _carried(error))


def _carried(error: Exception) -> Exception:
    """An error as it crosses between processes: its words, and what would help."""
    if isinstance(error, Cancelled):
        return Cancelled(str(error))
    if isinstance(error, NoSolution):
        return error
    if isinstance(error, KanopyError):
        return KanopyError(str(error))
    return KanopyError(f"Something went wrong: {type(error).__name__}: {error}")
