"""LOINC: the tree of components by system where its file is given, otherwise codes in their classes."""

from __future__ import annotations

import csv
from pathlib import Path

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import About, Classification
from kanopy.classifications.readers.files import text_of

SAMPLE = (
    "PATH_TO_ROOT,SEQUENCE,IMMEDIATE_PARENT,CODE,CODE_TEXT\n,1,,LP1,Fruit\nLP1,1,LP1,1-8,Apples\nLP1,2,LP1,2-6,Pears\n"
)


def read_loinc(path: str | Path, *, name: str = "") -> Classification:
    """`ComponentHierarchyBySystem.csv` (a code may have several parents), or `Loinc.csv` (code, class)."""
    path = Path(path)
    rows = list(csv.DictReader(text_of(path).splitlines()))
    if not rows:
        raise HierarchyError(f"{path} has no codes of LOINC. Give the file of a LOINC release.")
    about = About(
        title=name or "LOINC", version="", source=path.name, licence="LOINC licence", role="insensitive", subject="test"
    )
    if "IMMEDIATE_PARENT" in rows[0]:
        parents: dict[str, dict[str, None]] = {}
        labels: dict[str, str] = {}
        for row in rows:
            labels.setdefault(row["CODE"], row["CODE_TEXT"])
            parents.setdefault(row["CODE"], {})
            if row["IMMEDIATE_PARENT"]:
                parents[row["CODE"]][row["IMMEDIATE_PARENT"]] = None
        given = [(code, labels[code], tuple(above)) for code, above in parents.items()]
    else:
        classes = dict.fromkeys(row["CLASS"] for row in rows)
        given = [(f"class {class_name}", class_name, ()) for class_name in classes]
        given += [(row["LOINC_NUM"], row.get("LONG_COMMON_NAME", ""), (f"class {row['CLASS']}",)) for row in rows]
    return Classification.from_rows(given, name=name or "loinc", about=about, where=str(path))
