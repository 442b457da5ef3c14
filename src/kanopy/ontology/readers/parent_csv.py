"""A taxonomy from a parent-child table: one row per link, or per concept without a parent."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from kanopy._errors import OntologyError
from kanopy._files import read_text
from kanopy.ontology.taxonomy import Concept, Taxonomy

HEADERS = {"child", "concept", "term", "label", "id", "name", "narrower"}
PARENT_HEADERS = {"parent", "broader", "is_a", "is-a", "parent_id"}


def read_parent_csv(path: str | Path, *, delimiter: str | None = None, strict: bool = False) -> Taxonomy:
    """Columns: child, parent, and optionally further terms of the child separated by `|`.

    A header row (`child,parent` and the like) is skipped. A child may have several rows with different parents.
    A parent that is nowhere a child is a root of its own; with `strict=True` it is an error that shows the line, so
    roots must then be listed with an empty parent.
    """
    path = Path(path)
    if delimiter is None:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    parents: dict[str, dict[str, int]] = {}
    terms: dict[str, dict[str, None]] = {}
    lines: dict[str, int] = {}
    reader = csv.reader(io.StringIO(read_text(path, OntologyError), newline=""), delimiter=delimiter)
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if not lines and len(cells) > 1 and cells[0].lower() in HEADERS and cells[1].lower() in PARENT_HEADERS:
            continue
        if not cells[0] or len(cells) > 3 or (len(cells) == 1 and delimiter in ",\t" and ";" in cells[0]):
            raise OntologyError(
                f"{path.name}, line {reader.line_num}: expected child{delimiter}parent[{delimiter}terms], "
                f"found {delimiter.join(row)!r}. Give two or three columns."
            )
        child, parent = cells[0], cells[1] if len(cells) > 1 else ""
        lines.setdefault(child, reader.line_num)
        terms_of_child = terms.setdefault(child, {child: None})
        if len(cells) == 3:
            terms_of_child.update(dict.fromkeys(term.strip() for term in cells[2].split("|") if term.strip()))
        ups = parents.setdefault(child, {})
        if parent:
            ups.setdefault(parent, reader.line_num)
    if not strict:
        for ups in list(parents.values()):
            for up in ups:
                parents.setdefault(up, {})
    return Taxonomy.from_concepts(
        (
            Concept(key, tuple(terms.get(key, (key,))), tuple(ups), next(iter(ups.values()), lines.get(key, 0)))
            for key, ups in parents.items()
        ),
        name=path.stem,
        source=path.name,
    )
