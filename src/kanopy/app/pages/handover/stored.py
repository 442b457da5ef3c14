"""What is stored in the project: every release that was made, and the tables that were uploaded; to fetch or delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy.app.widgets.elements import button, card, heading, tip

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page


def write_releases(page: Page) -> None:
    """The releases of the project, the newest first; what is not of the present table says so."""
    controller = page.controller
    made = [release for release in reversed(controller.releases_made(everything=True)) if "digests" in release]
    with card():
        heading("All releases of this project")
        ui.label("A run never overwrites an earlier release.").classes("muted small")
        if not made:
            ui.label("None was made yet.").classes("muted")
        for release in made:
            present = release["table"] == controller.project.work.table and controller.table_state == "same"
            with ui.element("div").classes("stored"):
                with ui.element("div").style("min-width:0"):
                    ui.label(f"{release['made'][:16].replace('T', ' ')} · k = {release['k']}").classes("strong")
                    facts = ui.label(
                        f"{release['rows']:,} rows, {release['suppressed']:,} suppressed, {release['folder']}"
                    )
                    tip(facts.classes("muted small wrap"), f"SHA-256 {release['digests'][release['file']]}")
                ui.label("this table" if present else "of other content").classes(
                    "chip good" if present else "chip warn"
                )
                fetch = page.attempt(
                    lambda *_, stored_release=release: _send(stored_release["folder"], stored_release["file"])
                )
                button("Download", fetch, hint=f"Download the release {release['folder']}")
                delete = page.attempt(lambda *_, stored_release=release: _ask(page, stored_release["folder"]))
                button("", delete, icon="delete", kind="quiet", hint=f"Delete the release {release['folder']}")


def write_uploads(page: Page) -> None:
    """The tables that were uploaded into the project."""
    controller = page.controller
    files = controller.project.uploads()
    if not files:
        return
    with card():
        heading("Uploaded tables")
        for name, size in files:
            with ui.element("div").classes("stored"):
                ui.label(name).classes("wrap")
                ui.label(f"{size / 1e6:,.1f} MB").classes("muted small")
                delete = page.attempt(lambda *_, name=name: _ask_upload(page, name))
                button("", delete, icon="delete", kind="quiet", hint=f"Delete the uploaded table {name}")


def _send(release: str, name: str) -> None:
    ui.download.from_url(f"/files/{release}/{name}", name)


def _ask(page: Page, release: str) -> None:
    _sure(page, f"Delete the release {release}?", "Its files are removed for good. The record keeps that it was made.",
          lambda: page.controller.remove_release(release, page.session.who))  # fmt: skip


def _ask_upload(page: Page, name: str) -> None:
    _sure(page, f"Delete {name}?", "The file is removed for good; releases that were made of it stay.",
          lambda: page.controller.delete_upload(name))  # fmt: skip


def _sure(page: Page, words: str, about: str, act: Any) -> None:
    with page.dialog(words, "min-width:min(420px, 90vw)") as dialog:
        ui.label(about)

        def done() -> None:
            dialog.close()
            act()
            page.here()
            page.update()

        with ui.element("div").classes("row-flex"):
            button("Delete", page.attempt(lambda *_: done()), kind="danger")
            button("Keep", dialog.close)
