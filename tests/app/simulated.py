"""The app without a browser: sessions write the real pages, and the real tasks run in this process."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kanopy.app.controller import Controller
from kanopy.app.project import Project
from kanopy.app.tasks.worker_state import WorkerState
from kanopy.app.worker import Task, Worker, _picklable


class Here(Worker):
    """A worker that does what it is asked for at once, without a process of its own."""

    def __init__(self, state: WorkerState) -> None:
        super().__init__()
        self.state = state

    def start(self) -> None:
        """It is here already."""

    def submit(self, name: str, notify: Any = None, **arguments: Any) -> Task:
        """Do it, and keep the answer."""
        task = Task(next(self._numbers), name, arguments, asyncio.get_running_loop().create_future(), notify)
        module, function = name.rsplit(".", 1)
        self._tasks[task.number] = task
        try:
            work = getattr(importlib.import_module(f"kanopy.app.tasks.{module}"), function)
            self._finish(task.number, work(self.state, lambda step: True, **arguments))
        except Exception as error:
            self._finish(task.number, _picklable(error))
        return task


def here(folder: Path) -> Controller:
    """A desk whose workers are in this process."""
    controller = Controller(Project(folder))
    state = WorkerState()
    controller.quick, controller.previews, controller.long = Here(state), Here(state), Here(state)
    return controller


def elsewhere(make: Callable[[], Awaitable[Any]]) -> Any:
    """Run something asynchronous where no loop runs: a browser of other tests may have one running here."""

    def run() -> Any:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            return loop.run_until_complete(make())
        finally:
            rest = asyncio.all_tasks(loop)  # clocks of windows, which do not hear that they are cancelled
            for task in rest:
                task.cancel()
            if rest:
                loop.run_until_complete(asyncio.wait(rest, timeout=0.2))
            loop.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


class Hand:
    """Somebody at a window: presses, fills in, looks."""

    def __init__(self, user: Any, controller: Controller, windows: list[Any]) -> None:
        self.user, self.controller, self.windows = user, controller, windows

    @property
    def page(self) -> Any:
        """The place that is shown."""
        return self.windows[-1].page

    async def go(self, path: str, seen: str) -> None:
        """Open a window on a place, and wait for what is to be seen there."""
        await self.user.open(path)
        await self.see(seen)

    def elements(self) -> list[Any]:
        """Everything in the window."""
        return list(self.windows[-1].client.elements.values())

    def text(self) -> str:
        """All that is written in the window."""
        return "\n".join(
            str(each.text) for each in self.elements() if isinstance(getattr(each, "text", None), str) and each.visible
        )

    async def see(self, text: str, seconds: float = 25.0) -> None:
        """Wait until something is written."""
        await self.until(lambda: text in self.text(), f"{text!r} was never written")

    async def until(self, true: Callable[[], Any], words: str = "it did not happen", seconds: float = 25.0) -> None:
        """Wait for something."""
        for _ in range(int(seconds * 20)):
            if true():
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{words}; said: {self.user.notify.messages}\n{self.text()[-1500:]}")

    def named(self, label: str) -> Any:
        """The newest element with a label, seen or for screen readers, or a text that is pressed."""
        found = [
            each for each in self.elements()
            if label in (each.props.get("label"), each.props.get("aria-label"))
            or (getattr(each, "text", "") == label and any(e.type == "click" for e in each._event_listeners.values()))
        ]  # fmt: skip
        assert found, f"there is no {label!r}:\n{self.text()}"
        return found[-1]

    def press(self, label: str) -> None:
        """Press a button."""
        self.trigger(self.named(label), "click")

    def fill(self, label: str, value: Any) -> None:
        """Fill in a field, or choose."""
        with self.windows[-1].client:
            self.named(label).set_value(value)

    def trigger(self, element: Any, event: str, args: Any = None) -> None:
        """Something happens to an element."""
        from nicegui import events

        client = self.windows[-1].client
        with client:
            for listener in list(element._event_listeners.values()):
                if listener.type == event:
                    given = events.GenericEventArguments(sender=element, client=client, args=args)
                    events.handle_event(listener.handler, given)


def simulate(folder: Path, story: Callable[[Hand, Controller], Awaitable[None]]) -> None:
    """Open windows on a folder in NiceGUI's simulation, and let a story happen there."""
    from nicegui.testing.user_simulation import user_simulation

    from kanopy.app.session import Session

    async def run() -> None:
        controller, windows = here(folder), []

        def root() -> None:
            windows.append(Session(controller, []))
            windows[-1].show()

        try:
            async with user_simulation(root) as user:
                try:
                    await story(Hand(user, controller, windows), controller)
                finally:
                    for session in windows:  # their clocks and outboxes stop with them
                        session.client.delete()
                    await asyncio.sleep(0.1)
        finally:
            controller.close()

    elsewhere(run)
