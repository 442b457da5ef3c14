"""The base class of pages: where they stand in the session, and when they are updated."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from nicegui import ui
from nicegui.element import Element

if TYPE_CHECKING:
    from kanopy.app.controller import Controller
    from kanopy.app.session import Session


class PageLeft(Exception):
    """The page was left before its result arrived: no message is shown."""


class AnswerOutdated(PageLeft):
    """The result that arrived is no longer what the page shows: a newer request is under way."""


class Page:
    """One page of a session. `build` writes it; `changed` is called when the project has changed."""

    path: ClassVar[str]
    name: ClassVar[str]
    icon: ClassVar[str]
    needs_table: ClassVar[bool] = True

    def __init__(self, session: Session) -> None:
        self.session = session
        self.controller: Controller = session.controller
        self._seen: Any = None

    def show(self) -> None:
        """Write the page into the present container."""
        # The framework writes the landmark `main` around it.
        self.root = ui.element("div").classes("content")
        self.root.props["id"] = "main"
        self._seen = self.state()
        self._written: dict[str, Any] = {}
        self._build_or_say()
        self._written = self._texts()

    def _build_or_say(self) -> None:
        from kanopy.app.widgets.elements import button, card

        with self.root:
            if not self.needs_table or self.controller.project.work.source:
                self.build()
                return
            with card():
                ui.label("Open a table first.").classes("strong")
                button("Go to Data", lambda: ui.navigate.to("/"), kind="main", icon="table_view")

    def build(self) -> None:
        """Write the content of the page."""
        raise NotImplementedError

    def state(self) -> Any:
        """The part of the project that this page shows: it is updated when that has changed."""
        return (self.controller.project.revision, *self.release_state())

    def release_state(self) -> tuple[Any, ...]:
        """Which release is the newest, what the record says, and whether the table is still the same."""
        controller = self.controller
        return controller.result_folder.name, controller.record_mark, controller.table_state

    def changed(self) -> None:
        """Update the page if the part of the project that it shows has changed."""
        if self.state() == self._seen:
            return
        self._seen = self.state()
        self.update()

    def update(self) -> None:
        """Show the present project. Pages that need not write everything anew override this."""
        written = self._written
        typed = {name: text for name, text in self._texts().items() if name in written and text != written[name]}
        self.root.clear()
        self._build_or_say()
        self._written = self._texts()
        for name, field in self._text_fields():
            if name in typed and self._written[name] == written[name]:
                field.set_value(typed[name])

    def _text_fields(self) -> Iterator[tuple[str, Any]]:
        """The fields in which somebody may be typing, by their labels."""
        for each in _below(self.root):
            if isinstance(each, (ui.input, ui.number)) and (
                name := each.props.get("aria-label") or each.props.get("label")
            ):
                yield str(name), each

    def _texts(self) -> dict[str, Any]:
        return {name: field.value for name, field in self._text_fields()}

    def here(self) -> None:
        """Raise `PageLeft` if this page is no longer shown; called after waiting."""
        if self.root.is_deleted or self.session.page is not self:
            raise PageLeft

    @contextlib.contextmanager
    def dialog(self, words: str, style: str = "") -> Iterator[ui.dialog]:
        """A dialog that opens once it is written. It belongs to the session: changes by others leave it open."""
        from kanopy.app.widgets.elements import heading

        with self.session.layer, ui.dialog() as dialog, ui.card().style(style):
            dialog.props["aria-label"] = words
            heading(words)
            yield dialog
        dialog.open()

    def later(self, load: Callable[[], Awaitable[None]]) -> None:
        """Load something once the page is written; errors are shown as messages."""

        async def loaded() -> None:
            with self.session.errors_shown():
                await load()

        ui.timer(0.01, loaded, once=True)

    def attempt(self, action: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
        """An action of the user; errors are shown as messages, and nothing has changed then."""

        async def attempted(*arguments: Any) -> None:
            with self.session.errors_shown():
                answer = action(*arguments)
                if isinstance(answer, Awaitable):
                    await answer

        # The framework hands an event over only to functions that name an argument for it.
        first = next(iter(inspect.signature(action).parameters.values()), None)
        if first is None or first.kind is first.VAR_POSITIONAL or first.default is not first.empty:
            return attempted

        async def with_event(event: Any) -> None:
            await attempted(event)

        return with_event


def _below(element: Element) -> Iterator[Element]:
    for child in element:
        yield child
        yield from _below(child)
