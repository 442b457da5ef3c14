"""What a person decides about a release that was made: warnings are answered, comments written, releases signed."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError
from kanopy.app.record import (
    ANSWERED,
    ATTACKED,
    COMMENTED,
    MADE,
    PREPARED,
    PROFILED,
    REMOVED,
    REOPENED,
    SIGNED,
    Record,
    add_event,
    card_digest,
    differences,
    holds,
    make_card,
    open_warnings,
    read_record,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from kanopy.app.project import Project


class Reviewing:
    """The part of the controller that writes the record."""

    project: Project
    notify: Callable[[], None]

    @property
    def record(self) -> Record:
        """The record of the project, read anew from the disk: what was changed there is noticed."""
        return read_record(self.project.folder)

    @property
    def record_mark(self) -> str:
        """Changes with every event."""
        with contextlib.suppress(DataError):
            return self.record.head
        return "broken"

    def card(self, release: str) -> dict[str, Any] | None:
        """The card of a release; `None` if it is not there, or was made before there were cards."""
        folder = self.project.result_folder(release)
        try:
            summary = json.loads((folder / "summary.json").read_text("utf-8"))
            return make_card(folder, summary, self.record)
        except (OSError, ValueError, KeyError):
            return None

    def record_release(self, folder: Path, summary: Mapping[str, Any], who: str) -> None:
        """A release was made: who made it, of which table, and the digests of its files."""
        self._add({
            "event": MADE, "release": folder.name, "who": who, "table": summary["table"],
            "source": Path(str(summary["source"]).partition("::")[0]).name, "digests": dict(summary["digests"]),
            "rows": summary["rows"], "suppressed": summary["suppressed"], "k": summary["k"],
        })  # fmt: skip

    def record_attack(self, release: str, report: Mapping[str, Any], who: str) -> None:
        """A release was attacked: by whom, and what was measured."""
        self._add({"event": ATTACKED, "release": release, "who": who, "words": report["verdict"],
                   "seed": report["seed"], "guesses": report["guesses"]})  # fmt: skip

    def record_profile(self, release: str, report: Mapping[str, Any], who: str) -> None:
        """A release was compared with the requirements of an authority."""
        self._add({"event": PROFILED, "release": release, "who": who,
                   "words": f"with {report['title']}: {report['verdict']}"})  # fmt: skip

    def record_preparation(self, source: str, made: Mapping[str, Any], who: str) -> None:
        """A table was prepared: from which, and how."""
        self._add({"event": PREPARED, "who": who, "source": source, "words": f"{made['name']}: {made['words']}"})

    def answer(self, release: str, warning: str, why: str, who: str) -> None:
        """Accept a warning of a release, with a reason."""
        if len(why.strip()) < SHORTEST_REASON:
            raise JobError(f"Say why, in at least {SHORTEST_REASON} letters: whoever signs reads it.")
        card = self._card(release)
        if warning not in {warning["id"] for warning in card["warnings"]}:
            raise JobError("The release has no such warning.")
        self._add({"event": ANSWERED, "release": release, "warning": warning, "why": why.strip(), "who": who,
                   "manifest": card["digests"]["manifest"]})  # fmt: skip

    def withdraw(self, release: str, warning: str, who: str) -> None:
        """Take an answer back."""
        self._add({"event": REOPENED, "release": release, "warning": warning, "who": who})

    def comment(self, release: str, about: str, words: str, who: str) -> None:
        """Say something about a release, or a column of it."""
        if not words.strip():
            raise JobError("The comment is empty.")
        self._add({"event": COMMENTED, "release": release, "about": about, "words": words.strip(), "who": who})

    def sign(self, release: str, card_shown: str, who: str, words: str = "") -> None:
        """Sign what was shown: refused if the card is another by now, a warning is open, or a file was changed."""
        card = self._card(release)
        if card_digest(card) != card_shown:
            raise JobError("The release or its answers have changed since they were shown. Read them again, then sign.")
        if not holds(card):
            raise JobError("The second opinion does not confirm every promise of this release: it cannot be signed.")
        if left := open_warnings(card):
            raise JobError(f"{len(left)} of its warnings have no answer yet.")
        if wrong := [
            difference
            for difference in differences(self.project.folder, self.record)
            if difference.startswith(f"{release}/")
        ]:
            raise DataError(f"The files of this release are not those that were made: {', '.join(wrong)}.")
        if any(signature["who"] == who for signature in self.record.signatures(release)):
            raise JobError(f"{who} has signed this release already.")
        self._add({"event": SIGNED, "release": release, "who": who, "words": words.strip(), "card": card_shown,
                   "manifest": card["digests"]["manifest"]})  # fmt: skip

    def remove_release(self, release: str, who: str) -> None:
        """Delete the files of a release; that it was made stays in the record."""
        folder = self.project.result_folder(release)
        if not folder.is_dir():
            raise JobError("There is no such release.")
        if any(event["event"] == MADE for event in self.record.of(release)):
            self._add({"event": REMOVED, "release": release, "who": who}, tell=False)
        shutil.rmtree(folder)
        self.notify()

    def _card(self, release: str) -> dict[str, Any]:
        card = self.card(release)
        if card is None:
            raise JobError("There is no such release.")
        return card

    def _add(self, event: Mapping[str, Any], *, tell: bool = True) -> None:
        add_event(self.project.folder, event)
        if tell:
            self.notify()


SHORTEST_REASON = 4
