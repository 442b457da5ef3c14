"""What there is to choose: algorithms, models, treatments and methods, each with its parameters as fields of a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kanopy import _parameter_types as kinds
from kanopy._errors import KanopyError
from kanopy._parameters import parameters_of, plain
from kanopy._progress import Callback
from kanopy.app.tasks.worker_state import WorkerState

Field = dict[str, Any]
COLUMN_WORDS = ("column", "quasi-identifier")
ADVANCED = (
    "effort", "scale", "weights", "too_small", "purpose", "domain", "recipient", "version", "threads", "format",
    "label", "chain", "fit", "joining", "ontology", "measure", "senses", "synonyms", "published", "nearest",
    "thousands", "multiple",
)  # fmt: skip
"""Parameters that a form shows only if one asks for more."""


def catalogue(state: WorkerState, notify: Callback) -> dict[str, Any]:
    """Algorithms, models, treatments and methods for hierarchies, each in a sentence, with fields.

    >>> found = catalogue(WorkerState(), lambda step: True)
    >>> next(each["fields"] for each in found["models"] if each["name"] == "t-equal")[1]["kind"]
    'share'
    """
    from kanopy.hierarchy.builders.registry import BUILDERS
    from kanopy.metrics.full_domain import METRICS
    from kanopy.privacy.models import MODELS, KAnonymity
    from kanopy.release.catalogue import algorithms, recoding_words
    from kanopy.search.algorithms import ALGORITHMS, takes_budget
    from kanopy.treatments.registry import TREATMENTS

    listed = [
        {
            "name": algorithm["name"], "does": algorithm["does"], "recoding": recoding_words(algorithm["recoding"]),
            "proves": algorithm["proves"],
            "budget": algorithm["recoding"] != "substitution" and takes_budget(algorithm["name"]),
            "fields": fields_of(ALGORITHMS[algorithm["name"]]) if algorithm["name"] in ALGORITHMS else [],
        }
        for algorithm in algorithms()
    ]  # fmt: skip
    models = [
        {
            "name": name, "summary": kind.summary, "example": kind.example, "fields": fields_of(kind),
            "weights": kind.needs_weights, "households": kind.needs_households, "population": kind.needs_population,
        }
        for name, kind in MODELS.items()
        if kind is not KAnonymity
    ]  # fmt: skip
    treatments = [
        {
            "name": name, "summary": kind.summary, "guarantees": kind.guarantees, "lacks": kind.lacks,
            "takes": kind.takes, "secret": kind.secret, "fields": fields_of(kind),
        }
        for name, kind in TREATMENTS.items()
    ]  # fmt: skip
    methods = [{"name": name, "summary": kind.summary, "fields": fields_of(kind)} for name, kind in BUILDERS.items()]
    return {
        "algorithms": listed, "models": models, "treatments": treatments, "methods": methods,
        "metrics": sorted(METRICS),
    }  # fmt: skip


def fields_of(cls: type) -> list[Field]:
    """The parameters of a class as fields: what each is called, what it means, and which values it takes."""
    return [
        {
            "name": parameter.name, "label": parameter.name.replace("_", " "), "meaning": parameter.meaning,
            "default": plain(parameter.default), "required": parameter.required, "advanced": parameter.name in ADVANCED,
            **_kind(parameter.kind, parameter.name),
        }
        for parameter in parameters_of(cls).values()
    ]  # fmt: skip


def _kind(kind: Any, name: str) -> Field:
    """How a value of a kind is entered."""
    if isinstance(kind, kinds.Either):
        others = [one_kind for one_kind in kind.kinds if one_kind.words != "nothing"]
        lists = [other for other in others if isinstance(other, kinds.ListOf)]
        chosen = others[0] if len(others) == 1 or not lists else lists[0]
        return {**_kind(chosen, name), "empty": len(others) < len(kind.kinds)}
    if isinstance(kind, kinds.Share):
        return {"kind": "share"}
    if isinstance(kind, (kinds.Integer, kinds.Number)):
        low = getattr(kind, "least", None)
        return {"kind": "number", "whole": isinstance(kind, kinds.Integer), "low": low}
    if isinstance(kind, kinds.Seconds):
        return {"kind": "number", "whole": False, "low": 0, "unit": "s"}
    if isinstance(kind, kinds.Flag):
        return {"kind": "flag"}
    if isinstance(kind, kinds.OneOf):
        return {"kind": "one", "options": list(kind.names)}
    if isinstance(kind, kinds.ColumnNames):
        return {"kind": "columns" if _about_columns(kind.what) else "texts"}
    if isinstance(kind, kinds.ListOf):
        options = list(kind.item.names) if isinstance(kind.item, kinds.OneOf) else None
        return {"kind": "several", "options": options} if options else {"kind": "list"}
    if isinstance(kind, kinds.MapOf):
        texts = isinstance(kind.item, kinds.ColumnNames)
        return {"kind": "groups" if texts else "pairs", "number": not isinstance(kind.item, kinds.Text)}
    if isinstance(kind, kinds.Text):
        return {"kind": "column"} if _about_columns(kind.what) else {"kind": "text"}
    return {"kind": "sizes"} if type(kind).__name__ == "Every" else {"kind": "text"}


def _about_columns(words: str) -> bool:
    return any(word in words for word in COLUMN_WORDS)


def describe(state: WorkerState, notify: Callback, *, family: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a model or a treatment with these parameters means in a sentence, or what is wrong with them.

    >>> describe(WorkerState(), lambda step: True, family="model", given={"name": "l-distinct", "column": "a", "l": 2})
    {'words': 'Every published combination stands for at least 2 different values of a.', 'wrong': ''}
    """
    try:
        return {"words": _sentence(family, given), "wrong": ""}
    except KanopyError as error:
        return {"words": "", "wrong": str(error)}


def _sentence(family: str, given: Mapping[str, Any]) -> str:
    if family == "model":
        from kanopy.privacy.models import make_model

        return make_model(given).said()
    from kanopy.treatments.registry import make_treatment

    made = make_treatment(given)
    chosen = [f"{name.replace('_', ' ')}: {_text(value)}" for name, value in made.to_dict().items() if name != "method"]
    does = made.summary[0].upper() + made.summary[1:] + (f" ({'; '.join(chosen)})" if chosen else "")
    return f"{does}. Guarantees: {made.guarantees}. Does not promise: {made.lacks}.".replace("`", "")


def _text(value: Any) -> str:
    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return ", ".join(map(str, value))
    return str(value)
