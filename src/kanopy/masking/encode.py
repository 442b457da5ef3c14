"""From the columns of a table to one whose answers can be compared: codes, meanings, similarities."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kanopy._core.classes import Sensitive
from kanopy._core.numbering import distinct_tuples
from kanopy._errors import DataError, HierarchyError, some
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.job import MaskJob
from kanopy.masking.meanings import find_meanings
from kanopy.masking.table import Attribute, MaskingTable, category_attribute, number_attribute, text_attributes

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.encode import SubstitutedColumn
    from kanopy.ontology.taxonomy import Taxonomy

LARGEST_CATEGORY_TABLE = 8_000


def encode_columns(frame: pl.DataFrame, job: MaskJob) -> list[SubstitutedColumn]:
    """The columns to mask as codes of their own values."""
    from kanopy._table.encode import substituted

    return [substituted(frame[name], missing=job.missing, missing_tokens=job.missing_tokens) for name in job.columns]


def masking_tables(
    frame: pl.DataFrame, job: MaskJob, columns: Sequence[SubstitutedColumn]
) -> tuple[MaskingTable, MaskingTable]:
    """The table by which masking is guided, and the one by which its quality is stated (often the same)."""
    from kanopy._table.encode import substituted

    texts = [column for column in columns if column.name in job.text]
    others = tuple(_other_attribute(column, job) for column in columns if column.name not in job.text)
    tuples, counts, tuple_of_row, _ = distinct_tuples([c.codes for c in columns], [len(c.labels) for c in columns])
    order = np.lexsort(tuples.T[::-1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    tuples, counts, tuple_of_row = tuples[order], counts[order], rank[tuple_of_row]
    confidential = [substituted(frame[name]) for name in job.sensitive]
    sensitive = tuple(Sensitive(c.name, tuple(label or "" for label in c.labels), c.codes) for c in confidential)
    weights = tuple(float(job.weights.get(name, 1.0)) for name in job.columns)
    taxonomy = find_ontology(job.ontology) if texts else None
    made: dict[str, MaskingTable] = {}
    for measure in (_guiding_measure(job), job.quality_measure):
        if measure not in made:
            attributes = (*(_texts(taxonomy, texts, job, measure) if taxonomy else ()), *others)
            made[measure] = MaskingTable(attributes, tuples, counts, tuple_of_row, weights, sensitive)
    return made[_guiding_measure(job)], made[job.quality_measure]


def _guiding_measure(job: MaskJob) -> str:
    from kanopy.ontology.similarity.measures import MEASURES

    return job.guide if job.guide in MEASURES else job.quality_measure


def _texts(taxonomy: Taxonomy, texts: Sequence[SubstitutedColumn], job: MaskJob, measure: str) -> tuple[Attribute, ...]:
    from kanopy.ontology.senses.senses_file import read_senses

    choices = read_senses(job.senses) if isinstance(job.senses, (str, Path)) else job.senses
    values = sorted({label for column in texts for label in column.labels if label is not None})
    meanings = find_meanings(
        taxonomy, values, measure=measure, choices=choices, unknown=job.unknown, embedding=job.embedding
    )
    return text_attributes([column.name for column in texts], [column.labels for column in texts], meanings)


def find_ontology(given: str | Path | Taxonomy | Hierarchy) -> Taxonomy:
    """An ontology by name, from a file, or an ordinary hierarchy as one.

    >>> find_ontology(Hierarchy.from_rows([["walk", "sport", "*"], ["beach", "place", "*"]])).size
    5
    """
    from kanopy.ontology.load import load_ontology
    from kanopy.ontology.taxonomy import Taxonomy

    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, Hierarchy):
        return Taxonomy.from_hierarchy(given)
    return load_ontology(given)


def _other_attribute(column: SubstitutedColumn, job: MaskJob) -> Attribute:
    given = job.hierarchies.get(column.name)
    if given is not None:
        from kanopy.hierarchy.files.files import read_hierarchy

        hierarchy = given if isinstance(given, Hierarchy) else read_hierarchy(given, column=column.name)
        return category_attribute(column.name, column.labels, hierarchy_similarities(hierarchy, column.labels))
    if column.numbers is not None:
        return number_attribute(column.name, column.labels, column.numbers)
    return category_attribute(column.name, column.labels)


def hierarchy_similarities(hierarchy: Hierarchy, labels: Sequence[str | None]) -> npt.NDArray[np.float32]:
    """One minus the level at which two values become one, over the height: 1 for equals, 0 if only the top joins them.

    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> hierarchy_similarities(tree, ["a", "b", "c"]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    present = [label for label in labels if label is not None]
    absent = [label for label in present if label not in hierarchy.index]
    if absent:
        raise HierarchyError(
            f"The hierarchy of {hierarchy.name or 'a column'!r} does not know {some(absent)}. Add these values to it."
        )
    if len(present) > LARGEST_CATEGORY_TABLE:
        raise DataError(
            f"The column {hierarchy.name!r} has {len(present):,} values; at most {LARGEST_CATEGORY_TABLE:,} can be "
            "compared by a hierarchy. Leave the hierarchy out, or name the column as text."
        )
    leaves = np.array([hierarchy.index[label] for label in present], np.int64)
    height = max(1, hierarchy.height)
    table = np.zeros((len(present), len(present)), np.float32)
    for level in range(height, -1, -1):
        codes = hierarchy.level(min(level, hierarchy.height)).codes[leaves]
        table[codes[:, None] == codes[None, :]] = 1.0 - level / height
    np.fill_diagonal(table, 1.0)
    return table


def masking_notes(columns: Sequence[SubstitutedColumn], table: MaskingTable, job: MaskJob) -> list[str]:
    """What to tell about answers that are missing, unknown, or understood by a related word only."""
    notes = []
    missing = {column.name: column.missing_rows for column in columns if column.missing_rows}
    if missing:
        listed = ", ".join(f"{name} ({rows:,})" for name, rows in missing.items())
        notes.append(
            f"Missing or empty answers count as a value of their own, similar only to itself: {listed}. "
            "Where they are too few, they are substituted like any other."
        )
    if table.unknown and job.unknown == "own-class":
        notes.append(
            f"{len(table.unknown):,} values are not in the ontology and count as similar only to themselves: "
            f"{some(table.unknown)}. Give them a word in a senses file, or use unknown='embedding'."
        )
    approximate = next((a.meanings.approximate for a in table.attributes if a.meanings), ())
    if approximate:
        notes.append(f"{len(approximate):,} values were understood by a related word only: {some(approximate)}.")
    return notes
