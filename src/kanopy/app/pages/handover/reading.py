"""The read-only page of a release: its card, comments and signatures, without scripts or a way to change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kanopy.app.record import card_digest, holds, open_warnings, said

if TYPE_CHECKING:
    from kanopy.app.controller import Controller

POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def reading_page(controller: Controller, release: str) -> str:
    """The page as HTML; nothing if there is no such release."""
    from kanopy.report.shell import section, shell, table

    card = controller.card(release)
    if card is None:
        return ""
    record, left = controller.record, open_warnings(card)
    waits = f"{len(left)} warning{'s' * (len(left) != 1)} without an answer" if left else "every warning is answered"
    promises = [[promise["says"], "confirmed" if promise["holds"] else "NOT confirmed"] for promise in card["promises"]]
    warnings = [[warning["text"], _answer(warning)] for warning in card["warnings"]]
    columns = [[name, role] for name, role in card["columns"].items()]
    digests = [[name, digest] for name, digest in card["digests"].items()]
    events = [[event["date"], event["who"], said(event)] for event in record.of(release)]
    signed = [f"{each['who']}, {each['date']} {each.get('words', '')}".strip() for each in record.signatures(release)]
    sections = {
        "Promises": ("Each was checked by independent code.", ["promise", "second opinion"], promises),
        "Warnings": ("", ["warning", "answer"], warnings),
        "Columns": ("", ["column", "role"], columns),
        "Signatures": ("" if signed else "Nobody has signed yet.", ["signed by"], [[each] for each in signed]),
        "Record": ("What was recorded of this release.", ["date", "who", "what"], events),
        "Digests": (
            "SHA-256 of what the card is about, and of the card itself.", ["of", "SHA-256"],
            [*digests, ["card", card_digest(card)]],
        ),
    }  # fmt: skip
    return shell(
        "Release for review", release, good=holds(card),
        verdict="Every promise is confirmed" if holds(card) else "Not every promise is confirmed",
        sentences=[f"{waits[0].upper()}{waits[1:]}. Nothing can be changed on this page."],
        warning="For reviewers: warnings and comments may name values of the table.",
        parts=[
            (name.lower(), name, section(name, words, table(name, heads, rows) if rows else ""))
            for name, (words, heads, rows) in sections.items()
            if rows or words
        ],
    )  # fmt: skip


def _answer(warning: Mapping[str, Any]) -> str:
    given = warning["answer"]
    return "none" if given is None else f"accepted by {given['who']}, {given['date']}: {given['why']}"
