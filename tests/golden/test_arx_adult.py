"""The optima that ARX 3.9.2 finds on its own Adult example, every value re-checked by brute force.

Source: `figures/arx_adult.json`; the data and hierarchies are read from beside the checkout and not copied.
"""

from __future__ import annotations

import numpy as np
import pytest

from kanopy._core.classes import Domain
from kanopy._progress import SILENT
from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy.models import KAnonymity, parse_model
from kanopy.search.bound.bound import lower_bound
from kanopy.search.full_domain.exhaustive import judge_all
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.local.best.best import Best
from kanopy.search.problem import Problem
from tests.shared_input import figures, needs_shared

METRIC_NAMES = {
    "loss_arith": "loss",
    "loss_geomean": "loss-geometric",
    "aecs": "aecs",
    "dm": "discernibility",
    "precision": "precision",
}
ALL_CASES = figures("arx_adult")["results"]
CASES = [case for case in ALL_CASES if "+" not in case["privacy"]]


@pytest.fixture(scope="module")
def domain() -> Domain:
    folder = needs_shared("data", "arx_adult")
    frame = read_table(folder / "adult.csv")
    files = find_hierarchies(folder, frame.columns)
    return LocalEngine().count(frame, {name: read_hierarchy(files[name], column=name) for name in frame.columns}).domain


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_optimum(case: dict[str, object], domain: Domain) -> None:
    k = int(str(case["privacy"]).removeprefix("k:"))
    problem = Problem(
        domain,
        [KAnonymity(k)],
        metric_named(METRIC_NAMES[str(case["metric"])]),
        suppression_limit=float(str(case["suppression_limit"])),
    )
    found = Optimal().solve(problem, SILENT)
    assert found.optimal
    assert found.candidates == 12_960
    assert found.score == pytest.approx(case["loss"], rel=1e-6)
    assert "".join(map(str, found.levels or ())) == case["levels"]
    assert found.recoding.suppressed_rows == case["suppressed"]
    assert found.recoding.classes.count == case["classes"]
    assert found.recoding.classes.smallest == case["min_class"]


def test_pruned_search_equals_judging_everything(domain: Domain) -> None:
    for k in (5, 100):
        for limit in (0.0, 0.02):
            problem = Problem(domain, [KAnonymity(k)], suppression_limit=limit)
            everything = judge_all(problem, SILENT)
            best = everything.best()
            assert best is not None
            found = Optimal().solve(Problem(domain, [KAnonymity(k)], suppression_limit=limit), SILENT)
            assert found.levels == best.levels
            assert found.score == pytest.approx(float(np.min(everything.scores())), rel=1e-12)
            assert found.judged < 12_960 // 10


MODEL_NAMES = {"distinct_l": "l-distinct", "t_equal": "t-equal", "entropy_l": "l-entropy"}
WITH_MODELS = [case for case in ALL_CASES if "+" in case["privacy"]]


@pytest.fixture(scope="module")
def with_occupation() -> Domain:
    folder = needs_shared("data", "arx_adult")
    frame = read_table(folder / "adult.csv")
    files = find_hierarchies(folder, frame.columns)
    quasi = [name for name in frame.columns if name != "occupation"]
    hierarchies = {name: read_hierarchy(files[name], column=name) for name in quasi}
    return LocalEngine().count(frame, hierarchies, sensitive=["occupation"]).domain


@pytest.mark.parametrize("case", WITH_MODELS, ids=[case["id"] for case in WITH_MODELS])
def test_optimum_under_models(case: dict[str, object], with_occupation: Domain) -> None:
    size, extra = str(case["privacy"]).split("+")
    name, parameter = extra.split(":")
    problem = Problem(
        with_occupation,
        [KAnonymity(int(size.removeprefix("k:"))), parse_model(f"{MODEL_NAMES[name]}:occupation:{parameter}")],
        metric_named(METRIC_NAMES[str(case["metric"])]),
        suppression_limit=float(str(case["suppression_limit"])),
    )
    found = Optimal().solve(problem, SILENT)
    assert found.optimal
    assert found.candidates == 4_320
    assert found.score == pytest.approx(case["loss"], rel=1e-6)
    levels = str(case["levels"]).replace("-", "")
    assert "".join(map(str, found.levels or ())) == levels
    assert found.recoding.classes.smallest == case["min_class"]
    # Entropies at exact ties differ there by rounding.
    slack = 6 if name == "entropy_l" else 0
    assert abs(found.recoding.suppressed_rows - int(str(case["suppressed"]))) <= slack
    assert slack or found.recoding.classes.count == case["classes"]


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 10])
def test_local_recoding_is_within_a_twentieth_of_the_proved_bound(k: int, domain: Domain) -> None:
    problem = Problem(domain, [KAnonymity(k)])
    proved = lower_bound(problem).value
    assert proved <= Best(budget_seconds=30).solve(problem).score <= 1.05 * proved
