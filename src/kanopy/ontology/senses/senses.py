"""Which sense each label of a hierarchy or a column has, and why.

For hierarchies the rule of Ayala-Rivera et al. (2014, appendix D), with the leaf's sense chosen by machine unless a
person chose it: a leaf has the sense whose inherited hypernyms contain most of its ancestors, an ancestor the sense
found among its leaves' hypernyms. For a column without a hierarchy the senses of all values are chosen together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kanopy._errors import OntologyError, some
from kanopy._lazy import public
from kanopy._mixins import ReprMixin, brief
from kanopy._usage import checked
from kanopy.ontology.senses.joint_senses import choose_together
from kanopy.ontology.senses.labels import APPROXIMATE, HOW, Match, find_label, named_concepts, sense_name
from kanopy.ontology.taxonomy import Taxonomy, fold

ADJECTIVES = 3
"""Where one value in so many is known only by another part of speech, nouns are unsure, too."""
Above = Callable[[int], frozenset[int]]


@public("kanopy.ontology")
@dataclass(frozen=True)
class SenseChoices(ReprMixin):
    """What the user decided: senses by label, and a table of synonyms by label.

    >>> SenseChoices(senses={"amphibian": "amphibian#3"}).senses["amphibian"]
    'amphibian#3'
    """

    senses: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def check(self, taxonomy: Taxonomy) -> None:
        """Every sense and synonym must exist, and none may contradict the other; the error names all that do."""
        wrong: dict[str, OntologyError] = {}
        where = f"{self.source}: " if self.source else ""
        for kind, table in (("sense", self.senses), ("synonym", self.synonyms)):
            for label, name in table.items():
                if name:
                    try:
                        named_concepts(taxonomy, name, f"The {kind} chosen for {label!r}")
                    except OntologyError as error:
                        wrong[f"{label} = {name}"] = error
        if wrong:
            first = next(iter(wrong.values()))
            more = f" (all that do not exist: {some(wrong)})" if len(wrong) > 1 else ""
            raise OntologyError(f"{where}{first}{more}")
        apart = [
            f"{label} = {self.senses[label]} and {word}"
            for label, word in self.synonyms.items()
            if word
            and self.senses.get(label)
            and not {*named_concepts(taxonomy, word, "")} & {*named_concepts(taxonomy, self.senses[label], "")}
        ]
        if apart:
            raise OntologyError(
                f"{where}the sense chosen for a label contradicts its synonym: {some(apart)}. Keep one of them."
            )

    def of(self, label: str) -> str:
        """The sense chosen for a label, or nothing."""
        return self.senses.get(label, "")


@dataclass(frozen=True)
class Choice(ReprMixin):
    """The sense of one label: its concept (-1 if unknown), how the label was found, and why this sense.

    `chances` say how likely each concept of the match is meant by the other values, where that was weighed.
    """

    match: Match
    concept: int
    reason: str
    flagged: bool = False
    chances: tuple[float, ...] = ()

    @property
    def readings(self) -> dict[int, float]:
        """The concepts that may be meant, each with its chance; that which the column's name chose is the likeliest."""
        if not self.chances:
            return {self.concept: 1.0}
        chance_of_concept = dict(zip(self.match.concepts, self.chances, strict=True))
        chance_of_concept[self.concept], chance_of_concept[self.by_values] = (
            chance_of_concept[self.by_values],
            chance_of_concept[self.concept],
        )
        return {concept: chance for concept, chance in chance_of_concept.items() if chance}

    @property
    def by_values(self) -> int:
        """The concept that the other values would have chosen without the column's name."""
        return self.match.concepts[self.chances.index(max(self.chances))] if self.chances else self.concept

    @property
    def label(self) -> str:
        """The label as it stands in the hierarchy."""
        return self.match.label

    @property
    def how(self) -> str:
        """How the label was found (a key of `HOW`)."""
        return self.match.how

    @property
    def is_ambiguous(self) -> bool:
        """Whether there were other senses, and nothing but frequency to tell them apart."""
        return self.flagged and len(self.match.concepts) > 1


@public("kanopy.ontology")
class Senses(Mapping[str, Choice]):
    """The choices of all labels, in the order they were met."""

    def __init__(self, taxonomy: Taxonomy, choices: Mapping[str, Choice]) -> None:
        self.taxonomy = taxonomy
        self._choices = dict(choices)

    def __getitem__(self, label: str) -> Choice:
        return self._choices[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._choices)

    def __len__(self) -> int:
        return len(self._choices)

    def __repr__(self) -> str:
        return f"<Senses: {len(self):,} labels in {brief(self.taxonomy.name)}>"

    def concept(self, label: str) -> int:
        """The concept of a label, -1 if unknown."""
        return self._choices[label].concept

    def name(self, label: str) -> str | None:
        """The sense as text, such as `tiger#2`; `None` if unknown."""
        concept = self.concept(label)
        return None if concept < 0 else sense_name(self.taxonomy, self._choices[label].match.term, concept)

    def others(self, label: str) -> list[str]:
        """The senses a label could also have."""
        match = self._choices[label].match
        chosen = self._choices[label].concept
        return [sense_name(self.taxonomy, match.term, concept) for concept in match.concepts if concept != chosen]

    @property
    def unknown(self) -> list[Choice]:
        """Labels the ontology does not know."""
        return [choice for choice in self.values() if choice.concept < 0]

    @property
    def ambiguous(self) -> list[Choice]:
        """Labels with another sense that is as good, or taken for being the most frequent only."""
        return [choice for choice in self.values() if choice.is_ambiguous]

    @property
    def approximate(self) -> list[Choice]:
        """Labels found by a step that may miss the meaning."""
        return [choice for choice in self.values() if choice.how in APPROXIMATE]

    def report(self) -> list[dict[str, Any]]:
        """One row per label: how it was found, its sense, why, what else it could be, suggestions if unknown."""
        return [
            {
                "label": choice.label,
                "how": choice.how,
                "term": choice.match.term,
                "sense": self.name(choice.label),
                "reason": choice.reason,
                "ambiguous": choice.is_ambiguous,
                "others": self.others(choice.label),
                "suggestions": list(choice.match.suggestions),
            }
            for choice in self.values()
        ]


@public("kanopy.ontology")
@checked
def senses_of_hierarchy(
    taxonomy: Taxonomy, rows: Iterable[Sequence[str]], choices: SenseChoices | None = None
) -> Senses:
    """The senses of all labels of a level table (one row per value: the value, then ever broader labels).

    The rows of several hierarchies over the same values give one set of senses for all of them.

    >>> from kanopy.ontology.load import load_ontology
    >>> found = senses_of_hierarchy(load_ontology("wordnet"), [["frog", "amphibian", "vertebrate"]])
    >>> found.name("amphibian"), found["amphibian"].reason
    ('amphibian#3', 'a hypernym of its leaves')
    """
    table = [tuple(row) for row in rows]
    matches = find_labels(taxonomy, (label for row in table for label in row), choices)
    choice_of_label: dict[str, Choice] = {}
    above = _hypernyms(taxonomy)
    ancestors_of: dict[str, dict[str, None]] = {}
    for leaf, *ancestors in table:
        ancestors_of.setdefault(leaf, {}).update(dict.fromkeys(label for label in ancestors if label != leaf))
    for leaf, above_leaf in ancestors_of.items():
        leaf_matches = (matches[label] for label in above_leaf)
        targets = [set(match.concepts) for match in leaf_matches if match.known and match.how != "suppressed"]
        choice_of_label[leaf] = _leaf_choice(matches[leaf], targets, above)
    under: dict[str, list[int]] = {}
    for leaf, *ancestors in table:
        for label in dict.fromkeys(ancestors):
            if label not in choice_of_label:
                under.setdefault(label, []).append(choice_of_label[leaf].concept)
    for label, leaves in under.items():
        choice_of_label[label] = _ancestor_choice(matches[label], [c for c in leaves if c >= 0], above)
    return Senses(taxonomy, choice_of_label)


@public("kanopy.ontology")
@checked
def senses_of_values(
    taxonomy: Taxonomy, values: Iterable[str], choices: SenseChoices | None = None, *, header: str = ""
) -> Senses:
    """The senses of the values of a column that has no hierarchy yet, chosen together (see `choose_together`).

    `header` is the column's name: it says what the values are about.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> senses_of_values(w, ["tiger", "lion", "leopard"]).name("tiger")
    'tiger#2'
    """
    matches = find_labels(taxonomy, values, choices)
    together = choose_together(taxonomy, matches, header)
    choices_made = {}
    # `single` among `married` and `divorced` is no noun either, though WordNet has one.
    other_words = sum(match.how in ("nominalized", "stem") for match in matches.values())
    adjectives = ADJECTIVES * other_words >= len(matches) > 1
    for label, match in matches.items():
        if len(match.concepts) <= 1:
            choices_made[label] = _only(match)
            continue
        best = together[label]
        near = ", ".join(sense_name(taxonomy, match.term, match.concepts[at]) for at in best.near)
        reason = f"fits the other values best, hardly better than {near}" if near else "fits the other values best"
        if adjectives and match.how == "exact":
            reason = "unsure: many of the other values are no nouns"
        flagged = bool(near) or adjectives
        choices_made[label] = Choice(match, match.concepts[best.chosen], reason, flagged, best.chances)
    return Senses(taxonomy, choices_made)


def _hypernyms(taxonomy: Taxonomy) -> Above:
    """Every concept's hypernyms, itself included, looked up once each."""
    return cache(lambda concept: frozenset(taxonomy.ancestors_of(concept)))


def find_labels(
    taxonomy: Taxonomy, labels: Iterable[str], choices: SenseChoices | None, *, longest: int | None = None
) -> dict[str, Match]:
    """What each label may mean, with the user's choices first.

    `longest` says that the labels are answers as people typed them: longer ones are texts and not terms, one that only
    looks like a sense (`we are #1`) is unknown and no mistake, and nothing is suggested.
    """
    choices = choices or SenseChoices()
    choices.check(taxonomy)
    folded = {fold(label): name for label, name in choices.senses.items()}
    matches: dict[str, Match] = {}
    for label in dict.fromkeys(labels):
        name = choices.of(label) or folded.get(fold(label), "")
        if name:
            concepts = named_concepts(taxonomy, name, f"The sense chosen for {label!r}")
            # A sense chosen for an adjective does not make the label a noun.
            other = () if taxonomy.knows(label) else taxonomy.other_parts_of_speech(label)
            matches[label] = Match(label, "chosen", name, concepts, other[0] if other else "")
        elif longest is not None and len(label) > longest and label not in choices.synonyms:
            matches[label] = Match(label, "unknown")
        else:
            try:
                matches[label] = find_label(taxonomy, label, choices.synonyms, suggest=longest is None)
            except OntologyError:
                if longest is None:
                    raise
                matches[label] = Match(label, "unknown")
    return matches


def _only(match: Match) -> Choice:
    if not match.known:
        return Choice(match, -1, HOW["unknown"], flagged=True)
    reason = HOW[match.how] if match.how in ("chosen", "suppressed") else "the only sense"
    return Choice(match, match.concepts[0], reason, flagged=match.how == "head noun")


def _leaf_choice(match: Match, targets: list[set[int]], above: Above) -> Choice:
    if len(match.concepts) <= 1:
        return _only(match)
    contained = [sum(1 for target in targets if target & above(sense)) for sense in match.concepts]
    best = contained.index(max(contained))  # the first of equals: the most frequent
    if contained[best] == 0:
        return Choice(match, match.concepts[0], "the most frequent sense; no sense lies under its ancestors", True)
    return Choice(match, match.concepts[best], f"lies under {contained[best]} of its ancestors")


def _ancestor_choice(match: Match, leaves: list[int], above: Above) -> Choice:
    if len(match.concepts) <= 1:
        return _only(match)
    over = [sum(1 for leaf in leaves if sense in above(leaf)) for sense in match.concepts]
    best = over.index(max(over))
    if over[best] > 0:
        return Choice(match, match.concepts[best], "a hypernym of its leaves")
    if match.how == "nominalized" and leaves:
        # The derived nouns of an adjective have no order of frequency: take the one that shares most with the leaves.
        shares = [sum(len(above(sense) & above(leaf)) for leaf in leaves) for sense in match.concepts]
        nearest = match.concepts[shares.index(max(shares))]
        return Choice(match, nearest, "the derived noun nearest to its leaves; not a hypernym of them", True)
    return Choice(match, match.concepts[0], "the most frequent sense; no sense is a hypernym of its leaves", True)
