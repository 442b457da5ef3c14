"""Hierarchies from official classifications: the levels of ICD, NACE or the United Nations, down to the values found.

A value may be a code, a label or both (see `kanopy.classifications.matching`). Above the values lie the levels of the
classification that join some of them, and `*` above all. Values that the classification does not know share the label
`not in NAME`, so that they hide among each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError, some
from kanopy._mixins import HtmlReprMixin
from kanopy._parameter_types import Flag, Integer, ListOf, OneOf, Text
from kanopy.classifications.classification import Classification
from kanopy.classifications.matching import Matches, four_digits, match_values
from kanopy.classifications.registry import SOURCES, has_shape, load_classification
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.official.node_labels import NodeLabels, fitted
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.construct import parents_of_table
from kanopy.hierarchy.hierarchy import Hierarchy

LABELS = ("auto", "label", "code", "both")
UNKNOWN_VALUES = ("group", "top", "error")
USUAL_K = 5
MOST_SUGGESTED, LONGEST_SUGGESTED = 100_000, 300
NAMES_ALONE = frozenset(
    {"country", "language", "month", "weekday", "element", "religion", "state", "county", "zip", "education"}
)
"""What is known by its name: the code beside it would only be in the way."""


@dataclass(frozen=True)
class Classified(HtmlReprMixin):
    """A hierarchy from a classification, what each value was taken for, and what to know about it."""

    hierarchy: Hierarchy
    matches: Matches
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FromClassification(Builder):
    """The levels of an official classification over the codes or labels of a column.

    `classification` is a name of `kanopy classifications`, a version of one, several joined by `+`, or a file.
    `labels` says the labels of nodes: `code`, `label`, `both`, or what is usual (`auto`). Levels that join no values
    are left out; `levels` keeps only some, by name. With `fit`, codes of few people are joined level by level, while
    frequent ones stay: nodes are those of the classification, and "NODE, other" where the frequent ones are apart.

    >>> h = FromClassification(classification="countries").build(["Germany", "FRA", "Poland", "Japan", "Cote d'Ivoire"])
    >>> for row in h.rows(): print(row)
    ("Cote d'Ivoire", 'Western Africa', 'Africa', '*')
    ('FRA', 'Western Europe', 'Europe', '*')
    ('Germany', 'Western Europe', 'Europe', '*')
    ('Japan', 'Eastern Asia', 'Asia', '*')
    ('Poland', 'Eastern Europe', 'Europe', '*')
    """

    method: ClassVar[str] = "classification"
    k_of_job: ClassVar[str] = "fit"
    summary: ClassVar[str] = "the levels of an official classification (ICD, NACE, countries)"
    fits: ClassVar[frozenset[str]] = frozenset({"text", "integer", "decimal", "real"})
    examples: ClassVar[Mapping[str, list[Any]]] = {
        "text": ["DEU", "FRA", "ITA", "ESP", "POL", "JPN", "CHN", "IND", "BRA", "CHL", "KEN", "EGY"]
    }
    classification: Annotated[str, Text(), "a name of `kanopy classifications`, or a file"] = "countries"
    file: Annotated[str, Text(empty=True), "the file of a classification that is not part of Kanopy"] = ""
    labels: Annotated[str, OneOf(*LABELS), "the labels of nodes"] = "auto"
    language: Annotated[str, Text(empty=True), "the language of labels [default: the main one]"] = ""
    levels: Annotated[tuple[str, ...], ListOf(Text()), "the levels to keep, by name [default: all]"] = ()
    unknown: Annotated[str, OneOf(*UNKNOWN_VALUES), "what to do with values that are not in the classification"] = (
        "group"
    )
    nearest: Annotated[bool, Flag(), "place codes of other versions below their longest known beginning"] = True
    fit: Annotated[bool, Flag(), "keep frequent codes and join rare ones below their nodes"] = False
    k: Annotated[int, Integer(0), "with fit: the people of each node at the first level [default: k of the job]"] = 0

    def contradictions(self) -> Iterable[str]:
        if self.file and "+" in self.classification:
            yield "a file is one classification: leave it out, or give the files joined by + as the classification."
        if self.k and not self.fit:
            yield "k is for fit = true: without it, levels are those of the classification."

    def build_column(self, column: Column) -> Hierarchy:
        """The hierarchy alone; `classify_column` also says what each value was taken for."""
        return self.classify_column(column).hierarchy

    def classify_column(self, column: Column) -> Classified:
        """The hierarchy with what each value was taken for, and notes."""
        values = list(column.labels())
        classification = self._load(values)
        matches = match_values(classification, values, nearest=self.nearest)
        if not (matches.nodes >= 0).any():
            raise HierarchyError(
                f"{column.where} holds no codes or labels of {classification.name}: {some(values)}. Choose another "
                "classification (`kanopy classifications search`), or another method."
            )
        if self.unknown == "error" and (unknown := matches.unmatched):
            raise HierarchyError(
                f"{column.where}: {len(unknown):,} values are not in {classification.name}: {some(unknown)}. Correct "
                'them, or give them a common label (unknown = "group").'
            )
        chosen, choices = narrowest_parents(classification, matches.nodes)
        notes = [*matches.notes(), *choices]
        return Classified(self._hierarchy(chosen, matches, column), matches, tuple(notes))

    def _load(self, values: Sequence[str]) -> Classification:
        from kanopy._errors import MissingDependency

        shape = has_shape(self.classification)
        if not shape or self.file:
            return load_classification(self.classification, self.file)
        source = SOURCES[self.classification.lower().replace("_", "-")]
        if source.package:
            try:
                return load_classification(self.classification)
            except MissingDependency:
                pass  # the shape of the codes tells the lower levels without it
        from kanopy.classifications.shapes import of_shape

        return of_shape(shape, values, name=self.classification, role=source.role)

    def _hierarchy(self, classification: Classification, matches: Matches, column: Column) -> Hierarchy:
        """One row per level of the classification that joins values, the values below, `*` above."""
        nodes = matches.nodes
        is_known = nodes >= 0
        rows = _level_nodes(classification, nodes, self._wanted(classification))
        style = self.labels
        if style == "auto":
            style = "label" if classification.about.subject in NAMES_ALONE else "both"
        labels = NodeLabels(classification, matches, style, self.language)
        for at in np.flatnonzero(~is_known).tolist():
            rows[:, at] = labels.outside if self.unknown == "group" else labels.add(matches.values[at])
        if (prefixes := four_digits(matches)) is not None:
            number = {prefix: labels.add(prefix) for prefix in dict.fromkeys(prefixes)}
            prefix_row = [number[prefix] if prefix else int(rows[0, at]) for at, prefix in enumerate(prefixes)]
            rows = np.vstack([np.array(prefix_row, np.int32)[None, :], rows])
        if self.fit:
            rows = fitted(rows, column.holders, self.k or USUAL_K, labels)
        rows = joining(rows, len(nodes))
        codes = np.empty((len(rows) + 2, len(nodes)), np.int32)
        codes[0] = np.arange(len(nodes))
        picked: list[Ints] = []
        start = len(nodes)
        for level, row in enumerate(rows, 1):
            nodes_of_level, dense = np.unique(row, return_inverse=True)
            codes[level] = start + dense.reshape(-1)
            picked.append(nodes_of_level.astype(np.int32))
            start += len(nodes_of_level)
        codes[-1] = start
        parent, broken = parents_of_table(codes, start + 1)
        assert broken is None, "a classification is a tree"
        return Hierarchy(len(nodes), labels.of_levels(picked), parent, name=column.name, table=codes)

    def _wanted(self, classification: Classification) -> list[int]:
        """The rows of `Classification.table` to keep."""
        if not self.levels:
            return list(range(len(classification.levels)))
        wrong = [level for level in self.levels if level not in classification.levels]
        if wrong:
            raise HierarchyError(
                f"{classification.name} has no level {some(wrong)}. Its levels are {some(classification.levels)}."
            )
        return [len(classification.levels) - 1 - classification.levels.index(level) for level in self.levels]


def suggested(column: Column, k: int) -> list[Builder]:
    """The builders of the classification that a column matches far beyond chance: fitted to it, and its own levels.

    >>> from kanopy.hierarchy.column import column_of
    >>> [(each.classification, each.fit) for each in suggested(column_of(["DEU", "FRA", "POL"] * 3, name="country"), 2)]
    [('countries', True), ('countries', False)]
    """
    from kanopy.classifications.recognition import recognize

    if column.kind not in ("text", "integer") or column.size > MOST_SUGGESTED:
        return []
    labels = column.labels()
    if max(map(len, labels[:100]), default=0) > LONGEST_SUGGESTED:
        return []
    recognized = recognize(labels, column.counts.tolist(), name=column.name)
    names = [recognition.classification for recognition in recognized[:1] if not has_shape(recognition.classification)]
    return [made for name in names for made in (
        FromClassification(classification=name, fit=True, k=k), FromClassification(classification=name)
    )]  # fmt: skip


def _level_nodes(classification: Classification, nodes: Ints, wanted: Sequence[int]) -> Ints:
    """The rows of the level table, from the code of each value upwards."""
    safe = np.where(nodes >= 0, nodes, 0).astype(np.int32)
    table = classification.table(safe)[list(wanted)]
    # What lies in one code, written in several ways, meets there before anything else.
    return np.vstack([safe[None, :], table]).astype(np.int32)


def joining(rows: Ints, values: int) -> Ints:
    """The rows that join values that were apart below, and not all of them: others only make searches longer."""
    joining_rows = []
    groups = values
    for row in rows:
        fewer = len(np.unique(row))
        if 1 < fewer < groups:
            joining_rows.append(row)
            groups = fewer
    return np.array(joining_rows, np.int32).reshape(len(joining_rows), rows.shape[1])


def narrowest_parents(classification: Classification, nodes: Ints) -> tuple[Classification, list[str]]:
    """The classification with one parent per code, the one that loses least, and which were chosen.

    Of several parents the one is taken that covers the fewest values of the column, among those that join any.
    """
    if not classification.other_parents:
        return classification, []
    parents = classification.other_parents
    below: dict[int, set[int]] = {}
    order: list[int] = []
    for value in dict.fromkeys(nodes[nodes >= 0].tolist()):
        stack = [value]
        seen = set()
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            if at not in below:
                below[at] = set()
                order.append(at)
            below[at].add(value)
            above_node = parents.get(at)
            stack.extend(
                above_node
                if above_node is not None
                else [above]
                if (above := int(classification.parent[at])) >= 0
                else ()
            )
    chosen: dict[int, int] = {}
    choices = []
    for at in order:
        if (above_node := parents.get(at)) is None:
            continue
        best = min(above_node, key=lambda above: (len(below[above]) <= len(below[at]), len(below[above]), above))
        if best != classification.parent[at]:
            chosen[at] = best
        others = [classification.codes[above] for above in above_node if above != best]
        choices.append(f"{classification.codes[at]} under {classification.codes[best]}, not {', '.join(others[:2])}")
    if not choices:
        return classification, []
    more = f" and {len(choices) - 5:,} more" if len(choices) > 5 else ""
    note = f"Codes with several parents were placed below the parent that loses least: {'; '.join(choices[:5])}{more}."
    return classification.with_parents(chosen) if chosen else classification, [note]
