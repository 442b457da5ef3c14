"""The preview of a job; its release, written to a folder; its report; original and published rows side by side."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, JobError, KanopyError, NoSolution
from kanopy._files import private_folder, write_whole
from kanopy._job.job import Job
from kanopy._job.usage import used_alone
from kanopy._progress import Callback, Clock, Progress
from kanopy.app.tasks.evidence import attacks_of
from kanopy.app.tasks.worker_state import WorkerState, job_of
from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.charts.release_charts import class_sizes, column_losses
from kanopy.report.render import svg
from kanopy.report.text import counting

if TYPE_CHECKING:
    from kanopy.release.result import Result

MOST_CLASSES = 300


def warm_up(state: WorkerState, notify: Callback, *, previews: bool = True) -> None:
    """Load what almost every task needs: the dataframe library, compiled loops and, for previews, chart drawing.

    >>> warm_up(WorkerState(), lambda step: True)
    """
    from kanopy.release.prepare import prepare
    from kanopy.release.sweeps.preview import Previews, quick_job

    people = {"age": [20 + i % 60 for i in range(600)], "sex": ["f", "m"] * 300}
    for job in (Job(quasi=["age", "sex"], k=5, local=local) for local in (True, False)):
        previews_of_job = Previews(prepare(people, quick_job(job)))
        if previews:
            _charts(previews_of_job.sizes_before, previews_of_job.at(job).sizes_after, {"age": 0.5})


def preview_job(state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str) -> dict[str, Any]:
    """A quick estimate of a release: loss, classes and suppressed rows. Nothing is verified or written."""
    wanted = _generalizing(job_of(job, project_folder))
    previews = state.previews(source, wanted, notify)
    try:
        preview = previews.at(wanted, Progress(notify))
    except NoSolution as nothing:
        advice = [advice.to_dict() for advice in nothing.advice]
        return {"feasible": False, "reason": nothing.reason, "advice": advice, **_charts(previews.sizes_before, (), {})}
    plain = {
        name: getattr(preview, name)
        for name in ("algorithm", "exact", "rows", "looked_at", "counted", "loss", "levels", "classes",
                     "smallest_class", "suppressed")
    }  # fmt: skip
    losses = dict(preview.column_losses)
    with counting(preview.counted):
        charts = _charts(previews.sizes_before, preview.sizes_after, losses)
    return {"feasible": True, **plain, "column_losses": losses, **charts}


def failing(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, model: dict[str, Any]
) -> dict[str, Any]:
    """What a model means in a sentence, and how many classes fail it now; or what is wrong with it."""
    from kanopy.privacy.models import make_model

    wanted = job_of(job, project_folder)
    answer: dict[str, Any] = {"words": "", "wrong": "", "failing": None, "classes": None}
    try:
        made = make_model(model)
        answer["words"] = made.said()
        if wanted.quasi and not wanted.unit:
            asked = wanted.replaced(
                models=[*(other_model for other_model in wanted.models if other_model != made), made]
            )
            counts = state.previews(source, asked, notify).failing(asked, made, Progress(notify))
            answer["failing"], answer["classes"] = counts
    except NoSolution:
        pass  # without the model there is no release either: the preview says why
    except KanopyError as error:
        answer["wrong"] = str(error)
    return answer


def _generalizing(job: Job) -> Job:
    """The job; refused where it generalizes nothing, as the pages of the app are about groups of rows."""
    if not job.quasi:
        raise JobError(
            "The app makes releases of jobs with a quasi-identifier. Choose one, or make the release of a job of "
            "treatments only with `kanopy anonymize --job`."
        )
    return job


def _charts(before: tuple[SizeBin, ...], after: tuple[SizeBin, ...], losses: dict[str, float]) -> dict[str, Any]:
    charts = {"sizes": svg(class_sizes(before, after), "sizes", "Share of rows by the size of their group")}
    if losses:
        charts["losses"] = svg(column_losses(losses), "losses", "Detail lost per column")
    return {"charts": charts}


def run(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, suffix: str,
    table: str,
) -> dict[str, Any]:  # fmt: skip
    """Make a release as the command line does, and write it with mapping, manifest and numbers into a folder.

    `table` is the digest of the table that was opened: nothing is made of another.
    """
    import datetime as dt

    from kanopy._table.sources import local_path
    from kanopy.release.writing import Files, write_files

    wanted, written_to, clock = _generalizing(job_of(job, project_folder)), Path(folder), Clock()
    if (now := state.digest(source, wanted)) != table:
        raise DataError("The table has changed since it was opened. Read it again (the bar on top), then run again.")
    read = state.source(source, wanted)
    result = _made(read.frame, wanted, source, notify, clock)
    private_folder(written_to)
    path = local_path(source)
    remarks = write_files(
        result,
        Files(
            str(written_to / f"release{suffix}"), mapping=written_to / "mapping.csv",
            manifest=written_to / "manifest.json",
        ),
        dialect=read.dialect, read_from=path, neutralize=wanted.neutralize_formulas, progress=Progress(notify),
    )  # fmt: skip
    _write_row_pairs(result, written_to)
    state.last = (str(written_to), result)
    facts = {
        "notes": [*result.notes, *remarks], "file": f"release{suffix}", "source": source, "job": job, "table": now,
        "made": dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
        "digests": {
            name: _digest(written_to / name) for name in (f"release{suffix}", "mapping.csv", "manifest.json")
        },
    }  # fmt: skip
    summary = {**result.summary(), **facts, **_more(result)}
    write_whole(written_to / "summary.json", json.dumps(summary, ensure_ascii=False, default=str), private=True)
    return summary


def _made(frame: Any, job: Job, source: str, notify: Callback, clock: Clock) -> Result:
    from kanopy.release.run import anonymize
    from kanopy.release.treated.treating import key_of_run

    # Weights and households serve the page of risks too, where no model asks for them.
    return anonymize(frame, used_alone(job), progress=notify, clock=clock, source=source, key=key_of_run(job))


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _more(result: Result) -> dict[str, Any]:
    """What the release page shows besides the numbers of the summary."""
    report = result.report if result.masked is None else None
    more: dict[str, Any] = {"counted": result.counted, "sentence": getattr(report, "sentence", ""), "classes_list": []}
    more["alone"] = 0 if report is None else report.risk_after.unique_rows  # type: ignore[union-attr]
    if report is not None:
        with counting(result.counted):
            more |= _charts(report.sizes_before, report.sizes_after, result.column_losses)  # type: ignore[union-attr]
    names = list(result.prepared.names)
    groups = result.frame.group_by(names, maintain_order=True).len("rows").sort("rows")
    more["class_columns"] = names
    more["classes_list"] = [
        [None if cell is None else str(cell) for cell in row] for row in groups.head(MOST_CLASSES).iter_rows()
    ]
    return more


def _write_row_pairs(result: Result, written_to: Path) -> None:
    """The published rows in the order of the original ones, with the number of each, for the view of both."""
    import numpy as np
    import polars as pl

    numbers = np.arange(result.rows) if result.kept is None else np.flatnonzero(result.kept)
    result.published.with_columns(pl.Series("\0row", numbers)).write_ipc(written_to / "row_pairs.arrow")


def row_pairs(
    state: WorkerState, notify: Callback, *, source: str, folder: str, first: int, number: int, columns: list[str]
) -> dict[str, Any]:
    """Rows of the original and of the release side by side; a row that was left out is `None` there."""
    import polars as pl

    from kanopy.app.tasks.table import texts

    original = state.frame(source)
    released = pl.read_ipc(Path(folder) / "row_pairs.arrow")
    names_shown = [name for name in columns if name in released.columns]
    numbers = released["\0row"]
    low = int(numbers.search_sorted(first)) if numbers.is_sorted() else first
    page = released.slice(low, number)
    after = dict(zip(page["\0row"].to_list(), texts(page, 0, number, names_shown), strict=True))
    skipped = original.height - _records(released, original.height)
    before = texts(original, first + skipped, number, names_shown)
    return {"columns": names_shown, "before": before, "after": [after.get(first + i) for i in range(len(before))],
            "total": original.height - skipped}  # fmt: skip


def _records(released: Any, rows: int) -> int:
    """How many rows of the original are records."""
    return rows if released.height == 0 else max(int(released["\0row"].max()) + 1, min(rows, released.height))


def report(
    state: WorkerState, notify: Callback, *, source: str, job: str, project_folder: str, folder: str, suffix: str
) -> dict[str, Any]:
    """The report of the release in a folder: its page, its numbers, the script; and its findings for the page."""
    written_to = Path(folder)
    if state.last is None or state.last[0] != folder:
        state.last = folder, _again(state, notify, source, job_of(job, project_folder), written_to, suffix)
    result = state.last[1]
    Progress(notify)("looking closer at both tables")
    path = Path(source) if Path(source).exists() else None
    recorded: dict[str, tuple[str, Path]] = {"output": (f"release{suffix}", written_to / f"release{suffix}")}
    if path is not None:
        recorded = {"input": (path.name, path), **recorded}
    page = result.full_report(files=recorded, written=True, attacks=attacks_of(written_to))
    write_whole(written_to / "report.html", page.to_html(), private=True)
    for name, make in (("report.json", "to_json"), ("reproduce.py", "to_script")):
        if hasattr(page, make):
            write_whole(written_to / name, getattr(page, make)(), private=True)
    return {"written": True}


def _again(state: WorkerState, notify: Callback, source: str, job: Job, folder: Path, suffix: str) -> Result:
    """The release in a folder, made again to report on it: the same bytes, or there is no report."""
    from kanopy._table.sources import local_path
    from kanopy._temporary import folder as temporary
    from kanopy.release.writing import Files, write_files

    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    if state.digest(source, job) != summary.get("table"):
        raise DataError("The table has changed since this release was made: its report can no longer be written.")
    read = state.source(source, job)
    result = _made(read.frame, job, source, notify, Clock())
    with temporary() as folder_path:
        write_files(
            result, Files(str(folder_path / f"release{suffix}")), dialect=read.dialect, read_from=local_path(source),
            neutralize=job.neutralize_formulas,
        )  # fmt: skip
        if _digest(folder_path / f"release{suffix}") != summary["digests"][f"release{suffix}"]:
            raise DataError(
                "The release cannot be made again byte for byte (a treatment draws secret numbers), so no report of it "
                "can be written any more. Run again and make the report right after."
            )
    return result


def converted(state: WorkerState, notify: Callback, *, folder: str, file: str, ending: str) -> bytes:
    """The release in another format: the same rows in the same order."""
    from kanopy._table.sinks import write_table
    from kanopy._table.sources import read_source
    from kanopy._temporary import folder as temporary

    frame = read_source(str(Path(folder) / file)).frame
    with temporary() as place:
        target = place / f"release{ending}"
        write_table(frame, target)
        return target.read_bytes()


def mapping(state: WorkerState, notify: Callback, *, folder: str, column: str) -> list[list[str]]:
    """What became of the values of a column: the mapping that the run wrote."""
    import polars as pl

    from kanopy.app.tasks.table import MAX_CELL_LENGTH

    table = pl.read_csv(Path(folder) / "mapping.csv", infer_schema=False).filter(pl.col("column") == column)
    return [[str(cell or "")[:MAX_CELL_LENGTH] for cell in row[1:]] for row in table.head(MOST_CLASSES).iter_rows()]
