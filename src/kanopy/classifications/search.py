"""Find codes by code or by words of their labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kanopy.classifications.classification import bare, plain
from kanopy.classifications.registry import load_classification


def find_codes(words: str, names: Iterable[str]) -> list[dict[str, Any]]:
    """The codes that begin with what is sought, or whose label holds all its words; exact ones first.

    >>> [found["code"] for found in find_codes("cholera", ["icd-10-cm"])][:2]
    ['A00', 'A00.0']
    """
    key, sought = bare(words), plain(words).split()
    entries: list[tuple[int, dict[str, Any]]] = []
    for name in names:
        classification = load_classification(name)
        alias = classification.aliases.get(" ".join(sought), classification.aliases.get(key))
        labels = classification.labels()
        for at, (code, label) in enumerate(zip(classification.bare_codes, labels, strict=True)):
            if code == key or at == alias:
                worth = 0
            elif key and code.startswith(key) and any(c.isdigit() for c in key):
                worth = 2
            elif sought and all(word in label.casefold() for word in sought):
                worth = 1 if plain(label) == " ".join(sought) else 3
            else:
                continue
            above = [labels[ancestor] for ancestor in classification.chain(at)[1:]]
            entry = {"classification": classification.name, "code": classification.codes[at], "label": label}
            entries.append((worth, {**entry, "above": above}))
    return [entry for _, entry in sorted(entries, key=lambda item: item[0])]
