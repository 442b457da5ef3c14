"""What may stand in the place of an answer: one that `k` people gave, a broader term, or a token that says nothing.

The thesis of Martínez (2010) lets any answer replace another, so that one person's words are published k times. Here
rare answers go, before anything else, to the most similar frequent answer or to a term of the ontology that is true of
at least `k` people, whichever keeps more of the meaning; what has neither becomes the neutral token.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints, Longs, Mask
from kanopy._table.guessing.personal_data import DATE, KINDS, NUMBER, PERSON, PLACE, folded
from kanopy.masking.answer_reading import NO_ANSWER, Reading, names_one
from kanopy.masking.exclusion import excluded, living_kinds
from kanopy.masking.meanings import Vectors
from kanopy.masking.table import Attribute
from kanopy.ontology.senses.labels import find_label
from kanopy.ontology.similarity.measures import Measure
from kanopy.ontology.similarity.pairwise import similarity_matrix
from kanopy.ontology.taxonomy import Taxonomy
from kanopy.ontology.terms import common_term, is_general

TARGETS = {
    "frequent": "only answers that at least k people gave, broader terms, or *",
    "any": "any answer of the table, as in the thesis: one person's words may be published k times",
}
NEUTRAL = SUPPRESSED_LABEL
MISSING = -2
KIND_TERMS = {
    PERSON: "person",
    PLACE: "location",
    DATE: "date",
    NUMBER: "number",
    KINDS["address"]: "address",
    KINDS["email"]: "address",
    KINDS["phone"]: "address",
}
"""What a text that is never published as it is may be called, where at least `k` people wrote one."""
OF_EVERYBODY = frozenset({"person", "adult", "worker"})
"""Terms that are true of nearly whoever answers: they tell nothing of an answer."""
FARTHEST = 0.75
"""A frequent answer that is less similar than this is another answer: a broader term is true at least."""
LAST_RESORT = 0.65
"""Where there is no such term either, a frequent answer that is so similar is better than nothing; no other is."""

MOST_SHARED = 1_000
"""What two answers share must have at most so many concepts below it: that both are conditions says nothing."""
MOST_COMPARED = 10
"""So many of the most similar frequent answers are looked at."""


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """What replaces the values of one column.

    `target[v]` is a value, or, from `len(target)` on, a text: first the terms, whose concepts are `concepts`, then the
    neutral token; `MISSING` is the missing value of a column that has none.
    """

    target: Ints
    terms: tuple[str, ...]
    concepts: tuple[int, ...]


def plan_answers(
    reading: Reading,
    k: int,
    taxonomy: Taxonomy,
    measure: Measure,
    vectors: Vectors | None = None,
    terms: bool = True,
    settled: Mask | None = None,
) -> ColumnPlan:
    """What replaces the answers of a textual column.

    `vectors` compares answers that the ontology lacks; without `terms` no broader ones are published. What becomes of
    the `settled` answers is decided elsewhere.

    >>> from kanopy.masking.answer_reading import read_answers
    >>> from kanopy.ontology.load import load_ontology
    >>> from kanopy.ontology.similarity.measures import MEASURES
    >>> w = load_ontology("wordnet")
    >>> read = read_answers(["beach", "heron", "egret", "stork", "xyzzy"], np.array([5, 2, 2, 1, 1]), 5, w)
    >>> plan = plan_answers(read, 5, w, MEASURES["wu-palmer"])
    >>> plan.target.tolist(), plan.terms
    ([0, 5, 5, 5, 6], ('wading bird',))
    """
    values = len(reading.labels)
    stays = reading.publishable(k)
    target = np.full(values, -1, np.int64)
    target[stays] = np.flatnonzero(stays)
    spelled = reading.means.astype(np.int64)
    target[stays[spelled]] = spelled[stays[spelled]]  # how most write it
    _no_answers(reading, stays, target, k)
    reading = _with_kinds(reading, taxonomy) if terms else reading
    if settled is not None:
        target[settled & (target < 0)] = np.flatnonzero(settled & (target < 0))
    open_ = [
        code
        for code in np.flatnonzero(target < 0).tolist()
        if reading.kind[code] != NO_ANSWER and _concept(reading, code) >= 0
    ]
    frequent = [
        code
        for code in np.flatnonzero(stays).tolist()
        if reading.kind[code] != NO_ANSWER and _concept(reading, code) >= 0 and not _says_more(reading, code)
    ]
    words: list[str] = []
    concepts: list[int] = []
    if open_:
        chosen, labels = _nearest(reading, open_, frequent, k, taxonomy, measure, terms)
        for code, (at, concept) in zip(open_, chosen, strict=True):
            if at >= 0:
                target[code] = at
            elif concept >= 0:
                if concept not in concepts:
                    words.append(labels[concept])
                    concepts.append(concept)
                target[code] = values + concepts.index(concept)
    if vectors is not None:
        _by_vectors(reading, target, np.flatnonzero(stays), vectors)
    if left := [code for code in open_ if target[code] == -1]:
        chosen, _ = _nearest(reading, left, frequent, k, taxonomy, measure, terms=False, farthest=LAST_RESORT)
        for code, (at, _) in zip(left, chosen, strict=True):
            target[code] = at
    target[target == -1] = values + len(words)
    return ColumnPlan(target.astype(np.int32), tuple(words), tuple(concepts))


def _by_vectors(reading: Reading, target: Longs, frequent: Longs, vectors: Vectors) -> None:
    """Compare what is still open, and nothing that points at somebody, with the frequent answers by vectors."""
    still = [code for code in np.flatnonzero(target == -1).tolist() if not reading.kind[code]]
    others = [code for code in frequent.tolist() if not reading.kind[code]]
    if not still or not others:
        return
    vectors_of_labels = vectors([reading.labels[code] or "" for code in (*still, *others)])
    near = vectors_of_labels[: len(still)] @ vectors_of_labels[len(still) :].T
    near[reading.stance[still][:, None] != reading.stance[others][None, :]] = 0.0
    texts = [[reading.labels[code] or "" for code in codes] for codes in (still, others)]
    near[excluded(*texts)] = 0.0
    for at, code in enumerate(still):
        if near[at].max() >= FARTHEST:
            target[code] = others[int(np.argmax(near[at]))]


def _with_kinds(reading: Reading, taxonomy: Taxonomy) -> Reading:
    """The reading with a meaning for what points at somebody: a name is one of a person, whoever that is."""
    term_matches = {kind: find_label(taxonomy, word, suggest=False) for kind, word in KIND_TERMS.items()}
    matches_of_kinds = {
        label: replace(match, label=label, concepts=match.concepts[:1])
        for label, kind in zip(reading.labels, reading.kind, strict=True)
        if label is not None
        and label not in reading.matches
        and (match := term_matches.get(kind))
        and match.how == "exact"
    }
    return replace(reading, matches={**matches_of_kinds, **reading.matches})


def _concept(reading: Reading, code: int) -> int:
    match = reading.matches.get(reading.labels[int(reading.means[code])] or "")
    return match.concepts[0] if match is not None and match.known else -1


def _says_more(reading: Reading, code: int) -> bool:
    """Whether an answer says more than was understood: demography is a science, but no management science."""
    match = reading.matches.get(reading.labels[int(reading.means[code])] or "")
    return match is not None and match.how == "head noun"


def _no_answers(reading: Reading, stays: Mask, target: Longs, k: int) -> None:
    """No answers join the missing value, or the most frequent way to say so; enough of them together are missing."""
    none = np.array([kind == NO_ANSWER for kind in reading.kind], bool)
    no_answers = np.flatnonzero(none & stays)
    missing = next((code for code, label in enumerate(reading.labels) if label is None), -1)
    if missing >= 0 and stays[missing]:
        target[none & ~stays] = missing
    elif len(no_answers):
        target[none & ~stays] = no_answers[np.argmax(reading.counts[no_answers])]
    elif none.any() and int(reading.counts[none].sum()) >= k:
        target[none] = missing if missing >= 0 else MISSING


def _nearest(
    reading: Reading,
    rare: list[int],
    frequent: list[int],
    k: int,
    taxonomy: Taxonomy,
    measure: Measure,
    terms: bool,
    farthest: float = FARTHEST,
) -> tuple[list[tuple[int, int]], dict[int, str]]:
    """Per rare answer the frequent answer (or -1) and otherwise the broader concept (or -1) that keeps most meaning."""
    people = reading.counts[rare].astype(np.float64)
    own_concepts = np.array([_concept(reading, code) for code in rare], np.int64)
    stance = reading.stance[rare]
    kinds = np.array([reading.kind[code] in KIND_TERMS and reading.kind[code] != PLACE for code in rare], bool)
    value, concept, labels = _broader(reading, rare, own_concepts, (stance == 0) & terms, taxonomy)
    fits = ~kinds[value] | (own_concepts[value] == concept)  # a name is a person's; that it is some matter says nothing
    value, concept = value[fits], concept[fits]
    above = np.asarray(measure(taxonomy, own_concepts[value], concept), np.float64) if len(value) else np.zeros(0)
    beside = np.zeros((len(rare), 0))
    if frequent:
        theirs = np.array([_concept(reading, code) for code in frequent], np.int64)
        beside = similarity_matrix(taxonomy, own_concepts, theirs, measure)
    best = measure.maximum(taxonomy)
    worst = 0.0 if best > 0 else min(above.min(initial=0.0), beside.min(initial=0.0))
    above, beside = (
        np.clip((similarity - worst) / ((best - worst) or 1.0), 0.0, 1.0) for similarity in (above, beside)
    )
    answer, near = np.full(len(rare), -1, np.int64), np.zeros(len(rare))
    if frequent:
        beside[stance[:, None] != reading.stance[frequent][None, :]] = 0.0
        beside[living_kinds(taxonomy, own_concepts)[:, None] != living_kinds(taxonomy, theirs)[None, :]] = 0.0
        texts = [[reading.labels[code] or "" for code in codes] for codes in (rare, frequent)]
        beside[excluded(*texts)] = 0.0  # what is near in meaning may be the opposite
        beside[kinds] = 0.0  # nobody's name becomes an answer
        beside[beside < farthest] = 0.0
        top = _first_akin(taxonomy, own_concepts, theirs, beside)
        near = np.where(top >= 0, beside[np.arange(len(rare)), top], 0.0)
        answer = np.where(near > 0, np.array(frequent, np.int64)[top], -1)
    term = _shared_terms(value, concept, above, near, people, k)
    return [(-1, int(c)) if c >= 0 else (int(a), -1) for a, c in zip(answer, term, strict=True)], labels


def _first_akin(taxonomy: Taxonomy, longs: Longs, theirs: Longs, beside: Floats) -> Longs:
    """Per rare answer the most similar frequent one that shares a concept with it that says something; -1 for none.

    Two conditions of the mind are deep in WordNet and so similar, but `climate` is no `curiosity`.
    """
    below = np.bincount(taxonomy.ancestors, minlength=taxonomy.size)
    above = {concept: set(taxonomy.ancestors_of(concept)) for concept in {*longs.tolist(), *theirs.tolist()}}
    top = np.full(len(longs), -1, np.int64)
    for at in np.flatnonzero(beside.max(axis=1) > 0).tolist():
        for to in np.argsort(-beside[at], kind="stable")[:MOST_COMPARED].tolist():
            shared = above[int(longs[at])] & above[int(theirs[to])]
            if beside[at, to] > 0 and shared and min(below[one] for one in shared) <= MOST_SHARED:
                top[at] = to
                break
    return top


def _broader(
    reading: Reading, rare: list[int], own_concepts: Longs, plain: Mask, taxonomy: Taxonomy
) -> tuple[Longs, Longs, dict[int, str]]:
    """Pairs of a rare answer that is plain and a concept that is true of it; and what these concepts are called.

    A term that few people wrote themselves is none: it would look like their answer. Nor is one that is true of nearly
    anything ("object"): the neutral token says as much.
    """
    taken = {small for label in reading.labels if label is not None for small in (folded(label), label.casefold())}
    names: dict[int, str] = {}
    left, right = [], []
    for at, concept in enumerate(own_concepts.tolist()):
        if not plain[at]:
            continue  # what is denied of something is not denied of all that is broader
        for above in taxonomy.ancestors_of(concept):
            if above not in names:
                empty = above == taxonomy.virtual_root or is_general(taxonomy, above) or names_one(taxonomy, above)
                names[above] = "" if empty else common_term(taxonomy, above, taken)
                if names[above] in OF_EVERYBODY and reading.kind[rare[at]] not in KIND_TERMS:
                    names[above] = ""
                taken.add(names[above].casefold())  # no two concepts by one name
            if names[above]:
                left.append(at)
                right.append(above)
    return np.array(left, np.int64), np.array(right, np.int64), names


def _shared_terms(value: Longs, concept: Longs, similar: Floats, near: Floats, people: Floats, k: int) -> Longs:
    """Per rare answer the broader concept it is published as, or -1: each is true of at least `k` people.

    Greedy: the concept that gains most is taken first. Gains only fall, so a gain that still holds is the largest.
    """
    term = np.full(len(near), -1, np.int64)
    if not len(value):
        return term
    order = np.argsort(concept, kind="stable")
    value, concept, similar = value[order], concept[order], similar[order]
    edges = np.flatnonzero(np.r_[True, concept[1:] != concept[:-1], True])
    parts = {int(concept[a]): slice(a, b) for a, b in itertools.pairwise(edges)}
    forbidden: set[int] = set()
    while True:
        now, term = near.copy(), np.full(len(near), -1, np.int64)

        def gain(span: slice, now: Floats = now) -> float:
            more = np.maximum(0.0, similar[span] - now[value[span]])
            enough = people[value[span]][more > 1e-12].sum() >= k
            return float(more @ people[value[span]]) if enough else 0.0

        heap = [(-gain(span), candidate) for candidate, span in parts.items() if candidate not in forbidden]
        heapq.heapify(heap)
        while heap and heap[0][0] < -1e-9:
            _, candidate = heapq.heappop(heap)
            true = gain(parts[candidate])
            if heap and true < -heap[0][0] - 1e-12:
                if true > 1e-9:
                    heapq.heappush(heap, (-true, candidate))
                continue
            if true <= 1e-9:
                continue
            span = parts[candidate]
            won = value[span][similar[span] > now[value[span]] + 1e-12]
            now[won] = similar[span][similar[span] > now[value[span]] + 1e-12]
            term[won] = candidate
        chosen = np.unique(term[term >= 0])
        drained = [candidate for candidate in chosen.tolist() if people[term == candidate].sum() < k]
        if not drained:
            _widen(value, similar, parts, now, term, people, k)
            return term
        # Finer terms took its people away: without it they choose anew.
        forbidden.add(min(drained, key=lambda candidate: (float(people[term == candidate].sum()), candidate)))


def _widen(
    value: Longs, similar: Floats, parts: dict[int, slice], now: Floats, term: Longs, people: Floats, k: int
) -> None:
    """Take what has no term yet into a broader one together with others, as long as that keeps more meaning in all.

    Whole groups join, so that none is left with too few people; those who have a frequent answer may join alone.
    """
    while (left := np.flatnonzero(now == 0)).size:
        best = (1e-9, -1, np.zeros(0, np.int64))
        for concept in dict.fromkeys(
            candidate for candidate, span in parts.items() if np.isin(left, value[span]).any()
        ):
            span = parts[concept]
            inside = dict(zip(value[span].tolist(), similar[span].tolist(), strict=True))
            joining = [value_left for value_left in left.tolist() if value_left in inside]
            gain = float(sum(people[value_left] * inside[value_left] for value_left in joining))
            groups: dict[int, list[int]] = {}
            for value_inside in inside:
                if now[value_inside] > 0:
                    groups.setdefault(
                        int(term[value_inside]) if term[value_inside] >= 0 else -1 - value_inside, []
                    ).append(value_inside)
            lost = sorted(
                (sum(people[member] * (now[member] - inside[member]) for member in group), group)
                for label_number, group in groups.items()
                if label_number < 0 or len(group) == int((term == label_number).sum())
            )
            while lost and people[joining].sum() < k:
                less, group = lost.pop(0)
                gain -= less
                joining += group
            if people[joining].sum() >= k and gain > best[0]:
                best = (gain, concept, np.array(joining, np.int64))
        if best[1] < 0:
            return
        span = parts[best[1]]
        inside = dict(zip(value[span].tolist(), similar[span].tolist(), strict=True))
        term[best[2]] = best[1]
        now[best[2]] = [inside[member] for member in best[2].tolist()]


def plan_other(attribute: Attribute, counts: Longs, k: int) -> Ints:
    """What replaces the values of a numeric or categorical column: the most similar that `k` people have; -1 for none.

    >>> from kanopy.masking.table import number_attribute
    >>> plan_other(number_attribute("age", ["20", "21", "60"], np.array([20.0, 21.0, 60.0])), np.array([5, 1, 5]), 5)
    array([0, 0, 2], dtype=int32)
    """
    frequent = np.flatnonzero(counts >= k)
    target = np.full(len(counts), -1, np.int32)
    target[frequent] = frequent
    for code in np.flatnonzero(counts < k).tolist() if len(frequent) else ():
        near = attribute.row(code)[frequent]
        if near.max() > 0:
            target[code] = frequent[int(np.argmax(near))]
    return target


def rare_answers_shown(published: Ints, labels: Sequence[str | None], counts: Longs | Floats, k: int) -> int:
    """How many different published values fewer than `k` people had."""
    published_codes = np.unique(published)
    return int(sum(1 for code in published_codes.tolist() if labels[code] is not None and 0 < counts[code] < k))
