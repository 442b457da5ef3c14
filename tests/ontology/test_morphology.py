"""Base forms, stems and head nouns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.morphology import base_forms, head_nouns, same_stem, stem, words_with_prefix

WORDNET = load_ontology("wordnet")
WORDS = [word for word in WORDNET.vocabulary[::97] if word.isascii()]


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("wolves", "wolf"),  # noun.exc
        ("oxen", "ox"),  # noun.exc
        ("churches", "church"),
        ("boxes", "box"),
        ("ladies", "lady"),
        ("policemen", "policeman"),
        ("master's degrees", "master's degree"),
        ("attorneys-general", "attorney general"),
        ("boxesful", "boxful"),
    ],
)
def test_base_forms(word, base):
    assert base in base_forms(WORDNET, word)


def test_a_word_is_not_its_own_base_form_and_ss_is_no_plural():
    assert base_forms(WORDNET, "cat") == ()
    assert "glas" not in base_forms(WORDNET, "glass")


@pytest.mark.parametrize(
    # Worked examples of Porter 1980
    ("word", "expected"),
    [("caresses", "caress"), ("ponies", "poni"), ("relational", "relat"), ("hopping", "hop"), ("filing", "file")],
)
def test_porter(word, expected):
    assert stem(word) == expected


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(WORDS))
def test_the_short_stretch_of_the_vocabulary_misses_no_word_of_the_same_stem(word):
    """`same_stem` only looks where the stem without its last letter begins; a wider look must find nothing more."""
    wanted = stem(word)
    near = [other for other in words_with_prefix(WORDNET, word[:2]) if other != word and stem(other) == wanted]
    assert {other for other in near if other.count("-") + other.count(" ") == wanted.count(" ")} >= set(
        same_stem(WORDNET, word)
    )
    if len(word) >= 4 and any(map(str.isalpha, word)):
        assert {o for o in near if o.count("-") + o.count(" ") == wanted.count(" ")} == set(same_stem(WORDNET, word))


def test_head_nouns():
    assert head_nouns("rural tourism")[-1] == "tourism"
    assert head_nouns("tourism in rural areas")[0] == "tourism"
    assert head_nouns("Land, transport and labour")[0] == "labour"
    assert head_nouns("doctor (retired)")[0] == "doctor"
    assert head_nouns("cat") == ()
