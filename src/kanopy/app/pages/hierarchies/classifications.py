"""Choosing a classification: search names and codes, look at its levels and codes, take one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from kanopy.app.task_cache import READING
from kanopy.app.widgets.elements import button, labelled, share
from kanopy.app.widgets.fields import choice_field, text_field

if TYPE_CHECKING:
    from kanopy.app.pages.hierarchies.hierarchies_page import HierarchiesPage

UPLOAD_LIMIT = 200 * 1024**2


class ClassificationChoice:
    """A list of classifications, those that know the column's values first, and the codes of one."""

    def __init__(self, page: HierarchiesPage, chosen: Callable[[], Any]) -> None:
        self.page, self.controller, self._chosen = page, page.controller, chosen
        self.name = ""
        """The classification that was taken: a name, a version, or a file."""
        search = text_field("Find a classification, a code or a label")
        search.on("change", page.attempt(lambda *_: self._list(str(search.value or ""))))
        search.on("keydown.enter", page.attempt(lambda *_: self._list(str(search.value or ""))))
        self._found = ui.element("div").classes("catalogue")
        self._codes = ui.element("div").classes("stack tight")
        with ui.element("div").classes("drop"):
            upload = ui.upload(
                label="or drop a file of your own (CSV, ClaML, SKOS, RF2)", auto_upload=True, max_files=1,
                max_file_size=UPLOAD_LIMIT,
            )  # fmt: skip
            upload.on_upload(page.attempt(self._uploaded))
            labelled(upload, "Upload a classification")
        page.later(lambda: self._list(""))

    async def _list(self, words: str) -> None:
        classifications = await self.controller.cached(
            "methods.classifications", READING, heavy=True, column=self.page.column, words=words
        )
        if self._found.is_deleted:
            return
        self._found.clear()
        with self._found:
            if not classifications:
                ui.label("No classification, code or label holds this. Give a file of your own.").classes("muted small")
            for classification in classifications:
                self._line(classification)

    def _line(self, classification: Mapping[str, Any]) -> None:
        with ui.element("div").classes("classification"):
            with ui.element("div").style("min-width:0"):
                ui.label(f"{classification['name']} · {classification['title']}").classes("strong")
                about = ", ".join(classification["levels"]) or f"Needs {classification['needs']}."
                ui.label(about + (f" Found: {classification['hit']}." if classification["hit"] else "")).classes(
                    "muted small wrap"
                )
                if classification["rate"] is not None and 0 < classification["rate"] < 1:
                    ui.label(f"Not in it: {', '.join(classification['unmatched'])}").classes("muted small wrap")
            if classification["rate"] is not None:
                kind = "good" if classification["rate"] >= 0.8 else "warn" if classification["rate"] > 0 else ""
                ui.label(f"{share(classification['rate'])} of the values").classes(f"chip {kind}")
                button("Look", self.page.attempt(lambda *_: self._look(classification["name"], "")), kind="quiet",
                       hint=f"Look at {classification['name']}")  # fmt: skip
                with ui.element("div"):
                    if len(classification["versions"]) > 1:
                        version = choice_field(
                            f"Version of {classification['name']}",
                            classification["versions"],
                            classification["versions"][0],
                        )
                        take = self.page.attempt(lambda *_: self._take(str(version.value)))
                    else:
                        take = self.page.attempt(lambda *_: self._take(classification["name"]))
                    button("Choose", take, hint=f"Choose {classification['name']}")

    def _take(self, name: str) -> None:
        self.name = name
        self._codes.clear()
        with self._codes:
            ui.label(f"Chosen: {name}").classes("chip good")
        self._chosen()

    async def _look(self, name: str, code: str) -> None:
        codes = await self.controller.cached("methods.codes_of", None, classification=name, code=code, language="")
        if self._codes.is_deleted:
            return
        self._codes.clear()
        with self._codes:
            ui.label(f"{codes['title']}. {codes['licence']}").classes("small wrap")
            with ui.element("div").classes("row-flex"):
                button("All", self.page.attempt(lambda *_: self._look(name, "")), kind="quiet", icon="home")
                for ancestor in codes["above"]:
                    go = self.page.attempt(lambda *_, parent_node=ancestor: self._look(name, parent_node["code"]))
                    button(f"{ancestor['code']} {ancestor['label']}"[:60], go, kind="quiet")
            with ui.element("div").classes("catalogue"):
                for ancestor in codes["below"]:
                    with ui.element("div").classes("row-flex"):
                        ui.label(f"{ancestor['code']}").classes("mono")
                        ui.label(ancestor["label"]).classes("wrap grow")
                        ui.label(ancestor["level"]).classes("chip")
                        if ancestor["below"]:
                            button(f"{ancestor['below']:,} below",
                                   self.page.attempt(lambda *_, code_below=ancestor: self._look(name,
                                   code_below["code"])),
                                   kind="quiet", hint=f"Look below {ancestor['code']}")  # fmt: skip
                if codes["more"]:
                    ui.label(f"and {codes['more']:,} more").classes("muted small")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        source = await self.controller.keep_upload(event.file)
        self._take(str(self.controller.project.folder / source))
