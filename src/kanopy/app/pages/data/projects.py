"""The projects beside the present one: a list to open, begin and delete them. One of them is open at a time."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nicegui import ui

from kanopy._errors import DataError, JobError, shown_address
from kanopy.app.history import FORMAT
from kanopy.app.packing import FILES, PARTS
from kanopy.app.project import lock_folder, safe_name
from kanopy.app.widgets.elements import button, heading
from kanopy.app.widgets.fields import text_field

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

SECRETS = ("key", "theme", "open.html", ".lock")
MOST_LISTED = 200


@dataclass(frozen=True)
class Listed:
    """A project of a list."""

    folder: Path
    table: str
    changed: str


def projects_beside(present: Path) -> list[Listed]:
    """The projects in the folder in which the present one is, the newest first."""
    found: list[tuple[float, Listed]] = []
    for index in present.parent.glob("*/project.json"):
        try:
            plain = json.loads(index.read_text("utf-8"))
            if plain["format"] != FORMAT:
                continue
            state = index.parent / "states" / f"{plain['states'][plain['now']]:06d}.json"
            source = str(json.loads(state.read_text("utf-8"))["source"])
            moment = index.stat().st_mtime
        except (OSError, ValueError, KeyError, IndexError, TypeError):
            continue
        when = dt.datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")
        found.append((moment, Listed(index.parent, Path(shown_address(source)).name if source else "no table", when)))
    return [listed for _, listed in sorted(found, key=lambda each: -each[0])][:MOST_LISTED]


def delete_project(folder: Path) -> None:
    """Remove the files of a project for good, and its folder if nothing else is in it; refused while it is open."""
    handle = lock_folder(folder)
    try:
        # What says that it is a project goes first: the rest of a removal that was cut short is none.
        for name in ("project.json", *FILES, *SECRETS[:-1]):
            (folder / name).unlink(missing_ok=True)
        for part in PARTS:
            shutil.rmtree(folder / part, ignore_errors=True)
    finally:
        (folder / SECRETS[-1]).unlink(missing_ok=True)
        if handle >= 0:
            os.close(handle)
    with contextlib.suppress(OSError):
        folder.rmdir()


class Projects:
    """The dialog."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        with page.dialog("Projects", "width:min(760px, 94vw);max-width:94vw") as self.dialog:
            ui.label(
                f"In {self.controller.project.folder.parent}. Opening one closes the present one in every window; each "
                "keeps its steps, releases and record."
            ).classes("muted small wrap")
            self._list = ui.element("div").classes("stack tight")
            heading("New project", 3)
            with ui.element("div").classes("row-flex"):
                self._name = text_field("Name of the new project")
                button("Begin", page.attempt(lambda *_: self._begin()), kind="main", hint="Begin a new project")
        self._write()

    def _write(self) -> None:
        self._list.clear()
        with self._list:
            for listed in projects_beside(self.controller.project.folder):
                self._line(listed)

    def _line(self, listed: Listed) -> None:
        present, name = listed.folder == self.controller.project.folder, listed.folder.name
        with ui.element("div").classes("stored"):
            with ui.element("div").style("min-width:0"):
                ui.label(name).classes("strong wrap")
                ui.label(f"{listed.table}, changed {listed.changed}").classes("muted small wrap")
            if present:
                ui.label("open").classes("chip good")
                return
            button("Open", self.page.attempt(lambda *_: self._open(listed.folder)), hint=f"Open the project {name}")
            button("", lambda: self._ask(listed.folder), icon="delete", kind="quiet", hint=f"Delete the project {name}")

    def _open(self, folder: Path) -> None:
        self.controller.switch_project(folder)
        self.dialog.close()
        ui.navigate.to("/")

    def _begin(self) -> None:
        name = str(self._name.value or "").strip()
        if not name or safe_name(name) != name:
            raise JobError("Name the project with letters, digits, dots and hyphens, such as survey-2026.")
        folder = self.controller.project.folder.parent / name
        if folder.exists() and any(folder.iterdir()):
            raise DataError(f"There is a folder {name!r} already. Choose another name.")
        self._open(folder)

    def _ask(self, folder: Path) -> None:
        with self.page.dialog(f"Delete the project {folder.name}?", "min-width:min(420px, 90vw)") as dialog:
            ui.label("Its uploaded tables, releases and its record are removed for good.")

            def done() -> None:
                delete_project(folder)
                dialog.close()
                self._write()

            with ui.element("div").classes("row-flex"):
                button("Delete", self.page.attempt(lambda *_: done()), kind="danger")
                button("Keep", dialog.close)
