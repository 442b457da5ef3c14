"""Points in a plane that can be chosen, drawn by the browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element


class Points(Element, component="points.js"):
    """A picture of many releases. Each point has `x`, `y`, `words`, and perhaps `best` and `series`."""

    def __init__(
        self,
        points: Sequence[dict[str, Any]],
        label: str,
        *,
        x: str,
        y: str,
        log: bool = False,
        percent: bool = False,
        mark: float | None = None,
        series: Sequence[str] = (),
        choose: Callable[[int], Any] | None = None,
        height: int = 380,
    ) -> None:
        super().__init__()
        given = {
            "points": list(points), "label": label, "xname": x, "yname": y, "log": log, "percent": percent,
            "mark": mark, "series": list(series), "height": height,
        }  # fmt: skip
        for name, value in given.items():
            if value is not None:
                self.props[name] = value
        if choose is not None:
            self.on("choose", lambda event: choose(int(event.args["number"])))
