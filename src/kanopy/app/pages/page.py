"""What all places share: where they stand in the window, and when they look again."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from nicegui import ui

if TYPE_CHECKING:
    from kanopy.app.controller import Desk
    from kanopy.app.session import Window


class Left(Exception):
    """The place was left before what it waited for was there: nothing is to be said."""


class Overtaken(Left):
    """What was waited for is no longer what the place shows: somebody else is already asking anew."""


class Place:
    """One place of a window. `build` writes it; `changed` is called when the project has changed."""

    path: ClassVar[str]
    name: ClassVar[str]
    icon: ClassVar[str]
    needs_table: ClassVar[bool] = True

    def __init__(self, window: Window) -> None:
        self.window = window
        self.desk: Desk = window.desk
        self._seen: Any = None

    def show(self) -> None:
        """Write the place into the present container."""
        from kanopy.app.widgets.elements import button, card

        self.root = ui.element("main").classes("content")
        self.root.props["id"] = "main"
        self._seen = self.state()
        with self.root:
            if self.needs_table and not self.desk.project.work.source:
                with card():
                    ui.label("Open a table first.").classes("strong")
                    button("Go to Data", lambda: ui.navigate.to("/"), kind="main", icon="table_view")
                return
            self.build()

    def build(self) -> None:
        """Write what this place shows."""
        raise NotImplementedError

    def state(self) -> Any:
        """What of the project this place shows: it looks again when that has changed."""
        return self.desk.project.revision, self.desk.summary is not None

    def changed(self) -> None:
        """Look again, if anything has changed that this place shows."""
        if self.state() == self._seen:
            return
        self._seen = self.state()
        self.update()

    def update(self) -> None:
        """Show the project as it is now; places that can do with less than writing everything anew say how."""
        self.root.clear()
        with self.root:
            self.build()

    def here(self) -> None:
        """After waiting for something: go on only if this place is still shown."""
        if self.root.is_deleted or self.window.place is not self:
            raise Left

    @contextlib.contextmanager
    def dialog(self, words: str, style: str = "") -> Iterator[ui.dialog]:
        """A dialog, open once it is written. It stands in the window: it stays when others change the project."""
        from kanopy.app.widgets.elements import heading

        with self.window.layer, ui.dialog() as dialog, ui.card().style(style):
            dialog.props["aria-label"] = words
            heading(words)
            yield dialog
        dialog.open()

    def later(self, load: Callable[[], Awaitable[None]]) -> None:
        """Load something once the page stands; what goes wrong is said in words."""

        async def loaded() -> None:
            with self.window.told():
                await load()

        ui.timer(0.01, loaded, once=True)

    def attempt(self, action: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
        """An action of the user: what goes wrong is said in words, and nothing has changed."""

        async def attempted(*arguments: Any) -> None:
            with self.window.told():
                found = action(*arguments)
                if isinstance(found, Awaitable):
                    await found

        # The framework hands an event over only to functions that name an argument for it.
        first = next(iter(inspect.signature(action).parameters.values()), None)
        if first is None or first.kind is first.VAR_POSITIONAL or first.default is not first.empty:
            return attempted

        async def with_event(event: Any) -> None:
            await attempted(event)

        return with_event
