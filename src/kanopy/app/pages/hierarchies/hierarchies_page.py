"""Hierarchies: what each quasi-identifier may become, drawn, scored, edited and compared."""

from __future__ import annotations

import contextlib
from typing import Any

from nicegui import events, ui

from kanopy import _temporary
from kanopy._errors import HierarchyError
from kanopy.app.pages.hierarchies.edit_panel import EditPanel
from kanopy.app.pages.hierarchies.wizard import PLAIN, Wizard
from kanopy.app.pages.page import AnswerOutdated, Page
from kanopy.app.project import safe_name
from kanopy.app.task_cache import AT_K, Superseded
from kanopy.app.widgets.elements import button, card, heading, labelled, named, number, tip, title
from kanopy.app.widgets.grid import Grid
from kanopy.app.widgets.tree import Tree
from kanopy.hierarchy.files.files import KINDS, read_hierarchy, write_hierarchy
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.hierarchy import Hierarchy

UPLOAD_LIMIT = 200 * 1024**2
MOST_VALUES = 1_000
"""Values whose levels are listed."""
FORMATS = {"csv": "CSV, levels", "parents": "CSV, parents", "json": "JSON", "dot": "DOT (Graphviz)"}
LEAST_SHOWN = 0.00005
"""Smaller losses are shown as 0.0000."""


class HierarchiesPage(Page):
    """One hierarchy at a time, with what it costs."""

    path, name, icon = "/hierarchies", "Hierarchies", "account_tree"

    def build(self) -> None:
        """Write the page."""
        quasi = self.controller.project.work.job.quasi
        title("Hierarchies", "What you see is what the release will hold: each value climbs along its branch.")
        if not quasi:
            with card():
                ui.label("No column is a quasi-identifier yet. Give one this role under Data.")
            return
        if getattr(self, "column", None) not in quasi:
            self.column = self.session.column if self.session.column in quasi else quasi[0]
        self.session.column = self.column
        with ui.element("div").classes("choices") as line:
            labelled(line, "Column")
            for name in quasi:
                choice = ui.element("button").classes("choice" + (" here" if name == self.column else ""))
                choice.props["type"] = "button"
                choice.on("click", lambda name=name: self._choose_column(name))
                with choice:
                    ui.label(name)
        with ui.element("div").classes("two wide-left"):
            with card():
                with ui.element("div").classes("row-flex"):
                    self._heading = heading(self.column)
                    ui.element("div").classes("grow")
                    self._files()
                self._draft_words = ui.label("").classes("chip warn")
                self._draft_words.set_visibility(False)
                self._scores = ui.element("div").classes("row-flex")
                self._tree = Tree([], f"Hierarchy of {self.column}", choose=self._chosen, move=self._moved)
                with ui.expansion("As a table").props("dense").classes("advanced") as self._as_table:
                    self._levels = Grid(label=f"Levels of {self.column}")
                self._as_table.on_value_change(self.attempt(lambda *_: self._write_levels()))
                with ui.element("div").classes("legend"):
                    for colour, words in (("var(--line)", "loses little"), ("var(--before)", "loses much")):
                        with ui.element("div"):
                            ui.element("i").style(f"background:{colour}")
                            ui.label(words)
                    self._few = ui.label("red: fewer rows than k")
                    ui.label("green: what the preview publishes")
                    ui.label("drag a node onto a group to move it; shift-click chooses several")
            with ui.element("div").style("display:flex;flex-direction:column;gap:18px"):
                self._effect = card()
                self.edits = EditPanel(self)
        self._draft = ""
        self._chips: list[tuple[str, Any]] = []
        self.wizard = Wizard(self)
        self._offers = card()
        with self._offers:
            heading("Suggested hierarchies")
            ui.spinner()
        with self._effect:
            heading("Effect on the release")
            ui.label("Looking …").classes("muted")
        self._meaning = card()
        self._meaning.set_visibility(False)
        self._beside = ui.element("div")
        self.later(self._load)

    def _choose_column(self, name: str) -> None:
        self.column = name
        super().update()

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy that is shown."""
        hierarchy = self.controller.project.hierarchy(self.column)
        if hierarchy is None:
            raise HierarchyError(f"{self.column!r} has no hierarchy of its own yet.")
        return hierarchy

    @property
    def version(self) -> Any:
        """Tells the hierarchy from what it was before, and what it will be."""
        return self.column, self.controller.project.work.job.hierarchies.get(self.column)

    # ---- loading ------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        with contextlib.suppress(AnswerOutdated):
            await self._draw()
        self.here()
        await self._offer()
        self._offer_meaning()
        await self.wizard.load()
        with contextlib.suppress(AnswerOutdated, Superseded):
            await self._show_effect()
        self.here()
        if self._found["words"]:
            await self._weigh_meaning()

    def _shown(self) -> Any:
        return self.state(), self.column, self._draft

    def _still(self, state: Any) -> None:
        """Go on only if the place is there and shows the same job and column: answers may overtake one another."""
        self.here()
        if state != self._shown():
            raise AnswerOutdated

    async def show_draft(self, text: str, words: str) -> None:
        """Draw a hierarchy that is not in use yet; nothing draws the one in use."""
        self._draft = text
        self._draft_words.set_visibility(bool(text))
        self._draft_words.set_text(f"Not in use yet: {words}")
        self.edits.shown(not text)
        with contextlib.suppress(AnswerOutdated):
            await self._draw()

    async def _draw(self) -> None:
        text, state = self._draft or hierarchy_json(self.hierarchy), self._shown()
        drawn = await self.controller.cached("trees.tree", AT_K, column=self.column, hierarchy=text)
        self._still(state)
        k = self.controller.project.work.job.k
        self._drawn = drawn
        self._tree.fill(drawn["nodes"], k=k, counted=drawn["counted"])
        self._few.set_text(f"red: fewer {drawn['counted']} than k")
        self._scores.clear()
        with self._scores:
            _write_scores(drawn)
        self._write_levels()
        self.edits.fill()
        self._mark_offers()

    def _mark_offers(self) -> None:
        """Mark the suggestions that are the hierarchy in use, and no other."""
        own = hierarchy_json(self.hierarchy)
        for hierarchy, chip in self._chips:
            if not chip.is_deleted:
                chip.set_visibility(hierarchy == own)

    def _write_levels(self) -> None:
        """Every value with its label on each level, as in a table of generalizations."""
        if self._as_table.value:
            text = self._draft
            tree = parse_json(text, self.column, name=self.column) if text else self.hierarchy
            self._levels.head([f"level {level}" for level in range(tree.height + 1)])
            self._levels.fill([row for row, _ in zip(tree.rows(), range(MOST_VALUES), strict=False)])

    async def _draw_with_effect(self) -> None:
        await self._draw()
        await self._show_effect()

    async def _show_effect(self) -> None:
        state = self._shown()
        preview = await self.controller.preview()
        self._still(state)
        before, self._last_effect = getattr(self, "_last_effect", None), preview
        self._effect.clear()
        with self._effect:
            heading("Effect on the release")
            if not preview["feasible"]:
                ui.label(preview["reason"]).classes("chip bad").style("white-space:normal")
                return
            with ui.element("div").classes("pairs"):
                for key, text, earlier in (
                    ("loss", f"{preview['loss']:.4f}", before and before.get("loss")),
                    ("column_loss", f"{preview['column_losses'].get(self.column, 0):.4f}", None),
                    ("classes", f"{preview['classes']:,}", before and before.get("classes")),
                    ("suppressed", f"{preview['suppressed']:,}", before and before.get("suppressed")),
                ):
                    named(key)
                    with ui.element("div").classes("row-flex").style("gap:8px"):
                        number(text, key)
                        if earlier is not None and earlier != preview.get(key):
                            state = f"{earlier:,.4f}" if isinstance(earlier, float) else f"{earlier:,}"
                            ui.label(f"before {state}").classes("muted small")
            ui.label(f"A quick look with {preview['algorithm']}, k = {self.controller.project.work.job.k}.").classes(
                "muted small"
            )
        level = (preview["levels"] or {}).get(self.column)
        if level is not None and not self._draft:
            drawn = self._drawn
            self._tree.fill(drawn["nodes"], k=self.controller.project.work.job.k, level=level, counted=drawn["counted"])

    async def _offer(self, everything: bool = False) -> None:
        if everything:
            offers = await self.controller.run_long(
                "Trying every method",
                "trees.suggestions",
                **self.controller.task_arguments,
                column=self.column,
                everything=True,
            )
        else:
            offers = await self.controller.cached(
                "trees.suggestions", AT_K, heavy=True, column=self.column, everything=False
            )
        self.here()
        self._found = offers
        self._offers.clear()
        self._chips = []
        with self._offers:
            with ui.element("div").classes("row-flex"):
                heading("Suggested hierarchies")
                ui.label("best first, each judged on this column alone").classes("muted small")
            self._meanings = self._write_offers(offers["ranked"])
            if offers["more"]:
                ui.label("The column has many values: only what reads well was tried.").classes("muted small")
                button("Try every method (may take minutes)", self.attempt(lambda *_: self._offer(True)))

    async def _weigh_meaning(self) -> None:
        """How much meaning each suggestion loses, where its values are words: known a moment later."""
        meanings = await self.controller.cached("trees.meanings", (), heavy=True, column=self.column, hierarchies=[
            offer["hierarchy"] for offer in self._found["ranked"]])  # fmt: skip
        self.here()
        for label, meaning in zip(self._meanings, meanings, strict=False):
            label.set_text("unknown" if meaning is None else f"{meaning:.3f}")

    def _write_offers(self, ranked: list[dict[str, Any]]) -> list[Any]:
        """Suggestions as lines of a table; returns where the meaning that each loses stands, for words."""
        words = bool(self._found["words"])
        alike = not any(offer["loss"] >= LEAST_SHOWN for offer in ranked)
        if alike:
            k = self.controller.project.work.job.k
            ui.label(
                f"Alone, this column needs no generalization at k = {k}: no suggestion loses anything. The typical "
                "loss, of larger groups, tells them apart."
            ).classes("muted small")
        with ui.element("div").classes("offers with-meaning" if words else "offers"):
            with ui.element("div").classes("line"):
                ui.label("Method").classes("muted small")
                for key in ("loss", "typical_loss", "groups", "levels", *(["meaning"] if words else []), "readable"):
                    named(key)
                ui.label("First level").classes("muted small")
                ui.label("")
            written = [self._write_offer(offer, words) for offer in ranked]
        self._mark_offers()
        return written

    def _write_offer(self, offer: dict[str, Any], words: bool) -> Any:
        with ui.element("div").classes("line"):
            with ui.element("div").classes("row-flex").style("gap:6px"):
                name, _, more = offer["method"].partition(" (")
                called = PLAIN.get(name, name) + (f" ({more}" if more else "")
                tip(ui.label(called).classes("strong"), f"The method {offer['method']}")
                chip = tip(ui.label("in use").classes("chip good"), "The tree above, as it is now")
                self._chips.append((offer["hierarchy"], chip))
            number(f"{offer['loss']:.4f}", "loss")
            number("–" if offer["typical"] is None else f"{offer['typical']:.4f}", "typical_loss")
            number(f"{offer['groups']:,}", "groups")
            number(offer["levels"], "levels")
            meaning = offer.get("meaning")
            meaning_label = number("…" if meaning is None else f"{meaning:.3f}", "meaning") if words else None
            number("yes" if offer["readable"] else "–", "readable")
            tip(ui.label(offer["labels"]).classes("labels"), offer["labels"])
            with ui.element("div").classes("row-flex").style("flex-wrap:nowrap;gap:4px"):
                button(
                    "Use",
                    self.attempt(lambda *_, chosen_offer=offer: self._use(chosen_offer)),
                    hint=f"Use {offer['method']}",
                )
                button(
                    "Compare", self.attempt(lambda *_, chosen_offer=offer: self._compare(chosen_offer)), kind="quiet"
                )
        return meaning_label

    def _use(self, offer: dict[str, Any]) -> None:
        tree = parse_json(offer["hierarchy"], self.column, name=self.column)
        self.controller.set_hierarchy(self.column, tree, f"{self.column}: hierarchy by {offer['method']}")

    async def _compare(self, offer: dict[str, Any]) -> None:
        other = offer["hierarchy"]
        own_hierarchy = hierarchy_json(self.hierarchy)
        comparison = await self.controller.run_short(
            "trees.compared", one=own_hierarchy, other=other, column=self.column
        )
        self.here()
        nodes = await self.controller.cached("trees.tree", AT_K, column=self.column, hierarchy=other)
        self.here()
        self._beside.clear()
        with self._beside, card():
            with ui.element("div").classes("row-flex"):
                heading("Side by side")
                words = "They group every value alike." if comparison["same"] else (
                    f"They share {comparison['shared']} groups of values, of {comparison['groups'][0]} and "
                    f"{comparison['groups'][1]}."
                )  # fmt: skip
                ui.label(words).classes("muted")
                ui.element("div").classes("grow")
                button("Close", self._beside.clear, kind="quiet", icon="close")
            with ui.element("div").classes("two"):
                for words, drawn_tree in (("present", self._drawn), (offer["method"], nodes)):
                    with ui.element("div").style("min-width:0;display:flex;flex-direction:column;gap:8px"):
                        heading(words, 3)
                        with ui.element("div").classes("row-flex"):
                            _write_scores(drawn_tree)
                        Tree(drawn_tree["nodes"], f"Hierarchy: {words}", k=self.controller.project.work.job.k,
                        height=380,
                             counted=drawn_tree["counted"])  # fmt: skip

    # ---- meaning ------------------------------------------------------------------------------------------

    def _offer_meaning(self) -> None:
        self._meaning.clear()
        self._meaning.set_visibility(self._found["words"])
        with self._meaning, ui.element("div").classes("row-flex"):
            heading("By meaning")
            ui.label("Its values are texts: groups can be made of words near in meaning (WordNet).").classes("muted")
            ui.element("div").classes("grow")
            button("Look at the meaning", self.attempt(lambda *_: self._look_up()), icon="menu_book")

    async def _look_up(self) -> None:
        chosen = dict(self.controller.project.work.senses.get(self.column, {}))
        looked_up = await self.controller.run_long(
            f"Looking up {self.column}",
            "trees.meaning",
            **self.controller.task_arguments,
            column=self.column,
            chosen=chosen,
        )
        self.here()
        self._meaning.clear()
        with self._meaning:
            heading("By meaning")
            if looked_up["offers"]:
                self._write_offers(looked_up["offers"])
            for note in looked_up["notes"]:
                ui.label(note).classes("muted small")
            if looked_up["unsure"]:
                heading("Which sense is meant?", 3)
            for word in looked_up["unsure"]:
                options = {sense["name"]: f"{sense['name']}: {sense['about']}"[:160] for sense in word["senses"]}
                chooser = ui.select(options, label=word["label"], value=word["senses"][0]["name"])
                chooser.props("outlined dense options-dense").style("min-width:360px")
                chooser.on_value_change(
                    self.attempt(lambda event, word=word: self._choose_sense(word["label"], event.value))
                )

    async def _choose_sense(self, word: str, sense: str) -> None:
        self.controller.set_sense(self.column, word, sense)
        await self._look_up()

    # ---- changes ------------------------------------------------------------------------------------------

    def _chosen(self, nodes: list[int]) -> None:
        with self.session.errors_shown():
            if not self._draft:
                self.edits.choose(nodes)

    async def _moved(self, node: int, under: int) -> None:
        if self._draft:
            raise HierarchyError("This hierarchy is not in use yet: use it first, then change it.")
        await self.attempt(lambda *_: self.edits.move(node, under))()

    def _files(self) -> None:
        with (
            ui.button("File", icon="import_export", color=None).classes("button").props("no-caps unelevated"),
            ui.menu(),
        ):
            for kind, words in FORMATS.items():
                ui.menu_item(f"Export as {words}", self.attempt(lambda *_, kind=kind: self._export(kind)))
            ui.menu_item("Import …", self._ask_import)

    def _export(self, kind: str) -> None:
        suffix = "csv" if kind == "parents" else kind
        name = f"{safe_name(self.column, 'hierarchy')}.{suffix}"
        with _temporary.folder() as folder:
            file = write_hierarchy(self.hierarchy, folder / name, parents=kind == "parents")
            ui.download.content(file.read_bytes(), name)

    def _ask_import(self) -> None:
        column = self.column
        with self.dialog(f"Import a hierarchy for {column}") as dialog:
            ui.label(f"CSV (levels or child,parent), JSON or DOT: {', '.join(KINDS)}").classes("muted")
            upload = ui.upload(
                auto_upload=True, max_files=1, max_file_size=UPLOAD_LIMIT, label="Drop a file, or press +"
            )

            async def uploaded(event: events.UploadEventArguments) -> None:
                await self._import(event.file.name, await event.file.read(), column)
                dialog.close()

            upload.on_upload(self.attempt(uploaded))

    async def _import(self, name: str, content: bytes, column: str = "") -> None:
        column = column or self.column
        with _temporary.folder() as folder:
            file = folder / safe_name(name, "hierarchy.csv")
            file.write_bytes(content)
            tree = read_hierarchy(file, column=column).rooted()
        drawn = await self.controller.cached("trees.tree", AT_K, column=column, hierarchy=hierarchy_json(tree))
        self.here()
        if drawn["problem"]:
            raise HierarchyError(drawn["problem"])
        self.controller.set_hierarchy(column, tree, f"{column}: hierarchy from {safe_name(name)}")

    def state(self) -> Any:
        """The job is all that is shown here."""
        return self.controller.project.job_mark

    def update(self) -> None:
        """The tree is drawn anew; the place itself only if the columns are other ones."""
        job = self.controller.project.work.job
        if getattr(self, "column", None) not in job.quasi or job.quasi != getattr(self, "_quasi", job.quasi):
            super().update()
        else:
            self.later(self._draw_with_effect)
        self._quasi = job.quasi


def _write_scores(drawn: dict[str, Any]) -> None:
    """The scores of a hierarchy, side by side."""
    scores = drawn["scores"]
    if scores is None:
        ui.label(drawn["problem"]).classes("chip bad").style("white-space:normal")
        return
    for key, text in (
        ("loss", f"{scores['loss']:.4f}"), ("groups", f"{scores['groups']:,}"), ("levels", scores["levels"]),
        ("distinct", f"{scores['values']:,}"),
    ):  # fmt: skip
        with ui.element("div").classes("row-flex").style("gap:6px"):
            named(key)
            number(text, key)
    ui.label(f"alone, in groups of at least {scores['k']} rows").classes("muted small")
