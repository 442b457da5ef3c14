"""Hierarchies made from an ontology: groups of near meaning, cuts of its own tree, or clusters by any similarity.

This is the future work of Ayala-Rivera et al. (2014): from the words of a column to a hierarchy that keeps their
meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints
from kanopy._errors import HierarchyError, some
from kanopy._mixins import HtmlReprMixin
from kanopy._parameter_types import Either, Integer, ListOf, MapOf, Number, OneOf, Optional, Text
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.semantic.cuts import CutTree, cut_levels, even_sizes, with_partial_groups
from kanopy.hierarchy.builders.semantic.everyday import Known, everyday, spread
from kanopy.hierarchy.builders.semantic.kinds import with_kinds
from kanopy.hierarchy.builders.semantic.naming import GroupNames, frequent_holders, spelled, unique_terms
from kanopy.hierarchy.builders.semantic.official import MOST_ROWS, official_levels
from kanopy.hierarchy.builders.semantic.uniting import MEANING, OTHER, by_meaning, concepts_of, united_levels
from kanopy.hierarchy.column import Column, column_of
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_loss import WEIGHTS, level_losses, level_weights, loss_table, transition_loss
from kanopy.ontology.join import JoinTree, join_tree, least_common_subsumer
from kanopy.ontology.senses.labels import Match, find_label, root_of
from kanopy.ontology.senses.senses import Choice, SenseChoices, Senses, senses_of_values
from kanopy.ontology.similarity.measures import find_measure
from kanopy.ontology.taxonomy import Taxonomy

MOST_CLUSTERED = 5_000
"""So many different concepts can be clustered: the matrix of their similarities is kept."""

SMALL = 5
"""Smaller groups are not made where no concept names them, whatever the level."""
UNKNOWN = ("other", "top", "error")
STYLES = ("nearness", "taxonomy")


@dataclass(frozen=True)
class Groups:
    """Level by level the concept each value is generalized to (-1: it stays as it is), and names of our own making."""

    concepts: list[Ints]
    names: list[list[str]] = field(default_factory=list)
    means: dict[str, int] = field(default_factory=dict)
    """What names mean that are not those of the concept above all values: cities of China are in China."""


@dataclass(frozen=True)
class Proposal(HtmlReprMixin):
    """A hierarchy made from an ontology, what its labels mean, how much meaning it loses, and what to know about it."""

    hierarchy: Hierarchy
    senses: Senses
    score: float
    level_scores: tuple[float, ...]
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    """Which source made each group, where there are several."""


@dataclass(frozen=True)
class SemanticBuilder(Builder):
    """What both builders share: an ontology, a measure, the user's words, and what to do with unknown values."""

    fits: ClassVar[frozenset[str]] = frozenset({"text"})
    levels: Annotated[int, Integer(2), "the number of levels, including values and top"] = 4
    ontology: Annotated[str, Text(), "wordnet, or an ontology file; several joined by +"] = "wordnet"
    measure: Annotated[str, Text(usable=find_measure), "the similarity of meanings"] = "wu-palmer"
    weights: Annotated[
        str | tuple[float, ...], Either(OneOf(*WEIGHTS), ListOf(Number(0), 1)), "the weight of each level"
    ] = "constant"
    senses: Annotated[str, Text(empty=True), "a file with the senses of values"] = ""
    synonyms: Annotated[
        Mapping[str, str] | None,
        Optional(MapOf(Text(), "{'fib': 'lie'}")),
        "synonyms: words of the ontology for values that it does not know",
    ] = field(default=None, hash=False)
    unknown: Annotated[str, OneOf(*UNKNOWN), "values that no source knows"] = "other"

    def build_column(self, column: Column) -> Hierarchy:
        """The hierarchy alone; `propose` also says what it means and how good it is."""
        return self.propose_column(column).hierarchy

    def propose(self, values: Iterable[Any], counts: Iterable[int] | None = None, *, name: str = "") -> Proposal:
        """The hierarchy with its senses, its score and notes."""
        return self.propose_column(column_of(values, counts, name=name))

    def propose_column(self, column: Column) -> Proposal:
        """The same from an already reduced column."""
        from kanopy.ontology.load import load_ontology  # with all its readers: only when it is needed

        taxonomy = load_ontology(self.ontology)
        labels = list(column.labels())
        senses = senses_of_values(taxonomy, labels, self._choices(), header=column.name)
        concepts = np.array([senses.concept(label) for label in labels], np.int32)
        sources = self._sources(column.name, labels)
        rest = [at for at in range(len(labels)) if not any(source.known[at] for source in sources)]
        known_labels = [at for at in rest if concepts[at] >= 0]
        notes = [source.note for source in sources]
        notes += self._check_unknown(
            column, senses, [labels[at] for at in rest], len(known_labels) + len(labels) - len(rest)
        )
        groups = Groups([])
        if len(known_labels) > 1 or (known_labels and not sources):
            people = frequent_holders(column)
            people = people[known_labels].tolist() if len(people) else []
            groups = self._group(senses, [labels[at] for at in known_labels], concepts[known_labels], notes, people)
        if sources or (self.unknown == "other" and groups.names and len(known_labels) < len(labels)):
            return self._united(sources, groups, known_labels, senses, labels, concepts, column.name, notes)
        table = np.full((len(groups.concepts) + 1, len(labels)), -1, np.int32)
        table[0] = concepts
        for level, row in enumerate(groups.concepts, 1):
            table[level, known_labels] = row
        names = [dict(zip(known_labels, row, strict=True)) for row in groups.names]
        return _proposal(taxonomy, labels, table, names, groups.means, senses, self, column.name, notes)

    def _sources(self, name: str, labels: list[str]) -> list[Known]:
        """What classifications and vocabularies know about the values, where the builder asks for them."""
        return []

    def _united(
        self,
        sources: list[Known],
        groups: Groups,
        known_labels: list[int],
        senses: Senses,
        labels: list[str],
        concepts: Ints,
        name: str,
        notes: list[str],
    ) -> Proposal:
        """The levels of all sources, and beside them what only the ontology knows, below one top."""
        if groups.concepts:
            words = groups.names or spelled(senses.taxonomy, [labels[at] for at in known_labels], groups.concepts)
            sources = [*sources, by_meaning(words, known_labels, labels, MEANING)]
        united = united_levels(labels, sources, self.unknown == "other")
        table = concepts_of(senses.taxonomy, united.rows, labels, concepts)
        rows = [*united.rows, [SUPPRESSED_LABEL] * len(labels)]
        names = [dict(enumerate(row)) for row in rows]
        if alone := [
            label
            for label, text in zip(labels, united.rows[-1] if united.rows else (), strict=False)
            if text == OTHER and OTHER in united.sources
        ]:
            notes.append(
                f"{len(alone):,} of {len(labels):,} values could not be grouped, and are {OTHER!r} below the top: "
                f"{some(alone)}."
            )
        proposal = _proposal(senses.taxonomy, labels, table, names, groups.means, senses, self, name, notes)
        return replace(proposal, sources=united.sources)

    def _choices(self) -> SenseChoices:
        chosen_synonyms = dict(self.synonyms or {})
        if not self.senses:
            return SenseChoices(synonyms=chosen_synonyms)
        from kanopy.ontology.senses.senses_file import read_senses

        read = read_senses(self.senses)
        return SenseChoices(read.senses, {**read.synonyms, **chosen_synonyms}, read.source)

    def _check_unknown(self, column: Column, senses: Senses, rest: list[str], known: int) -> list[str]:
        """Notes about values that no source knows, among those `rest` that only the ontology may know."""
        asked = set(rest)
        unknown = [choice.label for choice in senses.unknown if choice.label in asked]
        where, source = column.where, senses.taxonomy.name or self.ontology
        hints = "; ".join(
            f"{choice.label!r}: perhaps {some(choice.match.suggestions)}"
            for choice in [one for one in senses.unknown if one.label in asked][:5]
            if choice.match.suggestions
        )
        help_ = f" ({hints})." if hints else "."
        if unknown and (not known or self.unknown == "error"):
            raise HierarchyError(
                f"{where}: {source} does not know {some(unknown)}{help_} Define them in a table of synonyms or a "
                "senses file."
            )
        notes = []
        if unknown:
            what = "are 'other' below the top" if self.unknown == "other" else "stay as they are up to the top"
            notes.append(f"{source} does not know {some(unknown)}{help_} They {what}, {SUPPRESSED_LABEL!r}.")
            if known * 2 < known + len(unknown):
                notes.append(
                    f"Only {known} of {known + len(unknown)} values are known, so a hand-written hierarchy may keep "
                    "more meaning. Define the other values first."
                )
        if ambiguous := [
            f"{senses.name(choice.label)} (or {', '.join(senses.others(choice.label)[:2])})"
            for choice in senses.ambiguous
            if choice.label in asked
        ]:
            notes.append(
                f"Several meanings fit equally well, and one was chosen: {some(ambiguous)}. A senses file can choose "
                "another."
            )
        if approximate := [
            f"{choice.label} as {choice.match.term}" for choice in senses.approximate if choice.label in asked
        ]:
            notes.append(f"Found only by stem, head noun or adjective: {some(approximate)}.")
        return notes

    def _group(
        self, senses: Senses, labels: list[str], concepts: Ints, notes: list[str], people: Sequence[int] = ()
    ) -> Groups:
        """Level by level the concept each value is generalized to; -1 where it stays as it is."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ontology(SemanticBuilder):
    """Group values by what they mean, in levels.

    What classifications and vocabularies of everyday answers know comes first. Of the other values, senses are chosen
    for the whole column. `style="nearness"` joins values that are near by all links of the ontology and by the words of
    its definitions, and names groups by what their members share; `style="taxonomy"` cuts the ontology itself: values
    under the concepts where they meet, in levels that lose least meaning, with at most `max_fan_out` children if the
    ontology allows. `levels` counts the values and the top; they shrink evenly. What no source knows is `other` below
    the top (apart with `unknown="top"`, an error with `unknown="error"`). `propose` also returns senses, score and
    sources.

    >>> h = Ontology().build(["dog", "cat", "horse", "eagle", "owl", "hawk", "trout", "salmon"])
    >>> sorted(h.labels_at(2))
    ['bird', 'fish', 'mammal']
    >>> h = Ontology(levels=3, style="taxonomy").build(["cat", "dog", "snake", "crocodile", "salmon"])
    >>> sorted(h.labels_at(1)), h.labels_at(2)
    (['carnivore', 'diapsid', 'salmon'], ('vertebrate',))
    """

    method: ClassVar[str] = "ontology"
    summary: ClassVar[str] = "by what words mean (WordNet): groups of near meaning, or strict kinds"
    levels: Annotated[int, Integer(2), "the number of levels, including values and top"] = 5
    style: Annotated[str, OneOf(*STYLES), "group by nearness of meaning, or strictly by kind"] = "nearness"
    max_fan_out: Annotated[
        int | None, Optional(Integer(2)), "the largest number of children of a node; groups strictly by kind"
    ] = None

    def _sources(self, name: str, labels: list[str]) -> list[Known]:
        # Who asks for strict kinds, another ontology or other senses wants the ontology's own groups.
        plain = self.style == "nearness" and self.max_fan_out is None and self.ontology == "wordnet"
        if not plain or self.senses or self.synonyms:
            return []
        official = official_levels(labels, name, self.levels)
        if official is None:
            return everyday(labels, name, min(MOST_ROWS, self.levels - 2))
        rest = [label for label, is_known in zip(labels, official.known, strict=True) if not is_known]
        return [
            Known(official.rows, official.known, "classification", official.note),
            *spread(everyday(rest, "", self.levels - 2), rest, labels),
        ]

    def _group(
        self, senses: Senses, labels: list[str], concepts: Ints, notes: list[str], people: Sequence[int] = ()
    ) -> Groups:
        taxonomy = senses.taxonomy
        if self.style == "nearness" and self.max_fan_out is None:
            if len(np.unique(concepts)) <= MOST_CLUSTERED:
                return self._near(senses, labels, concepts, people)
            notes.append(
                f"More than {MOST_CLUSTERED:,} different meanings: grouped as the ontology does (style taxonomy)."
            )
        tree = join_tree(taxonomy, concepts.tolist())
        parent, source, loss = with_partial_groups(tree.parent, tree.size, edge_losses(taxonomy, tree, self.measure))
        cuts = CutTree(parent, tree.size, loss)
        height = self.levels - 1
        weights = self.weights if isinstance(self.weights, str) else "constant"
        cut = cut_levels(cuts, height, level_weights(height, weights), self.max_fan_out)
        if len(cut.table) < self.levels:
            notes.append(f"The ontology offers {len(cut.table)} different levels for these values, not {self.levels}.")
        if cut.fan_out is not None and self.max_fan_out is not None and cut.fan_out > self.max_fan_out:
            notes.append(
                f"A fan-out of {self.max_fan_out} is impossible: the ontology has no concepts in between. The "
                f"smallest possible with {self.levels} levels is {cut.fan_out}."
            )
        return Groups(
            [
                np.where(row < tree.size, -1, tree.concept[source[row]]).astype(
                    np.int32
                )  # a value alone stays as it is
                for row in cut.table[1:]
            ]
        )

    def _near(self, senses: Senses, labels: list[str], concepts: Ints, people: Sequence[int]) -> Groups:
        """Values near in meaning (Ward's rule), named by what their members share."""
        taxonomy = senses.taxonomy
        from kanopy.hierarchy.builders.semantic.nearest import MOST_VALUES, near_groups
        from kanopy.ontology.nearness.nearness import views

        _, first, position, count = np.unique(concepts, return_index=True, return_inverse=True, return_counts=True)
        # In an order that does not hang on the column's name, which would disturb the nearness of all values anew.
        order = np.argsort([senses[labels[at]].by_values for at in first.tolist()], kind="stable")
        first, count, position = first[order], count[order], np.argsort(order)[position]
        distinct = concepts[first]
        height = min(self.levels - 1, max(1, len(distinct)))
        partitions, left_over = [], -1
        if len(distinct) > 1:
            readings = [senses[labels[at]].readings for at in first.tolist()]
            sizes = sorted(set(even_sizes(len(distinct), height)[:-1]) - {1, len(distinct)}, reverse=True)
            near = views(taxonomy, distinct, readings, centred=len(distinct) <= MOST_VALUES)
            partition_groups, left_over = near_groups(near, count.astype(np.float64), sizes)
            partitions = [groups[position] for groups in reversed(partition_groups)]
        top = least_common_subsumer(taxonomy, distinct.tolist())
        if len(distinct) == 1:
            top = (*taxonomy.parents_of(top), top)[0]
        namer = GroupNames(taxonomy, labels, concepts, people)
        partitions, left_over = with_kinds(namer, partitions, left_over)
        whole = namer.whole(top)
        rows, names = [np.full(len(concepts), top, np.int32)], [[whole] * len(labels)]
        singles = np.arange(len(concepts), dtype=np.int32)
        # From the coarsest down: a group is named within the larger one.
        coarser = np.zeros(len(concepts), np.int32)
        for depth, groups in enumerate(partitions):
            if depth:  # what a coarser level keeps apart stays apart
                nested = np.unique(np.stack([coarser, groups]), axis=1, return_inverse=True)[1]
                groups = nested.reshape(-1).astype(np.int32)
            # Groups that no concept names are not made; large ones of the coarsest level list members.
            most_listed = SMALL if depth == 0 else len(concepts) + 1
            remaining_group = left_over if depth == 0 else -1
            for below in [*partitions[depth + 1 :], singles]:
                groups = namer.only_named(groups, below, names[0], most_listed, remaining_group)
            coarser = groups
            names.insert(0, namer.level(groups, names[0], left_over if len(rows) == 1 else -1))
            shared = {
                group: least_common_subsumer(taxonomy, concepts[groups == group].tolist())
                for group in np.unique(groups)
            }
            rows.insert(0, np.array([shared[group] for group in groups.tolist()], np.int32))
        return Groups(rows, names, namer.means)


@dataclass(frozen=True)
class SemanticClusters(SemanticBuilder):
    """Cluster the values by similarity (average linkage) and name each cluster by its lowest common subsumer.

    Any measure can be used. Clusters that share their name at a level are one.

    >>> h = SemanticClusters(levels=3).build(["wolf", "dog", "car", "bus"])
    >>> sorted(h.labels_at(1))
    ['canid', 'transport']
    """

    method: ClassVar[str] = "semantic_clusters"
    summary: ClassVar[str] = "clusters of similar meaning, named by what they share"

    def _group(
        self, senses: Senses, labels: list[str], concepts: Ints, notes: list[str], people: Sequence[int] = ()
    ) -> Groups:
        taxonomy = senses.taxonomy
        if len(concepts) == 1:
            above = taxonomy.parents_of(int(concepts[0]))
            return Groups([np.array(above[:1] or concepts, np.int32)])
        distinct, position, count = np.unique(concepts, return_inverse=True, return_counts=True)
        if len(distinct) > MOST_CLUSTERED:
            raise HierarchyError(
                f"{len(distinct):,} different concepts are too many to cluster (at most {MOST_CLUSTERED:,}). "
                "Use the method ontology."
            )
        from kanopy.hierarchy.builders.semantic.linkage_kernel import join_nearest
        from kanopy.ontology.similarity.pairwise import similarity_matrix

        similarity = similarity_matrix(taxonomy, distinct, measure=self.measure)
        similarity = (similarity + similarity.T) / 2  # some measures are not symmetric
        merges = join_nearest(-similarity, count.astype(np.float64), False)
        height = min(self.levels - 1, max(1, len(distinct) - 1))
        partitions = [_partition(len(distinct), merges, size) for size in even_sizes(len(distinct), height)]
        rows = _named_clusters(taxonomy, distinct, partitions)
        rows = [row for at, row in enumerate(rows) if at == 0 or not np.array_equal(row, rows[at - 1])]
        if len(rows) < self.levels - 1:
            notes.append(f"The clusters have {len(rows) + 1} different levels, not {self.levels}.")
        sizes = np.bincount(position, minlength=len(distinct))
        levels = []
        for row in rows:
            alone = np.bincount(np.unique(row, return_inverse=True)[1], weights=sizes)
            levels.append(
                np.where(alone[np.unique(row, return_inverse=True)[1]] == 1, -1, row)[position].astype(np.int32)
            )
        if (levels[-1] < 0).all():
            levels[-1] = rows[-1][position]
        return Groups(levels)


def edge_losses(taxonomy: Taxonomy, tree: JoinTree, measure: str) -> npt.NDArray[np.float64]:
    """Per node of a join tree the largest loss (TransGSL) of a value under it when it becomes the node's parent."""
    leaf: Ints = np.arange(tree.size, dtype=np.int32)
    below = leaf
    leaves, edges = [], []
    while len(leaf):
        leaves.append(leaf)
        edges.append(below)
        above = tree.parent[below]
        inside = tree.parent[above] >= 0
        leaf, below = leaf[inside], above[inside]
    value, edge = np.concatenate(leaves), np.concatenate(edges)
    pairs, position = np.unique(
        tree.concept[value].astype(np.int64) * taxonomy.size + tree.concept[tree.parent[edge]], return_inverse=True
    )
    left, right = np.divmod(pairs, taxonomy.size)
    loss = transition_loss(taxonomy, left.astype(np.int32), right.astype(np.int32), measure)
    out = np.full(len(tree.parent), -np.inf)
    np.maximum.at(out, edge, loss[position])
    return out


def _connected(size: int, links: Iterable[tuple[int, int]]) -> Ints:
    """Groups of items that links connect; a group is numbered by its first member."""
    leader = list(range(size))

    def find(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    for one, other in links:
        a, b = find(one), find(other)
        leader[max(a, b)] = min(a, b)
    return np.array([find(item) for item in range(size)], np.int32)


def _partition(size: int, merges: Floats, clusters: int) -> Ints:
    """Cluster numbers after the most similar merges, until so many clusters are left."""
    chosen = np.argsort(merges[:, 2], kind="stable")[: size - clusters]
    return _connected(size, ((int(a), int(b)) for a, b in merges[chosen, :2]))


def _named_clusters(taxonomy: Taxonomy, concepts: Ints, partitions: Sequence[Ints]) -> list[Ints]:
    """The common subsumer of every item's cluster, level by level; clusters of one name are joined and stay nested."""
    rows: list[Ints] = []
    below = np.arange(len(concepts), dtype=np.int32)
    for partition in partitions:
        groups = _joined(below, partition)
        while True:
            name = np.empty(len(groups), np.int32)
            for group in np.unique(groups):
                members = np.flatnonzero(groups == group)
                name[members] = least_common_subsumer(taxonomy, concepts[members].tolist())
            merged = _joined(groups, name)
            if np.array_equal(merged, groups):
                break
            groups = merged
        rows.append(name)
        below = groups
    return rows


def _joined(a: Ints, b: npt.NDArray[Any]) -> Ints:
    """The finest grouping that is coarser than both."""
    first = [np.unique(keys, return_index=True, return_inverse=True) for keys in (a, b)]
    return _connected(len(a), ((item, int(at[k])) for _, at, key in first for item, k in enumerate(key.tolist())))


def _proposal(
    taxonomy: Taxonomy,
    labels: list[str],
    table: Ints,
    names: Sequence[Mapping[int, str]],
    means: Mapping[str, int],
    senses: Senses,
    builder: SemanticBuilder,
    name: str,
    notes: list[str],
) -> Proposal:
    """Concepts become labels. -1 above the first row means: as the level below."""
    top = np.unique(table[-1])
    all_under_one = len(top) == 1 and top[0] >= 0 and top[0] != root_of(taxonomy)
    words = unique_terms(taxonomy, labels, table) if not names else {}
    rows: list[list[str]] = []
    concepts = table.copy()
    for value, label in enumerate(labels):
        row = [label]
        for level in range(1, len(table)):
            concept = int(table[level, value])
            row.append(row[-1] if concept < 0 else names[level - 1][value] if names else words[concept])
            if concept < 0:
                concepts[level, value] = concepts[level - 1, value]
        if not all_under_one:
            row[-1] = SUPPRESSED_LABEL
            concepts[-1, value] = root_of(taxonomy)
        rows.append(row)
    hierarchy = Hierarchy.from_rows(rows, name=name)
    losses = level_losses(loss_table(taxonomy, concepts, builder.measure))
    weights = level_weights(len(losses), builder.weights, where=f"The hierarchy of {name}".removesuffix(" of "))
    choices = dict(senses)
    for label_row, concept_row in zip(zip(*rows, strict=True), concepts, strict=True):
        for word, concept in zip(label_row, concept_row.tolist(), strict=True):
            if concept >= 0 and word not in choices and word != SUPPRESSED_LABEL:
                concept = means.get(word, concept)
                match = Match(word, "chosen", f"{taxonomy.sense_name(concept)}", (concept,))
                choices[word] = Choice(match, concept, "the concept above all values of the group")
    if SUPPRESSED_LABEL in hierarchy.labels:
        choices[SUPPRESSED_LABEL] = Choice(find_label(taxonomy, SUPPRESSED_LABEL), root_of(taxonomy), "says nothing")
    return Proposal(hierarchy, Senses(taxonomy, choices), float(weights @ losses), tuple(losses.tolist()), tuple(notes))
