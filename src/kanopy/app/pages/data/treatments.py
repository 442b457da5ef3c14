"""Treatments: what happens to columns that are not generalized, by fields, with the sentence that they make."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.widgets.elements import button, card, heading
from kanopy.app.widgets.fields import choice_field, text_field
from kanopy.app.widgets.forms import Form

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

KEY_VARIABLE = "KANOPY_KEY"
NEEDS_KEY = f"It needs a secret key: set {KEY_VARIABLE} (16 characters or more), then start the app."
SETTLE_SECONDS = 0.35


class Treatments:
    """The treated columns, each with what is done to it, and a dialog for another one."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        with card():
            with ui.element("div").classes("row-flex"):
                heading("Treatments")
                ui.label("for columns that are not generalized: noise, rounding, dates, pseudonyms …").classes(
                    "muted small"
                )
                ui.element("div").classes("grow")
                button("Treat a column", page.attempt(lambda *_: self._ask("")), icon="healing")
            self._box = ui.element("div").classes("stack tight")
        self.write()

    def write(self) -> None:
        """Write the treated columns anew."""
        protect = self.controller.project.work.job.protect
        self._box.clear()
        with self._box:
            if not protect:
                ui.label("No column is treated: sensitive and insensitive columns are published as they are.").classes(
                    "muted small"
                )
            for column, treatment in protect.items():
                with ui.element("div").classes("stored treated"):
                    with ui.element("div").style("min-width:0"):
                        ui.label(f"{column}: {treatment.name}").classes("strong")
                        words = ui.label("").classes("small wrap")
                    change = self.page.attempt(lambda *_, column=column: self._ask(column))
                    button("Change", change, kind="quiet", hint=f"Change the treatment of {column}")
                    drop = self.page.attempt(lambda *_, column=column: self._drop(column))
                    button("", drop, icon="close", kind="quiet", hint=f"Publish {column} without a treatment")
                self.page.later(partial(self._describe, words, treatment.to_dict()))

    async def _describe(self, label: Any, given: Mapping[str, Any]) -> None:
        description = await self.controller.cached("catalogue.describe", None, family="treatment", given=given)
        if not label.is_deleted:
            label.set_text(description["words"])

    def _drop(self, column: str) -> None:
        rest = {
            name: treatment for name, treatment in self.controller.project.work.job.protect.items() if name != column
        }
        self.controller.set_job(f"{column} is not treated", protect=rest)

    async def _ask(self, column: str) -> None:
        treatments = (await self.controller.cached("catalogue.catalogue", None))["treatments"]
        self.page.here()
        title = f"Treatment of {column}" if column else "Treat a column"
        with self.page.dialog(title, "width:min(860px, 94vw);max-width:94vw") as dialog:
            _TreatmentForm(self, dialog, {treatment["name"]: treatment for treatment in treatments}, column)

    def take(self, column: str, given: Mapping[str, Any]) -> None:
        """Treat a column."""
        protect = {**self.controller.project.work.job.protect, column: dict(given)}
        self.controller.set_job(f"{column}: {given['method']}", protect=protect)


class _TreatmentForm:
    """What stands in the dialog."""

    def __init__(self, own: Treatments, dialog: Any, known: Mapping[str, Any], column: str) -> None:
        self.own, self.dialog, self.known = own, dialog, known
        self.controller = own.controller
        job = self.controller.project.work.job
        self._present = job.protect.get(column)
        self._name = self._present.name if self._present is not None else ""
        self._columns = [str(column["column"]) for column in self.controller.project.work.columns]
        choices = [name for name in self._columns if name not in job.quasi]
        self._column = choice_field("Column", choices, column or next(iter(choices), None))
        self._column.on_value_change(lambda: self._settle())
        self._search = text_field("Find a treatment")
        self._search.on_value_change(lambda event: self._list(str(event.value or "")))
        self._found = ui.element("div").classes("catalogue")
        self._form_box = ui.element("div").classes("stack tight")
        self._state = ui.label("").classes("wrap")
        self._add = button("Treat it", own.page.attempt(lambda *_: self._take()), kind="main")
        self._add.disable()
        self._timer: Any = None
        self.form: Form | None = None
        self._list("")
        if self._present is not None:
            self._choose(self._name, self._present.to_dict())

    def _list(self, words: str) -> None:
        self._found.clear()
        wanted = words.casefold().split()
        with self._found:
            for name, treatment in self.known.items():
                if all(word in f"{name} {treatment['summary']} {treatment['takes']}".casefold() for word in wanted):
                    choice = ui.element("button").classes("model-choice" + (" here" if name == self._name else ""))
                    choice.props["type"] = "button"
                    choice.props["aria-label"] = f"Treatment {name}"
                    choice.on("click", lambda name=name: self._choose(name, {}))
                    with choice:
                        ui.label(name).classes("strong")
                        ui.label(f"{treatment['summary']} ({treatment['takes']})").classes("muted small")

    def _choose(self, name: str, given: Mapping[str, Any]) -> None:
        self._name = name
        self._list(str(self._search.value or ""))
        treatment = self.known[name]
        self._form_box.clear()
        with self._form_box:
            heading(name, 3)
            if treatment["secret"] == "key" and not os.environ.get(KEY_VARIABLE):
                ui.label(NEEDS_KEY).classes("chip warn wrap")
            self.form = Form(treatment["fields"], columns=self._columns, given=given, changed=self._settle)
        self._settle()

    def _settle(self) -> None:
        if self._timer is not None:
            self._timer.deactivate()
        with self._form_box:
            self._timer = ui.timer(SETTLE_SECONDS, self._look, once=True)

    async def _look(self) -> None:
        given = None if self.form is None else self.form.complete()
        if given is None:
            self._state.set_text("Fill in the fields." if self._name else "Choose a treatment.")
            self._add.disable()
            return
        asked = {"method": self._name, **given}
        description = await self.controller.run_short("catalogue.describe", family="treatment", given=asked)
        if self._state.is_deleted or self.form is None:
            return
        self._state.set_text(description["wrong"] or description["words"])
        self._state.classes(**{"add" if description["wrong"] else "remove": "bad-text"})
        self._add.set_enabled(not description["wrong"] and bool(self._column.value))

    def _take(self) -> None:
        assert self.form is not None
        self.own.take(str(self._column.value), {"method": self._name, **self.form.given()})
        self.dialog.close()
