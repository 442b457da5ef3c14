"""The files of a release, written all together or not at all: what the command line and the app leave on disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, some
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.dialects import Dialect
    from kanopy._table.sinks import Release
    from kanopy.release.result import Result


@dataclass(frozen=True)
class Files:
    """Where the release goes, and what else is wanted beside it."""

    table: str
    report: Path | None = None
    mapping: Path | None = None
    manifest: Path | None = None
    solution: Path | None = None


def write_files(
    result: Result,
    files: Files,
    *,
    dialect: Dialect | None = None,
    read_from: Path | None = None,
    neutralize: bool = False,
    inputs: Iterable[Path] = (),
    values: bool = False,
    sampling_fraction: float | None = None,
    target: str | None = None,
    progress: Progress = SILENT,
) -> list[str]:
    """Write a release and what belongs to it; returns what is to be said of it.

    `dialect` is that of the text file it was read from, `read_from` that file, whose checksum the manifest records;
    `inputs` are never overwritten. `values`, `sampling_fraction` and `target` are about the report.

    >>> import tempfile, kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_files(kanopy.anonymize(people, job), Files(str(folder / "out.csv"), mapping=folder / "mapping.csv"))
    []
    >>> (folder / "out.csv").read_text().splitlines()[1]
    '"[30, 39]",f'
    """
    from kanopy._table.sinks import neutralized, staged

    with staged(forbidden=inputs) as release:
        progress("writing")
        said = write_release(release, result.frame, files.table, dialect, neutralize)
        recorded = {"output": (Path(files.table).name, release.place_of(files.table))}
        if read_from is not None:
            recorded = {"input": (read_from.name, read_from), **recorded}
        if files.report is not None:
            progress("writing the report")
            found = result.full_report(files=recorded, sampling_fraction=sampling_fraction, target=target)
            release.bytes(files.report, report_bytes(found, files.report, values=values))
        if files.mapping is not None:
            mapped = result.mapping()
            release.bytes(files.mapping, (neutralized(mapped) if neutralize else mapped).write_csv().encode("utf-8"))
        if files.solution is not None:
            release.bytes(files.solution, result.solution_json().encode("utf-8"))
        if files.manifest is not None:
            release.bytes(files.manifest, result.manifest(recorded).encode("utf-8"))
    return said


def write_release(
    release: Release, frame: pl.DataFrame, output: str, dialect: Dialect | None, neutralize: bool
) -> list[str]:
    """Stage the published table; returns what is to be said of its texts that a spreadsheet would run."""
    from kanopy._table.sinks import formulas

    release.table(frame, output, dialect=dialect, neutralize=neutralize)
    found = [] if neutralize else formulas(frame, output)
    return (
        [
            f"A spreadsheet that opens {Path(output).name!r} takes texts of {some(found)} for formulas. "
            "--neutralize-formulas puts an apostrophe before them."
        ]
        if found
        else []
    )


def report_bytes(report: Any, path: Path, **options: Any) -> bytes:
    """A report in the form that the suffix of its file asks for."""
    text: str
    if path.suffix == ".json":
        plain = report if hasattr(report, "to_json") else None
        text = plain.to_json() if plain else json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
    elif path.suffix == ".py":
        if not hasattr(report, "to_script"):
            raise JobError(f"This report cannot be written as a script. Name it {path.stem}.html or {path.stem}.json.")
        text = report.to_script()
    else:
        text = report.to_html(**options)
    return text.encode("utf-8", "replace")
