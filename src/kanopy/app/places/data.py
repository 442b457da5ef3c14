"""Data: open a table, look at its rows and columns, and say what each column is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import events, ui

from kanopy._table.roles import Role
from kanopy.app.places.place import Place
from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.widgets.parts import Grid, button, card, heading, labelled, named, number, share, spark, tiles, title

ROLES = {
    Role.IDENTIFIER: "Identifier", Role.QUASI_IDENTIFIER: "Quasi", Role.SENSITIVE: "Sensitive",
    Role.INSENSITIVE: "Insensitive", Role.UNDECIDED: "Undecided", Role.UNIT: "Unit",
}  # fmt: skip
ABOUT_ROLES = (
    "Identifier: says who a row is about, never leaves. Quasi-identifier: others may know it, generalized. Sensitive: "
    "must not be learnt about a person. Insensitive: published as it is. Undecided: stays at home until you decide. "
    "Unit: whose row it is, where several rows are about one person."
)
EACH_ROW_ALONE = (
    "Each row is about another person. Where several rows are about one, give the column that says whose it is "
    "the role Unit."
)
PAGE_ROWS = 20
COLUMNS_AT_ONCE = 40
NONE = ""
SURE, UNSURE = "sure", "unsure"


class DataPlace(Place):
    """Where the work begins."""

    path, name, icon = "/", "Data", "table_view"
    needs_table = False

    def build(self) -> None:
        """Write the place."""
        self._roles: dict[str, ui.toggle] = {}
        if not self.desk.project.work.source:
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
            heading("Columns")
            with ui.element("div").classes("columns") as self._columns:
                ui.spinner(size="lg")
        with card():
            heading("Whose rows, and how many people each stands for")
            self._people()
        with card():
            self._first = 0
            with ui.element("div").classes("row-flex"):
                heading("Rows")
                ui.element("div").classes("grow")
                self._pager()
            names = [str(column["column"]) for column in self.desk.project.work.columns]
            self._names = names[:COLUMNS_AT_ONCE]
            with ui.element("div").style("overflow-x:auto"):
                self._grid = Grid(["row", *self._names], label="Rows of the table", aligned={0: "right"})
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
            place = ui.input(label="Path or address").props("outlined dense")
            place.on("keydown.enter", self.attempt(lambda *_: self._opened(place.value)))
            button("Open", self.attempt(lambda *_: self._opened(place.value)), kind="main", icon="folder_open")
            heading("Or try it on the example", 3)
            ui.label("Adult: 48,842 people of the United States census of 1994, with hierarchies.").classes("muted")
            button("Open the example", self.attempt(lambda *_: self._example()), icon="science")

    def _ask_other(self) -> None:
        with ui.dialog() as dialog, ui.card().style("max-width:900px;width:900px"):
            heading("Open another table")
            ui.label("The present work can be brought back with undo.").classes("muted")
            with ui.element("div").classes("two"):
                self._openers()
        dialog.open()

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        name = event.file.name
        source = self.desk.project.keep_upload(name, await event.file.read())
        await self.desk.open(source, name=name)

    async def _opened(self, source: str) -> None:
        if source.strip():
            await self.desk.open(source.strip())

    async def _example(self) -> None:
        from kanopy._table import datasets  # brings the dataframe library along, which the first page does without

        await self.desk.open(str(datasets.path("adult.parquet")), name="the example", example=True)

    # ---- columns ------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        await self._page(0)
        self.here()
        found = await self.desk.kept_of_table("table.profiles")
        self.here()
        self._profiles = {each["column"]: each for each in found}
        self._write_columns()

    def _ordered(self) -> list[Mapping[str, Any]]:
        """Undecided columns first, then those whose role is unsure, then all others as they stand in the table."""
        roles = self.desk.project.work.job.roles

        def place(column: Mapping[str, Any]) -> int:
            if roles.get(column["column"], Role.UNDECIDED) == Role.UNDECIDED:
                return 0
            return 1 if column["certainty"] == UNSURE else 2

        return sorted(self.desk.project.work.columns, key=place)

    def _write_columns(self) -> None:
        work = self.desk.project.work
        roles = work.job.roles
        undecided = [c for c in work.columns if roles.get(c["column"], Role.UNDECIDED) == Role.UNDECIDED]
        self._tiles.clear()
        with self._tiles:
            tiles(
                (f"{self._total:,}", "rows"), (len(work.columns), "columns"),
                (len(undecided), "undecided", "stay at home" if undecided else "nothing is open"),
                (len(work.job.quasi), "quasi", "others may know them"),
            )  # fmt: skip
        self._columns.clear()
        with self._columns:
            with ui.element("div").classes("column-line column-head"):
                ui.label("Column")
                ui.label("Values")
                named("distinct", "Different")
                named("missing")
                named("unique")
                with ui.label("Role"):
                    ui.tooltip(ABOUT_ROLES).classes("explanation")
            for column in self._ordered():
                self._line(column, roles.get(column["column"], str(Role.UNDECIDED)))

    def _line(self, column: Mapping[str, Any], role: str) -> None:
        name = str(column["column"])
        facts = self._profiles.get(name, {})
        with ui.element("div").classes("column-line" + (" undecided" if role == Role.UNDECIDED else "")):
            with ui.element("div").style("min-width:0"):
                ui.label(name).classes("name")
                ui.label(str(facts.get("type", ""))).classes("muted small")
            with ui.element("div"):
                spark(facts.get("bars", []), f"Histogram of {name}")
                if facts.get("bars"):
                    ui.tooltip(f"{facts['low']} … {facts['high']}")
            distinct = facts.get("distinct")
            number("–" if distinct is None else f"{distinct:,}", "distinct")
            number(f"{facts.get('missing', 0):,}", "missing")
            number(share(facts.get("unique")), "unique")
            toggle = ui.toggle({str(key): text for key, text in ROLES.items()}, value=role)
            toggle.classes("roles").props("no-caps unelevated dense toggle-color=primary")
            labelled(toggle, f"Role of {name}")
            toggle.on_value_change(self.attempt(lambda event, name=name: self.desk.set_role(name, event.value)))
            with ui.element("div").classes("why row-flex").style("gap:6px"):
                sure = str(column["certainty"])
                with ui.label(f"{column['role']} · {sure}").classes(
                    "chip " + ("good" if sure == SURE else "warn" if sure == UNSURE else "")
                ):
                    ui.tooltip("The guess, and how sure it is").classes("explanation")
                ui.label(str(column["reason"]))
                if column["missing"]:
                    ui.label(f"Means missing: {', '.join(map(str, column['missing'][:5]))}").classes("chip")

    def _people(self) -> None:
        job = self.desk.project.work.job
        names = [str(column["column"]) for column in self.desk.project.work.columns]
        with ui.element("div").classes("row-flex"):
            for label, field, value in (
                ("Household", "household", job.household), ("Sampling weight", "sampling_weight", job.sampling_weight),
            ):  # fmt: skip
                chosen = ui.select({NONE: "none", **{name: name for name in names}}, value=value or NONE, label=label)
                chosen.props("outlined dense options-dense").style("min-width:220px")
                chosen.on_value_change(self.attempt(lambda event, field=field, label=label: self.desk.set_job(
                    f"{label.lower()}: {event.value or 'none'}", **{field: event.value or None})))  # fmt: skip
            known = ui.input(label="Rows of one person others may know", value=str(job.known)).props("outlined dense")
            known.style("min-width:260px").set_enabled(bool(job.unit))
            known.on("change", self.attempt(lambda *_: self._set_known(known.value)))
        told = f"k counts {', '.join(job.unit)}, not rows." if job.unit else EACH_ROW_ALONE
        ui.label(told).classes("muted small")

    def _set_known(self, value: str) -> None:
        known: int | str = int(value) if value.isdigit() else value
        self.desk.set_job(f"known rows: {value}", known=known)

    # ---- rows ---------------------------------------------------------------------------------------------

    def _pager(self) -> None:
        with ui.element("div").classes("pager"):
            button("", self.attempt(lambda *_: self._page(0)), icon="first_page", kind="quiet", hint="First rows")
            button(
                "",
                self.attempt(lambda *_: self._page(self._first - PAGE_ROWS)),
                icon="chevron_left",
                kind="quiet",
                hint="Rows before",
            )
            self._where = ui.label("").classes("muted")
            button(
                "",
                self.attempt(lambda *_: self._page(self._first + PAGE_ROWS)),
                icon="chevron_right",
                kind="quiet",
                hint="Rows after",
            )
            button(
                "", self.attempt(lambda *_: self._page(self._total)), icon="last_page", kind="quiet", hint="Last rows"
            )

    async def _page(self, first: int) -> None:
        total = getattr(self, "_total", None)
        first = max(0, first if total is None else min(first, max(0, total - PAGE_ROWS)))
        found = await self.desk.short(
            "table.rows", source=self.desk.project.source, first=first, number=PAGE_ROWS, columns=self._names
        )
        self.here()
        self._first, self._total = first, found["total"]
        self._grid.fill([[f"{first + at + 1:,}", *row] for at, row in enumerate(found["rows"])])
        self._where.set_text(f"{first + 1:,}–{min(first + PAGE_ROWS, self._total):,} of {self._total:,}")

    def state(self) -> Any:
        """Columns, roles and people: nothing else is shown here."""
        work = self.desk.project.work
        return work.source, work.job.roles, work.job.household, work.job.sampling_weight, work.job.known

    def update(self) -> None:
        """Roles alone have changed: the columns are written anew, all else stays."""
        source = self.desk.project.work.source
        if source and source == getattr(self, "_shown_source", None) and hasattr(self, "_profiles"):
            self._write_columns()
        else:
            self._shown_source = source
            super().update()
