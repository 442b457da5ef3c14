"""What commands read and write: tables with their encoding, and outputs that are checked before any work."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kanopy._errors import DataError, shown_address
from kanopy.cli.console import STANDARD, note

SUFFIXES = (".html", ".csv", ".json", ".svg", ".png")
"""What comparisons and maps are written as."""


def read_data(data: str, encoding: str | None = None, columns: list[str] | None = None) -> Any:
    """A table (`Source`: frame, dialect) from a file, a database, an address, or `-` for standard input."""
    from kanopy._table.sources import Source, read_source

    if data != STANDARD:
        source = read_source(data, encoding=encoding, columns=columns)
    else:
        from kanopy._table.delimited import read_delimited

        frame, dialect = read_delimited(sys.stdin.buffer.read(), "standard input", columns=columns, encoding=encoding)
        source = Source(frame, dialect, "csv", None, dialect.notes)
    for line in source.notes:
        note(line)
    return source


def inputs_of(*sources: Any) -> list[Path]:
    """The files among what a command reads; they are never overwritten."""
    from kanopy._table.sources import local_path

    texts = [source for source in sources if isinstance(source, (str, Path)) and str(source) != STANDARD]
    return [path for path in (local_path(text) for text in texts) if path is not None]


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
        place = check_writable(target, forbidden, table=target is table)
        if place in places:
            raise DataError(f"Two outputs have the same name {str(target)!r}. Give each one of its own.")
        places[place] = str(target)


def hierarchies_in(folder: Path | None, columns: Iterable[str]) -> dict[str, Any]:
    """The hierarchies of some columns in a folder, read."""
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy

    found = {} if folder is None else find_hierarchies(folder, list(columns))
    return {name: read_hierarchy(path, column=name) for name, path in found.items()}


def key_for(job: Any, key_file: Path | None) -> bytes | None:
    """The secret key, if the job publishes pseudonyms."""
    if not job.pseudonymize:
        return None
    from kanopy._table.pseudonyms import read_key

    return read_key(key_file)


def drawn(
    found: Any, output: Path, source: str, table: Callable[[Any], str], chart: Callable[[Any], dict[str, Any]]
) -> bytes:
    """A comparison or map as its suffix asks: the page, the `table`, or the `chart` as a picture or for Vega-Lite."""
    from kanopy.report.render import picture, standalone

    if output.suffix == ".html":
        page: str = found.to_html(Path(shown_address(source)).name)
        return page.encode("utf-8")
    if output.suffix == ".csv":
        return table(found).encode("utf-8")
    if output.suffix == ".json":
        return json.dumps(standalone(chart(found)), indent=1).encode("utf-8")
    return picture(chart(found), output.suffix[1:])
