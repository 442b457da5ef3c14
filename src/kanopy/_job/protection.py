"""What a job says of columns that models guard or that are treated: how it is given, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from kanopy._errors import collected, near_miss, some
from kanopy._job.parameter_types import DEFAULT_K
from kanopy._parameter_types import MapOf, ParameterType
from kanopy._table.roles import UNPUBLISHED_ROLES, Role

if TYPE_CHECKING:
    from kanopy.privacy.base import Model
    from kanopy.treatments.base import Treatment


class TreatmentGiven(ParameterType):
    """A treatment in any of its forms."""

    words = "a treatment such as { method = 'round', base = 100 }"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        from kanopy.treatments.registry import make_treatment

        treatment = value
        with collected(mistakes):
            treatment = make_treatment(value)
        return treatment


Protect = Annotated[
    Mapping[str, Any],
    MapOf(TreatmentGiven(), "{'income': {'method': 'round', 'base': 100}}"),
    "per column how it is treated",
]


def settle_models(job: Any) -> Iterator[str]:
    """What is wrong with the models of a job. The k that they ask for becomes its own, their columns sensitive."""
    from kanopy.privacy.models import KAnonymity

    asked = {model.k for model in job.models if isinstance(model, KAnonymity)} | ({job.k} - {None})
    if len(asked) > 1:
        yield f"The models contradict each other: k is {' and '.join(map(str, sorted(asked)))}. Give one k."
    elif asked != {job.k}:
        object.__setattr__(job, "_said", job._said | ({"k"} if asked else set()))
        object.__setattr__(job, "k", asked.pop() if asked else DEFAULT_K)
    object.__setattr__(job, "models", tuple(model for model in job.models if not isinstance(model, KAnonymity)))
    hidden = [name for model in job.models for name in model.hidden]
    for model in job.models:
        for name in model.sensitive:
            yield from _claim(job, name, model.name, "identifiers" if name in hidden else "sensitive")
        yield from _wrong_survey(job, model)
        for name in model.quasi:
            if name not in job.quasi:
                yield (
                    f"The model {model.name!r} names {name!r}, which is not a quasi-identifier. "
                    f"{near_miss(name, job.quasi)}"
                )


def _wrong_survey(job: Any, model: Model) -> Iterator[str]:
    """What a model of a sample survey asks for and the job does not say."""
    from kanopy.metrics.risk.combinations import check_sets

    if model.needs_weights and job.sampling_weight is None:
        yield f"The model {model.name!r} needs sampling weights (sampling_weight=…, --sampling-weight COLUMN)."
    if model.needs_weights and job.sample < 1:
        yield (
            f"The model {model.name!r} adds up sampling weights, which are those of the table. Draw the sample first, "
            "divide its weights by the share drawn, and leave sample out."
        )
    if (fraction := getattr(model, "fraction", 0)) > job.sample:
        yield (
            f"The model {model.name!r} says that {fraction:g} of the population is published, and the job publishes a "
            f"sample of {job.sample:g} of the table. Give {job.sample:g} times the share of the table."
        )
    if model.needs_households and job.household is None:
        yield f"The model {model.name!r} needs households: name their column (household=…, --household)."
    for name in (job.sampling_weight, job.household):
        if model.needs_weights and name is not None and name in job.quasi:
            yield f"{name!r} is a quasi-identifier and is generalized, so it cannot be a weight or a household."
    if model.all_quasi and job.quasi:
        mistakes: list[str] = []
        with collected(mistakes):
            check_sets(dict(getattr(model, "every", ())), len(job.quasi))
        yield from mistakes


def _claim(job: Any, column: str, model: str, role: str) -> Iterator[str]:
    """Give a column the role that a model needs, unless it has another."""
    has = job.roles.get(column)
    if has is None:
        object.__setattr__(job, role, (*getattr(job, role), column))
    elif has == "identifier" and role == "sensitive":
        yield (
            f"The model {model!r} names {column!r}, which identifies people and is not published. Name a sensitive "
            "column."
        )
    elif has in ("undecided", "withheld") and role == "sensitive":
        yield f"The model {model!r} names {column!r}, whose role is {has}. Give it the role sensitive."
    elif has == "quasi-identifier":
        yield (
            f"The model {model!r} names {column!r}, which is a quasi-identifier and is generalized, so it cannot also "
            "be sensitive. Give it one role."
        )
    elif has not in UNPUBLISHED_ROLES and role == "identifiers":
        yield f"The column {column!r} of the model {model!r} must not be published, but is {has}."
    elif has == "insensitive":
        yield f"The model {model!r} names {column!r}, which is insensitive in the job. Give it the role sensitive."


def settle_protection(job: Any) -> Iterator[str]:
    """What is wrong with the treatments of a job.

    Treated columns without a role get one: identifier where the treatment makes pseudonyms, else sensitive. What a
    treatment takes from the job is settled in a copy.
    """
    treated: Mapping[str, Treatment] = job.protect
    settled = dict(treated)
    object.__setattr__(job, "_said_protect", treated)
    object.__setattr__(job, "protect", settled)
    if not treated:
        return
    from dataclasses import replace

    written: dict[str, str] = {}
    for column, treatment in treated.items():
        for name in treatment.writes(column):
            if name in written:
                yield (
                    f"The column {name!r} has two treatments: with {written[name]!r} and with {column!r}. Name it in "
                    "one of them."
                )
            written.setdefault(name, column)
    for name, column in written.items():
        treatment = treated[column]
        role = job.roles.get(name)
        if role is None:
            field = "identifiers" if treatment.for_identifiers else "sensitive"
            object.__setattr__(job, field, (*getattr(job, field), name))
        elif role == Role.QUASI_IDENTIFIER:
            yield (
                f"The column {name!r} is a quasi-identifier, which is generalized, and also treated by "
                f"{treatment.name!r}. Choose one of them: give it the role sensitive, or leave the treatment out."
            )
        elif role in (Role.IDENTIFIER, Role.UNIT) and not treatment.for_identifiers:
            yield (
                f"The column {name!r} is {'an identifier' if role == Role.IDENTIFIER else 'the unit'}, and what "
                f"{treatment.name!r} publishes would still identify. Use a pseudonym (hash, tokens, encrypt, "
                "format-preserving, mask), or leave the treatment out."
            )
        elif role == Role.UNDECIDED:
            yield (
                f"The column {name!r} is undecided, so it is not published and its treatment has no effect. Decide "
                "its role."
            )
        if name in job.pseudonymize:
            yield f"The column {name!r} is pseudonymized and treated by {treatment.name!r}. Choose one of them."
        guards = [model.name for model in job.models if name in model.sensitive]
        if guards:
            yield (
                f"The column {name!r} is treated, and the model {guards[0]!r} needs its original values. Leave out "
                "the treatment or the model."
            )
        if name in (job.sampling_weight, job.household):
            yield (
                f"The column {name!r} is a weight or a household of the job, which must not change. Leave out its "
                "treatment."
            )
    for column, treatment in treated.items():
        leader = str(getattr(treatment, "column", None))
        if treatment.follows and leader in treated and treated[leader].follows:
            yield f"{column!r} follows {leader!r}, which follows another column. Let both follow that column."
        if column in treatment.reads(column) or (set(treatment.reads(column)) & set(treatment.writes(column))):
            yield f"The treatment {treatment.name!r} of {column!r} refers to the column itself. Name another column."
        if treatment.follows and leader not in written and job.roles.get(leader) in (
            None, Role.IDENTIFIER, Role.UNIT, Role.UNDECIDED,
        ):  # fmt: skip
            yield (
                f"{column!r} follows {leader!r}, which is not published. Give that column a role, or leave the "
                "treatment out."
            )
        if job.quasi and job.k > 1:
            settled[column] = treatment = treatment.with_k(job.k)
        if treatment.by_person and not treatment.reads(column):
            if not job.unit:
                yield (
                    f"{treatment.name} of {column!r} needs the column of the person. Name it: unit = 'patient', or "
                    "give the job a unit."
                )
            else:
                with_unit: Any = replace(treatment, unit=tuple(job.unit))  # type: ignore[call-arg]
                settled[column] = with_unit
    if job.masks:
        yield "A masking of free text takes no treatments. Treat the columns in a separate job, on the masked table."
    if job.separators:
        yield (
            f"A table whose lists are split ({some(job.separators)}) takes no treatments. Treat it in a separate job."
        )


def changed_columns(job: Any) -> dict[str, Any]:
    """Every column that a treatment of the job changes, with the treatment."""
    protect = getattr(job, "protect", None) or {}
    return {name: treatment for column, treatment in protect.items() for name in treatment.writes(column)}


def renamed_identifiers(job: Any) -> list[str]:
    """The columns that do not leave as they are, in whose place something else is published.

    >>> from kanopy._job.job import Job
    >>> renamed_identifiers(Job(quasi="age", pseudonymize="id", protect={"account": "mask"}))
    ['id', 'account']
    """
    treated = [name for name, treatment in changed_columns(job).items() if treatment.for_identifiers]
    return list(dict.fromkeys((*job.pseudonymize, *treated)))
