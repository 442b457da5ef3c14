"""Release."""

from __future__ import annotations

from nicegui import ui

from kanopy.app.places.place import Place
from kanopy.app.widgets.parts import title


class ReleasePlace(Place):
    """Release."""

    path, name, icon = "/release", "Release", "tune"

    def build(self) -> None:
        """Write the place."""
        title("Release")
        ui.label("")
