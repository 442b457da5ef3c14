"""Numbers with their explanations, tiles, pictures: parts that every place uses. All write text, never markup."""

from __future__ import annotations

import base64
import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from nicegui import ui
from nicegui.element import Element

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


@cache
def words() -> dict[str, dict[str, str]]:
    """Every explanation: `name`, `short` and `why`."""
    return tomllib.loads((resources.files("kanopy.app.widgets") / "words.toml").read_text("utf-8"))


@cache
def own_file(name: str) -> str:
    """A file of this room: the style of the page, the script of its explanations."""
    return (resources.files("kanopy.app.widgets") / name).read_text("utf-8")


def tip(element: Any, text: str) -> Any:
    """An element that says more when one points at it, or comes to it by keyboard."""
    element.props["data-tip"] = text
    return element


def number(text: object, key: str, *, big: bool = False, stop: bool = True) -> Element:
    """A number that says what it means when one points at it, or comes to it by keyboard (unless it is no `stop`)."""
    about = words()[key]
    shown = ui.label(str(text)).classes("number big" if big else "number")
    if stop:
        shown.props["tabindex"] = "0"
        shown.props["role"] = "note"
        shown.props["aria-label"] = f"{about['name']}: {text}. {about['short']}"
    tip(shown, about["short"])
    return shown


def named(key: str, text: str | None = None, *, stop: bool = True) -> Element:
    """The name of a number, with the same explanation, and the way to the page that says why."""
    about = words()[key]
    link = ui.link(text or about["name"], f"/why#{key}").classes("named")
    if not stop:
        link.props["tabindex"] = "-1"
    tip(link, about["short"])
    return link


def tile(text: object, key: str, note: str = "") -> Element:
    """A number that matters, with its name and a note."""
    with ui.element("div").classes("tile") as box:
        named(key, stop=False)  # the number itself is one, with the same words
        number(text, key, big=True)
        if note:
            ui.label(note).classes("note")
    return box


def tiles(*contents: tuple[Any, ...]) -> None:
    """Tiles side by side."""
    with ui.element("div").classes("tiles"):
        for tile_contents in contents:
            tile(*tile_contents)


def title(text: str, sub: str = "") -> None:
    """The heading of a place."""
    with ui.element("div").classes("title"):
        heading(text, 1)
        if sub:
            ui.label(sub).classes("muted")


def heading(text: str, level: int = 2) -> Element:
    """A heading that screen readers can jump to."""
    label = ui.label(text).classes(f"h{level}")
    label.props["role"] = "heading"
    label.props["aria-level"] = str(level)
    return label


def card(*classes: str) -> Element:
    """A box for what belongs together."""
    return ui.element("section").classes(" ".join(("box", *classes)))


def button(text: str, click: Callable[..., Any], *, icon: str = "", kind: str = "", hint: str = "") -> ui.button:
    """A button: `kind` is main, quiet, danger or nothing."""
    element = ui.button(text, on_click=click, icon=icon or None, color=None).classes(f"button {kind}")
    element.props("no-caps unelevated")
    if hint:
        element.props["aria-label"] = hint if not text else f"{text}: {hint}"
        tip(element, hint)
    return element


def labelled(element: Any, text: str) -> Any:
    """An element with a label for screen readers."""
    element.props["aria-label"] = text
    return element


def picture(svg: str, description: str) -> None:
    """A chart of the report as an image: whatever its texts hold, an image runs nothing. Light and dark are two."""
    with ui.element("figure").classes("picture"):
        for theme in ("light", "dark"):
            image = ui.element("img").classes(f"only-{theme}")
            image.props["src"] = image_of(svg, theme)
            image.props["alt"] = description
            image.props["loading"] = "lazy"


def image_of(svg: str, theme: str) -> str:
    """A drawing in the colours of a theme, as the address of an image.

    >>> image_of('<svg class="chart"><path fill="var(--ink)"/></svg>', "light")[:26]
    'data:image/svg+xml;base64,'
    """
    colours = _colours()[theme]
    drawn = re.sub(r"var\((--[\w-]+)\)", lambda match: colours.get(match[1], "currentColor"), svg)
    rules = f"text{{font-family:{FONT}}}"
    drawn = re.sub(
        r"<svg ", '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ', drawn, count=1
    )
    drawn = re.sub(r"(<svg[^>]*>)", rf"\1<style>{rules}</style>", drawn, count=1)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"


@cache
def _colours() -> dict[str, dict[str, str]]:
    """The colours of the report, light and dark."""
    text = (resources.files("kanopy.report.style") / "colours.css").read_text("utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", text, re.DOTALL)[:2]
    return {
        theme: dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block)) for theme, block in (("light", light), ("dark", dark))
    }


def spark(bars: Sequence[int], description: str) -> Element:
    """A histogram the size of a word, cut out of one element."""
    top, wide = max(bars, default=0) or 1, 100 / max(len(bars), 1)
    outline = ["0 100%"]
    for at, count in enumerate(bars):
        high = f"{100 - max(4, round(100 * count / top))}%"
        left, right = f"{at * wide:.1f}%", f"{(at + 0.88) * wide:.1f}%"
        outline += [f"{left} 100%", f"{left} {high}", f"{right} {high}", f"{right} 100%"]
    box = ui.element("div").classes("spark").style(f"clip-path:polygon({','.join(outline)})" if bars else "opacity:0")
    box.props["role"] = "img"
    box.props["aria-label"] = description
    return box


def share(value: float | None) -> str:
    """A share in percent, as the report writes it."""
    from kanopy.report.text import percent

    return percent(value)


class Slider(ui.slider):
    """A slider that is never set back to where it was when the server heard of it."""

    LOOPBACK = False


class Pager:
    """Arrows over something long, of which a part is shown; `go` is asked for the part that begins at a number."""

    def __init__(self, what: str, step: int, go: Callable[[int], Any]) -> None:
        self.first, self.total, self._step, self._what = 0, 0, step, what.split()[0]
        with ui.element("div").classes("pager") as self.box:
            self.box.props["role"] = "toolbar"
            self.box.props["aria-label"] = f"{what.capitalize()}: arrow keys go from button to button"
            for icon, words, to in (
                ("first_page", f"First {what}", lambda: 0),
                ("chevron_left", f"{what.capitalize()} before", self._before),
                ("", "", None),
                ("chevron_right", f"{what.capitalize()} after", self._after),
                ("last_page", f"Last {what}", lambda: self.total),
            ):
                if to is None:
                    self._where = ui.label("").classes("muted")
                else:
                    arrow = button("", lambda to=to: go(self._within(to())), icon=icon, kind="quiet", hint=words)
                    if to != self._after:  # one stop of the keyboard (`tips.js`)
                        arrow.props("tabindex=-1")
        self.box.set_visibility(False)

    def _before(self) -> int:
        return self.first - self._step

    def _after(self) -> int:
        return self.first + self._step if self.first + self._step < self.total else self.first

    def _within(self, first: int) -> int:
        return max(0, min(first, (self.total - 1) // self._step * self._step))

    def at(self, first: int, total: int) -> None:
        """Say which part is shown; what is shown whole needs no arrows."""
        self.first, self.total = first, total
        self._where.set_text(f"{self._what} {first + 1:,}–{min(first + self._step, total):,} of {total:,}")
        self.box.set_visibility(total > self._step)
