"""The page without a browser: windows are written by the real places, work is done by the real bench, all in here."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kanopy.app.bench.bench import Bench
from kanopy.app.desk import Desk
from kanopy.app.project import Project
from kanopy.app.worker import Task, Worker, _carried


class Here(Worker):
    """A worker that does what it is asked for at once, without a process of its own."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench

    def submit(self, name: str, tell: Any = None, **arguments: Any) -> Task:
        """Do it, and keep the answer."""
        task = Task(next(self._numbers), name, arguments, asyncio.get_running_loop().create_future(), tell)
        module, function = name.rsplit(".", 1)
        self._tasks[task.number] = task
        try:
            work = getattr(importlib.import_module(f"kanopy.app.bench.{module}"), function)
            self._settle(task.number, work(self.bench, lambda step: True, **arguments))
        except Exception as error:
            self._settle(task.number, _carried(error))
        return task


def here(folder: Path) -> Desk:
    """A desk whose workers are in this process."""
    desk = Desk(Project(folder))
    bench = Bench()
    desk.quick, desk.long = Here(bench), Here(bench)
    return desk


def elsewhere(make: Callable[[], Awaitable[Any]]) -> Any:
    """Run something asynchronous where no loop runs: a browser of other tests may have one running here."""

    async def run() -> Any:
        return await make()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, run()).result()


def simulate(folder: Path, story: Callable[[Any, Desk], Awaitable[None]]) -> None:
    """Open a window on a folder in NiceGUI's simulation, and let a story happen in it."""
    from nicegui import ui
    from nicegui.testing.user_simulation import user_simulation

    from kanopy.app.window import Window

    async def run() -> None:
        desk = here(folder)

        def root() -> None:
            Window(desk, []).show()

        try:
            async with user_simulation(root) as user:
                user.ui = ui
                await story(user, desk)
        finally:
            desk.close()

    elsewhere(run)
