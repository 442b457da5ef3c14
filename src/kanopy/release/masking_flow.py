"""Masking from table to release on one page: read, encode, look meanings up, mask, publish, verify, evaluate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanopy._core.classes import Classes, Sensitive
from kanopy._errors import DataError, HierarchyError, JobError, VerificationFailed, near_miss, some
from kanopy._job.inputs import about_index, assign_roles
from kanopy._progress import Callback, Clock, Progress
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.masking.evaluation import Evaluation
from kanopy.masking.job import MaskJob
from kanopy.masking.meanings import Meanings, find_meanings
from kanopy.masking.result import Masked
from kanopy.masking.table import (
    Attribute,
    MaskingTable,
    category_attribute,
    number_attribute,
    text_attributes,
)

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.job import Job
    from kanopy._table.frames import Restore
    from kanopy._table.texts import SubstitutedColumn
    from kanopy.ontology.taxonomy import Taxonomy
    from kanopy.verify.verify import Verification

STAGES = ("read", "encode", "meanings", "mask", "apply", "verify", "evaluate", "write")
LARGEST_CATEGORY_TABLE = 8_000
CURVE_K = tuple(range(2, 21))
MOST_TUPLES_FOR_CURVES = 5_000


@dataclass(frozen=True, eq=False)
class MaskResult:
    """A verified masking. `data` is the published table, of the kind that came in; `evaluation` holds its numbers."""

    frame: pl.DataFrame
    job: MaskJob
    table: MaskingTable
    """By which quality is stated."""
    guide_table: MaskingTable
    """By which masking was guided; often the same."""
    masked: Masked
    evaluation: Evaluation
    verification: Verification
    roles: dict[str, str]
    notes: tuple[str, ...]
    clock: Clock
    source: str
    _restore: Restore
    _numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> Any:
        """The published table, of the kind that came in (pandas, Polars, Arrow, DuckDB, …)."""
        return self._restore(self.frame, None)

    @property
    def unknown(self) -> list[dict[str, Any]]:
        """Values that no ontology knows, with suggestions."""
        found: dict[str, dict[str, Any]] = {}
        for attribute in self.table.attributes:
            for each in attribute.meanings.unknown if attribute.meanings else ():
                found.setdefault(each.value, each.to_dict())
        return list(found.values())

    def summary(self) -> dict[str, Any]:
        """The numbers of the release as plain data: what `kanopy mask --json` prints."""
        return {
            "k": self.job.k,
            "rows": self.table.rows,
            **self._numbers,
            "algorithm": self.job.algorithm,
            "guide": self.job.guide,
            "measure": self.job.quality_measure,
            "search": self.job.search,
            "seed": self.job.seed,
            "verified": True,
            "guarantees_k": self.masked.guarantees_k,
            "unknown": [each["value"] for each in self.unknown],
            "notes": list(self.notes),
            "seconds": self.clock.total(),
        }

    @property
    def report(self) -> MaskReport:
        """Numbers and the page."""
        return MaskReport(self)

    def to_html(self, *, curves: Sequence[int] | None = None) -> str:
        """The report page: substitutions, groups, curves over k, dendrograms.

        `curves` are the values of k that the curves show: 2 to 20 and the job's own, unless the table is large.
        """
        from kanopy.report.pages.masking import MaskingFacts, page

        if curves is None:
            curves = sorted({*CURVE_K, self.job.k}) if len(self.table.tuples) <= MOST_TUPLES_FOR_CURVES else ()
        return page(MaskingFacts.of(self, masking_curves(self, curves) if curves else []))

    def __repr__(self) -> str:
        return (
            f"<MaskResult: {self.table.rows:,} rows, {self.verification.classes:,} groups, smallest "
            f"{self.verification.smallest_class:,}, semantic quality {self.evaluation.semantic_quality:.4f}>"
        )


@dataclass(frozen=True, eq=False)
class MaskReport:
    """The report of a masking in the forms that reports have."""

    result: MaskResult

    def to_dict(self) -> dict[str, Any]:
        """Numbers, substitutions and groups."""
        found = self.result.evaluation
        return {
            **self.result.summary(),
            "substitutions": [each.to_dict() for each in found.substitutions()],
            "published": found.groups(),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)

    def to_html(self, *, values: bool = True) -> str:
        """The page. It always shows answers: substitutions are what a masking is."""
        return self.result.to_html()

    def to_script(self) -> str:
        """A Python script that repeats the run."""
        return self.result.job.script(self.result.source)


def mask(
    data: Any,
    job: MaskJob,
    *,
    progress: Callback | None = None,
    clock: Clock | None = None,
    source: str | None = None,
) -> MaskResult:
    """Substitute rare answers by answers of similar meaning until every published combination is shared by `k` rows.

    `data` is a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns, a list of records, or a path.
    Martínez 2010; see `MaskJob` for the choices.

    >>> answers = {"reason": ["beach", "beach", "seaside", "bird", "bird", "heron"]}
    >>> mask(answers, MaskJob(text=["reason"], k=3)).data["reason"]
    ['beach', 'beach', 'beach', 'bird', 'bird', 'bird']
    """
    from kanopy._table.frames import index_names, to_polars

    clock = clock or Clock(STAGES)
    tell = Progress(progress)
    with clock.stage("read"):
        tell("reading")
        frame, restore = to_polars(data)
    roles, notes = _roles(frame, job)
    notes = (*notes, *about_index(index_names(data), job.identifiers))
    if job.k > frame.height:
        raise JobError(f"k is {job.k:,} but the table has only {frame.height:,} rows. Choose a smaller k.")
    with clock.stage("encode"):
        tell("encoding")
        columns = encode_columns(frame, job)
    with clock.stage("meanings"):
        tell("looking meanings up")
        table, judged = masking_tables(frame, job, columns)
    with clock.stage("mask"):
        tell("masking" if is_prepared() else "preparing compiled code (only the first time)")
        masked = job.make().mask(table, job.k, job.diversity, tell)
    with clock.stage("apply"):
        tell("applying")
        dropped = [name for name, role in roles.items() if role == "identifier"]
        codes = masked.codes_of_rows(table)
        published = frame.drop(dropped).with_columns(
            [column.publish(np.ascontiguousarray(codes[:, j])) for j, column in enumerate(columns)]
        )
    with clock.stage("verify"):
        tell("verifying")
        verification = _verify(frame, published, table, masked, job, dropped)
    with clock.stage("evaluate"):
        tell("evaluating")
        evaluation = Evaluation(judged, masked, job.k)
        numbers = evaluation.numbers()
    return MaskResult(
        frame=published,
        job=job,
        table=judged,
        guide_table=table,
        masked=masked,
        evaluation=evaluation,
        verification=verification,
        roles=roles,
        notes=(*notes, *_notes(columns, judged, job), *masked.notes),
        clock=clock,
        source=source or _name_of(data),
        _restore=restore,
        _numbers=numbers,
    )  # fmt: skip


def _name_of(data: Any) -> str:
    return str(data) if isinstance(data, (str, Path)) else f"a {type(data).__module__.split('.')[0]} table"


def mask_as_release(
    data: Any, job: Job, *, progress: Callback | None = None, clock: Clock | None = None, source: str | None = None
) -> MaskResult:
    """A job of `anonymize` whose algorithm masks; textual quasi-identifiers without a hierarchy go by meaning.

    `parameters` of the job are those of `MaskJob`; `text` names the textual columns if they should be others.
    """
    from kanopy._table.column import is_text
    from kanopy._table.frames import to_polars
    from kanopy.masking.job import job_for_masking

    frame, _ = to_polars(data)
    absent = [name for name in job.quasi if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    text = [name for name in job.quasi if name not in job.hierarchies and is_text(frame[name])]
    return mask(data, job_for_masking(job, text), progress=progress, clock=clock, source=source)


def masking_curves(result: MaskResult, ks: Sequence[int]) -> list[dict[str, Any]]:
    """The numbers of the same masking for other values of k (those the table has rows for)."""
    curves = []
    for k in ks:
        if k <= result.table.rows:
            job = result.job.replaced(k=k)
            masked = job.make().mask(result.guide_table, k, job.diversity, Progress(None))
            found = Evaluation(result.table, masked, k)
            curves.append({"k": k, **found.numbers(semantic_linkage=False)})
    return curves


# ---- from columns to a table that can be masked -----------------------------------------------------------------


def encode_columns(frame: pl.DataFrame, job: MaskJob) -> list[SubstitutedColumn]:
    """The columns to mask as codes of their own values."""
    from kanopy._table.texts import substituted

    return [substituted(frame[name], missing=job.missing, missing_tokens=job.missing_tokens) for name in job.columns]


def masking_tables(
    frame: pl.DataFrame, job: MaskJob, columns: Sequence[SubstitutedColumn]
) -> tuple[MaskingTable, MaskingTable]:
    """The table by which masking is guided, and the one by which its quality is stated (often the same)."""
    from kanopy._core.numbering import distinct_tuples
    from kanopy._table.texts import substituted

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
            meanings = _meanings(taxonomy, texts, job, measure) if taxonomy is not None else None
            attributes = (*_texts(texts, meanings), *others)
            made[measure] = MaskingTable(attributes, tuples, counts, tuple_of_row, weights, sensitive)
    return made[_guiding_measure(job)], made[job.quality_measure]


def _guiding_measure(job: MaskJob) -> str:
    from kanopy.ontology.similarity.measures import MEASURES

    return job.guide if job.guide in MEASURES else job.quality_measure


def _texts(texts: Sequence[SubstitutedColumn], meanings: Meanings | None) -> tuple[Attribute, ...]:
    if meanings is None:
        return ()
    return text_attributes([column.name for column in texts], [column.labels for column in texts], meanings)


def _meanings(taxonomy: Taxonomy, texts: Sequence[SubstitutedColumn], job: MaskJob, measure: str) -> Meanings:
    from kanopy.ontology.senses.senses_file import read_senses

    choices = read_senses(job.senses) if isinstance(job.senses, (str, Path)) else job.senses
    values = sorted({label for column in texts for label in column.labels if label is not None})
    return find_meanings(
        taxonomy, values, measure=measure, choices=choices, unknown=job.unknown, embedding=job.embedding
    )


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


# ---- roles, notes, verification ---------------------------------------------------------------------------------


def _roles(frame: pl.DataFrame, job: MaskJob) -> tuple[dict[str, str], tuple[str, ...]]:
    given = {
        **dict.fromkeys(job.text, "text"),
        **dict.fromkeys(job.quasi, "quasi-identifier"),
        **dict.fromkeys(job.sensitive, "sensitive"),
        **dict.fromkeys(job.identifiers, "identifier"),
        **dict.fromkeys(job.insensitive, "insensitive"),
    }
    return assign_roles(frame, given)


def _notes(columns: Sequence[SubstitutedColumn], table: MaskingTable, job: MaskJob) -> list[str]:
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


def _verify(
    frame: pl.DataFrame,
    published: pl.DataFrame,
    table: MaskingTable,
    masked: Masked,
    job: MaskJob,
    identifiers: Sequence[str],
) -> Verification:
    from kanopy.privacy.models import KAnonymity
    from kanopy.verify.verify import regroup, verify

    if not masked.guarantees_k:
        _verify_swapped(frame, published, table, masked, job, identifiers)
        return regroup(published, job.columns)
    sizes = np.unique(masked.published, axis=0, return_inverse=True)[1].reshape(-1)
    # Rows whose every answer was a star already look like suppressed ones to the second opinion.
    stars = regroup(published, job.columns).suppressed_rows
    found = verify(
        published,
        job.columns,
        [KAnonymity(job.k)],
        identifiers=identifiers,
        rows=frame.height,
        suppressed_rows=stars,
        classes=int(sizes.max()) + 1 - bool(stars),
    )
    _verify_diversity(published, job.columns, job.diversity)
    return found


def _verify_diversity(published: pl.DataFrame, columns: Sequence[str], diversity: Mapping[str, int]) -> None:
    import polars as pl

    for name, need in diversity.items():
        fewest = published.group_by(list(columns)).agg(pl.col(name).n_unique().alias("\0n"))["\0n"].min()
        if not isinstance(fewest, int) or fewest < need:
            raise VerificationFailed(
                f"A published group shows only {fewest!s} different values of {name!r}, {need} were promised. "
                "Nothing was written. This is an error in Kanopy: please report it."
            )


def _verify_swapped(
    frame: pl.DataFrame,
    published: pl.DataFrame,
    table: MaskingTable,
    masked: Masked,
    job: MaskJob,
    identifiers: Sequence[str],
) -> None:
    """Swapping promises that every column keeps its values and that nobody in a small group keeps an answer."""
    left = [name for name in identifiers if name in published.columns]
    if left:
        raise VerificationFailed(f"Identifying columns would be published: {', '.join(left)}. Nothing was written.")
    rare = table.counts[table.tuple_of_row] < job.k
    for j, name in enumerate(job.columns):
        before = np.sort(table.tuples[table.tuple_of_row, j])
        after = masked.codes_of_rows(table)[:, j]
        kept = (after == table.tuples[table.tuple_of_row, j]) & rare
        if not np.array_equal(before, np.sort(after)) or kept.any() or len(published) != len(frame):
            raise VerificationFailed(
                f"Swapping changed how often values of {name!r} occur, or left a rare answer in its place. "
                "Nothing was written. This is an error in Kanopy: please report it."
            )


def is_prepared() -> bool:
    """Whether the kernels of masking are compiled and cached on this machine."""
    from kanopy import _compiler as compiler
    from kanopy.masking.algorithms.fusion_kernel import fuse
    from kanopy.masking.likeness_kernel import linkage

    return compiler.is_prepared((fuse, linkage))


def group_classes(result: MaskResult) -> tuple[Classes, Classes]:
    """The classes of the table before and after, for risk figures."""
    return Classes(result.table.counts), Classes(result.evaluation.sizes)
