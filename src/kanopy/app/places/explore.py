"""Explore."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.places.place import Place
from kanopy.app.widgets.parts import title


class ExplorePlace(Place):
    """Explore."""

    path, name, icon = "/explore", "Explore", "scatter_plot"

    def build(self) -> None:
        """Write the place."""
        title("Explore")
        ui.label("")
