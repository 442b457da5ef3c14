"""The JSON Schema of job files of one table and of several linked ones."""

from __future__ import annotations

from typing import Any

from kanopy._job.schema import job_schema
from kanopy.linked.job import KEYS, ORPHANS, PARTS, SETTINGS, TABLE_SETTINGS

COLUMN: dict[str, Any] = {"type": "string", "pattern": r"^[^.]+\..+$"}
COLUMNS: dict[str, Any] = {"type": "array", "items": COLUMN}


def any_job_schema() -> dict[str, Any]:
    """The schema of every job file: the keys of a job of one table, and those of several tables with `tables`.

    >>> schema = any_job_schema()
    >>> schema["properties"]["keys"]["enum"], schema["dependencies"]["links"]
    (['numbers', 'hash', 'none'], ['tables'])
    """
    schema = job_schema()
    single: dict[str, Any] = schema["properties"]
    table = {key: single[key] for key in TABLE_SETTINGS if key in single}
    table["data"] = {"type": "string", "description": "the file of the table, or where it is"}
    known = {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "all"}]}
    keys: dict[str, Any] = {
        "unit": {"description": "the column that says whose row it is, such as person.id", **COLUMN},
        "keys": {"description": "how keys are published: fresh numbers, keyed hashes, or not", "enum": list(KEYS)},
        "orphans": {"description": "rows that refer to no row: an error, or left out", "enum": list(ORPHANS)},
        "known": {"description": single["known"]["description"], **known},
        "tables": {
            "description": "several linked tables by their names, instead of the columns of one",
            "type": "object",
            "additionalProperties": {
                "type": "object", "properties": table, "required": ["data"], "additionalProperties": False,
            },
        },
        "links": _listed("foreign keys between the tables", {"from": COLUMN, "to": COLUMN}, {"together": "boolean"}),
        "domains": _listed("columns that share labels", {"columns": {**COLUMNS, "minItems": 2}}),
        "shift-dates": {
            "description": "dates that are shifted by a number of days per person",
            **_object({"days": {"type": "integer", "minimum": 1, "maximum": 36_500}, "columns": COLUMNS}),
        },
    }  # fmt: skip
    own = sorted(keys.keys() - single.keys() - {"tables"})
    linked = {"required": ["unit"], "propertyNames": {"enum": [*SETTINGS, *PARTS]}}
    dependencies = {"tables": linked} | {key: ["tables"] for key in own}
    return {**schema, "properties": {**single, **keys}, "dependencies": dependencies}


def _object(needed: dict[str, Any], kinds: dict[str, str] | None = None) -> dict[str, Any]:
    properties = needed | {name: {"type": kind} for name, kind in (kinds or {}).items()}
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


def _listed(description: str, needed: dict[str, Any], kinds: dict[str, str] | None = None) -> dict[str, Any]:
    return {"description": description, "type": "array", "items": _object(needed, kinds)}
