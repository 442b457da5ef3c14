"""The masking algorithms keep their promises: k, ties by seed, heuristics, confidential values, any taxonomy."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import DataError, JobError, NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.algorithms.size_guides import fuse_at_random, fuse_smallest, replace_records_at_random
from kanopy.masking.job import MaskJob
from kanopy.release.run import mask

WORDS = ("beach", "coast", "bird", "duck", "heron", "church", "museum", "walk", "hiking", "wine")

thesis = functools.partial(MaskJob, targets="any")
"""The algorithms as published: any answer may replace another."""


def answers(rows: int, seed: int, words: tuple[str, ...] = WORDS) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "why": [words[int(i)] for i in rng.integers(0, len(words), rows)],
        "also": [words[int(i)] for i in rng.integers(0, 4, rows)],
        "age": rng.integers(20, 60, rows).tolist(),
        "sex": [("f", "m")[int(i)] for i in rng.integers(0, 2, rows)],
        "ill": [("flu", "cold", "none")[int(i)] for i in rng.integers(0, 3, rows)],
    }


def smallest(data: dict[str, list[Any]], columns: tuple[str, ...]) -> int:
    return min(Counter(zip(*(data[name] for name in columns), strict=True)).values())


@settings(max_examples=25, deadline=None)
@given(st.integers(6, 60), st.integers(0, 99), st.integers(2, 6), st.sampled_from(["greedy", "refined"]))
def test_every_published_combination_is_shared_and_existed(rows: int, seed: int, k: int, search: str) -> None:
    data = answers(rows, seed)
    result = mask(data, thesis(text=["why", "also"], insensitive=["age"], k=k, search=search, seed=seed))
    assert smallest(result.data, ("why", "also")) >= k
    before = set(zip(data["why"], data["also"], strict=True))
    assert set(zip(result.data["why"], result.data["also"], strict=True)) <= before
    assert result.data["age"] == data["age"]
    assert result.evaluation.record_linkage_percent == pytest.approx(100 * result.verification.classes / rows)


@settings(max_examples=15, deadline=None)
@given(st.integers(10, 60), st.integers(0, 99), st.integers(2, 5))
def test_mixed_columns_and_confidential_values(rows: int, seed: int, k: int) -> None:
    data = answers(rows, seed)
    needed = min(2, len(set(data["ill"])))
    job = thesis(
        text=["why"], quasi=["age", "sex"], k=k, sensitive=["ill"], diversity={"ill": needed}, weights={"age": 2}
    )
    for search in ("greedy", "refined"):
        result = mask(data, job.replaced(search=search))
        out = result.data
        assert smallest(out, ("why", "age", "sex")) >= k
        shown: dict[tuple[Any, ...], set[str]] = {}
        for *own, ill in zip(out["why"], out["age"], out["sex"], out["ill"], strict=True):
            shown.setdefault(tuple(own), set()).add(ill)
        assert min(map(len, shown.values())) >= needed
        assert all(isinstance(age, int) for age in out["age"])


@pytest.mark.parametrize("guide", ["discernibility", "random"])
def test_size_guides_respect_confidential_values(guide: str) -> None:
    data = answers(40, 3)
    job = thesis(text=["why", "also"], k=3, guide=guide, sensitive=["ill"], diversity={"ill": 3})
    out = mask(data, job).data
    shown: dict[tuple[str, str], set[str]] = {}
    for why, also, ill in zip(out["why"], out["also"], out["ill"], strict=True):
        shown.setdefault((why, also), set()).add(ill)
    assert min(map(len, shown.values())) == 3


def test_more_confidential_values_than_there_are_is_no_solution() -> None:
    job = thesis(text=["why"], k=2, sensitive=["ill"], diversity={"ill": 9})
    with pytest.raises(NoSolution, match="the whole column has"):
        mask(answers(30, 1), job)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(2, 12), st.integers(0, 9))
def test_size_guides_leave_no_small_group(counts: list[int], k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    priority = rng.permutation(len(counts))
    for into in (
        fuse_smallest(np.array(counts), priority, k),
        fuse_at_random(np.array(counts), priority, k, rng),
        fuse_at_random(np.array(counts), priority, k, rng, smallest_first=False),
    ):
        sizes = dict(enumerate(counts))
        roots = []
        for group in range(len(counts)):
            at = group
            while into[at] >= 0:
                at = int(into[at])
            roots.append(at)
        totals = Counter()
        for group, root in enumerate(roots):
            totals[root] += sizes[group]
        assert sum(counts) < k or min(totals.values()) >= k


def test_smallest_goes_to_smallest() -> None:
    """Brute force: the two smallest groups are joined until all have k."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        counts = rng.integers(1, 8, 12)
        into = fuse_smallest(counts, rng.permutation(12), 7)
        sizes = sorted(counts.tolist())
        while len(sizes) > 1 and sizes[0] < 7:
            sizes = sorted([sizes[0] + sizes[1], *sizes[2:]])
        totals: Counter[int] = Counter()
        for group in range(12):
            at = group
            while into[at] >= 0:
                at = int(into[at])
            totals[at] += int(counts[group])
        assert sorted(totals.values()) == sizes


def test_the_same_seed_gives_the_same_release_and_row_order_does_not_matter() -> None:
    data = answers(80, 7)
    job = thesis(text=["why", "also"], k=4, seed=3)
    first = mask(data, job).data
    assert mask(data, job).data == first
    random = [tuple(mask(data, job.replaced(guide="random", seed=s)).data["why"]) for s in range(4)]
    assert len(set(random)) > 1
    order = np.random.default_rng(0).permutation(80)
    shuffled = mask({name: [values[i] for i in order] for name, values in data.items()}, job).data
    assert shuffled["why"] == [first["why"][i] for i in order]
    assert shuffled["also"] == [first["also"][i] for i in order]


def test_heuristics_can_be_switched_off() -> None:
    data = answers(120, 11)
    found = {on: mask(data, thesis(text=["why", "also"], k=6, heuristics=on)) for on in ("", "1", "2", "12", "123")}
    assert all(smallest(result.data, ("why", "also")) >= 6 for result in found.values())
    assert found["12"].evaluation.semantic_quality > found["1"].evaluation.semantic_quality
    assert found["2"].evaluation.semantic_quality > found[""].evaluation.semantic_quality


def test_weights_decide_which_column_stays() -> None:
    data = {"a": ["beach", "beach", "bird", "bird", "beach"], "b": ["wine", "wine", "church", "church", "church"]}
    keep_a = mask(data, thesis(text=["a", "b"], k=2, weights={"a": 10})).data
    keep_b = mask(data, thesis(text=["a", "b"], k=2, weights={"b": 10})).data
    assert (keep_a["a"][4], keep_b["b"][4]) == ("beach", "church")


def test_numbers_go_to_the_nearest() -> None:
    data = {"why": ["walk"] * 5, "age": [20, 20, 29, 60, 60]}
    assert mask(data, thesis(text=["why"], quasi=["age"], k=2)).data["age"] == [20, 20, 20, 60, 60]


def test_categories_follow_their_hierarchy() -> None:
    data = {"why": ["walk"] * 5, "town": ["oslo", "oslo", "bergen", "rome", "rome"]}
    tree = Hierarchy.from_rows([["oslo", "north", "*"], ["bergen", "north", "*"], ["rome", "south", "*"]], name="town")
    result = mask(data, thesis(text=["why"], quasi=["town"], k=2, hierarchies={"town": tree}))
    assert result.data["town"] == ["oslo", "oslo", "oslo", "rome", "rome"]


def test_an_ordinary_hierarchy_is_an_ontology_for_every_algorithm() -> None:
    tree = Hierarchy.from_rows([["walk", "sport", "*"], ["golf", "sport", "*"], ["wine", "food", "*"]])
    data = {"why": ["walk"] * 3 + ["golf"] + ["wine"] * 3}
    for algorithm in ("fusion", "local-recoding", "semantic-microaggregation"):
        result = mask(data, thesis(text=["why"], k=3, ontology=tree, algorithm=algorithm))
        assert result.data["why"] == ["walk"] * 4 + ["wine"] * 3, algorithm
    assert mask(data, thesis(text=["why"], k=3, ontology=tree, algorithm="semantic-swapping")).data["why"][3] == "walk"


def test_chosen_senses_change_what_is_similar() -> None:
    from kanopy.ontology.senses.senses import SenseChoices

    data = {"why": ["bank"] + ["shore"] * 3 + ["insurance company"] * 3}
    river = SenseChoices(senses={"bank": "bank#1", "insurance company": "insurance company#1"})
    money = SenseChoices(senses={"bank": "bank#2"})
    found = [mask(data, thesis(text=["why"], k=3, senses=s)).data["why"][0] for s in (river, money)]
    assert found == ["shore", "insurance company"]


def test_another_measure_may_state_the_quality() -> None:
    result = mask(answers(60, 2), thesis(text=["why", "also"], k=4, guide="lin", measure="path-length"))
    assert result.evaluation.semantic_quality < 0
    assert result.summary()["measure"] == "path-length"


def test_names_and_algorithms_agree() -> None:
    from kanopy.masking.algorithms.registry import MASKINGS

    assert all(kind.name == name for name, kind in MASKINGS.items())


def test_the_front_door_takes_masking_jobs() -> None:
    from kanopy._job.job import Job
    from kanopy.release.run import anonymize

    data = answers(60, 5)
    job = Job(quasi=["why", "age"], k=4, algorithm="fusion", parameters={"guide": "lin"}, sensitive=["ill"])
    result = anonymize(data, job)
    assert smallest(result.data, ("why", "age")) >= 4
    assert result.job.text == ("why",)  # type: ignore[attr-defined]
    assert Job.from_toml(job.to_toml()) == job
    for wrong, words in (({"parameters": {"giude": "lin"}}, "guide"), ({"suppress": 0.1}, "suppresses nothing")):
        with pytest.raises(JobError, match=words):
            job.replaced(**wrong)


class TestLocalRecoding:
    def test_rare_values_go_to_the_most_similar_frequent_one(self) -> None:
        data = {"why": ["beach"] * 4 + ["seashore"] + ["bird"] * 4 + ["heron", "duck"]}
        result = mask(data, thesis(text=["why"], k=4, algorithm="local-recoding"))
        assert result.data["why"] == ["beach"] * 5 + ["bird"] * 6

    def test_spellings_of_one_meaning_count_together(self) -> None:
        data = {"why": ["walk", "walks", "walks", "beach", "beach", "beach"]}
        result = mask(data, thesis(text=["why"], k=3, algorithm="local-recoding"))
        assert result.data["why"] == ["walks"] * 3 + ["beach"] * 3

    def test_where_nothing_is_frequent_fusion_helps(self) -> None:
        result = mask({"why": list(WORDS)}, thesis(text=["why"], k=3, algorithm="local-recoding"))
        assert smallest(result.data, ("why",)) >= 3
        assert any("fusion" in note for note in result.notes)

    def test_one_column_only(self) -> None:
        with pytest.raises(JobError, match="one column"):
            mask(answers(20, 1), thesis(text=["why", "also"], k=2, algorithm="local-recoding"))


class TestMicroaggregation:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(6, 60), st.integers(0, 99), st.integers(2, 6))
    def test_groups_have_k_and_values_of_their_columns(self, rows: int, seed: int, k: int) -> None:
        data = answers(rows, seed)
        job = thesis(text=["why", "also"], quasi=["age"], k=k, algorithm="semantic-microaggregation")
        out = mask(data, job).data
        assert smallest(out, ("why", "also", "age")) >= k
        assert all(set(out[name]) <= set(data[name]) for name in ("why", "also", "age"))

    def test_the_centroid_is_most_similar_to_all(self) -> None:
        data = {"why": ["beach", "coast", "coast", "museum", "church", "church"]}
        result = mask(data, thesis(text=["why"], k=3, algorithm="semantic-microaggregation"))
        assert result.data["why"] == ["coast"] * 3 + ["church"] * 3


class TestSwapping:
    @settings(max_examples=20, deadline=None)
    @given(st.integers(20, 80), st.integers(0, 99), st.integers(2, 6))
    def test_columns_keep_their_values_and_rare_records_lose_theirs(self, rows: int, seed: int, k: int) -> None:
        data = answers(rows, seed)
        sizes = Counter(zip(data["why"], data["also"], strict=True))
        try:
            result = mask(data, thesis(text=["why", "also"], k=k, algorithm="semantic-swapping", seed=seed))
        except DataError as error:
            assert "cannot be swapped" in str(error)
            return
        out = result.data
        assert not result.masked.guarantees_k
        for name in ("why", "also"):
            assert Counter(out[name]) == Counter(data[name])
        for row, pair in enumerate(zip(data["why"], data["also"], strict=True)):
            if sizes[pair] < k:
                assert out["why"][row] != pair[0]
                assert out["also"][row] != pair[1]

    def test_similar_answers_are_exchanged(self) -> None:
        data = {"why": ["beach", "seashore", "church", "museum"]}
        out = mask(data, thesis(text=["why"], k=2, algorithm="semantic-swapping")).data["why"]
        assert out == ["seashore", "beach", "museum", "church"]

    def test_one_value_cannot_be_swapped(self) -> None:
        data = {"why": ["beach"] * 3 + ["walk"], "also": ["wine"] * 4}
        with pytest.raises(DataError, match="cannot be swapped"):
            mask(data, thesis(text=["why", "also"], k=4, algorithm="semantic-swapping"))


def test_random_by_record_moves_single_records_and_keeps_k() -> None:
    data = answers(120, 3)
    result = mask(data, thesis(text=["why", "also"], k=4, guide="random-record", seed=1))
    assert smallest(result.data, ("why", "also")) >= 4
    assert result.masked is not None and len(result.masked.published) > len(np.unique(result.masked.origin))
    with pytest.raises(JobError, match="keeps no diversity"):
        mask(data, thesis(text=["why"], k=4, guide="random-record", sensitive=["ill"], diversity={"ill": 2}))


def _replaced_one_by_one(own: list[int], k: int, rng: np.random.Generator) -> list[int]:
    """The words of the thesis: of the records in alphabetical order the first whose group is too small takes the values
    of a random one of the same data set; until all are anonymized."""
    shown = sorted(own)
    while True:
        sizes = Counter(shown)
        first = next((row for row, value in enumerate(shown) if sizes[value] < k), None)
        if first is None:
            return shown
        shown[first] = shown[int(rng.integers(len(shown)))]


def test_random_by_record_keeps_as_many_records_as_an_own_count() -> None:
    """Records were taken in any order, not in that of the thesis."""
    sizes = np.array([60, 30, 12, 9, 7, 5, 4, 4, 3, 3, 2, 2, 2, *[1] * 17])
    own = np.repeat(np.arange(len(sizes)), sizes)
    weight = np.abs(np.subtract.outer(np.arange(len(sizes)), np.arange(len(sizes))))  # any distance of values will do
    for k in (2, 5, 8, 12):
        once = [weight[own, _replaced_one_by_one(own.tolist(), k, np.random.default_rng(s))].mean() for s in range(25)]
        ours = []
        for seed in range(25):
            shown = replace_records_at_random(sizes, own.astype(np.int32), k, np.random.default_rng(seed))
            assert min(Counter(shown.tolist()).values()) >= k
            ours.append(weight[own, shown].mean())
        assert abs(np.mean(ours) - np.mean(once)) <= 3 * np.hypot(np.std(ours), np.std(once)) / np.sqrt(25), k
    alone = np.arange(9, dtype=np.int32)
    assert len(set(replace_records_at_random(np.ones(9, int), alone, 9, np.random.default_rng(0)).tolist())) == 1
