"""What makes the settings of a job count, stated beside each of them; what a job says in vain is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Annotated, Any

from kanopy._job.parameter_types import KnownRows
from kanopy._parameter_types import ColumnNames, MapOf, Number, OneOf, Optional, Share, Text
from kanopy._parameters import parameters_of, unused
from kanopy._table.policies import EACH, ONCE
from kanopy._usage import Needs, in_vain, refuse_in_vain


def _compares_with_population(job: Any) -> bool:
    return any(getattr(model, "needs_population", False) for model in job.models)


def _suppresses(job: Any) -> bool:
    return bool(job.suppress) or "suppress" in (job.missing, job.unknown)


def _recodes_locally(job: Any) -> bool:
    return not job.masks and job.recoding != "full-domain"


def _has_a_column(job: Any) -> bool:
    columns_used = {*job.quasi, *job.sensitive, *(name for model in job.models for name in model.sensitive)}
    return not job.quasi or bool(columns_used & set(job.hierarchies))


HIERARCHIES = Needs("a quasi-identifier or a sensitive column that has one of them", _has_a_column)
SUPPRESSED_ROWS = Needs("rows that may be suppressed (suppress, or missing or unknown = 'suppress')", _suppresses)
POPULATION = Needs("a model that compares with a population, such as k-map", _compares_with_population)
KEY = Needs(
    "identifiers that are pseudonymized (pseudonymize=…), a treatment with a key or random numbers, a margin, "
    "or a sample",
    lambda job: (
        job.pseudonymize
        or getattr(job, "margin", 0)
        or getattr(job, "sample", 1) < 1
        or any(treatment.secret != "none" for treatment in getattr(job, "protect", {}).values())
    ),
)
PLACES = Needs("a role for each of the places", lambda job: set(job.places) <= set(job.roles))
Places = Annotated[
    Mapping[str, tuple[str, ...]],
    MapOf(ColumnNames("columns"), "{'home': ['lat', 'lon']}"),
    "places, each made of two columns, latitude and longitude",
    PLACES,
]
ALLOW_DEPENDENT = Needs(
    "columns of these names in the table", lambda table: set(table.allowed) <= set(table.columns), "columns"
)
LOCAL = Needs("an algorithm that recodes locally, such as 'best'", _recodes_locally)
SAMPLING_WEIGHT = Needs(
    "a model that adds up sampling weights, such as individual-risk",
    lambda job: any(model.needs_weights for model in job.models),
)
HOUSEHOLD = Needs(
    "a model of households, such as household-risk", lambda job: any(model.needs_households for model in job.models)
)
SamplingWeight = Annotated[
    str | None,
    Optional(Text("the name of a column")),
    "the column with the number of people that a row represents",
    SAMPLING_WEIGHT,
]
Household = Annotated[
    str | None,
    Optional(Text("the name of a column")),
    "the column whose equal values belong to one household",
    HOUSEHOLD,
]
KNOWN = Needs(
    "the column of the person (unit=…, --unit), or a quasi-identifier that contains lists",
    lambda table: table.unit or table.lists,
    once="table",
)
REPEATS = Needs(
    "a quasi-identifier that contains lists, with or without a separator", lambda table: table.lists, "table"
)


def _levels_are_searched(job: Any) -> bool:
    fixed = all(name in job.min_levels and job.min_levels[name] == job.max_levels.get(name) for name in job.quasi)
    return bool(job.quasi) and not job.masks and not fixed


MARGIN = Needs("quasi-identifiers whose labels are searched for", _levels_are_searched)
Margin = Annotated[
    float,
    Number(0),
    "loss beyond the least possible; a secret chooses the release within it, so that minimality reveals nothing",
    MARGIN,
]
Sample = Annotated[
    float,
    Share(above=0, least=None),
    "the share of the rows (of the people, with a unit) that is published; a secret draws them before the search",
]
Known = Annotated[
    int | str | None,
    Optional(KnownRows()),
    "rows of one person that an attacker may know: 1, more, or all [default: 1, or all if the release links the rows "
    "of a person]",
    KNOWN,
]
Repeats = Annotated[str, OneOf(ONCE, EACH), "publish equal labels of one list once, or each", REPEATS]
ARGUMENTS = {"population": POPULATION, "key": KEY}


def require_used(*jobs: Any, **arguments: Any) -> None:
    """Refuse what jobs say in vain: one error names every setting that none of them uses, and what would make it count.

    `arguments` are what a function takes besides its job: the population and the key, where they were given.

    >>> from kanopy._job.job import Job
    >>> require_used(Job(quasi="age", population="everybody.csv"))
    Traceback (most recent call last):
    kanopy.extend.JobError: population has no effect without a model that compares with a population, such as k-map. \
Leave it out, or give what it needs.
    """
    given = [name for name, value in arguments.items() if value is not None]
    unused_by_job = [unused(job) | in_vain(given, ARGUMENTS, job) for job in jobs]
    refuse_in_vain(
        {
            name: need
            for name, need in unused_by_job[0].items()
            if all(name in unused_settings for unused_settings in unused_by_job)
        }
    )


def require_used_of(job: Any, once: str, **known: Any) -> None:
    """Refuse what a job says in vain of its table, once its `columns` or the `table` are known.

    >>> from kanopy._job.job import Job
    >>> require_used_of(Job(quasi="age", allow_dependent="born"), "columns", columns=["age"])
    Traceback (most recent call last):
    kanopy.extend.JobError: allow_dependent has no effect without columns of these names in the table. Leave ...
    """
    about = SimpleNamespace(unit=getattr(job, "unit", ()), allowed=getattr(job, "allow_dependent", ()), **known)
    refuse_in_vain(unused(job, about, once))


FORM = ("encoding", "delimiter", "sheet", "header_row")
"""How the file of a table is read."""
STUDIED = (
    "quasi", "sensitive", "k", "models", "population", "hierarchies", "sampling_weight", "household", "unit", "known",
    "separators", "skip_rows", "missing_tokens", "column_tokens", "decimals", "places", *FORM,
)  # fmt: skip
"""What a study of a table looks at; everything else is about how a release is made."""
ATTACKED = (
    "quasi", "sensitive", "hierarchies", "unit", "skip_rows", "missing_tokens", "column_tokens", "decimals",
)  # fmt: skip
"""What an attack on a release that exists looks at."""
SEARCHED = (
    "quasi", "k", "suppress", "hierarchies", "metric", "algorithm", "parameters", "min_levels", "max_levels", "weights",
    "missing", "missing_tokens", "unknown", "models", "population", "local", "sampling_weight", "household", "unit",
    "known", "skip_rows", "column_tokens", "decimals", "separators", "repeats", "places", *FORM,
)  # fmt: skip
"""What decides which release a search finds; everything else is about what leaves with it, and how."""


def reduced(job: Any, fields: Collection[str]) -> Any:
    """The job with nothing but these settings: what somebody reads of a job that others share.

    The sensitive columns that its models name stay so.

    >>> from kanopy._job.job import Job
    >>> job = reduced(Job(quasi="age", k=7, models="l-distinct:ill:2", shuffle=False), ["quasi", "sensitive"])
    >>> job.k, job.sensitive, job.models, job.shuffle
    (5, ('ill',), (), None)
    """
    declared = parameters_of(type(job))
    return job.replaced(**{name: parameter.default for name, parameter in declared.items() if name not in fields})


def used_alone(job: Any) -> Any:
    """The job without what it says in vain: for where one job serves several pages, of which each uses a part.

    >>> from kanopy._job.job import Job
    >>> used_alone(Job(quasi="age", population="everybody.csv")).population
    """
    declared = parameters_of(type(job))
    return job.replaced(**{name: declared[name].default for name in unused(job)})
