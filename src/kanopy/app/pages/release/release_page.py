"""Release: how safe it must be, how it is found, what that would cost, and the release itself."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from kanopy._errors import NoSolution
from kanopy.app.pages.page import Page
from kanopy.app.pages.release.advanced import Advanced
from kanopy.app.pages.release.advice import write_advice
from kanopy.app.pages.release.models import ModelCards
from kanopy.app.pages.release.result_view import ResultView
from kanopy.app.widgets.elements import (
    Slider,
    button,
    card,
    heading,
    labelled,
    named,
    number,
    picture,
    share,
    tip,
    title,
)

MOST_K = 100
MOST_SUPPRESSED = 20
MOST_WEIGHT = 3.0


class ReleasePage(Page):
    """Sliders on the left, what they do on the right, the release below."""

    path, name, icon = "/release", "Release", "tune"
    _moving = False
    _shown: tuple[dict[str, Any], dict[str, Any] | None] | None = None

    def build(self) -> None:
        """Write the page."""
        title("Release", "Move the sliders; the classes follow at once. Run makes the release and verifies it.")
        if not self.controller.project.work.job.quasi:
            with card():
                ui.label("No column is a quasi-identifier yet. Give one this role under Data.")
            return
        with ui.element("div").classes("two wide-right"):
            with ui.element("div").style("display:flex;flex-direction:column;gap:18px;min-width:0"):
                with card():
                    self._safety()
                with card():
                    self._how()
            with ui.element("div").style("display:flex;flex-direction:column;gap:18px;min-width:0"):
                self._preview, self._shown = card(), None
                with card():
                    self._importance()
        self.result = ResultView(self)
        self._job = self.controller.project.work.job
        self.later(self._look)

    # ---- settings -----------------------------------------------------------------------------------------

    def _safety(self) -> None:
        job = self.controller.project.work.job
        heading("How safe")
        self._k = self._slider("k", "k", job.k, 2, MOST_K, 1, lambda value: {"k": int(value)}, "")
        self._limit = self._slider(
            "limit", "suppress", job.suppress * 100, 0, MOST_SUPPRESSED, 0.5,
            lambda value: {"suppress": round(value / 100, 12)}, "%",
        )  # fmt: skip
        heading("Privacy models besides k", 3)
        self._models = ModelCards(self)

    def _slider(
        self, key: str, field: str, value: float, low: float, high: float, step: float, setting: Any, unit: str
    ) -> tuple[Slider, ui.number]:
        """A slider for what is usual, and a number beside it without an upper end."""
        with ui.element("div").classes("slider"):
            with ui.element("div").classes("row-flex"):
                named(key)
                ui.element("div").classes("grow")
                text = ui.number(value=value, min=low, step=step, suffix=unit or None, format="%.10g")
                labelled(text.props("outlined dense").classes("short-number"), field)
            slider = Slider(min=low, max=high, step=step, value=min(value, high))
            labelled(slider, f"{field} (slider)")
            self._live(slider, text, lambda v: f"{field} = {v:g}{unit and ' '}{unit}", setting)

            def typed() -> None:
                if text.value is not None and float(text.value) >= low:
                    given = float(text.value)
                    slider.set_value(min(given, high))
                    self.controller.set_job(f"{field} = {given:g}{unit and ' '}{unit}", **setting(given))

            text.on("change", self.attempt(lambda *_: typed()))
        return slider, text

    def _live(self, slider: Slider, text: Any, words: Any, setting: Any) -> None:
        """What a slider would do is shown while it moves; where it is let go becomes a step."""

        async def moved(event: Any) -> None:
            if isinstance(text, ui.number):
                if self._settings_moved(text, event.value, slider):
                    text.set_value(event.value)
            else:
                text.set_text(f"{event.value:g}")
            await self._follow(setting(event.value))

        def settled(event: Any) -> None:
            # The slider may have moved on meanwhile: it must not be set back to where this step leads.
            self._moving = True
            try:
                self.controller.set_job(words(event.args), **setting(event.args))
            finally:
                self._moving = False

        slider.on_value_change(self.attempt(moved))
        slider.on("change", self.attempt(settled))

    @staticmethod
    def _settings_moved(text: ui.number, value: float, slider: Slider) -> bool:
        """Whether the number follows the slider: beyond its end the number leads."""
        most = float(slider.props["max"])
        return not (value >= most and text.value is not None and float(text.value) > most)

    def _how(self) -> None:
        heading("How it is found")
        self._algorithm = ui.element("div")
        self.later(self._write_algorithm)
        job = self.controller.project.work.job
        with ui.element("div").classes("row-flex"):
            for words, field, options in (
                ("Missing values", "missing", ["as-value", "suppress", "error"]),
                ("Suppressed rows", "suppressed_rows", ["keep", "drop"]),
            ):
                chosen = ui.select(options, label=words, value=getattr(job, field)).props(
                    "outlined dense options-dense"
                )
                chosen.style("min-width:140px;flex:1")
                chosen.on_value_change(self.attempt(lambda event, field=field, words=words: self.controller.set_job(
                    f"{words.lower()}: {event.value}", **{field: event.value})))  # fmt: skip
        with ui.element("div").classes("row-flex"):
            for words, field, on, off in (
                ("Keep the order of rows", "shuffle", False, None),
                ("Neutralise spreadsheet formulas", "neutralize_formulas", True, False),
            ):
                box = ui.checkbox(words, value=getattr(job, field) is on).props("dense")
                settings_of_choice = {
                    True: (f"{words.lower()}: yes", {field: on}),
                    False: (f"{words.lower()}: no", {field: off}),
                }
                box.on_value_change(self.attempt(lambda event,
                settings_of_box=settings_of_choice: self.controller.set_job(
                    settings_of_box[bool(event.value)][0], **settings_of_box[bool(event.value)][1])))  # fmt: skip
        self._advanced = Advanced(self)
        with ui.element("div").classes("row-flex"):
            self._run_button = button("Run", self.attempt(lambda *_: self.run()), kind="main large", icon="play_arrow")
            ui.label("The release is verified by code of its own before it is written.").classes("muted small")

    async def _write_algorithm(self) -> None:
        catalogue = await self.controller.cached("catalogue.catalogue", None)
        self.here()
        about = {algorithm["name"]: algorithm for algorithm in catalogue["algorithms"]}
        job = self.controller.project.work.job
        self._algorithm.clear()
        with self._algorithm:
            chosen = ui.select(list(about), label="Algorithm", value=job.algorithm, with_input=True)
            chosen.props("outlined dense options-dense")
            now = about[job.algorithm]
            ui.label(f"{now['does'][0].upper()}{now['does'][1:]}. Recoding: {now['recoding']}."
                     + (f" Proves: {now['proves']}." if now["proves"] else "")).classes("muted small")  # fmt: skip
            chosen.on_value_change(self.attempt(lambda event: self._set_algorithm(event.value)))

    def _set_algorithm(self, name: str | None) -> None:
        if name:
            self.controller.set_job(f"algorithm {name}", algorithm=name, parameters={}, local=False)

    def _importance(self) -> None:
        job = self.controller.project.work.job
        with ui.element("div").classes("row-flex"):
            heading("Importance of columns")
            ui.label("what counts more keeps more detail").classes("muted small")
        with ui.element("div").classes("importance"):
            for name in job.quasi:
                tip(ui.label(name).classes("ellipsis"), name)
                text = number(f"{job.weights.get(name, 1.0):g}", "weight")
                slider = Slider(min=0, max=MOST_WEIGHT, step=0.25, value=job.weights.get(name, 1.0))
                labelled(slider, f"Importance of {name}")
                self._live(
                    slider, text, lambda v, name=name: f"importance of {name}: {v:g}",
                    lambda v, name=name: {"weights": self._weights(name, v)},
                )  # fmt: skip

    def _weights(self, name: str, value: float) -> dict[str, float]:
        weights = {**self.controller.project.work.job.weights, name: float(value)}
        return {column: weight for column, weight in weights.items() if weight != 1.0}

    # ---- what it would do ---------------------------------------------------------------------------------

    async def _follow(self, settings: dict[str, Any]) -> None:
        """Show what settings would do that a slider passes over; only the last of them becomes a step."""
        self._trial: dict[str, Any] | None = settings
        if getattr(self, "_following", False):
            return
        self._following = True
        try:
            while self._trial is not None:
                job, self._trial = self.controller.project.work.job.replaced(**self._trial), None
                if job != self.controller.project.work.job:
                    preview = await self.controller.preview(job)
                    self.here()
                    self._show(preview, trial=True)
        finally:
            self._following = False

    async def _look(self) -> None:
        preview = await self.controller.preview()
        self.here()
        self._show(preview)

    def _show(self, preview: dict[str, Any], *, trial: bool = False) -> None:
        """Show a preview; where the release of the job was made, its figures, with the estimate beside what differs."""
        made = None if trial or self.controller.table_state != "same" else self.controller.summary
        if (preview, made) == self._shown:
            return
        self._shown = preview, made
        self._preview.clear()
        if made is not None:
            self._show_release(made, preview)
            return
        with self._preview:
            with ui.element("div").classes("row-flex"):
                heading("What it would do")
                exact = f"exactly what {preview.get('algorithm')} will find"
                quick = f"a quick look with {preview.get('algorithm', 'optimal')}; Run will lose less or as much"
                if preview.get("looked_at", 0) < preview.get("rows", 0):
                    quick = (
                        f"an estimate from {preview['looked_at']:,} of {preview['rows']:,} rows; Run counts all of them"
                    )
                ui.label(exact if preview.get("exact") else quick).classes("muted small")
            if not preview["feasible"]:
                ui.label(preview["reason"]).classes("verdict bad")
                write_advice(self, preview["advice"])
            else:
                suppressed_text = (
                    f"{preview['suppressed']:,} ({share(preview['suppressed'] / max(preview['rows'], 1))})"
                )
                with ui.element("div").classes("tiles small-tiles"):
                    for key, text in (
                        ("loss", f"{preview['loss']:.4f}"), ("classes", f"{preview['classes']:,}"),
                        ("smallest_class", f"{preview['smallest_class']:,}"),
("suppressed", suppressed_text),
                    ):  # fmt: skip
                        with ui.element("div"):
                            named(key)
                            number(text, key).classes("strong")
            with ui.element("div").classes("two tight"):
                picture(preview["charts"]["sizes"], "Share of rows by the size of their class, before and after")
                if "losses" in preview["charts"]:
                    picture(preview["charts"]["losses"], "Detail lost per column")

    def _show_release(self, made: dict[str, Any], preview: dict[str, Any]) -> None:
        estimate = preview if preview["feasible"] and not preview.get("exact") else {}
        loss = made["losses"].get("loss")
        with self._preview:
            with ui.element("div").classes("row-flex"):
                heading("What it does")
                about = "the release below"
                if estimate:
                    about += f"; struck out is the quick look with {estimate['algorithm']}, which searches less"
                ui.label(about).classes("muted small")
            with ui.element("div").classes("tiles small-tiles"):
                for key, now, was in (
                    ("loss", "–" if loss is None else f"{loss:.4f}", f"{estimate.get('loss', 0):.4f}"),
                    ("classes", f"{made['classes']:,}", f"{estimate.get('classes', 0):,}"),
                    ("smallest_class", f"{made['smallest_class']:,}", f"{estimate.get('smallest_class', 0):,}"),
                    ("suppressed", f"{made['suppressed']:,} ({share(made['suppressed'] / max(made['rows'], 1))})",
                     f"{estimate.get('suppressed', 0):,}"),
                ):  # fmt: skip
                    with ui.element("div"):
                        named(key)
                        number(now, key).classes("strong")
                        if estimate and was != now.partition(" (")[0]:
                            labelled(ui.label(was).classes("muted small shadow"), f"The quick look said {was}")
            with ui.element("div").classes("two tight"):
                charts = made.get("charts", {})
                if "sizes" in charts:
                    picture(charts["sizes"], "Share of rows by the size of their class, before and after")
                if "losses" in charts:
                    picture(charts["losses"], "Detail lost per column")

    async def run(self) -> None:
        """Make the release."""
        self._run_button.disable()
        try:
            await self.controller.run(self.session.who)
        except NoSolution as nothing:
            self.here()
            self.result.infeasible(nothing.reason, [advice_item.to_dict() for advice_item in nothing.advice])
        finally:
            if not self._run_button.is_deleted:
                self._run_button.enable()

    def state(self) -> Any:
        """The job, and whether its release was made."""
        return (self.controller.project.job_mark, *self.release_state())

    def update(self) -> None:
        """Only what follows from the settings is written anew, unless they were changed elsewhere."""
        before, now = getattr(self, "_job", None), self.controller.project.work.job
        if before is None or before.quasi != now.quasi:
            super().update()
            return
        self._job = now
        if not self._moving:
            for (slider, text), value, old, most in (
                (self._k, now.k, before.k, MOST_K),
                (self._limit, now.suppress * 100, before.suppress * 100, MOST_SUPPRESSED),
            ):
                if value != old:  # else somebody may be typing there
                    text.set_value(round(value, 10))
                    slider.set_value(min(value, most))
        if before.models != now.models or before.k != now.k:
            self._models.write()
        if before.algorithm != now.algorithm:
            self.later(self._write_algorithm)
            self.later(self._advanced.write)
        self.later(self._look)
        self.result.write()
