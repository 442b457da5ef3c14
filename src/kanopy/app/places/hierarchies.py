"""Hierarchies."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.places.place import Place
from kanopy.app.widgets.parts import title


class HierarchiesPlace(Place):
    """Hierarchies."""

    path, name, icon = "/hierarchies", "Hierarchies", "account_tree"

    def build(self) -> None:
        """Write the place."""
        title("Hierarchies")
        ui.label("")
