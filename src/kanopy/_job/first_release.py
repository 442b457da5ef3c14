"""What a first release would lose: whether one level per column is good enough, and which column costs most.

`kanopy init` tries the job on the table, or on rows drawn from it, with full-domain recoding (one level per column) and
with a quick local one (Mondrian: LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006).
The quick local recoding bounds from above what the algorithm `best` loses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kanopy._errors import KanopyError, some
from kanopy._job.job import Job

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy

ROWS_TRIED, SECONDS = 4_000, 2.0
"""Rows that are tried, and how long a search may take."""
WIPED, KEPT, TWICE = 0.999, 0.9, 2.0
"""A column is wiped from this loss on; local recoding keeps it where it loses less than `KEPT`."""
TOO_MUCH, LEAST_GAIN = 0.6, 0.15
"""Where local recoding loses more than this, leaving out a column is suggested that gains at least so much."""
FEWEST_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class Trial:
    """Losses per column of both kinds of recoding, and the hierarchies that were built for the whole table."""

    full: Mapping[str, float]
    local: Mapping[str, float]
    hierarchies: Mapping[str, Hierarchy]
    without: tuple[str, float] | None = None
    """The column without which local recoding loses least, and what it loses then."""

    @property
    def wiped(self) -> list[str]:
        """Columns that full-domain recoding wipes and local recoding keeps."""
        return [name for name, loss in self.full.items() if loss >= WIPED and self.local.get(name, 1.0) < KEPT]

    @property
    def prefers_local(self) -> str:
        """Why local recoding is better for a first release; empty if it is not.

        >>> Trial({"age": 1.0, "sex": 0.0}, {"age": 0.5, "sex": 0.1}, {}).prefers_local
        'one level per column (algorithm = "optimal") would fully suppress \\'age\\''
        """
        if self.wiped:
            return f'one level per column (algorithm = "optimal") would fully suppress {some(self.wiped)}'
        full, local = mean(self.full), mean(self.local)
        if local < full / TWICE:
            return f'one level per column (algorithm = "optimal") would lose {full:.0%} of the detail, not {local:.0%}'
        return ""

    @property
    def suggestion(self) -> str:
        """Which quasi-identifier to leave out where nothing else helps; empty if there is none.

        >>> Trial({"a": 1.0, "b": 1.0}, {"a": 0.9, "b": 0.9}, {}, ("b", 0.4)).suggestion
        "Much detail is lost: about 90% of it. Without the quasi-identifier 'b', the other columns lose ..."
        """
        if self.without is None:
            return ""
        name, loss = self.without
        return (
            f"Much detail is lost: about {mean(self.local):.0%} of it. Without the quasi-identifier {name!r}, the "
            f"other columns lose about {loss:.0%}. If nobody needs it, give it the role withheld."
        )


def mean(losses: Mapping[str, float]) -> float:
    """The mean loss of some columns.

    >>> mean({"a": 0.5, "b": 0.0})
    0.25
    """
    return sum(losses.values()) / len(losses) if losses else 0.0


def ties(frame: pl.DataFrame, job: Job) -> list[str]:
    """Published columns to leave out, so that none tells which rows are about one person; the finest first.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"who": [1, 1, 2, 2, 3], "first": [7, 7, 8, 8, 9], "age": [30, 31, 40, 41, 50]})
    >>> ties(visits, Job(quasi="age", unit="who", sensitive="first", k=2))
    ['first']
    """
    from kanopy._job.reading_rules import ReadingRules, read_records
    from kanopy._table.grouping import tied_columns

    if not job.unit:
        return []
    frame = read_records(frame, job, rules=ReadingRules.of(job), part=True)
    published_names = [name for name in frame.columns if job.roles.get(name) in ("sensitive", "insensitive")]
    left_out: list[str] = []
    while tied := tied_columns(frame, job.unit, [name for name in published_names if name not in left_out], job.k):
        left_out.append(max(tied, key=lambda name: frame[name].n_unique()))
    return left_out


def try_release(frame: pl.DataFrame, job: Job, *, tied: bool = False) -> Trial | None:
    """What both kinds of recoding lose on the table; `None` where a job cannot be tried that way.

    Where what is published has `tied` the rows of a person together, full-domain recoding protects all of them, and
    local recoding is tried as if that were left out.
    """
    if not job.quasi or job.separators or frame.height < 2 * job.k:
        return None
    sample = frame[list(job.quasi) + [name for name in job.unit if name not in job.quasi]]
    if frame.height > ROWS_TRIED:
        sample = sample.gather_every(max(1, frame.height // ROWS_TRIED))
    if any(sample[name].dtype.is_nested() for name in job.quasi):
        return None
    k = max(2, round(job.k * sample.height / frame.height))
    job = job.replaced(k=k, models=(), sampling_weight=None, household=None)
    try:
        return _tried(sample, job, tied)
    except KanopyError:
        return None  # what is wrong with the table is said when the job runs


def _tried(sample: pl.DataFrame, job: Job, tied: bool) -> Trial | None:
    from kanopy._job.inputs import resolve_hierarchies
    from kanopy._job.reading_rules import ReadingRules, read_records

    frame = read_records(sample, job, rules=ReadingRules.of(job), part=True)
    hierarchies = resolve_hierarchies(frame, job)
    full = _losses(frame, job, hierarchies, "optimal", tied)
    local = _losses(frame, job, hierarchies, "mondrian")
    if full is None or local is None:
        return None
    trial = Trial(full, local, hierarchies)
    if mean(local) <= TOO_MUCH or len(job.quasi) < FEWEST_COLUMNS:
        return trial
    costly = sorted(job.quasi, key=lambda name: -local.get(name, 0.0) * (2 + hierarchies[name].size))[:FEWEST_COLUMNS]
    others = {}
    for name in costly:
        rest = job.with_role(name, "withheld")
        lost = _losses(frame, rest, {name: hierarchies[name] for name in rest.quasi}, "mondrian")
        if lost is not None:
            others[name] = mean(lost)
    best = min(others, key=others.__getitem__, default=None)
    if best is None or others[best] > mean(local) - LEAST_GAIN:
        return trial
    return replace(trial, without=(best, others[best]))


def _losses(
    frame: Any, job: Job, hierarchies: Mapping[str, Hierarchy], algorithm: str, tied: bool = False
) -> dict[str, float] | None:
    """The loss per column that an algorithm reaches; all is lost where full-domain recoding finds no release."""
    from kanopy._core.units import ALL, Units
    from kanopy._errors import NoSolution
    from kanopy._table.grouping import units_of
    from kanopy.engine.local import LocalEngine
    from kanopy.metrics.full_domain import Loss
    from kanopy.metrics.release_losses import column_losses
    from kanopy.privacy.models import KAnonymity
    from kanopy.search.algorithms import make_algorithm, takes_budget
    from kanopy.search.problem import Problem

    units = None
    if job.unit:
        units = Units(units_of(frame, job.unit, job.missing_tokens)[0], ALL if tied else job.known_rows)
    counted = LocalEngine().count(
        frame, hierarchies, missing=job.missing, unknown="add", missing_tokens=job.missing_tokens, units=units
    )
    problem = Problem(counted.domain, [KAnonymity(job.k)], Loss(), suppression_limit=job.suppress)
    made = make_algorithm(algorithm, **({"budget_seconds": SECONDS} if takes_budget(algorithm) else {}))
    if not made.about.supports(KAnonymity(job.k), suppressing=bool(job.suppress), units=units is not None):
        return None
    try:
        solution = made.solve(problem)
    except NoSolution:
        return dict.fromkeys(job.quasi, 1.0) if made.recoding == "full-domain" else None
    return {name: float(loss) for name, loss in column_losses(counted.domain, solution.recoding).items()}
