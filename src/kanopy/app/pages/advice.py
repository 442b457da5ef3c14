"""What would help, as buttons: changes of the job that the library advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.widgets.elements import button, heading, number

if TYPE_CHECKING:
    from kanopy.app.pages.page import Place


def write_advice(place: Place, offered: Sequence[Mapping[str, Any]]) -> None:
    """Write what would help (`change`, `settings`, `loss`); what can be done at once is a button."""
    if not offered:
        return
    heading("What would help", 3)
    with ui.element("div").classes("advice"):
        for each in offered:
            words = str(each["change"])
            with ui.element("div"):
                if each["settings"]:
                    button(
                        "Do it", place.attempt(lambda *_, each=each: _do(place, each)), icon="auto_fix_high", hint=words
                    )
            ui.label(words)
            with ui.element("div"):
                if each["loss"] is not None:
                    number(f"loss {each['loss']:.3f}", "loss")


async def _do(place: Place, each: Mapping[str, Any]) -> None:
    await place.desk.take_advice(str(each["change"]), each["settings"])
