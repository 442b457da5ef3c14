"""Risk and utility: what the report says, live, and the rows that stand out, with why."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from kanopy.app.pages.evidence.comparisons import Comparisons
from kanopy.app.pages.page import Page
from kanopy.app.task_cache import ALL_OF_JOB, AT_ROLES, MAX_PREFETCHED_ROWS
from kanopy.app.widgets.elements import button, card, heading, named, number, picture, share, tiles, tip, title, words
from kanopy.app.widgets.grid import Grid


class RiskPage(Page):
    """The original and the release, judged side by side."""

    path, name, icon = "/risk", "Risk and utility", "shield"

    def build(self) -> None:
        """Write the page."""
        title(
            "Risk and utility",
            "How easily somebody is found, before and after, and what the release is still good for.",
        )
        if not self.controller.project.work.job.quasi:
            with card():
                ui.label("No column is a quasi-identifier yet. Give one this role under Data.")
            return
        self._numbers = ui.element("div")
        self._write_numbers(None)
        with card():
            with ui.element("div").classes("row-flex"):
                heading("Rows of the original that stand out")
                named("sets", "why each is rare")
            self._risky = ui.element("div").style("display:flex;flex-direction:column;gap:10px")
            with self._risky:
                ui.label("Looking for combinations that single somebody out …").classes("muted")
        with card():
            with ui.element("div").classes("row-flex"):
                heading("Combinations of the original that fewer than k rows share")
                ui.element("div").classes("grow")
                button("List them", self.attempt(lambda *_: self._list_small()), icon="list")
            self._small = ui.element("div").classes("stack tight")
        Comparisons(self)
        self._report = card()
        self._write_report()
        self.later(self._look)

    def _write_numbers(self, before: dict[str, Any] | None) -> None:
        after = self.controller.summary
        self._numbers.clear()
        with self._numbers:
            risk = 1 / after["smallest_class"] if after and after["smallest_class"] else None
            classes = after["classes"] / max(after["rows"] - after["suppressed"], 1) if after else None
            was = before or {}
            tiles(
                ("–" if risk is None else share(risk), "highest_risk", f"before {share(was.get('highest'))}"),
                ("–" if classes is None else share(classes), "average_risk", f"before {share(was.get('average'))}"),
                (f"{after['alone']:,}" if after else "–", "alone", f"before {was['alone']:,}" if was else ""),
                (f"{after['losses'].get('loss') or 0:.4f}" if after else "–", "loss", "" if after else "no release"),
                (f"{was['standing_out']:,}" if was else "…", "special", f"by up to {was.get('largest', 3)} columns"),
            )  # fmt: skip

    async def _look(self) -> None:
        if (
            await self.controller.rows() > MAX_PREFETCHED_ROWS
            and self.controller.if_cached("exploration.risky_rows", AT_ROLES) is None
        ):
            self.here()
            self._risky.clear()
            with self._risky:
                ui.label("The table is large: looking at every combination takes a while.").classes("muted")
                button("Look for them", self.attempt(lambda *_: self._search()), icon="person_search")
            return
        risk_result = await self.controller.cached("exploration.risky_rows", AT_ROLES, heavy=True)
        self.here()
        self._write_numbers(risk_result)
        self._write_risky(risk_result)

    async def _search(self) -> None:
        await self.controller.run_long_cached("Looking for rows that stand out", "exploration.risky_rows", AT_ROLES)
        self.here()
        await self._look()

    def _write_risky(self, risk_result: dict[str, Any]) -> None:
        self._risky.clear()
        with self._risky, ui.element("div").classes("two wide-left"):
            grid = Grid(
                ["Row", "Score", "Smallest combinations that nobody else has"],
                label="Rows that stand out",
                aligned={0: "right", 1: "right"},
                tips={1: words()["suda"]["short"]},
            )
            grid.fill(
                [
                    [f"{risky_row['row']:,}", f"{risky_row['score']:,}", _reasons(risky_row)]
                    for risky_row in risk_result["risky"]
                ]
            )
            with ui.element("div").style("display:flex;flex-direction:column;gap:8px"):
                heading("Which columns make rows rare", 3)
                for name, share_of_column in sorted(risk_result["columns"], key=lambda pair: -pair[1]):
                    with ui.element("div").classes("row-flex").style("gap:8px"):
                        tip(ui.label(name).classes("ellipsis").style("width:130px"), name)
                        with ui.element("div").classes("track"):
                            ui.element("i").style(f"width:{100 * share_of_column:.1f}%")
                        number(share(share_of_column), "suda")

    async def _list_small(self) -> None:
        found = await self.controller.cached("exploration.small_classes", ALL_OF_JOB)
        self.here()
        self._small.clear()
        with self._small:
            ui.label(
                f"{found['classes']:,} combinations of fewer than {found['k']} rows, {found['rows']:,} rows in all."
            ).classes("muted small")
            grid = Grid([*found["columns"], "rows"], label="Combinations of fewer than k rows",
                        aligned={len(found["columns"]): "right"})  # fmt: skip
            grid.fill(found["shown"])

    def _write_report(self) -> None:
        self._report.clear()
        summary = self.controller.summary
        file = self.controller.result_folder / "report.html"
        with self._report:
            with ui.element("div").classes("row-flex"):
                heading("The release: risk, pictures and usefulness")
                ui.element("div").classes("grow")
                if summary is not None and not file.exists():
                    button("Look closer", self.attempt(lambda *_: self._write()), icon="troubleshoot", kind="main")
            if summary is None:
                ui.label("No release of this job was made yet: run it under Release.").classes("muted")
                button("Go to Release", lambda: ui.navigate.to("/release"))
                return
            if not file.exists():
                ui.label(
                    "An attack, distributions, correlations and counts: what the report says, in some seconds."
                ).classes("muted")
                with ui.element("div").classes("two"):
                    for name, drawn in summary.get("charts", {}).items():
                        picture(drawn, "Class sizes" if name == "sizes" else "Detail lost per column")
                return
            frame = ui.element("iframe").classes("frame-of-report")
            frame.props["src"] = f"/files/{self.controller.result_folder.name}/report.html"
            frame.props["title"] = "The report of the release"
            frame.props["sandbox"] = ""

    async def _write(self) -> None:
        await self.controller.report()
        self.here()
        self._write_report()


def _reasons(risky_row: dict[str, Any]) -> list[str]:
    more = risky_row["sets"] - len(risky_row["why"])
    return [*risky_row["why"], *([f"and {more:,} more"] if more > 0 else [])]
