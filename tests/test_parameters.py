"""Declared parameters: every class has them, every value is checked in plain words, all mistakes come together."""

from __future__ import annotations

from typing import Any

import pytest

from kanopy import Job
from kanopy._errors import InputError, JobError
from kanopy._parameter_types import ColumnNames, Integer, ListOf, MapOf, Number, Optional, Seconds, Share, taken
from kanopy._parameters import describe, make, parameters_of, parse
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.masking.job import MaskJob
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS, algorithm_class

HUGE = 10**5000
ODD: list[Any] = [
    None, True, "abc", "", 1.5, -1, float("nan"), float("inf"), 1e300, HUGE, [], ["a"], [1, "x"], {}, {"a": 1}, {1: 2},
    b"bytes", object(), ((1,),), "1e999999999", "9" * 5000,
]  # fmt: skip
CLASSES: dict[str, Any] = {
    **{name: algorithm_class(name) for name in ALGORITHMS},
    **BUILDERS,
    **MODELS,
    **MASKINGS,
    "job": Job,
    "mask job": MaskJob,
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_says_what_it_is(name: str) -> None:
    for each in describe(CLASSES[name]):
        assert each["kind"] and each["meaning"], each["name"]
        declared = parameters_of(CLASSES[name])[each["name"]]
        if not declared.required and declared.default not in (None, {}):
            assert taken(declared.kind, declared.default) == declared.default, each["name"]


@pytest.mark.parametrize("name", CLASSES)
def test_no_value_ends_in_a_traceback(name: str) -> None:
    """Whatever is given for a parameter is taken or refused in words."""
    kind = CLASSES[name]
    for parameter in parameters_of(kind):
        for value in ODD:
            given = {"column": "ill", parameter: value} if "column" in parameters_of(kind) else {parameter: value}
            try:
                make(kind, given)
            except InputError as error:
                assert len(str(error)) < 5000


@pytest.mark.parametrize("name", CLASSES)
def test_no_text_ends_in_a_traceback(name: str) -> None:
    kind = CLASSES[name]
    for parameter in parameters_of(kind):
        for text in ("abc", "", "-1", "1.5", "two", "1e999999999", "9" * 5000, "[1,", "{", "a=b", ",,", '"', "none"):
            try:
                make(kind, parse(kind, [f"{parameter}={text}"]))
            except InputError as error:
                assert len(str(error)) < 12_000


def test_all_mistakes_of_a_job_come_together() -> None:
    with pytest.raises(JobError) as caught:
        Job(
            quasi=["age"], k=1, suppress="many", metric="los", missing="drop", weights={"age": -1, "zip": 1},
            algorithm="best", parameters={"sed": 1, "steps": "abc"}, models=["t-equal:ill:2", "l-distinct:age:2"],
            hierarchies={"age": {"method": "otf", "linkage": "singel"}},
        )  # fmt: skip
    text = str(caught.value)
    assert text.startswith("9 settings are wrong:")
    for part in ("k must be", "suppress must be", "'loss'", "missing must be", "weights of 'age'", "'sed'", "'seed'",
                 "steps of the algorithm 'best'", "t of the model 't-equal'", "'single'"):  # fmt: skip
        assert part in text
    with pytest.raises(JobError) as caught:
        Job.from_toml('k = 1\nkk = 2\n[columns.age]\nrole = "quasi"\nlevel = 3\n')
    assert len(caught.value.mistakes) == 4


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Integer(0), "1e3", 1000),
        (Number(), "2.50", 2.5),
        (Share(), "2%", 0.02),
        (Seconds(), "500ms", 0.5),
        (ListOf(Integer(1)), "3,1", (3, 1)),
        (ListOf(ListOf(Number())), "[[18], [30]]", [[18], [30]]),
        (MapOf(Number(0)), '{"a": 1}', {"a": 1}),
        (Optional(Integer(0)), "none", None),
        (ColumnNames(), 'a,"b, c"', ("a", "b, c")),
    ],
)
def test_texts_are_read_as_their_kind(kind: Any, text: str, value: Any) -> None:
    assert kind.read(text) == value
    taken(kind, kind.read(text))


def test_a_text_is_never_read_as_letters() -> None:
    assert Job(quasi="age").quasi == ("age",)
    assert Job(quasi=["age"], algorithm="k-member", parameters={"free": "age"}).parameters["free"] == ("age",)
    assert MaskJob(text="why").text == ("why",)


@pytest.mark.parametrize("options", [{}, {"local": True}, {"k": 5}, {"algorithm": "optimal"}, {"models": ["k:7"]}])
def test_a_job_and_its_file_choose_alike(options: dict[str, Any]) -> None:
    """A job that equals its round trip also answers alike when it is changed."""
    job = Job(quasi=["age"], **options)
    again = Job.from_toml(job.to_toml())
    assert again == job
    for change in ({"local": True}, {"local": False}):
        assert again.replaced(**change).algorithm == job.replaced(**change).algorithm
        assert again.replaced(**change).k == job.replaced(**change).k
