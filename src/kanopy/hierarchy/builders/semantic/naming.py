"""Names for groups of concepts: the common words that say what all members are and few others are.

A group is named by the concept above its members that covers most of them and fewest values outside (France is in
Europe: the whole a place is part of counts as above it). Members it does not cover are named too (`fish or seafood`),
so that a name is true of every member. Of a large rest `other <what the larger group is called>` remains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Ints
from kanopy.ontology.taxonomy import Taxonomy, fold
from kanopy.ontology.terms import all_above, common_term, says_nothing

_JOINED = re.compile(r", | or | and ")
MOST_PARTS = 3
OUTSIDE = 0.5
"""A value outside the group that the name covers too weighs half a member."""
MOST_OUTSIDE = 0.5
"""What covers more than so many values outside per member says too little: all workers are adults."""
UNCOMMON = 1.5
"""A word that is hardly found in plain texts has to cover so many members more."""
SELDOM = 2
"""Found so often, or less, is hardly: `medical man` is found once, and `doctor` 80 times."""


class GroupNames:
    """Names groups of the values `labels`, whose concepts are `concepts`; each name is used for one group only."""

    def __init__(self, taxonomy: Taxonomy, labels: Sequence[str], concepts: Ints) -> None:
        self.taxonomy, self.labels = taxonomy, labels
        self.above = [all_above(taxonomy, concept) for concept in concepts.tolist()]
        self.own = frozenset(concepts.tolist())
        self.written = frozenset(zip(map(fold, labels), concepts.tolist(), strict=True))
        self.under = Counter(concept for found in self.above for concept in found)
        self.taken: dict[str, frozenset[int]] = {}
        self.beside: list[frozenset[int]] = []
        self.means: dict[str, int] = {}
        """The concepts of names that stand for one."""

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
        own = frozenset(members)
        if self.taken.get(parent) == own:
            concept = self.means.get(parent, -1)
            name = self._other(parent, concept) if self._above_others(concept, own) else parent
            if self.taken.setdefault(name, own) == own:
                return name
        parts, rest = ([], []) if left_over else self._parts(members, parent)
        words = list(dict.fromkeys([self._term(part) for part in parts] + [self.labels[member] for member in rest]))
        for name in self._options(parts, words, parent, own):
            if self.taken.setdefault(name, own) == own:
                break
        if parts and name == words[0]:
            self.means[name] = parts[0]
        return name

    def _options(self, parts: list[int], words: list[str], parent: str, own: frozenset[int]) -> Iterator[str]:
        """What a group may be called, the clearest first; the last ones are free for sure."""
        if len(words) == 1 and parts:
            # Beside `bee` no group is called `insect`, which covers the bee too: no label is above its neighbour.
            yield self._other(words[0], parts[0]) if self._above_others(parts[0], own) else words[0]
        elif 0 < len(words) <= MOST_PARTS:
            yield _either(words)
        elif parts:
            yield f"{', '.join(words[:2])} and others"
        plain = (
            parent != SUPPRESSED_LABEL and not parent.startswith(("other ", "rest of ")) and not _JOINED.search(parent)
        )
        general = self._other(parent, self.means.get(parent, -1)) if plain else "other"
        if plain:
            yield general
        members = [self.labels[one] for one in sorted(own)]
        for some in (words, members) if words else ():
            yield f"{some[0]}, {some[1]} and others" if len(some) > 2 else _either(some)
        if words:  # a larger group may have the shorter name: `other` would hide that these belong together
            yield f"{', '.join(members[:3])} and others" if len(members) > 4 else _either(members)
        yield general
        yield from (f"{general} ({number})" for number in count(2))

    def _above_others(self, concept: int, own: frozenset[int]) -> bool:
        """Whether a concept is true of all of another group of this level, or of a value that is alone there."""
        return any(all(concept in self.above[one] for one in group) for group in self.beside if group != own)

    def _other(self, name: str, concept: int) -> str:
        """What is left of a kind, or of a place."""
        return f"rest of {name}" if concept >= 0 and self.taxonomy.is_instance[concept] else f"other {name}"

    def _parts(self, members: list[int], parent: str) -> tuple[list[int], list[int]]:
        """The concepts that cover the members best, and the members that none of them covers."""
        parts: list[int] = []
        rest = list(members)
        inside = Counter(concept for member in members for concept in self.above[member])
        while len(rest) > 1 and len(parts) < MOST_PARTS:
            covered = Counter(concept for member in rest for concept in self.above[member])
            scored = [
                (
                    count - OUTSIDE * (self.under[one] - inside[one]) - UNCOMMON * (one not in self._common),
                    -self._size(one),
                    -one,
                )
                for one, count in covered.items()
                if count > 1
                and self.under[one] - inside[one] <= MOST_OUTSIDE * inside[one]
                and self._may_name(one, parent)
            ]
            if not scored or max(scored)[0] < 1.0:
                break
            best = -max(scored)[2]
            parts.append(best)
            rest = [member for member in rest if best not in self.above[member]]
        return parts, rest

    def _may_name(self, concept: int, parent: str) -> bool:
        return not says_nothing(self.taxonomy, concept) and self._term(concept) != parent

    def _term(self, concept: int) -> str:
        """A value that means it, or else the word texts use most; if they hardly use any, the first of the shortest."""
        known = self.taxonomy.terms_of(concept)
        if written := [term for term in known if (fold(term), concept) in self.written]:
            return min(written, key=lambda term: (-max(SELDOM, self._used(term, concept)), len(term)))
        term = common_term(self.taxonomy, concept)
        if term not in known or not self.taxonomy.has_tag_counts or self._used(term, concept) > SELDOM:
            return term
        return min(known, key=lambda term: (term.isupper(), term.count(" ")))

    def _used(self, term: str, concept: int) -> int:
        """How often texts use a word for a concept."""
        return dict(zip(self.taxonomy.senses(term), self.taxonomy.tagged(term), strict=True)).get(concept, 0)

    @cached_property
    def _common(self) -> frozenset[int]:
        if not self.taxonomy.has_tag_counts:
            return frozenset(self.under)
        found = self.taxonomy.tag_counts
        return frozenset(concept for concept in self.under if found[concept] > SELDOM or concept in self.own)

    def _size(self, concept: int) -> int:
        return int(self._sizes[concept])

    @cached_property
    def _sizes(self) -> Ints:
        return np.bincount(self.taxonomy.ancestors, minlength=self.taxonomy.size).astype(np.int32)


def _either(words: list[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
