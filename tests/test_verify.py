"""The second opinion: it knows only labels, and it is right."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanopy
from kanopy._errors import VerificationFailed
from kanopy.privacy.models import KAnonymity
from kanopy.verify.verify import Verification, regroup, verify

labels = st.sampled_from(["a", "b", "*", None, ""])
tables = st.lists(st.tuples(labels, labels), min_size=1, max_size=20)


def frame_of(rows: list[tuple[str | None, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"x": pl.String, "y": pl.String}, orient="row")


@settings(max_examples=60, deadline=None)
@given(tables, st.sampled_from([pl.String, pl.Categorical]))
def test_regrouping_agrees_with_counting(rows: list[tuple[str | None, str | None]], dtype: type[pl.DataType]) -> None:
    sizes = Counter(rows)
    hidden = sizes.pop(("*", "*"), 0)
    found = regroup(frame_of(rows).cast(dtype), ["x", "y"])
    if not sizes:
        assert found == Verification(len(rows), 0, 1, len(rows))
    else:
        assert found == Verification(len(rows), hidden, len(sizes), min(sizes.values()))


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(2, 4), st.integers(0, 4))
def test_small_classes_never_pass(rows: list[tuple[str | None, str | None]], k: int, suppressed: int) -> None:
    sizes = Counter(rows)
    hidden = sizes.pop(("*", "*"), 0)
    if hidden > suppressed:
        sizes["rows generalized", "to the top"] = hidden - suppressed
    safe = hidden >= suppressed and all(size >= k for size in sizes.values())
    claims = {"rows": len(rows), "suppressed_rows": suppressed, "classes": len(sizes)}
    if safe:
        found = verify(frame_of(rows), ["x", "y"], [KAnonymity(k)], **claims)
        assert found.suppressed_rows == suppressed and found.classes == len(sizes)
    else:
        with pytest.raises(VerificationFailed, match="Nothing was written"):
            verify(frame_of(rows), ["x", "y"], [KAnonymity(k)], **claims)


def test_false_claims_are_noticed() -> None:
    frame = frame_of([("a", "a"), ("a", "a"), ("*", "*")])
    good = {"rows": 3, "suppressed_rows": 1, "classes": 1}
    assert verify(frame, ["x", "y"], [KAnonymity(2)], **good) == Verification(3, 1, 1, 2)
    for wrong, words in (
        ({"rows": 4}, "3 rows"),
        ({"suppressed_rows": 2}, "1 suppressed rows"),
        ({"classes": 2}, "1 c"),
    ):
        with pytest.raises(VerificationFailed, match=words):
            verify(frame, ["x", "y"], [KAnonymity(2)], **{**good, **wrong})
    with pytest.raises(VerificationFailed, match="Identifying columns would be published: y"):
        verify(frame, ["x"], [KAnonymity(2)], identifiers=["y"], **good)


def test_rows_of_the_broadest_labels_that_nobody_suppressed_are_a_class() -> None:
    frame = frame_of([("a", "a"), ("a", "a"), ("*", "*"), ("*", "*")])
    assert verify(frame, ["x", "y"], [KAnonymity(2)], rows=4, suppressed_rows=0, classes=2).suppressed_rows == 0
    with pytest.raises(VerificationFailed):
        verify(frame, ["x", "y"], [KAnonymity(3)], rows=4, suppressed_rows=2, classes=1)


def test_numbers_and_names_used_inside() -> None:
    frame = pl.DataFrame({"\0rows": [1, 1, 2, 2], "\0hidden": [1.5, 1.5, None, None], "\0000": ["x"] * 4})
    assert regroup(frame, frame.columns) == Verification(4, 0, 2, 2)


def test_an_empty_release() -> None:
    frame = frame_of([]).cast(pl.Enum(["*"]))
    assert verify(frame, ["x", "y"], [KAnonymity(2)], rows=0, suppressed_rows=0, classes=0).classes == 0


@pytest.mark.parametrize(
    "values", [[True, False, None, True], [1, 2, None, 1], [dt.date(2024, 1, 1), None, None, None]]
)
def test_all_rows_suppressed_beside_a_sensitive_column_of_any_type(values: list[object]) -> None:
    """The library keeps the type of a column without rows where labels are wanted."""
    table = pl.DataFrame({"age": [1, 2, 3, 4], "ill": values})
    job = kanopy.Job(
        quasi=["age"], k=2, sensitive=["ill"], suppress=1.0, missing="suppress",
        hierarchies={"age": {"method": "suppress"}}, max_levels={"age": 0}, models=["l-distinct:ill:2"],
    )  # fmt: skip
    result = kanopy.anonymize(table, job)
    assert result.verification.suppressed_rows == result.frame.height == 4
