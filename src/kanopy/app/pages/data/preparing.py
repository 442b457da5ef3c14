"""Preparing a table: choose rows, draw a sample, empty or replace values, change types, join another table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.widgets.elements import button, heading, labelled
from kanopy.app.widgets.fields import choice_field, fields, number_field, text_field
from kanopy.app.widgets.grid import Grid

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

TESTS = ("=", "≠", "<", "≤", ">", "≥", "contains", "is missing", "is not missing")
STEPS = {
    "keep": "Keep rows that …", "sample": "Draw a sample of rows", "missing": "Set values to missing where …",
    "replace": "Replace values where …", "type": "Change a type: number or text",
    "join": "Join columns of another table",
}  # fmt: skip


class Preparing:
    """A dialog with one step; what it would do is shown, and the result is a table of its own."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        self._names = [str(column["column"]) for column in self.controller.project.work.columns]
        with page.dialog("Prepare the table", "width:min(980px, 94vw);max-width:94vw") as self.dialog:
            ui.label(
                "The result is a table of its own, which is opened; the original stays as it is, and the record says "
                "what was done. Undo goes back."
            ).classes("muted small")
            self._step = choice_field("Step", STEPS, "keep")
            self._step.on_value_change(lambda: self._write())
            self._box = ui.element("div").classes("stack tight")
            with ui.element("div").classes("row-flex"):
                button("Look", page.attempt(lambda *_: self._look()), icon="visibility")
                button("Make this table", page.attempt(lambda *_: self._make()), kind="main")
            self._shown = ui.element("div").classes("stack tight")
        self._write()

    def _write(self) -> None:
        self._box.clear()
        self._shown.clear()
        step, names = str(self._step.value), self._names
        self._read: dict[str, Any] = {}
        with self._box, fields():
            if step in ("keep", "missing", "replace"):
                self._read["column"] = choice_field("Column", names, names[0])
                self._read["test"] = choice_field("Comparison", TESTS, TESTS[0])
                self._read["value"] = text_field("Value")
            if step == "replace":
                self._read["new"] = text_field("New value")
            if step == "sample":
                self._read["rows"] = number_field("Rows of the sample", None, low=1)
                self._read["seed"] = number_field("Seed", 0, low=0)
            if step == "type":
                self._read["column"] = choice_field("Column", names, names[0])
                self._read["type"] = choice_field("Type", ("number", "text"), "text")
            if step == "join":
                self._read["key"] = choice_field("Column that both have", names, names[0])
                self._read["other"] = text_field("Path or address of the table to join")
                upload = ui.upload(label="or drop it here", auto_upload=True, max_files=1, max_file_size=UPLOAD_LIMIT)
                upload.on_upload(self.page.attempt(self._uploaded))
                labelled(upload, "Upload the table to join")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        source = await self.controller.keep_upload(event.file)
        self._read["other"].set_value(source)

    def _given(self) -> dict[str, Any]:
        step = {"do": str(self._step.value), **{name: each.value for name, each in self._read.items()}}
        if step["do"] == "join":
            step["other"] = self.controller.other_table(str(step["other"] or "").strip())
        return step

    async def _look(self) -> None:
        found = await self.controller.run_short(
            "prepare.preview", source=self.controller.project.source, step=self._given()
        )
        if self._shown.is_deleted:
            return
        self._shown.clear()
        with self._shown:
            heading(f"{found['words']}. {found['total']:,} rows.", 3)
            Grid(found["columns"], label="The first rows of the prepared table").fill(found["rows"])

    async def _make(self) -> None:
        words = await self.controller.prepare(self._given(), self.page.session.who)
        self.dialog.close()
        ui.notify(f"Prepared: {words}.", position="bottom-left")
