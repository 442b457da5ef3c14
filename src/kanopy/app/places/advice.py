"""What would help, as buttons: the options that the library names become changes of the job."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kanopy._job.job import Job
from kanopy.app.widgets.parts import button, heading

if TYPE_CHECKING:
    from kanopy.app.places.place import Place


@dataclass(frozen=True)
class Advice:
    """A change that would help, in words; how the command line says it; and the loss it leads to, where it is known."""

    change: str
    option: str = ""
    loss: float | None = None


def advised(job: Job, text: str) -> dict[str, Any] | None:
    """The settings that an option of the command line, or a sentence that names one, stands for; `None` if unknown.

    >>> advised(Job(quasi="age"), "allow at least 3 % suppression (--suppress 3%)")
    {'suppress': '3%'}
    >>> advised(Job(quasi="age"), "lower k to 4"), advised(Job(quasi="age"), "think again")
    ({'k': 4}, None)
    """
    if found := re.search(r"--suppress ([\d.]+%)", text):
        return {"suppress": found[1]}
    if found := re.search(r"lower k to (\d+)", text):
        return {"k": int(found[1])}
    if "--local" in text:
        return {"local": True, "algorithm": None, "parameters": {}}
    if found := re.search(r'^\[columns\.(.+)\] hierarchy = \{ method = "(\w+)" \}$', text):
        return {"hierarchies": {**job.hierarchies, found[1]: {"method": found[2]}}}
    if found := re.search(r"^without (.+) among --quasi$", text):
        other = job.with_role(found[1], "identifier")
        names = ("quasi", "identifiers", "hierarchies", "min_levels", "max_levels", "weights")
        return {name: getattr(other, name) for name in names}
    return None


def write_advice(place: Place, offered: Sequence[Advice]) -> None:
    """Write what would help; what can be done at once is a button."""
    if not offered:
        return
    heading("What would help", 3)
    job = place.desk.project.work.job
    for each in offered:
        settings = advised(job, each.option or each.change)
        words = each.change if each.loss is None else f"{each.change}: loss {each.loss:.3f}"
        with ui.element("div").classes("row-flex"):
            if settings is not None:
                button(
                    "Do it",
                    place.attempt(lambda *_, each=each: _do(place, each)),
                    icon="auto_fix_high",
                    hint=each.change,
                )
            ui.label(words)


async def _do(place: Place, each: Advice) -> None:
    desk = place.desk
    settings = advised(desk.project.work.job, each.option or each.change)
    assert settings is not None
    given = {name: source for name, source in settings.get("hierarchies", {}).items() if isinstance(source, dict)}
    if given:
        settings["hierarchies"] = await desk.with_built({**settings["hierarchies"]}, list(given))
    desk.set_job(each.change, **settings)
