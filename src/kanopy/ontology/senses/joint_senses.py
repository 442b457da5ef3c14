"""The senses of a column, chosen together: the shortest description of all its values.

A column is about a few things. Each value costs the bits of its sense (a rare sense costs more) and the bits that say
which concept it is among all concepts under its topic; each topic costs bits of its own. Topics are added, swapped and
removed while the whole gets shorter (minimum description length; Li and Abe, Computational Linguistics 24(2), 1998, cut
a thesaurus by the same principle). So `crab` among foods is a dish, among animals an animal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy.ontology.senses.labels import Match, find_label, root_of
from kanopy.ontology.similarity.subsumers import remember_per_owner
from kanopy.ontology.taxonomy import Taxonomy, fold
from kanopy.ontology.terms import says_nothing

NAME_BITS = 6.0
"""A proper name costs so many bits more where the value is written in lower case: `teller` is not Edward Teller."""
HEAD_BITS = 3.0
"""So does a value of which only the head noun is known."""
OFF_TOPIC_BITS = 6.0
"""And a sense that does not lie under what the column's own name says, if half of the values could."""
LITTLE_WIDER = 2.0
"""… nor under anything that has at most so many times its concepts: a bus is no `vehicle` but a `conveyance`."""
TOPIC_BITS = 4.0
"""A topic costs so many bits beside those that say which concept it is."""
MOST_VALUES = 1000
"""The topics of a longer column are found from so many of its values, evenly taken."""
NEVER_BITS = 2.5
"""A sense that texts never use costs more, if they use the word: a `cat` among cars is still a cat."""
OFTEN = 5
SELDOM = 1
"""Found so often in texts, or less, says nothing of which sense is meant."""
UNHEARD = 0.1
"""A concept that texts never speak of counts so much among those a value may mean."""
ROUNDS = 3
"""Shares of topics and places of the other values are counted anew so often."""
NEIGHBOURS = 0.7
"""How much the places of the other values count beside the topics."""
POSSIBLE_BITS, SOFT = 6.0, 0.5
"""A sense that costs so many bits more is not meant at all; each bit halves the chance of a sense, softened."""
UNSURE_BITS = 1.8
"""A sense is unsure if another one costs hardly more."""


@dataclass(frozen=True)
class Together:
    """Per value the position of the chosen sense among its senses, those that come about as cheap, and chances of all.

    The chances are by the values alone: the column's name may tell which sense is meant, but walks that start from one
    sense only, because the name makes it sure, find less of what the values share.
    """

    chosen: int
    near: tuple[int, ...]
    chances: tuple[float, ...]


def choose_together(taxonomy: Taxonomy, matches: Mapping[str, Match], header: str = "") -> dict[str, Together]:
    """The senses of all known values; `header` is the column's name.

    >>> from kanopy.ontology.load import load_ontology
    >>> w = load_ontology("wordnet")
    >>> matches = {word: find_label(w, word) for word in ("crab", "tuna", "beef", "butter", "turkey")}
    >>> found = choose_together(w, matches)
    >>> [w.label(w.parents_of(matches[word].concepts[found[word].chosen])[0]) for word in ("turkey", "crab")]
    ['poultry', 'shellfish']
    """
    labels = [label for label, match in matches.items() if match.known and match.how != "suppressed"]
    if not labels:
        return {}
    senses = [matches[label].concepts for label in labels]
    owner = np.repeat(np.arange(len(labels), dtype=np.int64), [len(concepts) for concepts in senses])
    concept = np.array([c for concepts in senses for c in concepts], np.int64)
    bits = np.concatenate([_sense_bits(taxonomy, matches[label]) for label in labels])
    entry, topic = _strictly_above(taxonomy, concept)
    size = _usual_concepts_below(taxonomy)
    some = np.flatnonzero(np.isin(owner[entry], np.linspace(0, len(labels) - 1, MOST_VALUES).astype(np.int64)))
    price = np.full(taxonomy.size, np.log2(taxonomy.size) + TOPIC_BITS)

    def weighed(bits: Floats) -> Floats:
        """What each sense costs among the others, if `bits` is what it costs alone."""
        cost = bits[entry] + np.log2(size[topic])
        topics = _topics(
            owner[entry][some], concept[entry][some], topic[some], cost[some], price, len(labels), root_of(taxonomy)
        )
        usable = np.isin(topic, list(topics))
        least = np.full(len(concept), np.inf)
        np.minimum.at(least, entry[usable], cost[usable] + np.array([topics[one] for one in topic[usable].tolist()]))
        least[~np.isfinite(least)] = bits[~np.isfinite(least)] + np.log2(taxonomy.size)  # a root has nothing above it
        return _beside_others(least, bits, owner, entry, topic, size)

    by_values = least = weighed(bits)
    on_topic = np.zeros(len(concept), bool)
    on_topic[entry[np.isin(topic, _theme(taxonomy, header, owner[entry], topic, size, len(labels)))]] = True
    if on_topic.any():
        least = weighed(bits + OFF_TOPIC_BITS * ~on_topic)
    first = np.searchsorted(owner, np.arange(len(labels)))
    together = {}
    for value, label in enumerate(labels):
        span = slice(first[value], first[value] + len(senses[value]))
        costs, more = least[span], by_values[span] - by_values[span].min()
        best = int(np.argmin(costs))
        best = _by_first_name(
            taxonomy, matches[label], best, np.flatnonzero(costs < costs[best] + UNSURE_BITS).tolist()
        )
        near = tuple(at for at in np.flatnonzero(costs < costs[best] + UNSURE_BITS).tolist() if at != best)
        chances = np.where(more <= POSSIBLE_BITS, 2.0 ** (-SOFT * more), 0.0)
        together[label] = Together(best, near, tuple((chances / chances.sum()).tolist()))
    return together


def _by_first_name(taxonomy: Taxonomy, match: Match, best: int, near: list[int]) -> int:
    """Of senses that are as likely and hardly found in texts, the one whose first name the word is.

    `dolphin` is the second name of a fish, the `dolphinfish`, and the first of a whale.
    """
    word = fold(match.term.partition("#")[0])
    tagged = dict(zip(taxonomy.senses(word), taxonomy.tagged(word), strict=True))
    if any(tagged.get(match.concepts[at], 0) > SELDOM for at in near):
        return best
    first = [at for at in near if fold(taxonomy.terms_of(match.concepts[at])[0]) == word]
    return best if best in first or not first else first[0]


def _beside_others(cost: Floats, bits: Floats, owner: Longs, entry: Longs, above: Longs, size: Floats) -> Floats:
    """Costs that also count how many of the other values, as they are read now, lie near a sense.

    A topic is coarse: within it a sense is likely if many others are under the same small concepts. `owner` says whose
    a sense is, `entry` and `above` are pairs of a sense and a concept above it.
    """
    values = int(owner[-1]) + 1
    first = np.searchsorted(owner, np.arange(values))
    pair = owner[entry] * len(size) + above
    updated = cost
    for _ in range(ROUNDS):
        best = np.flatnonzero(updated <= np.minimum.reduceat(updated, first)[owner])
        taken = np.zeros(len(cost), bool)
        taken[best[np.unique(owner[best], return_index=True)[1]]] = True
        chosen_senses = taken[entry]
        others = np.bincount(above[chosen_senses], minlength=len(size))[above] - np.isin(pair, pair[chosen_senses])
        crowd = np.bincount(entry, weights=others / size[above], minlength=len(cost))
        updated = NEIGHBOURS * (bits - np.log2(crowd / values + 1.0 / size.max())) + (1 - NEIGHBOURS) * cost
    return updated


def _sense_bits(taxonomy: Taxonomy, match: Match) -> Floats:
    """How unusual each sense of a value is, in bits."""
    word = fold(match.term.partition("#")[0])
    tagged = dict(zip(taxonomy.senses(word), taxonomy.tagged(word), strict=True))
    rank = np.arange(1, len(match.concepts) + 1)
    seen = np.array([tagged.get(concept, 0) for concept in match.concepts])
    counts = seen + 0.5 / rank**0.5
    bits = -np.log2(counts / counts.sum()) + NEVER_BITS * ((seen == 0) & (seen.max() >= OFTEN))
    if not match.label[:1].isupper():
        for at, concept in enumerate(match.concepts):
            written = [term for term in taxonomy.terms_of(concept) if fold(term) == word]
            if written and all(term[:1].isupper() for term in written):
                bits[at] += NAME_BITS
    return np.asarray(bits + (HEAD_BITS if match.how == "head noun" else 0.0))


def _strictly_above(taxonomy: Taxonomy, concepts: Longs) -> tuple[Longs, Longs]:
    """Pairs of a position in `concepts` and a concept above it. A concept is no topic of its own: synonyms are none."""
    start = taxonomy.ancestor_start[concepts].astype(np.int64)
    count = taxonomy.ancestor_start[concepts + 1] - start
    entry = np.repeat(np.arange(len(concepts)), count)
    above = taxonomy.ancestors[np.arange(len(entry)) - np.repeat(np.cumsum(count) - count - start, count)]
    other = above != concepts[entry]
    return entry[other], above[other].astype(np.int64)


@remember_per_owner
def _usual_concepts_below(taxonomy: Taxonomy) -> Floats:
    """How many concepts a value under each one might mean; those that texts never speak of count less."""
    frequencies = (
        np.ones(taxonomy.size) if not taxonomy.has_tag_counts else np.where(taxonomy.tag_counts > 0, 1.0, UNHEARD)
    )
    counted = np.repeat(frequencies, np.diff(taxonomy.ancestor_start))
    return np.asarray(np.maximum(1.0, np.bincount(taxonomy.ancestors, weights=counted, minlength=taxonomy.size)))


def _theme(taxonomy: Taxonomy, header: str, value: Longs, above: Longs, size: Floats, values: int) -> list[int]:
    """What the column's name says, if half of the values could mean it: a concept, and those hardly wider than it.

    Of several senses of the name the values choose: `dishes` of soups are food and no crockery. `value` and `above`
    are pairs of a value and a concept above one of its senses.
    """
    words = header.replace("_", " ").strip()
    match = find_label(taxonomy, words, suggest=False) if words else None
    meant = match.concepts if match is not None and match.how in ("exact", "morphology") else ()
    telling = [one for one in meant if not says_nothing(taxonomy, one)]  # a column `object` may hold colours
    most, theme = max(((len(np.unique(value[above == one])), one) for one in telling), default=(0, -1))
    if theme < 0 or 2 * most < values:
        return []
    return [one for one in taxonomy.ancestors_of(theme) if size[one] <= LITTLE_WIDER * size[theme]]


def _topics(
    value: Longs, concept: Longs, topic: Longs, cost: Floats, price: Floats, values: int, root: int
) -> dict[int, float]:
    """Topics, and what it costs to say that a value is about one of them: rare topics of a column cost more.

    Greedy: add the topic that saves most bits; in the end take away what no longer pays.
    """
    order = np.argsort(topic, kind="stable")
    value, concept, topic, cost = value[order], concept[order], topic[order], cost[order]
    groups = np.unique(topic)
    first, last = np.searchsorted(topic, groups), np.searchsorted(topic, groups, "right")
    spans = {int(group): slice(a, b) for group, a, b in zip(groups, first, last, strict=True)}
    group = np.searchsorted(groups, topic).astype(np.int64)

    def settle(topics: dict[int, float]) -> tuple[dict[int, float], Floats]:
        """The topics' bits by their shares of the values, and what every value costs then."""
        for _ in range(ROUNDS):
            least, owner = np.full(values, 64.0), np.full(values, -1)
            for one, bits in topics.items():
                costs_below = np.full(values, np.inf)
                np.minimum.at(costs_below, value[spans[one]], cost[spans[one]] + bits)
                owner[costs_below < least] = one
                least = np.minimum(least, costs_below)
            topics = {one: float(np.log2((values + 1) / ((owner == one).sum() + 0.5))) for one in topics}
        return topics, least

    chosen, now = settle(dict.fromkeys({root} & spans.keys(), 0.0))
    while True:
        helped = np.bincount(group, weights=_counted(np.maximum(0.0, now[value] - cost), group, value, concept) > 0)
        share = np.log2((values + 1) / (helped + 0.5))
        saved = _counted(np.maximum(0.0, now[value] - cost - share[group]), group, value, concept)
        gain: Floats = np.bincount(group, weights=saved) - price[groups]
        gain[np.isin(groups, list(chosen))] = -1.0
        winner = int(np.argmax(gain))
        if gain[winner] <= 1e-9:
            break
        trial, spent = settle({**chosen, int(groups[winner]): float(share[winner])})
        if spent.sum() + price[groups[winner]] >= now.sum():
            break
        chosen, now = trial, spent
    for one in sorted(chosen.keys() - {root}):  # what later topics made superfluous
        trial, spent = settle({other: bits for other, bits in chosen.items() if other != one})
        if spent.sum() - price[one] < now.sum():
            chosen, now = trial, spent
    return chosen


def _counted(saved: Floats, group: Longs, value: Longs, concept: Longs) -> Floats:
    """What counts for a topic: of several senses of a value the one that saves most, and of values that would mean the
    same one only, or `bread`, `lettuce` and `cabbage` would be slang for money.
    """
    order = np.lexsort((-saved, value, group))
    group, value, concept, savings = group[order], value[order], concept[order], saved[order]
    savings[1:][(group[1:] == group[:-1]) & (value[1:] == value[:-1])] = 0.0
    again = np.lexsort((-savings, concept, group))
    group, concept, other = group[again], concept[again], savings[again]
    other[1:][(group[1:] == group[:-1]) & (concept[1:] == concept[:-1])] = 0.0
    savings[again] = other
    out = np.empty_like(savings)
    out[order] = savings
    return out
