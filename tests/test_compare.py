"""Comparing algorithms: the same table for all, reasons for those that cannot, pictures, interruption."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import JobError
from kanopy._job.job import Job
from kanopy._progress import Step
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.release.catalogue import algorithms as catalogue
from kanopy.release.sweeps.compare import Comparison, compare
from kanopy.search.algorithms import ALGORITHMS

SOME = ("optimal", "datafly", "mondrian", "mondrian:strict=true", "k-member")


def table(rows: int = 80) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, rows),
            "sex": draw.choice(["f", "m"], rows).tolist(),
            "ill": draw.choice(["a", "b", "c"], rows).tolist(),
        }
    )


JOB = Job(quasi=["age", "sex"], k=3, hierarchies={"age": {"method": "widths", "widths": [5, 20]}})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(table(), JOB, algorithms=SOME)


def test_every_number_is_that_of_a_run_of_its_own(found: Comparison) -> None:
    for entry in found.entries:
        alone = kanopy.anonymize(table(), JOB.replaced(algorithm=entry.algorithm, parameters=entry.parameters))
        assert entry.losses == pytest.approx(alone.losses)
        assert entry.classes == alone.verification.classes
        assert entry.smallest_class == alone.verification.smallest_class >= 3
        assert entry.highest_risk == pytest.approx(1 / entry.smallest_class)
        assert entry.seconds is not None and entry.seconds > 0
        assert entry.optimal == alone.solution.optimal


def test_entries_are_ranked_by_the_metric_of_the_job(found: Comparison) -> None:
    losses = [entry.losses["loss"] for entry in found.entries]
    assert losses == sorted(losses)
    assert {entry.name for entry in found.entries} == {
        "optimal", "datafly", "mondrian", "mondrian (strict=true)", "k-member"
    }  # fmt: skip
    by_size = compare(table(), JOB.replaced(metric="discernibility"), algorithms=["mondrian", "optimal"])
    assert [e.losses["discernibility"] for e in by_size.entries] == sorted(
        e.losses["discernibility"] for e in by_size.entries
    )


def test_an_algorithm_that_cannot_says_why_and_the_others_go_on() -> None:
    job = JOB.replaced(models=["risk-average:0.3"])
    found = compare(table(), job, algorithms=["mondrian", "optimal"])
    assert [entry.algorithm for entry in found.solved] == ["optimal"]
    refused = next(entry for entry in found.entries if entry.reason)
    assert refused.algorithm == "mondrian" and "risk-average" in str(refused.reason)


def test_all_means_every_algorithm_and_says_why_some_have_no_release() -> None:
    found = compare(table(40), JOB.replaced(hierarchies={**JOB.hierarchies}), budget="50ms")
    names = {entry.algorithm for entry in found.entries}
    assert names == {*ALGORITHMS, *MASKINGS}
    for entry in found.entries:
        assert (entry.reason is None) == (entry.classes is not None)
    assert {"optimal", "best", "mondrian"} <= {entry.algorithm for entry in found.solved}


def test_the_page_holds_every_number_and_no_value(found: Comparison) -> None:
    page = found.to_html("people.csv")
    for entry in found.entries:
        assert entry.name in page
    assert page.count("<svg") >= 2
    for kind in catalogue():
        if kind["name"] in {entry.algorithm for entry in found.entries}:
            assert kind["source"].split(",")[0].split(";")[0] in page


def test_stopping_keeps_what_is_done() -> None:
    def stop(step: Step) -> bool | None:
        return False if step.note == "mondrian" else None

    found = compare(table(), JOB, algorithms=["optimal", "mondrian", "k-member"], progress=stop)
    assert found.stopped
    assert [entry.algorithm for entry in found.entries] == ["optimal"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mondrain"], "mondrian"),
        ([], "at least one"),
        (["mondrian:colour=green"], "no parameter 'colour'"),
        (["mondrian:strict"], "name=value"),
    ],
)
def test_bad_names_are_refused_before_anything_runs(names: list[str], message: str) -> None:
    with pytest.raises(JobError, match=message):
        compare(table(), JOB, algorithms=names)


def test_no_columns_no_time_and_too_large_a_k_are_refused() -> None:
    with pytest.raises(JobError, match="quasi-identifier"):
        compare(table(), Job(), algorithms=["optimal"])
    with pytest.raises(JobError, match="0 seconds"):
        compare(table(), JOB, algorithms=["best"], budget=0)
    with pytest.raises(JobError, match="only 80 rows"):
        compare(table(), JOB.replaced(k=81), algorithms=["optimal"])
