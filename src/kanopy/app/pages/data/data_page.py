"""Data: open a table, look at its rows and columns, and say what each column is."""

from __future__ import annotations

from typing import Any

from nicegui import events, ui

from kanopy._table.roles import Role
from kanopy.app.pages.data.columns_page import ColumnsPage
from kanopy.app.pages.data.importing import Importing
from kanopy.app.pages.data.preparing import TESTS, Preparing
from kanopy.app.pages.data.projects import Projects
from kanopy.app.pages.data.treatments import Treatments
from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.task_cache import READING
from kanopy.app.widgets.elements import Pager, button, card, heading, labelled, title  # fmt: skip
from kanopy.app.widgets.fields import choice_field, number_field, text_field, tick_field
from kanopy.app.widgets.grid import Grid

EACH_ROW_ALONE = (
    "Each row is about another person. Where several rows are about one, give the column that says whose it is "
    "the role Unit."
)
PAGE_ROWS = 20
JOB_LIMIT = 20 * 1024**2
COLUMNS_AT_ONCE, LINES_AT_ONCE = 25, 40
NONE = ""
SURE, UNSURE = "sure", "unsure"


class DataPage(ColumnsPage):
    """Where the work begins."""

    path, name, icon = "/", "Data", "table_view"
    needs_table = False

    def build(self) -> None:
        """Write the page."""
        self._built_for = self._basis()
        self.__dict__.pop("_shown", None)
        if not self.controller.project.work.source:
            with ui.element("div").classes("row-flex"):
                title("Which table is it?", "Nothing leaves this machine: the page is served from here, to here.")
                ui.element("div").classes("grow")
                self._projects_button()
            with ui.element("div").classes("two"):
                self._openers()
            return
        with ui.element("div").classes("row-flex"):
            title("Data", "Say what each column is. Undecided columns are not published.")
            ui.element("div").classes("grow")
            button("Prepare …", self.attempt(lambda *_: Preparing(self)), icon="content_cut",
                   hint="Choose rows, draw a sample, replace values, change types, join a table")  # fmt: skip
            button("How it is read …", self.attempt(lambda *_: Importing(self, self.controller.project.source)),
                   icon="tune", hint="Separator, encoding, header row, sheet, missing codes")  # fmt: skip
            button("Use a job file …", self.attempt(lambda *_: self._ask_job()), icon="upload_file")
            button("Open another table", self._ask_other, icon="folder_open")
            self._projects_button()
        self._tiles = ui.element("div")
        self._columns_card()
        self._total: int | None = None
        self._fill_columns(self.controller.if_cached("table.profiles", READING))
        with card():
            heading("Whose rows")
            self._people()
        self.treatments = Treatments(self)
        with card():
            names = [str(column["column"]) for column in self.controller.project.work.columns]
            with ui.element("div").classes("row-flex"):
                heading("Rows")
                ui.element("div").classes("grow")
                self._across = Pager("columns of the rows", COLUMNS_AT_ONCE, self.attempt(lambda at: self._turn(at)))
                self._down = Pager("rows", PAGE_ROWS, self.attempt(lambda first: self._page(first)))
            with ui.element("div").classes("fields"):
                self._where = [
                    choice_field("Filter by", {NONE: "all rows", **{name: name for name in names}}, NONE),
                    choice_field("Comparison", TESTS, TESTS[0]), text_field("Value"),
                ]  # fmt: skip
                self._sorted = choice_field(
                    "Sort by", {NONE: "as in the table", **{name: name for name in names}}, NONE
                )
                self._reverse = tick_field("descending")
                self._jump = number_field("Go to row", None, low=1)
            for field in (*self._where[:2], self._sorted, self._reverse):
                field.on_value_change(self.attempt(lambda *_: self._page(0)))
            self._where[2].on("change", self.attempt(lambda *_: self._page(0)))
            self._jump.on("change", self.attempt(lambda *_: self._page(max(int(self._jump.value or 1) - 1, 0))))
            self._across.at(0, len(names))
            self._names = names[:COLUMNS_AT_ONCE]
            self._grid = Grid(label="Rows of the table", aligned={0: "right"}, tall=True)
        self.later(self._load)

    def _projects_button(self) -> None:
        button("Projects …", self.attempt(lambda *_: Projects(self)), icon="folder_copy",
               hint="Open, begin or delete a project")  # fmt: skip

    # ---- opening ------------------------------------------------------------------------------------------

    def _openers(self) -> None:
        with card("drop"):
            heading("Upload a file")
            ui.label("CSV, Parquet, Excel or Arrow; separator, encoding and types are found out.").classes("muted")
            upload = ui.upload(
                label="Drop a file here, or press +", auto_upload=True, max_files=1, max_file_size=UPLOAD_LIMIT
            )
            upload.on_upload(self.attempt(self._uploaded))
            upload.on(
                "rejected",
                lambda: ui.notify("The file is too large for an upload: name its path instead.", type="negative"),
            )
            labelled(upload, "Upload a table")
        with card():
            heading("Open a file, a database or an address")
            ui.label("people.csv, people.duckdb::visits, postgresql://user@host/db::table").classes("muted")
            address = ui.input(label="Path or address").props("outlined dense")
            address.on("keydown.enter", self.attempt(lambda *_: self._opened(address.value)))
            button("Open", self.attempt(lambda *_: self._opened(address.value)), kind="main", icon="folder_open")
            heading("Or try it on the example", 3)
            ui.label("Adult: 48,842 people of the United States census of 1994, with hierarchies.").classes("muted")
            button("Open the example", self.attempt(lambda *_: self._example()), icon="science")
            if not self.controller.project.work.source:
                heading("Or go on with a project", 3)
                with ui.element("div").classes("drop"):
                    pack = ui.upload(label="Drop a project file (.kanopy), or press +", auto_upload=True, max_files=1,
                                     max_file_size=UPLOAD_LIMIT)  # fmt: skip
                pack.on_upload(self.attempt(self._unpacked))
                labelled(pack, "Open a project file")

    def _ask_other(self) -> None:
        with self.dialog("Open another table", "max-width:900px;width:900px") as self._other:
            ui.label("The present work can be brought back with undo.").classes("muted")
            with ui.element("div").classes("two"):
                self._openers()

    async def _open(self, source: str, **about: Any) -> None:
        await self.controller.open(source, **about)
        if hasattr(self, "_other"):
            self._other.close()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        source = await self.controller.keep_upload(event.file)
        await self._open(source, name=event.file.name)

    async def _unpacked(self, event: events.UploadEventArguments) -> None:
        await self.controller.unpack(event.file)

    async def _use_job(self, event: events.UploadEventArguments) -> None:
        await self.controller.use_job(event.file.name, await event.file.read())
        self._jobs.close()

    def _ask_job(self) -> None:
        with self.dialog("Use a job file") as self._jobs:
            ui.label("job.toml, or the job.zip of Download with its hierarchies").classes("muted")
            upload = ui.upload(label="Drop a file, or press +", auto_upload=True, max_files=1, max_file_size=JOB_LIMIT)
            upload.on_upload(self.attempt(self._use_job))
            labelled(upload, "Upload a job file")

    async def _opened(self, source: str) -> None:
        if source.strip():
            await self._open(source.strip())

    async def _example(self) -> None:
        from kanopy._table import datasets  # brings the dataframe library along, which the first page does without

        await self._open(str(datasets.path("adult.parquet")), name="the example", example=True)

    # ---- rows of people -------------------------------------------------------------------------------

    async def _load(self) -> None:
        await self._turn(self._across.first)
        self.here()
        if not hasattr(self, "_shown"):
            profiles = await self.controller.cached("table.profiles", READING)
            self.here()
            self._fill_columns(profiles)

    def _people(self) -> None:
        job = self.controller.project.work.job
        said = str(job.known or "")
        with ui.element("div").classes("row-flex"):
            self._known = text_field("Rows of one person others may know", said, hint="1, more, or all")
            self._known.style("min-width:290px").set_enabled(bool(job.unit))
            self._known.on("change", self.attempt(lambda *_: self._set_known(str(self._known.value or ""))))
            words = f"k counts {', '.join(job.unit)}, not rows." if job.unit else EACH_ROW_ALONE
            ui.label(words).classes("muted small")

    def _set_known(self, value: str) -> None:
        rows_known: int | str | None = int(value) if value.isdigit() else value or None
        self.controller.set_job(f"known rows: {value}", known=rows_known)

    # ---- rows ---------------------------------------------------------------------------------------------

    async def _turn(self, at: int) -> None:
        """Show other columns of the rows."""
        names = [str(column["column"]) for column in self.controller.project.work.columns]
        self._across.at(at, len(names))
        self._names = names[at : at + COLUMNS_AT_ONCE]
        self._grid.head(["row", *self._names])
        await self._page(self._down.first)

    async def _page(self, first: int) -> None:
        column, test, value = (str(each.value or "") for each in self._where)
        where = (
            {"column": column, "test": test, "value": value} if column and (value or test.startswith("is ")) else None
        )
        found = await self.controller.run_short(
            "table.rows", source=self.controller.project.source, first=first, number=PAGE_ROWS, columns=self._names,
            where=where, order=str(self._sorted.value or ""), descending=bool(self._reverse.value),
        )  # fmt: skip
        self.here()
        if where is None and self._total != found["total"]:
            self._total = found["total"]
            self._write_tiles()
        self._down.at(first, found["total"])
        self._grid.fill([[f"{at + 1:,}", *row] for at, row in zip(found["numbers"], found["rows"], strict=True)])

    def _basis(self) -> tuple[Any, ...]:
        """What must be the same for lines to stay where they are."""
        work = self.controller.project.work
        return work.source, work.table, work.job.unit

    def state(self) -> Any:
        """Columns, roles and people: nothing else is shown here."""
        work = self.controller.project.work
        job = work.job
        people = job.household, job.sampling_weight, job.known
        return work.source, work.table, job.roles, *people, tuple(job.protect.items())

    def update(self) -> None:
        """Roles alone have changed: they are set where they stand, all else stays."""
        work = self.controller.project.work
        if self._basis() != self._built_for or not hasattr(self, "_shown"):
            super().update()
        else:
            self._known.set_value(str(work.job.known or ""))
            self._write_tiles()
            self.treatments.write()
            for name, (line, toggle) in self._shown.items():
                role = self._role(name)
                toggle.set_value(role)
                line.classes(**{"add" if role == Role.UNDECIDED else "remove": "undecided"})
