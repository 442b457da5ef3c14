"""Review: the card of the newest release, comments on it, its signatures, and the record of the project."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from kanopy._errors import DataError
from kanopy.app.guard import read_path
from kanopy.app.pages.page import Page
from kanopy.app.pages.release.verdict_card import write_verdict
from kanopy.app.record import SIGNED, card_digest, differences, holds, open_warnings, said
from kanopy.app.widgets.elements import button, card, heading, title
from kanopy.app.widgets.grid import Grid

MOST_EVENTS = 200
ALL = "the release"


class ReviewPage(Page):
    """What is to be signed on the left, who said what on the right."""

    path, name, icon = "/review", "Review", "verified_user"

    def build(self) -> None:
        """Write the page."""
        title("Review", "Warnings are answered, a second person reads what was made, and the signature is bound to it.")
        summary = self.controller.summary
        if summary is None:
            with card():
                ui.label("No release of this job was made yet: run it under Release.").classes("muted")
                button("Go to Release", lambda: ui.navigate.to("/release"), kind="main", icon="tune")
        else:
            release = self.controller.result_folder.name
            with ui.element("div").classes("two wide-left"):
                with ui.element("div").classes("stack"):
                    write_verdict(self, release, summary["sentence"])
                with ui.element("div").classes("stack"):
                    release_card = self.controller.card(release)
                    if release_card is not None:
                        self._signing(release_card)
                        self._comments(release_card)
        self._record()

    def _signing(self, release_card: dict[str, Any]) -> None:
        release, left = release_card["release"], open_warnings(release_card)
        record = self.controller.record
        with card():
            heading("Signatures")
            maker = next((event["who"] for event in record.of(release) if event["event"] == "release"), "")
            for signature in record.signatures(release):
                role_of_signer = "who made it" if signature["who"] == maker else "a second person"
                ui.label(
                    f"{signature['who']}, {signature['date']} ({role_of_signer}) {signature.get('words', '')}"
                ).classes("chip good wrap")
            ready = holds(release_card) and not left and self.controller.table_state == "same"
            if not ready:
                ui.label(
                    "It can be signed when every promise is confirmed, every warning is answered, and the table is "
                    "still the same."
                ).classes("muted")
            who = ui.input(label="Your name", value=self.session.who).props("outlined dense")
            who.set_enabled(not self.session.known_user)
            words = ui.input(label="Remark (if any)").props("outlined dense")
            digest = card_digest(release_card)

            def sign() -> None:
                self.session.who = str(who.value or "").strip()
                self.controller.sign(release, digest, self.session.who, str(words.value or ""))

            button("Sign", self.attempt(lambda *_: sign()), kind="main", icon="draw").set_enabled(ready)
            path = read_path(self.controller.link_secret, release)
            with ui.element("div").classes("row-flex"):
                ui.link("Read-only page for a reviewer", path, new_tab=True).classes("strong")
                copy = f"navigator.clipboard.writeText(location.origin + {path!r})"
                button("Copy its address", lambda: ui.run_javascript(copy), icon="link", kind="quiet",
                       hint="Whoever has it sees this card, comments and signatures, and nothing else")  # fmt: skip
            ui.label(f"Bound to the manifest {release_card['digests']['manifest'][:16]} … and to this card.").classes(
                "muted small"
            )

    def _comments(self, release_card: dict[str, Any]) -> None:
        with card():
            heading("Comments")
            for event in self.controller.record.of(release_card["release"]):
                if event["event"] == "comment":
                    ui.label(f"{event['who']}, {event['date']}, on {event['about'] or ALL}:").classes("muted small")
                    ui.label(event["words"]).classes("wrap")
            about = ui.select(["", *release_card["columns"]], label="About (a column, or the release)", value="")
            about.props("outlined dense options-dense")
            words = ui.textarea(label="Comment").props("outlined dense autogrow")

            def add() -> None:
                given = str(words.value or "")
                self.controller.comment(release_card["release"], str(about.value or ""), given, self.session.who)

            button("Add", self.attempt(lambda *_: add()), icon="add_comment", hint="Add the comment to the record")

    def _record(self) -> None:
        with card():
            heading("Record")
            try:
                record = self.controller.record
            except DataError as error:
                ui.label(str(error)).classes("verdict bad")
                return
            wrong = differences(self.controller.project.folder, record)
            if wrong:
                ui.label(f"Not as recorded: {'; '.join(wrong[:5])}.").classes("verdict bad wrap")
            signed = sum(event["event"] == SIGNED for event in record.events)
            ui.label(
                f"{len(record.events):,} events, {signed} signatures. No line was changed. `kanopy record "
                f"{self.controller.project.folder.name}` verifies it without the app. Last hash: {record.head or '–'}"
            ).classes("muted small wrap")
            grid = Grid(["date", "who", "what"], label="Record of the project")
            grid.fill([[event["date"], event["who"], said(event)] for event in record.events[: -MOST_EVENTS - 1 : -1]])

    def state(self) -> Any:
        """The release, the record, and the table."""
        return (self.controller.project.job_mark, *self.release_state())
