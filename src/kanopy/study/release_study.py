"""What a release's report says beyond the search: risk before and after, an attack, and what the release is good for.

Everything here is what `kanopy risk` and `kanopy assess` say about the same two tables, computed once and made safe to
hand on: values that fewer than k rows have are not named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._core.units import Units
from kanopy._errors import KanopyError
from kanopy.metrics.utility.published_values import parse_interval
from kanopy.report.report import Findings
from kanopy.study.risk_settings import RiskSettings
from kanopy.study.risk_study import attack_matched, table_risk
from kanopy.study.table_matching import Matched, match_tables
from kanopy.study.utility_study import assess_matched

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.metrics.risk.linkage import PublishedColumn


MOST_ROWS = 2_000_000
"""Tables with more rows are not attacked, and what they are good for is measured on a sample."""
SAMPLE_ROWS = 500_000


@dataclass(frozen=True)
class ReleaseStudy:
    """What to look at: a table, its release, and what is known about them.

    `kept` says which original rows are in the release (`None`: all), `suppressed` which original rows publish no
    quasi-identifier. The population is given by size, by sampling fraction, or as a table at the detail of the
    original and of the release.
    """

    original: pl.DataFrame
    released: pl.DataFrame
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy]
    k: int
    suppressed: Mask
    kept: Mask | None = None
    population_size: int | None = None
    sampling_fraction: float | None = None
    population_before: Any = None
    population_after: Any = None
    column_losses: Mapping[str, float] = field(default_factory=dict)
    target: str | None = None
    seed: int = 0
    units: Units | None = None
    """Whose the original rows are, where people are counted."""


def look(at: ReleaseStudy) -> Findings:
    """Look at a table and its release. What cannot be found out is left out, with a sentence that says so."""
    notes: list[str] = []
    suppressed = at.suppressed if at.kept is None else at.suppressed[at.kept]
    whose = at.units if at.units is None or at.kept is None else at.units.part(np.flatnonzero(at.kept))
    before = _risk(at, at.original, None, at.population_before, notes, at.units, subsets=3 if _small(at) else 0)
    after = _risk(at, at.released, suppressed, at.population_after, notes, whose, subsets=0)
    utility, shares = None, {}
    try:
        matched = _matched(at, suppressed, notes)
        utility_results = assess_matched(
            matched, hierarchies=at.hierarchies, target=at.target, learn=at.target is not None, seed=at.seed,
            least_rows=at.k,
        )  # fmt: skip
        utility, shares = utility_results.to_dict(), utility_results.distributions
        for column in utility["columns"]:
            # A label may have the name of a broader one; who made the release knows which of them it is.
            column["loss"] = at.column_losses.get(column["name"], column["loss"])
        utility["bounds"] = _safe_bounds(utility["bounds"], matched, at.k)
        if _small(at):
            after["attacks"] = [
                attack_result.to_dict()
                for attack_result in attack_matched(matched, at.quasi, seed=at.seed, units=at.units)
            ]
    except KanopyError:
        if at.target is not None:
            raise
        # The message would name the labels; they may be original values.
        notes.append(
            "The utility of the release was not measured: some published labels cannot be compared with original "
            "values. `kanopy assess` says which."
        )
    if not _small(at):
        notes.append(
            f"The table has more than {MOST_ROWS:,} rows: it was not attacked (`kanopy risk --released` does), and "
            f"usefulness was measured on a random sample of {SAMPLE_ROWS:,} rows."
        )
    elif at.target is None:
        notes.append("No classifier was trained: name a column to predict (`--target COLUMN`) to have that measured.")
    return Findings(before, after, utility, shares, at.k, tuple(notes))


def _small(at: ReleaseStudy) -> bool:
    return at.original.height <= MOST_ROWS


def _risk(
    at: ReleaseStudy,
    frame: pl.DataFrame,
    suppressed: Mask | None,
    population: Any,
    notes: list[str],
    units: Units | None,
    *,
    subsets: int,
) -> dict[str, Any]:
    """What `kanopy risk` says about one of the tables."""
    none = np.zeros(frame.height, bool) if suppressed is None else suppressed
    sensitive = [name for name in at.sensitive if name in frame.columns]
    size, fraction = at.population_size, at.sampling_fraction
    alone = RiskSettings(largest_subset=subsets, seed=at.seed)
    options: dict[str, Any] = {"suppressed": none, "units": units}
    try:
        settings_known = replace(alone, population_size=size, sampling_fraction=fraction)
        return table_risk(frame, at.quasi, sensitive, settings_known, population=population, **options).to_dict()
    except KanopyError:
        if size is not None or fraction is not None:
            raise
        notes.append("The population table was not used: it does not contain the rows at this level of detail.")
        return table_risk(frame, at.quasi, sensitive, alone, **options).to_dict()


def _matched(at: ReleaseStudy, suppressed: Mask, notes: list[str]) -> Matched:
    """Quasi-identifiers and sensitive columns of both tables side by side."""
    names = [name for name in (*at.quasi, *at.sensitive) if name in at.released.columns]
    if at.target is not None and at.target not in names and at.target in at.released.columns:
        names.append(at.target)
    original, released = at.original[names], at.released[names]
    partner = np.arange(original.height)
    if at.kept is not None:
        partner = np.where(at.kept, np.cumsum(at.kept) - 1, -1)
    if not _small(at):
        chosen = np.sort(np.random.default_rng(at.seed).choice(original.height, SAMPLE_ROWS, replace=False))
        there = partner[chosen]
        original, released, suppressed = original[chosen], released[there[there >= 0]], suppressed[there[there >= 0]]
        partner = np.where(there >= 0, np.cumsum(there >= 0) - 1, -1)
    matched = match_tables(original, released, quasi=at.quasi, hierarchies=at.hierarchies, partner=partner)
    return replace(matched, hidden=suppressed)


def _safe_bounds(bounds: Sequence[Mapping[str, Any]], matched: Matched, least: int) -> list[dict[str, Any]]:
    """Statistics without numbers that are, or would give away, a value that fewer than `least` rows have."""
    safe = []
    for bound in bounds:
        column = matched.columns[bound["column"]]
        low, high = _told_ends(column, matched, least)
        safe_bound = dict(bound)
        safe_bound |= {} if low else {"low": None, "estimate": None}
        safe_bound |= {} if high else {"high": None, "estimate": None}
        mean_is_safe = _mean_is_safe(column, matched, least) if bound["statistic"] == "mean" else None
        if mean_is_safe is False or (mean_is_safe is None and not _is_common(column, bound["truth"], least)):
            safe_bound["truth"] = None
        safe.append(safe_bound)
    return safe


def _is_common(column: PublishedColumn, number: float, least: int) -> bool:
    domain = column.covers.domain
    assert domain.numbers is not None
    return int(domain.counts[domain.numbers == number].sum()) >= least


def _mean_is_safe(column: PublishedColumn, matched: Matched, least: int) -> bool:
    """Whether the mean, less the values that are published as they are, is that of no row or of `least` rows."""
    exact = np.array([kind == "value" for kind in column.covers.kinds])
    present = column.values < column.covers.domain.present
    partner = matched.partner[present]
    open_rows = int((partner < 0).sum()) + int((~exact[column.labels[partner[partner >= 0]]]).sum())
    return open_rows == 0 or open_rows >= least


def _told_ends(column: PublishedColumn, matched: Matched, least: int) -> tuple[bool, bool]:
    """Whether the lower, and the upper, ends of all labels may be told: each says its own, or `least` rows have it.

    A label such as `≤ 19` or `old` does not say where the values end that it stands for; nor does a hidden cell.
    """
    covers = column.covers
    ends = covers.domain.ends()
    may_tell = [not matched.left_out or _is_common(column, end, least) for end in ends]
    for label_code in np.unique(column.labels).tolist():
        kind, label = covers.kinds[label_code], str(covers.labels[label_code])
        if kind in ("value", "other number", "missing"):
            continue
        interval = parse_interval(label)
        says_its_end = (
            (False, False) if interval is None else (math.isfinite(interval.low), math.isfinite(interval.high))
        )
        for side, end in enumerate((covers.low[label_code], covers.high[label_code])):
            may_tell[side] &= says_its_end[side] or math.isnan(end) or _is_common(column, float(end), least)
    return may_tell[0], may_tell[1]
