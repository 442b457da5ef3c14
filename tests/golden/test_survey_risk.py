"""Published and computed figures of weighted and household risk (EU-SILC) and of special uniques (SUDA)."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy.metrics.risk.suda import special_uniques
from tests.shared_input import figures, needs_shared

FIGURES = figures("survey_risk")
EXAMPLE = FIGURES["suda_example"]


@pytest.fixture(scope="module")
def eusilc() -> pl.DataFrame:
    with gzip.open(needs_shared("data", "eusilc.csv.gz")) as file:
        return pl.read_csv(file.read())


@pytest.mark.parametrize("means", ["any", "value"])
@pytest.mark.parametrize("case", FIGURES["eusilc"], ids=lambda case: "-".join(case["keys"]))
def test_eusilc(eusilc: pl.DataFrame, case: dict[str, Any], means: str) -> None:
    found = kanopy.assess_risk(
        eusilc, quasi=case["keys"], sampling_weight=FIGURES["weight"], household=FIGURES["household"],
        missing_means=means, largest_subset=0,
    )  # fmt: skip
    survey, wanted = found.answers.survey, case[means]
    assert survey is not None and survey.household is not None
    computed = {
        "expected_reidentifications": survey.expected_reidentifications,
        "share_percent": survey.share * 100,
        "household_expected": survey.household.expected_reidentifications,
        "household_share_percent": survey.household.share * 100,
        "highest": survey.highest,
        "sample_uniques": survey.sample_uniques,
    }
    assert computed == {name: pytest.approx(value, rel=1e-6, abs=5e-7) for name, value in wanted.items()}
    assert found.row_risks["individual_risk"].sum() == pytest.approx(wanted["expected_reidentifications"], rel=1e-6)
    assert found.row_risks["household_risk"].sum() == pytest.approx(wanted["household_expected"], rel=1e-6)
    # What sdcMicro prints for the first keys: 20.94 (0.14 %), with households 78.59 (0.53 %).
    if case["keys"][0] == "age":
        assert f"{survey.expected_reidentifications:.2f} {survey.share:.2%}" == "20.94 0.14%"
        assert f"{survey.household.expected_reidentifications:.2f} {survey.household.share:.2%}" == "78.59 0.53%"


def test_exact_risk_is_close_to_the_approximation(eusilc: pl.DataFrame) -> None:
    keys = FIGURES["eusilc"][0]["keys"]
    usual, exact = (
        kanopy.assess_risk(eusilc, quasi=keys, sampling_weight="rb050", exact=exact, largest_subset=0).answers.survey
        for exact in (False, True)
    )
    assert usual is not None and exact is not None
    assert exact.highest == usual.highest  # of a unique row, for which both are the same
    assert exact.expected_reidentifications == pytest.approx(usual.expected_reidentifications, rel=1e-3)
    assert exact.expected_reidentifications != usual.expected_reidentifications


def test_a_release_of_eusilc_keeps_both_risks(eusilc: pl.DataFrame) -> None:
    """Asked for in a release, measured on it by the other road: the risk assessment."""
    keys = FIGURES["eusilc"][1]["keys"]
    job = kanopy.Job(
        quasi=keys, k=1, suppress="1%", models=["individual-risk:0.01", "household-risk:0.02"], sampling_weight="rb050",
        household="db030",
    )  # fmt: skip
    found = kanopy.anonymize(eusilc, job)
    assert found.solution is not None and found.solution.optimal
    released = found.data.with_columns(eusilc["rb050"], eusilc["db030"])
    survey = kanopy.assess_risk(
        released, quasi=keys, sampling_weight="rb050", household="db030", largest_subset=0
    ).answers.survey
    assert survey is not None and survey.household is not None
    assert survey.highest <= 0.01 and survey.household.highest <= 0.02
    assert survey.expected_reidentifications < 24.67773 / 2


def test_suda_scores_of_the_practice_guide() -> None:
    columns = [np.unique(np.array(column), return_inverse=True)[1] for column in zip(*EXAMPLE["rows"], strict=True)]
    found = special_uniques(EXAMPLE["columns"], columns, EXAMPLE["max_size"])
    assert found.scores.tolist() == EXAMPLE["scores"]


def test_dis_suda_scores_of_the_practice_guide() -> None:
    """Table 4.5 of the guide prints .0051, .0107, .0051 and .0088: with a sampling fraction of 1 %, and the scores that
    sdcMicro puts into the calibration (a set of s of n columns counts (2^(n-s) - 1)·s!·(n-s)!/n!)."""
    rows = dict(zip(EXAMPLE["columns"], map(list, zip(*EXAMPLE["rows"], strict=True)), strict=True))
    found = kanopy.assess_risk(rows, quasi=EXAMPLE["columns"], suda=3, sampling_fraction=0.01)
    assert found.row_risks["suda_score"].tolist() == EXAMPLE["scores"]
    assert found.row_risks["dis_suda"].round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    share = {name: found.row_risks[f"suda_share_{name}"] for name in EXAMPLE["columns"]}
    # The fifth row: alone in its residence (6), in sex and education (2), sex and labour (2), education and labour (2).
    assert [share[name][4] for name in EXAMPLE["columns"]] == [0.5, 4 / 12, 4 / 12, 4 / 12]


def test_large_tables_take_no_time() -> None:
    """45,222 rows, eight keys, sets of three: five seconds at most are asked for (of processor time)."""
    import time

    table = kanopy.datasets.adult().head(45_222)
    keys = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]
    begin = time.process_time()
    found = kanopy.assess_risk(table, quasi=keys, suda=3, largest_subset=0)
    assert time.process_time() - begin < 5
    assert found.rows == 45_222 and found.answers.special is not None and found.answers.special.scores.max() > 0
