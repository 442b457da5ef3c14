"""Opening a table: what each of its columns looks like, what it seems to be, and a first job for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kanopy._job.guess import guess_job
from kanopy._job.inputs import resolve_hierarchies
from kanopy._job.job import Job
from kanopy._job.reading_rules import read_records
from kanopy._progress import Callback, Progress
from kanopy._table import datasets
from kanopy.app.tasks.worker_state import WorkerState, job_of
from kanopy.hierarchy.files.json_format import hierarchy_json

if TYPE_CHECKING:
    import polars as pl


def warm_up(state: WorkerState, notify: Callback) -> None:
    """Load what opening a table needs; most of it is loaded with this module.

    >>> warm_up(WorkerState(), lambda step: True)
    """
    import polars as pl

    from kanopy.study.column_profiles import look_at_columns

    few = pl.DataFrame({"age": ["31", "32"], "sex": ["f", "m"]})
    list(look_at_columns(few, guess_job(few, "people").job))


def open_table(
    state: WorkerState, notify: Callback, *, source: str, example: bool = False,
    layout: Mapping[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Read a table, guess a job for it, and build its hierarchies: everything a project begins with.

    >>> found = open_table(WorkerState(), lambda step: True, source=str(datasets.path("adult.parquet")), example=True)
    >>> found["rows"], found["columns"][0]["role"], sorted(found["hierarchies"])[:2]
    (48842, 'quasi-identifier', ['age', 'education'])
    """
    progress = Progress(notify)
    progress("reading the table")
    form = Job(**dict(layout or {}))
    read = state.source(source, form if layout is not None else None, anew=True)
    progress("guessing what its columns are")
    guessed = guess_job(read.frame, source)
    first = guessed.job.replaced(**layout) if layout else guessed.job
    job = first
    if example:
        hierarchies = datasets.adult_hierarchies()
        job = job.replaced(
            hierarchies={**job.hierarchies, **{name: hierarchies[name] for name in job.quasi if name in hierarchies}}
        )
    progress("building hierarchies")
    return {
        "rows": read.frame.height,
        "table": state.opened(source),
        "notes": list(read.notes),
        "job": first.to_dict(),
        "columns": guessed.columns,
        "decide": guessed.decide,
        "hierarchies": _built(read.frame, job) if job.quasi else {},
        "profiles": profiles(state, notify, source=source, job=first.to_toml(), project_folder="."),
    }


def build_columns(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, columns: Sequence[str]
) -> dict[str, str]:
    """Hierarchies of columns as their job asks for them, or the best that fits, as texts of JSON files."""
    Progress(notify)("building hierarchies")
    asked = job_of(job, project_folder)
    given_hierarchies = {name: given for name, given in asked.hierarchies.items() if name in columns}
    # Only these are built: the others have theirs.
    few = asked.replaced(quasi=list(columns), hierarchies=given_hierarchies, weights={}, min_levels={}, max_levels={})
    return _built(state.frame(source, asked), few)


def _built(frame: pl.DataFrame, job: Job) -> dict[str, str]:
    built = resolve_hierarchies(read_records(frame, job), job)
    return {name: hierarchy_json(tree) + "\n" for name, tree in built.items()}


def profiles(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str
) -> list[dict[str, Any]]:
    """Per column its type, its values, a small histogram, and how many rows it singles out alone."""
    from kanopy.study.column_profiles import look_at_columns

    wanted = job_of(job, project_folder)
    columns_seen = look_at_columns(state.frame(source, wanted), wanted, Progress(notify))
    return [column_profile.to_dict() for column_profile in columns_seen]


def rows(
    state: WorkerState, notify: Callback, *, source: str, first: int, number: int, columns: Sequence[str],
    where: Mapping[str, Any] | None = None, order: str = "", descending: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Some rows as text, for a table that is paged: those that a condition keeps, in the order of a column."""
    import polars as pl

    from kanopy.app.tasks.prepare import condition, numbers_in

    frame = state.frame(source)
    if not where and not order:
        page = {"rows": texts(frame, first, number, columns), "total": frame.height}
        return {**page, "numbers": list(range(first, first + len(page["rows"])))}  # type: ignore[arg-type]
    found = frame.with_row_index("\0row")
    if where:
        found = found.filter(condition(frame, where))
    if order:
        by = pl.col(order)
        if numbers_in(frame[order]) is not None:
            by = by.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        found = found.sort(by, descending=descending, nulls_last=True, maintain_order=True)
    shown = found.slice(first, number)
    return {"rows": texts(shown, 0, number, columns), "total": found.height, "numbers": shown["\0row"].to_list()}


def texts(frame: pl.DataFrame, first: int, number: int, columns: Sequence[str]) -> list[list[str | None]]:
    """Cells as they are written; `None` where one is missing.

    >>> import polars as pl
    >>> texts(pl.DataFrame({"a": [1, None, 3]}), 1, 5, ["a"])
    [[None], ['3']]
    """
    rows_shown = frame[list(columns)].slice(first, number)
    return [[None if cell is None else str(cell)[:MAX_CELL_LENGTH] for cell in row] for row in rows_shown.iter_rows()]


MAX_CELL_LENGTH = 300
"""Characters of a cell that are shown."""
