"""What a reader hands over, and how it becomes arrays: is-a links (no unknown parents, no cycles), depths, words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import OntologyError, listed, some
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy.ontology.text_pool import TextPool

DEEPEST = 30_000


@public("kanopy.ontology")
@dataclass(frozen=True)
class Concept(ReprMixin):
    """One concept as a reader found it: its key, its terms (preferred first), the keys of its parents, its line."""

    key: str
    terms: tuple[str, ...]
    parents: tuple[str, ...] = ()
    line: int = 0
    is_instance: bool = False
    parts: tuple[str, ...] = ()


def fold(word: str) -> str:
    """The form under which words are looked up: lower case, single spaces, `_` as space.

    >>> fold(" Warm_Blooded  animal")
    'warm blooded animal'
    """
    return " ".join(word.lower().replace("_", " ").split())


def csr(lists: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Lists as one flat array and where each starts."""
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start, np.array([item for items in lists for item in items], np.int32)


def csr_row(start: Ints, flat: Ints | Longs, row: int) -> tuple[int, ...]:
    """One of the lists that `csr` put into one flat array."""
    return tuple(flat[start[row] : start[row + 1]].tolist())


def check_parents(records: Sequence[Concept], index: Mapping[str, int], where: str) -> None:
    unknown = [(record, up) for record in records for up in record.parents if up not in index]
    if unknown:
        wrong_links = [
            f"{f'line {record.line}: ' if record.line else ''}{record.key!r} has the parent {up!r}"
            for record, up in unknown
        ]
        raise OntologyError(
            f"Some parents do not exist{where}: {listed(wrong_links)}. Add the missing concepts or remove the links "
            "(an incomplete file can also cause this)."
        )


def topological_order(parents: Sequence[Sequence[int]], label: Callable[[int], str], where: str) -> list[int]:
    """Parents before children; on a cycle an error that shows it."""
    try:
        return list(TopologicalSorter(dict(enumerate(parents))).static_order())
    except CycleError as error:
        circle = error.args[1][:0:-1]  # from child to parent, each once
    first = circle.index(min(circle))
    cycle = [*circle[first:], *circle[:first], circle[first]]
    cycle_text = " is-a ".join(repr(label(c)) for c in cycle[:8]) + (" …" if len(cycle) > 8 else "")
    raise OntologyError(
        f"The is-a links{where} form a cycle: {cycle_text}. Remove one of these links ({some(cycle[:-1])})."
    )


def depths(order: Sequence[int], parents: Sequence[Sequence[int]], top: int) -> tuple[Ints, Ints]:
    """Longest and shortest path to a root, in edges; `top` is the depth of a concept without parents."""
    longest, shortest = [top] * len(order), [top] * len(order)
    for concept in order:
        if parents[concept]:
            longest[concept] = 1 + max(longest[up] for up in parents[concept])
            shortest[concept] = 1 + min(shortest[up] for up in parents[concept])
    if max(longest) > DEEPEST:
        raise OntologyError(f"The taxonomy is {max(longest):,} levels deep; more than {DEEPEST:,} are not supported.")
    return np.array(longest, np.int32), np.array(shortest, np.int32)


def word_arrays(terms: Sequence[Sequence[str]], ordered: Mapping[str, list[int]]) -> dict[str, Any]:
    """The fields of a taxonomy about words, from the terms of its concepts and the senses whose order is known."""
    senses: dict[str, list[int]] = {}
    for number, words in enumerate(terms):
        for word in words:
            senses_of_word = senses.setdefault(fold(word), [])
            if number not in senses_of_word[-1:]:
                senses_of_word.append(number)
    senses.update(ordered)
    vocabulary = sorted(senses, key=str.encode)
    word_number = {word: number for number, word in enumerate(vocabulary)}
    sense_start, sense_concepts = csr([senses[word] for word in vocabulary])
    term_start, term_words = csr([[word_number[fold(word)] for word in words] for words in terms])
    written = [" ".join(word.replace("_", " ").split()) for words in terms for word in words]
    cased = [i for i, word in enumerate(written) if word != vocabulary[term_words[i]]]
    return {
        "vocabulary": TextPool.of(vocabulary),
        "sense_start": sense_start,
        "sense_concepts": sense_concepts,
        "term_start": term_start,
        "term_words": term_words,
        "cased_position": np.array(cased, np.int32),
        "cased_text": TextPool.of(written[i] for i in cased),
    }
