"""What is a release still good for? Compare it with the original, whoever made it.

The two tables are matched first: columns by name, rows by order or by a key. Published labels are read by
`kanopy.metrics.published_values`, so that releases of other tools are understood as well as Kanopy's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kanopy.errors import DataError, JobError, near_miss, some
from kanopy.metrics.association import PairUtility, compare_pair
from kanopy.metrics.bounds import Bounds, summary_bounds
from kanopy.metrics.linkage import LARGEST_TABLE, PublishedColumn, distance_table
from kanopy.metrics.published_values import ColumnDomain, Covers, parse_moment, parse_number, understand
from kanopy.metrics.queries import QueryErrors, query_errors
from kanopy.metrics.utility import (
    ColumnUtility,
    bins_of,
    bits_kept,
    earth_movers_distance,
    expected_counts,
    house_loss,
    range_loss,
    total_variation,
)

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.metrics.learning import LearnerUtility
    from kanopy.spec import Job

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MOST_PAIR_COLUMNS = 20
MOST_TARGET_VALUES = 20


@dataclass(frozen=True, eq=False)
class Matched:
    """Two tables laid side by side.

    `partner[i]` is the released row of original row i, or -1 if it was left out; `hidden` marks released rows that
    publish nothing in any quasi-identifier. `dropped` columns are not in the release; `skipped` ones could not be
    read and are no quasi-identifiers; `contradicted` counts the rows whose label excludes their original value.
    """

    columns: dict[str, PublishedColumn]
    quasi: tuple[str, ...]
    partner: Longs
    hidden: Mask
    released_rows: int
    dropped: tuple[str, ...]
    skipped: tuple[str, ...]
    contradicted: dict[str, int]

    @property
    def left_out(self) -> int:
        """Original rows that are not in the release."""
        return int((self.partner < 0).sum())


def match_tables(
    original: pl.DataFrame,
    released: Any,
    *,
    quasi: Sequence[str] = (),
    hierarchies: Mapping[str, Hierarchy] | None = None,
    key: str | None = None,
    compare: Sequence[str] | None = None,
    disturbed: bool = False,
    partner: Longs | None = None,
) -> Matched:
    """Lay a release beside its original, or say why they do not belong together.

    Rows are matched by `key` (a column with a different value in every row), or else by order; a release with fewer
    rows must be the original in the same order with some rows left out. If no column agrees row by row, the order
    differs and that is an error, unless `disturbed` says that values were exchanged or noise was added on purpose.
    Who knows the released row of every original row gives it as `partner` (-1 where there is none).
    """
    from kanopy.table.frames import to_polars

    frame, _ = to_polars(released)
    hierarchies = hierarchies or {}
    strangers = [name for name in frame.columns if name not in original.columns]
    if strangers:
        raise DataError(
            f"The release has columns that the original lacks: {some(strangers)}. "
            f"{near_miss(strangers[0], original.columns)} Give the original of this release, or rename the columns."
        )
    for name in (*quasi, *([key] if key else [])):
        if name not in original.columns:
            raise DataError(f"The original has no column {name!r}. {near_miss(name, original.columns)}")
    if partner is None:
        partner = _match_rows(original, frame, key)
    shared = [name for name in original.columns if name in frame.columns and name != key]
    wanted = shared if compare is None else [name for name in compare if name in shared]
    if not wanted:
        raise DataError("The release has none of the columns to be compared. Give the original of this release.")
    if not quasi:
        quasi = _changed_columns(original, frame, wanted, partner)
    columns, skipped = _read_columns(original, frame, wanted, quasi, hierarchies, partner)
    if partner is None:
        partner = _embedded(columns, frame.height)
    contradicted = _contradictions(columns, partner, key, disturbed)
    hidden = np.ones(frame.height, bool)
    judged = [columns[name] for name in quasi if name in columns]
    for column in judged:
        anything = np.array([kind == "anything" for kind in column.covers.kinds])
        hidden &= anything[column.labels]
    if not judged or hidden.all():
        hidden[:] = False
    dropped = tuple(name for name in original.columns if name not in frame.columns)
    return Matched(columns, tuple(quasi), partner, hidden, frame.height, dropped, skipped, contradicted)


def _match_rows(original: pl.DataFrame, released: pl.DataFrame, key: str | None) -> Longs | None:
    """The released row of every original row, by key or by order; `None` if rows were left out and must be found."""
    if key is not None:
        if key not in released.columns:
            raise DataError(f"The release has no column {key!r} to match rows by. {near_miss(key, released.columns)}")
        from kanopy.table.grouping import label_codes

        sides = []
        for frame, what in ((original, "original"), (released, "release")):
            labels, codes = label_codes(frame[key])
            if len(labels) < frame.height or None in labels:
                raise DataError(f"The key {key!r} is not different (or missing) in every row of the {what}.")
            sides.append({label: row for row, label in enumerate(labels[code] for code in codes)})
        before, after = sides
        unknown = [label for label in after if label not in before]
        if unknown:
            raise DataError(
                f"{len(unknown):,} rows of the release have a {key!r} that the original lacks: {some(unknown)}."
            )
        return np.array([after.get(label, -1) for label in before], np.int64)
    if released.height > original.height:
        raise DataError(
            f"The release has {released.height:,} rows, the original {original.height:,}. "
            "Give the original of this release, or a key column that matches rows (--key)."
        )
    return np.arange(original.height) if released.height == original.height else None


def _changed_columns(
    original: pl.DataFrame, released: pl.DataFrame, names: Sequence[str], partner: Longs | None
) -> list[str]:
    """Columns whose published values are not those of the original: taken for the quasi-identifiers."""
    from kanopy.table.grouping import label_codes

    changed = []
    for name in names:
        labels, codes = label_codes(original[name])
        others, other_codes = label_codes(released[name])
        if partner is None:
            if not set(others) <= set(labels):
                changed.append(name)
            continue
        place = {label: number for number, label in enumerate(labels)}
        there = np.array([place.get(label, -1) for label in others], np.int64)
        kept = partner >= 0
        if (there[other_codes[partner[kept]]] != codes[kept]).any():
            changed.append(name)
    return changed


def column_domain(column: pl.Series) -> tuple[ColumnDomain, Ints]:
    """The values of an original column, and the position of every row's value among them.

    Texts that are all numbers, or all dates, are ordered and read as such.

    >>> import polars as pl
    >>> domain, codes = column_domain(pl.Series("age", ["31", "9", None, "31"]))
    >>> domain.labels, domain.counts.tolist(), codes.tolist(), domain.numbers[:2].tolist()
    (('9', '31', '(missing)'), [1, 2, 1], [1, 0, 2, 1], [9.0, 31.0])
    """
    import polars as pl

    from kanopy.table.grouping import label_codes

    labels, codes = label_codes(column)
    known = [label for label in labels if label is not None]
    temporal = column.dtype in (pl.Date, pl.Datetime)
    numbers: list[float | None] = [None]
    if column.dtype != pl.Boolean:
        numbers = [parse_moment(label) for label in known] if temporal else [parse_number(label) for label in known]
        if not temporal and any(number is None for number in numbers) and column.dtype in (pl.String, pl.Categorical):
            numbers = [parse_moment(label) for label in known]
            temporal = all(number is not None for number in numbers)
    usable = bool(known) and all(number is not None and np.isfinite(number) for number in numbers)
    usable = usable and len(set(numbers)) == len(known)
    order = sorted(range(len(known)), key=(lambda i: numbers[i] or 0.0) if usable else (lambda i: known[i]))
    ordered = [known[i] for i in order]
    missing = None in labels
    place: dict[str | None, int] = {label: position for position, label in enumerate(ordered)}
    place[None] = len(ordered)
    moved = np.array([place[label] for label in labels], np.int32)[codes]
    values = np.array([*(numbers[i] for i in order), *([np.nan] if missing else [])], np.float64) if usable else None
    names = (*ordered, "(missing)") if missing else tuple(ordered)
    counts = np.bincount(moved, minlength=len(names))
    return ColumnDomain(column.name, names, counts, values, usable and temporal, missing), moved


def _read_columns(
    original: pl.DataFrame,
    released: pl.DataFrame,
    names: Sequence[str],
    quasi: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    partner: Longs | None,
) -> tuple[dict[str, PublishedColumn], tuple[str, ...]]:
    """Every column of both tables as codes; columns that are no quasi-identifiers and cannot be read are skipped."""
    from kanopy.table.grouping import label_codes

    found: dict[str, PublishedColumn] = {}
    skipped = []
    for name in names:
        domain, values = column_domain(original[name])
        labels, codes = label_codes(released[name])
        nulls_are_missing = False
        if None in labels and domain.missing:
            empty = codes == labels.index(None)
            nulls_are_missing = partner is None
            if partner is not None:
                kept = partner >= 0
                was_missing = np.zeros(released.height, bool)
                was_missing[partner[kept]] = values[kept] == domain.present
                nulls_are_missing = bool(was_missing[empty].all())
        try:
            covers = understand(labels, domain, hierarchies.get(name), null_is_missing=nulls_are_missing)
        except DataError:
            if name in quasi:
                raise
            skipped.append(name)
            continue
        found[name] = PublishedColumn(values, codes, covers)
    return found, tuple(skipped)


def _embedded(columns: Mapping[str, PublishedColumn], rows: int) -> Longs:
    """The partner of every original row where the release left rows out but kept the order."""
    from kanopy.kernels.embedding import embed

    used = [
        column for column in columns.values() if column.covers.domain.size * len(column.covers.labels) <= LARGEST_TABLE
    ]
    tables = [distance_table(column.covers, "exact") == 0.0 for column in used]
    if not used:
        raise DataError("Rows were left out and no column can tell which. Give a key column that both tables have.")
    offsets = np.concatenate([[0], np.cumsum([table.size for table in tables])])[:-1].astype(np.int64)
    partner = embed(
        np.column_stack([column.values for column in used]).astype(np.int32),
        np.column_stack([column.labels for column in used]).astype(np.int32),
        np.concatenate([table.ravel() for table in tables]),
        offsets,
        np.array([table.shape[1] for table in tables], np.int64),
    )
    matched = int((partner >= 0).sum())
    if matched < rows:
        raise DataError(
            f"The release has fewer rows than the original, and its row {matched + 1:,} fits none of the original rows "
            "that follow those already matched: it is no part of the original in the same order. Give the original "
            "of this release, or a key column that matches rows (--key)."
        )
    return partner


def _contradictions(
    columns: Mapping[str, PublishedColumn], partner: Longs, key: str | None, disturbed: bool
) -> dict[str, int]:
    """Rows per column whose label excludes their value; an error if that is so wherever it could be seen."""
    kept = partner >= 0
    found: dict[str, int] = {}
    witnesses = []
    for name, column in columns.items():
        labels = column.labels[partner[kept]]
        wrong = int((~column.covers.holds(labels, column.values[kept])).sum())
        found[name] = wrong
        if len(labels) and (labels != labels[0]).any():
            witnesses.append(name)
    if witnesses and all(found[name] for name in witnesses) and not disturbed:
        worst = max(witnesses, key=lambda name: found[name])
        how = "the keys match but" if key else "the rows are not in the same order, or"
        raise DataError(
            f"Original and release do not match row by row: {how} the values do not fit. In {worst!r}, "
            f"{found[worst]:,} of {int(kept.sum()):,} rows publish something "
            "else than their original value; no column fits throughout. "
            "Sort both alike, or name a key column (--key); if values were exchanged or disturbed on purpose, say so "
            "(--disturbed)."
        )
    return {name: wrong for name, wrong in found.items() if wrong}


@dataclass(frozen=True)
class Assessment:
    """Everything found out about a release beside its original."""

    rows: int
    released_rows: int
    hidden_rows: int
    quasi: tuple[str, ...]
    columns: tuple[ColumnUtility, ...]
    dropped: tuple[str, ...]
    skipped: tuple[str, ...]
    pairs: tuple[PairUtility, ...]
    queries: QueryErrors | None
    learners: tuple[LearnerUtility, ...]
    bounds: tuple[Bounds, ...]
    notes: tuple[str, ...] = ()
    distributions: dict[str, dict[str, Any]] = field(default_factory=dict)

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
            "notes": list(self.notes),
        }

    def to_html(self, source: str = "a release") -> str:
        """A self-contained page. It shows statistics of the original: keep it as safe as the original."""
        from kanopy import __version__
        from kanopy.report.utility_page import utility_page

        return utility_page(self.to_dict(), self.distributions, source=source, version=__version__)


def assess(
    original: Any,
    released: Any,
    *,
    quasi: Sequence[str] = (),
    job: Job | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    key: str | None = None,
    target: str | None = None,
    learn: bool = True,
    queries: int = 500,
    disturbed: bool = False,
    seed: int = 0,
) -> Assessment:
    """Compare a release with its original: loss, distributions, associations, count queries, learning, bounds.

    `job` gives quasi-identifiers and hierarchies; otherwise the columns that changed are taken, and labels are read
    without hierarchies. `target` is the column classifiers learn (by default a sensitive one, or a published category
    that is no quasi-identifier); `learn=False` or a missing scikit-learn leaves them out, with a note.

    >>> before = {"age": [21, 24, 33, 38], "job": ["a", "b", "a", "b"]}
    >>> after = {"age": ["20-29", "20-29", "30-39", "30-39"], "job": ["a", "b", "a", "b"]}
    >>> found = assess(before, after, learn=False)
    >>> found.quasi, round(found.loss, 3), found.queries.median < 1, found.bounds[0].holds
    (('age',), 0.333, True, True)
    """
    from kanopy.table.frames import to_polars

    if queries < 0:
        raise JobError(f"The number of count queries is at least 0, not {queries}.")
    frame, _ = to_polars(original)
    known = dict(hierarchies or {})
    if job is not None:
        from kanopy.inputs import resolve_hierarchies

        quasi = tuple(quasi) or job.quasi
        absent = [name for name in job.quasi if name not in frame.columns]
        if absent:
            raise DataError(f"The job names columns that the original lacks: {some(absent)}.")
        known = {**resolve_hierarchies(frame, job), **known}
    matched = match_tables(frame, released, quasi=quasi, hierarchies=known, key=key, disturbed=disturbed)
    return assess_matched(
        matched, hierarchies=known, job=job, target=target, learn=learn, queries=queries, seed=seed
    )  # fmt: skip


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
    known = hierarchies
    notes = []
    if matched.skipped:
        notes.append(f"Not compared, because their values cannot be read: {', '.join(matched.skipped)}.")
    for name, wrong in matched.contradicted.items():
        notes.append(f"{name}: {wrong:,} rows publish something else than their original value (disturbed).")
    kept = matched.partner >= 0
    columns: list[ColumnUtility] = []
    bounds: list[Bounds] = []
    drawn: dict[str, dict[str, Any]] = {}
    for name, column in matched.columns.items():
        columns.append(_column(column, matched, known.get(name), matched.contradicted.get(name, 0)))
        drawn[name] = _distribution(column, least_rows)
        if column.covers.domain.numbers is not None and not column.covers.domain.temporal:
            bounds.extend(_bounds(column, matched))
    triples = {name: (column.values, column.labels, column.covers) for name, column in matched.columns.items()}
    associated = [name for name in matched.columns if matched.columns[name].covers.domain.size > 1]
    associated.sort(key=lambda name: name not in matched.quasi)
    pairs = tuple(
        compare_pair(triples[left], triples[right]) for left, right in combinations(associated[:MOST_PAIR_COLUMNS], 2)
    )
    asked = query_errors(list(triples.values()), queries=queries, seed=seed) if queries else None
    learners: tuple[LearnerUtility, ...] = ()
    if learn or target is not None:
        learners, note = _learned(matched, job, target, seed)
        notes += [note] if note else []
    return Assessment(
        rows=len(kept),
        released_rows=int(kept.sum()),
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


def _column(column: PublishedColumn, matched: Matched, hierarchy: Hierarchy | None, contradicted: int) -> ColumnUtility:
    covers, domain = column.covers, column.covers.domain
    counts = np.bincount(column.labels, minlength=len(covers.labels))
    kept = matched.partner >= 0
    labels = column.labels[matched.partner[kept]]
    exact = _exact_labels(covers)
    anything = np.array([kind == "anything" for kind in covers.kinds])
    after = expected_counts(covers, counts)
    lost = matched.left_out
    return ColumnUtility(
        name=domain.name,
        changed_rows=int((~exact[labels]).sum()) + contradicted,
        hidden_rows=int(counts[anything].sum()),
        contradicted_rows=contradicted,
        values_before=domain.size,
        labels_after=len(covers.labels),
        loss=house_loss(covers, counts, lost_rows=lost, domain_size=None if hierarchy is None else hierarchy.size),
        range_loss=range_loss(covers, counts, lost_rows=lost),
        bits_kept=bits_kept(column.values[kept], labels),
        total_variation=total_variation(domain.counts, after),
        earth_movers=earth_movers_distance(domain.counts, after, domain.numbers),
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
    bins, names = bins_of(column.covers, least=least)
    before = np.bincount(bins, weights=column.covers.domain.counts, minlength=len(names))
    counts = np.bincount(column.labels, minlength=len(column.covers.labels))
    after = np.bincount(bins, weights=expected_counts(column.covers, counts), minlength=len(names))
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
    from kanopy.errors import MissingDependency
    from kanopy.metrics.learning import learned

    named = target is not None
    if target is None:
        options = [name for name in (job.sensitive if job is not None else ()) if name in matched.columns]
        options += [name for name in reversed(matched.columns) if name not in matched.quasi]
        target = next((name for name in options if _is_target(matched.columns[name].covers)), None)
        if target is None:
            return (), "No classifier was trained: no published category is left to predict. Name one (--target)."
    elif target not in matched.columns:
        raise DataError(f"The tables have no column {target!r} to predict. {near_miss(target, matched.columns)}")
    features = [
        (column.values, column.labels, column.covers) for name, column in matched.columns.items() if name != target
    ]
    if not features:
        return (), "No classifier was trained: there is no other column to learn from."
    try:
        return learned(target, matched.columns[target].values, features, matched.partner, seed=seed), None
    except MissingDependency as error:
        if named:
            raise
        return (), str(error)
    except DataError as error:
        if named:
            raise
        return (), str(error)


def _is_target(covers: Covers) -> bool:
    domain = covers.domain
    return 2 <= domain.present <= MOST_TARGET_VALUES and domain.numbers is None
