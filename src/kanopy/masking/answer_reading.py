"""The answers of a column as they are meant: spellings and typos joined, no answers told apart, what points at people
found, and of every answer whether it affirms or denies and which one sense it has in this column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._table.guessing.personal_data import PERSON, PLACE, answers_nothing, folded, found_in
from kanopy.hierarchy.builders.semantic.everyday import find_vocabulary
from kanopy.masking.polarity import is_sentence, stance, without_denial
from kanopy.masking.typos import meant_answers
from kanopy.ontology.senses.joint_senses import choose_together
from kanopy.ontology.senses.labels import Match, find_label
from kanopy.ontology.senses.morphology import base_forms
from kanopy.ontology.senses.senses import SenseChoices, find_labels
from kanopy.ontology.taxonomy import Taxonomy

LONGEST_TERM = 120
"""A longer answer is a text, not a term: its last noun would not be what it is about."""
NO_ANSWER = "no answer"
SHORTEST_JOINED = 4
"""In shorter answers blanks and hyphens count: `a b` is not `ab`."""
PLURAL_ENDINGS = ("s", "men", "ren", "i", "ae")
_BETWEEN = re.compile(r"[\s\-_]+")
_VERBS = """
    stay stays stayed work works worked look looks looked go goes went take takes took make makes made get gets got do
    live lives lived help helps helped like likes want wants need needs care cares run runs ran keep keeps kept"""
VERBS = frozenset(_VERBS.split())
"""Words at the beginning of an answer that tell what somebody does."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Per value of a column how it was read.

    `kind` is empty for an answer like others, `NO_ANSWER`, or what was found in it. `means[v]` is the value whose
    spelling `v` is, itself if it is none. `matches` are the senses of the answers, one each.
    """

    name: str
    labels: tuple[str | None, ...]
    counts: Longs
    kind: tuple[str, ...]
    means: Ints
    stance: Ints
    matches: dict[str, Match]

    @property
    def found(self) -> dict[str, int]:
        """How many people wrote something that is never published as it is, per kind, the most frequent kind first."""
        seen: Counter[str] = Counter()
        for kind, count in zip(self.kind, self.counts.tolist(), strict=True):
            if kind and kind != NO_ANSWER:
                seen[kind] += count
        return dict(seen.most_common())

    @property
    def joined(self) -> int:
        """How many people wrote an answer in another way than most who gave it."""
        return int(self.counts[self.means != np.arange(len(self.means))].sum())

    def publishable(self, k: int) -> Mask:
        """The values that may be published as they are: answers that at least `k` people gave, however written."""
        plain = np.array([not kind or kind == NO_ANSWER for kind in self.kind], bool)
        people: Counter[str] = Counter()
        kinds = zip(self.labels, self.kind, strict=True)
        texts = ["" if label is None or kind else folded(label) for label, kind in kinds]
        for text, count in zip(texts, self.counts.tolist(), strict=True):
            people[text] += count
        together = np.array([people[text] for text in texts], np.int64)
        first = np.array(
            [self.counts[meant] >= count for meant, count in zip(self.means, self.counts, strict=True)], bool
        )
        spelled = (self.means == np.arange(len(self.means))) & first & np.array([bool(text) for text in texts], bool)
        return np.asarray(plain & ((self.counts >= k) | (spelled & (together >= k))), bool)


def read_answers(
    labels: Sequence[str | None],
    counts: Longs,
    k: int,
    taxonomy: Taxonomy,
    *,
    choices: SenseChoices | None = None,
    header: str = "",
    allow: Collection[str] = (),
) -> Reading:
    """Read the values of a column; `counts` are people per value, `header` is the column's name.

    `allow` are kinds of texts (in words) that count as answers like others.

    >>> from kanopy.ontology.load import load_ontology
    >>> words = ["beach", "baech", "Beach ", "no beach", "N/A", "ada@example.org", None]
    >>> found = read_answers(words, np.array([9, 1, 1, 1, 1, 1, 1]), 5, load_ontology("wordnet"))
    >>> found.means.tolist(), found.stance.tolist()[:4], found.kind[4:]
    ([0, 0, 0, 3, 4, 5, 6], [0, 0, 0, 1], ('no answer', 'an e-mail address', 'no answer'))
    """

    def is_word(word: str) -> bool:
        return taxonomy.knows(word) or bool(taxonomy.other_parts_of_speech(word))

    kind = ["" if label is None else found_in(label, is_word) for label in labels]
    kind = ["" if kind_name in allow else kind_name for kind_name in kind]
    for code, label in enumerate(labels):
        if label is None or answers_nothing(label):
            kind[code] = NO_ANSWER
    stances = np.array([0 if label is None else stance(label, is_word) for label in labels], np.int32)
    means = _joined(labels, counts, k, taxonomy, kind, stances, header)
    own_labels = [
        label for code, label in enumerate(labels) if label is not None and not kind[code] and means[code] == code
    ]
    denied = {label: bool(s & 1) for label, s in zip(labels, stances.tolist(), strict=True) if label is not None}
    matches = _senses(taxonomy, own_labels, denied, choices, header, is_word)
    for code, label in enumerate(labels):
        match = matches.get(label) if label is not None else None
        if match is not None and match.known and (named := names_one(taxonomy, match.concepts[0])) not in ("", *allow):
            kind[code] = named
    return Reading(header, tuple(labels), np.asarray(counts, np.int64), tuple(kind), means, stances, matches)


def _is_named(label: str, match: Match, is_word: Callable[[str], bool]) -> bool:
    """Whether a phrase known by its last word only is rather a name: all in capitals, and no words before it."""
    words = label.split()
    capitals = len(words) > 1 and all(word[:1].isupper() for word in words)
    return match.how == "head noun" and capitals and not any(is_word(word.lower()) for word in words[:-1])


def _by_its_head(taxonomy: Taxonomy, label: str, match: Match) -> Match:
    """What a phrase of several words means by its head noun: no verb at its beginning is one (`stay at home mom`)."""
    words = re.findall(r"[^\W\d_]+", label.casefold())
    if match.how != "head noun" or len(words) < 2:
        return match
    first = str(match.term).casefold() == words[0] or words[0] in base_forms(taxonomy, words[0])
    if not (first and (words[0] in VERBS or words[0].endswith("ing"))):
        return match
    last = find_label(taxonomy, words[-1], suggest=False)
    person = taxonomy.senses("person")[:1]
    if last.how == "exact" and person and taxonomy.is_a(last.concepts[0], person[0]):
        return replace(last, label=label, how="head noun")
    return Match(label, "unknown")


def _senses(
    taxonomy: Taxonomy,
    labels: Sequence[str],
    denied: dict[str, bool],
    choices: SenseChoices | None,
    header: str,
    is_word: Callable[[str], bool],
) -> dict[str, Match]:
    """The one sense of every answer, chosen for the whole column; of an answer that denies, of what it denies."""
    asked = {label: (without_denial(label) if denied[label] else label) or label for label in labels}
    looked_up = find_labels(taxonomy, asked.values(), choices, longest=LONGEST_TERM)
    chosen = {label: choices.of(label) for label in labels} if choices is not None else {}
    direct = find_labels(taxonomy, [label for label, name in chosen.items() if name], choices, longest=LONGEST_TERM)
    matches = {label: direct.get(label, looked_up[asked[label]]) for label in labels}
    matches |= {label: _by_its_head(taxonomy, label, matches[label]) for label in labels}
    matches |= {
        label: Match(label, "unknown")
        for label in labels
        if _is_named(label, matches[label], is_word) or (matches[label].how == "head noun" and is_sentence(label))
    }
    together = choose_together(taxonomy, {label: replace(m, label=label) for label, m in matches.items()}, header)
    return {
        label: replace(match, concepts=(match.concepts[together[label].chosen],)) if label in together else match
        for label, match in matches.items()
    }


def _joined(
    labels: Sequence[str | None],
    counts: Longs,
    k: int,
    taxonomy: Taxonomy,
    kind: Sequence[str],
    stances: Ints,
    header: str = "",
) -> Ints:
    """Per value the value of the column, given by more people and at least two, that it is another spelling of."""
    plain = [None if label is None or kind[code] else folded(label) for code, label in enumerate(labels)]
    people: Counter[str] = Counter()
    for code, text in enumerate(plain):
        people[text or ""] += int(counts[code])
    short = _abbreviations([text for text in plain if text], header)
    frequent: dict[str, int] = {}
    for code in sorted(range(len(labels)), key=lambda code: (-int(counts[code]), code)):
        text = plain[code]
        if text is not None and people[text] >= min(k, 2):
            frequent.setdefault(text, code)
    rare = {text for code, text in enumerate(plain) if text is not None and counts[code] < k}
    near = meant_answers(sorted(rare), {text: int(counts[code]) for text, code in frequent.items()})
    means = np.arange(len(labels), dtype=np.int32)
    same_words: dict[str, int] = {}
    for text, code in frequent.items():
        same_words.setdefault(_words_alone(taxonomy, text), code)
    for code, text in enumerate(plain):
        if text is None:
            continue
        spelled = frequent.get(short.get(text, ""), frequent.get(text, code))
        if spelled != code:  # another way to write the same answer, however many write it so
            means[code] = spelled
            continue
        if counts[code] >= k:
            continue
        same = same_words.get(_words_alone(taxonomy, text), code)
        if same != code and counts[same] >= counts[code] and stances[same] == stances[code]:
            means[code] = same
            continue
        meant = [
            other
            for other in near.get(text, ())
            if counts[frequent[other]] > counts[code]
            and _same_stance(text, int(stances[code]), other, int(stances[frequent[other]]))
            and _is_typo(taxonomy, text, other)
        ]
        if len({int(stances[frequent[other]]) for other in meant}) == 1:  # else nobody can tell: employed, unemployed
            means[code] = frequent[meant[0]]
    while (means != means[means]).any():  # a typo of a typo
        means = means[means]
    return means


def _words_alone(taxonomy: Taxonomy, text: str) -> str:
    """A text without blanks and hyphens and with its last word in the singular: `part-time jobs` is `parttimejob`.

    A plural that is a word of its own (`arms`, `glasses`) stays.
    """
    words = _BETWEEN.split(text)
    last = words[-1]
    if last.endswith(PLURAL_ENDINGS) and not taxonomy.knows(last):
        words[-1] = next(iter(base_forms(taxonomy, last)), last)
    return "".join(words) if len(text) >= SHORTEST_JOINED else text


def _abbreviations(texts: Sequence[str], header: str) -> dict[str, str]:
    """Letters that stand for an answer of the column (`m` for `male`), where a vocabulary says so."""
    letters = [text for text in texts if len(text) == 1]
    vocabulary = find_vocabulary(texts, header) if letters else None
    expansions = {}
    for letter in letters if vocabulary is not None else ():
        group = vocabulary.find(letter) if vocabulary is not None else -1
        whole = [text for text in texts if len(text) > 1 and vocabulary is not None and vocabulary.find(text) == group]
        named = [text for text in whole if vocabulary is not None and text == folded(vocabulary.labels[group])]
        if group >= 0 and named:
            expansions[letter] = named[0]
    return expansions


def _same_stance(text: str, own_stance: int, other: str, theirs: int) -> bool:
    """Whether a typo of another text may stand as that one does: the word that denies may be the one misspelled."""
    return own_stance == theirs or (own_stance == 0 and len(text.split()) == len(other.split()))


def _is_typo(taxonomy: Taxonomy, text: str, other: str) -> bool:
    """Whether the words of a text that the other one lacks are no words that people use."""
    other_words = set(other.split())
    return not any(_is_used(taxonomy, word) for word in text.split() if word not in other_words)


def _is_used(taxonomy: Taxonomy, word: str) -> bool:
    """Whether a word is one of the language that is met in texts: ontologies know many that hardly anybody writes."""
    if taxonomy.other_parts_of_speech(word):
        return True
    forms = (word,) if taxonomy.knows(word) else base_forms(taxonomy, word)
    return any(sum(taxonomy.tagged(form)) > 0 or not taxonomy.has_tag_counts for form in forms)


def names_one(taxonomy: Taxonomy, concept: int) -> str:
    """What a concept that is always written with a capital is the name of: a person, a place, or nothing of these."""
    if not all(term[:1].isupper() for term in taxonomy.terms_of(concept)):
        return ""
    for says, words in ((PERSON, ("person",)), (PLACE, ("location", "geological formation", "body of water"))):
        for word in words:
            for broad in find_label(taxonomy, word, suggest=False).concepts[:1]:
                if broad != concept and taxonomy.is_a(concept, broad):
                    return says
    return ""
