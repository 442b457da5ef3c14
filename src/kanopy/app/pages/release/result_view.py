"""The release that was made: its verdict, its rows beside the original, its classes, and what became of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.pages.release.advice import write_advice
from kanopy.app.pages.release.verdict_card import write_verdict
from kanopy.app.widgets.elements import Pager, card, picture, share, tiles
from kanopy.app.widgets.grid import Cell, Grid

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

PAGE_ROWS = 15
MOST_COLUMNS = 10


class ResultView:
    """What is known of the release of the present job."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        self.box = ui.element("div").style("display:flex;flex-direction:column;gap:18px;min-width:0")
        self.write()

    def write(self) -> None:
        """Write it anew."""
        self.box.clear()
        summary = self.controller.summary
        with self.box:
            if summary is None:
                with ui.element("div").classes("verdict wait"):
                    ui.icon("hourglass_empty")
                    ui.label("No release of this job was made yet. Press Run.")
                return
            write_verdict(self.page, self.controller.result_folder.name, summary["sentence"])
            self._numbers(summary)
            if summary["wiped"] or summary["advice"]:
                with card():
                    if summary["wiped"]:
                        ui.label(f"Fully suppressed: {', '.join(summary['wiped'])}.").classes("chip bad")
                    write_advice(self.page, summary["advice"])
            with card():
                with ui.tabs().props("no-caps align=left dense") as tabs:
                    for name in ("Rows", "Classes", "Mapping", "Pictures"):
                        ui.tab(name)
                with ui.tab_panels(tabs, value="Rows").style("background:transparent"):
                    with ui.tab_panel("Rows").classes("bare"):
                        if self.controller.table_state == "same":
                            self._rows()
                        else:
                            ui.label("The original rows are those of another table by now.").classes("muted")
                    with ui.tab_panel("Classes").classes("bare"):
                        self._classes(summary)
                    with ui.tab_panel("Mapping").classes("bare"):
                        self._mapping(summary)
                    with ui.tab_panel("Pictures").classes("bare"), ui.element("div").classes("two"):
                        for name, drawn in summary.get("charts", {}).items():
                            picture(
                                drawn, {"sizes": "Class sizes before and after"}.get(name, "Detail lost per column")
                            )

    def infeasible(self, reason: str, advice: list[dict[str, Any]]) -> None:
        """Say that there is no such release, and what would help."""
        self.box.clear()
        with self.box:
            with ui.element("div").classes("verdict bad"):
                ui.icon("block")
                ui.label(reason)
            with card():
                write_advice(self.page, advice)

    def _numbers(self, summary: dict[str, Any]) -> None:
        judged = f"judged {summary['judged']:,} of {summary['candidates']:,}" if summary["candidates"] else "judged –"
        if summary.get("floor") and not summary["optimal"]:
            judged += f", at most {share(summary['gap'])} avoidable"
        loss = summary["losses"].get("loss")
        risk = 1 / summary["smallest_class"] if summary["smallest_class"] else 0.0
        tiles(
            ("–" if loss is None else f"{loss:.4f}", "loss", f"{summary['metric']} {summary['score']:.4f}"),
            (f"{summary['smallest_class']:,}", "smallest_class", f"{summary['counted']} at least"),
            (share(risk), "highest_risk"), (f"{summary['classes']:,}", "classes"),
            (f"{summary['suppressed']:,}", "suppressed", share(summary["suppressed"] / max(summary["rows"], 1))),
            ("yes" if summary["optimal"] else "no", "optimal", judged),
            (f"{summary['seconds']['total']:.1f} s", "seconds", summary["algorithm"]),
        )  # fmt: skip

    # ---- rows beside each other ---------------------------------------------------------------------------

    def _rows(self) -> None:
        with ui.element("div").classes("row-flex"):
            ui.label("The same rows, original and published; what changed is marked.").classes("muted")
            ui.element("div").classes("grow")
            attempt = self.page.attempt
            self._across = Pager("columns", MOST_COLUMNS, attempt(lambda at: self._page(self._down.first, at)))
            self._down = Pager("rows", PAGE_ROWS, attempt(lambda first: self._page(first, self._across.first)))
        self._beside = Grid(label="Rows, original and published", aligned={0: "right"}, tall=True)
        self.page.later(lambda: self._page(0, 0))

    async def _page(self, first: int, at: int) -> None:
        job = self.controller.project.work.job
        columns = [*job.quasi, *job.sensitive, *job.insensitive]
        pairs = await self.controller.run_short(
            "releases.row_pairs", source=self.controller.project.source, folder=str(self.controller.result_folder),
            first=first, number=PAGE_ROWS, columns=columns[at : at + MOST_COLUMNS],
        )  # fmt: skip
        self.page.here()
        self._across.at(at, len(columns))
        self._down.at(first, pairs["total"])
        self._beside.head(["row", *pairs["columns"]])
        self._beside.fill([
            [f"{first + row + 1:,}", *(_change(old, None if after is None else after[j], gone=after is None)
                                       for j, old in enumerate(before))]
            for row, (before, after) in enumerate(zip(pairs["before"], pairs["after"], strict=True))
        ])  # fmt: skip

    def _classes(self, summary: dict[str, Any]) -> None:
        ui.label(f"The smallest of {summary['classes']:,} classes first.").classes("muted")
        grid = Grid(
            [*summary["class_columns"], "rows"],
            label="Classes of the release",
            aligned={len(summary["class_columns"]): "right"},
        )
        grid.fill(summary["classes_list"])

    def _mapping(self, summary: dict[str, Any]) -> None:
        ui.label("What became of each value, and in how many rows. Keep it inside.").classes("muted")
        columns = list(summary["column_losses"]) or list(self.controller.project.work.job.quasi)
        chosen = ui.select(columns, label="Column", value=columns[0]).props("outlined dense options-dense")
        chosen.style("min-width:220px")
        grid = Grid(["original", "published", "rows"], label="Mapping of a column", aligned={2: "right"})

        async def load() -> None:
            grid.fill(
                await self.controller.run_short(
                    "releases.mapping", folder=str(self.controller.result_folder), column=chosen.value
                )
            )

        chosen.on_value_change(self.page.attempt(lambda *_: load()))
        self.page.later(load)


def _change(before: str | None, after: str | None, *, gone: bool) -> Cell:
    """A cell of both tables: once if it is the same, else what it was and what is published."""
    return "left out" if gone else before if before == after else {"was": before, "now": after}
