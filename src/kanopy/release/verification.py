"""The second opinion on a release: everything that is about to leave is looked at again, by code of its own."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._job.job import Job
from kanopy._job.protection import renamed_identifiers
from kanopy._table.roles import UNPUBLISHED_ROLES
from kanopy.engine.distinct_rows import DistinctRows, RowsElsewhere
from kanopy.release.prepare import Generalizable, Prepared, Substitutable
from kanopy.release.treated.treating import Treated, verify_treated
from kanopy.release.writing import PublishedRows
from kanopy.study import exposed_endpoints as ends

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Mask
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.masking.masking_result import Masked
    from kanopy.search.solution import Solution
    from kanopy.verify.people import UnitColumns
    from kanopy.verify.regroup import Background
    from kanopy.verify.verify import Verification


@dataclass(frozen=True, eq=False)
class Applied:
    """A solution applied to a table: what is about to be published, and what is withheld from it.

    `prepared` and `job` say nothing of columns any more that are withheld because they undo the generalization. The
    `published` rows are those of the table, or one per fragment where an engine holds the rows.
    """

    prepared: Prepared
    job: Any
    solution: Any
    """A `Solution`, or what a masking or a search elsewhere found instead."""
    published: pl.DataFrame | None
    kept: Mask | None = None
    """Which of the original rows (or fragments) are published; `None`: all."""
    about_columns: tuple[str, ...] = ()
    """What is to be said of columns that are withheld."""
    about_suppressed: tuple[str, ...] = ()
    """What is to be said of the sensitive values of suppressed rows."""
    treated: Treated | None = None
    """What was done to columns that are treated."""


@dataclass(frozen=True, eq=False)
class Verified:
    """What the second opinion found of a release, and what is here of it."""

    verification: Verification
    records: PublishedRows | DistinctRows | RowsElsewhere
    solution: Any
    remarks: tuple[str, ...] = ()
    """What names values of the table."""
    population: pl.DataFrame | None = None
    """The labels that the release would publish for the people of the population."""
    treated: tuple[str, ...] = ()
    """What was found to hold of treated columns."""


def second_opinion(
    applied: Applied, records: PublishedRows | DistinctRows, true_labels: set[tuple[str, int]] | None = None
) -> Verified:
    """What is about to leave, looked at again: models, truth of labels, all that the job says; raises if it disagrees.

    The `published` are rows, or fragments with multiplicities. `true_labels` is as in `run`.
    """
    prepared, job, solution, published = applied.prepared, applied.job, applied.solution, applied.published
    assert published is not None
    from kanopy.verify.job import require_used_categories

    background = background_of(prepared, job, solution)
    verification = _verify(applied, published, background)
    remarks: tuple[str, ...] = ()
    if isinstance(prepared.table, Generalizable):
        levels = getattr(solution, "levels", None)
        at_level = {} if levels is None else dict(zip(prepared.names, levels, strict=True))
        labels_verified = set() if true_labels is None else true_labels
        averaged = averaged_columns(prepared, solution)
        checked = {name for name in prepared.names if (name, at_level.get(name)) in labels_verified}
        names = [name for name in prepared.names if name not in checked and name not in averaged]
        if averaged:
            _verify_averages(applied, published, averaged)
        remarks = verified_labels(prepared, prepared.table, job, published, applied.kept, names)
        least = getattr(job, "least_rows", job.k)
        exposed = ends.exposed_endpoints(
            prepared.values, published, names, least, prepared.multiplicity, prepared.units
        )
        remarks += ends.told(exposed)
        labels_verified.update(at_level.items())  # in place: the caller hands the same set to its next release
    _verify_job(applied, published)
    if isinstance(records, PublishedRows):  # other engines write texts
        require_used_categories(published)
    checks = verify_treated(applied.treated, job, published)
    population = None if background is None else background.population
    return Verified(verification, records, solution, remarks, population, checks)


def averaged_columns(prepared: Prepared, solution: Any) -> list[str]:
    """The quasi-identifiers of which classes publish means or medians."""
    averaged = solution.recoding.averaged
    return [name for name, is_averaged in zip(prepared.names, averaged, strict=bool(averaged)) if is_averaged]


def _verify_averages(applied: Applied, published: pl.DataFrame, averaged: list[str]) -> None:
    """The second opinion on means: each is that of the rows which publish it."""
    import polars as pl

    from kanopy.verify.averages import verify_averages

    prepared, job, is_published = applied.prepared, applied.job, applied.kept
    is_suppressed = applied.solution.recoding.group_of_row < 0
    rows, standing = prepared.values, prepared.multiplicity
    if is_published is not None:
        rows, is_suppressed, standing = (
            rows.filter(pl.Series(is_published)),
            is_suppressed[is_published],
            None if standing is None else standing[is_published],
        )
    verify_averages(
        rows, published, prepared.names, averaged, job.parameters.get("publish", "mean"), job.missing_tokens,
        suppressed=is_suppressed, multiplicity=standing,
    )  # fmt: skip


def _verify(applied: Applied, published: pl.DataFrame, background: Background | None) -> Verification:
    """The second opinion on the labels that are about to be published; raises if it disagrees."""
    from kanopy.masking.masking_result import Masked
    from kanopy.verify.verify import verify, verify_swapped

    prepared, job, solution, is_published = applied.prepared, applied.job, applied.solution, applied.kept
    identifiers = [name for name in prepared.unpublished if name not in renamed_identifiers(job)]
    names, multiplicity = prepared.names, prepared.multiplicity
    claims: dict[str, Any]
    if isinstance(solution, Masked):
        tokens = job.missing_tokens
        only_frequent = _verify_answers(prepared, job, published)
        if not solution.guarantees_k:
            return verify_swapped(
                prepared.values, published, names, job.k, identifiers, missing_tokens=tokens, replaced=only_frequent
            )
        # Nothing is suppressed: an answer that reads * is an answer like any other.
        groups = len(np.unique(solution.published, axis=0))
        claims = {"rows": prepared.values.height, "suppressed_rows": 0, "classes": groups}
    else:
        recoding = solution.recoding
        suppressed, dropped = recoding.suppressed_rows, job.suppressed_rows == "drop"
        claims = {
            "rows": prepared.rows - (suppressed if dropped else 0),
            "suppressed_rows": 0 if dropped else suppressed,
            "classes": recoding.classes.count,
            "gone": None if dropped else recoding.group_of_row < 0,
            "sensitive": [name for name, role in prepared.roles.items() if role == "sensitive"],
        }
        claims["unit_columns"] = unit_columns(prepared, job, is_published)
        if (everybody := unit_columns(prepared, job, None)) is not None:
            from kanopy.verify.people import require_fixed

            require_fixed(prepared.values, published, names, everybody, claims["gone"], is_published)
        claims["multiplicity"] = (
            multiplicity if multiplicity is None or is_published is None else multiplicity[is_published]
        )
    return verify(published, names, job.all_models, identifiers=identifiers, background=background, **claims)


def _verify_answers(prepared: Prepared, job: Any, published: pl.DataFrame) -> bool:
    """The second opinion on what replaced rare answers; whether only frequent ones may."""
    from kanopy.verify.answers import verify_answers

    if job.targets == "any" or not isinstance(table := prepared.table, Substitutable):
        return False
    texts = [column.name for column in table.columns if column.is_text and column.name in job.text]
    verify_answers(prepared.values, published, prepared.names, job.k, texts=texts, terms=table.terms, allowed=job.allow)
    return True


def _verify_job(applied: Applied, published: pl.DataFrame) -> None:
    """The second opinion on everything else that the job says; raises if the release does not keep it."""
    from kanopy.masking.masking_result import Masked
    from kanopy.verify.job import RECOUNTED, Claims, verify_job

    prepared, job, solution, is_published = applied.prepared, applied.job, applied.solution, applied.kept
    if isinstance(solution, Masked):
        claims = Claims()
    else:
        domain, levels, metric = prepared.domain, solution.levels, getattr(job, "metric", "")
        claims = Claims(
            rows=None if is_published is None else np.flatnonzero(is_published),
            suppressed=solution.recoding.group_of_row < 0,
            hierarchies=dict(zip(domain.names, domain.hierarchies, strict=True)),
            levels=None if levels is None else dict(zip(domain.names, levels, strict=True)),
            metric=metric,
            score=solution.score if levels is not None and metric in RECOUNTED else None,
            multiplicity=prepared.multiplicity,
        )
    verify_job(job, prepared.values, published, claims)


def unit_columns(prepared: Prepared, job: Job, is_published: Mask | None = None) -> UnitColumns | None:
    """Whose rows are published, read from the original table; `None` where every row stands alone."""
    import polars as pl

    from kanopy._core.units import ALL
    from kanopy.verify.people import UnitColumns

    units = prepared.units
    if units is None or not prepared.names:
        return None
    lists = prepared.lists
    columns = prepared.values[list(job.unit)] if job.unit else pl.DataFrame({"row": lists.row_of if lists else []})
    columns = columns if is_published is None else columns.filter(pl.Series(is_published))
    rows_known, once = None if units.known == ALL else units.known, lists is not None and lists.once
    return UnitColumns(columns, rows_known, units.called, job.missing_tokens, once)


def verified_labels(
    prepared: Prepared,
    table: Generalizable,
    job: Job | MaskJob,
    published: pl.DataFrame,
    is_published: Mask | None,
    names: Sequence[str],
) -> tuple[str, ...]:
    """The second opinion on whether every label of some columns is true of its row; raises if one is not."""
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.verify.labels import verify_labels

    def of_published(values: Any) -> pl.Series | None:
        return None if values is None else pl.Series(values if is_published is None else values[is_published])

    original = prepared.values if is_published is None else prepared.values.filter(pl.Series(is_published))
    units = None if prepared.units is None else prepared.units.of_row
    groups = {name: functools.partial(labels_above, hierarchy) for name, hierarchy in table.hierarchies.items()}
    given = [name for name, source in job.hierarchies.items() if isinstance(source, (Hierarchy, str, Path))]
    tokens = job.missing_tokens
    return verify_labels(
        original, published, names, groups, given=given, missing_tokens=tokens, k=job.k,
        multiplicity=of_published(prepared.multiplicity), units=of_published(units),
    )  # fmt: skip


def labels_above(hierarchy: Hierarchy, value: str) -> list[str]:
    """The labels that the hierarchy of a column gives to a value."""
    leaf = hierarchy.index.get(value)
    nodes = [] if leaf is None else dict.fromkeys(hierarchy.table[:, leaf].tolist())
    return [hierarchy.label(int(node)) for node in nodes]


def background_of(prepared: Prepared, job: Job | MaskJob, solution: Solution | Masked) -> Background | None:
    """What the second opinion compares with; nothing where class sizes decide."""
    from kanopy.masking.masking_result import Masked
    from kanopy.verify.regroup import Background, SurveyColumns

    if not job.models:
        return None
    frame, table = prepared.values, prepared.table
    needed = list(dict.fromkeys(name for model in job.models for name in model.sensitive))
    if isinstance(solution, Masked) or not isinstance(table, Generalizable):
        return Background(frame[needed])
    hidden = [name for model in job.models for name in model.hidden]
    unpublished = frame[hidden] if hidden else None
    is_suppressed = solution.recoding.group_of_row < 0
    if unpublished is not None and is_suppressed.any():
        import polars as pl

        unpublished = unpublished.filter(pl.Series(~is_suppressed))
    population = None
    if any(model.needs_population for model in job.models):
        assert solution.levels is not None, "clusterings refuse models that compare with a population"
        population = table.counted.published_population(solution.levels)
    trees = zip(table.domain.names, table.domain.hierarchies, strict=True)
    survey = None
    if any(model.needs_weights for model in job.models):
        assert isinstance(job, Job)
        names = [name for name in (job.sampling_weight, job.household) if name is not None]
        survey = SurveyColumns(*(frame[name] for name in names)).without(is_suppressed)
    owners = unit_columns(prepared, job) if isinstance(job, Job) else None
    return Background(
        frame[needed], {**dict(trees), **table.confidential}, unpublished, population, survey,
        original_units=None if owners is None else owners.units, original_multiplicity=prepared.multiplicity,
    )  # fmt: skip


def about_order(prepared: Prepared, job: Job | MaskJob, is_published: Mask | None) -> tuple[str, ...]:
    """What the order of the rows gives away, where the job keeps it in what is written."""
    if job.shuffle is not False:
        return ()
    from kanopy.study.order_disclosure import what_order_tells

    lists, hidden = prepared.lists, (*prepared.unpublished, *prepared.names)
    rows = prepared.rows if lists is None else int(lists.row_of[-1]) + 1
    whole = is_published if lists is None else None
    return (what_order_tells(prepared.frame, hidden, getattr(job, "unit", ()), rows, whole),)


def about_order_elsewhere(engine: Any, job: Job, roles: Mapping[str, str], rows: int) -> tuple[str, ...]:
    """The same of a table that an engine holds, as far as its first rows tell."""
    if job.shuffle is not False:
        return ()
    if not engine.reads_batches:
        return (
            "Rows are not shuffled (shuffle = false): the database may return them in the order of the table, and "
            "whoever knows this order finds rows by their position.",
        )
    from kanopy._table.guessing.structure import ROWS_FOR_KEYS
    from kanopy.study.order_disclosure import what_order_tells

    hidden = (*(name for name, role in roles.items() if role in UNPUBLISHED_ROLES), *job.quasi)
    return (what_order_tells(engine.head(ROWS_FOR_KEYS), hidden, job.unit, rows),)
