"""Taxonomies from WN-LMF XML files (Global WordNet formats), such as Open English WordNet; read as a stream."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast
from xml.etree import ElementTree

from kanopy._errors import OntologyError
from kanopy.ontology.taxonomy import Concept, Taxonomy, fold
from kanopy.ontology.text_pool import TextPool

IS_A = ("hypernym", "instance_hypernym")
PARTS = ("mero_part", "mero_member", "mero_substance", "mero_portion", "meronym")
LETTERS = {"n": "n", "v": "v", "a": "a", "s": "a", "r": "r"}


def read_lmf(path: str | Path, *, part_of_speech: str = "n", is_a: Sequence[str] = IS_A) -> Taxonomy:
    """The synsets of one part of speech; `is_a` are the relation types that lead to a parent.

    Senses of a word are ordered by their `n` attribute if there is one (Open English WordNet), otherwise as listed.
    Tag counts are the `Count` elements of the senses, if any.
    """
    path = Path(path)
    forms: dict[str, list[str]] = {}
    senses: dict[str, list[tuple[int, str]]] = {}
    counts: dict[str, int] = {}
    other: dict[str, set[str]] = {}
    synsets: dict[str, tuple[tuple[str, ...], tuple[str, ...], bool, list[str]]] = {}
    try:
        with _open(path) as handle:
            for _, element in ElementTree.iterparse(handle, events=("end",)):
                tag = element.tag.rpartition("}")[2]
                if tag == "LexicalEntry":
                    _read_entry(element, part_of_speech, forms, senses, counts, other)
                    element.clear()
                elif tag == "Synset":
                    if LETTERS.get(element.get("partOfSpeech", "")) == part_of_speech:
                        related = [(r.get("relType", ""), r.get("target", "")) for r in _all(element, "SynsetRelation")]
                        synsets[element.get("id", "")] = (
                            tuple(target for kind, target in related if kind in is_a),
                            tuple(target for kind, target in related if kind in PARTS),
                            any(kind == "instance_hypernym" for kind, _ in related),
                            element.get("members", "").split(),
                        )
                    element.clear()
    except (ElementTree.ParseError, EOFError, OSError) as error:
        raise OntologyError(
            f"{path.name} is not a whole XML file: {error}. It may be incomplete: download or export it again."
        ) from None
    if not synsets:
        raise OntologyError(
            f"{path.name} has no synsets with the part of speech {part_of_speech!r}. Give a WN-LMF file of a wordnet."
        )
    ordered: dict[str, list[str]] = {}
    for word, numbered in senses.items():
        ordered_keys = dict.fromkeys(key for _, key in sorted(numbered, key=lambda item: item[0]) if key in synsets)
        if ordered_keys:
            ordered[word] = list(ordered_keys)
    concepts = [
        Concept(key, _terms(key, members, forms), ups, is_instance=instance, parts=parts)
        for key, (ups, parts, instance, members) in synsets.items()
    ]
    extras = {
        "other_words": TextPool.of(
            f"{word}\t{''.join(sorted(kinds))}" for word, kinds in sorted(other.items()) if word not in ordered
        )
    }
    return Taxonomy.from_concepts(
        concepts,
        name=path.name.split(".")[0],
        source=path.name,
        part_of_speech=part_of_speech,
        senses=ordered,
        tag_counts={key: count for key, count in counts.items() if key in synsets},
        extras=extras,
    )


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return path.open("rb")


def _read_entry(
    entry: ElementTree.Element,
    part_of_speech: str,
    forms: dict[str, list[str]],
    senses: dict[str, list[tuple[int, str]]],
    counts: dict[str, int],
    other: dict[str, set[str]],
) -> None:
    """One `LexicalEntry`: a word, and the synsets of its senses."""
    lemma = next(iter(_all(entry, "Lemma")), None)
    if lemma is None:
        raise OntologyError(f"The lexical entry {entry.get('id')!r} has no Lemma. The file is not valid WN-LMF.")
    word = lemma.get("writtenForm", "")
    letter = LETTERS.get(lemma.get("partOfSpeech", ""), "")
    if letter != part_of_speech:
        if letter:
            other.setdefault(fold(word), set()).add(letter)
        return
    for position, sense in enumerate(_all(entry, "Sense"), 1):
        key = sense.get("synset", "")
        forms.setdefault(key, []).append(word)
        forms.setdefault(entry.get("id", ""), [word])
        senses.setdefault(fold(word), []).append((int(sense.get("n", position)), key))
        for count in _all(sense, "Count"):
            counts[key] = counts.get(key, 0) + int(count.text or 0)


def _terms(key: str, members: list[str], forms: dict[str, list[str]]) -> tuple[str, ...]:
    """The words of a synset: in the order of its `members` (entry or sense ids) where they name entries."""
    listed = [forms[member][0] for member in members if member in forms]
    return tuple(dict.fromkeys([*listed, *forms.get(key, [])])) or (key,)


def _all(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [child for child in element if child.tag.rpartition("}")[2] == name]
