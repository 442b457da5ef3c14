"""What a job says of a table's columns: the role of each, and a hierarchy per quasi-identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._arrays import MISSING_LABEL
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._job.job import HierarchySource, Job
from kanopy._job.reading_rules import ReadingRules, read_records
from kanopy._table.roles import LEAVE_OUT, Role
from kanopy.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints, Longs

    Distinct = Callable[[Sequence[str]], Mapping[str, pl.DataFrame | None]]
    """The different values of some columns, as `why_pointing` takes them."""

MOST_LEVELS = 8
FINEST_PARTS = 512
ROWS_TO_JUDGE = 20_000
"""So many rows, evenly spread, are enough to tell what a column looks like."""
METRICS_OF_LEVELS = ("precision", "height")
"""What counts levels cannot compare hierarchies of different heights."""
_OTHER_UNITS = ("month", "week", "day", "monat", "woche", "tage", "mois", "mese", "mth")


UNTOUCHED = (Role.SENSITIVE, Role.INSENSITIVE)
"""Roles of columns that are published unchanged."""


def assign_roles(
    frame: pl.DataFrame,
    given: Mapping[str, str],
    hierarchies: Iterable[str] = (),
    rest: str = LEAVE_OUT,
    distinct: Distinct | None = None,
) -> tuple[dict[str, str], tuple[str, ...], Untouched]:
    """The role of every column, what to tell the user about it, and about what may be published as it is.

    `hierarchies` are the columns that have one. Columns without a given role stay at home. Where `rest` says to publish
    them, only those do of which neither the name nor any value says whose row it is: `distinct` gives all their
    different values where the frame is but a part of the table.
    """
    from kanopy._table.guessing.identifying_values import distinct_values, why_pointing
    from kanopy._table.roles import identifying_name

    absent = [name for name in given if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    unnamed = [name for name in frame.columns if name not in given]
    reasons: dict[str, str | None]
    if rest == LEAVE_OUT:
        reasons = {name: identifying_name(name) for name in unnamed}
    elif distinct is None:
        reasons = {name: why_pointing(name, distinct_values(frame[name])) for name in unnamed}
    else:
        values = distinct(unnamed) if unnamed else {}
        reasons = {name: why_pointing(name, values[name]) for name in unnamed}
    otherwise = Role.UNDECIDED if rest == LEAVE_OUT else Role.INSENSITIVE
    roles = {
        name: given[name] if name in given else str(Role.IDENTIFIER if reasons[name] else otherwise)
        for name in frame.columns
    }
    notes = _left_out(roles, reasons, rest)
    unused = [name for name in hierarchies if name not in frame.columns]
    if unused:
        hint = near_miss(unused[0], frame.columns)
        notes.append(f"No column has the name of these hierarchies: {some(unused)}. {hint}")
    return roles, tuple(notes), _untouched(frame, roles)


def _left_out(roles: Mapping[str, str], meanings: Mapping[str, str | None], rest: str) -> list[str]:
    """What is said of columns that stay at home though nobody called them identifiers."""
    if rest != LEAVE_OUT:
        return [
            f"The column {name!r} was left out: {reason}. To publish it nevertheless, give it the role insensitive "
            "in the job."
            for name, reason in meanings.items()
            if reason is not None
        ] + _undecided([name for name, role in roles.items() if role == Role.UNDECIDED])
    unnamed = [f"{name!r} ({meaning})" if meaning else repr(name) for name, meaning in meanings.items()]
    notes = _undecided([name for name, role in roles.items() if role == Role.UNDECIDED and name not in meanings])
    if unnamed:
        notes.append(
            f"Not published, because {'it has' if len(unnamed) == 1 else 'they have'} no role: {', '.join(unnamed)}. "
            'To publish a column, give it the role insensitive or sensitive; rest = "publish" (--rest publish) '
            "publishes all columns without a role."
        )
    return notes


def _undecided(names: Sequence[str]) -> list[str]:
    listed_names = ", ".join(map(repr, names))
    decide = "To publish it, decide its role." if len(names) == 1 else "To publish them, decide their roles."
    return [f"Not published, because the role is undecided: {listed_names}. {decide}"] if names else []


@dataclass(frozen=True)
class Untouched:
    """Columns to be published as they are: why others may know some, and those where most rows have a value alone."""

    looks: Mapping[str, str] = field(default_factory=dict)
    alone: tuple[str, ...] = ()

    def notes(self, roles: Mapping[str, str]) -> tuple[str, ...]:
        """What to say of those that are published with these roles, when it is known what leaves.

        >>> Untouched({"born": "quasi-identifier"}).notes({"born": "undecided"})
        ()
        """
        looks = [f"{name!r} ({why})" for name, why in self.looks.items() if roles.get(name) in UNTOUCHED]
        alone = [name for name in self.alone if roles.get(name) in UNTOUCHED]
        notes = []
        if looks:
            why = "although an attacker may know it"
            notes.append(f"Published unchanged, {why}: {'; '.join(looks)}. Check the roles.")
        if alone:
            notes.append(
                f"Published unchanged: {some(alone)}. Most rows have a unique value there, by which they can be "
                "found. Leave the column out, round it, or make it a quasi-identifier."
            )
        return tuple(notes)


def _untouched(frame: pl.DataFrame, roles: Mapping[str, str]) -> Untouched:
    """What is to be known of columns that are published unchanged, if they are."""
    columns = [name for name in frame.columns if roles.get(name) in UNTOUCHED]
    if not columns:
        return Untouched()
    from kanopy._table.guessing.guess import UNSURE, guess_roles
    from kanopy._table.guessing.identifying_values import distinct_values, why_pointing

    some_rows = frame[columns].gather_every(max(1, frame.height // ROWS_TO_JUDGE))
    looks, alone = {}, []
    for guess in guess_roles(some_rows):
        if guess.role in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER) and guess.certainty != UNSURE:
            looks[guess.column] = f"{guess.role}: {guess.reason.partition(';')[0]}"
        elif (reason := why_pointing(guess.column, distinct_values(some_rows[guess.column]))) is not None:
            looks[guess.column] = reason
        elif guess.alone:
            alone.append(guess.column)
    return Untouched(looks, tuple(alone))


def about_people(frame: pl.DataFrame, job: Job) -> tuple[str, ...]:
    """A warning where a table without a unit has a column that looks like a key of people with several rows each.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient": [*range(20)] * 3, "sex": [*"fm" * 10] * 3, "ward": ["a", "b", "c"] * 20})
    >>> about_people(visits, Job(quasi=["sex", "ward"]))[0][:60]
    "'patient' looks like a key of people: it has 20 values in 60"
    """
    from kanopy._table.guessing.structure import keys_of_people

    if job.unit:
        return ()
    notes = []
    for key in keys_of_people(frame, job.quasi, job.identifiers):
        hang = "hangs" if len(key.hanging) == 1 else "hang"
        hanging = f", and {some(key.hanging)} {hang} on it" if key.hanging else ""
        repeated = ""
        if key.copies:
            repeated = f" {key.copies:,} rows repeat another row with the same {key.column!r}."
        notes.append(
            f"{key.column!r} looks like a key of people: it has {key.values:,} values in {key.rows:,} "
            f"rows{hanging}. k counts rows, and {job.k} rows may all belong to one person.{repeated} To count "
            f"people, name it as the unit (unit = {key.column!r}, --unit)."
        )
    return tuple(notes)


def about_index(names: Sequence[str | None], rest: str) -> tuple[str, ...]:
    """What is said of an index without a role: it is not published, or goes out unless it says who a row is about."""
    from kanopy._table.roles import identifying_name

    if not names:
        return ()
    if rest == LEAVE_OUT:
        return (
            "The index of the table is not published, because it has no role. To publish it, give it a name and the "
            "role insensitive or sensitive.",
        )
    for name in names:
        meaning = None if name is None else identifying_name(name)
        if meaning is not None:
            raise DataError(
                f"The index {name!r} of the table would be published, and its name suggests {meaning}. Make it a "
                "column with reset_index(), or leave it out with reset_index(drop=True)."
            )
    return ("The index of the table is published unchanged; reset_index(drop=True) leaves it out.",)


def read_other(source: Any, job: Job) -> pl.DataFrame:
    """Another table with columns of a job's table, such as the population: read by the same rules, no row skipped.

    >>> read_other({"age": [41, 99]}, Job(quasi="age", missing_tokens="99", skip_rows=1)).rows()
    [(41,), (None,)]
    """
    return read_records(source, job, rules=ReadingRules.of(job).of_records(), part=True)


def read_population(source: Any, job: Job) -> pl.DataFrame:
    """What others may know of everybody, where a model compares with it: read as the table is, but for skipped rows.

    >>> read_population({"age": [41, 99], "town": ["Bonn", "Ulm"]}, Job(quasi="age", missing_tokens="99")).rows()
    [(41,), (None,)]
    """
    if source is None:
        raise JobError("A model compares with a population. Give one (population=…, --population FILE).")
    people = read_other(source, job)
    if absent := [name for name in job.quasi if name not in people.columns]:
        raise DataError(f"The population has no column {some(absent)}. {near_miss(absent[0], people.columns)}")
    return people[list(job.quasi)]


def resolve_hierarchies(
    frame: pl.DataFrame,
    job: Job,
    population: pl.DataFrame | None = None,
    multiplicity: Longs | None = None,
    unit_of_row: Ints | None = None,
) -> dict[str, Hierarchy]:
    """A hierarchy per quasi-identifier: given, read from its file, or built from the column (and the population's).

    Where nobody says how numbers are to be cut, a search over levels gets cuts that suit the whole table.
    `multiplicity` says for how many rows each row of the frame stands, `unit_of_row` whose it is (found by the job's
    unit if not given): no interval ends at a value that fewer than k people have, however many their rows.
    """
    from kanopy._table.grouping import units_of
    from kanopy.engine.local import stacked

    if unit_of_row is None and job.unit and set(job.unit) <= set(frame.columns):
        unit_of_row = units_of(frame, job.unit, job.missing_tokens)[0]
    together, whose = multiplicity, unit_of_row
    if population is not None:
        import numpy as np

        if multiplicity is not None:
            together = np.append(multiplicity, np.ones(population.height, np.int64))
        if unit_of_row is not None:
            others = np.arange(population.height, dtype=np.int32) + unit_of_row.max() + 1
            whose = np.append(unit_of_row, others).astype(np.int32)

    over_levels = job.recoding == "full-domain"
    plain = _averaged(frame, job)
    hierarchies = {
        name: plain[name]
        if name in plain
        else resolve_hierarchy(
            name,
            with_classes(job.hierarchies.get(name), frame, name, job.missing_tokens, multiplicity),
            frame[name] if population is None else stacked(frame, population, name),
            job.missing_tokens,
            job.least_rows,
            MOST_LEVELS if over_levels else None,
            together,
            whose,
            frame.height,
        )
        for name in job.quasi
    }
    if over_levels and population is None and job.metric not in METRICS_OF_LEVELS:
        hierarchies |= _fitted(frame, job, hierarchies, multiplicity, unit_of_row)
    return hierarchies


def _averaged(frame: pl.DataFrame, job: Job) -> dict[str, Hierarchy]:
    """The columns of numbers of which classes publish means, where the algorithm does that, as values under `*`."""
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.quantities import AS_IT_IS
    from kanopy.search.algorithms import algorithm_class, make_algorithm
    from kanopy.search.clustering.microaggregation import require_gower

    if job.masks or not algorithm_class(job.algorithm).averages:
        return {}
    averaged_trees, categories = {}, []
    for name in job.quasi:
        column = typed_column(frame[name], missing_tokens=job.missing_tokens, name=name)
        column = None if column is None else column.inferred()
        if column is None or column.kind not in ("integer", "decimal", "real") or column.measure != AS_IT_IS:
            categories.append(name)
            continue
        if name in job.hierarchies:
            raise JobError(
                f"The algorithm {job.algorithm!r} publishes means of {name!r}, so its hierarchy has no effect. Leave "
                "the hierarchy out, or use an algorithm that generalizes, such as 'mondrian'."
            )
        averaged_trees[name] = column.under_one_top()
    if categories:
        require_gower(make_algorithm(job.algorithm, **job.parameters), categories)
    return averaged_trees


def _fitted(
    frame: pl.DataFrame,
    job: Job,
    hierarchies: Mapping[str, Hierarchy],
    multiplicity: Longs | None,
    unit_of_row: Ints | None,
) -> dict[str, Hierarchy]:
    """Hierarchies of numeric columns that nobody gave one, cut where the release loses least."""
    limited = job.min_levels.keys() | job.max_levels.keys()
    names = [name for name in job.quasi if chosen_automatically(job.hierarchies.get(name)) and name not in limited]
    if not names:
        return {}
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.builders.rounding import Round
    from kanopy.hierarchy.suggest import readable

    columns = {}
    for name in names:
        column = typed_column(
            frame[name], missing_tokens=job.missing_tokens, name=name, multiplicity=multiplicity,
            unit_of_row=unit_of_row,
        )  # fmt: skip
        column = None if column is None else column.inferred()
        if column is None or column.kind not in Round.fits or column.size <= 2:
            continue
        if isinstance(readable(column, job.k)[0], Round):  # and no codes
            columns[name] = column
    if not columns:
        return {}
    from kanopy._core.units import Units
    from kanopy._job.cut_optimizer import fitted_hierarchies
    from kanopy.engine.local import LocalEngine
    from kanopy.metrics.full_domain import Loss
    from kanopy.privacy.models import KAnonymity
    from kanopy.search.problem import Problem

    units = None
    rows = len(frame) if multiplicity is None else int(multiplicity.sum())
    if unit_of_row is not None and int(unit_of_row.max(initial=-1)) + 1 < rows:
        units = Units(unit_of_row, job.known_rows)
    counted = LocalEngine().count(
        frame, hierarchies, missing=job.missing, unknown=job.unknown, missing_tokens=job.missing_tokens,
        units=units, multiplicity=multiplicity,
    )  # fmt: skip
    domain = counted.domain
    if not len(domain.counts):
        return {}
    problem = Problem(
        domain,
        [KAnonymity(job.least_rows)],
        Loss(),
        weights=[job.weights.get(name, 1.0) for name in domain.names],
        suppression_limit=job.suppress,
        lowest_levels=[job.min_levels.get(name, 0) for name in domain.names],
        highest_levels=[job.max_levels.get(name, h.height) for name, h in hierarchies.items()],
    )
    return fitted_hierarchies(problem, columns, [name for name in columns if _speaks_of_age(name)])


def _speaks_of_age(name: str) -> bool:
    """Whether a column's name says that it holds years of age.

    >>> [_speaks_of_age(name) for name in ("age", "AgeYears", "patient_age", "Alter", "wage", "age_months")]
    [True, True, True, True, False, False]
    """
    from kanopy._table.guessing.column_names import meanings_of

    plain = name.casefold()
    return any(spoken.meaning.says == "age" for spoken in meanings_of(name)[:1]) and not any(
        unit in plain for unit in _OTHER_UNITS
    )


def chosen_automatically(source: HierarchySource | None) -> bool:
    """Whether a column's hierarchy is chosen by looking at the column, for the job's k (over levels: and limit)."""
    return source is None or (isinstance(source, Mapping) and source.get("method") == "auto" and "k" not in source)


def target_of(source: HierarchySource | None) -> str | None:
    """The column of the table whose classes are to be counted for a hierarchy, if its method asks for one.

    >>> target_of({"method": "chimerge", "target": "pay"}), target_of({"method": "iotf"}), target_of("age.csv")
    ('pay', None, None)
    """
    given = source if isinstance(source, Mapping) else getattr(source, "__dict__", {})
    return given.get("target") if given.get("classes") is None else None


def with_classes(
    source: HierarchySource | None,
    frame: pl.DataFrame,
    name: str,
    missing_tokens: Sequence[str] = (),
    multiplicity: Longs | None = None,
) -> HierarchySource | None:
    """What a job gives for the hierarchy of a column; a method that cuts by a target is told the classes of its values.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [17, 30], "pay": ["low", "high"]})
    >>> with_classes({"method": "mdl", "target": "pay"}, table, "age")["classes"]
    {'17': {'low': 1}, '30': {'high': 1}}
    """
    target = target_of(source)
    if target is None:
        return source
    if target == name or target not in frame.columns:
        others = [column_name for column_name in frame.columns if column_name != name]
        wrong = "is the column itself" if target == name else "is no column of the table"
        raise JobError(f"The target {target!r} of the hierarchy of {name!r} {wrong}. {near_miss(target, others)}")

    from kanopy._table.column import class_counts

    classes = class_counts(frame[name], frame[target], missing_tokens=missing_tokens, multiplicity=multiplicity)
    return {**source, "classes": classes} if isinstance(source, Mapping) else replace(source, classes=classes)  # type: ignore[type-var]


def resolve_hierarchy(
    name: str,
    source: HierarchySource | None,
    column: pl.Series,
    missing_tokens: Sequence[str] = (),
    k: int = 5,
    most_levels: int | None = None,
    multiplicity: Longs | None = None,
    unit_of_row: Ints | None = None,
    table_rows: int | None = None,
) -> Hierarchy:
    """One hierarchy from whatever the job gives for it; nothing given means the best that fits the column.

    The first `table_rows` are the table's, others those of a population.

    `most_levels` cuts a tree that was chosen automatically: each level multiplies the candidates of a search over
    levels without telling readers much more.
    """
    from kanopy._table.column import typed_column
    from kanopy.hierarchy.files.files import read_hierarchy

    if isinstance(source, Hierarchy):
        return source.renamed(name) if source.name != name else source
    if isinstance(source, (str, Path)):
        return read_hierarchy(source, column=name)
    values = typed_column(
        column, missing_tokens=missing_tokens, name=name, multiplicity=multiplicity, unit_of_row=unit_of_row
    )
    if values is None:
        return Hierarchy.flat([MISSING_LABEL], name=name)

    labels = values.labels

    def rare() -> set[str]:
        """What fewer than k have in the table, whatever the population has."""
        typed = typed_column(
            column[:table_rows], missing_tokens=missing_tokens, name=name,
            multiplicity=None if multiplicity is None else multiplicity[:table_rows],
            unit_of_row=None if unit_of_row is None else unit_of_row[:table_rows],
        )  # fmt: skip
        having = {} if typed is None else dict(zip(typed.labels(), typed.holders.tolist(), strict=True))
        return {label for label in labels() if having.get(label, 0) < k}

    values = replace(values, rare=rare)
    if source is None:
        parameters: dict[str, Any] = {"method": "auto"}
    elif isinstance(source, Mapping):
        from kanopy.hierarchy.builders.registry import method_of

        parameters = {**source, "method": method_of(source)}
        if parameters["method"] is None:
            raise JobError(f'The hierarchy of {name!r} names no method, e.g. hierarchy = {{ method = "iotf" }}.')
    else:
        return source.build_column(values).rooted()
    # The builders bring the ontologies along; a job whose hierarchies are given does without them.
    from kanopy.hierarchy.builders.registry import BUILDERS, build_hierarchy

    wants = parameters["method"] != "auto" and BUILDERS.find(parameters["method"]).k_of_job
    if parameters.get(wants) if isinstance(wants, str) else wants:
        parameters.setdefault("k", k)
    if parameters["method"] == "auto":
        # Groups larger than the column has values cannot be compared; missing ones are no part of a hierarchy.
        parameters.setdefault("k", min(k, values.rows))
        if most_levels is None:  # what chooses a group per row makes use of groups of little more than k rows
            parameters["parts"] = int(min(max(values.rows // parameters["k"], 2), FINEST_PARTS))
    built = build_hierarchy(values, **parameters).rooted()
    return built.with_levels(most_levels) if parameters["method"] == "auto" and most_levels else built
