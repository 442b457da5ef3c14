"""Words that an official classification knows: their levels come first, what it does not know is grouped by nearness.

`Germany` goes to Western Europe and Europe because the United Nations say so; `Atlantis` beside it is grouped with the
other words that no classification knows, below the same top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import some
from kanopy.classifications.matching import Matches
from kanopy.classifications.recognition import covers
from kanopy.hierarchy.builders.official.classified import joining

MOST_ROWS = 3
"""So many levels of a classification stand between the values and the top; the broadest are kept."""


@dataclass(frozen=True)
class Official:
    """Per level the label of each value that a classification knows ("" for others), and what it was."""

    rows: tuple[tuple[str, ...], ...]
    known: tuple[bool, ...]
    note: str


def official_levels(labels: Sequence[str], name: str, levels: int) -> Official | None:
    """The levels of the classification that knows most of some words; `None` if none knows enough.

    >>> found = official_levels(["Germany", "France", "Poland", "Japan", "Chile", "Atlantis"], "", 5)
    >>> found.rows[-1]
    ('Europe', 'Europe', 'Europe', 'Asia', 'Americas', '')
    """
    covered = covers(labels, name=name)
    if covered is None:
        return None
    source, matches = covered
    is_known = matches.nodes >= 0
    rows = _rows(matches, min(MOST_ROWS, levels - 2))
    if not rows:
        return None
    unknown = [label for label, value_known in zip(labels, is_known.tolist(), strict=True) if not value_known]
    note = (
        f"{int(is_known.sum()):,} of {len(labels):,} values in the levels of {source} ({matches.classification.name})"
    )
    note += f"; the others are grouped by similarity: {some(unknown)}." if unknown else "."
    return Official(tuple(rows), tuple(is_known.tolist()), note)


def _rows(matches: Matches, most: int) -> list[tuple[str, ...]]:
    """The labels of the levels that join values, the broadest ones if there are too many."""
    classification, nodes = matches.classification, matches.nodes
    known_values = np.flatnonzero(nodes >= 0)
    known_nodes = nodes[known_values].astype(np.int32)
    if len(np.unique(known_nodes)) < 2 or most < 1:
        return []
    table: Ints = np.vstack([known_nodes[None, :], classification.table(known_nodes)])
    joined_rows = joining(table, len(known_nodes))[-most:]
    labels = classification.labels()
    rows = []
    for row in joined_rows:
        texts = {at: labels[at] for at in set(row.tolist())}
        twice = [text for text in texts.values() if list(texts.values()).count(text) > 1]
        spelled = [""] * len(nodes)
        for value, at in zip(known_values.tolist(), row.tolist(), strict=True):
            spelled[value] = f"{texts[at]} ({classification.codes[at]})" if texts[at] in twice else texts[at]
        rows.append(tuple(spelled))
    return rows
