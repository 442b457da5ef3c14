"""Models in jobs, in the whole flow, in the second opinion and in `check`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from kanopy._errors import DataError, JobError, KanopyError, NoSolution, VerificationFailed
from kanopy._job.job import Job
from kanopy.cli import app
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import MODELS, parse_model
from kanopy.release.run import anonymize
from kanopy.study.check import check
from kanopy.verify.regroup import Background
from kanopy.verify.verify import verify
from tests.test_handover import named

ILL = Hierarchy.from_rows([["flu", "mild", "*"], ["cold", "mild", "*"], ["hiv", "grave", "*"]], name="ill")
JOB = Job(
    quasi=["age", "sex", "zip"],
    k=3,
    suppress=0.3,
    identifiers=["name"],
    hierarchies={"age": {"method": "widths", "widths": [5, 10, 20]}, "ill": ILL},
)


def test_models_in_a_job_file() -> None:
    job = Job(
        quasi=["age"],
        models=["t-equal:ill:0.2", "l-plus:ill:hiv=3", "k:7", {"name": "constrained", "column": "age", "nodes": ["x"]}],
    )
    assert job.k == 7
    assert job.sensitive == ("ill",)
    text = job.to_toml()
    assert text.count("[[models]]") == 3
    assert Job.from_toml(text) == job
    assert Job.from_dict(json.loads(json.dumps(job.to_dict()))) == job
    assert [model.name for model in job.all_models] == ["k", "t-equal", "l-plus", "constrained"]


def test_contradictions_are_refused() -> None:
    with pytest.raises(JobError, match="k is 5 and 7"):
        Job(quasi=["age"], k=5, models=["k:7"])
    with pytest.raises(JobError, match="k is 6 and 7"):
        Job(quasi=["age"], models=["k:7", "k:6"])
    with pytest.raises(JobError, match="identifies people"):
        Job(quasi=["age"], identifiers=["name"], models=["l-distinct:name:2"])
    with pytest.raises(JobError, match="is a quasi-identifier"):
        Job(quasi=["age"], models=["l-distinct:age:2"])
    with pytest.raises(JobError, match="insensitive"):
        Job(quasi=["age"], insensitive=["ill"], models=["l-distinct:ill:2"])
    with pytest.raises(JobError, match="not a quasi-identifier"):
        Job(quasi=["age"], models=["constrained:zip:13***"])
    with pytest.raises(JobError, match="must not be published"):
        Job(quasi=["age"], sensitive=["guard"], models=["guarding:ill:guard,0.5"])
    with pytest.raises(DataError, match="no column 'sick'"):
        anonymize(named(), JOB.replaced(models=["l-distinct:sick:2"]))


FLOW = [
    "p-sensitive:ill:2", "l-distinct:ill:2", "l-entropy:ill:1.5", "l-recursive:ill:4,2", "l-plus:ill:hiv=1.5",
    "t-equal:ill:0.4", "t-hierarchical:ill:0.4", "t-ordered:pay:0.3", "alpha-k:ill:0.8,3", "delta-disclosure:ill:1.2",
    "beta-basic:ill:1.2", "beta-enhanced:ill:1.2", "epsilon-m:pay:3,2", "delta-presence:0,0.8", "k-map:6",
    "risk-average:0.2", "uniqueness:0", "constrained:zip:1300*", "guarding:ill:guard,0.8", "k:4",
    "population-uniqueness:0.01,0.1", "individual-risk:0.02", "household-risk:0.2", "subset-k:1:20,2:5",
]  # fmt: skip


def rich(rows: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    return named(rows, 6).with_columns(
        pay=pl.Series(rng.integers(1, 60, rows)),
        weight=pl.Series(rng.integers(5, 60, rows)),
        home=pl.Series(rng.integers(0, rows // 3, rows)),
        guard=pl.Series([["mild", "grave", None, None][i % 4] for i in range(rows)]),
    )


@pytest.mark.parametrize("text", FLOW)
@pytest.mark.parametrize("suppressed", ["keep", "drop"])
def test_the_whole_flow_under_every_model(text: str, suppressed: str) -> None:
    everybody = pl.concat([rich(), rich(330)])
    changes: dict[str, object] = {"models": [text], "suppressed_rows": suppressed, "suppress": 0.6}
    changes["hierarchies"] = {**JOB.hierarchies, "zip": {"method": "redact"}}
    if text.startswith("k:"):
        changes["k"] = 4
    if "guard" not in text:
        changes["identifiers"] = ["name", "guard"]
    if "-risk:" in text:
        changes["sampling_weight"] = "weight"
    if "household" in text:
        changes["household"] = "home"
    job = JOB.replaced(**changes)
    compares = any(model.needs_population for model in job.models)
    result = anonymize(rich(), job, population=everybody if compares else None)
    assert result.verification.smallest_class >= 3
    assert "guard" not in result.frame.columns
    assert text.split(":")[0] in {model.name for model in result.job.all_models}
    if text.split(":")[0] in {"l-distinct", "p-sensitive", "alpha-k", "l-entropy", "epsilon-m", "l-plus"}:
        # Models that need nothing but the release can be checked on it.
        assert check(result.frame, quasi=JOB.quasi, models=[text]).holds


@pytest.mark.parametrize("algorithm", ["k-member", "mondrian"])
def test_clusterings_satisfy_sensitive_models(algorithm: str) -> None:
    result = anonymize(named(), JOB.replaced(algorithm=algorithm, models=["t-equal:ill:0.3", "l-distinct:ill:3"]))
    assert check(result.frame, quasi=JOB.quasi, models=["t-equal:ill:0.3", "l-distinct:ill:3"]).holds


def test_the_second_opinion_refuses_unsafe_releases() -> None:
    frame = pl.DataFrame({"zip": ["1", "1", "2", "2", "*"], "ill": ["a", "b", "a", "a", "b"]})
    model = [parse_model("l-distinct:ill:2")]
    given = {"rows": 5, "suppressed_rows": 1, "classes": 2, "gone": np.array([False] * 4 + [True])}
    with pytest.raises(VerificationFailed, match="1 published classes violate the model 'l-distinct'"):
        verify(frame, ["zip"], model, background=Background(frame.select("ill")), **given)
    fine = frame.with_columns(ill=pl.Series(["a", "b", "a", "b", "b"]))
    assert verify(fine, ["zip"], model, background=Background(fine.select("ill")), **given).classes == 2
    shown = {**given, "gone": np.array([True, False, False, False, True])}
    with pytest.raises(VerificationFailed, match="still show"):
        verify(fine, ["zip"], model, background=Background(fine.select("ill")), **shown)
    average = [parse_model("risk-average:0.4")]
    with pytest.raises(VerificationFailed, match="risk-average"):
        verify(fine, ["zip"], average, background=Background(fine.select("ill")), **given)


def test_closeness_compares_with_the_table_before_rows_were_dropped() -> None:
    original = pl.DataFrame({"ill": ["a", "a", "a", "b", "b", "b"]})
    release = pl.DataFrame({"zip": ["1", "1", "1", "1"], "ill": ["a", "a", "a", "b"]})
    given = {"rows": 4, "suppressed_rows": 0, "classes": 1}
    with pytest.raises(VerificationFailed, match="t-equal"):
        verify(release, ["zip"], [parse_model("t-equal:ill:0.1")], background=Background(original), **given)
    own = Background(release.select("ill"))
    assert verify(release, ["zip"], [parse_model("t-equal:ill:0.1")], background=own, **given).classes == 1


def test_check_names_the_classes_that_fail() -> None:
    table = {"zip": ["1", "1", "2", "2", "*"], "ill": ["a", "b", "a", "a", "b"]}
    (found,) = check(table, quasi=["zip"], models=["l-distinct:ill:2"]).models
    assert not found.holds
    assert (found.failing_classes, found.failing_rows, found.unguarded) == (2, 3, ("ill",))
    assert found.examples == ({"zip": "*"}, {"zip": "2"})
    alone, told = check(table, quasi=["zip"], models=["l-distinct:ill:2", "k:2"]).models
    assert told == found and not alone.holds and alone.unguarded == ("ill",)
    table["ill"][-1] = None  # as `anonymize` publishes too few suppressed rows
    (found,) = check(table, quasi=["zip"], models=["l-distinct:ill:2"]).models
    assert (found.failing_classes, found.failing_rows, found.examples) == (1, 2, ({"zip": "2"},))
    assert check(table, quasi=["zip"], models=["l-distinct:ill:2", "k:2"]).to_dict()["models"][0]["holds"]
    with pytest.raises(DataError, match="'sick'"):
        check(table, quasi=["zip"], models=["l-distinct:sick:2"])
    with pytest.raises(JobError, match="a quasi-identifier"):
        check(table, quasi=["zip"], models=["l-distinct:zip:2"])
    with pytest.raises(JobError, match="Give one"):
        check(table, quasi=["zip"], models=["k-map:3"])
    with pytest.raises(DataError, match="fewer than the 5"):
        check(table, quasi=["zip"], models=["k-map:3"], population={"zip": ["1", "2"]})
    mapped = check(table, quasi=["zip"], models=["k-map:3"], population={"zip": ["1", "1", "1", "2", "2", "3"]}).models[
        0
    ]
    assert mapped.failing_classes == 1
    complete = {name: values[:-1] for name, values in table.items()}  # no row that might have had a third value is gone
    with pytest.raises(JobError, match="has only 2"):
        check(complete, quasi=["zip"], models=["l-distinct:ill:3"])


def test_population_is_checked() -> None:
    job = JOB.replaced(models=["k-map:3"])
    with pytest.raises(JobError, match="compares with a population"):
        anonymize(named(), job)
    with pytest.raises(DataError, match="fewer than the 150"):
        anonymize(named(), job, population=named(100))
    with pytest.raises(DataError, match="population has no column 'zip'"):
        anonymize(named(), job, population=named().drop("zip"))


# ---- the command line --------------------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    if isinstance(done.exception, KanopyError):
        return done.exception.exit_status, str(done.exception)
    return done.exit_code, done.output


def test_commands(tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "out.csv"
    named().write_csv(data)
    base = [str(data), "-q", "age,sex,zip"]
    common = ["anonymize", *base, "--identifiers", "name", "-k", "3", "--suppress", "20%", "-o", str(out)]
    extra = {name: tmp_path / f"{name}.file" for name in ("mapping", "manifest", "solution")}
    options = [part for name, path in extra.items() for part in (f"--{name}", str(path))]
    code, text = run(*common, "--model", "l-distinct:ill:2", "--model", "t-equal:ill:0.5", *options, "--json")
    assert code == 0, text
    assert [model["name"] for model in json.loads(text.splitlines()[-1])["models"]] == ["l-distinct", "t-equal"]
    assert json.loads(extra["manifest"].read_text())["files"]["output"]["name"] == "out.csv"
    assert extra["mapping"].read_text().startswith("column,original,published,rows")
    again = tmp_path / "again.csv"
    assert run("apply", str(extra["solution"]), str(data), "-o", str(again))[0] == 0
    assert again.read_bytes() == out.read_bytes()
    code, text = run("check", str(out), "-q", "age,sex,zip", "--model", "l-distinct:ill:2", "--json")
    assert code == 0 and json.loads(text.splitlines()[-1])["models"][0]["holds"]
    code, text = run("explore", *base, "-k", "2..4", "--suppress", "0,10%", "-o",
                     str(tmp_path / "map.html"), "--json")  # fmt: skip
    assert code == 0, text
    assert len(json.loads(text.splitlines()[-1])["points"]) == 6
    assert "<svg" in (tmp_path / "map.html").read_text()
    code, text = run("models", "--json")
    assert code == 0 and {model["name"] for model in json.loads(text)["models"]} == set(MODELS)


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "out.csv"
    named().write_csv(data)
    common = ["anonymize", str(data), "-q", "age,sex,zip", "--identifiers", "name", "-o", str(out)]
    for options, says in (
        (["--model", "t-equal:ill:2"], "between 0 and 1"),
        (["--model", "l-distinct:ill:9"], "has only 3"),
        (["--model", "l-distinct:name:2"], "identifies people"),
        (["--model", "l-distinct:nothing:2"], "no column 'nothing'"),
        (["-k", "4", "--model", "k:5"], "contradict"),
        (["--model", "k-map:3"], "population"),
        (["--model", "k-map:3", "--population", str(tmp_path / "none.csv")], "none.csv"),
        (["--pseudonymize", "name", "--key-file", str(tmp_path / "none")], "cannot be read"),
        (["--mapping", str(data)], "input itself"),
    ):
        code, text = run(*common, *options)
        assert code == 2, text
        assert says in text
        assert not out.exists()
    code, _ = run("explore", str(data), "-q", "age", "-k", "2", "-o", str(tmp_path / "map.xyz"))
    assert code == 2


def test_no_solution_names_the_reason() -> None:
    job = JOB.replaced(models=["t-equal:ill:0"], suppress=0.0, max_levels={"age": 0})
    with pytest.raises(NoSolution):
        anonymize(named(), job)
