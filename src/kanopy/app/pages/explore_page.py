"""Explore: every release that was tried, those that no other beats, all candidates of a search, and plans compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nicegui import ui

from kanopy._errors import JobError, some
from kanopy._parameter_types import as_share
from kanopy.app.pages.page import Page
from kanopy.app.widgets.elements import button, card, heading, named, number, share, title
from kanopy.app.widgets.fields import choice_field, fields, number_field
from kanopy.app.widgets.grid import Grid
from kanopy.app.widgets.points import Points

KS, LIMITS = "2, 3, 5, 10, 20, 50", "0%, 2%, 5%"
MOST_SERIES = 5
MOST_LISTED = 200
MOST_SEARCHED = 8
"""Columns of which every choice of levels is searched without being asked."""
MOST_AT_SPOT = 6


class ExplorePage(Page):
    """Many releases, none of them written."""

    path, name, icon = "/explore", "Explore", "scatter_plot"

    def build(self) -> None:
        """Write the page."""
        title("Explore", "What each k and each limit would cost. Nothing is published here.")
        job = self.controller.project.work.job
        with card():
            with ui.element("div").classes("row-flex"):
                heading("The map of risk and utility")
                named("front", "the line joins what no other release beats")
            with ui.element("div").classes("row-flex"):
                self._ks = ui.input(label="k", value=KS).props("outlined dense")
                self._limits = ui.input(label="Suppression limits", value=LIMITS).props("outlined dense")
                # Many levels of many columns take long to search: a quick local search stands in unless one asks.
                algorithms = dict.fromkeys(("optimal", "best", "mondrian", "datafly", job.algorithm))
                first = "optimal" if len(job.quasi) <= MOST_SEARCHED else "mondrian"
                self._algorithms = ui.select(list(algorithms), label="Algorithms", value=[first], multiple=True)
                self._algorithms.props("outlined dense use-chips").style("min-width:220px")
                button("Explore", self.attempt(lambda *_: self._explore()), kind="main", icon="travel_explore")
            self._map = ui.element("div").classes("two wide-left")
            self._write_map()
        with card():
            with ui.element("div").classes("row-flex"):
                heading("All candidates of the full-domain search")
                ui.label("each point is a choice of one level per column").classes("muted small")
                ui.element("div").classes("grow")
                button("Judge all candidates", self.attempt(lambda *_: self._judge()), icon="blur_on")
            self._all = ui.element("div").classes("two wide-left")
            self._listed = ui.element("div").classes("stack tight")
        with card():
            with ui.element("div").classes("row-flex"):
                heading("Plans")
                ui.label("jobs set aside, to compare and to come back to").classes("muted small")
                ui.element("div").classes("grow")
                self._plan_name = ui.input(label="Name", value="").props("outlined dense")
                button("Save the present job", self.attempt(lambda *_: self._save_plan()), icon="bookmark_add")
            self._plans_box = ui.element("div")
            with self._plans_box:
                self._plans()
        self._mark = self.controller.hierarchies_mark

    def update(self) -> None:
        """What was judged and typed stays while the hierarchies are the same: only points and plans follow."""
        if getattr(self, "_mark", None) != self.controller.hierarchies_mark:
            super().update()
            return
        self._write_map()
        self._plans_box.clear()
        with self._plans_box:
            self._plans()

    # ---- the map ------------------------------------------------------------------------------------------

    @property
    def _file(self) -> Path:
        return self.controller.project.folder / "results" / f"explored-{self.controller.hierarchies_mark}.json"

    async def _explore(self) -> None:
        parts = str(self._ks.value or "").replace(",", " ").split()
        if wrong := [text for text in parts if not text.isdecimal() or int(text) < 2]:
            raise JobError(f"k is a whole number from 2 on, several with commas between, not {some(wrong)}.")
        ks = sorted({int(text) for text in parts})
        limits = [as_share(text.strip()) for text in self._limits.value.split(",") if text.strip()]
        chosen = list(self._algorithms.value or [])
        if not ks or not limits or not chosen:
            raise JobError("Name at least one k, one limit and one algorithm.")
        await self.controller.run_long(
            "Exploring",
            "exploration.explore_combinations",
            **self.controller.task_arguments,
            file=str(self._file),
            ks=ks,
            limits=limits,
            algorithms=chosen,
        )
        self.here()
        self._write_map()

    def _points(self) -> list[dict[str, Any]]:
        """Explored points of these hierarchies, and every release of the table that was made."""
        points: list[dict[str, Any]] = []
        if self._file.exists():
            points = [p for p in json.loads(self._file.read_text("utf-8"))["points"] if p["loss"] is not None]
        for release in self.controller.releases_made():
            if release["smallest_class"] and release["losses"].get("loss") is not None:
                points.append({
                    "k": release["k"], "suppress": None, "algorithm": release["algorithm"], "made": True,
                    "loss": release["losses"]["loss"], "highest_risk": 1 / release["smallest_class"], "best": False,
                    "classes": release["classes"], "suppressed": release["suppressed"], "levels": release["levels"],
                    "models": [model["name"] for model in release["models"]], "job": release["job"],
                })  # fmt: skip
        for point in points:  # one's own releases too may beat what was explored
            point["best"] = not any(_beats(other, point) for other in points)
        return points

    def _write_map(self) -> None:
        self._map.clear()
        all_points = self._points()
        with self._map:
            if not all_points:
                ui.label("Nothing was explored with these hierarchies yet.").classes("muted")
                return
            names = list(dict.fromkeys(_series(point) for point in all_points))
            marks = [
                {
                    "x": point["highest_risk"], "y": point["loss"], "best": point["best"],
                    "series": min(names.index(_series(point)), MOST_SERIES - 1), "words": _words(point),
                    "own": bool(point.get("made")),
                }
                for point in all_points
            ]  # fmt: skip
            Points(
                marks, "Map of risk and utility", x="Highest risk (1 / smallest class)", y="Loss", log=True,
                percent=True, series=names[:MOST_SERIES], choose=lambda at: self._show_point(all_points[at]),
            )  # fmt: skip
            with ui.element("div").style("display:flex;flex-direction:column;gap:10px") as self._point:
                ui.label("Choose a point to see that release.").classes("muted")

    def _show_point(self, point: dict[str, Any]) -> None:
        self._point.clear()
        with self._point:
            heading(_words(point).partition(":")[0], 3)
            with ui.element("div").classes("pairs"):
                for key, text in (
                    ("k", point["k"]), ("loss", f"{point['loss']:.4f}"), ("highest_risk", share(point["highest_risk"])),
                    ("classes", f"{point['classes']:,}"), ("suppressed", f"{point['suppressed']:,}"),
                ):  # fmt: skip
                    named(key)
                    number(text, key)
            for name, level in (point["levels"] or {}).items():
                ui.label(f"{name}: level {level}").classes("muted small")
            button("Make this release", self.attempt(lambda *_: self._take(point)), kind="main", icon="check")
            others = [other for other in self._points() if other != point and _spot(other) == _spot(point)]
            if others:
                ui.label("At the same spot of the map:").classes("muted small")
            for other in others[:MOST_AT_SPOT]:
                button(_words(other), self.attempt(lambda *_, other=other: self._show_point(other)), kind="quiet")

    def _take(self, point: dict[str, Any]) -> None:
        if point.get("made"):
            self.controller.restore(point["job"], f"the job of the release with loss {point['loss']:.4f}")
        else:
            self.controller.set_job(
                f"k = {point['k']}, limit {point['suppress']:.2%}, {point['algorithm']}", k=point["k"],
                suppress=point["suppress"], algorithm=point["algorithm"], local=False,
                parameters=self.controller.project.work.job.parameters
                if point["algorithm"] == self.controller.project.work.job.algorithm else {},
            )  # fmt: skip
        ui.navigate.to("/release")

    # ---- candidates ---------------------------------------------------------------------------------------

    async def _judge(self) -> None:
        judged = await self.controller.run_long(
            "Judging every candidate", "exploration.candidates", **self.controller.task_arguments
        )
        self.here()
        points = judged["points"]
        self._all.clear()
        with self._all:
            with ui.element("div").style("min-width:0"):
                marks = [
                    {**{key: point[key] for key in ("x", "y", "best")}, "series": 0 if point["best"] else 4,
                     "words": f"loss {point['y']:.4f}, {share(point['x'])} suppressed"}
                    for point in points
                ]  # fmt: skip
                Points(
                    marks, "All candidates", x="Rows suppressed", y="Loss", percent=True, mark=judged["limit"],
                    series=("no other beats it in loss and suppressed rows",),
                    choose=lambda at: self._show_candidate(points[at]),
                )  # fmt: skip
                drawn = (
                    "all are drawn"
                    if len(points) == judged["all"]
                    else f"{len(points):,} are drawn, the best among them"
                )
                ui.label(f"{judged['all']:,} candidates judged; {drawn}.").classes("muted small")
            with ui.element("div").style("display:flex;flex-direction:column;gap:10px") as self._candidate:
                ui.label("Choose a point, or a line of the list, to see its levels.").classes("muted")
        self._list_candidates(points)

    def _list_candidates(self, points: list[dict[str, Any]]) -> None:
        """Candidates as a list, those that lose least first; filtered by what they suppress and by levels."""
        names = list(points[0]["levels"]) if points else []
        self._listed.clear()
        with self._listed:
            with fields():
                most = number_field("Rows suppressed at most", 100, low=0, suffix="%")
                column = choice_field("Level of", {"": "any column", **{name: name for name in names}}, "")
                level = number_field("is at most", None, low=0)
                chosen = number_field("Show number", None, low=1)
            grid = Grid(("number", "loss", "suppressed", "classes", *names), label="List of candidates",
                        aligned=dict.fromkeys(range(4 + len(names)), "right"))  # fmt: skip

        def found() -> list[dict[str, Any]]:
            limit, name = float(most.value or 0) / 100, str(column.value or "")
            kept = [
                point for point in points
                if point["x"] <= limit and (not name or level.value is None or point["levels"][name] <= level.value)
            ]  # fmt: skip
            return sorted(kept, key=lambda each: each["y"])[:MOST_LISTED]

        def write() -> None:
            grid.fill([
                [f"{at}", f"{each['y']:.4f}", share(each["x"]), f"{each['classes']:,}",
                 *map(str, each["levels"].values())]
                for at, each in enumerate(found(), 1)
            ])  # fmt: skip

        def choose() -> None:
            listed = found()
            if chosen.value and int(chosen.value) <= len(listed):
                self._show_candidate(listed[int(chosen.value) - 1])

        for field in (most, column, level):
            field.on_value_change(write)
        chosen.on_value_change(choose)
        write()

    def _show_candidate(self, point: dict[str, Any]) -> None:
        self._candidate.clear()
        with self._candidate:
            with ui.element("div").classes("pairs"):
                for key, text in (
                    ("loss", f"{point['y']:.4f}"), ("suppressed", f"{point['suppressed']:,} ({share(point['x'])})"),
                    ("classes", f"{point['classes']:,}"),
                ):  # fmt: skip
                    named(key)
                    number(text, key)
                for name, level in point["levels"].items():
                    ui.label(name).classes("muted small")
                    ui.label(f"level {level}")
            button("Publish at these levels", self.attempt(lambda *_: self._fix(point)), icon="push_pin")

    def _fix(self, point: dict[str, Any]) -> None:
        limit = max(self.controller.project.work.job.suppress, point["x"])
        self.controller.set_job(
            "levels of a candidate", min_levels=point["levels"], max_levels=point["levels"], suppress=limit,
            algorithm="optimal", parameters={}, local=False,
        )  # fmt: skip
        ui.navigate.to("/release")

    # ---- plans --------------------------------------------------------------------------------------------

    def _save_plan(self) -> None:
        plans = self.controller.project.work.plans
        name = str(self._plan_name.value or "").strip() or f"Plan {len(plans) + 1}"
        self._plan_name.set_value("")
        self.controller.save_plan(name)

    def _plans(self) -> None:
        plans = self.controller.project.work.plans
        if not plans:
            ui.label("No plan was saved yet.").classes("muted")
            return
        with ui.element("table").classes("beside"):
            with ui.element("thead"), ui.element("tr"):
                for name in ("Plan", "k", "Limit", "Algorithm", "Loss", "Classes", "Suppressed", "Highest risk", ""):
                    with ui.element("th"):
                        ui.label(name)
            with ui.element("tbody"):
                for at, plan in enumerate(plans):
                    self._plan_line(at, dict(plan))

    def _plan_line(self, at: int, plan: dict[str, Any]) -> None:
        made = plan["figures"] or {}
        cells = (
            (plan["name"], None), (plan["k"], "k"), (share(plan["suppress"]), "limit"), (plan["algorithm"], None),
            (f"{made['loss']:.4f}" if made else "not run", "loss"),
            (f"{made['classes']:,}" if made else "–", "classes"),
            (f"{made['suppressed']:,}" if made else "–", "suppressed"),
            (share(made["highest_risk"]) if made else "–", "highest_risk"),
        )  # fmt: skip
        with ui.element("tr"):
            for text, key in cells:
                with ui.element("td"):
                    ui.label(str(text)) if key is None else number(text, key)
            with ui.element("td"), ui.element("div").classes("row-flex").style("gap:4px;flex-wrap:nowrap"):
                button(
                    "Bring back", self.attempt(lambda *_: self.controller.restore(plan["job"], f"plan {plan['name']}"))
                )
                button(
                    "",
                    self.attempt(lambda *_: self.controller.drop_plan(at)),
                    icon="delete",
                    kind="quiet",
                    hint="Forget this plan",
                )


def _beats(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a release is better in risk or loss, and worse in neither."""
    ours, theirs = (one["highest_risk"], one["loss"]), (other["highest_risk"], other["loss"])
    return ours != theirs and ours[0] <= theirs[0] and ours[1] <= theirs[1]


def _spot(point: dict[str, Any]) -> tuple[float, float]:
    """Where a point is drawn, as far as an eye can tell."""
    return round(point["highest_risk"], 4), round(point["loss"], 3)


def _series(point: dict[str, Any]) -> str:
    return "releases that were made" if point.get("made") else str(point["algorithm"])


def _words(point: dict[str, Any]) -> str:
    limit = "" if point["suppress"] is None else f", limit {point['suppress']:.1%}"
    return (
        f"{point['algorithm']}, k = {point['k']}{limit}: loss {point['loss']:.4f}, risk {share(point['highest_risk'])}"
    )
