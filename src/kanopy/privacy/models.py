"""Every privacy model by name, and how a model is written on the command line and in a job file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kanopy._arrays import Mask
from kanopy._core.classes import Classes
from kanopy._errors import JobError, collected, near_miss, refuse, short
from kanopy._lazy import public
from kanopy._parameters import faults_of_class, make, parameters_of
from kanopy._registry import Named
from kanopy._usage import checked
from kanopy.privacy.base import Model
from kanopy.privacy.judgement import judged_twice
from kanopy.privacy.sizes import KAnonymity

MODELS: Named[type[Model]] = Named(
    {
        "k": "kanopy.privacy.sizes:KAnonymity",
        "p-sensitive": "kanopy.privacy.diversity:PSensitive",
        "l-distinct": "kanopy.privacy.diversity:DistinctDiversity",
        "l-entropy": "kanopy.privacy.diversity:EntropyDiversity",
        "l-recursive": "kanopy.privacy.diversity:RecursiveDiversity",
        "l-plus": "kanopy.privacy.diversity:LPlus",
        "t-equal": "kanopy.privacy.closeness:EqualCloseness",
        "t-ordered": "kanopy.privacy.closeness:OrderedCloseness",
        "t-hierarchical": "kanopy.privacy.closeness:HierarchicalCloseness",
        "alpha-k": "kanopy.privacy.diversity:AlphaK",
        "delta-disclosure": "kanopy.privacy.closeness:DeltaDisclosure",
        "beta-basic": "kanopy.privacy.closeness:BasicLikeness",
        "beta-enhanced": "kanopy.privacy.closeness:EnhancedLikeness",
        "epsilon-m": "kanopy.privacy.personal:EpsilonM",
        "delta-presence": "kanopy.privacy.sizes:DeltaPresence",
        "k-map": "kanopy.privacy.sizes:KMap",
        "risk-average": "kanopy.privacy.sizes:AverageRisk",
        "uniqueness": "kanopy.privacy.sizes:Uniqueness",
        "population-uniqueness": "kanopy.privacy.sizes:PopulationUniqueness",
        "constrained": "kanopy.privacy.personal:Constrained",
        "guarding": "kanopy.privacy.personal:Guarding",
        "individual-risk": "kanopy.privacy.survey:IndividualRisk",
        "household-risk": "kanopy.privacy.survey:HouseholdRisk",
        "subset-k": "kanopy.privacy.survey:SubsetK",
    },
    "privacy model",
    group="kanopy.models",
    faults=faults_of_class("kanopy.privacy.base:Model"),
)

__all__ = [
    "MODELS", "KAnonymity", "Mask", "Model", "ModelSource", "failing", "make_model", "make_models", "parse_model",
]  # fmt: skip

ModelSource = Model | str | Mapping[str, Any]
"""A model, its short form such as `t-equal:income:0.2`, or `{"name": "t-equal", "column": "income", "t": 0.2}`."""


def _kind(name: str) -> type[Model]:
    kind = MODELS.get(name.strip().replace("_", "-"))
    if kind is None:
        raise JobError(
            f"There is no privacy model called {short(name)}. {near_miss(name, MODELS)} `kanopy models` lists all."
        )
    return kind


def parse_model(text: str) -> Model:
    """A model from its short form `NAME[:COLUMN][:PARAMETERS]`, parameters separated by commas.

    >>> parse_model("t-equal:income:0.2")
    EqualCloseness(column='income', t=0.2)
    >>> parse_model("l-recursive:diagnosis:3,2").explain()[:40]
    'In every published combination the most '
    """
    name, *rest = text.split(":")
    kind = _kind(name)
    usage = f"Write it like {kind.example}."
    declared = parameters_of(kind)
    names = [parameter for parameter in declared if parameter != "column"]
    if "column" in declared and len(rest) < 2:
        raise JobError(f"{short(text)} does not name a column and a parameter. {usage}")
    parameters = kind.from_short(rest)
    if parameters is not None:
        return make(kind, parameters, f" {usage}")
    if "column" not in declared and len(rest) != 1:
        raise JobError(f"{short(text)} needs one parameter part. {usage}")
    # A column may have a colon in its name, labels may too: the last part holds the parameters.
    values: dict[str, Any] = {"column": ":".join(rest[:-1])} if "column" in declared else {}
    parts = [text.strip() for text in rest[-1].split(",")] if len(names) > 1 else [rest[-1].strip()]
    if not sum(declared[parameter].required for parameter in names) <= len(parts) <= len(names) or not all(parts):
        raise JobError(
            f"{short(text)} has {len(parts)} parameters; the model {kind.name!r} takes {', '.join(names)}. {usage}"
        )
    values |= {parameter: declared[parameter].kind.read(given) for parameter, given in zip(names, parts, strict=False)}
    return make(kind, values, f" {usage}")


@public("kanopy.privacy")
@checked
def make_model(source: ModelSource) -> Model:
    """A model from whatever a job gives for it.

    >>> make_model({"name": "l-distinct", "column": "ill", "l": 2})
    DistinctDiversity(column='ill', l=2)
    """
    if isinstance(source, Model):
        MODELS.adopt(type(source))
        return source
    if isinstance(source, str):
        return parse_model(source)
    if not isinstance(source, Mapping) or not isinstance(source.get("name"), str):
        raise JobError(
            f'A model is written as "t-equal:income:0.2" or with a name and parameters, not {short(source)}.'
        )
    kind = _kind(source["name"])
    given = {str(key).replace("-", "_"): value for key, value in source.items() if key != "name"}
    return make(kind, given, f" Write it like {kind.example}.")


def make_models(sources: str | ModelSource | Sequence[ModelSource]) -> tuple[Model, ...]:
    """Several models, each once."""
    source: Any = sources
    alone = isinstance(source, (str, Model, Mapping)) or not isinstance(source, Iterable)
    given = [source] if alone else list(source)
    models: list[Model] = []
    mistakes: list[str] = []
    for source in given:
        with collected(mistakes):
            model = make_model(source)
            models += [] if model in models else [model]
    refuse(mistakes)
    return tuple(models)


def failing(model: Model, classes: Classes) -> Mask:
    """Which of the published classes fail a model: those it names, or all if it finds the release unsafe as a whole."""
    if model.name not in MODELS.built_in or MODELS[model.name] is not type(model):
        return judged_twice(model, classes)
    wrong = model.violated(classes)
    if not wrong.any() and not model.satisfied(classes, classes):
        return ~wrong
    return wrong
