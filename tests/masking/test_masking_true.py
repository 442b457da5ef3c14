"""Masking never states what is false: opposites, siblings of which one excludes the other, verbs taken for nouns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from kanopy.masking.answer_reading import read_answers
from kanopy.masking.exclusion import excluded
from kanopy.masking.job import MaskJob
from kanopy.ontology.load import load_ontology
from kanopy.release.run import mask

PAIRS = [line.split("|") for line in Path(__file__).with_name("opposites.txt").read_text(encoding="utf-8").splitlines()]


def masked(answers: list[str], name: str = "why", k: int = 5) -> Counter[tuple[str, str]]:
    frame = mask(pl.DataFrame({name: answers}), MaskJob(text=[name], k=k, shuffle=False)).frame
    return Counter(zip(answers, frame[name].to_list(), strict=True))


def test_two_hundred_pairs_exclude_each_other() -> None:
    assert len(PAIRS) >= 200
    missed = [pair for pair in PAIRS if not excluded(pair[:1], pair[1:])[0, 0]]
    assert not missed


def test_what_is_broader_or_has_nothing_to_do_with_it_is_not_excluded() -> None:
    allowed = [("cis female", "female"), ("woman", "female"), ("seashore", "beach"), ("sunni islam", "muslim")]
    allowed += [("roman catholic", "christian"), ("heron", "stork"), ("nurse", "doctor"), ("divorced", "ever married")]
    assert not [pair for pair in allowed if excluded(pair[:1], pair[1:])[0, 0]]


def test_no_answer_is_published_as_an_opposite() -> None:
    answers = [one for one, other in PAIRS[:60:2] for one in [one] + [other] * 6]
    found = masked(answers)
    apart = [(one, other) for one, other in found if other and other != "*" and one != other]
    assert not [(one, other) for one, other in apart if [one, other] in PAIRS]


def test_equal_answers_are_counted_together() -> None:
    """Three people of each spelling had become `*` at k = 5, and `M` had stood beside `Male`."""
    found = masked(["Unemployed"] * 3 + ["unemployed "] * 3 + ["retired"] * 6, "work")
    assert {other for _, other in found} == {"Unemployed", "retired"}
    sexes = masked(["Male"] * 9 + ["male"] * 6 + ["M"] * 7 + ["m"] * 3 + ["Female"] * 9 + ["woman"] * 2, "gender")
    assert {other for _, other in sexes} == {"Male", "Female"}
    assert sexes["woman", "Female"] == 2


def test_a_phrase_is_read_by_its_head_noun_and_never_by_a_verb() -> None:
    found = masked(["stay at home mom"] * 2 + ["arrest"] * 6 + ["stay"] * 6 + ["going to church"], "activity")
    assert not found["stay at home mom", "stay"] and not found["stay at home mom", "arrest"]


def test_bad_columns_say_what_was_done() -> None:
    assert masked(["😀"] * 6 + ["😡"] * 2 + ["🤖"] * 4)["😀", "😀"] >= 5
    assert set(masked(["BEACH"] * 7)) == {("BEACH", "BEACH")}
    assert {other for _, other in masked(["Strand"] * 6 + ["Meer", "Berg", "Fluss", "Wald", "See"])} <= {"Strand", "*"}


def test_plurals_and_blanks_are_ways_to_write_an_answer() -> None:
    """They are read as the answer most people wrote; who wrote it otherwise does not count towards its k."""
    words = [
        "movie",
        "Movies",
        "part-time job",
        "part time jobs",
        "parttime job",
        "child",
        "children",
        "arm",
        "arms",
        "no pets",
        "pet",
    ]
    counts = np.array([9, 2, 8, 1, 1, 7, 1, 9, 3, 1, 9])
    found = read_answers(words, counts, 5, load_ontology("wordnet"))
    meant = [words[at] for at in found.means]
    assert meant[:7] == ["movie", "movie", *["part-time job"] * 3, "child", "child"]
    assert meant[7:] == ["arm", "arms", "no pets", "pet"]  # weapons are no arm, and who has no pets has none
    rare = read_answers(["movie", "movies"], np.array([3, 3]), 5, load_ontology("wordnet"))
    assert not rare.publishable(5).any()
