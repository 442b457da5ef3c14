"""What points at somebody is found in the forms that people write it in, and what denies in many words."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from kanopy import MaskJob, mask
from kanopy._table.guessing.personal_data import KINDS, answers_nothing, found_in
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.masking.polarity import stance
from kanopy.ontology.load import load_ontology
from tests.masking.survey_abroad import DENIED, FREQUENT, HARMLESS, NAMES, REACHED, survey_abroad

K = 5
DENYING = re.compile(
    r"\b(no|non|not|never|without|kein|sin|pas|free|don't|bad|cannot|nicht|hate|unhappy|painless|negative|lack|w/o|unemployed)\b|👎",
    re.IGNORECASE,
)


def is_word(word: str) -> bool:
    words = load_ontology("wordnet")
    return words.knows(word) or bool(words.other_parts_of_speech(word))


@pytest.mark.parametrize(("kind", "texts"), [("person", NAMES), *REACHED.items()])
def test_what_points_at_somebody_is_found(kind: str, texts: tuple[str, ...]) -> None:
    assert [(text, found_in(text, is_word)) for text in texts if found_in(text, is_word) != KINDS[kind]] == []


def test_what_everybody_may_write_is_not_taken_for_it() -> None:
    assert [(text, found) for text in HARMLESS if (found := found_in(text, is_word))] == []


def test_what_denies_is_told_from_what_does_not() -> None:
    assert [text for text in DENIED if not stance(text, is_word)] == []
    plain = (
        "back pain",
        "nurse",
        "good pay",
        "under the bridge",
        "university",
        "free parking",
        "uniform",
        "island",
        "👍",
    )
    assert [text for text in plain if stance(text, is_word)] == []
    assert stance("unmarried", is_word) == stance("unemployed", is_word) != stance("not employed", is_word)


def test_emoji_are_answers() -> None:
    assert not any(map(answers_nothing, ("👍", "👎", ":-)", ":(")))
    data = {"why": ["👍"] * 5 + ["👎"] * 4 + ["beach 👎"] * 4 + ["beach"] * 5}
    assert mask(data, MaskJob(text=["why"], k=5)).data["why"] == ["👍"] * 5 + ["*"] * 8 + ["beach"] * 5


@pytest.mark.parametrize("algorithm", list(MASKINGS))
@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 20), marks=pytest.mark.slow)])
def test_nobody_is_given_away(algorithm: str, seeds: range) -> None:
    joined = wrong = 0
    for seed in seeds:
        answers = survey_abroad(seed)
        given = Counter(answers.why)
        published = mask({"why": answers.why}, MaskJob(text=["why"], k=K, algorithm=algorithm, seed=seed)).data["why"]
        shown = set(published) - {None, "*"}
        assert [text for text in shown if 0 < given[text] < K] == []
        for row, (kind, before, after) in enumerate(zip(answers.planted, answers.why, published, strict=True)):
            assert before is not None
            assert kind not in ("name", "reached", "often") or before != after  # however many people wrote it
            if after in (None, "*") or kind == "nothing":
                continue
            if kind != "typo":
                assert bool(DENYING.search(before)) == bool(DENYING.search(after)), (before, after)
            elif row in answers.meant and given[answers.meant[row]] >= K and before not in FREQUENT:
                assert bool(DENYING.search(answers.meant[row])) == bool(DENYING.search(after)), (before, after)
        for row, meant in answers.meant.items():
            if given[meant] >= K and given[answers.why[row]] < K:
                joined += published[row] == meant
                wrong += published[row] != meant
    assert joined >= 0.9 * (joined + wrong)


def test_a_typo_of_a_denial_stays_one() -> None:
    data = {"why": ["smoker"] * 6 + ["non-smoker"] * 6 + ["nn-smoker", "smokker", "non-smokr"]}
    assert mask(data, MaskJob(text=["why"], k=5)).data["why"][12:] == ["non-smoker", "smoker", "non-smoker"]
    either = {"why": ["employed"] * 6 + ["unemployed"] * 6 + ["uemployed"] * 2}
    assert not set(mask(either, MaskJob(text=["why"], k=5)).data["why"][12:]) & {"employed", "unemployed"}


def test_what_somebody_tells_is_not_what_its_last_word_means() -> None:
    data = {"why": ["had an operation last year", "was ill that week", "I lost my job this month", *["beach"] * 5]}
    assert mask(data, MaskJob(text=["why"], k=3)).data["why"][:3] == ["*"] * 3


def test_denials_in_other_words_are_no_opposites_for_the_second_look() -> None:
    data = {"why": ["no parking"] * 5 + ["lack of parking", "parking-free", "w/o parking"] + ["beach"] * 5}
    published = mask(data, MaskJob(text=["why"], k=5)).data["why"]
    assert set(published[5:8]) <= {"no parking", "*"}
