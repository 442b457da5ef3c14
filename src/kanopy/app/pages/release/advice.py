"""What would help, as buttons: changes of the job that the library advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.widgets.elements import button, heading, number

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page


def write_advice(page: Page, offered: Sequence[Mapping[str, Any]]) -> None:
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
                        "Do it", page.attempt(lambda *_, each=each: _do(page, each)), icon="auto_fix_high", hint=words
                    )
            ui.label(words)
            with ui.element("div"):
                if each["loss"] is not None:
                    number(f"loss {each['loss']:.3f}", "loss")


async def _do(page: Page, each: Mapping[str, Any]) -> None:
    await page.controller.take_advice(str(each["change"]), each["settings"])
