"""Taxonomies from OBO and OWL files, read by pronto."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kanopy._errors import MissingDependency, OntologyError
from kanopy.ontology.taxonomy import Concept, Taxonomy

IS_A = ("is_a",)


def read_obo(path: str | Path, *, is_a: Sequence[str] = IS_A) -> Taxonomy:
    """The terms of an OBO or OWL (RDF/XML) file; obsolete terms are left out.

    `is_a` lists the relations that lead to a parent: `is_a` itself and, if wanted, relationship ids such as `part_of`.
    Synonyms are further terms of a concept.
    """
    try:
        from pronto.ontology import Ontology
    except ImportError:
        raise MissingDependency(
            "Reading OBO and OWL files needs pronto. Install it with `pip install 'kanopy[ontology]'`."
        ) from None
    path = Path(path)
    lines = _lines_of_terms(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ontology = Ontology(str(path), import_depth=0)
    except Exception as error:  # the parser raises whatever its own parsers raise
        missing = _unknown_parent(path, lines)
        raise OntologyError(
            missing
            or f"{path.name} cannot be read as {path.suffix[1:].upper()}: {error}. Check the file, or export it again."
        ) from None
    known = {term.id: term for term in ontology.terms() if not term.obsolete and not _is_built_in(term.id)}
    unknown_relations = [name for name in is_a if name != "is_a" and name not in _relationship_ids(ontology)]
    if unknown_relations:
        raise OntologyError(
            f"{path.name} has no relationship {unknown_relations[0]!r}. It has: "
            f"{', '.join(sorted(_relationship_ids(ontology))) or 'none'}."
        )
    dangling = _unknown_parent(path, lines) if "is_a" in is_a else None
    if dangling:
        raise OntologyError(dangling)
    concepts = []
    for term in known.values():
        ups: list[str] = []
        if "is_a" in is_a:
            ups += [up.id for up in term.superclasses(distance=1, with_self=False)]
        for relation, targets in term.relationships.items():
            if relation.id in is_a:
                ups += [target.id for target in targets]
        names = [term.name or term.id, *sorted(synonym.description for synonym in term.synonyms)]
        parents = tuple(sorted({up for up in ups if not _is_built_in(up) and not _is_obsolete(ontology, up)}))
        concepts.append(Concept(term.id, tuple(dict.fromkeys(names)), parents, lines.get(term.id, 0)))
    return Taxonomy.from_concepts(concepts, name=path.stem, source=path.name)


def _relationship_ids(ontology: Any) -> set[str]:
    return {relation.id for relation in ontology.relationships()}


def _is_built_in(key: str) -> bool:
    return key in {"owl:Thing", "http://www.w3.org/2002/07/owl#Thing"}


def _is_obsolete(ontology: Any, key: str) -> bool:
    try:
        return bool(ontology[key].obsolete)
    except KeyError:
        return False


def _lines_of_terms(path: Path) -> dict[str, int]:
    """The line of each `id:` of an OBO file, for messages; OWL has no useful lines."""
    if path.suffix.lower() != ".obo":
        return {}
    found: dict[str, int] = {}
    with path.open(encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            if line.startswith("id:"):
                found.setdefault(line[3:].split("!")[0].strip(), number)
    return found


def _unknown_parent(path: Path, known: dict[str, int]) -> str | None:
    """The first `is_a:` of an OBO file whose target is defined nowhere, as a message."""
    if path.suffix.lower() != ".obo":
        return None
    current = ""
    with path.open(encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            if line.startswith("id:"):
                current = line[3:].split("!")[0].strip()
            match = re.match(r"is_a:\s*(\S+)", line)
            if match and match[1] not in known:
                return (
                    f"{path.name}, line {number}: {current!r} has the parent {match[1]!r}, which is defined nowhere. "
                    "Add the missing term or remove the link."
                )
    return None
