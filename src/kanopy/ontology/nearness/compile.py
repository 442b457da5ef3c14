"""Compile all relations and the words of all definitions of a Princeton WordNet folder into one graph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from kanopy.ontology.nearness.relations import DOMAIN, GLOSS, IS_A, OTHER, PART, SENSE, Relations
from kanopy.ontology.readers.glosses import STOP_WORDS
from kanopy.ontology.readers.wordnet import SUFFIXES, Synset, read_counts, read_index, read_synsets
from kanopy.ontology.taxonomy import fold

KINDS = {"@": IS_A, "@i": IS_A, "%p": PART, "%m": PART, "%s": PART, ";c": DOMAIN, ";u": DOMAIN, ";r": DOMAIN}
INVERSE = frozenset({"~", "~i", "#p", "#m", "#s", "-c", "-u", "-r"})
"""Pointers that only say the other side of one of the above."""

ENDINGS = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
"""How WordNet's morphology detaches endings (manual page morphy(7))."""


def compile_relations(folder: str | Path) -> Relations:
    """The graph of a `dict` folder: nouns first, in the order of `compile_wordnet`, then verbs, adjectives, adverbs."""
    folder = Path(folder)
    number: dict[tuple[str, str], int] = {}
    synsets: list[Synset] = []
    counts = read_counts(folder / "cntlist.rev")
    tagged: Counter[tuple[tuple[str, str], int]] = Counter()
    for letter, suffix in SUFFIXES.items():
        for synset in read_synsets(folder / f"data.{suffix}"):
            number[letter, synset.offset] = len(synsets)
            for name, sense_key in zip(synset.words, synset.sense_keys, strict=True):
                tagged[(letter, fold(name.partition("(")[0])), len(synsets)] += counts.get(sense_key, 0)
            synsets.append(synset)
    links: dict[tuple[int, int], tuple[int, int]] = {}

    def add(a: int, b: int, kind: int, share: int = 0) -> None:
        pair = (min(a, b), max(a, b))
        if a != b and links.get(pair, (kind, 0))[0] >= kind:
            links[pair] = (kind, max(share, links.get(pair, (0, 0))[1]))

    for index, synset in enumerate(synsets):
        for mark, target, letter, _ in synset.pointers:
            if mark not in INVERSE:
                add(index, number["a" if letter == "s" else letter, target], KINDS.get(mark, OTHER))
    senses = {
        (letter, fold(lemma)): [number[letter, offset] for offset in offsets]
        for letter, suffix in SUFFIXES.items()
        for _, lemma, offsets in read_index(folder / f"index.{suffix}")
    }
    base = _base_forms(folder, senses)
    words: dict[tuple[str, str], int] = {}
    index = 0
    for suffix in SUFFIXES.values():
        for gloss in _glosses(folder / f"data.{suffix}"):
            for token in re.findall(r"[a-z]+(?:'[a-z]+)?", gloss.lower()):
                if len(token) > 1 and token not in STOP_WORDS and (word := base(token)) is not None:
                    add(index, words.setdefault(word, len(synsets) + len(words)), GLOSS)
            index += 1
    for word, node in words.items():
        tags = np.array([tagged[word, sense] + 0.5 for sense in senses[word]])
        for sense, share in zip(senses[word], tags / tags.sum(), strict=True):
            add(sense, node, SENSE, max(1, round(255 * float(share))))
    pairs = np.array(sorted(links), np.int32)
    about = np.array([links[a, b] for a, b in pairs.tolist()], np.int32)
    return Relations(len(synsets) + len(words), len(synsets), pairs[:, 0], pairs[:, 1], about[:, 0], about[:, 1])


def _glosses(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith("  "):
                yield line.partition("|")[2].split('; "')[0]


def _base_forms(folder: Path, senses: dict[tuple[str, str], list[int]]) -> Callable[[str], tuple[str, str] | None]:
    """From a word of a definition to the lemma it is a form of, nouns first."""
    irregular = {}
    for letter, suffix in SUFFIXES.items():
        path = folder / f"{suffix}.exc"
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            form, first, *_ = line.split()
            irregular[letter, fold(form)] = fold(first)

    def base(token: str) -> tuple[str, str] | None:
        for letter in SUFFIXES:
            forms = [token, irregular.get((letter, token), "")]
            forms += [token[: -len(a)] + b for a, b in ENDINGS[letter] if token.endswith(a)]
            for form in forms:
                if (letter, form) in senses and form not in STOP_WORDS:
                    return letter, form
        return None

    return base
