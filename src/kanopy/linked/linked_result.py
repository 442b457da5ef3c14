"""`LinkedResult`: several published tables, verified together, and what is written of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._arrays import Mask
from kanopy._errors import DataError, JobError
from kanopy._progress import Clock
from kanopy.linked.job import LinkedJob
from kanopy.linked.keys import Related
from kanopy.linked.verification import TablesVerified

if TYPE_CHECKING:
    import polars as pl

    from kanopy.linked.preparation import Table
    from kanopy.linked.run import Whole
    from kanopy.release.result import Result
    from kanopy.report.documents.document import Document

FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


@dataclass(frozen=True, eq=False, repr=False)
class LinkedResult:
    """Several verified tables. `frames` are what is published, in the order of the originals; what `write` writes is
    shuffled: hand that on. `results` are the releases table by table, without keys, where a table was searched."""

    job: LinkedJob
    related: Related
    tables: Mapping[str, Table]
    frames: Mapping[str, pl.DataFrame]
    kept: Mapping[str, Mask]
    levels: Mapping[str, Mapping[str, int]]
    solution: Whole
    results: Mapping[str, Result]
    verification: TablesVerified
    notes: tuple[str, ...]
    clock: Clock
    sources: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suppressed(self) -> int:
        """Rows of all tables that are not published."""
        return sum(self.verification.suppressed.values())

    @property
    def promise(self) -> str:
        """What holds for everything that can be joined, in one sentence."""
        k, rows_known = self.job.k, self.job.known_rows
        if rows_known is None:
            return f"All published rows of a person in all tables together are shared by at least {k:,} people."
        if rows_known == 0:
            return f"Every published row of a person in {self.related.people!r} is shared by at least {k:,} people."
        rows = "row" if rows_known == 1 else "rows"
        person = "The published data of a person" if self.related.people is not None else "The person"
        return (
            f"{person} together with any {rows_known:,} {rows} of theirs in the other tables fit at least {k:,} people."
        )

    def remarks(self) -> list[str]:
        """What links and numbers of rows tell although the promise holds."""
        checked, k = self.verification, self.job.k
        lines = []
        if self.job.known_rows is not None:
            lines.append(
                f"The whole trace of {checked.rare_traces:,} of {checked.people:,} people is shared by fewer than "
                f"{k:,}: "
                f'this promise is about {known_rows(self.job.known_rows)}. To protect all: known = "all".'
            )
            lines.append(
                f"{checked.rare_numbers:,} of {checked.people:,} people have a number of rows per table that fewer "
                f"than {k:,} share. An attacker who knows these numbers finds them."
            )
        if checked.rare_chains > checked.rare_traces:
            lines.append(
                f"Keys between tables of events reveal which rows belong together: of {checked.rare_chains:,} people "
                f"fewer than {k:,} share all rows with the rows that these refer to. Links with together = true "
                "protect this."
            )
        return lines

    def summary(self) -> dict[str, Any]:
        """The numbers as plain data: what `kanopy anonymize --json` prints."""
        return {
            "k": self.job.k, "known": self.job.known, "unit": str(self.job.unit), "promise": self.promise,
            "metric": self.job.metric, "score": self.solution.score, "optimal": self.solution.optimal,
            "algorithm": self.solution.algorithm, "judged": self.solution.judged,
            "candidates": self.solution.candidates, "keys": self.job.keys,
            "levels": {
                name: {column: level for column, level in level_of_column.items() if not column.startswith("\0")}
                for name, level_of_column in self.levels.items()
            },
            "column_losses": {name: table_result.column_losses for name, table_result in self.results.items()},
            "rows": {name: frame.height for name, frame in self.related.frames.items()},
            "suppressed": dict(self.verification.suppressed), "verified": self.verification.to_dict(),
            "remarks": self.remarks(), "notes": list(self.notes), "seconds": self.clock.total(),
        }  # fmt: skip

    def to_document(self, checksum: str = "") -> Document:
        """What is handed on about the release, with the checksum of the manifest: no value of a table is in it."""
        from kanopy.report.documents.tables import tables_document

        private = {
            f"{name}: {note}" for name, table_result in self.results.items() for note in table_result._private_notes
        }
        summary = self.summary() | {"notes": [note for note in self.notes if note not in private]}
        return tables_document(
            summary, [(str(link.child), str(link.parent)) for link in self.job.links], checksum=checksum
        )

    def written(self, name: str) -> pl.DataFrame:
        """A table as it is written: rows in an order that depends on what they publish and on nothing else."""
        from kanopy._table.streams.row_order import content_order

        frame = self.frames[name]
        return frame[content_order(frame)] if frame.height and frame.width else frame

    def manifest(self, files: Mapping[str, tuple[str, Path]]) -> str:
        """What was done and verified, without any value, and the digest of every file."""
        from datetime import UTC, datetime

        from kanopy import __version__
        from kanopy.release.manifest import MANIFEST_FORMAT, checksum

        content = {
            "format": f"{MANIFEST_FORMAT}-tables", "version": 1,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "kanopy": __version__, "unit": str(self.job.unit),
            "links": [{"from": str(link.child), "to": str(link.parent)} for link in self.job.links],
            "files": {name: {"name": called, "sha256": checksum(path)} for name, (called, path) in files.items()},
            "quasi": {name: [c for c in table.job.quasi if c != table.marker] for name, table in self.tables.items()},
            "result": {key: value for key, value in self.summary().items() if key not in ("notes", "seconds")},
        }  # fmt: skip
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        report: str | Path | None = None,
        manifest: str | Path | None = None,
        neutralize: bool = False,
        inputs: Iterable[Path] = (),
        internal: Callable[[Mapping[str, Path]], Mapping[Path, bytes]] | None = None,
    ) -> list[Path]:
        """Write all tables into a folder, or into a DuckDB or SQLite database, and what is wanted beside them: all of
        it or nothing. `internal` makes further files for internal use from where the tables are staged."""
        folder_path = Path(folder)
        forbidden = [
            *inputs,
            *(read.path for read in self.sources.values() if read is not None and read.path is not None),
            *(
                Path(source.partition("::")[0])
                for name in self.job.tables
                if isinstance(source := self.job.source_of(name), str) and "://" not in source
            ),
        ]
        frames = {name: self.written(name) for name in self.related.order}
        check_report_name(report)
        there = folder_path.exists()
        try:
            files = self._staged(folder_path, frames, report, manifest, neutralize, forbidden, internal)
        except BaseException:
            if not there and folder_path.is_dir() and not any(folder_path.iterdir()):
                folder_path.rmdir()
            raise
        return list(files.values())

    def _staged(
        self,
        location: Path,
        frames: Mapping[str, pl.DataFrame],
        report: str | Path | None,
        manifest: str | Path | None,
        neutralize: bool,
        forbidden: list[Path],
        internal: Callable[[Mapping[str, Path]], Mapping[Path, bytes]] | None,
    ) -> dict[str, Path]:
        """Stage all files and publish them together; returns the file of every table."""
        from kanopy._table.sinks import staged
        from kanopy.linked.output import is_database_file, stage_database, targets_of

        with staged(forbidden=forbidden) as release:
            if is_database_file(location):
                stage_database(release, location, frames)
                files = {"database": location}
            else:
                files = targets_of(location, frames, self.sources)
                for name, target in files.items():
                    dialect = self.sources.get(name).dialect if self.sources.get(name) is not None else None  # type: ignore[union-attr]
                    release.table(frames[name], str(target), dialect=dialect, neutralize=neutralize)
            staged_at = {name: release.place_of(str(path)) for name, path in files.items()}
            content = b""
            if manifest is not None:
                named = {name: (files[name].name, path) for name, path in staged_at.items()}
                content = self.manifest(named).encode("utf-8")
                release.bytes(Path(manifest), content)
            if report is not None:
                checksum = hashlib.sha256(content).hexdigest() if content else ""
                release.bytes(Path(report), self.to_document(checksum).to_bytes(Path(report).suffix))
            for path, content_of_file in (internal(staged_at) if internal is not None else {}).items():
                release.bytes(path, content_of_file, private=True)
        return files

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {count:,}" for name, count in self.verification.rows.items())
        return f"<LinkedResult: {rows}; {self.suppressed:,} suppressed, {self.job.metric} {self.solution.score:.4f}>"


def known_rows(known: int) -> str:
    """How many rows are known, in words.

    >>> known_rows(0), known_rows(1)
    ("the person's own row", '1 known row')
    """
    return "the person's own row" if known == 0 else f"{known:,} known row{'' if known == 1 else 's'}"


def check_report_name(report: str | Path | None) -> None:
    """Refuse a report in a form that nobody writes."""
    from kanopy.report.documents.document import FORMATS

    if report is not None and Path(report).suffix not in FORMATS:
        raise DataError(f"Cannot write the report {Path(report).name!r}. Known suffixes: {', '.join(FORMATS)}.")


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a place that tables cannot be written into."""
    folder_path = Path(folder)
    if (
        folder_path.exists()
        and not folder_path.is_dir()
        and folder_path.suffix not in (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
    ):
        raise JobError(f"Several tables are written into a folder, and {str(folder)!r} is a file. Name a folder.")
