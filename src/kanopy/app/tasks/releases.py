"""Releases: what a job would do, at once; the release itself, written to its folder; its report; one beside another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import NoSolution
from kanopy._files import private_folder, write_whole
from kanopy._job.job import Job
from kanopy._job.usage import used_alone
from kanopy._progress import Callback, Clock, Progress
from kanopy.app.tasks.worker_state import Bench, job_of
from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.charts.release import class_sizes, column_losses
from kanopy.report.render import svg
from kanopy.report.words import counting

if TYPE_CHECKING:
    from kanopy.release.result import Result

MOST_CLASSES = 300


def ready(bench: Bench, tell: Callback, *, looks: bool = True) -> None:
    """Load what almost every question needs: the dataframe library, compiled loops, for looks the drawing of charts.

    >>> ready(Bench(), lambda step: True)
    """
    from kanopy.release.prepare import prepare
    from kanopy.release.sweeps.preview import Looks, quick_job

    people = {"age": [20 + i % 60 for i in range(600)], "sex": ["f", "m"] * 300}
    for job in (Job(quasi=["age", "sex"], k=5, local=local) for local in (True, False)):
        own = Looks(prepare(people, quick_job(job)))
        if looks:
            _drawn(own.sizes_before, own.at(job).sizes_after, {"age": 0.5})


def preview(bench: Bench, tell: Callback, *, source: str, job: str, home: str) -> dict[str, Any]:
    """What a job would do, found in a moment: loss, classes and suppressed rows, nothing verified or written."""
    own = job_of(job, home)
    looks = bench.looks(source, own, tell)
    try:
        found = looks.at(own, Progress(tell))
    except NoSolution as nothing:
        advice = [each.to_dict() for each in nothing.advice]
        return {"feasible": False, "reason": nothing.reason, "advice": advice, **_drawn(looks.sizes_before, (), {})}
    plain = {
        name: getattr(found, name)
        for name in ("algorithm", "exact", "rows", "looked_at", "counted", "loss", "levels", "classes",
                     "smallest_class", "suppressed")
    }  # fmt: skip
    losses = dict(found.column_losses)
    with counting(found.counted):
        pictures = _drawn(looks.sizes_before, found.sizes_after, losses)
    return {"feasible": True, **plain, "column_losses": losses, **pictures}


def _drawn(before: tuple[SizeBin, ...], after: tuple[SizeBin, ...], losses: dict[str, float]) -> dict[str, Any]:
    charts = {"sizes": svg(class_sizes(before, after), "sizes", "Share of rows by the size of their group")}
    if losses:
        charts["losses"] = svg(column_losses(losses), "losses", "Detail lost per column")
    return {"charts": charts}


def run(bench: Bench, tell: Callback, *, source: str, job: str, home: str, folder: str, suffix: str) -> dict[str, Any]:
    """Make a release as the command line does, and write it with mapping, manifest and numbers into a folder."""
    import os

    from kanopy._table.sources import local_path
    from kanopy.release.run import anonymize
    from kanopy.release.writing import Files, write_files

    wanted, place, clock = job_of(job, home), Path(folder), Clock()
    read = bench.source(source, wanted)
    key = (os.environ.get("KANOPY_KEY", "").encode() or None) if wanted.pseudonymize else None
    # Weights and households serve the page of risks too, where no model asks for them.
    result = anonymize(read.frame, used_alone(wanted), progress=tell, clock=clock, source=source, key=key)
    private_folder(place)
    path = local_path(source)
    said = write_files(
        result, Files(str(place / f"release{suffix}"), mapping=place / "mapping.csv", manifest=place / "manifest.json"),
        dialect=read.dialect, read_from=path, neutralize=wanted.neutralize_formulas, progress=Progress(tell),
    )  # fmt: skip
    _write_beside(result, place)
    bench.last = (str(place), result)
    told = {"notes": [*result.notes, *said], "file": f"release{suffix}", "source": source, "job": job}
    summary = {**result.summary(), **told, **_more(result)}
    write_whole(place / "summary.json", json.dumps(summary, ensure_ascii=False, default=str), private=True)
    return summary


def _more(result: Result) -> dict[str, Any]:
    """What the page shows of a release besides the numbers of its summary."""
    report = result.report if result.masked is None else None
    more: dict[str, Any] = {"counted": result.counted, "sentence": getattr(report, "sentence", ""), "classes_list": []}
    more["alone"] = 0 if report is None else report.risk_after.unique_rows  # type: ignore[union-attr]
    if report is not None:
        with counting(result.counted):
            more |= _drawn(report.sizes_before, report.sizes_after, result.column_losses)  # type: ignore[union-attr]
    names = list(result.prepared.names)
    groups = result.frame.group_by(names, maintain_order=True).len("rows").sort("rows")
    more["class_columns"] = names
    more["classes_list"] = [
        [None if cell is None else str(cell) for cell in row] for row in groups.head(MOST_CLASSES).iter_rows()
    ]
    return more


def _write_beside(result: Result, place: Path) -> None:
    """The published rows in the order of the original ones, with the number of each, for the view of both."""
    import numpy as np
    import polars as pl

    numbers = np.arange(result.rows) if result.kept is None else np.flatnonzero(result.kept)
    result.published.with_columns(pl.Series("\0row", numbers)).write_ipc(place / "beside.arrow")


def beside(
    bench: Bench, tell: Callback, *, source: str, folder: str, first: int, number: int, columns: list[str]
) -> dict[str, Any]:
    """Rows of the original and of the release side by side; a row that was left out is `None` there."""
    import polars as pl

    from kanopy.app.tasks.table import texts

    original = bench.frame(source)
    released = pl.read_ipc(Path(folder) / "beside.arrow")
    shown = [name for name in columns if name in released.columns]
    numbers = released["\0row"]
    low = int(numbers.search_sorted(first)) if numbers.is_sorted() else first
    part = released.slice(low, number)
    after = dict(zip(part["\0row"].to_list(), texts(part, 0, number, shown), strict=True))
    skipped = original.height - _records(released, original.height)
    before = texts(original, first + skipped, number, shown)
    return {"columns": shown, "before": before, "after": [after.get(first + i) for i in range(len(before))],
            "total": original.height - skipped}  # fmt: skip


def _records(released: Any, rows: int) -> int:
    """How many rows of the original are records."""
    return rows if released.height == 0 else max(int(released["\0row"].max()) + 1, min(rows, released.height))


def report(
    bench: Bench, tell: Callback, *, source: str, job: str, home: str, folder: str, suffix: str
) -> dict[str, Any]:
    """The report of the release in a folder: its page, its numbers, the script; and its findings for the page."""
    place = Path(folder)
    if bench.last is None or bench.last[0] != folder:
        run(bench, tell, source=source, job=job, home=home, folder=folder, suffix=suffix)
    assert bench.last is not None
    result = bench.last[1]
    Progress(tell)("looking closer at both tables")
    path = Path(source) if Path(source).exists() else None
    recorded: dict[str, tuple[str, Path]] = {"output": (f"release{suffix}", place / f"release{suffix}")}
    if path is not None:
        recorded = {"input": (path.name, path), **recorded}
    found = result.full_report(files=recorded, written=True)
    write_whole(place / "report.html", found.to_html(), private=True)
    for name, make in (("report.json", "to_json"), ("reproduce.py", "to_script")):
        if hasattr(found, make):
            write_whole(place / name, getattr(found, make)(), private=True)
    return {"written": True}


def catalogue(bench: Bench, tell: Callback) -> dict[str, Any]:
    """The algorithms and the models that there are, each in a sentence."""
    from kanopy.privacy.models import MODELS, KAnonymity
    from kanopy.release.catalogue import algorithms, recoding_words
    from kanopy.search.algorithms import takes_budget

    listed = [
        {
            "name": each["name"], "does": each["does"], "recoding": recoding_words(each["recoding"]),
            "proves": each["proves"], "budget": each["recoding"] != "substitution" and takes_budget(each["name"]),
        }
        for each in algorithms()
    ]  # fmt: skip
    models = [
        {"name": name, "summary": kind.summary, "example": kind.example}
        for name, kind in MODELS.items()
        if kind is not KAnonymity
    ]
    return {"algorithms": listed, "models": models}


def mapping(bench: Bench, tell: Callback, *, folder: str, column: str) -> list[list[str]]:
    """What became of the values of a column: the mapping that the run wrote."""
    import polars as pl

    from kanopy.app.tasks.table import LONGEST_CELL

    table = pl.read_csv(Path(folder) / "mapping.csv", infer_schema=False).filter(pl.col("column") == column)
    return [[str(cell or "")[:LONGEST_CELL] for cell in row[1:]] for row in table.head(MOST_CLASSES).iter_rows()]
