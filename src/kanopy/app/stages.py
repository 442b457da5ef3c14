"""The way from a table to what is handed over: what is done on each page, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanopy._table.roles import Role
from kanopy.app.record import holds, open_warnings

if TYPE_CHECKING:
    from kanopy.app.controller import Controller

DONE, OPEN, LATER = "done", "open", "later"


@dataclass(frozen=True)
class Stage:
    """A page of the way: whether it is done, open, or waits for another one; and why, in a few words."""

    path: str
    state: str
    words: str


def stages(controller: Controller) -> tuple[Stage, ...]:
    """Where the work stands, page by page; pages that nothing depends on are not among them."""
    work = controller.project.work
    if not work.source:
        waiting = [Stage(path, LATER, "") for path in ("/hierarchies", "/release", "/attacks", "/review", "/download")]
        return (Stage("/", OPEN, "open a table"), *waiting)
    job, found = work.job, controller.summary
    undecided = sum(job.roles.get(str(column["column"]), Role.UNDECIDED) == Role.UNDECIDED for column in work.columns)
    bare = [name for name in job.quasi if name not in job.hierarchies]
    changed = controller.table_state not in ("same", "unchecked")
    if changed:
        data = Stage("/", OPEN, "the table has changed")
    elif not job.quasi:
        data = Stage("/", OPEN, "no quasi-identifier")
    else:
        data = Stage("/", OPEN, f"{undecided} undecided") if undecided else Stage("/", DONE, "all decided")
    if not job.quasi:
        trees = Stage("/hierarchies", LATER, "")
    else:
        trees = Stage(
            "/hierarchies", OPEN if bare else DONE, f"{len(bare)} missing" if bare else f"{len(job.quasi)} made"
        )
    if found is None:
        rest = [Stage(path, LATER, "") for path in ("/attacks", "/review", "/download")]
        return data, trees, Stage("/release", OPEN if job.quasi else LATER, "not run"), *rest
    folder = controller.result_folder
    attacked = (folder / "attacks.json").exists()
    card = controller.card(folder.name)
    kept = card is not None and holds(card)
    left = len(open_warnings(card)) if card is not None else 0
    signed = bool(controller.record.signatures(folder.name)) if controller.record_mark != "broken" else False
    if left:
        review = Stage("/review", OPEN, f"{left} warning{'s' * (left != 1)} open")
    else:
        review = Stage("/review", DONE if signed else OPEN, "signed" if signed else "not signed")
    return (
        data, trees, Stage("/release", DONE if kept else OPEN, "verified" if kept else "not confirmed"),
        Stage("/attacks", DONE if attacked else OPEN, "attacked" if attacked else "not attacked"), review,
        Stage("/download", DONE if signed else LATER, "ready" if signed else ""),
    )  # fmt: skip


def next_stage(found: tuple[Stage, ...], path: str) -> str:
    """The page that comes next: the first open one after this one, else the one behind it.

    >>> way = (Stage("/", "done", ""), Stage("/release", "open", ""), Stage("/review", "later", ""))
    >>> next_stage(way, "/"), next_stage(way, "/release"), next_stage(way, "/review")
    ('/release', '/review', '')
    """
    order = [each.path for each in found]
    at = order.index(path) if path in order else -1
    after = found[at + 1 :]
    chosen = next((each for each in after if each.state == OPEN), None) or (after[0] if after else None)
    return chosen.path if chosen is not None else ""
