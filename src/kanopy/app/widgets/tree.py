"""The tree of a hierarchy, drawn by the browser from plain nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element


class Tree(Element, component="tree.js"):
    """A hierarchy to look at and, where `move` is given, to change by dragging."""

    def __init__(
        self,
        nodes: Sequence[dict[str, Any]],
        label: str,
        *,
        k: int = 0,
        level: int | None = None,
        choose: Callable[[list[int]], Any] | None = None,
        move: Callable[[int, int], Any] | None = None,
        height: int = 460,
        counted: str = "rows",
    ) -> None:
        super().__init__()
        self.props["label"] = label
        self.props["editable"] = move is not None
        self.props["tools"] = True
        self.props["height"] = height
        self.fill(nodes, k=k, level=level, counted=counted)
        if choose is not None:
            self.on("choose", lambda event: choose([int(node_id) for node_id in event.args["ids"]]))
        if move is not None:
            self.on("move", lambda event: move(int(event.args["id"]), int(event.args["under"])))

    def fill(
        self, nodes: Sequence[dict[str, Any]], *, k: int = 0, level: int | None = None, counted: str = "rows"
    ) -> None:
        """Draw other nodes, which count rows or people; what was folded stays folded."""
        self.props["nodes"] = list(nodes)
        self.props["k"], self.props["counted"] = k, counted
        self.props["level"] = -1 if level is None else level
        self.update()
