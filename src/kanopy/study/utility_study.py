"""What is a release still good for? Compare it with the original, whoever made it.

The two tables are matched first: columns by name, rows by order or by a key. Published labels are read by
`kanopy.metrics.utility.published_values`, so that releases of other tools are understood as well as Kanopy's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._lazy import public
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import Integer, taken
from kanopy._usage import Needs, checked, in_vain, refuse_in_vain
from kanopy.metrics.risk.linkage import PublishedColumn
from kanopy.metrics.utility import column_utility as per_column
from kanopy.metrics.utility.association import PairUtility, compare_pair
from kanopy.metrics.utility.bounds import Bounds, summary_bounds
from kanopy.metrics.utility.published_values import Covers
from kanopy.metrics.utility.queries import QueryErrors, query_errors
from kanopy.study.subject import Subject
from kanopy.study.table_matching import Matched, match_tables
from kanopy.treatments.study import TreatedStudy, study_numbers

if TYPE_CHECKING:
    import polars as pl

    from kanopy._job.coercion import JobSource
    from kanopy._job.job import Job
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.metrics.utility.learning import LearnerUtility


MOST_PAIR_COLUMNS = 20
MOST_TARGET_VALUES = 20


@dataclass(frozen=True)
class Assessment(ReprMixin):
    """Everything found out about a release beside its original."""

    rows: int
    released_rows: int
    hidden_rows: int
    quasi: tuple[str, ...]
    columns: tuple[per_column.ColumnUtility, ...]
    dropped: tuple[str, ...]
    skipped: tuple[str, ...]
    pairs: tuple[PairUtility, ...]
    queries: QueryErrors | None
    learners: tuple[LearnerUtility, ...]
    bounds: tuple[Bounds, ...]
    notes: tuple[str, ...] = ()
    distributions: dict[str, dict[str, Any]] = field(default_factory=dict)
    treated: tuple[TreatedStudy, ...] = ()
    """Risk and utility of numbers that were treated, or otherwise changed."""

    @property
    def loss(self) -> float:
        """The mean loss of the quasi-identifiers; a column that is not published lost everything."""
        losses = [column.loss for column in self.columns if column.name in self.quasi]
        losses += [1.0 for name in self.quasi if name in self.dropped]
        return float(np.mean(losses)) if losses else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `kanopy assess --json` prints. Statistics of the original are in it."""
        return {
            "rows": self.rows,
            "released_rows": self.released_rows,
            "left_out_rows": self.rows - self.released_rows,
            "hidden_rows": self.hidden_rows,
            "quasi_identifiers": list(self.quasi),
            "loss": self.loss,
            "columns": [column.to_dict() for column in self.columns],
            "dropped_columns": list(self.dropped),
            "skipped_columns": list(self.skipped),
            "pairs": [pair.to_dict() for pair in self.pairs],
            "queries": None if self.queries is None else self.queries.to_dict(),
            "learners": [learner.to_dict() for learner in self.learners],
            "bounds": [bound.to_dict() for bound in self.bounds],
            "treated_numbers": [numbers_of_column.to_dict() for numbers_of_column in self.treated],
            "notes": list(self.notes),
        }

    def to_html(self, source: str = "a release") -> str:
        """A self-contained page. It shows statistics of the original: keep it as safe as the original."""
        from kanopy.report.pages.utility_page import utility_page

        return utility_page(self.to_dict(), self.distributions, source=source)

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.assessment(self.to_dict())


@public("kanopy")
@checked
def assess(
    original: Any,
    released: Any,
    job: JobSource | None = None,
    *,
    quasi: str | Iterable[str] | None = None,
    on: str | None = None,
    target: str | None = None,
    learn: bool = True,
    queries: int = 500,
    disturbed: bool = False,
    seed: int = 0,
    **more: Any,
) -> Assessment:
    """Compare a release with its original: loss, distributions, associations, count queries, learning, bounds.

    `job` is a job in any form: the original is read as `anonymize` reads it, and the quasi-identifiers and hierarchies
    of the job are taken. Otherwise the columns that changed are compared, and labels are read without hierarchies.
    `quasi` and `more` (`hierarchies`, `separators`, `missing_tokens`, …) are arguments of `Job` that take the place of
    the job's. Rows of both tables are in the same order, or `on` names a column that both have. `target` is the column
    that classifiers learn (by default a sensitive one, or a published category that is no quasi-identifier);
    `learn=False` or a missing scikit-learn leaves them out, with a note.

    >>> before = {"age": [21, 24, 33, 38], "job": ["a", "b", "a", "b"]}
    >>> after = {"age": ["20-29", "20-29", "30-39", "30-39"], "job": ["a", "b", "a", "b"]}
    >>> found = assess(before, after, learn=False)
    >>> found.quasi, round(found.loss, 3), found.queries.median < 1, found.bounds[0].holds
    (('age',), 0.333, True, True)
    """
    from kanopy._job.inputs import resolve_hierarchies
    from kanopy._table.frames import to_polars
    from kanopy.engine.lists import unrolled

    queries = taken(Integer(0), queries, "The number of count queries")
    seed = taken(Integer(0), seed, "seed")
    _refuse_unused({**more, "seed": seed or None}, learn=learn, target=target, queries=queries)
    subject = Subject.of(original, job, quasi=quasi, **more)
    wanted = subject.job
    if job is not None and (absent := [name for name in wanted.quasi if name not in subject.frame.columns]):
        raise DataError(f"The job names columns that the original lacks: {some(absent)}.")
    frame, lists = unrolled(subject.frame, wanted.quasi, wanted.separators)
    hierarchies = subject.hierarchies(list(wanted.hierarchies))
    if job is not None:
        hierarchies = {**resolve_hierarchies(frame, wanted), **hierarchies}
    if lists is not None:
        from kanopy.study.list_elements import paired

        if on is not None:
            raise DataError(f"The lists of {lists.column!r} are compared row by row: leave the column to join by out.")
        released = paired(frame, to_polars(released)[0], lists, hierarchies.get(lists.column))
    matched = match_tables(frame, released, quasi=wanted.quasi, hierarchies=hierarchies, key=on, disturbed=disturbed)
    assessment = assess_matched(
        matched, hierarchies=hierarchies, job=wanted, target=target, learn=learn, queries=queries, seed=seed
    )  # fmt: skip
    notes = () if lists is None else (f"{lists.note} What is measured counts elements.",)
    if lists is None:
        numbers = study_numbers(frame, to_polars(released)[0], matched.partner, wanted.protect, wanted.quasi)
        assessment = replace(assessment, treated=numbers)
    return replace(assessment, notes=(*assessment.notes, *notes, *_about_people(frame, wanted, matched)))


NO_PART = ("k", "models", "population", "sampling_weight", "household", "known")
"""What other studies look at, and no measure of what a release is good for."""


def _refuse_unused(more: Mapping[str, Any], *, learn: bool, target: str | None, queries: int) -> None:
    """Refuse arguments that no measure looks at."""
    given = [name for name, value in more.items() if value is not None]
    if strangers := [name for name in given if name in NO_PART]:
        raise JobError(f"The utility of a release does not depend on {some(strangers)}: leave it out.")
    needs = {
        "sensitive": Needs("classifiers that may learn it (learn=True, no target)", lambda _: learn and target is None),
        "seed": Needs("a random choice (learn, target or queries)", lambda _: learn or target or queries),
    }
    refuse_in_vain(in_vain(given, needs, None))


def _about_people(frame: pl.DataFrame, job: Job, matched: Matched) -> tuple[str, ...]:
    """Of how many people something is published, where the job says whose rows these are."""
    from kanopy._table.grouping import units_in

    units = units_in(frame, job.unit) if set(job.unit) <= set(frame.columns) else None
    if units is None:
        return ()
    published_rows = np.flatnonzero(matched.partner >= 0)
    published_people = len(np.unique(units.of_row[published_rows[~matched.hidden[matched.partner[published_rows]]]]))
    return (
        f"The rows are about {units.count:,} {units.called}; of {published_people:,} of them a row is in the release "
        "that is not hidden. Losses, distributions and count queries concern rows.",
    )


def assess_matched(
    matched: Matched,
    *,
    hierarchies: Mapping[str, Hierarchy],
    job: Job | None = None,
    target: str | None = None,
    learn: bool = True,
    queries: int = 500,
    seed: int = 0,
    least_rows: int = 1,
) -> Assessment:
    """What `assess` says about two tables that lie side by side already.

    Values that fewer than `least_rows` rows have are not named in the distributions.
    """
    notes = []
    if matched.skipped:
        notes.append(f"Not compared, because their values cannot be read: {', '.join(matched.skipped)}.")
    for name, wrong in matched.contradicted.items():
        notes.append(f"{name}: {wrong:,} rows publish a value that does not match the original (disturbed).")
    published_rows = matched.partner >= 0
    columns: list[per_column.ColumnUtility] = []
    bounds: list[Bounds] = []
    drawn: dict[str, dict[str, Any]] = {}
    for name, column in matched.columns.items():
        columns.append(_column(column, matched, hierarchies.get(name), matched.contradicted.get(name, 0)))
        drawn[name] = _distribution(column, least_rows)
        if column.covers.domain.numbers is not None and not column.covers.domain.temporal:
            bounds.extend(_bounds(column, matched))
    associated = [name for name in matched.columns if matched.columns[name].covers.domain.size > 1]
    associated.sort(key=lambda name: name not in matched.quasi)
    pairs = tuple(
        compare_pair(matched.columns[left], matched.columns[right])
        for left, right in combinations(associated[:MOST_PAIR_COLUMNS], 2)
    )
    asked = query_errors(list(matched.columns.values()), queries=queries, seed=seed) if queries else None
    learners: tuple[LearnerUtility, ...] = ()
    if learn or target is not None:
        learners, note = _learned(matched, job, target, seed)
        notes += [note] if note else []
    return Assessment(
        rows=len(published_rows),
        released_rows=int(published_rows.sum()),
        hidden_rows=int(matched.hidden.sum()),
        quasi=matched.quasi,
        columns=tuple(columns),
        dropped=matched.dropped,
        skipped=matched.skipped,
        pairs=pairs,
        queries=asked,
        learners=learners,
        bounds=tuple(bounds),
        notes=tuple(notes),
        distributions=drawn,
    )


def _column(
    column: PublishedColumn, matched: Matched, hierarchy: Hierarchy | None, contradicted: int
) -> per_column.ColumnUtility:
    covers, domain = column.covers, column.covers.domain
    counts = np.bincount(column.labels, minlength=len(covers.labels))
    published_rows = matched.partner >= 0
    labels = column.labels[matched.partner[published_rows]]
    exact = _exact_labels(covers)
    anything = np.array([kind == "anything" for kind in covers.kinds])
    after = per_column.expected_counts(covers, counts)
    lost = matched.left_out
    return per_column.ColumnUtility(
        name=domain.name,
        changed_rows=int((~exact[labels]).sum()) + contradicted,
        hidden_rows=int(counts[anything].sum()),
        contradicted_rows=contradicted,
        values_before=domain.size,
        labels_after=len(covers.labels),
        loss=per_column.house_loss(
            covers, counts, lost_rows=lost, domain_size=None if hierarchy is None else hierarchy.size
        ),
        range_loss=per_column.range_loss(covers, counts, lost_rows=lost),
        bits_kept=per_column.bits_kept(column.values[published_rows], labels),
        total_variation=per_column.total_variation(domain.counts, after),
        earth_movers=per_column.earth_movers_distance(domain.counts, after, domain.numbers),
        numeric=domain.numbers is not None,
    )


def _exact_labels(covers: Covers) -> Mask:
    """Which labels are original values as they were; also those that a hierarchy knows under the same name."""
    exact: Mask = np.isin(covers.kinds, ["value", "missing"]) & (covers.sizes == 1)
    for label in np.flatnonzero((covers.sizes == 1) & ~exact):
        exact[label] = covers.domain.labels[covers.values_of(int(label))[0]] == covers.labels[label]
    return exact


def _distribution(column: PublishedColumn, least: int) -> dict[str, Any]:
    """Shares per bin before and after, for the picture."""
    bins, names = per_column.bins_of(column.covers, least=least)
    before = np.bincount(bins, weights=column.covers.domain.counts, minlength=len(names))
    counts = np.bincount(column.labels, minlength=len(column.covers.labels))
    after = np.bincount(bins, weights=per_column.expected_counts(column.covers, counts), minlength=len(names))
    return {
        "bins": names,
        "before": (before / max(before.sum(), 1)).tolist(),
        "after": (after / max(after.sum(), 1)).tolist(),
    }


def _bounds(column: PublishedColumn, matched: Matched) -> tuple[Bounds, ...]:
    """Rows that were missing in the original take part in no statistic, before or after."""
    present = column.values < column.covers.domain.present
    there = present & (matched.partner >= 0)
    labels = column.labels[matched.partner[there]]
    lost = int((present & (matched.partner < 0)).sum())
    return summary_bounds(column.values[present], labels, column.covers, lost_rows=lost)


def _learned(
    matched: Matched, job: Job | None, target: str | None, seed: int
) -> tuple[tuple[LearnerUtility, ...], str | None]:
    """Classifier accuracy for the target that was named or that suggests itself."""
    from kanopy._errors import MissingDependency
    from kanopy.metrics.utility.learning import learned

    named = target is not None
    if target is None:
        options = [name for name in (job.sensitive if job is not None else ()) if name in matched.columns]
        options += [name for name in reversed(matched.columns) if name not in matched.quasi]
        target = next((name for name in options if _is_target(matched.columns[name].covers)), None)
        if target is None:
            return (), "No classifier was trained: no published category is left to predict. Name one (--target)."
    elif target not in matched.columns:
        raise DataError(f"The tables have no column {target!r} to predict. {near_miss(target, matched.columns)}")
    features = [column for name, column in matched.columns.items() if name != target]
    if not features:
        return (), "No classifier was trained: there is no other column to predict from."
    try:
        return learned(target, matched.columns[target].values, features, matched.partner, seed=seed), None
    except (MissingDependency, DataError) as error:
        if named:
            raise
        return (), str(error)


def _is_target(covers: Covers) -> bool:
    domain = covers.domain
    return 2 <= domain.present <= MOST_TARGET_VALUES and domain.numbers is None
