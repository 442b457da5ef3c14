"""Making a hierarchy by a method with a plain name and fields, or from a classification; the preview is the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.pages.hierarchies.classifications import ClassificationChoice
from kanopy.app.task_cache import READING
from kanopy.app.widgets.elements import button, card, heading, tip
from kanopy.app.widgets.fields import choice_field
from kanopy.app.widgets.forms import Form
from kanopy.hierarchy.files.json_format import parse_json

if TYPE_CHECKING:
    from kanopy.app.pages.hierarchies.hierarchies_page import HierarchiesPage

PLAIN = {
    "round": "Round steps, fine where rows are many",
    "widths": "Steps of fixed widths",
    "cuts": "Own cut points, top and bottom coding",
    "dates": "Parts of the calendar",
    "classification": "Official classification",
    "groups": "Own groups of values",
    "order": "Neighbours in an order",
    "prefix": "First characters",
    "redact": "Hide characters one by one",
    "frequency": "Common values stay, rare ones are joined",
    "hipaa_zip": "ZIP codes by the rule of HIPAA",
    "cells": "Cells of a map",
    "quadtree": "Cells of a map, fitted to the people",
    "ontology": "Meaning of words",
    "semantic_clusters": "Clusters of similar words",
    "equal_width": "Equal widths, again and again",
    "equal_frequency": "Equal numbers of rows, again and again",
    "k_aware": "Groups of k rows, then the nearest ones",
    "iotf": "Smallest unions first",
    "otf": "Closest centres first",
    "chu": "Least error of relaxation",
    "han": "Near-equal numbers of rows",
    "chimerge": "Neighbours with like classes",
    "mdl": "Cuts where classes differ",
    "cgh": "Halves, down to a width",
    "dbgh": "Widths that divide the range",
    "cbgh": "Pairs with balanced row counts",
    "suppress": "The value, or nothing",
}
"""What methods are called; the paper of each is in its tip."""
CHOSEN = ("classification", "file")
"""Parameters that a choice stands for."""
SETTLE_SECONDS = 0.4
FLAT = "flat list"


class Wizard:
    """Fields for a method; what it makes is drawn at once, and becomes the hierarchy when it is used."""

    def __init__(self, page: HierarchiesPage) -> None:
        self.page, self.controller = page, page.controller
        self._draft = ""
        self._timer: Any = None
        with card():
            with ui.element("div").classes("row-flex"):
                heading("Make another hierarchy")
                ui.label("the tree shows it before it is used").classes("muted small")
                ui.element("div").classes("grow")
                button("Start from a flat list", page.attempt(lambda *_: self._flat()), icon="format_list_bulleted",
                       hint="All values below *: choose values in the tree and merge them into groups")  # fmt: skip
            self._box = ui.element("div").classes("stack tight")

    async def load(self) -> None:
        """Write the methods that fit the column, those with the plainest names first."""
        column = self.page.column
        known_methods = {
            method["name"]: method for method in (await self.controller.cached("catalogue.catalogue", None))["methods"]
        }
        methods = await self.controller.cached("methods.methods_for", READING, column=column)
        self.page.here()
        if column != self.page.column:
            return
        self._known, self._values = known_methods, methods["values"]
        fitting = [*(name for name in PLAIN if name in methods["fitting"]),
                   *(name for name in methods["fitting"] if name not in PLAIN)]  # fmt: skip
        self._box.clear()
        with self._box:
            names = {name: PLAIN.get(name, known_methods[name]["summary"]) for name in fitting}
            self._method = choice_field("Method", names, None)
            self._method.on_value_change(self.page.attempt(lambda event: self._choose(event.value)))
            self._about = ui.label("").classes("muted small")
            self._form_box = ui.element("div").classes("stack tight")
            self._state = ui.label("").classes("bad-text wrap")
            with ui.element("div").classes("row-flex") as self._buttons:
                button("Use this hierarchy", self.page.attempt(lambda *_: self._use()), kind="main", icon="check")
                button("Discard", self.page.attempt(lambda *_: self.discard()), kind="quiet")
            self._buttons.set_visibility(False)

    def _choose(self, name: str | None) -> None:
        if not name:
            return
        method_entry = self._known[name]
        self._about.set_text(f"{method_entry['summary'][0].upper()}{method_entry['summary'][1:]}.")
        tip(self._about, f"The method {name!r} of the command line")
        self._form_box.clear()
        with self._form_box:
            if any(field["name"] in CHOSEN for field in method_entry["fields"]):
                self._choice: Any = ClassificationChoice(self.page, self._settle)
            else:
                self._choice = None
            fields = [field for field in method_entry["fields"] if self._choice is None or field["name"] not in CHOSEN]
            columns = [str(column["column"]) for column in self.controller.project.work.columns]
            self._form = Form(fields, columns=columns, values=self._values, changed=self._settle)
        self._settle()

    # ---- the preview ----------------------------------------------------------------------------------------

    def _settle(self) -> None:
        if self._timer is not None:
            self._timer.deactivate()
        with self._form_box:
            self._timer = ui.timer(SETTLE_SECONDS, self._look, once=True)

    def _given(self) -> tuple[str, Mapping[str, Any]] | None:
        given, name = self._form.complete(), str(self._method.value or "")
        if given is None or not name:
            return None
        if self._choice is not None:
            if not self._choice.name:
                return None
            given = {**given, "classification": self._choice.name}
        return name, given

    async def _look(self) -> None:
        asked, column = self._given(), self.page.column
        if asked is None:
            return
        built = await self.controller.run_short(
            "methods.build", **self.controller.task_arguments, column=column, method=asked[0], parameters=asked[1]
        )
        if self._form_box.is_deleted or asked != self._given() or column != self.page.column:
            return
        self._state.set_text(built["wrong"])
        if built["wrong"]:
            await self.discard()
            self._state.set_text(built["wrong"])
        else:
            await self._show(built["hierarchy"], PLAIN.get(asked[0], asked[0]))

    async def _show(self, text: str, words: str) -> None:
        self._draft, self._words = text, words
        self._buttons.set_visibility(True)
        with self.page.session.errors_shown():
            await self.page.show_draft(text, words)

    async def _flat(self) -> None:
        built = await self.controller.run_short(
            "methods.flat", **self.controller.task_arguments, column=self.page.column
        )
        self.page.here()
        self._draft, self._words = built["hierarchy"], FLAT
        await self._use()

    async def _use(self) -> None:
        column, text, words = self.page.column, self._draft, self._words
        self._draft = ""
        await self.page.show_draft("", "")
        self.controller.set_hierarchy(column, parse_json(text, column, name=column), f"{column}: {words}")
        self._buttons.set_visibility(False)

    async def discard(self) -> None:
        """Show the hierarchy in use again."""
        self._draft = ""
        self._buttons.set_visibility(False)
        self._state.set_text("")
        await self.page.show_draft("", "")
