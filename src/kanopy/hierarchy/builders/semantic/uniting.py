"""One tree of several sources: classifications, vocabularies and parts of labels beside groups by meaning.

The coarsest groups of every source stand side by side below the top. What no source knows is `other` there: one group,
so that a reader sees at once what was not grouped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Ints
from kanopy.hierarchy.builders.semantic.everyday import Known
from kanopy.ontology.join import least_common_subsumer
from kanopy.ontology.senses.labels import root_of
from kanopy.ontology.taxonomy import Taxonomy

OTHER = "other"
MEANING = "meaning"


@dataclass(frozen=True)
class United:
    """Inner levels (the finest first): the label of each value, and which source made each label."""

    rows: tuple[tuple[str, ...], ...]
    sources: dict[str, str]


def united_levels(labels: Sequence[str], sources: Sequence[Known], join_unknown: bool) -> United:
    """Sources side by side, aligned at the top; values that none knows are `other` at the coarsest level.

    >>> one = Known((("pet", "pet", "", ""),), (True, True, False, False), "a")
    >>> united_levels(["cat", "dog", "qx", "qy"], [one], True).rows
    (('pet', 'pet', 'other', 'other'),)
    """
    height = max((len(one_source.rows) for one_source in sources), default=0)
    rows = [list(labels) for _ in range(height)]
    made: dict[str, str] = {}
    taken = [False] * len(labels)
    for known_source in sources:
        mine = [is_known and not before for is_known, before in zip(known_source.known, taken, strict=True)]
        spelled = _names(known_source, mine, labels, set(made))
        for level, row in enumerate(known_source.rows, height - len(known_source.rows)):
            for at, text in enumerate(row):
                if mine[at] and text:
                    rows[level][at] = spelled.get(text, text)
                    if text != labels[at]:
                        made.setdefault(rows[level][at], known_source.source)
        taken = [before or is_mine for before, is_mine in zip(taken, mine, strict=True)]
    alone = [at for at, before in enumerate(taken) if not before]
    if rows and join_unknown and len(alone) > 1:
        name = OTHER if OTHER not in labels or labels.index(OTHER) in alone else f"{OTHER} values"
        for at in alone:
            rows[-1][at] = name
        made.setdefault(name, "not grouped")
    kept_rows: list[tuple[str, ...]] = []
    for label_row in rows:
        if len(set(label_row)) < len(set(kept_rows[-1] if kept_rows else labels)):
            kept_rows.append(tuple(label_row))
    return United(tuple(kept_rows), made)


def _names(source_of_names: Known, mine: Sequence[bool], labels: Sequence[str], made: set[str]) -> dict[str, str]:
    """Other words for labels of groups that would say the same as a group of another source, or as a value outside."""
    inside: dict[str, set[int]] = {}
    for row in source_of_names.rows:
        for at, text in enumerate(row):
            if mine[at] and text:
                inside.setdefault(text, set()).add(at)
    index_of_label = {label: at for at, label in enumerate(labels)}
    renamed = {}
    for text, members in inside.items():
        own_value = len(members) == 1 and text == labels[min(members)]
        if not own_value and (
            (text in made and text != OTHER) or (text in index_of_label and index_of_label[text] not in members)
        ):
            renamed[text] = (
                f"{text} (by {source_of_names.source})"
                if source_of_names.source == MEANING
                else f"{text} ({source_of_names.source})"
            )
    return renamed


def concepts_of(taxonomy: Taxonomy, rows: Sequence[Sequence[str]], labels: Sequence[str], concepts: Ints) -> Ints:
    """What every label means: the lowest concept above the members that are known, the root where none is.

    The first row are the values, the last one the top.
    """
    root = root_of(taxonomy)
    table = np.full((len(rows) + 2, len(labels)), root, np.int32)
    table[0] = concepts
    for level, row in enumerate(rows, 1):
        members: dict[str, list[int]] = {}
        for at, text in enumerate(row):
            members.setdefault(text, []).append(at)
        for inside in members.values():
            meant = [int(concepts[at]) for at in inside if concepts[at] >= 0]
            table[level, inside] = least_common_subsumer(taxonomy, meant) if len(meant) > 1 else (*meant, root)[0]
            if len(inside) == 1:
                table[level, inside] = concepts[inside[0]]
    return table


def by_meaning(
    names: Sequence[Sequence[str]], known_values: Sequence[int], labels: Sequence[str], source: str
) -> Known:
    """Groups by meaning as one source among others; the last row of names is the top and is left out.

    Values alone at the coarsest level, or left over there, belong to what nobody knows how to group.
    """
    rows = []
    coarsest = names[-2] if len(names) > 1 else ()
    count = Counter(coarsest)
    grouped = {at for at, text in zip(known_values, coarsest, strict=False) if count[text] > 1 and text != OTHER}
    for row in names[:-1]:
        name_of_value = dict(zip(known_values, row, strict=True))
        rows.append(tuple(name_of_value[at] if at in grouped else "" for at in range(len(labels))))
    return Known(tuple(rows), tuple(at in grouped for at in range(len(labels))), source)
