"""Tries to get at what a treatment hides: by two releases, by other columns, by what is left as it was."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from kanopy import Job, anonymize
from kanopy._errors import JobError, VerificationFailed
from kanopy.treatments.base import Secrets
from kanopy.verify.treatments import TreatedColumns, verify_treatment

KEY = b"kO4jf8s9dj2mfQpz!xA7"
PAY = np.random.default_rng(0).permutation(np.arange(1000, 9000, 100))


def released(columns, **settings):
    job = Job(**settings)
    secret = any(each.secret != "none" for each in job.protect.values())
    return anonymize(pl.DataFrame(columns), job, key=KEY if secret else None)


def noisy(pay, **settings):
    return released({"pay": pay}, protect={"pay": {"method": "noise", **settings}}).data["pay"].to_numpy()


def test_two_releases_by_one_key_do_not_cancel_their_noise():
    ranked = np.sort(PAY)
    once, twice, shorter = noisy(ranked, share=0.1), noisy(ranked, share=0.2), noisy(ranked[1:], share=0.1)
    assert np.array_equal(once, noisy(ranked, share=0.1))
    assert np.abs(2 * once - twice - ranked).mean() > 50
    assert np.abs((shorter - once[:-1]) - np.diff(ranked)).mean() > 50
    assert np.abs((shorter - ranked[1:]) - (once[1:] - ranked[1:])).mean() > 50


@pytest.mark.parametrize(
    "leader", ["noise", "microaggregate", {"method": "round", "base": 7}, "hash", {"method": "top-code", "top": 8000}]
)
def test_a_following_column_does_not_tell_what_was_replaced(leader):
    columns = {"pay": PAY, "words": [f"{pay} euro" for pay in PAY]}
    job = {"protect": {"pay": leader, "words": {"method": "follow", "column": "pay"}}}
    found = released(columns, **job).data
    own = {str(pay): f"{pay} euro" for pay in PAY}
    for label, words in found.with_columns(pl.col("pay").cast(pl.String)).iter_rows():
        assert words == own.get(label, own.get(label.removesuffix(".0"), "*")) or words == "*"


def test_a_following_column_does_not_narrow_a_range():
    ages = [21] * 5 + [38] * 5 + [52] * 4 + [57] * 4
    job = Job(
        quasi="age", k=5, hierarchies={"age": {"method": "widths", "widths": [10, 20]}},
        protect={"text": {"method": "follow", "column": "age"}}, allow_dependent=(),
    )  # fmt: skip
    data = anonymize(pl.DataFrame({"age": ages, "text": [f"{age} years" for age in ages]}), job).data
    assert set(data.filter(pl.col("age").str.starts_with("["))["text"]) <= {"*"}


def test_the_check_notices_a_following_column_that_tells_more():
    before = pl.DataFrame({"pay": [1.0, 2.0, 3.0], "words": ["one", "two", "three"]})
    after = before.with_columns(pay=pl.Series([1.1, 2.2, 3.3]))
    with pytest.raises(VerificationFailed, match="which value of 'pay' was replaced"):
        verify_treatment(TreatedColumns("words", {"method": "follow", "column": "pay"}, before, after, leaders=after))


def test_columns_that_undo_a_treatment_stay_out():
    rest = np.random.default_rng(3).integers(10, 900, len(PAY))
    columns = {
        "pay": PAY, "cents": PAY * 100, "copy": PAY, "log": np.log(PAY), "net": PAY - 13, "other": rest,
        "band": PAY // 4000,
    }  # fmt: skip
    shown = [name for name in columns if name != "pay"]
    result = released(columns, insensitive=shown, protect={"pay": "microaggregate"})
    assert result.data.columns == ["pay", "other", "band"]
    assert any("'copy' was left out: it" in note and "before its treatment" in note for note in result.notes)
    allowed = released(columns, insensitive=shown, allow_dependent="copy", protect={"pay": "noise"})
    assert "copy" in allowed.data.columns


def test_dates_beside_shifted_ones_stay_out():
    first = [dt.date(2024, 1, 1) + dt.timedelta(days=int(i * 37 % 300)) for i in range(60)]
    columns = {"who": [f"p{i}" for i in range(60)], "in": first, "out": [day + dt.timedelta(days=3) for day in first]}
    job = {"sensitive": "out", "protect": {"in": {"method": "shift-dates", "unit": "who"}}}
    assert released(columns, **job).data.columns == ["in"]
    assert released(columns, **job, allow_dependent="out").data.columns == ["in", "out"]


def test_a_coded_value_stands_for_k_people():
    columns = {"age": [30] * 30, "pay": list(range(30))}
    job = {"quasi": "age", "k": 10}
    with pytest.raises(JobError, match=r"at least 10\. Choose top = 20"):
        released(columns, **job, protect={"pay": {"method": "top-code", "top": 27}})
    released(columns, **job, protect={"pay": {"method": "top-code", "top": 20}})
    people = {"age": [1] * 12, "who": [i // 3 for i in range(12)], "pay": list(range(12))}
    with pytest.raises(JobError, match=r"Only 1 person .* Choose top = 8"):
        released(people, quasi="age", unit="who", k=2, protect={"pay": {"method": "top-code", "top": 9}})
    rows = pl.DataFrame(people)
    coded = rows.with_columns(pay=pl.when(pl.col("pay") >= 9).then(9).otherwise("pay"))
    with pytest.raises(VerificationFailed, match="stands for 1 people"):
        verify_treatment(TreatedColumns("pay", {"method": "top-code", "top": 9, "size": 2}, rows, coded, ("who",)))


def test_a_job_of_treatments_has_no_least_number_of_rows():
    assert released({"x": [1.4, 2.6]}, protect={"x": {"method": "round", "base": 1}}).data["x"].to_list() == [1, 3]


def test_secrets_are_not_shown():
    assert KEY.decode() not in repr(Secrets(KEY)) and "seed" not in repr(Secrets())


def test_rows_that_lose_their_pseudonym_are_treated_and_verified():
    rng = np.random.default_rng(2)
    who = np.sort(rng.integers(0, 60, 150))
    columns = {
        "who": [f"p{i}" for i in who], "age": rng.integers(20, 90, 60)[who], "lab": rng.normal(0, 1, 150),
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(i)) for i in rng.integers(0, 365, 150)],
    }  # fmt: skip
    job = {"quasi": "age", "k": 3, "suppress": 0.1, "unit": "who"}
    result = released(columns, **job, protect={"who": "hash", "day": "shift-dates", "lab": "microaggregate"})
    assert 0 < result.data["who"].null_count() < 150 and len(result.treated.checks) == 3
