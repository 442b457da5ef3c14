"""Changing a hierarchy by hand: every change is one of the library's edits, and one step to undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._errors import HierarchyError
from kanopy.app.widgets.elements import button, card, heading, labelled
from kanopy.hierarchy import edit
from kanopy.report.report import node_levels

if TYPE_CHECKING:
    from kanopy.app.pages.hierarchies.hierarchies_page import HierarchiesPage
    from kanopy.hierarchy.hierarchy import Hierarchy

CHANGED_MEANWHILE = "The hierarchy was changed meanwhile, here or in another window. Look at it, and do this again."
MOST_PARTS = 60
"""Children that a dialog lists."""


class EditPanel:
    """What can be done with the chosen nodes."""

    def __init__(self, page: HierarchiesPage) -> None:
        self.page = page
        self._nodes: list[int] = []
        self._drawn: Any = None
        self._box = card()
        self._write()

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy that is changed: the one that was drawn, unless somebody has changed it meanwhile."""
        if self._drawn not in (None, self.page.version):
            raise HierarchyError(CHANGED_MEANWHILE)
        return self.page.hierarchy

    def shown(self, there: bool) -> None:
        """Whether something can be edited: a hierarchy that is not in use yet cannot."""
        self._box.set_visibility(there)

    def fill(self) -> None:
        """Another hierarchy is shown: nothing is chosen in it."""
        self._nodes, self._drawn = [], self.page.version
        self._write()

    def choose(self, nodes: list[int]) -> None:
        """These nodes are chosen."""
        self._nodes = [node for node in nodes if 0 <= node < self.tree.node_count]
        self._write()

    def _level(self, node: int) -> int:
        return int(node_levels(self.tree)[node])

    def _changed(self, words: str, tree: Hierarchy) -> None:
        self.page.controller.set_hierarchy(self.page.column, tree, f"{self.page.column}: {words}")

    def _button(self, text: str, action: Callable[[], Any], **more: Any) -> None:
        button(text, self.page.attempt(lambda *_: action()), **more)

    # ---- the panel ----------------------------------------------------------------------------------------

    def _write(self) -> None:
        self._box.clear()
        with self._box:
            heading("Edit")
            if not self._nodes:
                ui.label(
                    "Choose a node of the tree: click it, or go there with the arrow keys and press Enter."
                ).classes("muted")
            elif len(self._nodes) == 1:
                self._write_one(self._nodes[0])
            else:
                self._write_several()
            self._write_levels()

    def _write_one(self, node: int) -> None:
        tree = self.tree
        label, parent = tree.label(node), int(tree.tree()[node])
        name = ui.input(label="Label", value=label).props("outlined dense")
        with ui.element("div").classes("row-flex"):
            self._button("Rename", lambda: self.rename(node, name.value), icon="edit")
            if node >= tree.size and parent >= 0:
                self._button("Split …", lambda: self._ask_split(node), icon="call_split")
        groups = [node_number for node_number in range(tree.size, tree.node_count) if node_number != node]
        if parent >= 0 and groups:
            if tree.has_table:
                groups = [group for group in groups if tree.depth[group] + 1 == tree.depth[node]]
            options = {group: f"{tree.label(group)}" for group in groups[:2000]}
            target = ui.select(
                options, label="Move under", value=parent if parent in options else None, with_input=True
            )
            target.props("outlined dense options-dense")
            target.on_value_change(self.page.attempt(lambda event: self._move_if(node, event.value, parent)))

    def _write_several(self) -> None:
        tree = self.tree
        labels = [tree.label(node) for node in self._nodes]
        ui.label(f"{len(labels)} nodes: {', '.join(labels[:6])}{' …' if len(labels) > 6 else ''}").classes("muted")
        name = ui.input(label="Name of the group", value=" / ".join(labels[:2])[:40]).props("outlined dense")
        with ui.element("div").classes("row-flex"):
            if all(node >= tree.size for node in self._nodes):
                self._button("Merge", lambda: self.merge(name.value), icon="call_merge")
            self._button("New level above", lambda: self.group(name.value), icon="playlist_add")

    def _write_levels(self) -> None:
        tree = self.tree if self.page.controller.project.hierarchy(self.page.column) is not None else None
        if tree is None or tree.height < 2:
            return
        options = {level: f"level {level}: {', '.join(tree.labels_at(level)[:3])} …" for level in range(1, tree.height)}
        with ui.element("div").classes("row-flex"):
            level = ui.select(options, label="Drop a level", value=1).props("outlined dense options-dense")
            level.style("min-width:170px;flex:1")
            labelled(level, "Level to drop")
            self._button(
                "Drop",
                lambda: self._changed(f"without level {level.value}", edit.drop_level(tree, int(level.value))),
                icon="playlist_remove",
            )

    # ---- changes ------------------------------------------------------------------------------------------

    def rename(self, node: int, to: str) -> None:
        """Another label for a node."""
        label = self.tree.label(node)
        self._changed(f"{label} is called {to}", edit.rename(self.tree, label, to, level=self._level(node)))

    def _move_if(self, node: int, under: int | None, before: int) -> None:
        if under is not None and under != before:
            self.move(node, under)

    def move(self, node: int, under: int) -> None:
        """A node with all below it under another group."""
        tree = self.tree
        if int(tree.tree()[node]) == under:
            return
        changed = edit.move(
            tree, tree.label(node), tree.label(under), level=self._level(node), under_level=self._level(under)
        )
        self._changed(f"{tree.label(node)} moves under {tree.label(under)}", changed)

    def merge(self, into: str) -> None:
        """The chosen groups become one."""
        labels = [self.tree.label(node) for node in self._nodes]
        levels = {self._level(node) for node in self._nodes}
        if len(levels) > 1:
            raise HierarchyError("Only groups of one level can be merged.")
        self._changed(f"{', '.join(labels)} become {into}", edit.merge(self.tree, labels, into, level=levels.pop()))

    def group(self, name: str) -> None:
        """A new level in which the chosen nodes stand together."""
        levels = {self._level(node) for node in self._nodes}
        if len(levels) > 1:
            raise HierarchyError("Only nodes of one level can be put into a new group.")
        labels = [self.tree.label(node) for node in self._nodes]
        changed = edit.insert_level(self.tree, levels.pop() + 1, {name: labels})
        self._changed(f"new level with {name}", changed)

    def _ask_split(self, node: int) -> None:
        tree, version = self.tree, self.page.version
        label, children = tree.label(node), [tree.label(child) for child in tree.children(node)]
        with self.page.dialog(f"Split {label}", "min-width:420px") as dialog:
            ui.label("Choose what goes into the second group.").classes("muted")
            first = ui.input(label="First group", value=f"{label} 1").props("outlined dense")
            second = ui.input(label="Second group", value=f"{label} 2").props("outlined dense")
            with ui.element("div").style("max-height:300px;overflow:auto"):
                boxes = {
                    child: ui.checkbox(child, value=at >= len(children) / 2)
                    for at, child in enumerate(children[:MOST_PARTS])
                }

            def split() -> None:
                chosen = [child for child in children if child in boxes and boxes[child].value]
                rest = [child for child in children if child not in chosen]
                parts = {first.value: rest, second.value: chosen}
                if version != self.page.version:
                    raise HierarchyError(CHANGED_MEANWHILE)
                changed = edit.split(tree, label, parts, level=self._level(node))
                dialog.close()
                self._changed(f"{label} is split", changed)

            self._button("Split", split, kind="main")
