"""The columns of the table as a queue: what is undecided first, filters, roles by a click or by the keys 1 to 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from kanopy._table.roles import Role
from kanopy.app.pages.page import Page
from kanopy.app.widgets.elements import Pager, card, heading, labelled, named, number, share, spark, tiles, tip
from kanopy.app.widgets.fields import choice_field
from kanopy.app.widgets.grid import Choice

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
LINES_AT_ONCE = 40
SURE, UNSURE = "sure", "unsure"
WEIGHT, HOUSEHOLD = "weight", "household"
SURVEY = {WEIGHT: "sampling_weight", HOUSEHOLD: "household"}
"""What a column of a sample survey is besides its role: the setting of the job that names it."""
CHOICES = {**{str(key): text for key, text in ROLES.items()}, WEIGHT: "Weight", HOUSEHOLD: "Household"}
ANY = ""
KEYS = "Arrow keys go from column to column, 1 to 9 give a role: " + ", ".join(
    f"{number} {text}" for number, text in enumerate(CHOICES.values(), 1)
)


class ColumnsPage(Page):
    """The part of the page Data that is about columns."""

    _profiles: dict[str, Any]
    _order: list[str]
    _total: int | None
    _tiles: Any

    def _columns_card(self) -> None:
        with card("columns-box"):
            with ui.element("div").classes("row-flex"):
                heading("Columns")
                self._wanted = ui.input(placeholder="Find a column").props("outlined dense clearable")
                labelled(self._wanted, "Find a column").on_value_change(lambda: self._write_columns())
                self._wanted.set_visibility(len(self.controller.project.work.columns) > LINES_AT_ONCE // 2)
                self._of_role = choice_field("Role", {ANY: "all roles", **CHOICES}, ANY)
                self._of_certainty = choice_field(
                    "How sure", {ANY: "however sure", SURE: "sure", "likely": "likely", UNSURE: "unsure"}, ANY
                )
                for chosen in (self._of_role, self._of_certainty):
                    chosen.on_value_change(lambda: self._write_columns())
                self._all = ui.select({str(key): text for key, text in ROLES.items()}, label="All of these are …")
                self._all.props("outlined dense options-dense").style("min-width:190px")
                self._all.on_value_change(self.attempt(lambda event: self._decide_all(event.value)))
                tip(self._all, "Gives every column whose name holds what is looked for this role, in one step")
                self._all.set_visibility(len(self.controller.project.work.columns) > LINES_AT_ONCE // 2)
                ui.element("div").classes("grow")
                self._lines = Pager("columns", LINES_AT_ONCE, self._write_columns)
            with ui.element("div").classes("columns") as self._columns:
                self._columns.props["tabindex"] = "0"
                self._columns.props["role"] = "group"
                self._columns.props["aria-label"] = f"Columns. {KEYS}"
                ui.spinner(size="lg")

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
                (undecided, "undecided", "not published" if undecided else "nothing is open"),
                (len(work.job.quasi), "quasi", "others may know them"),
            )  # fmt: skip

    def _write_columns(self, first: int = 0) -> None:
        """The columns whose name holds what is looked for, a part at a time; their order stays while roles change."""
        self._write_tiles()
        about = {str(column["column"]): column for column in self.controller.project.work.columns}
        wanted = str(self._wanted.value or "").casefold()
        role, sure = str(self._of_role.value or ANY), str(self._of_certainty.value or ANY)
        found = [
            name for name in self._order
            if wanted in name.casefold() and role in (ANY, self._role(name)) and sure in (ANY, about[name]["certainty"])
        ]  # fmt: skip
        self._found = found
        self._lines.at(first, len(found))
        self._columns.clear()
        self._shown: dict[str, tuple[Any, Choice]] = {}
        with self._columns:
            with ui.element("div").classes("column-line column-head"):
                ui.label("Column")
                ui.label("Values")
                named("distinct", "Different", stop=False)
                named("missing", stop=False)
                named("unique", stop=False)
                tip(ui.label("Role"), f"{ABOUT_ROLES} Weight and household: of a sample survey. {KEYS}.")
            for name in found[first : first + LINES_AT_ONCE]:
                self._line(about[name], self._role(name))

    def _role(self, name: str) -> str:
        """The role of a column, or what it is in a sample survey."""
        job = self.controller.project.work.job
        if found := next((key for key, field in SURVEY.items() if getattr(job, field) == name), ""):
            return found
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
            number("–" if distinct is None else f"{distinct:,}", "distinct", stop=False)
            number(f"{facts.get('missing', 0):,}", "missing", stop=False)
            number(share(facts.get("unique")), "unique", stop=False)
            toggle = labelled(Choice(CHOICES, role, stop=False), f"Role of {name}")
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
        before = self._role(name)
        if role == before:
            return
        try:
            await self._give(name, role, before)
        finally:  # what was refused is not shown as chosen
            if name in self._shown and not self._shown[name][1].is_deleted:
                self._shown[name][1].set_value(self._role(name))

    async def _give(self, name: str, role: str, before: str) -> None:
        if before in SURVEY and role not in SURVEY:
            self.controller.set_job(f"{name} is no {before}", **{SURVEY[before]: None})
        if role in SURVEY:
            await self.controller.set_survey_column(name, SURVEY[role], f"{name} is the {role}")
        elif role != self._role(name):
            await self.controller.set_roles([name], role)

    async def _decide_all(self, role: str | None) -> None:
        if role is not None:
            self._all.set_value(None)
            await self.controller.set_roles(self._found, role)
