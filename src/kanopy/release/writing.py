"""The files of a release, written all together or not at all: what the command line, Python and the app leave on disk.

Everything that can fail is worked out while the files lie aside, under other names; then all of them get theirs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, some
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs, Mask
    from kanopy._files import Release as AnyRelease
    from kanopy._table.dialects import Dialect
    from kanopy._table.sinks import Release
    from kanopy.engine.lists import Lists
    from kanopy.release.result import Result

REPORTS = (".html", ".pdf", ".docx", ".json", ".py")
"""What a report is written as: a page, a document to file, its numbers, the script that repeats the run."""
Finish = Callable[["Result"], object]
"""What is made of a verified release while nothing of it is published: if that fails, nothing is."""


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """The published rows in the order of the original ones, as they were verified: one per element where `lists` are
    protected; and which of the original rows they are (`None`: all).

    >>> import polars as pl
    >>> rows = PublishedRows(pl.DataFrame({"age": ["20-29", "30-39", "20-29"]}))
    >>> rows.shuffled[0]["age"].to_list(), rows.shuffled[1].tolist()
    (['30-39', '20-29', '20-29'], [1, 0, 2])
    """

    frame: pl.DataFrame
    kept: Mask | None = None
    lists: Lists | None = None

    @cached_property
    def order(self) -> Longs:
        """Which of the rows stands where if their order is to tell nothing."""
        from kanopy._table.streams.row_order import content_order

        return content_order(self.frame)

    @cached_property
    def rolled(self) -> tuple[pl.DataFrame, Mask | Longs | None]:
        """What leaves, and the rows of the original table that it was made of (`None`: all, in their order)."""
        if self.lists is None:
            return self.frame, self.kept
        there = np.arange(self.frame.height) if self.kept is None else np.flatnonzero(self.kept)
        return self.lists.rolled(self.frame, there)

    @cached_property
    def shuffled(self) -> tuple[pl.DataFrame, Longs]:
        """The same with the rows in an order that depends on what they publish and on nothing else."""
        from kanopy._table.streams.row_order import content_order

        frame, rows = self.rolled
        order = self.order if self.lists is None else content_order(frame)
        there = np.arange(frame.height) if rows is None else np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return frame[order], np.asarray(there[order], np.int64)

    def in_order(self, *, shuffled: bool) -> tuple[pl.DataFrame, Mask | Longs | None]:
        """What leaves, in the order that tells nothing or in that of the table, and the rows that it was made of."""
        return self.shuffled if shuffled else self.rolled


@dataclass(frozen=True)
class Files:
    """Where the release goes (`None`: nowhere), what is wanted beside it, and three settings of the report."""

    table: str | None
    report: Path | None = None
    mapping: Path | None = None
    manifest: Path | None = None
    solution: Path | None = None
    values: bool = False
    sampling_fraction: float | None = None
    target: str | None = None
    ledger: Callable[[Mapping[str, tuple[str, Path]]], Mapping[Path, bytes]] | None = None
    """Further files for internal use that are written with the release, given the files that have a checksum."""

    @property
    def beside(self) -> list[Path]:
        """All that is written besides the table."""
        return [path for path in (self.report, self.mapping, self.manifest, self.solution) if path is not None]

    @property
    def of_rows(self) -> list[str]:
        """What is wanted that needs the published rows in memory."""
        return [name for name in ("report", "values", "sampling_fraction", "target") if getattr(self, name)]

    def check(self, inputs: Iterable[Path], job: Any, *, table: bool = True) -> None:
        """Refuse what could not be written later; the `table` only where it is a file written at once."""
        from kanopy.release.solution_file import check_reusable

        check_outputs(inputs, *self.beside, table=self.table if table else None)
        if self.report is not None:
            check_report(self.report)
        if self.solution is not None:
            check_reusable(job)


def check_report(path: Path) -> None:
    """Refuse a report in a form that nobody writes.

    >>> check_report(Path("r.doc"))
    Traceback (most recent call last):
    kanopy._errors.DataError: Cannot write the report 'r.doc'. Known suffixes: .html, .pdf, .docx, .json, .py.
    """
    if path.suffix not in REPORTS:
        raise DataError(f"Cannot write the report {path.name!r}. Known suffixes: {', '.join(REPORTS)}.")


def inputs_of(*sources: Any) -> list[Path]:
    """The files among what is read; they are never overwritten."""
    from kanopy._table.sources import local_path

    named = [source for source in sources if isinstance(source, (str, Path)) and str(source) != "-"]
    return [path for path in (local_path(source) for source in named) if path is not None]


def check_outputs(
    inputs: Iterable[Path], *files: Path | str | None, table: str | None = None, suffixes: Iterable[str] = ()
) -> None:
    """Refuse outputs before any work: each writable, of a known format, none of them an input, none named twice.

    `table` is the release itself; `suffixes` are those that the first of the other files may have.
    """
    from kanopy._table.sinks import check_writable

    forbidden, places = list(inputs), dict[Path, str]()
    for target in (table, *files):
        if target is None:
            continue
        if suffixes and target is files[0] and Path(target).suffix not in suffixes:
            raise DataError(f"Cannot write {Path(target).name!r}. Known suffixes: {', '.join(suffixes)}.")
        output_path = check_writable(target, forbidden, table=target is table)
        if output_path in places:
            raise DataError(f"Two outputs have the same name {str(target)!r}. Give each one of its own.")
        places[output_path] = str(target)


def write_files(
    result: Result,
    files: Files,
    *,
    dialect: Dialect | None = None,
    read_from: Path | None = None,
    neutralize: bool = False,
    inputs: Iterable[Path] = (),
    finish: Finish | None = None,
    progress: Progress = SILENT,
) -> list[str]:
    """Write a release and what belongs to it; returns what is to be said of it.

    `dialect` is that of the text file it was read from, `read_from` that file, whose checksum the manifest records;
    `inputs` are never overwritten. `finish` is called before anything gets its name.

    >>> import tempfile, kanopy
    >>> people = {"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "f", "f", "m", "m", "m"]}
    >>> job = kanopy.Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [10, 20]}})
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_files(kanopy.anonymize(people, job), Files(str(folder / "out.csv"), mapping=folder / "mapping.csv"))
    []
    >>> (folder / "out.csv").read_text().splitlines()[1]
    '"[30, 39]",f'
    """
    from kanopy._table.sinks import staged

    assert files.table is not None
    with staged(forbidden=inputs) as release:
        progress("writing")
        with result.clock.stage("write"):
            messages = write_release(release, result.to_write, files.table, dialect, neutralize)
        stage_beside(release, result, files, read_from=read_from, neutralize=neutralize, progress=progress)
        if finish is not None:
            finish(result)
    return messages


def stage_beside(
    release: AnyRelease,
    result: Result,
    files: Files,
    *,
    read_from: Path | None = None,
    neutralize: bool = False,
    progress: Progress = SILENT,
) -> None:
    """Stage what is wanted besides the table; the manifest gets the checksum of that and of what was read,
    where they are files."""
    from kanopy._table.sinks import neutralized

    recorded = {} if read_from is None else {"input": (read_from.name, read_from)}
    with suppress(KeyError):  # a folder, a table of a database, or nothing
        name = files.table or ""
        recorded["output"] = (Path(name).name, release.place_of(name))
    manifest = b""
    if files.manifest is not None:
        manifest = manifest_bytes(result.manifest(recorded, written=True), files.manifest)
    for table, tokens in (result.treated.files if result.treated is not None else {}).items():
        release.bytes(table, tokens.encode("utf-8"), private=True)
    if files.report is not None:
        progress("writing the report")
        full_report = result.full_report(
            files=recorded, sampling_fraction=files.sampling_fraction, target=files.target, written=True
        )
        inside = holds_values(result, files.report, files.values)
        checksum = hashlib.sha256(manifest).hexdigest() if manifest else ""
        content = report_bytes(full_report, files.report, checksum=checksum, values=files.values)
        release.bytes(files.report, content, private=inside)
    if files.mapping is not None:
        mapped = result.mapping()
        text = (neutralized(mapped) if neutralize else mapped).write_csv()
        release.bytes(files.mapping, text.encode("utf-8"), private=True)
    if files.solution is not None:
        release.bytes(files.solution, result.solution_json().encode("utf-8"), private=True)
    if files.manifest is not None:
        release.bytes(files.manifest, manifest)
    for path, content in (files.ledger(recorded) if files.ledger is not None else {}).items():
        release.bytes(path, content, private=True)


def holds_values(result: Result, report: Path, values: bool) -> bool:
    """Whether a report shows values of the original table: it is kept inside then."""
    return result.engine == "memory" and (values or result.masked is not None or report.suffix == ".py")


def write_release(
    release: Release, frame: pl.DataFrame, output: str, dialect: Dialect | None, neutralize: bool
) -> list[str]:
    """Stage the published table; returns what is to be said of its texts that a spreadsheet would run."""
    from kanopy._table.sinks import formulas

    release.table(frame, output, dialect=dialect, neutralize=neutralize)
    return about_formulas([] if neutralize else formulas(frame, output), output)


def about_formulas(columns: list[str], output: str) -> list[str]:
    """What is to be said of columns whose texts a spreadsheet would run."""
    if not columns:
        return []
    return [
        f"A spreadsheet that opens {Path(output).name!r} executes texts of {some(columns)} as formulas. "
        "--neutralize-formulas puts an apostrophe before them."
    ]


def manifest_bytes(manifest: str, path: Path) -> bytes:
    """A manifest as it is, or for catalogues as RO-Crate metadata where the file ends in .jsonld."""
    from kanopy.release.evidence.provenance import provenance_json

    return (provenance_json(manifest) if path.suffix == ".jsonld" else manifest).encode("utf-8")


def report_bytes(report: Any, path: Path, *, checksum: str = "", **options: Any) -> bytes:
    """A report in the form that the suffix of its file asks for; documents to file show the manifest's checksum."""
    text: str
    check_report(path)
    if path.suffix == ".json":
        plain = report if hasattr(report, "to_json") else None
        text = plain.to_json() if plain else json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
    elif path.suffix == ".py":
        if not hasattr(report, "to_script"):
            raise JobError(f"This report cannot be written as a script. Name it {path.stem}.html or {path.stem}.json.")
        text = report.to_script()
    elif path.suffix in (".pdf", ".docx"):
        from kanopy.report.documents.studies import document_of

        content: bytes = document_of(report, checksum=checksum).to_bytes(path.suffix)
        return content
    else:
        text = report.to_html(**options)
    return text.encode("utf-8", "replace")
