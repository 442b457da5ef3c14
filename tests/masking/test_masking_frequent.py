"""Masking that gives nobody away: the default publishes only what k people gave, broader terms, or nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import JobError, VerificationFailed
from kanopy._job.job import Job
from kanopy._table.guessing.personal_data import KINDS
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.masking.job import MaskJob
from kanopy.release.run import anonymize, mask
from kanopy.verify.answers import verify_answers
from tests.masking.survey_like import Answers, survey_like

SEEDS, ALL_SEEDS = range(4), range(20)
K = 5
DENYING = re.compile(r"\b(no|not|never|without|don't|bad|unfriendly|negative)\b", re.IGNORECASE)


@lru_cache(maxsize=200)
def released(seed: int, algorithm: str, targets: str = "frequent") -> tuple[Answers, list[str | None], Any]:
    answers = survey_like(seed)
    result = mask({"why": answers.why}, MaskJob(text=["why"], k=K, algorithm=algorithm, seed=seed, targets=targets))
    return answers, result.data["why"], result


def why(values: list[Any], k: int = 3, **options: Any) -> Any:
    return mask({"why": values}, MaskJob(text=["why"], k=k, **options))


def runs(seeds: range = SEEDS) -> Iterator[tuple[Answers, list[str | None], Any]]:
    for seed in seeds:
        for algorithm in MASKINGS:
            yield released(seed, algorithm)


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(ALL_SEEDS, marks=pytest.mark.slow)])
def test_no_published_answer_was_given_by_fewer_than_k_people(seeds: range) -> None:
    for answers, published, result in runs(seeds):
        given = Counter(answers.why)
        assert [v for v in set(published) - {None, "*"} if 0 < given[v] < K] == []
        assert result.summary()["rare_answers_shown"] == 0
        shown = {v for v in published if v not in (None, "*") and v not in given}
        assert not {v.casefold() for v in shown} & {v.casefold() for v in given if v}
        if result.job.guarantees_k:
            assert min(Counter(published).values()) >= K


def test_nothing_that_points_at_somebody_is_published() -> None:
    for answers, published, _ in runs():
        for kind, before, after in zip(answers.planted, answers.why, published, strict=True):
            if kind in ("name", "address", "number", "place", "text"):
                assert after != before


@pytest.mark.parametrize("seeds", [SEEDS, pytest.param(ALL_SEEDS, marks=pytest.mark.slow)])
def test_no_answer_becomes_its_opposite(seeds: range) -> None:
    for answers, published, _ in runs(seeds):
        for before, after in zip(answers.why, published, strict=True):
            if (
                before is not None
                and after not in (None, "*")
                and not before.casefold().startswith(("nothing", "no a"))
            ):
                assert bool(DENYING.search(before)) == bool(DENYING.search(str(after))), (before, after)


def test_typos_join_the_answer_that_is_meant() -> None:
    joined = wrong = 0
    for seed in SEEDS:
        answers, published, _ = released(seed, "fusion")
        given = Counter(answers.why)
        for row, meant in answers.meant.items():
            if given[meant] >= K and answers.why[row] not in given.keys() - {answers.why[row]} | {meant}:
                joined += published[row] == meant
                wrong += published[row] != meant
    assert joined + wrong > 60
    assert joined / (joined + wrong) >= 0.95


def test_changed_answers_are_nearer_than_with_any_target() -> None:
    for algorithm in MASKINGS:
        now = [released(seed, algorithm)[2].evaluation.similarity_of_changes for seed in SEEDS]
        once = [released(seed, algorithm, "any")[2].evaluation.similarity_of_changes for seed in SEEDS]
        assert np.mean(now) > np.mean(once) + 0.1


def test_any_target_says_how_many_single_answers_it_shows() -> None:
    answers, published, result = released(0, "fusion", "any")
    given = Counter(answers.why)
    assert result.summary()["rare_answers_shown"] == len({v for v in published if v and given[v] < K}) > 0
    assert "given by fewer than 5 people" in result.to_html()


def test_what_was_found_is_told_by_kind_and_count_and_named_nowhere_in_the_manifest() -> None:
    answers, _, result = released(1, "fusion")
    found = {each["kind"]: each["people"] for each in result.summary()["found"]}
    assert found["a person's name"] == sum(kind == "name" for kind in answers.planted)
    assert set(found) <= set(KINDS.values())
    manifest = result.manifest()
    assert json.loads(manifest)["job"]["algorithm"]["targets"] == "frequent"
    assert not [v for v in set(answers.why) if v and len(v) > 5 and f'"{v}"' in manifest]
    mapping = result.mapping()
    assert mapping["rows"].sum() == len(answers.why)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["beach", "baech", "no beach", "heron", "x7", "n/a", "museum", "duck", None]),
                          st.sampled_from(["wine", "beer", "no wine", "qwx", ""])), min_size=6, max_size=40),
       st.integers(2, 5), st.sampled_from(["fusion", "semantic-microaggregation", "semantic-swapping"]))  # fmt: skip
def test_several_columns_of_any_answers(rows: list[tuple[str | None, str]], k: int, algorithm: str) -> None:
    data = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
    out = mask(data, MaskJob(text=["a", "b"], k=k, algorithm=algorithm)).data
    for name in data:
        given = Counter(data[name])
        assert all(given[v] >= k or not given[v] for v in set(out[name]) - {None, "*"})
    if algorithm != "semantic-swapping":
        assert min(Counter(zip(out["a"], out["b"], strict=True)).values()) >= k


def test_a_broader_term_is_published_where_nothing_is_frequent() -> None:
    result = why(["heron", "egret", "stork", "beach", "beach", "beach"])
    assert result.data["why"] == ["wading bird"] * 3 + ["beach"] * 3


def test_no_broader_term_is_true_of_nearly_anything() -> None:
    empty = {"entity", "physical entity", "abstraction", "object", "whole", "thing", "part", "matter", "attribute"}
    for answers, published, _ in runs():
        assert not (set(published) - set(answers.why)) & empty
    assert why(["opera", "trout", "silence", "beach", "beach", "beach"]).data["why"][:3] == ["*"] * 3
    small = Hierarchy.from_rows([["trout", "fish", "animal", "*"], ["heron", "bird", "animal", "*"]])
    assert why(["trout", "heron"] * 2, ontology=small).data["why"] == ["animal"] * 4  # only the top says nothing there


def test_the_nearest_frequent_answer_is_better_than_nothing() -> None:
    assert why(["beer", "qwx", "qwy", "qwz", *["wine"] * 3]).data["why"] == ["wine", *["*"] * 3, *["wine"] * 3]


def test_no_frequent_answer_is_lost_for_a_few_that_say_nothing() -> None:
    """Where no group alone had rows to spare, a whole one became `*`."""
    published = why(["beach"] * 4 + ["wine"] * 4 + ["qwx"], k=3).data["why"]
    assert Counter(published) == {"beach": 3, "wine": 3, "*": 3}


def test_numbers_of_other_columns_go_to_those_that_k_people_have_and_texts_of_numbers_are_numbers() -> None:
    ages = ["20", "20", "20", "21", "60", "60", "60", "93"]
    data = {"why": ["beach"] * 4 + ["wine"] * 4, "age": ages}
    out = mask(data, MaskJob(text=["why"], quasi=["age"], k=3)).data
    assert out["age"] == ["20"] * 4 + ["60"] * 4
    job = Job(quasi=["why", "age"], k=3, algorithm="fusion")
    assert anonymize(data, job).data["age"] == out["age"]
    assert mask({"n": [7, 7, 7, 8, 9]}, MaskJob(text=["n"], k=3)).data["n"][:3] in ([7, 7, 7], [None] * 3)


def test_categories_with_a_hierarchy_go_to_the_nearest_that_k_people_have() -> None:
    tree = Hierarchy.from_rows([["Lyon", "France", "*"], ["Rome", "Italy", "*"], ["Pisa", "Italy", "*"]])
    data = {"why": ["beach"] * 8, "town": ["Rome"] * 4 + ["Pisa"] + ["Lyon"] * 3}
    out = mask(data, MaskJob(text=["why"], quasi=["town"], k=3, hierarchies={"town": tree})).data
    assert out["town"] == ["Rome"] * 5 + ["Lyon"] * 3
    alone = {"why": ["beach"] * 5, "town": ["Rome"] * 4 + ["Lyon"]}
    shown = mask(alone, MaskJob(text=["why"], quasi=["town"], k=3, hierarchies={"town": tree})).data["town"]
    assert "Lyon" not in shown and min(Counter(shown).values()) >= 3


def test_enough_names_numbers_and_addresses_are_called_what_they_are() -> None:
    names = ["Maria Lopez", "Juan Vidal", "Petra Schmidt"]
    contact = ["a@b.org", "12 Elm Street", "call +34 600 100 300"]
    result = why([*names, *contact, "17", "18", "19", "guide", "guide", "guide"])
    assert result.data["why"] == ["person"] * 3 + ["address"] * 3 + ["number"] * 3 + ["guide"] * 3
    assert result.evaluation.similarity_of_changes == 0.0  # what names somebody has no meaning that could be kept
    few = why([*names[:2], "heron", "egret", "stork", "17", *["beach"] * 3]).data["why"]
    assert few == ["*"] * 2 + ["wading bird"] * 3 + ["*"] + ["beach"] * 3
    own = why([*names, "person", "person", "beach", "beach", "beach"]).data["why"]
    assert "person" not in own  # two people wrote it: it would look like their answer
    assert why([f"no {name}" for name in names] + ["beach"] * 3).data["why"][:3] == ["*"] * 3


def test_nobody_gets_an_answer_that_says_more_than_was_understood() -> None:
    fields = ["management science"] * 4 + ["demography", "sociology", "criminology"]
    assert why(fields).data["why"][:4] == fields[:4]
    assert "management science" not in why(fields).data["why"][4:]
    houses = why(["Academic Press"] * 4 + ["Elsevier"] * 4 + ["University Press", "Home Press", "Stone Press"])
    assert "Academic Press" not in houses.data["why"][8:]


def test_a_name_whose_last_word_means_something_is_no_such_thing() -> None:
    published = why(["Olafur Thors", "Bjorn Rivers", "Jarmila Woods", *["beach"] * 3]).data["why"]
    assert set(published[:3]) <= {"*", "person"}
    assert why(["Wild Rivers", "Cold Rivers", "Deep Rivers", *["beach"] * 3]).data["why"][:3] != ["*"] * 3


def test_kinds_can_be_allowed() -> None:
    values = ["Barcelona"] * 4 + ["beach"] * 4
    assert why(values).data["why"] == ["*"] * 4 + ["beach"] * 4 or "Barcelona" not in why(values).data["why"]
    assert why(values, allow=["place"]).data["why"] == values
    with pytest.raises(JobError, match="allow knows no 'plaze'"):
        why(values, allow=["plaze"])


class TestBadInput:
    """A clear message or a documented result for each."""

    def test_answers_in_another_language(self) -> None:
        result = why(["Strand", "Strand", "Strand", "Vögel", "Wandern", "Ruhe"] * 2, k=5)
        assert set(result.data["why"]) <= {"Strand", "*"} | {None}
        assert any(
            "Check that they are in its language" in note for note in why(["Vögel", "Wandern", "Radfahren"] * 2).notes
        )

    def test_an_ontology_without_the_words(self) -> None:
        tree = Hierarchy.from_rows([["hammer", "tool", "*"], ["saw", "tool", "*"]])
        result = why(["beach"] * 3 + ["wine", "bread"] * 2, ontology=tree)
        assert result.data["why"] == ["beach"] * 3 + ["*"] * 4

    def test_every_answer_different(self) -> None:
        words = ["heron", "trout", "oak", "opera", "bridge", "qwx", "zyx", "cheese", "asthma", "bus"]
        result = why(words, k=5)
        assert not set(result.data["why"]) & set(words)
        assert min(Counter(result.data["why"]).values()) >= 5

    def test_one_answer_only(self) -> None:
        assert why(["beach"] * 4).data["why"] == ["beach"] * 4

    def test_ten_thousand_characters(self) -> None:
        long = ["very " * 2000 + "long", "x" * 10_000, "a@b.org " * 1250, "1" * 10_000]
        result = why([*long, "beach", "beach", "beach"])
        assert result.data["why"] == ["*"] * 4 + ["beach"] * 3

    def test_mixed_columns(self) -> None:
        values = ["7", "8", "9", "beach", "beach", "beach", "a@b.org", "", None, "3.5.2020"]
        result = why(values)
        assert result.data["why"][3:6] == ["beach"] * 3
        assert set(result.data["why"]) <= {"beach", "number", "*", None}

    def test_a_star_is_no_answer(self) -> None:
        assert why(["*", "*", "beach", "beach", "beach", "n/a"]).data["why"][2:5] == ["beach"] * 3


class TestSecondLook:
    """The check on the published table, without the masking."""

    BEFORE = pl.DataFrame({"why": ["walk", "walk", "wine", "no wine", "ada@example.org", "ada@example.org"]})

    @pytest.mark.parametrize(
        ("published", "message"),
        [
            (["walk", "walk", "wine", "*", "*", "*"], "fewer than 2"),
            (["walk", "walk", "drink", "*", "*", "*"], "neither answers"),
            (["walk", "walk", "Wine", "*", "*", "*"], "neither answers"),
            (["walk", "walk", "*", "walk", "*", "*"], "opposite"),
            (["walk", "walk", "*", "*", "ada@example.org", "ada@example.org"], "points at somebody"),
        ],
    )
    def test_what_must_not_leave(self, published: list[str], message: str) -> None:
        with pytest.raises(VerificationFailed, match=message):
            verify_answers(
                self.BEFORE, pl.DataFrame({"why": published}), ["why"], 2, texts=["why"], terms={"why": {"Wine"}}
            )

    def test_what_may(self) -> None:
        after = pl.DataFrame({"why": ["walk", "walk", "beverage", "*", "*", None]})
        verify_answers(self.BEFORE, after, ["why"], 2, texts=["why"], terms={"why": {"beverage"}})
