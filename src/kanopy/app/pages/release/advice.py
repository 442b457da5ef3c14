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
        for advice_item in offered:
            words = str(advice_item["change"])
            with ui.element("div"):
                if advice_item["settings"]:
                    button(
                        "Do it",
                        page.attempt(lambda *_, chosen_advice=advice_item: _do(page, chosen_advice)),
                        icon="auto_fix_high",
                        hint=words,
                    )
            ui.label(words)
            with ui.element("div"):
                if advice_item["loss"] is not None:
                    number(f"loss {advice_item['loss']:.3f}", "loss")


async def _do(page: Page, advice_item: Mapping[str, Any]) -> None:
    await page.controller.take_advice(str(advice_item["change"]), advice_item["settings"])
