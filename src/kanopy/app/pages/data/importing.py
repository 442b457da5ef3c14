"""How a file is read: separator, encoding, header row, sheet, missing codes, with the rows that they give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._errors import shown_address
from kanopy.app.widgets.elements import button
from kanopy.app.widgets.fields import choice_field, fields, number_field, text_field
from kanopy.app.widgets.grid import Grid

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

FOUND = ""
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", "cp437", "cp850", "cp1250", "cp1251", "shift_jis", "gb18030")
DELIMITERS = {FOUND: "found out", ",": "comma", ";": "semicolon", "tab": "tab", "|": "bar", " ": "blank", ":": "colon"}
SETTLE_SECONDS = 0.5


class Importing:
    """A dialog with the settings of reading; the preview follows them."""

    def __init__(self, page: Page, source: str, problem: str = "") -> None:
        self.page, self.controller, self._source = page, page.controller, source
        work = self.controller.project.work
        own = work.source and self.controller.project.source == source
        job: Any = work.job if own else None
        self._timer: Any = None
        with page.dialog("How the table is read", "width:min(1100px, 95vw);max-width:95vw") as self.dialog:
            ui.label(Path(shown_address(source)).name).classes("muted small")
            if problem:
                ui.label(problem).classes("bad-text wrap")
            with fields():
                self._delimiter = choice_field("Separator", DELIMITERS, (job and job.delimiter) or FOUND)
                self._encoding = choice_field(
                    "Encoding",
                    {FOUND: "found out", **{name: name for name in ENCODINGS}},
                    (job and job.encoding) or FOUND,
                )
                self._header = number_field("Header row", job and job.header_row, low=1, hint="Found out if empty")
                self._skip = number_field("Rows below it that are no records", (job and job.skip_rows) or 0, low=0)
                self._sheet = text_field("Sheet", (job and job.sheet) or "", hint="Of a workbook; found out if empty")
                tokens = list(job.missing_tokens) if job else []
                self._tokens = ui.select(tokens, label="Codes that mean missing, each with Enter", value=tokens,
                                         multiple=True, new_value_mode="add-unique")  # fmt: skip
                self._tokens.props("outlined dense use-chips").classes("field")
                columns = [str(column["column"]) for column in work.columns] if own else []
                commas = [name for name, sign in (job.decimals if job else {}).items() if sign == ","]
                self._commas = choice_field("Columns with decimal commas", columns, commas, several=True)
            self._state = ui.label("").classes("bad-text wrap")
            self._facts = ui.label("").classes("muted small")
            self._grid = Grid(label="The first rows as they are read")
            for each in (self._delimiter, self._encoding, self._header, self._skip, self._sheet, self._tokens,
                         self._commas):  # fmt: skip
                each.on_value_change(lambda: self._settle())
            with ui.element("div").classes("row-flex"):
                self._take = button("Read it so", page.attempt(lambda *_: self._read()), kind="main")
                ui.label("Roles are guessed again; undo goes back.").classes("muted small")
        self._settle()

    def _settle(self) -> None:
        if self._timer is not None:
            self._timer.deactivate()
        with self.dialog:
            self._timer = ui.timer(SETTLE_SECONDS, self.page.attempt(lambda *_: self._look()), once=True)

    def _layout(self) -> dict[str, Any]:
        """The settings of a job that say how its file is read."""
        found: Mapping[str, Any] = {
            "delimiter": self._delimiter.value or None, "encoding": self._encoding.value or None,
            "header_row": int(self._header.value) if self._header.value else None, "sheet": self._sheet.value or None,
            "skip_rows": int(self._skip.value or 0), "missing_tokens": tuple(self._tokens.value or ()),
            "decimals": dict.fromkeys(self._commas.value or (), ","),
        }  # fmt: skip
        return dict(found)

    async def _look(self) -> None:
        asked = self._layout()
        found = await self.controller.run_short("prepare.reading", source=self._source, layout=asked)
        if self._state.is_deleted or asked != self._layout():
            return
        self._state.set_text(found["wrong"])
        self._take.set_enabled(not found["wrong"])
        if found["wrong"]:
            return
        notes = " ".join(found["notes"])
        self._facts.set_text(f"{found['total']:,} rows, {found['width']:,} columns. {notes}")
        heads = [f"{name} ({kind})" for name, kind in zip(found["columns"], found["types"], strict=True)]
        self._grid.head(heads)
        self._grid.fill(found["rows"])

    async def _read(self) -> None:
        project, layout = self.controller.project, self._layout()
        source = self._source
        name = Path(shown_address(source)).name
        inside = source.startswith(str(project.folder / "data"))
        await self.controller.open(f"data/{name}" if inside else source, name=name, layout=layout, keep_job=False)
        self.dialog.close()
