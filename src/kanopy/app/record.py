"""The record of a project: who made which release, answered which warning, said what, signed what, and when.

`record.jsonl` is only ever added to, and each line has the hash of the line before (`kanopy._chain`). A signature names
the digest of the manifest and of the whole card that was shown with it: promises, warnings and their answers. The files
of a release are not changed after it was made, and `verify_record` compares them with what was recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanopy._chain import Broken, Event, head_of, now, read_chain, with_event
from kanopy._errors import DataError, JobError
from kanopy._files import Release

FORMAT = "kanopy-record"
LISTED, HEAD = "record.jsonl", "record.head"
MADE, ANSWERED, REOPENED, COMMENTED, SIGNED, REMOVED, ATTACKED, PROFILED, PREPARED = (
    "release", "answer", "answer withdrawn", "comment", "signature", "release removed", "attack", "profile",
    "preparation",
)  # fmt: skip
LONGEST_WORDS = 4_000


def warning_id(text: str) -> str:
    """What a warning is called in the record: a digest of its words.

    >>> warning_id("Published as it is: 'age'.")
    'a8a43cf32637'
    """
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


@dataclass(frozen=True)
class Record:
    """The events of a project, read and found whole."""

    events: tuple[Event, ...] = ()

    @property
    def head(self) -> str:
        """The hash that stands for all events."""
        return head_of(self.events)

    def of(self, release: str) -> list[Event]:
        """What was recorded of a release, in order."""
        return [event for event in self.events if event.get("release") == release]

    def answers(self, release: str) -> dict[str, Event]:
        """The answer to each warning of a release that has one: the last that was given, unless it was withdrawn."""
        answers: dict[str, Event] = {}
        for event in self.of(release):
            if event["event"] == ANSWERED:
                answers[event["warning"]] = event
            elif event["event"] == REOPENED:
                answers.pop(event["warning"], None)
        return answers

    def signatures(self, release: str) -> list[Event]:
        """Who signed a release."""
        return [event for event in self.of(release) if event["event"] == SIGNED]


def read_record(folder: Path) -> Record:
    """The record of a project's folder; `DataError` if anything in it was changed."""
    try:
        events = read_chain(folder / LISTED, folder / HEAD)
    except Broken as error:
        raise DataError(
            f"The record of {str(folder)!r} is not whole: {error}. Nothing can be signed on it. Restore "
            f"{LISTED} and {HEAD} from a copy."
        ) from None
    if events and events[0].get("format") != FORMAT:
        raise DataError(f"The record of {str(folder)!r} does not begin as one. Restore it from a copy.")
    return Record(tuple(events))


def add_event(folder: Path, event: Mapping[str, Any]) -> Record:
    """One more event, written whole or not at all. The caller holds the lock of the folder."""
    record = read_record(folder)
    for name in ("who", "why", "words"):
        if len(str(event.get(name, ""))) > LONGEST_WORDS:
            raise JobError(f"Write at most {LONGEST_WORDS:,} letters.")
    if not str(event.get("who", "")).strip():
        raise JobError("Give your name first: the record says who did what.")
    first = {} if record.events else {"format": FORMAT, "version": 1}
    files = with_event(folder / LISTED, folder / HEAD, record.events, {**first, "date": now(), **event})
    release = Release()
    with release.published():
        for path, content in files.items():
            release.bytes(path, content, private=True)
    return read_record(folder)


def card_digest(card: Mapping[str, Any]) -> str:
    """What a signature is bound to: everything that the card shows, answers included."""
    return hashlib.sha256(json.dumps(card, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def make_card(folder: Path, summary: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """What is promised of a release, what the second opinion found, and what must be answered before it is signed.

    Nothing is added to what was written at the run: promises and counts are those of the manifest, warnings those of
    the library.
    """
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    checked = manifest.get("verified", {})
    answers = record.answers(folder.name)
    return {
        "release": folder.name,
        "made": summary.get("made", ""),
        "promises": [
            {"name": model["name"], "says": model["says"], "holds": bool(model["holds"])}
            for model in checked.get("models", [])
        ],
        "second_count": checked.get("second_count") or {},
        "columns": {name: settings.get("role", "") for name, settings in manifest["job"].get("columns", {}).items()},
        "left_out": list(checked.get("left_out", [])),
        "warnings": [
            {
                "id": warning_id(text), "text": text,
                "answer": None if (given := answers.get(warning_id(text))) is None
                else {name: given[name] for name in ("who", "why", "date")},
            }
            for text in map(str, summary["notes"])
        ],
        "digests": {
            "table": summary.get("table", ""),
            "job": hashlib.sha256(str(summary["job"]).encode()).hexdigest(),
            "release": summary["digests"][summary["file"]],
            "manifest": summary["digests"]["manifest.json"],
        },
    }  # fmt: skip


def open_warnings(card: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The warnings of a card that nobody has answered."""
    return [warning for warning in card["warnings"] if warning["answer"] is None]


def holds(card: Mapping[str, Any]) -> bool:
    """Whether the second opinion was given and found every promise kept."""
    return bool(card["promises"]) and all(promise["holds"] for promise in card["promises"])


def differences(folder: Path, record: Record) -> list[str]:
    """What of the recorded releases is not on disk as it was recorded, in words."""
    removed = {event["release"] for event in record.events if event["event"] == REMOVED}
    differences_found: list[str] = []
    for event in record.events:
        if event["event"] != MADE or event["release"] in removed:
            continue
        for name, digest in sorted(event["digests"].items()):
            file = folder / "results" / str(event["release"]) / name
            try:
                with file.open("rb") as stream:
                    same = hashlib.file_digest(stream, "sha256").hexdigest() == digest
            except OSError:
                differences_found.append(f"{event['release']}/{name} is missing")
                continue
            if not same:
                differences_found.append(f"{event['release']}/{name} was changed")
    made = {event["release"]: event["digests"]["manifest.json"] for event in record.events if event["event"] == MADE}
    differences_found += [
        f"a signature of {event['release']} names another manifest"
        for event in record.events
        if event["event"] == SIGNED and made.get(event["release"]) != event["manifest"]
    ]
    return differences_found


def verify_record(folder: Path) -> dict[str, Any]:
    """The record of a project compared with itself and with the files of its releases.

    `events` are shown as they are; `differences` says what does not fit: none is what one hopes for.
    """
    if not (folder / LISTED).exists() and not (folder / HEAD).exists():
        raise DataError(
            f"There is no record in {str(folder)!r}. Name the folder of a project (`kanopy app --project`)."
        )
    record = read_record(folder)
    return {"folder": str(folder), "head": record.head, "events": list(record.events),
            "differences": differences(folder, record)}  # fmt: skip


def said(event: Mapping[str, Any]) -> str:
    """An event in a few words."""
    kind, release = event["event"], event.get("release", "")
    words: Sequence[str] = {
        MADE: (f"made release {release}",),
        ANSWERED: ("accepted a warning of", release, "because:", event.get("why", "")),
        REOPENED: ("took back an answer of", release),
        COMMENTED: (f"on {event.get('about') or release}:", event.get("words", "")),
        SIGNED: ("signed", release, f"({event.get('words')})" if event.get("words") else ""),
        REMOVED: ("removed release", release),
        ATTACKED: ("attacked", release, event.get("words", "")),
        PREPARED: ("prepared", event.get("source", ""), "as", event.get("words", "")),
        PROFILED: ("checked", release, event.get("words", "")),
    }.get(kind, (kind,))
    return " ".join(word for word in words if word)
