"""Taxonomies from SKOS: `skos:broader` and `skos:narrower` in RDF/XML, or in the plain part of Turtle.

The Turtle reader knows prefixes, comments, `a`, `;`, `,`, IRIs, prefixed names and literals. Files with blank nodes or
collections are refused with a message: convert them to RDF/XML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from kanopy._errors import OntologyError
from kanopy._files import read_text
from kanopy.ontology.taxonomy import Concept, Taxonomy

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
Triple = tuple[str, str, str, str, int]
"""Subject, predicate, object, language of the object ("" if none), line."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<iri><[^<>\s]*>)
    |(?P<text>\"\"\"(?:[^"\\]|\\.|\"(?!\"\"))*\"\"\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<language>@[A-Za-z][A-Za-z0-9-]*)|(?P<type>\^\^)|(?P<mark>[;,.](?=[\s<"#]|$)|[\[\]()])
    |(?P<name>[^\s<>"';,\[\]()]*[^\s<>"';,\[\]().])""",
    re.VERBOSE,
)


def read_skos(path: str | Path, *, language: str = "en") -> Taxonomy:
    """The concepts of a SKOS file. The preferred label in `language` (or any) comes first, alternatives follow."""
    path = Path(path)
    triples = read_triples(path)
    lines: dict[str, int] = {}
    broader: dict[str, dict[str, None]] = {}
    preferred: dict[str, list[tuple[bool, str]]] = {}
    alternative: dict[str, list[tuple[bool, str]]] = {}
    for subject, predicate, value, tongue, line in triples:
        kind = predicate.removeprefix(SKOS)
        if kind in ("broader", "broaderGeneric"):
            broader.setdefault(subject, {})[value] = None
        elif kind == "narrower":
            broader.setdefault(value, {})[subject] = None
        elif kind in ("prefLabel", "altLabel"):
            labels = preferred if kind == "prefLabel" else alternative
            labels.setdefault(subject, []).append((tongue not in (language, ""), value))
        elif predicate != RDF + "type" or value != SKOS + "Concept":
            continue
        if kind != "altLabel":  # it alone does not make a concept
            lines.setdefault(subject, line)
    concepts = []
    for key, line in lines.items():
        # sorted() is stable: labels in the wanted language first, otherwise as in the file
        names = [text for _, text in sorted(preferred.get(key, []), key=lambda item: item[0])][:1]
        names += [text for foreign, text in alternative.get(key, []) if not foreign]
        concepts.append(Concept(key, tuple(dict.fromkeys(names or [key])), tuple(broader.get(key, {})), line))
    return Taxonomy.from_concepts(concepts, name=path.stem, source=path.name)


def _rdf_xml(path: Path) -> Iterator[Triple]:
    """Triples of an RDF/XML file that describes one resource per top-level element."""
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise OntologyError(f"{path.name} is not a whole XML file: {error}. Export it again as RDF/XML.") from None
    for element in root:
        subject = element.get(f"{{{RDF}}}about") or ("#" + element.get(f"{{{RDF}}}ID", ""))
        kind = element.tag[1:].replace("}", "")
        if kind != RDF + "Description":
            yield subject, RDF + "type", kind, "", 0
        for item in element:
            target = item.get(f"{{{RDF}}}resource")
            if target is None and len(item):
                target = item[0].get(f"{{{RDF}}}about")
            value = target if target is not None else (item.text or "").strip()
            yield subject, item.tag[1:].replace("}", ""), value, item.get(XML_LANGUAGE, ""), 0


def read_triples(path: Path) -> Iterator[Triple]:
    """What a file states, triple by triple."""
    return _turtle(path) if path.suffix.lower() == ".ttl" else _rdf_xml(path)


def _turtle(path: Path) -> Iterator[Triple]:
    """Triples of a Turtle file without blank nodes."""
    prefixes: dict[str, str] = {}
    statement: list[tuple[str, str, int]] = []
    for kind, text, line in _tokens(path):
        if kind == "mark" and text in "[]()":
            raise OntologyError(
                f"{path.name}, line {line}: blank nodes and collections are not supported. Convert the file to RDF/XML."
            )
        statement.append((kind, text, line))
        word = statement[0][1].lower()
        if word == "prefix" and len(statement) == 3:
            prefixes[statement[1][1].rstrip(":")] = statement[2][1][1:-1]
            statement = []
        elif kind == "mark" and text == ".":
            if word == "@prefix":
                prefixes[statement[1][1].rstrip(":")] = statement[2][1][1:-1]
            elif word != "@base":
                yield from _triples(statement[:-1], prefixes, path)
            statement = []
    if statement:
        raise OntologyError(
            f"{path.name}, line {statement[0][2]}: the last statement has no end. The file is incomplete."
        )


def _tokens(path: Path) -> Iterator[tuple[str, str, int]]:
    text = read_text(path, OntologyError)
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise OntologyError(f"{path.name}, line {line}: this is not Turtle: {text[at : at + 40]!r}.")
        kind = str(match.lastgroup)
        if kind != "space":
            yield kind, match[0], line
        line += match[0].count("\n")
        at = match.end()


def _triples(statement: list[tuple[str, str, int]], prefixes: dict[str, str], path: Path) -> Iterator[Triple]:
    """One statement: a subject, then `;`-separated predicates with `,`-separated objects."""

    def full(kind: str, text: str, line: int) -> str:
        if kind == "iri":
            return text[1:-1]
        if kind == "text":
            width = 3 if text.startswith('"""') else 1
            return re.sub(r"\\(.)", r"\1", text[width:-width])
        if text == "a":
            return RDF + "type"
        prefix, colon, rest = text.partition(":")
        if colon and prefix in prefixes:
            return prefixes[prefix] + rest
        if colon:
            raise OntologyError(f"{path.name}, line {line}: the prefix {prefix + ':'!r} of {text!r} is not declared.")
        return text

    subject = full(*statement[0])
    predicate, skip = "", False
    for position, (kind, text, line) in enumerate(statement[1:], 1):
        if kind == "mark":
            predicate = "" if text == ";" else predicate
        elif kind == "type":
            skip = True
        elif skip:
            skip = False
        elif kind == "language":
            continue
        elif not predicate:
            predicate = full(kind, text, line)
        else:
            follower = statement[position + 1] if position + 1 < len(statement) else ("", "", 0)
            tongue = follower[1][1:] if follower[0] == "language" else ""
            yield subject, predicate, full(kind, text, line), tongue, line
