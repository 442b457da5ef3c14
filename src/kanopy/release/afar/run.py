"""A release of a table of which not even the different rows fit on one machine, with the promise of all others.

Searches over levels count each candidate where the table lies. Searches that group rows get parts: the table is cut as
Mondrian cuts (LeFevre, DeWitt, Ramakrishnan 2006) until every part fits, and each part is solved by itself. Then what
was written is counted again, in its place: every published combination is shared by k rows, and every label is true.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, VerificationFailed, some
from kanopy._job.inputs import MOST_LEVELS, SEARCHES_OVER_LEVELS, assign_roles, resolve_hierarchy
from kanopy._job.job import Job
from kanopy._progress import Clock, Progress
from kanopy._table.roles import AT_HOME
from kanopy.release.afar.result import ResultAfar
from kanopy.release.afar.searching import SolvePart, best_levels, cut_until_parts_fit, known_columns
from kanopy.release.prepare import make_problem
from kanopy.search.algorithms import algorithm_class

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.encode import EncodedColumn
    from kanopy.engine.afar import EngineAfar

HEAD_ROWS = 20_000


def why_not_afar(job: Job) -> str | None:
    """Why a job needs the different rows of its table on one machine, or `None`.

    >>> why_not_afar(Job(quasi=["age"], k=2)), why_not_afar(Job(quasi=["age"], k=2, unit=["patient"]))
    (None, 'people are counted row by row')
    """
    if job.models:
        return "models beyond k look at all different rows together"
    if job.column_tokens or job.decimals:
        return "values are only read as a job says where all different rows are together"
    if job.unit:
        return "people are counted row by row"
    if job.algorithm != "optimal" and algorithm_class(job.algorithm).recoding != "local":
        return f"{job.algorithm!r} looks at all different rows together; 'optimal', 'mondrian' and 'best' do not"
    if any(isinstance(own, dict) and own.get("target") for own in job.hierarchies.values()):
        return "a hierarchy that looks at another column sees all different rows"
    return None


def require_afar(job: Job, most: int) -> None:
    """Refuse a job that needs the different rows of its table on one machine, which are more than `most`."""
    if (why := why_not_afar(job)) is not None:
        raise JobError(f"The table has more than {most:,} different rows, and {why}. Name fewer or coarser columns, or "
                       "let KANOPY_MOST_DIFFERENT say that more fit.")  # fmt: skip


def anonymize_afar(engine: EngineAfar, job: Job, most: int, clock: Clock, tell: Progress) -> ResultAfar:
    """Find, write and verify the release of a table whose different rows, more than `most`, stay where they are."""
    import polars as pl

    from kanopy.engine.afar import Afar
    from kanopy.engine.contract import Recoded
    from kanopy.engine.statements import Statements

    with clock.stage("count"):
        tell("counting where the table lies")
        roles, notes = assign_roles(engine.head(HEAD_ROWS), job.roles, job.hierarchies, job.rest)
        place = engine.place
        afar = Afar(place, engine.table, job.quasi)
        columns, rows_of = _columns(afar, job, most)
    try:
        with clock.stage("search"):
            problem = make_problem(known_columns([column for column, _ in columns], rows_of), job)
            found, parts = _found(afar, job, columns, problem, most, tell)
        with clock.stage("apply"):
            drop = job.suppressed_rows == "drop"
            rows, gone, lost = afar.meant(drop)
            sensitive = [name for name, role in roles.items() if role == "sensitive"]
            empty = sensitive if 0 < gone < job.least_rows and not drop else []
            leaving = tuple(name for name in engine.schema.names() if roles.get(name) not in AT_HOME)
            own = [
                name for name, level in zip(job.quasi, () if found is None else found.levels, strict=False)
                if level == 0 and not gone
            ]  # fmt: skip
            labels = {name: engine.schema[name] if name in own else pl.String() for name in job.quasi}
            keys = pl.DataFrame(schema={name: engine.schema[name] for name in job.quasi})
            nothing = np.zeros(0, np.int64)
            recoded = Recoded(
                keys, nothing.astype(np.int32), nothing, pl.DataFrame(schema=labels), nothing.astype(np.bool_), leaving,
                tuple(empty), drop,
            )  # fmt: skip
            asked = Statements(engine.table, recoded, place.dialect, parted=found is None)
        with contextlib.ExitStack() as stack:  # what is written is taken back if it does not pass
            with clock.stage("write"):
                tell("writing")
                published, release = stack.enter_context(engine.released(asked))
            with clock.stage("verify"):
                tell("verifying where it was written")
                if list(published) != list(leaving) or rows != int(rows_of[0].sum()):
                    raise _differs("its columns or rows")
                verification = _verified(afar, job, release, own, rows, gone, drop)
                pairs = _true_labels(afar, asked, job, [column for column, _ in columns], drop)
    finally:
        place.forget()
    told = [f"The different rows, more than {most:,}, stayed where they are: {_how(found, parts, job)}."]
    if empty:
        told.append(f"The {gone:,} suppressed rows are published without the values of {some(empty)}: there are fewer "
                    f"than k = {job.k:,}.")  # fmt: skip
    levels = None if found is None else dict(zip(job.quasi, found.levels, strict=True))
    losses = {"loss": lost / rows} if found is None else {job.metric: found.score}
    return ResultAfar(
        engine.published, job, verification, levels, losses, rows, gone, found is not None, problem.judged, parts,
        pairs, (*notes, *told), clock,
    )  # fmt: skip


def _how(found: Any, parts: int, job: Job) -> str:
    if found is not None:
        return "every choice of levels was counted there"
    return f"they were cut into {parts:,} parts, and {job.algorithm!r} worked part by part"


def _columns(afar: Any, job: Job, most: int) -> tuple[list[tuple[EncodedColumn, pl.Series]], list[Any]]:
    """Every column by itself: its values, with the hierarchy that they make."""
    from kanopy._table.encode import encode_column

    columns, rows_of = [], []
    for name in job.quasi:
        found = afar.values(name, most)
        if found.height > most:
            raise DataError(f"{name!r} alone has more than {most:,} different values. Give a coarser column.")
        values, rows = found[name], found[found.columns[1]].to_numpy()
        levels = MOST_LEVELS if job.algorithm in SEARCHES_OVER_LEVELS else None
        hierarchy = resolve_hierarchy(
            name, job.hierarchies.get(name), values, job.missing_tokens, job.least_rows, levels, rows
        )
        encoded = encode_column(
            values, hierarchy, missing=job.missing, unknown=job.unknown, missing_tokens=job.missing_tokens
        )
        if (encoded.codes < 0).any():
            raise JobError(
                f"Rows are suppressed because of values that {name!r} lacks or does not know; that is done where the "
                "different rows fit on one machine. Use missing='as-value' and unknown='add'."
            )
        columns.append((encoded, values))
        rows_of.append(rows)
    return columns, rows_of


def _found(afar: Any, job: Job, columns: Any, problem: Any, most: int, tell: Progress) -> tuple[Any, int]:
    """Make the pieces where the table lies: the levels found, or `None`; and how many parts there were."""
    import polars as pl

    encoded = [column for column, _ in columns]
    if algorithm_class(job.algorithm).recoding == "full-domain":
        afar.encode([(values, column.codes) for column, values in columns])
        best = best_levels(afar, problem, tell)
        labels = [
            pl.Series(column.labels_at(level), dtype=pl.String)
            for column, level in zip(encoded, best.levels, strict=True)
        ]
        afar.label_levels(best.levels, labels, problem.k)
        return best, 1
    from kanopy.search.clustering.measure import make_measure

    measure = make_measure(problem.domain, (), problem.weights, multiplier=2 * problem.domain.rows + problem.k)
    places = []
    for leaves, (column, values) in zip(measure.leaf_at, columns, strict=True):
        place_of = np.full(column.hierarchy.size, -1, np.int32)
        place_of[leaves] = np.arange(len(leaves), dtype=np.int32)
        places.append((values, place_of[column.codes]))
    afar.encode(places)
    parts = cut_until_parts_fit(afar, measure, problem.k, most, tell)
    missing = tuple(
        None if column.missing_leaf is None else column.hierarchy.values[column.missing_leaf] for column in encoded
    )
    hierarchies = tuple(column.hierarchy for column in encoded)
    # Hierarchies are made already; what is left of the job is how to search.
    plain = job.replaced(hierarchies={})
    tell("searching part by part")
    afar.solve(SolvePart(plain, tuple(job.quasi), hierarchies, measure.leaf_at, missing))
    return None, parts


def _verified(afar: Any, job: Job, release: str, own: list[str], rows: int, gone: int, drop: bool) -> Any:
    """The second opinion on the classes of the release, counted where it was written."""
    from kanopy.verify.verify import Verification

    seen, starred, classes, least = afar.classes(release, own)
    if seen != rows - (gone if drop else 0) or starred < (0 if drop else gone):
        raise _differs("the published combinations")
    allowed = int(np.floor(job.suppress * rows + 1e-9))
    if gone > allowed:
        raise VerificationFailed(f"{gone:,} rows are suppressed, and {allowed:,} may be. Nothing was published.")
    if classes and least < job.least_rows:
        raise VerificationFailed(
            f"A published combination is shared by {least:,} rows, fewer than k = {job.k:,}. Nothing was published. "
            "This is an error in Kanopy: please report it."
        )
    return Verification(seen, starred, classes, least)


def _true_labels(afar: Any, asked: Any, job: Job, columns: list[EncodedColumn], drop: bool) -> dict[str, pl.DataFrame]:
    """The second opinion on every pair of a value and a label, counted where the release was made."""
    import functools
    from pathlib import Path

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.release.run import labels_above
    from kanopy.verify.labels import verify_labels

    given = [name for name, source in job.hierarchies.items() if isinstance(source, (Hierarchy, str, Path))]
    pairs = {}
    for name, column in zip(job.quasi, columns, strict=True):
        found = afar.place.ask(asked.pairs_of(name))
        found.columns = ["o", "l", "n"]
        above = {name: functools.partial(labels_above, column.hierarchy)}
        before, after = found.select(name=found["o"]), found.select(name=found["l"])
        before.columns = after.columns = [name]
        verify_labels(before, after, [name], above, given=given, missing_tokens=job.missing_tokens)
        pairs[name] = found
    return pairs


def _differs(what: str) -> VerificationFailed:
    return VerificationFailed(
        f"What was written is not what was found: {what} differ. Nothing was published. If the table did not change "
        "meanwhile, this is an error in Kanopy: please report it."
    )
