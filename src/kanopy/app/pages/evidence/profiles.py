"""Profiles of authorities: what each asks for, checked on the release, with the document that is filed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._errors import JobError
from kanopy.app.widgets.elements import button, card, heading
from kanopy.app.widgets.fields import choice_field, fields, number_field

if TYPE_CHECKING:
    from kanopy.app.pages.evidence.attacks_page import AttacksPage

KINDS = {"met": "good", "not met": "bad", "for a person to judge": "warn"}
CONTROL = "control"
FORMATS = ("html", "pdf", "docx", "json")


class Profiles:
    """Choose an authority, check its requirements, download the document."""

    def __init__(self, page: AttacksPage) -> None:
        self.page = page
        with card():
            heading("What an authority asks for")
            ui.label("It is said what was checked and found; no compliance is claimed.").classes("muted small")
            self._box = ui.element("div").classes("stack tight")

    async def load(self) -> None:
        """Write the profiles that there are."""
        known = await self.page.controller.cached("evidence.profiles", None)
        self.page.here()
        self._known = {each["name"]: each for each in known}
        self._box.clear()
        with self._box:
            with fields():
                names = {each["name"]: each["title"] for each in known}
                self._name = choice_field("Profile", names, known[0]["name"])
                self._threshold = number_field("Largest risk", None, low=0, step=0.01, hint="Named by the expert")
                button("Check", self.page.attempt(lambda *_: self._check()), kind="main", icon="fact_check")
            self._about = ui.label(known[0]["intro"]).classes("muted small")
            self._found = ui.element("div").classes("stack tight")
        self._name.on_value_change(lambda event: self._chosen(event.value))
        self._chosen(known[0]["name"])

    def _chosen(self, name: str) -> None:
        own = self._known[name]
        more = " It needs a control group: another table, chosen above." if CONTROL in own["needs"] else ""
        self._about.set_text(own["intro"] + more)
        self._threshold.set_visibility(own["names_threshold"] or own["largest_risk"] is not None)
        self._threshold.set_value(own["largest_risk"])
        self._found.clear()

    async def _check(self) -> None:
        own, control = self._known[self._name.value], ""
        if CONTROL in own["needs"]:
            control, held = self.page.control()
            if held or not control:
                raise JobError(
                    f"{own['name']} compares with people who are not in this release: choose 'Another table' as the "
                    "control group above, and name it."
                )
        asks = own["names_threshold"] or own["largest_risk"] is not None
        found = await self.page.controller.check_profile(
            {
                "policy": own["name"], "control": control, **self.page.chance,
                "threshold": float(self._threshold.value) if asks and self._threshold.value else None,
            },
            self.page.session.who,
        )  # fmt: skip
        self.page.here()
        self._write(found)

    def _write(self, found: Mapping[str, Any]) -> None:
        self._found.clear()
        with self._found:
            with ui.element("div").classes("verdict" if found["holds"] else "verdict bad").props("role=status"):
                ui.icon("fact_check")
                ui.label(f"{found['title']}: {found['verdict']}.")
            with ui.element("div").classes("requirements"):
                for each in found["requirements"]:
                    ui.label(each["number"]).classes("muted")
                    with ui.element("div"):
                        ui.label(each["title"]).classes("strong")
                        ui.label(each["evidence"]).classes("small wrap")
                        ui.label(each["source"]).classes("muted small wrap")
                    ui.label(each["state"]).classes(f"chip {KINDS.get(each['state'], '')}")
            with ui.element("div").classes("row-flex"):
                ui.label("Document").classes("strong")
                for ending in FORMATS:
                    name = f"{found['policy']}.{ending}"
                    button(ending.upper(), lambda name=name: self._send(name), icon="download",
                           hint=f"Download {name}")  # fmt: skip

    def _send(self, name: str) -> None:
        ui.download.from_url(f"/files/{self.page.controller.result_folder.name}/{name}", name)
