"""The verdict of a release: every promise with its second opinion, every warning with its answer, and the digests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._table.roles import Role
from kanopy.app.record import holds, open_warnings
from kanopy.app.widgets.elements import button, card, heading, tip

if TYPE_CHECKING:
    from kanopy.app.pages.page import Page

SHOWN_DIGITS = 16
MOST_MENDED = 4
"""Columns named by a warning that get buttons of their own."""
ABOUT_STATE = {
    "changed": "The table has changed since it was opened: this release is not of the table as it is now.",
    "gone": "The table is no longer where it was: this release is of the table as it was opened.",
    "unchecked": "Whether the table is still the same is being checked.",
}


def write_verdict(page: Page, release: str, sentence: str) -> None:
    """Write the card of a release. Green only if every promise was confirmed and every warning is answered."""
    controller = page.controller
    release_card = controller.card(release)
    if release_card is None:
        _banner("bad", "block", "This release has no verdict: it was made by an earlier version. Run again.")
        return
    state, left = controller.table_state, open_warnings(release_card)
    if not holds(release_card):
        _banner("bad", "block", "Not every promise was confirmed by the second opinion. Do not publish this.")
    elif state != "same":
        _banner("warn", "history", f"{ABOUT_STATE[state]} It was verified when it was made. {sentence}")
    elif left:
        waits = "1 warning waits" if len(left) == 1 else f"{len(left)} warnings wait"
        _banner("warn", "rule", f"Verified. {sentence} {waits} for an answer before it can be signed.")
    else:
        _banner("", "verified", f"Verified. {sentence}")
    with card("verdict-card"):
        _promises(release_card)
        _warnings(page, release_card)
        _facts(release_card)


def _banner(kind: str, icon: str, words: str) -> None:
    with ui.element("div").classes(f"verdict {kind}").props("role=status"):
        ui.icon(icon)
        ui.label(words)


def _promises(release_card: Mapping[str, Any]) -> None:
    heading("Promises, each checked by code of its own")
    quasi = [name for name, role in release_card["columns"].items() if role == Role.QUASI_IDENTIFIER]
    with ui.element("ul").classes("promises"):
        for promise in release_card["promises"]:
            with ui.element("li"):
                ui.icon("check_circle" if promise["holds"] else "cancel").classes("good" if promise["holds"] else "bad")
                ui.label(promise["says"])
                ui.label("confirmed" if promise["holds"] else "NOT confirmed").classes(
                    "chip good" if promise["holds"] else "chip bad"
                )
    count = release_card["second_count"]
    if count:
        text = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in count.items() if value is not None)
        ui.label(f"Counted again from what was written: {text}.").classes("muted small")
    ui.label(f"Quasi-identifiers: {', '.join(quasi) or 'none'}.").classes("muted small wrap")


def _warnings(page: Page, release_card: Mapping[str, Any]) -> None:
    heading("Warnings" if release_card["warnings"] else "No warnings", 3)
    for warning in release_card["warnings"]:
        given = warning["answer"]
        with ui.element("div").classes("warning" if given is None else "warning answered"):
            with ui.element("div").classes("row-flex").style("flex-wrap:nowrap;align-items:flex-start"):
                ui.icon("warning" if given is None else "task_alt")
                ui.label(warning["text"]).classes("wrap")
            if given is not None:
                with ui.element("div").classes("row-flex"):
                    ui.label(f"Accepted by {given['who']}, {given['date']}: {given['why']}").classes("muted small wrap")
                    back = page.attempt(
                        lambda *_, card_warning=warning: _withdraw(page, release_card["release"], card_warning["id"])
                    )
                    button("Take back", back, kind="quiet", hint="Take the answer back")
                continue
            with ui.element("div").classes("row-flex"):
                accept = page.attempt(
                    lambda *_, card_warning=warning: _ask(page, release_card["release"], card_warning)
                )
                button("Accept …", accept, icon="task_alt", hint="Accept this warning with a reason")
                _mends(page, release_card, warning["text"])


def _mends(page: Page, release_card: Mapping[str, Any], text: str) -> None:
    """Buttons that change the job so that the warning does not come back."""
    work = page.controller.project.work
    column_names = {str(column["column"]) for column in work.columns}
    named = [name for name in dict.fromkeys(re.findall(r"'([^']+)'", text)) if name in column_names]
    published = [name for name in named if release_card["columns"].get(name) not in (None, "", Role.QUASI_IDENTIFIER)]
    if 0 < len(published) <= MOST_MENDED:
        for name in published:
            for words, role in (("Leave out", Role.WITHHELD), ("Generalize", Role.QUASI_IDENTIFIER)):
                change = page.attempt(lambda *_, name=name, role=role: page.controller.set_roles([name], str(role)))
                button(f"{words} {name}", change, hint=f"Changes the job: {name} becomes {role}. Then run again.")
    elif named:
        button("Decide under Data", lambda: ui.navigate.to("/"), icon="table_view")


def _withdraw(page: Page, release: str, warning: str) -> None:
    page.controller.withdraw(release, warning, page.session.who)


def _ask(page: Page, release: str, warning: Mapping[str, Any]) -> None:
    with page.dialog("Accept a warning", "min-width:min(520px, 90vw)") as dialog:
        ui.label(warning["text"]).classes("muted wrap")
        who = ui.input(label="Your name", value=page.session.who).props("outlined dense").style("width:100%")
        who.set_enabled(not page.session.known_user)
        why = ui.textarea(label="Why it is acceptable").props("outlined dense autogrow").style("width:100%")

        def accept() -> None:
            page.session.who = str(who.value or "").strip()
            page.controller.answer(release, warning["id"], str(why.value or ""), page.session.who)
            dialog.close()

        button("Accept", page.attempt(lambda *_: accept()), kind="main")


def _facts(release_card: Mapping[str, Any]) -> None:
    with ui.element("div").classes("pairs small"):
        if release_card["left_out"]:
            ui.label("Not published").classes("muted")
            ui.label(", ".join(release_card["left_out"])).classes("wrap")
        for name, digest in release_card["digests"].items():
            ui.label(f"SHA-256 of the {name}").classes("muted")
            tip(ui.label(digest[:SHOWN_DIGITS] + " …").classes("mono"), digest)
