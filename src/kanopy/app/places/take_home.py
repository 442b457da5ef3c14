"""TakeHome."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.places.place import Place
from kanopy.app.widgets.parts import title


class TakeHomePlace(Place):
    """TakeHome."""

    path, name, icon = "/take_home", "TakeHome", "inventory_2"

    def build(self) -> None:
        """Write the place."""
        title("TakeHome")
        ui.label("")
