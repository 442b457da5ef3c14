"""Fields of forms, all of one look. Each has a label that is also its name for screen readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from nicegui import ui

LOOK = "outlined dense"
OPTIONS = f"{LOOK} options-dense"
Shown = TypeVar("Shown", bound=Any)


def text_field(label: str, value: str = "", *, hint: str = "") -> ui.input:
    """A line of text."""
    element = ui.input(label=label, value=value).props(LOOK).classes("field")
    return _described(element, hint)


def number_field(
    label: str, value: float | None, *, low: float | None = None, step: float = 1, suffix: str = "", hint: str = ""
) -> ui.number:
    """A number without an upper end."""
    element = ui.number(label=label, value=value, min=low, step=step, suffix=suffix or None, format="%.12g").props(LOOK)
    return _described(element.classes("field"), hint)


def choice_field(
    label: str, options: Mapping[Any, str] | Sequence[str], value: Any = None, *, several: bool = False, hint: str = ""
) -> ui.select:
    """One of several, or `several` of them."""
    given = dict(options) if isinstance(options, Mapping) else list(options)
    element = ui.select(given, label=label, value=value, multiple=several, with_input=len(given) > 12).props(OPTIONS)
    if several:
        element.props("use-chips")
    return _described(element.classes("field"), hint)


def tick_field(label: str, value: bool = False, *, hint: str = "") -> ui.checkbox:
    """Yes or no."""
    element = ui.checkbox(label, value=value).props("dense")
    element.props["aria-label"] = label
    return _described(element, hint)


def fields() -> Any:
    """A box whose fields stand side by side."""
    return ui.element("div").classes("fields")


def _described(element: Shown, hint: str) -> Shown:
    if hint:
        element.props["data-tip"] = hint
    return element
