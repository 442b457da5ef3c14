"""Risk."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.places.place import Place
from kanopy.app.widgets.parts import title


class RiskPlace(Place):
    """Risk."""

    path, name, icon = "/risk", "Risk", "shield"

    def build(self) -> None:
        """Write the place."""
        title("Risk")
        ui.label("")
