"""The map of risk and utility: every point equals a run of its own, work is shared, runs can be resumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import Cancelled, JobError, NoSolution, VerificationFailed
from kanopy._job.job import Job
from kanopy._progress import SILENT
from kanopy.cli.sweeps import parse_ks
from kanopy.metrics.full_domain import metric_named
from kanopy.privacy.models import KAnonymity
from kanopy.release.prepare import prepare
from kanopy.release.run import anonymize
from kanopy.release.sweeps.explore import Exploration, explore
from kanopy.release.sweeps.levels import Leveled
from kanopy.report.charts.risk_map import risk_map, table_csv
from kanopy.report.render import picture
from kanopy.search.full_domain.every_k import EveryK
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.full_domain.size_profile_kernel import size_profile
from kanopy.search.problem import Problem
from tests.search.problems import domains


def people(rows: int = 150, seed: int = 3) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, rows).tolist(),
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "zip": rng.choice(["13001", "13002", "13101", "14001"], rows).tolist(),
        "ill": rng.choice(["flu", "cold", "hiv"], rows).tolist(),
    }


JOB = Job(
    quasi=["age", "sex", "zip"], sensitive=["ill"], hierarchies={"age": {"method": "widths", "widths": [5, 10, 20]}}
)


@settings(max_examples=60, deadline=None)
@given(domains(), st.sampled_from(["loss", "loss-geometric", "precision", "entropy", "height"]))
def test_every_k_equals_single_searches(domain, metric: str) -> None:
    ks, limits = (2, 3, 4, 7), (0.0, 0.1, 0.5)
    pool = EveryK(Problem(domain, [KAnonymity(2)], metric_named(metric)), max(ks))
    for k, limit, best in pool.solve(ks, limits, SILENT):
        alone = Problem(domain, [KAnonymity(k)], metric_named(metric), suppression_limit=limit)
        if best is None:
            with pytest.raises(NoSolution):
                Optimal().solve(alone, SILENT)
            continue
        found = Optimal().solve(alone, SILENT)
        assert best.levels == found.levels
        assert best.score == pytest.approx(found.score)
        assert best.suppressed_rows == found.recoding.suppressed_rows - domain.excluded_rows


@settings(max_examples=40, deadline=None)
@given(domains(), st.integers(2, 8))
def test_size_profile_twin(domain, most: int) -> None:
    problem = Problem(domain, [KAnonymity(2)])
    table, packing = problem.tables.base, problem.tables.packing
    extra, starts = problem._extra
    start = starts[:, 0].copy()
    results = []
    for run in (size_profile, size_profile.plain):
        classes, sums = np.zeros(most, np.int64), np.zeros((most, domain.width))
        run(table.keys, table.sizes, packing.word, packing.shift, packing.mask, extra, start, classes, sums)
        results.append((classes, sums))
    assert results[0][0].tolist() == results[1][0].tolist()
    np.testing.assert_allclose(results[0][1], results[1][1])
    assert results[0][0][-1] == (table.sizes < most).sum()


def test_points_equal_runs_of_their_own() -> None:
    data = people()
    found = explore(
        data,
        JOB,
        ks=[3, 5],
        limits=["0%", "10%"],
        models=[[], ["l-distinct:ill:2"]],
        algorithms=["optimal", "mondrian"],
    )  # fmt: skip
    assert len(found.points) == 2 * 2 * 2 * 2
    for point in found.points:
        job = JOB.replaced(k=point.k, suppress=point.suppress, algorithm=point.algorithm, models=point.models)
        result = anonymize(data, job)
        assert point.loss == pytest.approx(result.score)
        assert point.smallest_class == result.verification.smallest_class
        assert point.classes == result.verification.classes
        assert point.suppressed == result.solution.recoding.suppressed_rows
        assert point.levels == result.levels


def test_a_column_that_only_one_set_of_models_protects_is_published_by_all() -> None:
    """The command line asks for points this way; they were refused as releases of a column without a role."""
    job, sets = JOB.replaced(sensitive=()), [[], ["l-distinct:ill:2"]]
    found = explore(people(), job, ks=[3], models=sets, algorithms=["optimal", "mondrian"])
    protected = explore(people(), JOB, ks=[3], models=sets, algorithms=["optimal", "mondrian"])
    assert [point.loss for point in found.points] == [point.loss for point in protected.points]


@pytest.mark.parametrize(
    "changes",
    [
        {"missing": "suppress", "suppressed_rows": "drop"},
        {"min_levels": {"sex": 1}, "max_levels": {"age": 3}},
        pytest.param({"missing": "suppress", "weights": {"age": 3.0}}, marks=pytest.mark.slow),
        pytest.param({"metric": "entropy"}, marks=pytest.mark.slow),
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_many_k_at_once_are_what_runs_of_their_own_say(changes: dict[str, object]) -> None:
    data = people()
    data["zip"][3] = data["zip"][70] = None
    job, tried = JOB.replaced(**changes), set()
    for point in explore(data, job, ks=[2, 3, 5, 9, 20, 70], limits=["0%", "3%", "60%"]).points:
        assert point.loss is not None
        result = anonymize(data, job.replaced(k=point.k, suppress=point.suppress))
        assert {**result.figures(), "loss": pytest.approx(result.solution.score)} == {
            name: getattr(point, name) for name in (*result.figures(), "loss")
        }
        tried.add((tuple(point.levels.values()), point.suppressed))
    assert len(tried) > 4


def test_what_a_search_claims_of_levels_is_counted_on_their_labels() -> None:
    table = Leveled(prepare(people(), JOB), JOB)
    figures = explore(people(), JOB, ks=[4], limits=[0.3]).points[0]
    levels = tuple(figures.levels.values())
    assert table.figures(levels, 4, figures.suppressed, figures.loss)["classes"] == figures.classes
    with pytest.raises(VerificationFailed, match="rows would be suppressed at k = 4"):
        table.figures(levels, 4, figures.suppressed + 1, figures.loss)
    with pytest.raises(VerificationFailed, match="claims a loss"):
        table.figures(levels, 4, figures.suppressed, figures.loss - 0.01)


def test_the_front_is_not_beaten() -> None:
    found = explore(people(), JOB, ks=range(2, 12), limits=[0, 0.05, 0.2])
    assert found.front
    for best in found.front:
        assert not any(
            p.loss is not None and p.loss < best.loss - 1e-9 and p.highest_risk <= best.highest_risk
            for p in found.points
        )
    for point in found.points:
        if point.loss is not None and not point.best:
            assert any(
                b.loss <= point.loss + 1e-12 and b.highest_risk <= point.highest_risk + 1e-12 for b in found.front
            )


def test_no_release_is_a_point_with_a_reason() -> None:
    capped = JOB.replaced(max_levels={"age": 0, "sex": 0, "zip": 0})
    found = explore(people(), capped, ks=[50])
    (point,) = found.points
    assert point.loss is None
    assert "150 of 150 rows" in str(point.reason)
    assert not found.front


def test_interrupted_runs_go_on(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    sets = [["l-distinct:ill:2"], ["t-equal:ill:0.5"]]
    whole = explore(people(), JOB, ks=[2, 3, 4], models=sets)
    seen = 0

    def stop(step: object) -> bool:
        nonlocal seen
        seen += 1
        return seen < 6

    with pytest.raises(Cancelled):
        explore(people(), JOB, ks=[2, 3, 4], models=sets, state=state, progress=stop)
    kept = state.read_text().count("\n") - 1
    state.write_text(state.read_text() + '{"k": 4, "supp')  # killed while writing
    again = explore(people(), JOB, ks=[2, 3, 4], models=sets, state=state)
    assert again.points == whole.points
    assert kept < 6
    done = explore(people(), JOB, ks=[2, 3, 4], models=sets, state=state)
    assert done.points == whole.points
    assert done.judged == 0
    with pytest.raises(JobError, match="belongs to another table"):
        explore(people(seed=4), JOB, ks=[2], state=state)
    state.write_text("something else\n")
    with pytest.raises(JobError, match="not a state file"):
        explore(people(), JOB, ks=[2], state=state)


def test_bad_grids_are_refused() -> None:
    with pytest.raises(JobError, match="at least one k"):
        explore(people(), JOB, ks=[])
    with pytest.raises(JobError, match="at least 2"):
        explore(people(), JOB, ks=[1, 2])
    with pytest.raises(JobError, match="only 150 rows"):
        explore(people(), JOB, ks=[151])
    with pytest.raises(JobError, match="Leave 'k' out"):
        explore(people(), JOB, ks=[2], models=[["k:3"]])
    with pytest.raises(JobError, match="too many"):
        explore(people(), JOB, ks=range(2, 30_000))
    with pytest.raises(JobError, match="between 0 and 1"):
        explore(people(), JOB, ks=[2], limits=["200%"])


@pytest.mark.parametrize(
    ("text", "says"), [("x", "not a value of k"), ("9..2", "backwards"), ("2..9..0", "not a value")]
)
def test_wrong_ks(text: str, says: str) -> None:
    with pytest.raises(JobError, match=says):
        parse_ks(text)


@pytest.fixture(scope="module")
def small() -> Exploration:
    return explore(people(), JOB, ks=[2, 5, 9], limits=[0, 0.1])


def test_pictures_and_tables(small: Exploration) -> None:
    points = [point.to_dict() for point in small.points]
    chart = risk_map(points, "loss")
    assert len(chart["data"]["values"]) == 6
    assert picture(chart, "svg").startswith(b"<svg")
    assert picture(chart, "png")[:4] == b"\x89PNG"
    text = small.to_html()
    assert text.count("<tr") == 7
    assert text.count("<figure>") == 1 and "http:" not in text
    assert len(table_csv(points).splitlines()) == 7
    assert json.loads(json.dumps(small.to_dict()))["points"][0]["k"] == 2


def test_labels_of_a_column_and_level_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases of one exploration share levels; whether their labels are true is read once for each."""
    from kanopy.verify import labels

    read = labels.false_labels
    levels: list[tuple[str, tuple[object, ...]]] = []

    def noted(original: pl.Series, published: pl.Series, *more: object, **options: object) -> object:
        levels.append((str(original.name), tuple(published.unique().sort().to_list())))
        return read(original, published, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(labels, "false_labels", noted)
    given = {"age": {"method": "widths", "widths": [5, 10]}, "sex": {"method": "suppress"}, "zip": {"method": "redact"}}
    job = Job(quasi=["age", "sex", "zip"], k=2, hierarchies=given)
    found = explore({name: values for name, values in people().items() if name != "ill"}, job, ks=range(2, 30))
    releases = len({point.classes for point in found.points})
    assert releases > 1
    assert len(levels) == len(set(levels)) < 3 * releases
