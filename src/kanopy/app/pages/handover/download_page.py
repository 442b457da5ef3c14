"""Download: the release and its files, and how to repeat the run without the app."""

from __future__ import annotations

import asyncio
import io
import zipfile
from pathlib import Path
from typing import Any

from nicegui import ui

from kanopy.app.packing import pack_project
from kanopy.app.pages.handover.stored import write_releases, write_uploads
from kanopy.app.pages.page import Page
from kanopy.app.pdf import print_page, printing_browser
from kanopy.app.project import safe_name
from kanopy.app.record import holds, open_warnings
from kanopy.app.widgets.elements import button, card, heading, title
from kanopy.app.widgets.fields import choice_field

ABOUT = {
    "release": ("The release", "verified; may be published"),
    "manifest.json": ("Manifest", "what was done, without values of the table; may be published"),
    "report.html": ("Report", "for recipients and auditors; contains no original row"),
    "report.json": ("Numbers of the report", "for machines"),
    "mapping.csv": ("Mapping", "original → published; for internal use"),
    "reproduce.py": ("Script with the job in it", "repeats the run and compares; for internal use"),
}

ENDINGS = {
    ".csv": "CSV", ".tsv": "text with tabs", ".parquet": "Parquet", ".xlsx": "Excel", ".arrow": "Arrow",
    ".sav": "SPSS", ".dta": "Stata", ".xpt": "SAS transport",
}  # fmt: skip


class DownloadPage(Page):
    """Files on the left, how to do it without the page on the right."""

    path, name, icon = "/download", "Download", "inventory_2"

    def build(self) -> None:
        """Write the page."""
        title("Download", "The command line makes the same files with the same library calls.")
        with ui.element("div").classes("two"):
            with ui.element("div").classes("stack"):
                with card():
                    self._files()
                write_releases(self)
                write_uploads(self)
            with ui.element("div").style("display:flex;flex-direction:column;gap:18px;min-width:0"):
                self._again()

    # ---- files --------------------------------------------------------------------------------------------

    def _files(self) -> None:
        summary = self.controller.summary
        heading("Files")
        if summary is None:
            ui.label("No release of this job was made yet: run it under Release.").classes("muted")
            button("Go to Release", lambda: ui.navigate.to("/release"), kind="main", icon="tune")
        with ui.element("div").classes("files"):
            if summary is not None:
                folder = self.controller.result_folder
                for name in (
                    summary["file"],
                    "manifest.json",
                    "report.html",
                    "report.json",
                    "mapping.csv",
                    "reproduce.py",
                ):
                    self._file(name, folder / name)
                self._file("report.pdf", folder / "report.html")
            if summary is not None:
                self._other_format(summary["file"])
            ui.icon("description")
            with ui.element("div"):
                ui.label("Job file").classes("strong")
                ui.label("job.toml and its hierarchies, as `kanopy anonymize --job` reads them").classes("muted small")
            button("Download", self.attempt(lambda *_: self._job()), hint="Job file with hierarchies")
            ui.icon("inventory_2")
            with ui.element("div"):
                ui.label("Project as one file").classes("strong")
                ui.label(
                    "tables that were uploaded, every step, hierarchies, releases and the record; contains original "
                    "values, for internal use"
                ).classes("muted small")
            button("Download", self.attempt(lambda *_: self._pack()), hint="Project as one file")
        ui.label(f"All files are also in {self.controller.project.folder}.").classes("muted small")

    def _file(self, name: str, path: Path) -> None:
        what, about = ABOUT.get(
            "release" if name.startswith("release.") else name, ("Report as PDF", "the same page, printed")
        )
        ui.icon("shield" if "internal" in about else "task")
        if what == "The release":
            about = self._standing()
        with ui.element("div"):
            ui.label(f"{what} · {name}").classes("strong")
            ui.label(about).classes("muted small")
        if name == "report.pdf" and printing_browser() is None:
            ui.label("print the report with your browser").classes("muted small")
        elif name == "report.pdf":
            button("Download", self.attempt(lambda *_: self._pdf()), hint=f"Download {name}")
        elif path.exists():
            button("Download", self.attempt(lambda *_: self._send(name)), hint=f"Download {name}")
        else:
            button("Make", self.attempt(lambda *_: self._make()), hint=f"Make {name}")

    def _other_format(self, file: str) -> None:
        ui.icon("transform")
        chosen = choice_field("The release in another format", ENDINGS, ".csv")

        async def send() -> None:
            folder, ending = str(self.controller.result_folder), str(chosen.value)
            content = await self.controller.run_short("releases.converted", folder=folder, file=file, ending=ending)
            ui.download.content(content, f"release{ending}")

        button("Download", self.attempt(lambda *_: send()), hint="The release in another format")

    async def _pack(self) -> None:
        content = await asyncio.to_thread(pack_project, self.controller.project.folder)
        ui.download.content(content, f"{safe_name(self.controller.project.folder.name, 'project')}.kanopy")

    def _standing(self) -> str:
        """What the record says of the release."""
        release_card = self.controller.card(self.controller.result_folder.name)
        if release_card is None or not holds(release_card):
            return "not every promise is confirmed: do not publish it"
        if self.controller.table_state != "same":
            return "verified, but of a table that has changed since"
        left = len(open_warnings(release_card))
        signed = [signature["who"] for signature in self.controller.record.signatures(release_card["release"])]
        waits = f"; {left} warnings without an answer, see Review" if left else ""
        return "verified" + waits + (f"; signed by {', '.join(signed)}" if signed else "; not signed")

    def _send(self, name: str) -> None:
        ui.download.from_url(f"/files/{self.controller.result_folder.name}/{name}", name)

    async def _make(self) -> None:
        await self.controller.report()
        self.here()
        self.update()

    async def _pdf(self) -> None:
        page = self.controller.result_folder / "report.html"
        if not page.exists():
            await self.controller.report()
            self.here()
        ui.download.content(await print_page(page), "report.pdf")

    def _job(self) -> None:
        project, packed = self.controller.project, io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(project.job_file, "job.toml")
            for given in project.work.job.hierarchies.values():
                if isinstance(given, str):
                    archive.write(project.folder / given, given)
        ui.download.content(packed.getvalue(), "job.zip")

    # ---- without the page ---------------------------------------------------------------------------------

    def _again(self) -> None:
        for name, text, words in (
            ("Command line", self.controller.command, "the same bytes"),
            ("Python", self.controller.script, "the same bytes"),
            ("Job file", self.controller.project.work.job.to_toml(), "changes as you work"),
        ):
            with card():
                with ui.element("div").classes("row-flex"):
                    heading(name)
                    ui.label(words).classes("muted small")
                    ui.element("div").classes("grow")
                    button(
                        "Copy",
                        lambda text=text: self._copy(text),
                        icon="content_copy",
                        kind="quiet",
                        hint=f"Copy {name}",
                    )
                label = ui.label(text).classes("code")
                label.props["tabindex"] = "0"
                label.props["aria-label"] = name

    def _copy(self, text: str) -> None:
        ui.clipboard.write(text)
        ui.notify("Copied.", position="bottom-left")

    def state(self) -> Any:
        """The job, and what was written."""
        return (
            self.controller.project.job_mark,
            *self.release_state(),
            (self.controller.result_folder / "report.html").exists(),
        )
