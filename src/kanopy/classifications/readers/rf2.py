"""SNOMED CT in Release Format 2: the concepts, descriptions and is-a relationships of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import About, Classification, plain

IS_A = "116680003"
FULL_NAME, SYNONYM = "900000000000003001", "900000000000013009"
ROOT = "138875005"


def read_rf2(folder: str | Path, *, name: str = "") -> Classification:
    """The active concepts of the snapshot in a folder; full names without their tag are labels, synonyms are known."""
    folder = Path(folder)
    concepts = [row[0] for row in _rows(folder, "sct2_Concept_*Snapshot*.txt") if row[2] == "1"]
    concept_ids = set(concepts)
    labels: dict[str, str] = {}
    synonyms: list[tuple[str, str]] = []
    for row in _rows(folder, "sct2_Description_*Snapshot*.txt"):
        if row[2] != "1" or row[4] not in concept_ids:
            continue
        if row[6] == FULL_NAME:
            text = row[7].rstrip()
            labels.setdefault(row[4], text[: text.rindex(" (")] if text.endswith(")") and " (" in text else text)
        elif row[6] == SYNONYM:
            synonyms.append((row[7], row[4]))
    parents: dict[str, dict[str, None]] = {}
    for row in _rows(folder, "sct2_Relationship_*Snapshot*.txt"):
        # The root says nothing: what lies directly below it is the broadest.
        if row[2] == "1" and row[7] == IS_A and row[5] != ROOT and row[4] in concept_ids and row[5] in concept_ids:
            parents.setdefault(row[4], {})[row[5]] = None
    rows = [(code, labels.get(code, code), tuple(parents.get(code, ()))) for code in concepts if code != ROOT]
    about = About(
        title=name or "SNOMED CT", version=folder.name, source=folder.name, licence="SNOMED CT licence of your country",
        role="sensitive", subject="diagnosis",
    )  # fmt: skip
    made = Classification.from_rows(rows, name=name or "snomed", about=about, where=str(folder))
    number = {code: at for at, code in enumerate(made.codes)}
    made.aliases.update({plain(text): number[code] for text, code in reversed(synonyms) if code in number})  # type: ignore[attr-defined]
    return made


def _rows(folder: Path, pattern: str) -> Iterator[list[str]]:
    files = sorted(folder.rglob(pattern))
    if not files:
        raise HierarchyError(
            f"{folder} has no file {pattern}, so it is not a snapshot of an RF2 release. Give the folder that "
            "contains Snapshot/Terminology."
        )
    with files[0].open(encoding="utf-8") as file:
        next(file, None)
        for line in file:
            row = line.rstrip("\r\n").split("\t")
            if len(row) > 7 or (len(row) > 2 and "Concept" in files[0].name):
                yield row
