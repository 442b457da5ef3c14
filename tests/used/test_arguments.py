"""Every argument of every public function changes what comes out, or is refused in words: found by trying each.

Functions and arguments are read from the package itself: a new one fails here until `argument_cases` gives it a value,
and then if it has no effect.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import KanopyError
from kanopy._job.usage import ATTACKED, STUDIED
from kanopy._parameter_types import ParameterType
from kanopy._parameters import parameters_of
from kanopy._progress import Clock
from kanopy.hierarchy import Hierarchy
from kanopy.release.writing import PublishedRows
from kanopy.study.utility_study import NO_PART
from tests.used import argument_cases as cases
from tests.used import argument_inputs as inputs
from tests.used.argument_cases import Case

ROOMS = ("kanopy", "kanopy.datasets", "kanopy.extend", "kanopy.hierarchy", "kanopy.ontology", "kanopy.privacy")
MORE: dict[str, tuple[str, ...]] = {
    "assess": tuple(name for name in STUDIED if name not in NO_PART),
    "assess_risk": (*STUDIED, *parameters_of(kanopy.RiskSettings)),
    "attack": ATTACKED,
    "check": STUDIED,
    "extend.check": ("parameters", "suffix", "sample"),
    "extend.contract": ("parameters", "suffix", "sample"),
}
"""What the further arguments (`**more`) of a function may be, where they are not declared one by one."""
FURTHER = {"build_hierarchy": ("parameters",), "hierarchy.make_builder": ("parameters",),
           "extend.release_levels": ("facts",)}  # fmt: skip
"""Further arguments that are whatever something else declares: a table of them is taken apart."""
TAKES_TIME = re.compile(
    r'"(seconds|memory)": *(\{[^}]*\}|[\d.e+-]+|null)|\d+\.\d\d? s\b|0x[0-9a-f]{6,}|"made": "[^"]*"'
)


def public_functions() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for room in ROOMS:
        module = importlib.import_module(room) if room != "kanopy.datasets" else kanopy.datasets
        names = getattr(module, "__all__", None) or [
            name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__
        ]
        for name in names:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and not name.startswith("_") and thing not in found.values():
                found[f"{room}.{name}".removeprefix("kanopy.")] = thing
    return found


FUNCTIONS = public_functions()
PAIRS = [
    (name, argument)
    for name, function in FUNCTIONS.items()
    for each in inspect.signature(function).parameters.values()
    for argument in (MORE.get(name, (each.name,)) if each.kind is each.VAR_KEYWORD else (each.name,))
    if argument not in inspect.signature(function).parameters or each.name == argument
]


@pytest.fixture(autouse=True)
def own_folder() -> Iterator[None]:
    """Calls change to folders of their own, with the files that cases name."""
    before = Path.cwd()
    yield
    os.chdir(before)


def made(value: Any) -> Any:
    """A value, or what makes one of it."""
    return value() if inspect.isfunction(value) and value.__name__ != "callback" else value


def call(folder: Path, name: str, given: Mapping[str, Any]) -> Any:
    """What is seen of a call: its answer, what it wrote, and what callbacks were told; or the words of its refusal."""
    folder.mkdir()
    inputs.write_inputs(folder)
    os.chdir(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    arguments = {key: value if value is inputs.read_kin else made(value) for key, value in given.items()}
    for further in FURTHER.get(name, ()):
        arguments |= arguments.pop(further, {})
    try:
        answer = shown(FUNCTIONS[name](**arguments))
        if name == "extend.contract":
            answer = answer, {key: outcome(one) for key, one in FUNCTIONS[name](**arguments).items()}
    except KanopyError as refusal:
        return refusal
    told = {key: shown(value) for key, value in arguments.items() if key in ("progress", "clock")}
    files = {
        path.name: TAKES_TIME.sub("", path.read_bytes().decode("latin-1"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and before.get(path) != path.read_bytes()
    }
    return answer, files, told


def outcome(check: Callable[[], None]) -> str:
    """How a check of a contract ends."""
    try:
        return str(check())
    except Exception as error:
        return repr(error)


def shown(thing: Any, depth: int = 0) -> Any:
    """Everything a caller could see of an answer, as plain data that can be compared."""
    if isinstance(thing, kanopy.Result) and not isinstance(thing.records, PublishedRows):
        return "elsewhere", sorted(thing.notes), thing.levels
    if isinstance(thing, kanopy.Result):
        return (
            shown(thing.data),
            sorted(thing.notes),
            TAKES_TIME.sub("", thing.manifest()),
            shown(thing.bound),
            thing.source,
        )
    if isinstance(thing, Hierarchy):
        return thing.name, thing.size, list(thing.labels), shown(thing.parent), shown(thing.table)
    if isinstance(thing, Clock):
        return [name for name, seconds in thing.seconds.items() if seconds]
    if isinstance(thing, kanopy.ontology.Taxonomy):
        return thing.name, [thing.label(i) for i in range(min(20, len(thing.keys)))], shown(thing.parents)
    if inspect.isfunction(thing):
        return getattr(thing, "steps", thing.__name__)
    if isinstance(thing, pl.DataFrame):
        return thing.to_dicts()
    if isinstance(thing, np.ndarray):
        return str(thing.dtype), thing.tolist()
    if isinstance(thing, Path):
        return thing.name
    if isinstance(thing, (str, int, float, bool, type(None), ModuleType, type)):
        return TAKES_TIME.sub("", thing) if isinstance(thing, str) else thing
    if isinstance(thing, Mapping):
        return {str(key): shown(value, depth + 1) for key, value in thing.items()}
    if isinstance(thing, (list, tuple, set, frozenset)) or inspect.isgenerator(thing):
        return [shown(each, depth + 1) for each in thing]
    if isinstance(thing, ParameterType):
        return thing.words
    plain = getattr(thing, "to_dict", None)
    if plain is not None and len(inspect.signature(plain).parameters) == 0:
        return TAKES_TIME.sub("", json.dumps(plain(), default=str))
    if is_dataclass(thing) and depth < 6:
        return {each.name: shown(getattr(thing, each.name), depth + 1) for each in fields(thing)}
    if hasattr(thing, "values") and callable(thing.values):
        return [shown(each, depth + 1) for each in thing.values()]
    return TAKES_TIME.sub("", repr(thing))


def case_of(name: str, argument: str) -> Case:
    case = cases.GIVEN.get(name, {}).get(argument)
    assert case is not None, f"Give {argument} of {name} a value in tests/used/argument_cases.py."
    return case


@pytest.mark.filterwarnings("ignore:umlauts.csv is not UTF-8:UserWarning", "ignore:Columns were renamed:UserWarning")
@pytest.mark.parametrize(("name", "argument"), PAIRS)
def test_an_argument_changes_something_or_is_refused(tmp_path: Path, name: str, argument: str) -> None:
    case = case_of(name, argument)
    plain = cases.PLAIN[name]()
    beside = {**plain, **case.beside}
    base = call(tmp_path / "plain", name, beside)
    if case.refused_alone:
        alone = call(tmp_path / "alone", name, {**plain, argument: case.value})
        assert isinstance(alone, KanopyError), f"{argument} of {name} has no effect alone, and no word says so"
        assert not re.search(r"unexpected keyword|Traceback", str(alone))
    changed = call(tmp_path / "changed", name, {**beside, argument: case.value})
    if case.refused:
        assert isinstance(changed, KanopyError), f"{argument} of {name}: {case.refused}"
        return
    assert not isinstance(changed, KanopyError), f"{argument} of {name} is refused: {changed}"
    assert (base == changed) == ((name, argument) in cases.NO_EFFECT), f"{argument} of {name}: no effect, no word"


@pytest.mark.parametrize("name", NO_PART)
def test_what_no_measure_of_use_looks_at_is_refused(name: str) -> None:
    value = {"models": "k:3", "population": "everybody.csv", "known": 2, "k": 3}.get(name, "w")
    with pytest.raises(KanopyError, match=name):
        kanopy.assess(inputs.people(), inputs.released(), **{name: value})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_is_repeatable(tmp_path: Path, name: str) -> None:
    """Else a difference would say nothing."""
    one, other = (call(tmp_path / each, name, cases.PLAIN[name]()) for each in ("one", "other"))
    assert not isinstance(one, KanopyError), one
    assert one == other


def test_every_case_is_of_an_argument_that_there_is() -> None:
    assert set(cases.PLAIN) == set(FUNCTIONS)
    given = {(name, argument) for name, each in cases.GIVEN.items() for argument in each}
    assert not given - {*PAIRS}
    assert set(cases.NO_EFFECT) <= set(PAIRS) and all(cases.NO_EFFECT.values())
