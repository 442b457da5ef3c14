"""A job as plain data, as TOML and as a file, and back; every mistake in a file is told at once."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, collected, near_miss, refuse, short
from kanopy._files import usable
from kanopy._job.job import HierarchySource, Job
from kanopy._job.toml_text import toml_key, toml_value
from kanopy._table.policies import ONCE
from kanopy._table.roles import LEAVE_OUT, ROLES
from kanopy.hierarchy.hierarchy import Hierarchy

PER_COLUMN = {
    "hierarchy": "hierarchies",
    "min-level": "min_levels",
    "max-level": "max_levels",
    "weight": "weights",
    "missing-tokens": "column_tokens",
    "decimal": "decimals",
    "separator": "separators",
    "protect": "protect",
}
"""The settings of a column besides its role, and the fields of `Job` that hold them."""

SETTINGS = (
    "k",
    "suppress",
    "metric",
    "algorithm",
    "missing",
    "unknown",
    "suppressed-rows",
    "local",
    "missing-tokens",
    "skip-rows",
    "population",
    "sampling-weight",
    "household",
    "pseudonymize",
    "models",
    "rest",
    "shuffle",
    "allow-dependent",
    "neutralize-formulas",
    "known",
    "repeats",
    "encoding",
    "delimiter",
    "sheet",
    "header-row",
    "places",
    "margin",
    "sample",
)
"""The settings of a job file outside its columns; each is the field of `Job` with this name."""

_UNSAID = {"rest": LEAVE_OUT, "repeats": ONCE}
"""What is not written down."""
_ALWAYS = ("suppress", "metric", "missing", "unknown", "suppressed-rows")


def job_to_dict(job: Job) -> dict[str, Any]:
    """What was said of a job as plain data; its columns under `columns`."""
    columns: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in job.roles.items()}
    for key, field in PER_COLUMN.items():
        # A treatment takes k and the unit from the job that it is in: those are said there.
        for name, value in (job._said_protect if key == "protect" else getattr(job, field)).items():
            plainly = list(value) if isinstance(value, tuple) else value
            plainly = value.to_dict() if key == "protect" else plainly
            columns.setdefault(name, {})[key] = _source_to_plain(value) if key == "hierarchy" else plainly
    plain: dict[str, Any] = {}
    for key in SETTINGS:
        value = getattr(job, key.replace("-", "_"))
        if key == "algorithm":
            named = {"name": value} if "algorithm" in job._said else {}
            value = {**named, **job.parameters} if job.parameters else value
            if named or job.parameters:
                plain[key] = value
        elif key == "models":
            plain |= {key: [model.to_dict() for model in value]} if value else {}
        elif key == "shuffle":
            plain |= {} if value is None else {key: value}
        elif key in _ALWAYS or key in job._said or (key != "k" and value and value != _UNSAID.get(key)):
            plain[key] = list(value) if isinstance(value, tuple) else _lists(value)
    return {**plain, "columns": columns}


def _lists(value: Any) -> Any:
    """A setting that is a table of tuples as a table of lists."""
    return {name: list(item) for name, item in value.items()} if isinstance(value, Mapping) else value


def without_values(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A job as plain data without values of the table: what builders and models name of them is only counted.

    >>> tree = {"method": "groups", "groups": {"France": ["Lyon", "Nice"]}}
    >>> without_values({"k": 5, "columns": {"town": {"hierarchy": tree}}})["columns"]["town"]
    {'hierarchy': {'method': 'groups', 'groups': 1}}
    """
    columns = {
        name: {key: _counted(value) if isinstance(value, Mapping) else value for key, value in settings.items()}
        for name, settings in plain.get("columns", {}).items()
    }
    models = {"models": [_counted(model) for model in plain["models"]]} if "models" in plain else {}
    return {**plain, **models, "columns": columns}


def _counted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers of a builder (widths, cuts) are parameters and no values; lists of texts and tables may hold values."""
    numbers = (list, tuple)
    return {
        key: len(value)
        if isinstance(value, (Mapping, *numbers))
        and not (isinstance(value, numbers) and all(isinstance(item, (int, float)) for item in value))
        else value
        for key, value in settings.items()
    }


FILES_NAMED = ("ontology", "senses", "decisions", "embedding", "classification", "file", "population")
"""Settings of algorithms and methods that name files."""


def job_from_dict(plain: Mapping[str, Any], folder: Path | None = None) -> Job:
    """A job from plain data; paths are taken relative to `folder`."""
    if not isinstance(plain, Mapping) or not isinstance(plain.get("columns", {}), Mapping):
        raise JobError("A job is a table of settings, with a table of columns. `kanopy init DATA` writes one.")
    mistakes = [
        f"The job has an unknown setting {short(key)}. {near_miss(str(key), [*SETTINGS, 'columns'])}"
        for key in plain
        if key not in SETTINGS and key != "columns"
    ]
    options = {key.replace("-", "_"): plain[key] for key in SETTINGS if key in plain}
    population = options.get("population")
    if folder is not None and isinstance(population, str) and "://" not in population:
        options["population"] = str(folder / population)
    if isinstance(options.get("algorithm"), Mapping):
        named = dict(options.pop("algorithm"))
        options |= {"algorithm": named.pop("name")} if "name" in named else {}
        options["parameters"] = placed(named, folder)
    options |= {field: [] for field in ROLES} | {field: {} for field in PER_COLUMN.values()}
    for name, column in plain.get("columns", {}).items():
        mistakes += _read_column(name, column, options, folder)
    job = None
    with collected(mistakes):
        job = Job(**options)
    refuse(mistakes)
    assert job is not None
    return job


def placed(settings: Any, folder: Path | None) -> Any:
    """Settings whose ontologies, senses and models lie in the folder of the job file, where there are such files.

    Ontologies joined by + are looked for one by one; what is no file there is left as it is, such as `wordnet`.
    """
    if folder is None or not isinstance(settings, Mapping):
        return settings

    def there(text: str) -> str:
        beside = usable(folder / text, JobError) if text else folder
        return str(beside) if text and beside.exists() else text

    def found(text: str) -> str:
        whole = there(text)
        return whole if whole != text else "+".join(there(path_text.strip()) for path_text in text.split("+"))

    return {
        key: found(setting) if key in FILES_NAMED and isinstance(setting, str) else setting
        for key, setting in settings.items()
    }


def _read_column(name: str, column: Any, options: dict[str, Any], folder: Path | None) -> list[str]:
    if not isinstance(column, Mapping):
        return [f'[columns.{name}] must hold settings such as role = "quasi-identifier".']
    mistakes: list[str] = []
    fields = {role: field for field, role in ROLES.items()}
    for key, value in column.items():
        if key == "role":
            if isinstance(value, str) and value in fields:
                options[fields[value]].append(name)
            else:
                hint = near_miss(value if isinstance(value, str) else "", fields)
                mistakes.append(f"The column {name!r} has an unknown role {short(value)}. {hint}")
        elif key == "follows":
            options["protect"][name] = {"method": "follow", "column": value}
        elif key in PER_COLUMN:
            if key == "hierarchy" and folder is not None:
                value = str(folder / value) if isinstance(value, str) else placed(value, folder)
            options[PER_COLUMN[key]][name] = value
        else:
            hint = near_miss(str(key), ["role", *PER_COLUMN])
            mistakes.append(f"The column {name!r} has an unknown setting {short(key)}. {hint}")
    return mistakes


def job_to_toml(job: Job) -> str:
    """A job as the text of a TOML file."""
    return plain_to_toml(job_to_dict(job))


def plain_to_toml(plain: Mapping[str, Any]) -> str:
    """A job as plain data as the text of a TOML file."""
    plain = dict(plain)
    columns, models = plain.pop("columns"), plain.pop("models", [])
    lines = [f"{key} = {toml_value(value)}" for key, value in plain.items()]
    for name, settings in columns.items():
        lines += ["", f"[columns.{toml_key(name)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in settings.items()]
    for model in models:
        lines += ["", "[[models]]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in model.items())]
    return "\n".join(lines) + "\n"


def job_from_text(text: str, folder: Path | None = None, *, is_json: bool = False, name: str = "") -> Job:
    """A job from the text of a TOML or JSON file."""
    try:
        plain = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        language = "JSON" if is_json else "TOML"
        raise JobError(f"The job file {name and repr(name) + ' '}is not valid {language}: {error}.") from error
    return job_from_dict(plain, folder)


def read_job(path: Path) -> Job:
    """A job from a `.toml` or `.json` file; the paths in it are relative to it."""
    try:
        text = usable(path, JobError).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise JobError(f"There is no job file {str(path)!r}. `kanopy init DATA` writes one.") from None
    except (OSError, ValueError) as error:
        raise JobError(f"The job file {str(path)!r} cannot be read: {error}.") from error
    return job_from_text(text, path.parent, is_json=path.suffix == ".json", name=str(path))


def _source_to_plain(source: HierarchySource) -> Any:
    if isinstance(source, Hierarchy):
        return {"given": f"{source.size} values, {source.height + 1} levels"}
    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, (str, Path)):
        return str(source)
    defaults = {field.name: field.default for field in dataclasses.fields(source)}
    changed = {name: value for name, value in dataclasses.asdict(source).items() if value != defaults.get(name)}
    return {"method": source.method, **changed}
