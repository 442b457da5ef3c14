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
    lines, dangling = _scanned(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ontology = Ontology(str(path), import_depth=0)
    except Exception as error:  # the parser raises whatever its own parsers raise
        raise OntologyError(
            dangling
            or f"{path.name} cannot be read as {path.suffix[1:].upper()}: {error}. Check the file, or export it again."
        ) from None
    terms_by_id = {term.id: term for term in ontology.terms() if not term.obsolete and not _is_built_in(term.id)}
    relations = {relation.id for relation in ontology.relationships()}
    for name in is_a:
        if name != "is_a" and name not in relations:
            relation_names = ", ".join(sorted(relations)) or "none"
            raise OntologyError(f"{path.name} has no relationship {name!r}. It has: {relation_names}.")
    if dangling and "is_a" in is_a:
        raise OntologyError(dangling)
    concepts = []
    for term in terms_by_id.values():
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


def _is_built_in(key: str) -> bool:
    return key in {"owl:Thing", "http://www.w3.org/2002/07/owl#Thing"}


def _is_obsolete(ontology: Any, key: str) -> bool:
    try:
        return bool(ontology[key].obsolete)
    except KeyError:
        return False


def _scanned(path: Path) -> tuple[dict[str, int], str | None]:
    """The line of each `id:` of an OBO file, and the first `is_a:` whose target is defined nowhere, as a message.

    OWL has no useful lines.
    """
    lines: dict[str, int] = {}
    links: list[tuple[int, str, str]] = []
    current = ""
    with path.open(encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle if path.suffix.lower() == ".obo" else (), 1):
            if line.startswith("id:"):
                current = line[3:].split("!")[0].strip()
                lines.setdefault(current, number)
            elif match := re.match(r"is_a:\s*(\S+)", line):
                links.append((number, current, match[1]))
    for number, child, parent in links:
        if parent not in lines:
            return lines, (
                f"{path.name}, line {number}: {child!r} has the parent {parent!r}, which is defined nowhere. "
                "Add the missing term or remove the link."
            )
    return lines, None
