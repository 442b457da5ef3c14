"""A release of a table of which not even the different rows fit on one machine, with the promise of all others.

Searches over levels count each candidate where the table lies. Searches that group rows get parts: the table is cut as
Mondrian cuts (LeFevre, DeWitt, Ramakrishnan 2006) until every part fits, and each part is solved by itself. Then what
was written is counted again, in its place: every published combination is shared by k rows, and every label is true.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, shown_address, some
from kanopy._job.inputs import MOST_LEVELS, ROWS_TO_JUDGE, assign_roles, resolve_hierarchy
from kanopy._job.job import Job
from kanopy._job.usage import require_used_of
from kanopy._progress import Clock, Progress
from kanopy._table.roles import AT_HOME
from kanopy.engine.distinct import RowsElsewhere
from kanopy.release.verification import about_order_elsewhere
from kanopy.release.prepare import Generalizable, Prepared, make_problem, without_dependent_elsewhere
from kanopy.release.pushdown.verification import differs, models_hold, true_labels, verified
from kanopy.release.pushdown.result import PushdownResult, PushdownSolution
from kanopy.release.pushdown.search import SolvePart, best_levels, cut_until_parts_fit, known_columns
from kanopy.release.solution_file import GIVEN_LEVELS, levels_given
from kanopy.search.algorithms import algorithm_class

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.classes import Sensitive
    from kanopy._table.encode import EncodedColumn
    from kanopy.engine.pushdown import PushdownEngine
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.release.writing import Finish


def why_not_pushdown(job: Job) -> str | None:
    """Why a job needs the different rows of its table on one machine, or `None`.

    >>> why_not_pushdown(Job(quasi=["age"], k=2)), why_not_pushdown(Job(quasi=["age"], k=2, unit=["patient"]))
    (None, 'people are counted row by row')
    """
    for model in job.models:
        one_class = len(model.sensitive) == 1 and not (
            model.hidden or model.quasi or model.all_quasi or model.of_others
        )
        if not one_class or model.of_release or model.needs_population or model.needs_weights:
            return f"the model {model.name!r} looks at more than the values of one column in one class"
        if not model.monotonic and not algorithm_class(job.algorithm).counts_whole_classes:
            return (
                f"classes that satisfy {model.name!r} in parts may not do so together; 'optimal' counts whole classes"
            )
    if job.column_tokens or job.decimals:
        return "values are only read as a job says where all different rows are together"
    if job.unit:
        return "people are counted row by row"
    if not algorithm_class(job.algorithm).counts_whole_classes and job.recoding != "local":
        return f"{job.algorithm!r} looks at all different rows together; 'optimal', 'mondrian' and 'best' do not"
    if any(isinstance(own, dict) and own.get("target") for own in job.hierarchies.values()):
        return "a hierarchy that looks at another column sees all different rows"
    return None


def require_pushdown(job: Job, most: int) -> None:
    """Refuse a job that needs the different rows of its table on one machine, which are more than `most`."""
    if (why := why_not_pushdown(job)) is not None:
        # Every person is a row of its own there, however coarse the other columns are.
        what = "Make it one row per person first" if job.unit else "Name fewer or coarser columns"
        raise JobError(f"The table has more than {most:,} different rows, and {why}. {what}, or let "
                       "KANOPY_MOST_DIFFERENT say that more fit (half a gigabyte per million).")  # fmt: skip


def anonymize_by_pushdown(
    engine: PushdownEngine, job: Job, most: int, clock: Clock, tell: Progress, finish: Finish | None = None
) -> PushdownResult:
    """Find, write and verify the release of a table whose different rows, more than `most`, stay where they are."""
    import polars as pl

    from kanopy.engine.contract import Recoded
    from kanopy.engine.local import Counted
    from kanopy.engine.pushdown import DistinctTable
    from kanopy.engine.statements import Statements

    with clock.stage("count"):
        tell("counting where the table lies")
        some_rows = engine.head(ROWS_TO_JUDGE)
        roles, notes, untouched = assign_roles(some_rows, job.roles, job.hierarchies, job.rest, engine.distinct)
        require_used_of(job, "columns", columns=some_rows.columns)
        place = engine.place
        asked_of = list(dict.fromkeys(name for model in job.models for name in model.sensitive))
        table = DistinctTable(place, engine.table, job.quasi, asked_of)
        columns, rows_of, hierarchies = _columns(table, job, most)
        named = [_named(table, job, name, most) for name in asked_of]
        sensitive = [column for column, _, _ in named]
    try:
        with clock.stage("search"):
            known = known_columns([column for column, _ in columns], rows_of, sensitive)
            problem = make_problem(known, job, by_tuples=True)
            found, parts = _found(table, job, columns, named, problem, most, tell)
        with clock.stage("apply"):
            drop = job.suppressed_rows == "drop"
            rows, gone, lost = table.meant(drop)
            empty = _emptied(table, job, roles, sensitive, gone) if gone and not drop else []
            own = [
                name for name, level in zip(job.quasi, () if found is None else found.levels, strict=False)
                if level == 0 and not gone
            ]  # fmt: skip

            def labels_of(drawn: pl.DataFrame) -> dict[str, pl.Series]:  # what labels hide is not known row by row
                hidden = pl.Series(["*"]).new_from_index(0, drawn.height)
                return {name: drawn[name] if name in own else hidden for name in job.quasi}

            roles, job, dependent = without_dependent_elsewhere(engine, roles, job, job.quasi, labels_of)
            empty = [name for name in empty if roles.get(name) not in AT_HOME]
            leaving = tuple(name for name in engine.schema.names() if roles.get(name) not in AT_HOME)
            labels = {name: engine.schema[name] if name in own else pl.String() for name in job.quasi}
            keys = pl.DataFrame(schema={name: engine.schema[name] for name in table.columns})
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
                    raise differs("its columns or rows")
                verification, squares = verified(table, job, release, own, rows, gone, drop)
                models_hold(table, asked, job, release, named, verification, most)
                pairs = true_labels(table, asked, job, [column for column, _ in columns])
            told = [f"The different rows, more than {most:,}, stayed where they are: {_how(found, parts, job)}."]
            if empty:
                few = (
                    f"there are fewer than k = {job.k:,}" if gone < job.least_rows else "a model does not hold for them"
                )
                told.append(f"The {gone:,} suppressed rows are published without the values of {some(empty)}: {few}.")
            told += about_order_elsewhere(engine, job, roles, rows)
            solution = PushdownSolution(
                GIVEN_LEVELS if levels_given(job) else job.algorithm, None if found is None else found.levels,
                {"loss": lost / rows} if found is None else {job.metric: found.score}, gone,
                found is not None and not levels_given(job), problem.judged, parts, pairs, squares,
            )  # fmt: skip
            notes, elsewhere = (*notes, *untouched.notes(roles), *dependent, *told), RowsElsewhere(rows)
            counted = Counted(known, tuple(column for column, _ in columns))
            prepared = Prepared(
                elsewhere, job, roles, notes, shown_address(engine.source), _nowhere,
                Generalizable(counted, hierarchies), engine=engine.name,
            )  # fmt: skip
            result = PushdownResult(
                elsewhere, job, solution, verification, notes, clock, prepared, output=engine.target
            )
            if finish is not None:
                finish(result)
    finally:
        place.forget()
    return result if engine.remote is None else replace(result, remote=engine.remote)


def _nowhere(frame: pl.DataFrame, kept: Any = None) -> Any:
    raise AssertionError("rows that are elsewhere are not restored")


def _named(table: Any, job: Job, name: str, most: int) -> tuple[Sensitive, pl.Series, Hierarchy | None]:
    """A column that a model names, from its values alone; these, and its hierarchy if it has one."""
    from kanopy.engine.local import sensitive_column

    values, rows = _values(table, name, most)
    hierarchy = None
    if name in job.hierarchies:
        hierarchy = resolve_hierarchy(
            name, job.hierarchies[name], values, job.missing_tokens, job.least_rows, rows_of=rows
        )
    return sensitive_column(values, hierarchy, rows), values, hierarchy


def _values(table: Any, name: str, most: int) -> tuple[pl.Series, Any]:
    found = table.values(name, most)
    if found.height > most:
        raise DataError(f"{name!r} alone has more than {most:,} different values. Give a coarser column.")
    return found[name], found[found.columns[1]].to_numpy()


def _emptied(table: Any, job: Job, roles: Any, sensitive: list[Sensitive], gone: int) -> list[str]:
    """The sensitive columns whose values suppressed rows must lose, as those rows are no safe class."""
    from kanopy._core.classes import Classes
    from kanopy.privacy.models import failing

    unsafe = []
    known = {column.name: (place, column) for place, column in enumerate(sensitive, len(job.quasi))}
    for name in (name for name, role in roles.items() if role == "sensitive"):
        wrong = gone < job.least_rows
        if name in known and not wrong:
            place, column = known[name]
            found = table.gone(place)
            counts = np.bincount(found["c"].to_numpy(), found["n"].to_numpy(), len(column.values)).astype(np.int64)
            alone = Classes(np.array([gone]), histograms={name: counts[None]}, facts={name: column.facts})
            wrong = any(bool(failing(model, alone).any()) for model in job.models if name in model.sensitive)
        if wrong:
            unsafe.append(name)
    return unsafe


def _how(found: Any, parts: int, job: Job) -> str:
    if found is not None:
        return "every choice of levels was counted there"
    return f"they were cut into {parts:,} parts, and {job.algorithm!r} worked part by part"


def _columns(
    table: Any, job: Job, most: int
) -> tuple[list[tuple[EncodedColumn, pl.Series]], list[Any], dict[str, Hierarchy]]:
    """Every column by itself: its values, how many rows have each, and the hierarchy that they make."""
    from kanopy._table.encode import encode_column

    columns, rows_of, hierarchies = [], [], {}
    for name in job.quasi:
        values, rows = _values(table, name, most)
        levels = MOST_LEVELS if job.recoding == "full-domain" else None
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
        hierarchies[name] = hierarchy
    return columns, rows_of, hierarchies


def _found(table: Any, job: Job, columns: Any, named: Any, problem: Any, most: int, tell: Progress) -> tuple[Any, int]:
    """Make the pieces where the table lies: the levels found, or `None`; and how many parts there were."""
    import polars as pl

    encoded = [column for column, _ in columns]
    others = [(values, column.code_of_row) for column, values, _ in named]
    if job.recoding == "full-domain":
        table.encode([*((values, column.codes) for column, values in columns), *others])
        best, unsafe = best_levels(table, problem, most, tell)
        labels = [
            pl.Series(column.labels_at(level), dtype=pl.String)
            for column, level in zip(encoded, best.levels, strict=True)
        ]
        table.label_levels(best.levels, labels, problem.k, unsafe)
        return best, 1
    from kanopy.search.clustering.measure import make_measure

    measure = make_measure(problem.domain, (), problem.weights, multiplier=2 * problem.domain.rows + problem.k)
    places = []
    for leaves, (column, values) in zip(measure.leaf_at, columns, strict=True):
        place_of = np.full(column.hierarchy.size, -1, np.int32)
        place_of[leaves] = np.arange(len(leaves), dtype=np.int32)
        places.append((values, place_of[column.codes]))
    table.encode([*places, *others])
    parts = cut_until_parts_fit(table, measure, problem, most, tell)
    missing = tuple(
        None if column.missing_leaf is None else column.hierarchy.values[column.missing_leaf] for column in encoded
    )
    hierarchies = tuple(column.hierarchy for column in encoded)
    # Hierarchies are made already; what is left of the job is how to search.
    plain = job.replaced(hierarchies={})
    tell("searching part by part")
    sensitive = tuple(column for column, _, _ in named)
    table.solve(SolvePart(plain, tuple(job.quasi), hierarchies, measure.leaf_at, missing, sensitive))
    return None, parts
