"""`Job`: three ways to write it, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy import Hierarchy, Job
from kanopy import anonymize as anonymize
from kanopy._errors import JobError
from kanopy._parameter_types import ColumnNames, as_share, taken
from kanopy.hierarchy.builders.registry import make_builder
from kanopy.metrics.full_domain import METRICS
from kanopy.search.algorithms import ALGORITHMS

FULL = Job(
    quasi=["age", "zip code", "sex"],
    k=7,
    suppress="2.5%",
    hierarchies={"age": {"method": "widths", "widths": [5, 10]}, "zip code": "trees/zip.csv"},
    sensitive=["ill"],
    identifiers=["näme"],
    insensitive=["note"],
    metric="discernibility",
    algorithm="optimal",
    parameters={"threads": 1, "budget_seconds": 2.5},
    min_levels={"age": 1},
    max_levels={"age": 3, "sex": 0},
    weights={"sex": 0.5},
    missing="suppress",
    missing_tokens=["?", "n/a"],
    unknown="add",
    suppressed_rows="drop",
)


def test_toml_json_and_dictionary_say_the_same(tmp_path: Path) -> None:
    assert Job.from_toml(FULL.to_toml()) == FULL
    assert Job.from_dict(json.loads(json.dumps(FULL.to_dict()))) == FULL
    (tmp_path / "job.json").write_text(json.dumps(FULL.to_dict()), encoding="utf-8")
    (tmp_path / "job.toml").write_text(FULL.to_toml(), encoding="utf-8")
    beside = {**FULL.hierarchies, "zip code": str(tmp_path / "trees/zip.csv")}
    for name in ("job.json", "job.toml"):
        assert Job.read(tmp_path / name) == FULL.replaced(hierarchies=beside)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(texts, min_size=1, max_size=5, unique=True),
    st.integers(2, 10**6),
    st.floats(0, 1),
    st.sampled_from(sorted(METRICS)),
    st.lists(texts, max_size=3, unique=True),
    st.floats(0, 1e9),
)
def test_any_job_survives_toml(
    names: list[str], k: int, suppress: float, metric: str, tokens: list[str], weight: float
) -> None:
    job = Job(
        quasi=names[:1], sensitive=names[1:2], identifiers=names[2:3], insensitive=names[3:], k=k, suppress=suppress,
        metric=metric, missing_tokens=tokens, weights={names[0]: weight}, max_levels={names[0]: 2},
        hierarchies={names[0]: {"method": "groups", "groups": {names[0]: names}}},
    )  # fmt: skip
    assert Job.from_toml(job.to_toml()) == job


def test_builders_are_their_own_entry_in_the_file() -> None:
    job = Job(quasi=["age"], hierarchies={"age": make_builder("otf", linkage="single")})
    assert job.to_dict()["columns"]["age"]["hierarchy"] == {"method": "otf", "linkage": "single"}
    data = {"age": [1, 2, 8, 9]}
    again = Job.from_toml(job.to_toml())
    assert anonymize(data, job.replaced(k=2)).data == anonymize(data, again.replaced(k=2)).data


def test_hierarchies_given_as_objects_are_named_only() -> None:
    job = Job(quasi=["sex"], hierarchies={"sex": Hierarchy.flat(["f", "m"])})
    assert job.to_dict()["columns"]["sex"]["hierarchy"] == {"given": "2 values, 2 levels"}
    with pytest.raises(JobError, match="names no method"):
        anonymize({"sex": ["f", "f"]}, Job.from_toml(job.to_toml()).replaced(k=2))


def test_shares() -> None:
    assert [as_share(x) for x in ("2%", " 2.5 % ", "0.02", 0, 1, "100%")] == [0.02, 0.025, 0.02, 0.0, 1.0, 1.0]
    for wrong in ("101%", -0.1, "nan", 1.5, "two", None, [], "2 percent", "%"):
        with pytest.raises(JobError, match="2%"):
            as_share(wrong)  # type: ignore[arg-type]


def test_names() -> None:
    assert taken(ColumnNames(), "a, b,,a ,", "quasi") == ("a", "b")
    assert taken(ColumnNames(), ["a", "b", "a"], "quasi") == ("a", "b")
    for wrong in ([1], 5, [None]):
        with pytest.raises(JobError, match="names of columns"):
            taken(ColumnNames(), wrong, "quasi")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"k": 1}, "at least 2"),
        ({"k": 2.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"k": "5"}, "whole number"),
        ({"metric": "aces"}, "Did you mean 'aecs'"),
        ({"algorithm": "k_members"}, "Did you mean 'k-member'"),
        ({"parameters": {"tread": 1}}, "no parameter 'tread'"),
        ({"sensitive": ["a"]}, "two roles: quasi and sensitive"),
        ({"missing": "ignore"}, "missing must be"),
        ({"unknown": "ignore"}, "unknown must be"),
        ({"suppressed_rows": "hide"}, "suppressed_rows must be"),
        ({"min_levels": {"b": 1}}, "not quasi-identifiers: 'b'"),
        ({"min_levels": {"a": -1}}, "min_levels of 'a'"),
        ({"max_levels": {"a": 1.5}}, "max_levels of 'a'"),
        ({"max_levels": {"a": "2"}}, "max_levels of 'a'"),
        ({"weights": {"a": -1}}, "weights of 'a'"),
        ({"weights": {"a": float("nan")}}, "weights of 'a'"),
        ({"weights": {"a": float("inf")}}, "weights of 'a'"),
        ({"weights": {"a": "x"}}, "weights of 'a'"),
        ({"weights": [1.0]}, "weights must be given per name"),
        ({"hierarchies": {"a": [["x", "*"]]}}, "Hierarchy.from_rows"),
        ({"hierarchies": {"a": None}}, "not NoneType"),
    ],
)
def test_what_a_job_refuses(settings_: dict[str, Any], words: str) -> None:
    with pytest.raises(JobError) as caught:
        Job(**{"quasi": ["a"], **settings_})
    assert words in str(caught.value)


def test_weights_may_not_all_be_zero() -> None:
    with pytest.raises(JobError, match="not all zero"):
        anonymize({"a": [1, 1], "b": [2, 2]}, Job(quasi=["a", "b"], k=2, weights={"a": 0, "b": 0}))


def test_lowest_level_above_the_highest() -> None:
    with pytest.raises(JobError, match="lowest level 1 is above the highest level 0"):
        anonymize({"a": [1, 2]}, Job(quasi=["a"], k=2, min_levels={"a": 1}, max_levels={"a": 0}))


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_can_be_written_down(name: str) -> None:
    job = Job(quasi=["a"], algorithm=name)
    assert Job.from_toml(job.to_toml()).algorithm == name
