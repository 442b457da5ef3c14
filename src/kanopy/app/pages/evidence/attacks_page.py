"""Attacks: what an attacker learns from the release beyond what is true of other people, and what authorities ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import events, ui

from kanopy._errors import JobError
from kanopy.app.pages.evidence.profiles import Profiles
from kanopy.app.pages.page import Page
from kanopy.app.pages.release.advice import write_advice
from kanopy.app.server import UPLOAD_LIMIT
from kanopy.app.widgets.elements import button, card, heading, labelled, picture, share, tiles, title
from kanopy.app.widgets.fields import choice_field, fields, number_field, text_field, tick_field
from kanopy.app.widgets.grid import Choice, Grid

HELD, TABLE, NONE = "held", "table", "none"
CONTROLS = {HELD: "Hold people back", TABLE: "Another table", NONE: "None"}
ABOUT_CONTROL = {
    HELD: "So many people are held back, by person. The job makes a release of the others, and that is attacked.",
    TABLE: "A table of other people of the same population, who are not in the release. The release itself is "
    "attacked.",
    NONE: "Without a control group only rates are measured: they count what is true of everybody as well.",
}
HEADS = ("Attack", "What is known, and what is guessed", "Guesses", "Rate", "Control", "Naive", "Risk",
         "95 % interval", "People", "In words")  # fmt: skip
FORMATS = ("html", "pdf", "docx", "json")


class AttacksPage(Page):
    """Settings on the left, what was measured on the right, profiles below."""

    path, name, icon = "/attacks", "Attacks", "policy"

    def build(self) -> None:
        """Write the page."""
        title("Attacks", "What does the release tell about its people beyond what is true of others?")
        summary = self.controller.summary
        if summary is None:
            with card():
                ui.label("No release of this job was made yet: run it under Release.").classes("muted")
                button("Go to Release", lambda: ui.navigate.to("/release"), kind="main", icon="tune")
            return
        with ui.element("div").classes("two wide-right"):
            with card():
                self._settings()
            with ui.element("div").classes("stack") as self._found, card():
                ui.label("This release was not attacked yet.").classes("muted")
        self._tables = ui.element("div").classes("stack")
        self.profiles = Profiles(self)
        self.later(self._load)

    # ---- settings -----------------------------------------------------------------------------------------

    def _settings(self) -> None:
        job = self.controller.project.work.job
        heading("Control group")
        self._control = labelled(Choice(CONTROLS, HELD), "Control group")
        self._about = ui.label(ABOUT_CONTROL[HELD]).classes("muted small")
        with ui.element("div").classes("stack tight") as self._held:
            self._share = number_field("People held back", 20, low=1, suffix="%")
        with ui.element("div").classes("stack tight drop") as self._other:
            self._place = text_field("Path or address of the other table")
            upload = ui.upload(label="or drop a file here", auto_upload=True, max_files=1, max_file_size=UPLOAD_LIMIT)
            upload.on_upload(self.attempt(self._uploaded))
            labelled(upload, "Upload the table of the control group")
        self._other.set_visibility(False)
        self._control.on_value_change(lambda event: self._choose(event.value))
        heading("What is known, and what is guessed", 3)
        sensitive_columns = list(
            dict.fromkeys([*job.sensitive, *(name for model in job.models for name in model.sensitive)])
        )
        columns = [*job.quasi, *job.sensitive, *job.insensitive]
        self._secrets = choice_field(
            "Columns that are guessed", columns, sensitive_columns, several=True, hint="By default the sensitive ones"
        )
        self._first = choice_field(
            "Columns of a first source", list(job.quasi), [], several=True,
            hint="For linkability: what one source knows; a second one knows the others. Empty: halves by chance",
        )  # fmt: skip
        earlier = {release["folder"]: f"{release['made'][:16].replace('T', ' ')} · k = {release['k']}"
                   for release in self.controller.releases_made(everything=True)
                   if release["folder"] != self.controller.result_folder.name}  # fmt: skip
        self._earlier = choice_field(
            "Earlier release of the same people", {"": "none", **earlier}, "", hint="What do both give away?"
        )
        with ui.expansion("Advanced").props("dense").classes("advanced"), fields():
            self._guesses = number_field("Guesses per attack", 1000, low=1)
            self._seed = number_field("Seed", 0, low=0)
            self._learn = tick_field("Train a guesser as well", True, hint="A random forest; needs scikit-learn")
        self._run = button("Run the attacks", self.attempt(lambda *_: self._attack()), kind="main large",
                           icon="play_arrow")  # fmt: skip
        ui.label("Singling out, linkability, inference, membership, and what follows from a minimal release.").classes(
            "muted small"
        )

    def _choose(self, kind: str) -> None:
        self._about.set_text(ABOUT_CONTROL[kind])
        self._held.set_visibility(kind == HELD)
        self._other.set_visibility(kind == TABLE)

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        source = await self.controller.keep_upload(event.file)
        self._place.set_value(source)

    def control(self) -> tuple[str, bool]:
        """The control group, and whether it is a share that is held back."""
        if self._control.value == HELD:
            return f"{float(self._share.value or 0):g}%", True
        if self._control.value == NONE:
            return "", False
        location = str(self._place.value or "").strip()
        if not location:
            raise JobError("Name the table of other people, or upload it.")
        return self.controller.other_table(location), False

    @property
    def chance(self) -> dict[str, int]:
        """Guesses and seed."""
        return {"guesses": int(self._guesses.value or 0), "seed": int(self._seed.value or 0)}

    async def _attack(self) -> None:
        control, held = self.control()
        before, summary = str(self._earlier.value or ""), {}
        if before:
            summary = next(
                release for release in self.controller.releases_made(everything=True) if release["folder"] == before
            )
        self._run.disable()
        try:
            report = await self.controller.attack(
                {
                    "control": control, "share": held, "secrets": list(self._secrets.value or []),
                    "first": list(self._first.value or []), "learn": bool(self._learn.value), **self.chance,
                    "earlier": str(self.controller.project.result_folder(before) / summary["file"]) if before else "",
                },
                self.session.who,
            )  # fmt: skip
        finally:
            if not self._run.is_deleted:
                self._run.enable()
        self.here()
        self._write(report)

    # ---- what was found -------------------------------------------------------------------------------------

    async def _load(self) -> None:
        folder = str(self.controller.result_folder)
        job = {name: self.controller.task_arguments[name] for name in ("job", "project_folder")}
        report = await self.controller.run_short("evidence.last_attack", folder=folder, **job)
        self.here()
        if report is not None:
            self._write(report)
        await self.profiles.load()

    def _write(self, report: Mapping[str, Any]) -> None:
        self._found.clear()
        beyond = [attack for attack in report["attacks"] if attack["risk"] and attack["risk"]["low"] > 0]
        with self._found:
            kind = "bad" if beyond and report["control_people"] else "warn" if report["control_people"] is None else ""
            with ui.element("div").classes(f"verdict {kind}").props("role=status"):
                ui.icon("gpp_maybe" if kind else "gpp_good")
                ui.label(report["verdict"])
            control = report["control_people"]
            worst = {name: _risk(criterion) for name, criterion in report["criteria"].items()}
            tiles(
                *((text, f"attack_{name.replace(' ', '_')}", note) for name, (text, note) in worst.items()),
                ("–" if control is None else f"{control:,}", "control_group",
                 f"of {report['people'] + (control or 0):,} {report['counted']}" if report["held_back"] else ""),
            )  # fmt: skip
            if report["remedies"]:
                with card():
                    write_advice(self, report["remedies"])
                    ui.label("Run and attack the new release afterwards: no change is promised to suffice.").classes(
                        "muted small"
                    )
            self._files(report)
        self._tables.clear()
        with self._tables:
            with card():
                heading("Attacks")
                grid = Grid(HEADS, label="Attacks and their rates", aligned=dict.fromkeys(range(2, 9), "right"))
                grid.fill([_line(attack) for attack in report["attacks"]])
                picture(report["chart"], "Rates of success with 95 % intervals, on people of the release and others")
                isolated = report["isolated"]
                beside = "" if isolated["control_share"] is None else (
                    f" {share(isolated['control_share'])} of these isolate somebody in the control group."
                )  # fmt: skip
                ui.label(
                    f"Labels and untouched values isolate {isolated['people']:,} of {report['people']:,} "
                    f"{report['counted']}." + beside
                ).classes("small")
            self._minimal(report)

    def _minimal(self, report: Mapping[str, Any]) -> None:
        minimal = report["minimal"]
        if minimal is None:
            return
        with card():
            heading("What follows from the release being minimal")
            ui.label(
                "An attacker who knows that no finer release satisfies the job excludes what would have allowed one."
            ).classes("muted small")
            if minimal["minimality"]:
                grid = Grid(
                    ("Sensitive column", "People above", "Highest belief", "By frequency", "Allowed", "Not minimal"),
                    label="Minimality attack", aligned=dict.fromkeys(range(1, 6), "right"),
                )  # fmt: skip
                grid.fill([
                    [
                        column["column"], f"{column['people']:,}" if column["told"] else "too few worlds",
                        share(column["believed"]) if column["told"] else "–", share(column["by_frequency"]),
                        share(column["promised"]), f"{column['not_minimal']:,}",
                    ]
                    for column in minimal["minimality"]
                ])  # fmt: skip
            if minimal["downcoding"]:
                grid = Grid(
                    ("Column", "Rows", "In narrowed classes", "Least share left", "Certain", "Certain for members",
                     "Not minimal"),
                    label="Downcoding", aligned=dict.fromkeys(range(1, 7), "right"),
                )  # fmt: skip
                grid.fill([
                    [
                        column["column"], f"{column['rows']:,}", f"{column['narrowed_rows']:,}",
                        share(column["least_share"]),
                        f"{column['certain_rows']:,}", f"{column['certain_for_members']:,}",
                        f"{column['not_minimal']:,}",
                    ]
                    for column in minimal["downcoding"]
                ])  # fmt: skip
            elif not minimal["local"]:
                ui.label("Every column has one level: downcoding excludes nothing.").classes("small")

    def _files(self, report: Mapping[str, Any]) -> None:
        with card():
            for line in report["notes"]:
                ui.label(line).classes("muted small wrap")
            with ui.element("div").classes("row-flex"):
                ui.label("Document").classes("strong")
                for ending in FORMATS:
                    send = self.attempt(lambda *_, ending=ending: self._send(ending))
                    button(ending.upper(), send, icon="download", hint=f"Download the attacks as {ending.upper()}")
                ui.label("They are also a section of the report under Download.").classes("muted small")

    async def _send(self, ending: str) -> None:
        folder = self.controller.result_folder
        name = (self.controller.summary or {}).get("file", "release")
        content = await self.controller.run_short(
            "evidence.document", folder=str(folder), ending=f".{ending}", source=name
        )
        ui.download.content(content, f"attacks.{ending}")

    def state(self) -> Any:
        """The release that is attacked."""
        return self.controller.project.job_mark, self.controller.result_folder.name, self.controller.table_state


def _risk(criterion: Mapping[str, Any] | None) -> tuple[str, str]:
    if criterion is None or criterion["risk"] is None:
        return "–", "could not be measured"
    return share(criterion["risk"]["value"]), f"{criterion['risk']['low']:.1%} to {criterion['risk']['high']:.1%}"


def _line(attack: Mapping[str, Any]) -> list[str]:
    risk, rate, control = attack["risk"], attack["rate"], attack["control_rate"]
    return [
        attack["attack"], attack["detail"], f"{attack['guesses']:,}", "–" if rate is None else share(rate["value"]),
        "–" if control is None else share(control["value"]),
        "–" if attack["naive_rate"] is None else share(attack["naive_rate"]),
        "–" if risk is None else share(risk["value"]),
        "–" if risk is None else f"{risk['low']:.1%}–{risk['high']:.1%}",
        "–" if attack["people"] is None else f"{attack['people']:,}", attack["verdict"],
    ]  # fmt: skip
