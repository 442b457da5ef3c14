"""Privacy models as cards: thresholds as fields, the sentence that they make, and how many classes fail now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.task_cache import ALL_OF_JOB, Superseded
from kanopy.app.widgets.elements import button, card, heading
from kanopy.app.widgets.fields import text_field
from kanopy.app.widgets.forms import Form
from kanopy.privacy.models import make_model

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page
    from kanopy.privacy.base import Model

NEEDS = (
    ("weights", "sampling_weight", "a sampling weight: name its column under Data"),
    ("households", "household", "households: name their column under Data"),
    ("population", "population", "a table of the population: name it below, under Advanced"),
)
SETTLE_SECONDS = 0.35
"""Fields are read when nothing was typed for so long."""


class ModelCards:
    """The models of the job, each on a card that can be changed or removed, and a card for another one."""

    def __init__(self, page: Page) -> None:
        self.page, self.controller = page, page.controller
        self.box = ui.element("div").classes("stack tight")
        self.write()

    def write(self) -> None:
        """Write the cards anew."""
        self.box.clear()
        with self.box:
            for model in self.controller.project.work.job.models:
                self._card(model)
            button("Add a model", self.page.attempt(lambda *_: self._ask(None)), icon="add")

    def _card(self, model: Model) -> None:
        job = self.controller.project.work.job
        with card("model"):
            with ui.element("div").classes("row-flex"):
                heading(model.name, 3)
                ui.element("div").classes("grow")
                button("Change", self.page.attempt(lambda *_: self._ask(model)), kind="quiet",
                       hint=f"Change {model.name}")  # fmt: skip
                rest = [other_model for other_model in job.models if other_model != model]
                drop = self.page.attempt(lambda *_: self._set(f"without {model.name}", rest))
                button("", drop, icon="close", kind="quiet", hint=f"Remove {model.name}")
            ui.label(model.said()).classes("small wrap")
            state = ui.label("").classes("muted small")

        async def look() -> None:
            result = await self.controller.cached("releases.failing", ALL_OF_JOB, model=plain(model))
            if not state.is_deleted:
                state.set_text(failing_words(result))

        self.page.later(look)

    def _set(self, words: str, models: list[Any]) -> None:
        self.controller.set_job(words, models=models)

    async def _ask(self, changed: Model | None) -> None:
        """The dialog for a new model, or for the parameters of one."""
        models = {
            model_entry["name"]: model_entry
            for model_entry in (await self.controller.cached("catalogue.catalogue", None))["models"]
        }
        self.page.here()
        words = "Add a privacy model" if changed is None else f"Change {changed.name}"
        with self.page.dialog(words, "width:min(860px, 94vw);max-width:94vw") as dialog:
            _ModelForm(self, dialog, models, changed)

    def take(self, given: Mapping[str, Any], changed: Model | None) -> None:
        """Add a model to the job, or put it in the place of another."""
        made = make_model(dict(given))
        models = [model for model in self.controller.project.work.job.models if model != changed]
        self._set(f"model {made.name}", [*models, made])


class _ModelForm:
    """What stands in the dialog."""

    def __init__(self, cards: ModelCards, dialog: Any, known: Mapping[str, Any], changed: Model | None) -> None:
        self.cards, self.dialog, self.known, self.changed = cards, dialog, known, changed
        self.controller = cards.controller
        self._name = changed.name if changed is not None else ""
        if changed is None:
            with ui.element("div").classes("row-flex"):
                search = text_field("Find a model")
                search.on_value_change(lambda event: self._list(str(event.value or "")))
            self._found = ui.element("div").classes("catalogue")
            self._list("")
        self._form = ui.element("div").classes("stack tight")
        self._state = ui.label("").classes("wrap")
        self._fails = ui.label("").classes("muted small")
        self._add = button(
            "Add" if changed is None else "Save", cards.page.attempt(lambda *_: self._take()), kind="main"
        )
        self._add.disable()
        self._timer: Any = None
        if changed is not None:
            self._choose(changed.name, plain(changed))

    def _list(self, words: str) -> None:
        self._found.clear()
        wanted = words.casefold().split()
        with self._found:
            for name, model_entry in self.known.items():
                if all(word in f"{name} {model_entry['summary']}".casefold() for word in wanted):
                    choice = ui.element("button").classes("model-choice" + (" here" if name == self._name else ""))
                    choice.props["type"] = "button"
                    choice.props["aria-label"] = f"Model {name}"
                    choice.on("click", lambda name=name: self._choose(name, {}))
                    with choice:
                        ui.label(name).classes("strong")
                        ui.label(model_entry["summary"]).classes("muted small")

    def _choose(self, name: str, given: Mapping[str, Any]) -> None:
        self._name = name
        model_entry, job = self.known[name], self.controller.project.work.job
        if self.changed is None:
            self._list("")
        self._form.clear()
        with self._form:
            heading(name, 3)
            ui.label(model_entry["summary"]).classes("muted small")
            for needs, field, words in NEEDS:
                if model_entry[needs] and not getattr(job, field):
                    ui.label(f"It needs {words}.").classes("chip warn wrap")
            first = [*job.sensitive, *job.insensitive, *job.quasi]
            rest = [str(column["column"]) for column in self.controller.project.work.columns]
            self.form = Form(model_entry["fields"], columns=list(dict.fromkeys([*first, *rest])), given=given,
                             changed=self._settle)  # fmt: skip
        self._settle()

    def _settle(self) -> None:
        if self._timer is not None:
            self._timer.deactivate()
        with self._form:
            self._timer = ui.timer(SETTLE_SECONDS, self._look, once=True)

    async def _look(self) -> None:
        given = self.form.complete()
        if given is None:
            self._state.set_text("Fill in the fields.")
            self._add.disable()
            return
        asked = {"name": self._name, **given}
        try:
            result = await self.controller.run_short("releases.failing", **self._arguments, model=asked)
        except Superseded:
            return
        if self._state.is_deleted or {"name": self._name, **(self.form.complete() or {})} != asked:
            return
        self._state.set_text(result["wrong"] or result["words"])
        self._state.classes(remove="bad-text" if not result["wrong"] else "", add="bad-text" if result["wrong"] else "")
        self._fails.set_text("" if result["wrong"] else failing_words(result))
        self._add.set_enabled(not result["wrong"])

    @property
    def _arguments(self) -> dict[str, str]:
        job = self.controller.project.work.job
        rest = [model for model in job.models if model != self.changed]
        return self.controller.arguments_for(job.replaced(models=rest))

    def _take(self) -> None:
        self.cards.take({"name": self._name, **self.form.given()}, self.changed)
        self.dialog.close()


def failing_words(result: Mapping[str, Any]) -> str:
    """How many classes fail a model without it, in words."""
    if result["wrong"]:
        return str(result["wrong"])
    if result["failing"] is None:
        return ""
    if not result["failing"]:
        return f"All {result['classes']:,} classes of the quick preview satisfy it even without it."
    return f"Without it, {result['failing']:,} of {result['classes']:,} classes of the quick preview fail it."


def plain(model: Model) -> dict[str, Any]:
    """A model as a form takes it."""
    return {"name": model.name, **{name: value for name, value in model.to_dict().items() if name != "name"}}
