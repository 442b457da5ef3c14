"""FHIR (R4) bundles and NDJSON exports as tables with keys: Patient, Encounter, Condition, Observation.

Only the fields below are read: what has no column here cannot leave. References become the key of the resource that
they name; a bundle may name it by `fullUrl`. Of repeated elements the first is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._errors import DataError, some

if TYPE_CHECKING:
    import polars as pl

FIELDS: dict[str, dict[str, Sequence[str]]] = {
    "Patient": {
        "patient_id": ("id",),
        "gender": ("gender",),
        "birth_date": ("birthDate",),
        "deceased": ("deceasedDateTime", "deceasedBoolean"),
        "postal_code": ("address.postalCode",),
        "state": ("address.state",),
        "marital_status": ("maritalStatus.coding.code", "maritalStatus.text"),
    },
    "Encounter": {
        "encounter_id": ("id",),
        "patient_id": ("subject.reference",),
        "class": ("class.code", "class.coding.code"),
        "type": ("type.coding.code", "type.text"),
        "start": ("period.start",),
        "end": ("period.end",),
    },
    "Condition": {
        "condition_id": ("id",),
        "patient_id": ("subject.reference",),
        "encounter_id": ("encounter.reference",),
        "code": ("code.coding.code", "code.text"),
        "onset": ("onsetDateTime", "recordedDate"),
    },
    "Observation": {
        "observation_id": ("id",),
        "patient_id": ("subject.reference",),
        "encounter_id": ("encounter.reference",),
        "code": ("code.coding.code", "code.text"),
        "effective": ("effectiveDateTime", "effectivePeriod.start"),
        "value": ("valueQuantity.value", "valueCodeableConcept.coding.code", "valueString"),
        "unit": ("valueQuantity.unit", "valueQuantity.code"),
    },
}
"""Per resource the columns of its table, and where their values are: the first path that leads to one."""
ROLES: dict[str, dict[str, dict[str, Any]]] = {
    "Patient": {
        "gender": {"role": "quasi-identifier"},
        "birth_date": {"role": "quasi-identifier"},
        "postal_code": {"role": "quasi-identifier"},
        "marital_status": {"role": "quasi-identifier"},
    },
    "Encounter": {"class": {"role": "quasi-identifier"}},
    "Condition": {"code": {"role": "quasi-identifier"}},
    "Observation": {"code": {"role": "quasi-identifier"}, "value": {"role": "sensitive"}},
}
SUFFIXES = (".ndjson", ".jsonl")


def is_fhir(source: Any) -> bool:
    """Whether a place names FHIR resources: a bundle, an NDJSON file or a folder of such files, with or without
    `::Resource` behind it."""
    if not isinstance(source, str):
        return False
    path = Path(source.partition("::")[0])
    if path.is_dir():
        return any(_is_resources(file) for file in path.iterdir() if file.suffix in SUFFIXES)
    return path.is_file() and (path.suffix in SUFFIXES or path.suffix == ".json") and _is_resources(path)


def _is_resources(file: Path) -> bool:
    with file.open("rb") as stream:
        return b'"resourceType"' in stream.read(4096)


def read_fhir(source: str) -> dict[str, pl.DataFrame]:
    """The tables of a bundle, an NDJSON file or a folder of NDJSON files, all columns as texts.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "bundle.json"
    >>> patient = {"resourceType": "Patient", "id": "1", "gender": "female", "name": [{"family": "Doe"}]}
    >>> visit = {"resourceType": "Encounter", "id": "7", "subject": {"reference": "Patient/1"}}
    >>> bundle = {"resourceType": "Bundle", "entry": [{"resource": patient}, {"resource": visit}]}
    >>> _ = place.write_text(json.dumps(bundle))
    >>> tables = read_fhir(str(place))
    >>> list(tables), tables["Patient"].columns, tables["Encounter"]["patient_id"].to_list()
    (['Patient', 'Encounter'], ['patient_id', 'gender'], ['1'])
    """
    import polars as pl

    path = Path(source.partition("::")[0])
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
    rows: dict[str, list[dict[str, str | None]]] = {name: [] for name in FIELDS}
    urls: dict[str, str] = {}
    for file in files:
        for url, resource in _resources(file):
            kind = resource.get("resourceType")
            if kind in FIELDS:
                if url and "id" in resource:
                    urls[url] = str(resource["id"])
                rows[str(kind)].append({name: _value(resource, paths) for name, paths in FIELDS[str(kind)].items()})
    frames = {}
    for name, table_rows in rows.items():
        if table_rows:
            frame = pl.DataFrame(table_rows, schema=dict.fromkeys(FIELDS[name], pl.String))
            keys = [column for column in frame.columns if column.endswith("_id")]
            frame = frame.with_columns(pl.col(keys).replace(urls) if urls else pl.col(keys))
            frame = frame.with_columns(pl.col(keys).str.split("/").list.last())
            frames[name] = frame.select(c for c in frame.columns if c in keys or frame[c].null_count() < frame.height)
    if not frames:
        raise DataError(f"{str(path)!r} has no resources of the types {some(list(FIELDS))}.")
    return frames


def fhir_table(source: str, name: str) -> pl.DataFrame:
    """One of the tables; `::Resource` behind the place says which, else the name of the table."""
    tables, wanted = read_fhir(source), source.partition("::")[2] or name
    if wanted not in tables:
        raise DataError(f"{source.partition('::')[0]!r} holds no resources {wanted!r}, but {some(list(tables))}.")
    return tables[wanted]


def _resources(file: Path) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """The resources of a file, those of bundles one by one, with their `fullUrl`."""
    try:
        text = file.read_text(encoding="utf-8")
        plain = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if file.suffix in SUFFIXES
            else [json.loads(text)]
        )
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{str(file)!r} cannot be read as FHIR: {error}.") from None
    for resource in plain:
        if not isinstance(resource, Mapping):
            raise DataError(f"{str(file)!r} contains an entry that is not a FHIR resource.")
        if resource.get("resourceType") == "Bundle":
            for entry in resource.get("entry", ()):
                if isinstance(entry, Mapping) and isinstance(entry.get("resource"), Mapping):
                    yield entry.get("fullUrl"), entry["resource"]
        else:
            yield None, resource


def _value(resource: Mapping[str, Any], paths: Sequence[str]) -> str | None:
    for path in paths:
        value: Any = resource
        for name in path.split("."):
            value = value[0] if isinstance(value, list) and value else value
            value = value.get(name) if isinstance(value, Mapping) else None
        value = value[0] if isinstance(value, list) and value else value
        if value is not None and not isinstance(value, (Mapping, list)):
            return str(value)
    return None


def fhir_job(tables: Mapping[str, pl.DataFrame], source: str) -> dict[str, Any]:
    """The job of the resources that are there: one table each, `::Resource` behind the place names it."""
    if "Patient" not in tables:
        raise DataError(f"{source!r} has no Patient resources, so the persons of the other resources are unknown.")
    keys = {"patient_id": "Patient", "encounter_id": "Encounter"}
    links = [
        {"from": f"{name}.{column}", "to": f"{keys[column]}.{column}"}
        for name, frame in tables.items()
        for column in frame.columns
        if column in keys and keys[column] != name and keys[column] in tables
    ]
    table_settings = {
        name: {
            "data": f"{source}::{name}",
            "columns": {c: dict(s) for c, s in ROLES[name].items() if c in frame.columns},
        }
        for name, frame in tables.items()
    }
    whole = {"unit": "Patient.patient_id", "k": 5, "known": 1, "suppress": "5%", "keys": "numbers"}
    return whole | {"tables": table_settings, "links": links}
