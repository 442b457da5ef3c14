"""Every privacy model by name, and how a model is written on the command line and in a job file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from kanopy._arrays import Mask
from kanopy._core.classes import Classes
from kanopy._errors import JobError, near_miss, some
from kanopy.privacy.base import Model
from kanopy.privacy.closeness import (
    BasicLikeness,
    DeltaDisclosure,
    EnhancedLikeness,
    EqualCloseness,
    HierarchicalCloseness,
    OrderedCloseness,
)
from kanopy.privacy.diversity import (
    AlphaK,
    DistinctDiversity,
    EntropyDiversity,
    LPlus,
    PSensitive,
    RecursiveDiversity,
)
from kanopy.privacy.personal import Constrained, EpsilonM, Guarding
from kanopy.privacy.sizes import AverageRisk, DeltaPresence, KAnonymity, KMap, PopulationUniqueness, Uniqueness

MODELS: dict[str, type[Model]] = {
    "k": KAnonymity,
    "p-sensitive": PSensitive,
    "l-distinct": DistinctDiversity,
    "l-entropy": EntropyDiversity,
    "l-recursive": RecursiveDiversity,
    "l-plus": LPlus,
    "t-equal": EqualCloseness,
    "t-ordered": OrderedCloseness,
    "t-hierarchical": HierarchicalCloseness,
    "alpha-k": AlphaK,
    "delta-disclosure": DeltaDisclosure,
    "beta-basic": BasicLikeness,
    "beta-enhanced": EnhancedLikeness,
    "epsilon-m": EpsilonM,
    "delta-presence": DeltaPresence,
    "k-map": KMap,
    "risk-average": AverageRisk,
    "uniqueness": Uniqueness,
    "population-uniqueness": PopulationUniqueness,
    "constrained": Constrained,
    "guarding": Guarding,
}

EXAMPLES = {
    "k": "k:5",
    "p-sensitive": "p-sensitive:diagnosis:2",
    "l-distinct": "l-distinct:diagnosis:3",
    "l-entropy": "l-entropy:diagnosis:2.5",
    "l-recursive": "l-recursive:diagnosis:3,2",
    "l-plus": "l-plus:diagnosis:HIV=5|flu=1.5|*=2",
    "t-equal": "t-equal:diagnosis:0.2",
    "t-ordered": "t-ordered:income:0.2",
    "t-hierarchical": "t-hierarchical:diagnosis:0.2",
    "alpha-k": "alpha-k:diagnosis:0.5,5",
    "delta-disclosure": "delta-disclosure:diagnosis:1.5",
    "beta-basic": "beta-basic:diagnosis:2",
    "beta-enhanced": "beta-enhanced:diagnosis:2",
    "epsilon-m": "epsilon-m:income:1000,3",
    "delta-presence": "delta-presence:0,0.5",
    "k-map": "k-map:10",
    "risk-average": "risk-average:0.05",
    "uniqueness": "uniqueness:0.01",
    "population-uniqueness": "population-uniqueness:0.01,0.1",
    "constrained": "constrained:country:Europe|Asia",
    "guarding": "guarding:diagnosis:guard,0.3",
}
"""How each is written; a test parses every one."""

__all__ = [
    "EXAMPLES",
    "MODELS",
    "KAnonymity",
    "Mask",
    "Model",
    "ModelSource",
    "failing",
    "make_model",
    "make_models",
    "parse_model",
]

ModelSource = Model | str | Mapping[str, Any]
"""A model, its short form such as `t-equal:income:0.2`, or `{"name": "t-equal", "column": "income", "t": 0.2}`."""


def _kind(name: str) -> type[Model]:
    kind = MODELS.get(name.strip().replace("_", "-"))
    if kind is None:
        raise JobError(
            f"There is no privacy model called {name!r}. {near_miss(name, MODELS)} `kanopy models` lists all."
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
    usage = f"Write it like {EXAMPLES[kind.name]}."
    values: dict[str, Any] = {}
    known = dataclasses.fields(kind)
    if known[0].name == "column":
        if len(rest) < 2:
            raise JobError(f"{text!r} does not name a column and a parameter. {usage}")
        # A column may have a colon in its name, labels may too: the last part holds the parameters.
        values["column"] = ":".join(rest[:-1])
        known = known[1:]
    elif len(rest) != 1:
        raise JobError(f"{text!r} needs one parameter part. {usage}")
    parameters = rest[-1]
    if kind is LPlus:
        return LPlus(values["column"], **_thresholds(parameters, usage))
    if kind is Constrained:
        return Constrained(values["column"], tuple(part for part in parameters.split("|") if part))
    parts = [part.strip() for part in parameters.split(",")]
    needed = sum(each.default is dataclasses.MISSING for each in known)
    if not needed <= len(parts) <= len(known) or not all(parts):
        names = ", ".join(each.name for each in known)
        raise JobError(f"{text!r} has {len(parts)} parameters; the model {kind.name!r} takes {names}. {usage}")
    for each, part in zip(known, parts, strict=False):
        values[each.name] = part if each.type == "str" else _number(part, each.name, kind.name, usage)
    return _made(kind, values)


def _number(text: str, what: str, name: str, usage: str) -> float | int:
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        number = float(text)
    except ValueError:
        raise JobError(f"{what} of the model {name!r} must be a number, not {text!r}. {usage}") from None
    whole = number == number and abs(number) < 2**53 and number == int(number) and "." not in text
    return int(number) if whole else number


def _thresholds(text: str, usage: str) -> dict[str, Any]:
    found: dict[str, float] = {}
    for part in text.split("|") if "|" in text else text.split(","):
        value, equals, threshold = part.rpartition("=")
        if not equals:
            raise JobError(f"{part!r} is not a threshold such as HIV=5. {usage}")
        found[value.strip()] = _number(threshold.strip(), f"The threshold of {value!r}", "l-plus", usage)
    other = found.pop("*", 1.0)
    return {"thresholds": found, "other": other}


def _made(kind: type[Model], values: Mapping[str, Any]) -> Model:
    known = [each.name for each in dataclasses.fields(kind)]
    strangers = [name for name in values if name not in known]
    if strangers:
        raise JobError(f"The model {kind.name!r} has no parameter {strangers[0]!r}. {near_miss(strangers[0], known)}")
    absent = [
        each.name
        for each in dataclasses.fields(kind)
        if each.default is dataclasses.MISSING
        and each.default_factory is dataclasses.MISSING
        and each.name not in values
    ]
    if absent:
        raise JobError(f"The model {kind.name!r} needs {some(absent)}. Write it like {EXAMPLES[kind.name]}.")
    maker: Any = kind
    made: Model = maker(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})
    return made


def make_model(source: ModelSource) -> Model:
    """A model from whatever a job gives for it.

    >>> make_model({"name": "l-distinct", "column": "ill", "l": 2})
    DistinctDiversity(column='ill', l=2)
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, str):
        return parse_model(source)
    if not isinstance(source, Mapping) or not isinstance(source.get("name"), str):
        raise JobError(f'A model is written as "t-equal:income:0.2" or with a name and parameters, not {source!r}.')
    return _made(_kind(source["name"]), {key.replace("-", "_"): v for key, v in source.items() if key != "name"})


def make_models(sources: str | ModelSource | Sequence[ModelSource]) -> tuple[Model, ...]:
    """Several models, each once."""
    given = [sources] if isinstance(sources, (str, Model, Mapping)) else list(sources)
    found: list[Model] = []
    for source in given:
        model = make_model(source)
        if model not in found:
            found.append(model)
    return tuple(found)


def failing(model: Model, classes: Classes) -> Mask:
    """Which of the published classes fail a model: those it names, or all if it finds the release unsafe as a whole."""
    wrong = model.violated(classes)
    if not wrong.any() and not model.satisfied(classes, classes):
        return ~wrong
    return wrong
