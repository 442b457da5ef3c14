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
        profiles = await self.page.controller.cached("evidence.profiles", None)
        self.page.here()
        self._known = {profile["name"]: profile for profile in profiles}
        self._box.clear()
        with self._box:
            with fields():
                names = {profile["name"]: profile["title"] for profile in profiles}
                self._name = choice_field("Profile", names, profiles[0]["name"])
                self._threshold = number_field("Largest risk", None, low=0, step=0.01, hint="Named by the expert")
                button("Check", self.page.attempt(lambda *_: self._check()), kind="main", icon="fact_check")
            self._about = ui.label(profiles[0]["intro"]).classes("muted small")
            self._found = ui.element("div").classes("stack tight")
        self._name.on_value_change(lambda event: self._chosen(event.value))
        self._chosen(profiles[0]["name"])

    def _chosen(self, name: str) -> None:
        profile = self._known[name]
        more = " It needs a control group: another table, chosen above." if CONTROL in profile["needs"] else ""
        self._about.set_text(profile["intro"] + more)
        self._threshold.set_visibility(profile["names_threshold"] or profile["largest_risk"] is not None)
        self._threshold.set_value(profile["largest_risk"])
        self._found.clear()

    async def _check(self) -> None:
        profile, control = self._known[self._name.value], ""
        if CONTROL in profile["needs"]:
            control, held = self.page.control()
            if held or not control:
                raise JobError(
                    f"{profile['name']} compares with people who are not in this release: choose 'Another table' as "
                    f"the "
                    "control group above, and name it."
                )
        asks = profile["names_threshold"] or profile["largest_risk"] is not None
        report = await self.page.controller.check_profile(
            {
                "policy": profile["name"], "control": control, **self.page.chance,
                "threshold": float(self._threshold.value) if asks and self._threshold.value else None,
            },
            self.page.session.who,
        )  # fmt: skip
        self.page.here()
        self._write(report)

    def _write(self, report: Mapping[str, Any]) -> None:
        self._found.clear()
        with self._found:
            with ui.element("div").classes("verdict" if report["holds"] else "verdict bad").props("role=status"):
                ui.icon("fact_check")
                ui.label(f"{report['title']}: {report['verdict']}.")
            with ui.element("div").classes("requirements"):
                for requirement in report["requirements"]:
                    ui.label(requirement["number"]).classes("muted")
                    with ui.element("div"):
                        ui.label(requirement["title"]).classes("strong")
                        ui.label(requirement["evidence"]).classes("small wrap")
                        ui.label(requirement["source"]).classes("muted small wrap")
                    ui.label(requirement["state"]).classes(f"chip {KINDS.get(requirement['state'], '')}")
            with ui.element("div").classes("row-flex"):
                ui.label("Document").classes("strong")
                for ending in FORMATS:
                    name = f"{report['policy']}.{ending}"
                    button(ending.upper(), lambda name=name: self._send(name), icon="download",
                           hint=f"Download {name}")  # fmt: skip

    def _send(self, name: str) -> None:
        ui.download.from_url(f"/files/{self.page.controller.result_folder.name}/{name}", name)
