"""Advanced settings of a release: metric, levels, parameters of the algorithm, population, margin, unknown values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.widgets.elements import button, heading, labelled, tip
from kanopy.app.widgets.fields import choice_field, fields, number_field, text_field
from kanopy.app.widgets.forms import Form

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

UNKNOWN = {"error": "refuse the run", "suppress": "suppress the row", "add": "add it to the hierarchy"}


class Advanced:
    """What is seldom needed, folded; each change is a step that can be undone."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        with ui.expansion("Advanced").props("dense").classes("advanced") as self.box:
            self._box = ui.element("div").classes("stack tight")
        page.later(self.write)

    @property
    def _job(self) -> Any:
        return self.controller.project.work.job

    def _set(self, words: str, **settings: Any) -> None:
        self.controller.set_job(words, **settings)

    async def write(self) -> None:
        """Write the fields, once it is known what there is to choose."""
        catalogue = await self.controller.cached("catalogue.catalogue", None)
        self.page.here()
        job = self._job
        self._box.clear()
        with self._box:
            with fields():
                self._watch(choice_field("Loss to minimise", catalogue["metrics"], job.metric,
                hint="The utility measure"),
                            lambda value: self._set(f"metric {value}", metric=value))  # fmt: skip
                self._watch(choice_field("Values that a hierarchy lacks", UNKNOWN, job.unknown),
                            lambda value: self._set(f"unknown values: {value}", unknown=value))  # fmt: skip
                about = "How much more than the least loss a release may have: a secret chooses"
                margin = number_field("Margin", job.margin, low=0, step=0.01, hint=about)
                self._watch(margin, lambda value: self._set(f"margin {value:g}", margin=float(value)), on="change")
            algorithm = next((entry for entry in catalogue["algorithms"] if entry["name"] == job.algorithm), None)
            if algorithm is not None and algorithm["fields"]:
                heading(f"Parameters of {algorithm['name']}", 3)
                columns = [*job.sensitive, *job.insensitive, *job.quasi]
                self._form = Form(algorithm["fields"], columns=columns, given=dict(job.parameters))
                button(
                    "Apply", self.page.attempt(lambda *_: self._parameters()), hint=f"Parameters of {algorithm['name']}"
                )
            heading("Lowest and highest levels", 3)
            self._levels()
            heading("Population", 3)
            ui.label(
                "The table of everybody the rows could be about, for models such as k-map and delta-presence."
            ).classes("muted small")
            self._population()

    def _watch(self, field_shown: Any, act: Any, *, on: str = "") -> None:
        """Act when a field was changed: at once, or with `on` when it is left."""
        if on:
            field_shown.on(
                on, self.page.attempt(lambda *_: act(field_shown.value) if field_shown.value is not None else None)
            )
        else:
            field_shown.on_value_change(self.page.attempt(lambda event: act(event.value)))

    def _parameters(self) -> None:
        given = self._form.given()
        self._set("parameters: " + (", ".join(f"{k} {v}" for k, v in given.items()) or "as usual"), parameters=given)

    def _levels(self) -> None:
        job = self._job
        with ui.element("div").classes("levels"):
            for words in ("Column", "Lowest", "Highest"):
                ui.label(words).classes("muted small")
            for name in job.quasi:
                tree = self.controller.project.hierarchy(name)
                most = 9 if tree is None else tree.height
                options = {level: f"{level}{' (as it is)' if level == 0 else ' (*)' if level == most else ''}"
                           for level in range(most + 1)}  # fmt: skip
                tip(ui.label(name).classes("ellipsis"), name)
                low = choice_field("Lowest", options, min(job.min_levels.get(name, 0), most))
                high = choice_field("Highest", options, min(job.max_levels.get(name, most), most))
                labelled(low, f"Lowest level of {name}")
                labelled(high, f"Highest level of {name}")
                for field_shown, field, usual in ((low, "min_levels", 0), (high, "max_levels", most)):
                    field_shown.on_value_change(self.page.attempt(
                        lambda event, name=name, field=field, usual=usual: self._limit(name, field, event.value, usual)
                    ))  # fmt: skip

    def _limit(self, name: str, field: str, level: int, usual: int) -> None:
        limits = {**getattr(self._job, field), name: int(level)}
        if level == usual:
            del limits[name]
        which = "lowest" if field == "min_levels" else "highest"
        self._set(f"{which} level of {name}: {level}", **{field: limits})

    def _population(self) -> None:
        present = str(self._job.population or "")
        with ui.element("div").classes("stack tight drop"):
            field_of_place = text_field("Path or address of the population", present)
            field_of_place.on(
                "change", self.page.attempt(lambda *_: self._place(str(field_of_place.value or "").strip()))
            )
            upload = ui.upload(label="or drop a file here", auto_upload=True, max_files=1, max_file_size=UPLOAD_LIMIT)
            labelled(upload, "Upload the table of the population")

            async def uploaded(event: events.UploadEventArguments) -> None:
                self._place(await self.controller.keep_upload(event.file))

            upload.on_upload(self.page.attempt(uploaded))

    def _place(self, location: str) -> None:
        table_path = self.controller.other_table(location)
        self._set(f"population: {location or 'none'}", population=table_path or None)
