"""What commands read and write: tables with their encoding, and outputs that are checked before any work."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, shown_address
from kanopy._usage import refuse_in_vain
from kanopy.cli.console import STANDARD, note
from kanopy.cli.options import HIERARCHIES
from kanopy.release.writing import check_outputs, inputs_of

if TYPE_CHECKING:
    from kanopy._table.formats.layout import Layout

__all__ = ["check_document", "check_outputs", "drawn", "hierarchies_in", "inputs_of", "key_for", "read_data"]

SUFFIXES = (".html", ".csv", ".json", ".svg", ".png")
"""What comparisons and maps are written as."""


def check_document(report: Path | None) -> None:
    """Refuse a report of a study in a form that nobody writes: the ending of the file says the form."""
    from kanopy._errors import DataError
    from kanopy.report.documents.document import FORMATS

    if report is not None and report.suffix not in FORMATS:
        raise DataError(f"Cannot write the report {report.name!r}. Known suffixes: {', '.join(FORMATS)}.")


def read_data(data: str, layout: Layout | None = None, columns: list[str] | None = None) -> Any:
    """A table (`Source`: frame, dialect) from a file, a database, an address, or `-` for standard input."""
    from kanopy._table.sources import Source, read_source

    if data != STANDARD:
        source = read_source(data, layout=layout, columns=columns)
    else:
        from kanopy._table.delimited import read_delimited

        frame, dialect = read_delimited(sys.stdin.buffer.read(), "standard input", columns=columns, layout=layout)
        source = Source(frame, dialect, "csv", None, dialect.notes)
    for line in source.notes:
        note(line)
    return source


def hierarchies_in(folder: Path | None, columns: Iterable[str]) -> dict[str, Any]:
    """The hierarchies of some columns in a folder, read."""
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy

    files = {} if folder is None else find_hierarchies(folder, list(columns))
    if folder is not None and not files:
        refuse_in_vain({"--hierarchies": HIERARCHIES})
    return {name: read_hierarchy(path, column=name) for name, path in files.items()}


def key_for(job: Any, key_file: Path | None, data: str = "") -> bytes | None:
    """The secret key, if the job publishes pseudonyms or has treatments by a key; what is random takes one if given."""
    from kanopy.release.treated.treating import key_of_run

    if key_file is not None and data and os.path.realpath(key_file) in map(os.path.realpath, inputs_of(data)):
        raise JobError(
            f"The key file {str(key_file)!r} is the table itself, so the key is not secret. Name another file."
        )
    return key_of_run(job, key_file)


def drawn(
    results: Any, output: Path, source: str, table: Callable[[Any], str], chart: Callable[[Any], dict[str, Any]]
) -> bytes:
    """A comparison or map as its suffix asks: the page, the `table`, or the `chart` as a picture or for Vega-Lite."""
    from kanopy.report.render import picture, standalone

    if output.suffix == ".html":
        page: str = results.to_html(Path(shown_address(source)).name)
        return page.encode("utf-8")
    if output.suffix == ".csv":
        return table(results).encode("utf-8")
    if output.suffix == ".json":
        return json.dumps(standalone(chart(results)), indent=1).encode("utf-8")
    return picture(chart(results), output.suffix[1:])
