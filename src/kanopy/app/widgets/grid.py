"""Tables and choices that the browser draws from plain data in one piece: hundreds of cells are one message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.value_element import ValueElement

Cell = str | None | list[str] | dict[str, str | None]
"""A text, nothing, several short texts, or `was` and `now`."""


class Cells(Element, component="grid.js"):
    """The table itself."""


class Grid:
    """A table of texts that is filled anew without being built anew."""

    def __init__(
        self,
        columns: Sequence[str] = (),
        *,
        label: str,
        aligned: Mapping[int, str] | None = None,
        tips: Mapping[int, str] | None = None,
        tall: bool = False,
    ) -> None:
        self._aligned, self._tips = aligned or {}, tips or {}
        with ui.element("div").classes("roll tall" if tall else "roll") as self.box:
            self.box.props["tabindex"] = "0"
            self.box.props["role"] = "region"
            self.box.props["aria-label"] = label
            self.table = Cells()
        self.head(columns)

    def head(self, columns: Sequence[str]) -> None:
        """Show these columns; the rows that fit them follow."""
        self.table.props["columns"] = [
            {"text": text, "align": self._aligned.get(number, "left"), "tip": self._tips.get(number, "")}
            for number, text in enumerate(columns)
        ]
        self.fill(())

    def fill(self, rows: Sequence[Sequence[Any]]) -> None:
        """Show these rows; numbers are written as they are."""
        self.rows = [[_cell(cell) for cell in row] for row in rows]
        self.table.props["rows"] = self.rows
        self.table.update()


def _cell(cell: Any) -> Cell:
    return cell if cell is None or isinstance(cell, str | list | dict) else str(cell)


class Choice(ValueElement[str], component="choice.js"):
    """One of a few words, side by side."""

    def __init__(self, options: Mapping[str, str], value: str, *, stop: bool = True) -> None:
        super().__init__(value=value, on_value_change=None)
        self.props["options"] = [{"value": key, "text": text} for key, text in options.items()]
        self.props["stop"] = stop
