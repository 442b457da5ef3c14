"""The step for scikit-learn: fitted rows are a release, new rows are said in the same words."""

from __future__ import annotations

import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError

pytest.importorskip("sklearn", reason="pip install 'kanopy[sklearn]'")

AGE = {"method": "widths", "widths": [10, 20]}
JOB = Job(quasi=["age", "sex"], k=4, hierarchies={"age": AGE}, insensitive=["pay"])


def _table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [21, 22, 23, 31, 33, 38, 44, 46, 47, 49] * 3,
            "sex": ["f", "m"] * 15,
            "pay": list(range(30)),
            "rich": ["yes", "no", "no"] * 10,
        }
    )


def test_a_fitted_table_is_the_release_and_new_rows_speak_its_words() -> None:
    from kanopy.sklearn import Anonymizer

    table = _table()
    step = Anonymizer(JOB)
    made = step.fit_transform(table)
    assert made.equals(kanopy.anonymize(table, JOB).data)
    assert step.get_feature_names_out() == made.columns
    assert (
        step.transform(table).with_columns(pl.all().cast(pl.String)).equals(made.with_columns(pl.all().cast(pl.String)))
    )
    strange = pl.DataFrame({"age": [24, 999], "sex": ["x", None], "pay": [1, 2], "more": [1, 2]})
    found = step.transform(strange)
    assert found["age"].to_list() == [made["age"][0], "*"]
    assert found["sex"].to_list() == ["*", None]
    assert found.columns == made.columns


def test_it_stands_in_a_pipeline_and_is_cloned() -> None:
    pandas = pytest.importorskip("pandas", reason="pip install 'kanopy[pandas]'")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    from kanopy.sklearn import Anonymizer

    table = pandas.DataFrame(_table().drop("rich").to_dict(as_series=False))
    model = make_pipeline(Anonymizer(JOB), OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())
    model.fit(table, _table()["rich"].to_list())
    assert len(clone(model).fit(table, _table()["rich"].to_list()).predict(table.head(4))) == 4


def test_jobs_without_one_level_per_column_or_that_lose_rows_are_refused() -> None:
    from kanopy.sklearn import Anonymizer

    with pytest.raises(JobError, match="does not have one level per column"):
        Anonymizer(JOB.replaced(algorithm="mondrian")).fit(_table())
    with pytest.raises(JobError, match="keeps every row"):
        Anonymizer(JOB.replaced(suppressed_rows="drop")).fit(_table())
