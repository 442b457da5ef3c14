"""OMOP Common Data Model: keys, links and first roles of its clinical tables (OHDSI, CDM 5.4).

Codes of concepts are quasi-identifiers that are kept or suppressed, as their numbers mean nothing by size. Dates of
events are shifted by person. Source values, times of day and identifiers of providers and places are not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUASI, SENSITIVE, INSENSITIVE = "quasi-identifier", "sensitive", "insensitive"
CODE = {"role": QUASI, "hierarchy": {"method": "suppress"}}
KEYS = {
    "person": "person_id",
    "visit_occurrence": "visit_occurrence_id",
    "condition_occurrence": "condition_occurrence_id",
    "drug_exposure": "drug_exposure_id",
    "measurement": "measurement_id",
}
"""The primary key of each table; `death` has one row per person and no key of its own."""
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "person": {
        "gender_concept_id": CODE,
        "year_of_birth": {"role": QUASI},
        "race_concept_id": CODE,
        "ethnicity_concept_id": CODE,
    },
    "visit_occurrence": {
        "visit_concept_id": CODE,
        "visit_start_date": {"role": INSENSITIVE},
        "visit_end_date": {"role": INSENSITIVE},
    },
    "condition_occurrence": {"condition_concept_id": CODE, "condition_start_date": {"role": INSENSITIVE}},
    "drug_exposure": {"drug_concept_id": CODE, "drug_exposure_start_date": {"role": INSENSITIVE}},
    "measurement": {
        "measurement_concept_id": CODE,
        "measurement_date": {"role": INSENSITIVE},
        "value_as_number": {"role": SENSITIVE},
        "unit_concept_id": {"role": INSENSITIVE},
    },
    "death": {"death_date": {"role": INSENSITIVE}, "cause_concept_id": {"role": SENSITIVE}},
}
DAYS = 182


def is_omop(columns: Mapping[str, list[str]]) -> bool:
    """Whether tables are those of the OMOP model, by their names and keys.

    >>> is_omop({"person": ["person_id", "gender_concept_id"], "death": ["person_id"]})
    True
    >>> is_omop({"person": ["person_id", "sex"], "visit": ["person_id"]})
    False
    """
    lower_names = {name.lower(): {column.lower() for column in column_list} for name, column_list in columns.items()}
    return {"person_id", "gender_concept_id"} <= lower_names.get("person", set()) and len(
        lower_names.keys() & PRESETS.keys()
    ) > 1


def omop_job(columns: Mapping[str, list[str]], places: Mapping[str, str]) -> dict[str, Any]:
    """The job of those OMOP tables that are there, in the case in which their columns are written.

    >>> tables = {"person": ["person_id", "year_of_birth"], "death": ["person_id", "death_date"]}
    >>> job = omop_job(tables, {"person": "person.csv", "death": "death.csv"})
    >>> job["links"], job["shift-dates"]["columns"]
    ([{'from': 'death.person_id', 'to': 'person.person_id'}], ['death.death_date'])
    """
    tables: dict[str, Any] = {}
    links: list[dict[str, Any]] = []
    dates: list[str] = []
    named = {name.lower(): name for name in columns}
    for preset_table, presets in PRESETS.items():
        if preset_table not in named:
            continue
        name = named[preset_table]
        column_of_lower = {column.lower(): column for column in columns[name]}
        roles = {
            column_of_lower[column]: dict(settings) for column, settings in presets.items() if column in column_of_lower
        }
        tables[name] = {"data": places[name], "columns": roles}
        dates += [
            f"{name}.{column_of_lower[column]}"
            for column in presets
            if column in column_of_lower and column.endswith("_date")
        ]
        for other in ("person", "visit_occurrence"):
            key = KEYS[other]
            if other != preset_table and other in named and key in column_of_lower:
                theirs = {column.lower(): column for column in columns[named[other]]}
                links.append({"from": f"{name}.{column_of_lower[key]}", "to": f"{named[other]}.{theirs[key]}"})
    person = named["person"]
    key = next(column for column in columns[person] if column.lower() == "person_id")
    preset_job: dict[str, Any] = {"unit": f"{person}.{key}", "k": 5, "known": 1, "suppress": "5%", "keys": "numbers"}
    if dates:
        preset_job["shift-dates"] = {"days": DAYS, "columns": dates}
    return preset_job | {"tables": tables, "links": links}
