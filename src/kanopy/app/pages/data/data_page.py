"""Data: open a table, look at its rows and columns, and say what each column is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import events, ui

from kanopy._errors import KanopyError
from kanopy._table.roles import Role
from kanopy.app.pages.data.treatments import Treatments
from kanopy.app.pages.page import Page
from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.task_cache import READING
from kanopy.app.widgets.elements import (
    Pager,
    button,
    card,
    heading,
    labelled,
    named,
    number,
    share,
    spark,
    tiles,
    tip,
    title,
)  # fmt: skip
from kanopy.app.widgets.grid import Choice, Grid

ROLES = {
    Role.IDENTIFIER: "Identifier", Role.QUASI_IDENTIFIER: "Quasi", Role.SENSITIVE: "Sensitive",
    Role.INSENSITIVE: "Insensitive", Role.UNDECIDED: "Undecided", Role.WITHHELD: "Withheld",
    Role.UNIT: "Unit",
}  # fmt: skip
ABOUT_ROLES = (
    "Identifier: says who a row is about, never leaves. Quasi-identifier: others may know it, generalized. Sensitive: "
    "must not be learnt about a person. Insensitive: published as it is. Undecided: not published until you decide. "
    "Withheld: not published, such as a sampling weight. "
    "Unit: whose row it is, where several rows are about one person."
)
EACH_ROW_ALONE = (
    "Each row is about another person. Where several rows are about one, give the column that says whose it is "
    "the role Unit."
)
PAGE_ROWS = 20
COLUMNS_AT_ONCE, LINES_AT_ONCE = 25, 40
NONE = ""
SURE, UNSURE = "sure", "unsure"


class DataPage(Page):
    """Where the work begins."""

    path, name, icon = "/", "Data", "table_view"
    needs_table = False

    def build(self) -> None:
        """Write the page."""
        self._built_for = self._basis()
        self.__dict__.pop("_shown", None)
        if not self.controller.project.work.source:
            title("Which table is it?", "Nothing leaves this machine: the page is served from here, to here.")
            with ui.element("div").classes("two"):
                self._openers()
            return
        with ui.element("div").classes("row-flex"):
            title("Data", "Say what each column is; what is undecided stays at home.")
            ui.element("div").classes("grow")
            button("Open another table", self._ask_other, icon="folder_open")
        self._tiles = ui.element("div")
        with card("columns-box"):
            with ui.element("div").classes("row-flex"):
                heading("Columns")
                self._wanted = ui.input(placeholder="Find a column").props("outlined dense clearable")
                labelled(self._wanted, "Find a column").on_value_change(lambda: self._write_columns())
                self._wanted.set_visibility(len(self.controller.project.work.columns) > LINES_AT_ONCE // 2)
                self._all = ui.select({str(key): text for key, text in ROLES.items()}, label="All of these are …")
                self._all.props("outlined dense options-dense").style("min-width:190px")
                self._all.on_value_change(self.attempt(lambda event: self._decide_all(event.value)))
                tip(self._all, "Gives every column whose name holds what is looked for this role, in one step")
                self._all.set_visibility(len(self.controller.project.work.columns) > LINES_AT_ONCE // 2)
                ui.element("div").classes("grow")
                self._lines = Pager("columns", LINES_AT_ONCE, self._write_columns)
            with ui.element("div").classes("columns") as self._columns:
                ui.spinner(size="lg")
        self._total: int | None = None
        self._fill_columns(self.controller.if_cached("table.profiles", READING))
        with card():
            heading("Whose rows, and how many people each stands for")
            self._people()
        self.treatments = Treatments(self)
        with card():
            names = [str(column["column"]) for column in self.controller.project.work.columns]
            with ui.element("div").classes("row-flex"):
                heading("Rows")
                ui.element("div").classes("grow")
                self._across = Pager("columns of the rows", COLUMNS_AT_ONCE, self.attempt(lambda at: self._turn(at)))
                self._down = Pager("rows", PAGE_ROWS, self.attempt(lambda first: self._page(first)))
            self._across.at(0, len(names))
            self._names = names[:COLUMNS_AT_ONCE]
            self._grid = Grid(label="Rows of the table", aligned={0: "right"}, tall=True)
        self.later(self._load)

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
        name = event.file.name
        source = self.controller.project.keep_upload(name, await event.file.read())
        await self._open(source, name=name)

    async def _opened(self, source: str) -> None:
        if source.strip():
            await self._open(source.strip())

    async def _example(self) -> None:
        from kanopy._table import datasets  # brings the dataframe library along, which the first page does without

        await self._open(str(datasets.path("adult.parquet")), name="the example", example=True)

    # ---- columns ------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        await self._turn(self._across.first)
        self.here()
        if not hasattr(self, "_shown"):
            found = await self.controller.cached("table.profiles", READING)
            self.here()
            self._fill_columns(found)

    def _fill_columns(self, found: list[dict[str, Any]] | None) -> None:
        """Write the columns, if it is known already what they look like."""
        if found is not None:
            self._profiles = {each["column"]: each for each in found}
            self._order = [str(column["column"]) for column in self._ordered()]
            self._write_columns()

    def _ordered(self) -> list[Mapping[str, Any]]:
        """Undecided columns first, then those whose role is unsure, then all others as they stand in the table."""
        roles = self.controller.project.work.job.roles

        def position(column: Mapping[str, Any]) -> int:
            if roles.get(column["column"], Role.UNDECIDED) == Role.UNDECIDED:
                return 0
            return 1 if column["certainty"] == UNSURE else 2

        return sorted(self.controller.project.work.columns, key=position)

    def _write_tiles(self) -> None:
        work = self.controller.project.work
        undecided = sum(work.job.roles.get(c["column"], Role.UNDECIDED) == Role.UNDECIDED for c in work.columns)
        self._tiles.clear()
        with self._tiles:
            tiles(
                ("…" if self._total is None else f"{self._total:,}", "rows"), (len(work.columns), "columns"),
                (undecided, "undecided", "stay at home" if undecided else "nothing is open"),
                (len(work.job.quasi), "quasi", "others may know them"),
            )  # fmt: skip

    def _write_columns(self, first: int = 0) -> None:
        """The columns whose name holds what is looked for, a part at a time; their order stays while roles change."""
        self._write_tiles()
        about = {str(column["column"]): column for column in self.controller.project.work.columns}
        wanted = str(self._wanted.value or "").casefold()
        found = [name for name in self._order if wanted in name.casefold()]
        self._found = found
        self._lines.at(first, len(found))
        self._columns.clear()
        self._shown: dict[str, tuple[Any, Choice]] = {}
        with self._columns:
            with ui.element("div").classes("column-line column-head"):
                ui.label("Column")
                ui.label("Values")
                named("distinct", "Different")
                named("missing")
                named("unique")
                tip(ui.label("Role"), ABOUT_ROLES)
            for name in found[first : first + LINES_AT_ONCE]:
                self._line(about[name], self._role(name))

    def _role(self, name: str) -> str:
        return str(self.controller.project.work.job.roles.get(name, Role.UNDECIDED))

    def _line(self, column: Mapping[str, Any], role: str) -> None:
        name = str(column["column"])
        facts = self._profiles.get(name, {})
        with ui.element("div").classes("column-line" + (" undecided" if role == Role.UNDECIDED else "")) as line:
            with ui.element("div").style("min-width:0"):
                tip(ui.label(name).classes("name"), name)
                ui.label(str(facts.get("type", ""))).classes("muted small")
            spread = spark(facts.get("bars", []), f"Histogram of {name}")
            if facts.get("bars"):
                tip(spread, f"{facts['low']} … {facts['high']}")
            distinct = facts.get("distinct")
            number("–" if distinct is None else f"{distinct:,}", "distinct")
            number(f"{facts.get('missing', 0):,}", "missing")
            number(share(facts.get("unique")), "unique")
            toggle = labelled(Choice({str(key): text for key, text in ROLES.items()}, role), f"Role of {name}")
            toggle.on_value_change(self.attempt(lambda event, name=name: self._decide(name, event.value)))
            with ui.element("div").classes("why row-flex").style("gap:6px"):
                sure = str(column["certainty"])
                kind = "good" if sure == SURE else "warn" if sure == UNSURE else ""
                guess = ui.label(f"{column['role']} · {sure}").classes(f"chip {kind}").style("flex-shrink:0")
                tip(guess, "The guess, and how sure it is")
                ui.label(str(column["reason"]))
                if column["missing"]:
                    ui.label(f"Means missing: {', '.join(map(str, column['missing'][:5]))}").classes("chip")
        self._shown[name] = line, toggle

    async def _decide(self, name: str, role: str) -> None:
        if role != self._role(name):
            await self.controller.set_roles([name], role)

    async def _decide_all(self, role: str | None) -> None:
        if role is not None:
            self._all.set_value(None)
            await self.controller.set_roles(self._found, role)

    def _people(self) -> None:
        job = self.controller.project.work.job
        names = [str(column["column"]) for column in self.controller.project.work.columns]
        self._about_people: dict[str, Any] = {}
        with ui.element("div").classes("row-flex"):
            for label, field, value in (
                ("Sampling weight", "sampling_weight", job.sampling_weight), ("Household", "household", job.household),
            ):  # fmt: skip
                chosen = ui.select({NONE: "none", **{name: name for name in names}}, value=value or NONE, label=label)
                chosen.props("outlined dense options-dense").style("min-width:220px")
                self._about_people[field] = chosen
                chosen.on_value_change(
                    self.attempt(lambda event, field=field, label=label: self._set_people(field, label, event.value))
                )
            said = str(job.known or "")
            known = ui.input(label="Rows of one person others may know", value=said).props("outlined dense")
            known.style("min-width:260px").set_enabled(bool(job.unit))
            self._about_people["known"] = known
            known.on("change", self.attempt(lambda *_: self._set_known(known.value)))
        errors_shown = f"k counts {', '.join(job.unit)}, not rows." if job.unit else EACH_ROW_ALONE
        ui.label(errors_shown).classes("muted small")

    def _set_people(self, field: str, label: str, value: str | None) -> None:
        """Name a weight or household; what is refused is not shown as chosen."""
        before = getattr(self.controller.project.work.job, field)
        if (value or None) == before:
            return
        try:
            self.controller.set_job(f"{label.lower()}: {value or 'none'}", **{field: value or None})
        except KanopyError:
            self._about_people[field].set_value(before or NONE)
            raise

    def _set_known(self, value: str) -> None:
        known: int | str | None = int(value) if value.isdigit() else value or None
        self.controller.set_job(f"known rows: {value}", known=known)

    # ---- rows ---------------------------------------------------------------------------------------------

    async def _turn(self, at: int) -> None:
        """Show other columns of the rows."""
        names = [str(column["column"]) for column in self.controller.project.work.columns]
        self._across.at(at, len(names))
        self._names = names[at : at + COLUMNS_AT_ONCE]
        self._grid.head(["row", *self._names])
        await self._page(self._down.first)

    async def _page(self, first: int) -> None:
        found = await self.controller.run_short(
            "table.rows", source=self.controller.project.source, first=first, number=PAGE_ROWS, columns=self._names
        )
        self.here()
        if self._total != found["total"]:
            self._total = found["total"]
            self._write_tiles()
        self._down.at(first, found["total"])
        self._grid.fill([[f"{first + at + 1:,}", *row] for at, row in enumerate(found["rows"])])

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
            for field, chosen in self._about_people.items():
                chosen.set_value(str(getattr(work.job, field) or NONE))
            self._write_tiles()
            self.treatments.write()
            for name, (line, toggle) in self._shown.items():
                role = self._role(name)
                toggle.set_value(role)
                line.classes(**{"add" if role == Role.UNDECIDED else "remove": "undecided"})
