"""Profiles: every check exists, states are right, contradictions are refused before the work."""

# ruff: noqa: E501 - tables
from __future__ import annotations

import polars as pl
import pytest

from kanopy._errors import JobError, KanopyError
from kanopy._job.job import Job
from kanopy.attacks.policies import POLICIES, Evidence, read_policy, report_policy
from kanopy.attacks.policy_checks import CHECKS
from kanopy.cli import evidence as command


def people(rows: int) -> pl.DataFrame:
    return pl.DataFrame({
        "age": [20 + place * 7 % 60 for place in range(rows)], "sex": ["f" if place % 2 else "m" for place in range(rows)],
        "ill": ["abcd"[place * 3 % 4] for place in range(rows)],
    })  # fmt: skip


def released(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(age=pl.format("[{}, {}]", pl.col("age") // 30 * 30, pl.col("age") // 30 * 30 + 29))


@pytest.mark.parametrize("name", POLICIES)
def test_profiles_are_whole(name: str) -> None:
    policy = read_policy(name)
    assert policy["name"] == name and policy["signatures"]
    requirements = [each for section in policy["sections"] for each in section["requirements"]]
    assert len({each["number"] for each in requirements}) == len(requirements)
    for each in requirements:
        assert each["source"] and each["asks"] and each.get("check", "order") in CHECKS
    assert tuple(command.POLICIES) == POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_every_profile_writes_its_document(name: str) -> None:
    frame = people(240)
    threshold = 0.2 if name == "hipaa-expert" else None
    found = report_policy(
        Evidence(read_policy(name), released(frame), frame, people(120).with_columns(pl.col("age") + 1), None, None,
                 ("age", "sex"), ("ill",), threshold=threshold, guesses=50)
    )  # fmt: skip
    document = found.to_document("release.csv")
    page = document.to_html()
    for each in found.requirements:
        assert each.source in page.replace("&amp;", "&").replace("&#x27;", "'") and each.evidence
    for word in ("complies", "compliant", "certified", "in compliance with"):
        assert word not in page
    assert sum(found.counts.values()) == len(found.requirements)


def state(name: str, number: str, release: pl.DataFrame, **given: object) -> str:
    found = report_policy(Evidence(read_policy(name), release, **given))
    return next(each.state for each in found.requirements if each.number == number)


def test_ema_reads_the_threshold_as_written() -> None:
    frame = people(24)
    for rows, expected in ((11, "not met"), (12, "met")):
        release = pl.DataFrame({"sex": ["f"] * rows + ["m"] * 12})
        original = frame.with_columns(sex=pl.lit("f"))[: release.height]
        given = {"original": original, "quasi": ("sex",)}
        assert state("ema-0070", "2.2", release, **given) == expected
    found = report_policy(
        Evidence(read_policy("ema-0070"), pl.DataFrame({"sex": ["f"] * 11}), frame[:11], quasi=("sex",))
    )
    words = next(each.evidence for each in found.requirements if each.number == "2.2")
    assert "By this reading the release meets it" in words


def test_cms_counts_and_differences() -> None:
    assert state("cms-11", "1.1", pl.DataFrame({"a": ["x"] * 11 + ["y"] * 30})) == "met"
    assert state("cms-11", "1.1", pl.DataFrame({"a": ["x"] * 10 + ["y"] * 30})) == "not met"


def test_contradictions_are_refused_before_the_work() -> None:
    frame = people(30)
    for given, words in (
        (
            {"policy": read_policy("ema-0070"), "original": frame, "job": Job(quasi="age", k=5)},
            "classes of at least 12",
        ),
        ({"policy": read_policy("gdpr-wp216"), "original": frame}, "control group"),
        ({"policy": read_policy("hipaa-expert"), "original": frame}, "the expert must name the threshold"),
        ({"policy": read_policy("cms-11"), "threshold": 0.1}, "no threshold of risk"),
        ({"policy": read_policy("ema-0070"), "original": frame, "threshold": 0.2}, "contradicts"),
        ({"policy": read_policy("hipaa-expert"), "original": frame, "threshold": 1.5}, "must be above 0"),
    ):
        policy = given.pop("policy")
        with pytest.raises(JobError, match=words):
            report_policy(Evidence(policy, frame, **given))
    with pytest.raises(KanopyError, match="hipaa-safe-harbor"):
        read_policy("hipaa")
    report_policy(Evidence(read_policy("ema-0070"), frame, frame, job=Job(quasi="age", k=12), quasi=("age",)))
