"""Original and release compared: any column, any two columns, risks in a population, and what classifiers learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._errors import JobError
from kanopy.app.task_cache import ALL_OF_JOB
from kanopy.app.widgets.elements import button, card, heading, labelled, share
from kanopy.app.widgets.fields import choice_field, fields, number_field
from kanopy.app.widgets.grid import Grid

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

NONE = ""
SIDES = (("before", "Original"), ("after", "Release"))
ABOVE = "Share of rows whose risk lies above"


class Comparisons:
    """Cards of the page on risk and utility; each computes when it is asked for."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        self._columns()
        with ui.element("div").classes("two"):
            self._population()
            self._prediction()

    @property
    def _folder(self) -> str:
        return "" if self.controller.summary is None else str(self.controller.result_folder)

    # ---- columns ------------------------------------------------------------------------------------------

    def _columns(self) -> None:
        names = [str(column["column"]) for column in self.controller.project.work.columns]
        job = self.controller.project.work.job
        first = next(iter(job.quasi), names[0])
        with card():
            heading("Columns before and after")
            with fields():
                one = choice_field("Column", names, first)
                other = choice_field("Together with", {NONE: "no other column", **{name: name for name in names}}, NONE)
            self._view = ui.element("div").classes("stack tight")

        async def load() -> None:
            await self._show(str(one.value), str(other.value or NONE))

        for chosen in (one, other):
            chosen.on_value_change(self.page.attempt(lambda *_: load()))
        self.page.later(load)

    async def _show(self, one: str, other: str) -> None:
        ask = self.controller.cached
        if other and other != one:
            found = await ask("columns.cross_view", ALL_OF_JOB, folder=self._folder, columns=[one, other])
        else:
            found = await ask("columns.column_view", ALL_OF_JOB, folder=self._folder, column=one)
        if self._view.is_deleted:
            return
        self._view.clear()
        with self._view, ui.element("div").classes("two"):
            for side, words in SIDES:
                with ui.element("div").classes("stack tight"):
                    heading(words, 3)
                    if found[side] is None:
                        ui.label("not published" if self._folder else "no release of this job was made yet").classes(
                            "muted small"
                        )
                    elif "counts" in found[side]:
                        write_counts(found[side], f"{words}: {one} and {other}", one, other)
                    else:
                        write_column(found[side], f"{words}: {one}")

    # ---- the population ------------------------------------------------------------------------------------

    def _population(self) -> None:
        with card():
            heading("In the population")
            ui.label(
                "The rows are a sample: how many of its people are unique in the population, and how high is the risk "
                "of an attacker who does not know who is in the table?"
            ).classes("muted small")
            with fields():
                self._size = number_field("People in the population", None, low=1)
                self._fraction = number_field("or share of it in the table", None, low=0, step=1, suffix="%")
                button("Estimate", self.page.attempt(lambda *_: self._estimate()), kind="main")
            self._people = ui.element("div").classes("stack tight")

    async def _estimate(self) -> None:
        size, part = self._size.value, self._fraction.value
        if (size is None) == (part is None):
            raise JobError("Say how many people the population has, or which share of it is in the table.")
        summary = self.controller.summary
        found = await self.controller.run_long_cached(
            "Estimating risks in the population", "exploration.population", ALL_OF_JOB, folder=self._folder,
            file="" if summary is None else summary["file"], size=None if size is None else int(size),
            fraction=None if part is None else float(part) / 100,
        )  # fmt: skip
        if self._people.is_deleted:
            return
        self._people.clear()
        with self._people:
            grid = Grid(("", "Original", "Release"), label="Risks in the population", aligned={1: "right", 2: "right"})
            both = [found[side] for side, _ in SIDES]
            lines = [
                ["unique in the population", *("–" if each is None or not each["uniques"] else
                                               f"{each['uniques']['people']:,.0f}" for each in both)],
                ["share of the population", *("–" if each is None or not each["uniques"] else
                                              share(each["uniques"]["share"]) for each in both)],
                ["highest risk (journalist)", *("–" if each is None else share(each["highest"]) for each in both)],
                ["average risk (journalist)", *("–" if each is None else share(each["average"]) for each in both)],
            ]  # fmt: skip
            for at, level in enumerate(both[0]["rows_at_risk"]):
                lines.append([
                    f"{ABOVE} {share(level['above'])}",
                    *("–" if each is None else share(each["rows_at_risk"][at]["share"]) for each in both),
                ])  # fmt: skip
            grid.fill(lines)
            model = both[0]["model"]
            ui.label(f"Estimated by the model of {model.capitalize()}." if model else "").classes("muted small")

    # ---- classifiers ---------------------------------------------------------------------------------------

    def _prediction(self) -> None:
        job = self.controller.project.work.job
        targets = [*job.sensitive, *job.insensitive]
        with card():
            heading("What classifiers learn")
            ui.label("A column is predicted from all others, in the original and in the release.").classes(
                "muted small"
            )
            if not targets or self.controller.summary is None:
                ui.label("It needs a release with a sensitive or insensitive column.").classes("muted")
                return
            with fields():
                target = choice_field("Column that is predicted", targets, targets[0])
                button("Train", self.page.attempt(lambda *_: self._train(str(target.value))), kind="main")
            self._learnt = ui.element("div").classes("stack tight")

    async def _train(self, target: str) -> None:
        found = await self.controller.run_long_cached(
            "Training classifiers", "exploration.prediction", ALL_OF_JOB, folder=self._folder, target=target
        )
        if self._learnt.is_deleted:
            return
        self._learnt.clear()
        with self._learnt:
            grid = Grid(("Classifier", "Original", "Release", "Most frequent value"), label="Accuracy of classifiers",
                        aligned={1: "right", 2: "right", 3: "right"})  # fmt: skip
            grid.fill([
                [each["learner"], share(each["before"]), share(each["after"]), share(each["baseline"])]
                for each in found
            ])  # fmt: skip
            ui.label(f"Share of rows predicted right, {found[0]['folds']} folds.").classes("muted small")


def write_column(found: Mapping[str, Any], words: str) -> None:
    """The values of a column as bars, and its statistics."""
    most = max((rows for _, rows in found["bars"]), default=1)
    with labelled(ui.element("div").classes("bars"), words) as box:
        box.props["role"] = "group"
        box.props["tabindex"] = "0"
        for label, rows in found["bars"]:
            ui.label(label).classes("ellipsis small")
            with ui.element("div").classes("track after"):
                ui.element("i").style(f"width:{100 * rows / most:.1f}%")
            ui.label(f"{rows:,}").classes("small right")
    with ui.element("div").classes("pairs small"):
        for name, text in found["statistics"]:
            ui.label(name).classes("muted")
            ui.label(text)


def write_counts(found: Mapping[str, Any], words: str, one: str, other: str) -> None:
    """The counts of two columns as a mosaic and as a table."""
    rows, heads, counts = found["rows"], found["heads"], found["counts"]
    whole = sum(map(sum, counts)) or 1
    with labelled(ui.element("div").classes("mosaic"), f"{words}: mosaic") as box:
        box.props["role"] = "img"
        for name, line in zip(rows, counts, strict=True):
            own = sum(line) or 1
            with ui.element("div").style(f"flex:{own / whole:.5f} 1 0") as part:
                part.props["data-tip"] = f"{one} = {name}: {own:,}"
                for at, count in enumerate(line):
                    if count:
                        tile = ui.element("i").style(f"flex:{count / own:.5f} 1 0").classes(f"m{at % 6}")
                        tile.props["data-tip"] = f"{one} = {name}, {other} = {heads[at]}: {count:,}"
    grid = Grid((f"{one} \\ {other}", *heads, "all"), label=words,
                aligned=dict.fromkeys(range(1, len(heads) + 2), "right"))  # fmt: skip
    grid.fill([[name, *(f"{count:,}" for count in line), f"{sum(line):,}"] for name, line in _lines(rows, counts)])


def _lines(rows: Sequence[str], counts: Sequence[Sequence[int]]) -> list[tuple[str, Sequence[int]]]:
    return list(zip(rows, counts, strict=True))
