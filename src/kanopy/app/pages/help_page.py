"""What every number means, and why it is there."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.pages.page import Page
from kanopy.app.widgets.elements import card, heading, title, words


class HelpPage(Page):
    """The page of explanations."""

    path, name, icon = "/why", "What numbers mean", "help_outline"
    needs_table = False

    def build(self) -> None:
        """Write every explanation."""
        title("What the numbers mean", "Point at any number to read the first sentence; here is the rest.")
        for key, about in words().items():
            with card() as box:
                box.props["id"] = key
                heading(about["name"])
                ui.label(about["short"])
                ui.label(about["why"]).classes("muted")
