"""The JSON Schema of job files agrees with what `Job` takes: what is right passes, what is misspelt does not."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import kanopy
from kanopy._errors import InputError
from kanopy._job.job_file import PER_COLUMN, SETTINGS
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.linked.job import PARTS
from kanopy.linked.job import SETTINGS as LINKED
from kanopy.linked.schema import any_job_schema
from kanopy.privacy.models import MODELS
from tests.cli import key_cases
from tests.cli.running import Shell

jsonschema = pytest.importorskip("jsonschema", reason="the group 'test' has it")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def check() -> Any:
    schema = any_job_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def jobs_of_the_docs() -> list[Any]:
    """Every job file, and every block of one, in the documentation."""
    found = [pytest.param(file.read_text(encoding="utf-8"), id=file.name) for file in sorted(DOCS.rglob("*.toml"))]
    for page in sorted(DOCS.rglob("*.md")):
        blocks = re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        found += [pytest.param(block, id=f"{page.name}-{number}") for number, block in enumerate(blocks)]
    return found


def without_nothing(plain: Any) -> Any:
    """What is left of a case: it says nothing where it takes something away."""
    return (
        {key: without_nothing(own) for key, own in plain.items() if own is not None}
        if isinstance(plain, dict)
        else plain
    )


def is_job(plain: dict[str, Any]) -> bool:
    return bool(plain) and ("tables" in plain or set(plain) <= {*SETTINGS, "columns"}) and "..." not in str(plain)


@pytest.mark.parametrize("text", jobs_of_the_docs())
def test_job_files_of_the_documentation_pass(check: Any, text: str) -> None:
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        pytest.skip("a part of a job")
    if not is_job(plain):
        pytest.skip("no job")
    assert not [error.message for error in check.iter_errors(plain)]


@pytest.mark.parametrize("key", key_cases.CASES)
def test_every_key_that_a_job_takes_passes(check: Any, key: str) -> None:
    _, beside, said = key_cases.CASES[key]
    for own in (without_nothing(beside), without_nothing(said)):
        assert not [error.message for error in check.iter_errors(own)], key


def test_every_key_is_described(check: Any) -> None:
    keys = check.schema["properties"]
    column = keys["columns"]["additionalProperties"]["properties"]
    assert set(keys) == {*SETTINGS, "columns", *LINKED, *PARTS} and set(column) == {"role", *PER_COLUMN}
    assert all(own["description"] for own in (*keys.values(), *column.values()))


def test_mistakes_in_a_job_of_several_tables_are_marked(check: Any) -> None:
    table = {"data": "p.csv", "columns": {"zip": {"role": "quasi-identifier"}}}
    job = {"unit": "p.id", "known": 0, "tables": {"p": table}, "links": [{"from": "v.id", "to": "p.id"}]}
    assert not list(check.iter_errors(job))
    for wrong in (
        {key: own for key, own in job.items() if key != "unit"},
        {key: own for key, own in job.items() if key != "tables"},
        job | {"columns": {}},
        job | {"links": [{"from": "v.id"}]},
        job | {"keys": "plain"},
        job | {"tables": {"p": {"columns": {}}}},
        job | {"tables": {"p": table | {"k": 3}}},
    ):
        assert list(check.iter_errors(wrong)), wrong


@pytest.mark.parametrize("name", list(BUILDERS.usable()))
def test_methods_are_tables_of_their_parameters(check: Any, name: str) -> None:
    job = {"columns": {"x": {"hierarchy": {"method": name, "no_such_parameter": 1}}}}
    assert list(check.iter_errors(job))


def test_examples_of_models_pass(check: Any) -> None:
    for name in MODELS.usable():
        plain = kanopy.Job(quasi=["q"], models=[]).to_dict() | {"models": [MODELS[name].example]}
        assert not list(check.iter_errors(plain))
    made = kanopy.Job(quasi=["q"], models=["t-equal:income:0.2", "l-distinct:ill:2"]).to_dict()
    assert not [error.message for error in check.iter_errors(json.loads(json.dumps(made)))]


@pytest.mark.parametrize(
    "job",
    [
        {"kk": 5},
        {"k": "five"},
        {"k": 0},
        {"rest": "leave"},
        {"metric": "los"},
        {"algorithm": "optimall"},
        {"algorithm": {"name": "mondrian", "no_such": 1}},
        {"models": [{"name": "t-equal", "colum": "x", "t": 0.2}]},
        {"columns": {"age": {"role": "quasi"}}},
        {"columns": {"age": {"hierarchy": {"method": "width", "widths": [5]}}}},
        {"columns": {"age": {"hierarchy": {"method": "widths", "width": 5}}}},
        {"columns": {"age": {"weight": "much"}}},
        {"header-row": 0},
        {"delimiter": "ab"},
        {"shuffle": "no"},
    ],
)
def test_what_is_misspelt_is_marked_by_both(check: Any, job: dict[str, Any]) -> None:
    assert list(check.iter_errors(job))
    with pytest.raises(InputError):
        kanopy.Job.from_dict(job)


def test_init_names_the_schema_beside_the_job(shell: Shell, check: Any) -> None:
    shell.write("people.csv", "age,sex\n" + "".join(f"{30 + i},{'fm'[i % 2]}\n" for i in range(20)))
    assert shell("schema", "-o", "job.schema.json").status == 0
    assert json.loads((shell.folder / "job.schema.json").read_text(encoding="utf-8")) == check.schema
    assert shell("init", "people.csv").status == 0
    text = (shell.folder / "job.toml").read_text(encoding="utf-8")
    assert text.startswith("#:schema ./job.schema.json\n")
    assert not [error.message for error in check.iter_errors(tomllib.loads(text))]
    assert kanopy.Job.read(shell.folder / "job.toml").quasi
