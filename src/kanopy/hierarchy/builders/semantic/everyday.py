"""What is known of the values before anything is clustered: vocabularies, absent answers, shared beginnings.

Every source takes the values it knows and gives them levels; the next source sees what is left. A vocabulary is used if
it knows enough of the column (fewer values suffice if the column name speaks of its subject); codes of absent answers
are understood in every column; labels made of parts (`Owned: outright`, `Self-emp-inc`) are grouped by the parts they
share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kanopy.hierarchy.builders.semantic.vocabulary import (
    NO_ANSWER,
    Vocabulary,
    column_words,
    no_answers,
    read_vocabulary,
    vocabularies,
)

LEAST_RATE, LEAST_RATE_NAMED = 0.8, 0.6
"""So large a share of the values must a vocabulary know; less where the column name speaks of its subject."""
LEAST_FOUND = 3
"""So many values must it know where the name says nothing."""
MOST_ANSWERS = 1_000
"""Among more values `blank` or `refusal` is a word by chance."""
SYSTEMATIC = 0.5
"""Parts of labels mean something if so many of the values share them."""
_PARTS = (re.compile(r"\s*(?:[:|>/]|\s[-–—]\s|--)\s*"), re.compile(r"[-_]"))
_EMPTY_PARTS = """
    a all any non no not never new north south east west northern southern eastern western san santa saint st other un
    very more most less old great united upper lower mid the of and or in"""
_SAYS_NOTHING = frozenset(_EMPTY_PARTS.split())


@dataclass(frozen=True)
class Known:
    """Per level (the finest first) the label of each value that a source knows ("" for others)."""

    rows: tuple[tuple[str, ...], ...]
    known: tuple[bool, ...]
    source: str
    note: str = ""


def everyday(labels: Sequence[str], name: str, most: int) -> list[Known]:
    """The sources that know values of a column, in the order in which they are asked; `most` levels each.

    >>> found = everyday(["Divorced", "Widowed", "Never-married", "Refused"], "marital-status", 3)
    >>> [(each.source, each.rows[-1]) for each in found]  # doctest: +NORMALIZE_WHITESPACE
    [('vocabulary marital-status', ('No longer married', 'No longer married', 'Never-married', '')),
     ('vocabulary answers', ('', '', '', 'Refused'))]
    """
    if most < 1:
        return []
    sources = []
    vocabulary = find_vocabulary(labels, name)
    absent = no_answers(labels) if len(labels) <= MOST_ANSWERS else {}
    left = set(labels)
    if vocabulary is not None:
        groups = {label: at for label in labels if label not in absent and (at := vocabulary.find(label)) >= 0}
        if len(groups) > 1:
            sources.append(_from_vocabulary(vocabulary, labels, groups, most))
            left -= set(groups)
    if absent and len(absent) < len(labels) and (vocabulary is None or vocabulary.name != NO_ANSWER):
        sources.append(_from_vocabulary(read_vocabulary(NO_ANSWER), labels, absent, 1))
        left -= set(absent)
    if len(left) > 2 and (parts := _by_parts(labels, left, most)) is not None:
        sources.append(parts)
    return sources


def spread(sources: Sequence[Known], some: Sequence[str], labels: Sequence[str]) -> list[Known]:
    """Sources of some values as sources of all values; those left out are not known."""
    index_of_label = {label: at for at, label in enumerate(some)}
    return [
        Known(
            tuple(
                tuple(row[index_of_label[label]] if label in index_of_label else "" for label in labels)
                for row in source.rows
            ),
            tuple(label in index_of_label and source.known[index_of_label[label]] for label in labels),
            source.source,
            source.note,
        )
        for source in sources
    ]


def find_vocabulary(labels: Sequence[str], name: str) -> Vocabulary | None:
    """The vocabulary that knows most of a column's values, if it knows enough of them.

    >>> find_vocabulary(["small", "medium", "large"], "").name
    'size'
    >>> find_vocabulary(["black", "white", "green", "red"], "colour"), find_vocabulary(["oak", "pine"], "race")
    (None, None)
    """
    absent = no_answers(labels)
    asked = [label for label in dict.fromkeys(labels) if label not in absent]
    if not asked:
        return None
    spoken = column_words(name)
    best: tuple[float, Vocabulary] | None = None
    for one in vocabularies():
        vocabulary = read_vocabulary(one)
        named = bool(spoken & vocabulary.names)
        strong = [label for label in asked if vocabulary.find(label, weak=False) >= 0]
        known_labels = [label for label in asked if vocabulary.find(label) >= 0] if named or strong else strong
        rate = len(known_labels) / len(asked)
        enough = len(known_labels) > 1 if named or len(asked) < LEAST_FOUND else len(known_labels) >= LEAST_FOUND
        if enough and rate >= (LEAST_RATE_NAMED if named else LEAST_RATE):
            worth = rate + 0.25 * named + 0.01 * len(strong) / len(asked)
            if best is None or worth > best[0]:
                best = worth, vocabulary
    return None if best is None else best[1]


def _from_vocabulary(vocabulary: Vocabulary, labels: Sequence[str], groups: dict[str, int], most: int) -> Known:
    """The levels of a vocabulary: groups that join values have its label, a value alone in its group keeps its own."""
    paths = {label: vocabulary.path(group) for label, group in groups.items()}
    above = Counter(group for path in paths.values() for group in path[:-1])
    here = Counter(groups.values())
    rows = []
    for depth in range(max(map(len, paths.values())), 0, -1):
        row = []
        for label in labels:
            path = paths.get(label)
            if path is None:
                row.append("")
                continue
            group = path[min(depth, len(path)) - 1]
            # A value that means a whole group stays beside the finer groups inside, up to the level of its own.
            early = depth > len(path) and above[group]
            alone = above[group] + here[group] < 2
            row.append(label if early or alone else vocabulary.labels[group])
        rows.append(tuple(row))
    source = f"vocabulary {vocabulary.name}"
    note = f"{len(groups):,} of {len(labels):,} values in the groups of the vocabulary {vocabulary.name}: "
    return Known(
        _joining(rows, labels)[-most:],
        tuple(label in groups for label in labels),
        source,
        note + vocabulary.source + ".",
    )


def _joining(rows: Sequence[tuple[str, ...]], labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The rows that join values that the row below keeps apart; the last one, whatever it joins."""
    joining_rows: list[tuple[str, ...]] = []
    below = tuple(label if rows[-1][at] else "" for at, label in enumerate(labels))
    for row in rows:
        if len(set(row)) < len(set(below)):
            joining_rows.append(row)
            below = row
    return tuple(joining_rows or rows[-1:])


def _by_parts(labels: Sequence[str], left: set[str], most: int) -> Known | None:
    """Labels made of parts, grouped by the first parts that they share."""
    asked = [label for label in labels if label in left]
    for splitter in _PARTS:
        parts = {label: [piece.strip() for piece in splitter.split(label) if piece.strip()] for label in asked}
        first = Counter(tuple(pieces[:1]) for pieces in parts.values() if len(pieces) > 1)
        shared = {
            label
            for label, pieces in parts.items()
            if len(pieces) > 1 and first[tuple(pieces[:1])] > 1 and _tells(pieces[0])
        }  # fmt: skip
        if len(shared) >= SYSTEMATIC * len(asked) and len({parts[label][0] for label in shared}) > 1:
            return _parts_as_levels(labels, {label: parts[label] for label in shared}, most)
    return None


def _tells(piece: str) -> bool:
    return len(piece) > 2 and piece.casefold() not in _SAYS_NOTHING and any(letter.isalpha() for letter in piece)


def _parts_as_levels(labels: Sequence[str], parts: dict[str, list[str]], most: int) -> Known:
    depth = min(most, max(len(pieces) for pieces in parts.values()) - 1)
    rows = []
    for level in range(depth, 0, -1):
        held = Counter(tuple(pieces[:level]) for pieces in parts.values())
        row = []
        for label in labels:
            prefix = tuple(parts[label][:level]) if label in parts else ()
            joined = held[prefix] > 1 and len(parts.get(label, ())) > level
            beginning = label[: label.rfind(prefix[-1], 0, len(label)) + len(prefix[-1])] if prefix else ""
            row.append(
                "" if label not in parts else prefix[0] if level == 1 and joined else beginning if joined else label
            )
        rows.append(tuple(row))
    note = f"{len(parts):,} of {len(labels):,} values are labels made of parts, grouped by the parts they share."
    return Known(_joining(rows, labels), tuple(label in parts for label in labels), "shared parts of labels", note)
