"""What the nodes of a hierarchy from a classification are called, and which small ones share a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs
from kanopy.classifications.classification import Classification
from kanopy.classifications.matching import Matches

TOP = -1
"""Stands for what lies above the broadest level."""
OTHER = "other"
MOST_TAKEN = 16
"""Where so many times as many people as needed would lose their code for the sake of a few, these go one level up."""


class NodeLabels:
    """Texts of nodes by number: codes of a classification, then `not in NAME`, then texts that were added."""

    def __init__(self, classification: Classification, matches: Matches, style: str, language: str) -> None:
        self._classification, self._style, self._values = classification, style, matches.values
        self._spelled = classification.labels(language) if classification.labels_by_language else None
        self.outside = classification.size
        self._added = [f"not in {classification.name}"]

    def add(self, text: str) -> int:
        """The number of a further text."""
        self._added.append(text)
        return self.outside + len(self._added) - 1

    def text(self, at: int) -> str:
        """The text of a node."""
        if at >= self.outside:
            return self._added[at - self.outside]
        code = self._classification.codes[at]
        if self._style == "code" or self._spelled is None or self._spelled[at] == code:
            return code
        return self._spelled[at] if self._style == "label" else f"{code} {self._spelled[at]}"

    def of_levels(self, levels: Sequence[Ints]) -> Callable[[], Sequence[str]]:
        """Labels of the values, of each level, and of all: two nodes of a level never have the same."""

        def labels() -> list[str]:
            made = list(self._values)
            for level in levels:
                texts = [self.text(at) for at in level.tolist()]
                twice = {text for text, number in Counter(texts).items() if number > 1}
                made += [
                    f"{text} ({self._classification.codes[at]})" if text in twice and at < self.outside else text
                    for text, at in zip(texts, level.tolist(), strict=True)
                ]
            return [*made, SUPPRESSED_LABEL]

        return labels


def fitted(rows: Ints, people: Longs, k: int, labels: NodeLabels) -> Ints:
    """Levels fitted to the people of a column: each node has k of them at the first level, then half as many more.

    A code stays while it has enough people. Where it has too few, it lies with the other small ones below the same
    node of the classification, as "NODE, other", and the smallest of the rest come along until there are enough. Where
    the whole node has too few, it lies with others of the next level. Groups only grow, so levels lie in each other.
    """
    levels = np.vstack([rows, np.full(rows.shape[1], TOP, np.int32)])
    sizes = [dict(zip(*(side.tolist() for side in np.unique(row, return_counts=True)), strict=True)) for row in levels]
    group = np.unique(rows[0], return_inverse=True)[1].reshape(-1)
    number = int(group.max()) + 1
    node, depth = np.zeros(number, np.int64), np.zeros(number, np.int64)
    node[group] = rows[0]
    held = np.bincount(group, weights=people).astype(np.int64)
    made = [rows[0]]
    least = k
    while 2 * least <= int(people.sum()):
        for level in range(1, len(levels)):
            group = _climbed(levels[level], level, least, group, node, depth, held)
        text = np.zeros(number, np.int32)
        values = np.bincount(group, minlength=number)
        for value in np.flatnonzero(values).tolist():
            at = int(node[value])
            whole = values[value] == sizes[int(depth[value])][at]
            text[value] = at if whole else labels.add(OTHER if at == TOP else f"{labels.text(at)}, {OTHER}")
        if (text[group] == TOP).all():
            break
        made.append(text[group])
        least = -(-least * 3 // 2)
    return np.array(made, np.int32)


def _climbed(row: Ints, level: int, least: int, group: Longs, node: Longs, depth: Longs, held: Longs) -> Longs:
    """The group of each value, after those of too few people below one node of a level were joined.

    What the joined groups are of (`node` of the level `depth`), and whom they hold, is changed in place.
    """
    present, first = np.unique(group, return_index=True)
    inside = depth[present] <= level
    present, parents = present[inside], row[first[inside]]
    # A node that stands in for a level that its chain leaves out is the same node.
    few = (held[present] < least) | ((node[present] == parents) & (depth[present] > 0))
    order = np.lexsort((held[present], ~few, parents))
    present, parents, few = present[order], parents[order], few[order]
    begin = np.flatnonzero(np.append(True, parents[1:] != parents[:-1]))
    target = np.arange(len(node))
    for start, end in zip(begin.tolist(), [*begin[1:].tolist(), len(present)], strict=True):
        small = int(few[start:end].sum())
        if not small or held[present[start : start + small]].min() >= least:
            continue
        together = np.cumsum(held[present[start:end]])
        number = min(max(small, int(np.searchsorted(together, least)) + 1), end - start)
        if parents[start] != TOP and together[number - 1] - together[small - 1] > MOST_TAKEN * least:
            number = small
        if number < 2:
            continue  # alone it keeps its own name, and is looked at again one level up
        joined = present[start : start + number]
        target[joined] = joined[0]
        held[joined[0]] = held[joined].sum()
        node[joined[0]], depth[joined[0]] = parents[start], level
    return target[group]
