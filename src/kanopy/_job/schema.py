"""The JSON Schema of a job file, from the declared fields of `Job`: editors complete its keys, say what they mean and
mark mistakes.

It describes TOML and JSON alike. What depends on several keys at once (a model that needs weights, levels of a column
without a role) is checked by `Job` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy import _parameter_types as kinds
from kanopy._job.job import Job
from kanopy._job.job_file import PER_COLUMN, SETTINGS
from kanopy._job.parameter_types import AtLeastTwo, HierarchyGiven, KnownRows, Models
from kanopy._parameters import parameters_of, plain
from kanopy._table.policies import Delimiter
from kanopy._table.roles import ROLES

Schema = dict[str, Any]
DIALECT = "http://json-schema.org/draft-07/schema#"
COMMENT = "#:schema"
"""What Taplo and the TOML extension of VS Code look for in the first line of a file."""
FILE = "job.schema.json"


def job_schema() -> Schema:
    """The schema of a job file, with the methods, models and algorithms that are installed.

    >>> schema = job_schema()
    >>> schema["properties"]["rest"]["enum"], schema["properties"]["header-row"]["minimum"]
    (['leave out', 'publish'], 1)
    """
    declared = parameters_of(Job)
    keys: dict[str, Schema] = {}
    for key in SETTINGS:
        declaration = declared[key.replace("-", "_")]
        makes_schema = {"algorithm": _algorithm, "models": _models}.get(key)
        keys[key] = _about(declaration, makes_schema() if makes_schema else of_kind(declaration.kind))
    column: dict[str, Schema] = {"role": {"enum": list(ROLES.values()), "description": "what the column is"}}
    for key, field in PER_COLUMN.items():
        declaration = declared[field]
        item = declaration.kind.item  # type: ignore[attr-defined]
        column[key] = _about(declaration, _hierarchy() if key == "hierarchy" else of_kind(item))
    keys["columns"] = {
        "type": "object",
        "description": "the columns of the table by their names; those without a role are not published",
        "additionalProperties": {"type": "object", "properties": column, "additionalProperties": False},
    }
    return {
        "$schema": DIALECT,
        "title": "Kanopy job",
        "description": "What to publish of a table about people, and how safe it must be.",
        "type": "object",
        "properties": keys,
        "additionalProperties": False,
    }


def _about(parameter: Any, schema: Schema) -> Schema:
    needs = f" (no effect without {parameter.needs.words})" if parameter.needs else ""
    described = {"description": f"{parameter.meaning}{needs}", **schema}
    default = plain(parameter.default)
    if not parameter.required and default not in (None, "", [], {}, ()):
        described["default"] = list(default) if isinstance(default, tuple) else default
    return described


def of_kind(kind: kinds.ParameterType) -> Schema:
    """The schema of the values of a kind; one that is not known takes every value, as `Job` checks it.

    >>> of_kind(kinds.Integer(2)), of_kind(kinds.Optional(kinds.Flag()))
    ({'type': 'integer', 'minimum': 2}, {'type': 'boolean'})
    """
    if isinstance(kind, AtLeastTwo):
        return {"type": "integer", "minimum": 1}
    if isinstance(kind, KnownRows):
        return {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "all"}]}
    if isinstance(kind, Delimiter):
        return {"type": "string", "pattern": "^(tab|.)$"}
    if isinstance(kind, kinds.Integer):
        return {"type": "integer", **_limits(kind)}
    if isinstance(kind, (kinds.Share, kinds.Seconds)):
        unit = r"%" if isinstance(kind, kinds.Share) else r"(s|m|h|min)"
        return {
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": rf"^\s*[\d.]+\s*{unit}?\s*$"}]
        }
    if isinstance(kind, kinds.Number):
        return {"type": "number", **_limits(kind)}
    if isinstance(kind, kinds.Flag):
        return {"type": "boolean"}
    if isinstance(kind, kinds.OneOf):
        return {"enum": list(kind.names)}
    if isinstance(kind, (kinds.Text, kinds.Instance)):
        return {"type": "string"}
    if isinstance(kind, kinds.ColumnNames):
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    if isinstance(kind, kinds.ListOf):
        return {"type": "array", "items": of_kind(kind.item), **({"minItems": kind.least} if kind.least else {})}
    if isinstance(kind, kinds.MapOf):
        return {"type": "object", "additionalProperties": of_kind(kind.item)}
    if isinstance(kind, kinds.Either):
        schemas = [of_kind(one_kind) for one_kind in kind.kinds if one_kind.words != "nothing"]
        return schemas[0] if len(schemas) == 1 else {} if {} in schemas else {"anyOf": schemas}
    if isinstance(kind, HierarchyGiven):
        return _hierarchy()
    return _models() if isinstance(kind, Models) else {}


def _limits(kind: Any) -> Schema:
    named = {"minimum": "least", "maximum": "most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
    return {key: limit for key, name in named.items() if (limit := getattr(kind, name, None)) is not None}


def _tables(key: str, classes: Mapping[str, type]) -> list[Schema]:
    """A table per class: its name under `key`, beside its parameters."""
    tables = []
    for name, kind in classes.items():
        properties = {parameter: _about(about, of_kind(about.kind)) for parameter, about in parameters_of(kind).items()}
        needed = [parameter for parameter, about in parameters_of(kind).items() if about.required]
        words = (kind.__doc__ or "").strip().split("\n")[0]
        tables.append(
            {
                "type": "object",
                "description": words,
                "properties": {key: {"const": name}, **properties},
                "required": [key, *needed],
                "additionalProperties": False,
            }
        )
    return tables


def _hierarchy() -> Schema:
    from kanopy.hierarchy.builders.registry import BUILDERS, METHOD_OF_PARAMETER

    auto = {"type": "object", "properties": {"method": {"const": "auto"}}, "required": ["method"]}
    methods = _tables("method", _usable(BUILDERS))
    for parameter, method in METHOD_OF_PARAMETER.items():
        table = next(
            method_table for method_table in methods if method_table["properties"]["method"]["const"] == method
        )
        del table["required"]
        table["anyOf"] = [{"required": ["method"]}, {"required": [parameter]}]
    return {"anyOf": [{"type": "string", "description": "a file"}, auto, *methods]}


def _models() -> Schema:
    from kanopy.privacy.models import MODELS

    one = {
        "anyOf": [{"type": "string", "description": "such as t-equal:income:0.2"}, *_tables("name", _usable(MODELS))]
    }
    return {"anyOf": [{"type": "string"}, {"type": "array", "items": one}]}


def _algorithm() -> Schema:
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.search.algorithms import ALGORITHMS, algorithm_class

    names = [*ALGORITHMS.usable(), *MASKINGS.usable()]
    searches = _tables("name", {name: algorithm_class(name) for name in ALGORITHMS.usable()})
    for search_table in searches:
        search_table["required"] = [
            name for name in search_table["required"] if name != "name"
        ]  # parameters of the default
    masking = {"type": "object", "properties": {"name": {"enum": list(MASKINGS.usable())}}, "required": ["name"]}
    return {"anyOf": [{"enum": names}, *searches, masking]}


def _usable(registry: Any) -> dict[str, type]:
    return {name: registry[name] for name in registry.usable()}
