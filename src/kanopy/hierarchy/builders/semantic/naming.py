"""Names for groups of concepts: the common words that say what all members are and few others are.

A group is named by one concept that is true of all its members and of fewest values outside (France is in Europe: the
whole a place is part of counts as above it). Where there is none, up to three members are named and the others counted
(`potato, leek, onion +4`): a steward is asked for a better name. No label of a level is above another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints, Longs
from kanopy.hierarchy.column import Column
from kanopy.ontology.join import clearest_term
from kanopy.ontology.taxonomy import Taxonomy, fold
from kanopy.ontology.terms import all_above, common_term, says_nothing

MOST_NAMED = 3
"""So many members are named where no concept is true of all."""
LEAST_ROWS = 20
"""Where rows are counted, a name lists no value that fewer have: it would tell that somebody has it."""
OUTSIDE = 0.5
"""A value outside the group that the name covers too weighs half a member."""
MOST_OUTSIDE = 0.5
"""What covers more than so many values outside per member says too little: all workers are adults."""
UNCOMMON = 1.5
"""A word that is hardly found in plain texts has to cover so many members more."""
SELDOM = 2
"""Found so often, or less, is hardly: `medical man` is found once, and `doctor` 80 times."""


def frequent_holders(column: Column) -> Longs:
    """How many people have each value, and 0 where too few have it to be named; empty where nobody was counted.

    >>> from kanopy.hierarchy.column import column_of
    >>> frequent_holders(column_of(["leek", "beet"], [19, 40])).tolist(), frequent_holders(column_of(["leek"])).tolist()
    ([40, 0], [])
    """
    if column.rare is None and column.counts.max() == 1:
        return np.array([], np.int64)  # a list of words
    rare = set() if column.rare is None else column.rare()
    frequent = np.array([label not in rare for label in column.labels()])
    return np.where(frequent & (column.holders >= LEAST_ROWS), column.holders, 0)


class GroupNames:
    """Names groups of the values `labels`, whose concepts are `concepts`; each name is used for one group only."""

    def __init__(self, taxonomy: Taxonomy, labels: Sequence[str], concepts: Ints, rows: Sequence[int] = ()) -> None:
        self.taxonomy, self.labels, self.rows = taxonomy, labels, rows
        self.above = [all_above(taxonomy, concept) for concept in concepts.tolist()]
        self.own = frozenset(concepts.tolist())
        self.place = {label: at for at, label in enumerate(labels)}
        self.written = frozenset(zip(map(fold, labels), concepts.tolist(), strict=True))
        self.under = Counter(concept for concepts_above in self.above for concept in concepts_above)
        self.taken: dict[str, frozenset[int]] = {}
        self.beside: list[frozenset[int]] = []
        self.means: dict[str, int] = {}
        """The concepts of names that stand for one."""
        self.given: dict[frozenset[int], str] = {}
        """Names of groups that are known by their members."""

    def whole(self, concept: int) -> str:
        """What all values are: `*` if that says nothing."""
        name = SUPPRESSED_LABEL if says_nothing(self.taxonomy, concept) else self._term(concept)
        self.taken[name] = frozenset(range(len(self.labels)))
        return name

    def level(self, groups: Ints, parents: Sequence[str], left_over: int = -1) -> list[str]:
        """The name of every value's group; `parents` are the names of the level above. A value alone keeps its own.

        The group `left_over` holds what belongs nowhere: it is only `other`.
        """
        names = [""] * len(groups)
        order = Counter(groups.tolist())
        self.beside = [frozenset(np.flatnonzero(groups == group).tolist()) for group in order]
        for group in sorted(order, key=lambda one: (-order[one], one)):
            members = np.flatnonzero(groups == group).tolist()
            alone = len(members) == 1
            name = self.labels[members[0]] if alone else self._name(members, parents[members[0]], group == left_over)
            for member in members:
                names[member] = name
        return names

    def _name(self, members: list[int], parent: str, left_over: bool) -> str:
        group = frozenset(members)
        if self.taken.get(parent) == group and not self._above_others(self.means.get(parent, -1), group):
            return parent  # the same group as on the level above
        given = self.given.get(group)
        if given and self.place.get(given, members[0]) in group and self.taken.setdefault(given, group) == group:
            return given
        concept = None if left_over else self._concept(members, parent)
        for name in self._options(members, concept, left_over):
            if self.taken.setdefault(name, group) == group:
                break
        if concept is not None and name == self._term(concept):
            self.means[name] = concept
        return name

    def _options(self, members: list[int], concept: int | None, left_over: bool) -> Iterator[str]:
        """What a group may be called: one concept, or up to three of its members and how many more there are."""
        if concept is not None:
            yield self._term(concept)
        if left_over:
            yield "other"
        named = sorted(members, key=lambda one: (-self.rows[one], one)) if self.rows else members
        named = [one for one in named if not self.rows or self.rows[one]]
        for number_named in range(min(MOST_NAMED, len(named)), len(named) + 1) if named else ():
            yield listed([self.labels[one] for one in named[:number_named]], len(members) - number_named)
        yield f"{len(members)} values"
        yield from (f"{len(members)} values ({number})" for number in count(2))

    def only_named(
        self, groups: Ints, finer: Ints, parents: Sequence[str], smaller_than: int, left_over: int = -1
    ) -> Ints:
        """Groups that one concept names, or with many members; the members of the others go to their finer groups.

        A group stays, too, if a value of it would stand beside a name that is true of it (a piano beside `stringed
        instrument`): that name would be lost.
        """
        self.beside = [frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)]
        named = groups.copy()
        concept_of: dict[int, int | None] = {}
        for group in np.unique(groups).tolist():
            members = np.flatnonzero(groups == group).tolist()
            if group != left_over and len(members) > 1:
                is_known = self.taken.get(parents[members[0]]) == frozenset(members) or frozenset(members) in self.given
                concept_of[group] = -1 if is_known else self._concept(members, parents[members[0]])
        names = {concept for concept in concept_of.values() if concept is not None}
        for group, concept in concept_of.items():
            members = np.flatnonzero(groups == group).tolist()
            is_clear = concept is None and all(names.isdisjoint(self.above[member]) for member in members)
            if is_clear and len(members) < smaller_than:
                named[members] = finer[members] + groups.max() + 1
        return np.asarray(named, np.int32)

    def _concept(self, members: list[int], parent: str) -> int | None:
        """The concept that is true of all members and of few others, and is not above another group of the level."""
        group = frozenset(members)
        inside = Counter(concept for member in members for concept in self.above[member])
        scored = [
            (OUTSIDE * (self.under[one] - count) + UNCOMMON * (one not in self._common), self._size(one), one)
            for one, count in inside.items()
            if count == len(members)
            and self.under[one] - count <= MOST_OUTSIDE * count
            and self._may_name(one, parent)
            and self.place.get(self._term(one), members[0]) in group
            and not self._above_others(one, group)
        ]
        return min(scored)[2] if scored else None

    def _above_others(self, concept: int, members_named: frozenset[int]) -> bool:
        """Whether a concept is true of all of another group of this level, or of a value that is alone there."""
        return any(all(concept in self.above[one] for one in group) for group in self.beside if group != members_named)

    def _may_name(self, concept: int, parent: str) -> bool:
        return not says_nothing(self.taxonomy, concept) and self._term(concept) != parent

    def _term(self, concept: int) -> str:
        """A value that means it, or else the word texts use most; if they hardly use any, the first of the shortest."""
        terms = self.taxonomy.terms_of(concept)
        if written := [term for term in terms if (fold(term), concept) in self.written]:
            return min(written, key=lambda term: (-max(SELDOM, self._used(term, concept)), len(term)))
        term = common_term(self.taxonomy, concept)
        if term not in terms or not self.taxonomy.has_tag_counts or self._used(term, concept) > SELDOM:
            return term
        return min(terms, key=lambda term: (term.isupper(), term.count(" ")))

    def _used(self, term: str, concept: int) -> int:
        """How often texts use a word for a concept."""
        return dict(zip(self.taxonomy.senses(term), self.taxonomy.tagged(term), strict=True)).get(concept, 0)

    @cached_property
    def _common(self) -> frozenset[int]:
        if not self.taxonomy.has_tag_counts:
            return frozenset(self.under)
        counts_of_concept = self.taxonomy.tag_counts
        return frozenset(
            concept for concept in self.under if counts_of_concept[concept] > SELDOM or concept in self.own
        )

    def _size(self, concept: int) -> int:
        return int(self._sizes[concept])

    @cached_property
    def _sizes(self) -> Ints:
        return np.bincount(self.taxonomy.ancestors, minlength=self.taxonomy.size).astype(np.int32)


def listed(names: Sequence[str], more: int) -> str:
    """Up to three values, and how many more there are.

    >>> listed(["leek", "onion"], 0), listed(["potato", "leek", "onion"], 4)
    ('leek or onion', 'potato, leek, onion +4')
    """
    if more:
        return f"{', '.join(names)} +{more}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def spelled(taxonomy: Taxonomy, labels: list[str], concepts: Sequence[Ints]) -> list[list[str]]:
    """The names of groups that are concepts of the ontology; -1 means as the level below."""
    words = unique_terms(taxonomy, labels, np.array([concepts[0], *concepts], np.int32))
    rows = [labels]
    for level in concepts:
        rows.append([words.get(concept, before) for concept, before in zip(level.tolist(), rows[-1], strict=True)])
    return rows[1:]


def unique_terms(taxonomy: Taxonomy, labels: Sequence[str], table: Ints) -> dict[int, str]:
    """A label for every concept above the values: its clearest term, told apart from others by its hypernym."""
    leaves: dict[str, int] = {label: value for value, label in enumerate(labels)}
    used: dict[str, int] = {}
    words: dict[int, str] = {}
    for concept in dict.fromkeys(int(c) for row in table[1:][::-1] for c in row if c >= 0):
        term = clearest_term(taxonomy, concept)
        parents = taxonomy.parents_of(concept)
        options = [term, f"{term} ({clearest_term(taxonomy, parents[0])})" if parents else term]
        options.append(taxonomy.sense_name(concept))
        for option in options:
            # A value of the same name is no trouble if it lies under this concept: the two never stand side by side.
            own_value = option in leaves and concept in table[1:, leaves[option]]
            if option not in used and (option not in leaves or own_value):
                break
        used[option] = concept
        words[concept] = option
    return words
