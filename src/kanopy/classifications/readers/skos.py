"""SKOS with `notation`: the notation is the code, preferred labels in all languages are kept, broader is the parent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import ENGLISH, Classification
from kanopy.ontology.readers.skos import RDF, SKOS, read_triples

SAMPLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix f: <http://example.org/> .
f:a a skos:Concept ; skos:notation "F" ; skos:prefLabel "Fruit"@en , "Obst"@de .
f:b a skos:Concept ; skos:notation "F1" ; skos:prefLabel "Apples"@en , "Äpfel"@de ; skos:broader f:a .
f:c a skos:Concept ; skos:notation "F2" ; skos:prefLabel "Pears"@en , "Birnen"@de ; skos:broader f:a .
"""


def read_skos(path: str | Path, *, name: str = "") -> Classification:
    """The concepts of a SKOS file that have a notation (if none has, the end of the IRI is the code)."""
    path = Path(path)
    notation: dict[str, str] = {}
    labels: dict[str, dict[str, str]] = {}
    broader: dict[str, dict[str, None]] = {}
    concepts: dict[str, None] = {}
    for subject, predicate, value, language, _ in read_triples(path):
        kind = predicate.removeprefix(SKOS)
        if kind == "notation":
            notation[subject] = value
        elif kind == "prefLabel":
            labels.setdefault(subject, {}).setdefault(language or ENGLISH, value)
        elif kind in ("broader", "broaderGeneric"):
            broader.setdefault(subject, {})[value] = None
        elif kind == "narrower":
            broader.setdefault(value, {})[subject] = None
        elif predicate != RDF + "type" or value != SKOS + "Concept":
            continue
        concepts[subject] = None
    if not notation:
        notation = {concept: concept.rstrip("/#").replace("#", "/").rpartition("/")[2] for concept in concepts}
    coded = [concept for concept in concepts if concept in notation]
    if not coded:
        raise HierarchyError(f"{path} has no SKOS concepts. Give a classification in SKOS with notations.")
    languages = sorted(
        {language_code for concept in coded for language_code in labels.get(concept, ())},
        key=lambda language_code: (language_code != ENGLISH, language_code),
    )
    first = languages[0] if languages else ENGLISH
    rows = [
        (
            notation[concept],
            labels.get(concept, {}).get(first, notation[concept]),
            tuple(notation[above] for above in broader.get(concept, ()) if above in notation),
        )
        for concept in coded
    ]
    made = Classification.from_rows(rows, name=name or path.stem, language=first, where=str(path))
    labels_of_code = {notation[concept]: labels.get(concept, {}) for concept in coded}
    spelled = {
        language: [
            labels_of_code[code].get(language, label) for code, label in zip(made.codes, made.labels(), strict=True)
        ]
        for language in languages[1:]
    }
    return replace(made, labels_by_language={first: made.labels(), **spelled})
