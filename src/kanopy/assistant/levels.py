"""Hierarchies in a session of an assistant: built by a method, edited in steps, told as labels that k rows share."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from kanopy._errors import JobError, called
from kanopy._job.inputs import resolve_hierarchies
from kanopy._job.job import Job
from kanopy._job.reading_rules import read_records
from kanopy._table.column import typed_column
from kanopy.assistant.gate import Count, Gate
from kanopy.classifications.registry import VERSIONS
from kanopy.hierarchy import edit
from kanopy.hierarchy.hierarchy import Hierarchy

METHODS = (
    "auto", "round", "widths", "cuts", "equal_width", "equal_frequency", "iotf", "otf", "cgh", "dates", "redact",
    "prefix", "order", "frequency", "groups", "classification", "hipaa_zip", "ontology", "semantic_clusters",
    "suppress",
)  # fmt: skip
READS_A_FILE = ("file", "population", "ontology", "senses", "synonyms", "decisions")
"""Parameters of methods that may name a file: nothing outside of the folder is read."""
EDITS = {
    each.__name__: each for each in (edit.rename, edit.move, edit.merge, edit.split, edit.insert_level, edit.drop_level)
}
MOST_EDITS = 100


def source_of(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A method with its parameters as a job has them; refuses what would read a file.

    >>> source_of("widths", {"widths": [5, 10]})
    {'method': 'widths', 'widths': [5, 10]}
    """
    called(method, METHODS, "method that an assistant may use")
    if method == "auto" and parameters:
        raise JobError("The method auto takes no parameters. Name another method, or leave the parameters out.")
    for name in parameters:
        if name in (*READS_A_FILE, "method", "k"):
            raise JobError(f"An assistant may not set the parameter {name!r}. Leave it out.")
    if "classification" in parameters:
        called(str(parameters["classification"]), {*VERSIONS, *VERSIONS.values()}, "classification")
    return {"method": method, **parameters}


def hierarchy_of(frame: pl.DataFrame, job: Job, column: str) -> Hierarchy:
    """The hierarchy that a release of the job generalizes a column by."""
    name = called(column, job.quasi, "quasi-identifier")
    return resolve_hierarchies(read_records(frame, job), job)[name]


def edited(hierarchy: Hierarchy, steps: Sequence[Mapping[str, Any]]) -> Hierarchy:
    """A hierarchy after some edits: `{"edit": "rename", "label": …, "to": …}`, and so on.

    >>> edited(Hierarchy.flat(["a", "b"]), [{"edit": "insert_level", "level": 1, "groups": {"ab": ["a", "b"]}}]).height
    2
    """
    if len(steps) > MOST_EDITS:
        raise JobError(f"At most {MOST_EDITS} edits in one call, not {len(steps)}.")
    for step in steps:
        if not isinstance(step, Mapping) or not isinstance(step.get("edit"), str):
            raise JobError(f'Every edit names one of {", ".join(EDITS)}: {{"edit": "rename", "label": …, "to": …}}.')
        change = EDITS[called(step["edit"], EDITS, "edit")]
        arguments = {name: argument for name, argument in step.items() if name != "edit"}
        try:
            hierarchy = change(hierarchy, **arguments)
        except (TypeError, ValueError, AttributeError):
            wanted = ", ".join(list(inspect.signature(change).parameters)[1:])
            raise JobError(f"The edit {change.__name__} takes {wanted}: labels are texts, levels numbers.") from None
    return hierarchy


def level_table(hierarchy: Hierarchy, frame: pl.DataFrame, job: Job, gate: Gate, most: int) -> list[dict[str, Any]]:
    """Per level the labels that may be told, with their rows; how many fewer than k rows have, and how many repeat a
    value that fewer have, such as an end of an interval."""
    records = read_records(frame, job)
    column = typed_column(records[hierarchy.name], missing_tokens=job.missing_tokens, name=hierarchy.name)
    rows = np.zeros(hierarchy.size, np.int64)
    if column is not None:
        for label, count in zip(column.labels(), column.counts.tolist(), strict=True):
            node = hierarchy.index.get(label)
            if node is not None and node < hierarchy.size:
                rows[node] += count
    levels = []
    for level in range(hierarchy.height + 1):
        counted: dict[str, int] = {}
        for node, count in zip(hierarchy.table[level].tolist(), rows.tolist(), strict=True):
            if count:
                label = hierarchy.labels[node]
                counted[label] = counted.get(label, 0) + count
        shared = sorted((item for item in counted.items() if item[1] >= gate.k), key=lambda item: -item[1])
        passing = [item for item in shared if gate.passes(item[0])]
        levels.append({
            "level": Count(level), "labels_of_fewer_rows": Count(len(counted) - len(shared)),
            "labels_withheld": Count(len(shared) - len(passing)),
            "labels": {label: Count(count) for label, count in passing[:most]},
        })  # fmt: skip
    return levels


def publishing(job: Job) -> str:
    """What a release of a job publishes, for the person who approves it; control characters are left out.

    >>> publishing(Job(quasi=["age", "sex"], sensitive="ill", identifiers="name"))
    'generalized: age, sex; unchanged: ill'
    """
    unchanged = [name for name in (*job.sensitive, *job.insensitive) if name not in job.protect]
    parts = {
        "generalized": job.quasi,
        "unchanged": unchanged,
        "treated": job.protect,
        "pseudonymized": job.pseudonymize,
    }
    words = [f"{what}: {', '.join(names)}" for what, names in parts.items() if names]
    words += ["and all columns without a role, unchanged"] if job.rest == "publish" else []
    return "".join(sign if sign.isprintable() else "?" for sign in "; ".join(words))
