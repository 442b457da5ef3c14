"""Microaggregation as an algorithm: published figures, independent checks of means, and what cannot be combined."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError, VerificationFailed
from kanopy.verify.averages import verify_averages
from tests.shared_input import needs_shared


def table(rows: int = 120) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": draw.integers(18, 90, rows), "pay": draw.lognormal(8, 1, rows).round(2),
            "sex": draw.choice(["f", "m"], rows), "ill": draw.choice(list("abc"), rows),
        }
    )  # fmt: skip


def job(**changes) -> Job:
    return Job(**({"quasi": ["age", "pay"], "sensitive": "ill", "k": 5, "algorithm": "microaggregation"} | changes))


@pytest.mark.parametrize(("k", "percent"), [(3, 5.69), (10, 14.16)])
def test_mdav_loses_what_the_literature_prints(k, percent):
    census = pl.read_csv(needs_shared("data", "census_casc.csv"))
    wanted = Job(quasi=census.columns, k=k, algorithm="microaggregation", parameters={"variant": "mdav"})
    found = kanopy.anonymize(census, wanted)
    lost = sum(((census[name] - found.frame[name]) / census[name].std()).pow(2).sum() for name in census.columns)
    assert round(100 * lost / (census.width * (census.height - 1)), 2) == percent
    assert found.smallest_class >= k and f"{percent / 100:.2%}" in " ".join(found.notes)


@pytest.mark.parametrize("publish", ["mean", "median"])
def test_classes_publish_the_mean_of_their_rows_and_keep_every_model(publish):
    before = table()
    found = kanopy.anonymize(before, job(parameters={"publish": publish}, models="l-distinct:ill:3"))
    after = found.frame.rename({"age": "a", "pay": "p"}).with_columns(before["age", "pay"])
    average = getattr(pl.Expr, publish)
    classes = after.group_by("a", "p").agg(average(pl.col("age")), average(pl.col("pay")), pl.len(), pl.n_unique("ill"))
    assert classes["len"].min() >= 5 and classes["ill"].min() >= 3
    assert np.allclose(classes["a"], classes["age"]) and np.allclose(classes["p"], classes["pay"])
    assert found.report.to_html().count("<svg") and found.mapping().height


@pytest.mark.parametrize("engine", ["stream", "database"])
def test_engines_publish_the_same_means(tmp_path, engine):
    before, source = table(), tmp_path / "people.parquet"
    before.write_parquet(source)
    if engine == "database":
        import duckdb

        source = tmp_path / "people.duckdb::people"
        with duckdb.connect(str(tmp_path / "people.duckdb")) as there:
            there.execute("CREATE TABLE people AS SELECT * FROM before")
    for place in ("memory", engine):
        read = tmp_path / "people.parquet" if place == "memory" else source
        kanopy.anonymize(read, job(), engine=place, output=tmp_path / f"{place}.csv")
    assert (tmp_path / "memory.csv").read_bytes() == (tmp_path / f"{engine}.csv").read_bytes()


def test_missing_values_stay_missing_or_hide_their_class():
    gaps = table().with_columns(
        age=pl.when(pl.int_range(120) < 2).then(None).otherwise("age"),
        pay=pl.when(pl.int_range(120) > 100).then(None).otherwise("pay"),
    )
    found = kanopy.anonymize(gaps, job())
    assert found.frame["age"].cast(pl.String)[0] == "*" and found.frame["pay"][-1] is None
    assert found.smallest_class >= 5


def test_another_mean_is_noticed():
    before = pl.DataFrame({"age": [30, 34, None]})
    for wrong in (["33", "33", None], ["32", "*", None], ["32", "32", "32"], ["32", "32", "*"]):
        with pytest.raises(VerificationFailed, match="of the class is"):
            verify_averages(before, pl.DataFrame({"age": wrong}), ["age"], ["age"], "mean")
    verify_averages(before, pl.DataFrame({"age": ["32", "32", None]}), ["age"], ["age"], "mean")
    verify_averages(before, pl.DataFrame({"age": ["*", "*", "*"]}), ["age"], ["age"], "mean")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"quasi": ["age", "sex"]}, "'sex' does not hold plain numbers. Give distance = 'gower'"),
        ({"hierarchies": {"age": {"method": "widths", "widths": [10]}}}, "means of 'age', so its hierarchy has no"),
        ({"unit": "ill", "sensitive": ()}, "counts rows, not people"),
        ({"max_levels": {"age": 1}}, "no level"),
        ({"models": "risk-average:0.1"}, "does not support the model 'risk-average'"),
    ],
)
def test_what_cannot_be_combined_is_refused_with_advice(settings, said):
    with pytest.raises(JobError, match=said):
        kanopy.anonymize(table(), job(**settings))
