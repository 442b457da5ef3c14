"""Compile a Princeton WordNet `dict` folder into a `Taxonomy`.

Reads `data.noun` (synsets, is-a and part links), `index.noun` (the order of senses), `cntlist.rev` (how often a sense
was tagged), `noun.exc` (irregular plurals), and, where present, `data.adj` (nouns derived from adjectives) and the
other index files (to tell "not a noun" from "unknown"). Format: the manual pages wndb(5) and cntlist(5) of WordNet;
Fellbaum (ed.), WordNet: An Electronic Lexical Database, MIT Press 1998.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from kanopy._errors import OntologyError
from kanopy.ontology.links import csr
from kanopy.ontology.taxonomy import Concept, Taxonomy, fold
from kanopy.ontology.text_pool import TextPool

Entry = TypeVar("Entry")

SUFFIXES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
IS_A = ("@", "@i")
PARTS = ("%p", "%m", "%s")


class Synset(NamedTuple):
    """One line of a data file."""

    offset: str
    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, str, str], ...]
    line: int
    sense_keys: tuple[str, ...] = ()
    """Per word what the counts call it, without its last two fields: `lemma%type:file:number`."""


def compile_wordnet(
    folder: str | Path, *, name: str = "", part_of_speech: str = "n", is_a: tuple[str, ...] = IS_A
) -> Taxonomy:
    """The nouns (or verbs) of a Princeton `dict` folder as a taxonomy; `is_a` are the pointers that count as is-a.

    Keys are synset offsets with their part of speech, such as `00001740-n`.
    """
    folder = Path(folder)
    suffix = SUFFIXES[part_of_speech]
    data = _needed(folder, f"data.{suffix}")
    index = _needed(folder, f"index.{suffix}")
    key = f"{{}}-{part_of_speech}".format
    concepts = []
    counts = read_counts(folder / "cntlist.rev")
    sense_counts: Counter[tuple[str, str]] = Counter()
    tag_counts: Counter[str] = Counter()
    for synset in read_synsets(data):
        for word, sense_key in zip(synset.words, synset.sense_keys, strict=True):
            if sense_key in counts:
                sense_counts[fold(word), key(synset.offset)] += counts[sense_key]
                tag_counts[key(synset.offset)] += counts[sense_key]
        pointers_of_kind = [
            (mark, target) for mark, target, target_pos, _ in synset.pointers if target_pos == part_of_speech
        ]
        ups = [(mark, target) for mark, target in pointers_of_kind if mark in is_a]
        concepts.append(
            Concept(
                key(synset.offset),
                tuple(word.replace("_", " ") for word in synset.words),
                tuple(key(target) for _, target in ups),
                synset.line,
                any(mark == "@i" for mark, _ in ups),
                tuple(key(target) for mark, target in pointers_of_kind if mark in PARTS),
            )
        )
    keys_known = {concept.key for concept in concepts}
    senses: dict[str, list[str]] = {}
    for line, lemma, offsets in read_index(index):
        missing = [offset for offset in offsets if key(offset) not in keys_known]
        if missing:
            raise OntologyError(
                f"{index.name}, line {line}: {lemma!r} names the synset {missing[0]}, which {data.name} does not "
                "have. The files do not match, or one is incomplete: install WordNet again."
            )
        senses[fold(lemma)] = [key(offset) for offset in offsets]
    return Taxonomy.from_concepts(
        concepts,
        name=name or folder.name,
        source=str(data),
        part_of_speech=part_of_speech,
        senses=senses,
        tag_counts=tag_counts,
        sense_counts=sense_counts,
        extras={
            "exception_text": _exceptions(folder / f"{suffix}.exc"),
            "other_words": _other_words(folder, senses, part_of_speech),
            **(_nominalizations(folder, [concept.key for concept in concepts]) if part_of_speech == "n" else {}),
        },
    )


def _entries(path: Path, what: str, parse: Callable[[str, int], Entry]) -> Iterator[Entry]:
    """The lines of a WordNet file after its licence, parsed; a malformed or cut-off line is an error that shows it."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("  "):
                continue  # the licence
            try:
                yield parse(line, number)
            except (ValueError, IndexError):
                raise OntologyError(
                    f"{path.name}, line {number}: this is not {what}: {line[:60].rstrip()!r}. The file is incomplete "
                    "or changed: install WordNet again."
                ) from None


def read_synsets(path: Path) -> Iterator[Synset]:
    """The synsets of a `data.*` file."""
    return _entries(path, "a whole WordNet synset", _synset)


def _synset(line: str, number: int) -> Synset:
    definition, bar, _ = line.partition("|")
    fields = definition.split()
    word_count = int(fields[3], 16)
    words = tuple(fields[4 : 4 + 2 * word_count : 2])
    at = 4 + 2 * word_count
    pointer_count = int(fields[at])
    flat = fields[at + 1 : at + 1 + 4 * pointer_count]
    whole = bar and line.endswith("\n") and len(flat) == 4 * pointer_count and len(words) == word_count
    if not whole or not fields[0].isdecimal():
        raise ValueError
    pointers = tuple(zip(flat[0::4], flat[1::4], flat[2::4], flat[3::4], strict=True))
    kind = 1 + "nvars".index(fields[2])
    names = (word.partition("(")[0].lower() for word in words)
    ids = (int(lexical_id, 16) for lexical_id in fields[5 : 5 + 2 * word_count : 2])
    keys = (f"{name}%{kind}:{fields[1]}:{lexical_id:02d}" for name, lexical_id in zip(names, ids, strict=True))
    return Synset(fields[0], words, pointers, number, tuple(keys))


def read_index(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, lemma and synset offsets (most frequent sense first) of an `index.*` file."""
    return _entries(path, "a whole index entry", _index_entry)


def _index_entry(line: str, number: int) -> tuple[int, str, list[str]]:
    fields = line.split()
    count = int(fields[2])
    offsets = fields[len(fields) - count :]
    whole = len(fields) == 6 + int(fields[3]) + count
    if not whole or not all(offset.isdecimal() and len(offset) == 8 for offset in offsets):
        raise ValueError
    return number, fields[0].replace("_", " "), offsets


def _needed(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise OntologyError(
            f"{folder} has no file {name}. Give the folder that holds WordNet's data.noun and index.noun "
            "(often called `dict`; on Debian /usr/share/wordnet)."
        )
    return path


def read_counts(path: Path) -> dict[str, int]:
    """How often each word was tagged in each of its senses, by what the senses are called (see `Synset`).

    The number of a sense beside its key is not looked at: for some words it is that of another version.
    """
    if not path.is_file():
        return {}
    return dict(_entries(path, "a sense and its count", _sense_count))


def _sense_count(line: str, number: int) -> tuple[str, int]:
    sense_key, sense_number, count = line.split()
    if not sense_key.rpartition("%")[0] or int(sense_number) < 1 or not line.endswith("\n"):
        raise ValueError
    return ":".join(sense_key.split(":")[:3]), int(count)


def _exceptions(path: Path) -> TextPool:
    if not path.is_file():
        return TextPool(b"")
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return TextPool.of("\t".join(fold(word) for word in row) for row in rows)


def _other_words(folder: Path, words_of_synset: dict[str, list[str]], part_of_speech: str) -> TextPool:
    """Words that only other parts of speech know, each with the letters of those."""
    letters: dict[str, str] = {}
    for letter, suffix in SUFFIXES.items():
        path = folder / f"index.{suffix}"
        if letter != part_of_speech and path.is_file():
            for _, lemma, _ in read_index(path):
                word = fold(lemma)
                if word not in words_of_synset:
                    letters[word] = letters.get(word, "") + letter
    return TextPool.of(f"{word}\t{letters[word]}" for word in sorted(letters))


def _nominalizations(folder: Path, keys: list[str]) -> dict[str, Any]:
    """Adjective → nouns it is derivationally related to; failing that, those of adjectives similar to it."""
    path = folder / "data.adj"
    if not path.is_file():
        return {}
    number = {key: at for at, key in enumerate(keys)}
    synsets = {synset.offset: synset for synset in read_synsets(path)}
    related: dict[str, dict[int, None]] = {}
    for synset in synsets.values():
        similar = [synsets[target] for mark, target, _, _ in synset.pointers if mark == "&" and target in synsets]
        around = [noun for other in similar for noun in _derived(other, number)]
        for position, word in enumerate(synset.words, 1):
            derived = _derived(synset, number, position) or _derived(synset, number) or around
            related.setdefault(fold(word.partition("(")[0]), {}).update(dict.fromkeys(derived))
    words = sorted(word for word, nouns in related.items() if nouns)
    start, flat = csr([list(related[word]) for word in words])
    return {"adjectives": TextPool.of(words), "adjective_start": start, "adjective_concepts": flat}


def _derived(synset: Synset, number: dict[str, int], position: int | None = None) -> list[int]:
    """Noun concepts that a synset (or only its word at `position`) is derivationally related to."""
    return [
        number[f"{target}-n"]
        for mark, target, target_pos, ends in synset.pointers
        if mark == "+" and target_pos == "n" and (position is None or int(ends[:2], 16) == position)
        if f"{target}-n" in number
    ]
