"""The release of several linked tables: one search over their union, one verification, all tables or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._core.units import too_many_known
from kanopy._errors import JobError, NoSolution, some
from kanopy._progress import Callback, Clock, Progress
from kanopy._table.column import used_categories
from kanopy.linked.apply_levels import apply_levels
from kanopy.linked.job import At, LinkedJob
from kanopy.linked.keys import Related, relate
from kanopy.linked.preparation import Table, prepared_table, read_tables, shared_domains
from kanopy.linked.published_keys import keys_for, shifted, with_keys
from kanopy.linked.union import TableCodes, Union, unite
from kanopy.release.prepare import Generalizable
from kanopy.search.solution import Solution

if TYPE_CHECKING:
    import polars as pl

    from kanopy.linked.linked_result import LinkedResult

MOST_TIES = 2_000
"""Combinations of levels of shared domains that are searched one by one."""


def anonymize_tables(
    job: LinkedJob | Mapping[str, Any] | str,
    *,
    key: bytes | None = None,
    progress: Callback | None = None,
    clock: Clock | None = None,
    encoding: str | None = None,
) -> LinkedResult:
    """Publish several linked tables so that the promise holds for everything that can be joined.

    For a person u let p(u) be the published tuple of the person and E(u) the multiset of published tuples of the other
    tables, each with the name of its table. For every u and every S ⊆ E(u) of at most `known` elements, at least k
    people v have p(v) = p(u) and S ⊆ E(v); with known = "all", p(v) = p(u) and E(v) = E(u).

    >>> import polars as pl
    >>> people = pl.DataFrame({"id": [1, 2, 3, 4], "sex": list("ffmm")})
    >>> visits = pl.DataFrame({"id": [1, 2, 3, 4, 4], "ward": list("aabbb")})
    >>> column = {"role": "quasi-identifier"}
    >>> job = {"unit": "people.id", "k": 2, "known": 1, "tables": {
    ...     "people": {"data": people, "columns": {"sex": column}},
    ...     "visits": {"data": visits, "columns": {"ward": column}}},
    ...     "links": [{"from": "visits.id", "to": "people.id"}]}
    >>> anonymize_tables(job).frames["visits"]["ward"].to_list()
    ['a', 'a', 'b', 'b', 'b']
    """
    job = checked_job(job, key)
    clock, notify = clock or Clock(), Progress(progress)
    with clock.stage("read"):
        notify("reading")
        frames, sources = read_tables(job, encoding)
        related = relate(job, frames)
    return release_tables(job, related, sources, key, notify, clock)


def checked_job(job: LinkedJob | Mapping[str, Any] | str, key: bytes | None) -> LinkedJob:
    """The job of any form, refused where its keys and the secret key do not go together."""
    if isinstance(job, str):
        job = LinkedJob.read(job)
    job = job if isinstance(job, LinkedJob) else LinkedJob.from_dict(job)
    if job.keys != "hash" and key is not None and job.shift_dates is None:
        raise JobError('A secret key has no effect without hashed keys. Write keys = "hash" in the job.')
    if job.keys == "hash":
        from kanopy._table.pseudonyms import check_key

        check_key(key)
    return job


def release_tables(
    job: LinkedJob, related: Related, sources: Mapping[str, Any], key: bytes | None, notify: Progress, clock: Clock,
    history: pl.Series | None = None,
) -> LinkedResult:  # fmt: skip
    """Search, apply and verify tables that were read. What people share must be shared with people of the same
    `history`, a value per row of the table of people that is not published."""
    from kanopy.linked.linked_result import LinkedResult
    from kanopy.linked.verification import verify_tables

    with clock.stage("encode"):
        notify("encoding")
        domains = shared_domains(job, related)
        tables = {
            name: prepared_table(job, related, name, domains, sources[name], notify, history) for name in related.order
        }
    rows_known = job.known_rows
    longest = _longest(related)
    if rows_known is not None and rows_known > max(longest, 1):
        raise too_many_known(rows_known, longest, str(job.unit))
    whole = solve(job, related, tables, domains, notify, clock)
    if history is not None:
        tables, whole = _without_history(job, related, tables, domains, sources, whole, notify, history.name)
    with clock.stage("apply"):
        notify("applying")
        published, is_published, results, notes = apply_levels(job, related, tables, whole, notify)
        keys = keys_for(job, related, published, is_published, key)
        frames_out = {
            name: with_keys(
                shifted(job, related, name, published[name], is_published[name], key),
                tables[name],
                name,
                job,
                related,
                is_published,
                keys,
                published,
            )
            for name in related.order
        }
        frames_out = {name: used_categories(frame) for name, frame in frames_out.items()}
    with clock.stage("verify"):
        notify("verifying")
        verification = verify_tables(job, related, tables, frames_out, is_published, whole.levels)
    return LinkedResult(
        job=job, related=related, tables=tables, frames=frames_out, kept=is_published, levels=whole.levels,
        solution=whole,
        results=results, verification=verification, notes=(*related.notes, *notes), clock=clock, sources=sources,
    )  # fmt: skip


def _longest(related: Related) -> int:
    """The most rows besides their own that a person has."""
    counts = np.zeros(related.count, np.int64)
    for name in related.order:
        if name != related.people:
            counts += np.bincount(related.unit_of_row[name], minlength=related.count)
    return int(counts.max(initial=0))


def _without_history(
    job: LinkedJob, related: Related, tables: Mapping[str, Table], domains: Sequence[Sequence[At]],
    sources: Mapping[str, Any], whole: Whole, notify: Progress, column: str,
) -> tuple[dict[str, Table], Whole]:  # fmt: skip
    """The tables and levels as if the table of people had never had the column of histories."""
    name = str(related.people)
    before = tables[name].prepared
    assert before is not None and isinstance(before.table, Generalizable)
    trees = {tree_name: tree for tree_name, tree in before.table.hierarchies.items() if tree_name != column}
    plain = prepared_table(job, related, name, domains, sources[name], notify, trees=trees)
    assert plain.prepared is not None
    levels = {column_name: whole.levels[name].get(column_name, 0) for column_name in plain.prepared.domain.names}
    return {**tables, name: plain}, replace(whole, levels={**whole.levels, name: levels})


# ---- search -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Whole:
    """What was found for all tables: levels and suppressed rows per table, the loss, and how it was found."""

    levels: Mapping[str, Mapping[str, int]]
    gone: Mapping[str, Mask]
    score: float
    optimal: bool
    judged: int
    candidates: int
    algorithm: str
    notes: tuple[str, ...]


def solve(
    job: LinkedJob, related: Related, tables: Mapping[str, Table], domains: Sequence[Sequence[At]], notify: Progress,
    clock: Clock,
) -> Whole:  # fmt: skip
    """The best levels for all tables together, proved where the algorithm proves."""
    from kanopy._table.roles import called
    from kanopy.metrics.full_domain import metric_named
    from kanopy.privacy.models import KAnonymity
    from kanopy.search.algorithms import make_algorithm
    from kanopy.search.problem import Problem

    coded = {name: _codes(table) for name, table in tables.items() if table.prepared is not None}
    forced = {name: np.full(related.frames[name].height, name not in coded) for name in related.order}
    forced = related.orphaned(forced)
    if related.people is not None and related.people not in coded:
        raise JobError(f"The table {related.people!r} has fewer than k = {job.k:,} people: nothing can be published.")
    context = {name: _context(job, related, name) for name in coded}
    with clock.stage("search"):
        metric = metric_named(job.metric)
        rows_known = job.known_rows
        union = unite(related, coded, context, domains, rows_known, metric, called([job.unit.column]))  # type: ignore[arg-type]
        lost = sum(int(lost_rows.sum()) for lost_rows in forced.values())
        allowed = int(job.suppress * related.rows + 1e-9)
        limit = job.suppress if rows_known == 0 else max(0, allowed - lost) / union.domain.rows
        if lost > allowed:
            raise NoSolution(
                f"{lost:,} rows are in tables with rows of fewer than k = {job.k:,} people, or refer to these: "
                f"{some([name for name in tables if name not in coded])}. They cannot be published, and the job allows "
                f"{allowed:,} suppressed rows.",
                advice=[
                    "leave these tables out of the job",
                    "allow more rows to be suppressed (suppress)",
                    "choose a smaller k",
                ],
            )
        problem = Problem(
            union.domain, [KAnonymity(job.k), *union.models], union.metric,
            weights=[0.0, *(column.weight for column in union.columns)] if union.columns else [1.0],
            suppression_limit=limit,
            lowest_levels=[0, *(column.lowest for column in union.columns)],
            highest_levels=[0, *(column.highest for column in union.columns)],
        )  # fmt: skip
        algorithm = make_algorithm(job.algorithm, **job.parameters)
        tied_solution = _tied_search(problem, algorithm, union, notify)
    assert tied_solution.levels is not None
    levels = _levels(job, tables, coded, union, tied_solution, domains)
    is_suppressed = union.gone(
        tied_solution.recoding.group_of_row < 0, {name: related.frames[name].height for name in related.order}
    )
    for name in related.order:
        is_suppressed[name] |= forced[name]
        if name in coded and name not in union.tables:
            is_suppressed[name] |= coded[name].domain.tuple_of_row < 0
    is_suppressed = related.orphaned(is_suppressed)
    return Whole(
        levels,
        is_suppressed,
        tied_solution.score,
        tied_solution.optimal,
        tied_solution.judged,
        tied_solution.candidates,
        tied_solution.algorithm,
        tuple(tied_solution.notes),
    )


def _tied_search(problem: Any, algorithm: Any, union: Union, notify: Progress) -> Solution:
    """The best candidate whose tied columns have one level: a search per choice of these levels, pruned by bounds."""
    if not union.tied:
        return algorithm.solve(problem, notify)  # type: ignore[no-any-return]
    lattice = problem.lattice
    ranges = []
    for group in union.tied:
        low, high = max(lattice.lowest[j] for j in group), min(lattice.highest[j] for j in group)
        if low > high:
            raise JobError(
                f"{some([problem.domain.names[j] for j in group])} share labels, and their allowed levels exclude "
                "each other."
            )
        ranges.append(range(low, high + 1))
    choices = list(product(*ranges))
    if len(choices) > MOST_TIES:
        raise JobError(
            f"The shared domains have {len(choices):,} combinations of levels: too many. Limit their levels."
        )
    best: Solution | None = None
    reason: NoSolution | None = None
    judged, candidates, optimal = 0, 0, True
    parts = []
    for choice in choices:
        lowest, highest = list(lattice.lowest), list(lattice.highest)
        for group, level in zip(union.tied, choice, strict=True):
            for j in group:
                lowest[j] = highest[j] = level
        narrowed = problem.changed(lowest_levels=lowest, highest_levels=highest)
        parts.append((float(narrowed.lower_bounds().min()), choice, narrowed))
    for bound, _, narrowed in sorted(parts, key=lambda entry: entry[:2]):
        candidates += narrowed.lattice.size
        if best is not None and bound > best.score:
            continue
        try:
            solution = algorithm.solve(narrowed, notify)
        except NoSolution as error:
            reason = error
            continue
        judged, optimal = judged + solution.judged, optimal and solution.optimal
        if best is None or solution.score < best.score:
            best = solution
    if best is None:
        assert reason is not None
        raise reason
    return replace(best, judged=judged, candidates=candidates, optimal=optimal, floor=None)


def _codes(table: Table) -> TableCodes:
    assert table.prepared is not None
    domain, job = table.prepared.domain, table.job
    return TableCodes(
        table.name, domain,
        tuple(job.min_levels.get(name, 0) for name in domain.names),
        tuple(job.max_levels.get(name, h.height) for name, h in zip(domain.names, domain.hierarchies, strict=True)),
        tuple(0.0 if name == table.marker else job.weights.get(name, 1.0) for name in domain.names),
        tuple(job.models),
    )  # fmt: skip


def _context(job: LinkedJob, related: Related, name: str) -> list[str]:
    """The tables whose tuple a row of a table carries: the person's, and those of parents known together with it."""
    context = [] if related.people in (None, name) else [str(related.people)]
    above = [name]
    while above:
        current = above.pop()
        for parent in related.parents[current]:
            if parent.link.together and parent.link.parent.table not in (*context, name):
                context.append(parent.link.parent.table)
                above.append(parent.link.parent.table)
    return context


def _levels(
    job: LinkedJob, tables: Mapping[str, Table], coded: Mapping[str, TableCodes], union: Union, solution: Solution,
    domains: Sequence[Sequence[At]],
) -> dict[str, dict[str, int]]:  # fmt: skip
    """The level of every quasi-identifier of every table; of tables that were not searched, the lowest allowed."""
    assert solution.levels is not None
    levels: dict[str, dict[str, int]] = {name: {} for name in tables}
    chosen = {
        at: level for column, level in zip(union.columns, solution.levels[1:], strict=True) for at in column.members
    }
    for name, table in coded.items():
        for j, column in enumerate(table.domain.names):
            at = At(name, column)
            level = chosen.get(at)
            if level is None:  # nothing of the table is known: at the level of its domain, or as low as allowed
                shared = [shared_domain for shared_domain in domains if at in shared_domain]
                level = max(
                    [
                        table.lowest[j],
                        *(chosen[other] for shared_domain in shared for other in shared_domain if other in chosen),
                    ]
                )
                lows = [
                    coded[o.table].lowest[coded[o.table].domain.names.index(o.column)]
                    for shared_domain in shared
                    for o in shared_domain
                    if o.table in coded
                ]
                level = max([level, *lows])
            levels[name][column] = level
    return levels
