"""Releases of a table whose distinct rows do not fit on one machine, with the promise of all others.

Searches over levels count each candidate where the table is. Searches that group rows get parts: the table is cut as
Mondrian cuts (LeFevre, DeWitt, Ramakrishnan 2006) until every part fits, and each part is solved alone. Then what was
written is counted again where it is: every published combination is shared by k rows, and every label is true.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, shown_address
from kanopy._job.inputs import MOST_LEVELS, ROWS_TO_JUDGE, resolve_hierarchy
from kanopy._job.job import Job
from kanopy._progress import Clock, Progress
from kanopy._table.roles import UNPUBLISHED_ROLES
from kanopy.engine.distinct_rows import RowsElsewhere
from kanopy.release.out_of_core import EngineSteps
from kanopy.release.prepare import Generalizable, Prepared, make_problem, roles_of
from kanopy.release.pushdown.pushdown_result import PushdownResult, PushdownSolution
from kanopy.release.pushdown.search import SolvePart, best_levels, cut_until_parts_fit, known_columns
from kanopy.release.pushdown.verification import differs, models_hold, true_labels, verified
from kanopy.release.run import require_rows
from kanopy.release.solution_file import GIVEN_LEVELS, levels_given
from kanopy.release.verification import Applied, Verified
from kanopy.release.withholding import values_to_withhold, without_dependent_elsewhere
from kanopy.search.algorithms import algorithm_class

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.classes import Sensitive
    from kanopy._table.encode import EncodedColumn
    from kanopy.engine.pushdown import DistinctTable, PushdownEngine
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.search.judge import LevelJudgement
    from kanopy.search.problem import Problem


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
    if algorithm_class(job.algorithm).averages:
        return f"the means of {job.algorithm!r} are those of rows that lie together"
    if job.column_tokens or job.decimals:
        return "values are only read as a job says where all distinct rows are in memory"
    if job.unit:
        return "people are counted row by row"
    if not algorithm_class(job.algorithm).counts_whole_classes and job.recoding != "local":
        return f"{job.algorithm!r} looks at all distinct rows together; 'optimal', 'mondrian' and 'best' do not"
    if any(
        isinstance(hierarchy_settings, dict) and hierarchy_settings.get("target")
        for hierarchy_settings in job.hierarchies.values()
    ):
        return "a hierarchy that looks at another column sees all different rows"
    return None


def require_pushdown(job: Job, most: int) -> None:
    """Refuse a job that needs the different rows of its table on one machine, which are more than `most`."""
    if (why := why_not_pushdown(job)) is not None:
        # Every person is a row of its own there, however coarse the other columns are.
        what = "Make it one row per person first" if job.unit else "Name fewer or coarser columns"
        raise JobError(f"The table has more than {most:,} different rows, and {why}. {what}, or raise "
                       "KANOPY_MOST_DIFFERENT (half a gigabyte per million).")  # fmt: skip


class PushdownSteps(EngineSteps):
    """The steps of a run on a table whose distinct rows, more than `most`, stay where they are."""

    result = PushdownResult

    def __init__(self, engine: PushdownEngine, job: Job, most: int, clock: Clock, notify: Progress) -> None:
        from kanopy.engine.pushdown import DistinctTable

        super().__init__(engine, job, clock, notify)
        self.most = most
        named = dict.fromkeys(name for model in job.models for name in model.sensitive)
        self.table = DistinctTable(engine.place, engine.table, job.quasi, list(named))

    def prepare(self) -> Prepared:
        """Ask for the values of every column alone: their hierarchies and codes follow from them."""
        from kanopy.engine.local import Counted

        engine, job = self.engine, self.job
        with self.clock.stage("count"):
            self.notify("counting in the database")
            roles, notes, untouched = roles_of(engine.head(ROWS_TO_JUDGE), job, engine.distinct)
            self.columns, multiplicities, hierarchies = _columns(self.table, job, self.most)
            self.model_columns = [_model_column(self.table, job, name, self.most) for name in self._named]
        encoded = tuple(column for column, _ in self.columns)
        codes_known = known_columns(encoded, multiplicities, [column for column, _, _ in self.model_columns])
        return Prepared(
            RowsElsewhere(codes_known.rows), job, roles, notes, shown_address(engine.source),
            Generalizable(Counted(codes_known, encoded), hierarchies), engine=engine.name, untouched=untouched,
        )  # fmt: skip

    @property
    def _named(self) -> list[str]:
        """The columns that models name."""
        return self.table.columns[len(self.table.quasi) :]

    def search(self, prepared: Prepared) -> LevelJudgement | None:
        """Make the fragments where the table is; returns the best levels, or `None` where parts were solved alone."""
        problem, job = make_problem(prepared.domain, self.job, by_tuples=True), self.job
        if job.recoding == "full-domain":
            levels, self.parts = self._search_levels(problem), 1
        else:
            levels, self.parts = None, self._search_parts(problem)
        self.judged = problem.judged
        return levels

    def _search_levels(self, problem: Problem) -> LevelJudgement:
        import polars as pl

        self._encode([column.codes for column, _ in self.columns])
        best, unsafe = best_levels(self.table, problem, self.most, self.notify)
        labels = [
            pl.Series(column.labels_at(level), dtype=pl.String)
            for (column, _), level in zip(self.columns, best.levels, strict=True)
        ]
        self.table.label_levels(best.levels, labels, problem.k, unsafe)
        return best

    def _search_parts(self, problem: Problem) -> int:
        from kanopy.search.clustering.costs import make_measure

        measure = make_measure(problem.domain, (), problem.weights, multiplier=2 * problem.domain.rows + problem.k)
        encoded, places = [column for column, _ in self.columns], []
        for leaves, column in zip(measure.leaf_at, encoded, strict=True):
            place_of = np.full(column.hierarchy.size, -1, np.int32)
            place_of[leaves] = np.arange(len(leaves), dtype=np.int32)
            places.append(place_of[column.codes])
        self._encode(places)
        parts = cut_until_parts_fit(self.table, measure, problem, self.most, self.notify)
        missing = tuple(
            None if column.missing_leaf is None else column.hierarchy.values[column.missing_leaf] for column in encoded
        )
        hierarchies = tuple(column.hierarchy for column in encoded)
        # Hierarchies are made already; what is left of the job is how to search.
        plain = self.job.replaced(hierarchies={})
        self.notify("searching part by part")
        sensitive = tuple(column for column, _, _ in self.model_columns)
        self.table.solve(SolvePart(plain, tuple(self.job.quasi), hierarchies, measure.leaf_at, missing, sensitive))
        return parts

    def _encode(self, codes: list[Any]) -> None:
        """Number the values of all columns where the table is, those of the quasi-identifiers by `codes`."""
        quasi = [(values, codes_of_column) for (_, values), codes_of_column in zip(self.columns, codes, strict=True)]
        self.table.encode([*quasi, *((values, column.code_of_row) for column, values, _ in self.model_columns)])

    def apply(self, prepared: Prepared, solution: LevelJudgement | None) -> Applied:
        """Count what the fragments publish; the labels stay where they are."""
        import polars as pl

        from kanopy.engine.contract import RecodePlan
        from kanopy.engine.statements import Statements

        engine, drop = self.engine, self.job.suppressed_rows == "drop"
        rows, self.suppressed, self.lost = self.table.meant(drop)
        if rows != prepared.rows:
            raise differs("its rows")
        if drop:
            require_rows(rows - self.suppressed)
        levels = () if solution is None else solution.levels
        self.unchanged = [
            name for name, level in zip(self.job.quasi, levels, strict=False) if level == 0 and not self.suppressed
        ]

        def labels_of(drawn: pl.DataFrame) -> dict[str, pl.Series]:  # what labels hide is not known row by row
            hidden = pl.Series(["*"]).new_from_index(0, drawn.height)
            return {name: drawn[name] if name in self.unchanged else hidden for name in self.job.quasi}

        roles, job, about_columns = without_dependent_elsewhere(
            engine, prepared.roles, self.job, self.job.quasi, labels_of
        )
        withheld, about_suppressed = self._values_to_withhold(job, roles)
        leaving = tuple(name for name in engine.schema.names() if roles.get(name) not in UNPUBLISHED_ROLES)
        labels = {name: engine.schema[name] if name in self.unchanged else pl.String() for name in job.quasi}
        keys = pl.DataFrame(schema={name: engine.schema[name] for name in self.table.columns})
        none = np.zeros(0, np.int64)
        plan = RecodePlan(
            keys, none.astype(np.int32), none, pl.DataFrame(schema=labels), none.astype(np.bool_), leaving,
            tuple(withheld), drop,
        )  # fmt: skip
        self.statements = Statements(
            engine.table, plan, engine.place.dialect, parted=solution is None, plain=engine.plain_types
        )
        prepared = replace(prepared, job=job, roles=roles)
        return Applied(prepared, job, solution, None, None, about_columns, about_suppressed)

    def _values_to_withhold(self, job: Job, roles: Any) -> tuple[list[str], tuple[str, ...]]:
        """The sensitive columns whose values suppressed rows must lose; what to say of it."""
        from kanopy._core.classes import Classes

        sensitive = [name for name, role in roles.items() if role == "sensitive"]
        if job.suppressed_rows == "drop" or not self.suppressed or not sensitive:
            return [], ()
        counts, facts = {}, {}
        for index, (column, _, _) in enumerate(self.model_columns, len(job.quasi)):
            gone_counts = self.table.gone(index)
            values = np.bincount(gone_counts["c"].to_numpy(), gone_counts["n"].to_numpy(), len(column.values)).astype(
                np.int64
            )
            counts[column.name], facts[column.name] = values[None], column.facts
        suppressed_class = Classes(np.array([self.suppressed]), histograms=counts, facts=facts)
        return values_to_withhold(job, sensitive, self.suppressed, suppressed_class)

    @contextlib.contextmanager
    def write(self, applied: Applied) -> Iterator[str]:
        """Stage the release where the table is; yields its name there."""
        self.notify("writing")
        with self.engine.released(self.statements) as (columns, release):
            if list(columns) != list(self.statements.plan.columns):
                raise differs("its columns")
            yield release

    def verify(self, applied: Applied, staged: str) -> Verified:
        """Count classes, models and labels on what was written, where it was written."""
        job, levels, rows = applied.job, applied.solution, applied.prepared.rows
        drop = job.suppressed_rows == "drop"
        verification, squares = verified(self.table, job, staged, self.unchanged, rows, self.suppressed, drop)
        models_hold(self.table, self.statements, job, staged, self.model_columns, verification, self.most)
        pairs = true_labels(self.table, self.statements, job, [column for column, _ in self.columns])
        how = "every choice of levels was counted there"
        if levels is None:
            how = f"they were cut into {self.parts:,} parts, and {job.algorithm!r} worked part by part"
        solution = PushdownSolution(
            GIVEN_LEVELS if levels_given(job) else job.algorithm, None if levels is None else levels.levels,
            {"loss": self.lost / rows} if levels is None else {job.metric: levels.score}, self.suppressed,
            levels is not None and not levels_given(job), self.judged, self.parts, pairs, squares,
            (f"The distinct rows, more than {self.most:,}, stayed where they are: {how}.",),
        )  # fmt: skip
        return Verified(verification, applied.prepared.records, solution)  # type: ignore[arg-type]


def _model_column(
    table: DistinctTable, job: Job, name: str, most: int
) -> tuple[Sensitive, pl.Series, Hierarchy | None]:
    """A column that a model names, from its values alone; these, and its hierarchy if it has one."""
    from kanopy.engine.local import sensitive_column

    values, rows = _values(table, name, most)
    hierarchy = None
    if name in job.hierarchies:
        hierarchy = resolve_hierarchy(
            name, job.hierarchies[name], values, job.missing_tokens, job.least_rows, multiplicity=rows
        )
    return sensitive_column(values, hierarchy, rows), values, hierarchy


def _values(table: DistinctTable, name: str, most: int) -> tuple[pl.Series, Any]:
    counts = table.values(name, most)
    if counts.height > most:
        raise DataError(f"{name!r} alone has more than {most:,} different values. Give a coarser column.")
    return counts[name], counts[counts.columns[1]].to_numpy()


def _columns(
    table: DistinctTable, job: Job, most: int
) -> tuple[list[tuple[EncodedColumn, pl.Series]], list[Any], dict[str, Hierarchy]]:
    """Every column by itself: its values, how many rows have each, and the hierarchy that they make."""
    from kanopy._table.encode import encode_column

    columns, multiplicity, hierarchies = [], [], {}
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
                "distinct rows fit on one machine. Use missing='as-value' and unknown='add'."
            )
        columns.append((encoded, values))
        multiplicity.append(rows)
        hierarchies[name] = hierarchy
    return columns, multiplicity, hierarchies
