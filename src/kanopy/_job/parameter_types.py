"""Kinds of values that only jobs take: algorithms, models, k, hierarchies, places of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from kanopy._address import Address
from kanopy._core.units import KNOWN_ALL
from kanopy._errors import JobError, called, collected, some
from kanopy._parameter_types import Integer, ParameterType
from kanopy._parameters import check_parameters
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.hierarchy import Hierarchy

DEFAULT_K = 5
ALONE = "With k = 1 every row may be unique."


def known_metrics() -> Iterable[str]:
    """The losses that may be minimised."""
    from kanopy.metrics.full_domain import METRICS

    return METRICS


NOT_AVERAGED = {
    "unit": "counts rows, not people",
    "min_levels": "publishes means, which have no level",
    "max_levels": "publishes means, which have no level",
    "separators": "does not split lists",
}
"""Settings that an algorithm which publishes means has no use for, and why."""


def default_algorithm(local: bool) -> str:
    """The algorithm of a job that names none."""
    return "best" if local else "optimal"


def known_algorithm(name: str) -> str:
    """The algorithm that is meant, of those that search and those that mask."""
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.search.algorithms import ALGORITHMS

    spellings = (name, name.replace("_", "-"), name.replace("-", "_"))
    for spelled in spellings:
        if spelled in ALGORITHMS.data or spelled in MASKINGS.data:
            return spelled
    for spelled in spellings:
        registries = [registry for registry in (ALGORITHMS, MASKINGS) if spelled in registry]
        if len(registries) > 1:
            raise JobError(f"The name {spelled!r} is used by a search algorithm and by a masking algorithm.")
        if registries:
            return spelled if registries[0][spelled] else ""  # a package that cannot be used says so here
    return called(name, (*ALGORITHMS.usable(), *MASKINGS.usable()), "algorithm")


def take_apart(job: Any) -> None:
    """An algorithm that was given as an object becomes its name and its parameters, by which a job is written down."""
    from kanopy._parameters import Declared, parameters_of
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.search.algorithms import ALGORITHMS

    given = job.algorithm
    if not isinstance(given, Declared):
        return
    if job.parameters:
        raise JobError(f"The algorithm was given as {given!r}, with its parameters. Leave the others out.")
    registry: Any = MASKINGS if hasattr(given, "masked") else ALGORITHMS
    name = registry.adopt(type(given))
    values = {parameter: getattr(given, parameter) for parameter in parameters_of(type(given))}
    defaults = {parameter: declaration.default for parameter, declaration in parameters_of(type(given)).items()}
    object.__setattr__(job, "algorithm", name)
    object.__setattr__(
        job, "parameters", {parameter: value for parameter, value in values.items() if value != defaults[parameter]}
    )


def masks(algorithm: str) -> bool:
    """Whether an algorithm substitutes values instead of generalizing them.

    >>> masks("fusion"), masks("optimal")
    (True, False)
    """
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.search.algorithms import ALGORITHMS

    return algorithm in MASKINGS.data or (algorithm not in ALGORITHMS and algorithm in MASKINGS)


def recoding_of(algorithm: str) -> str:
    """What an algorithm does to values, by its class.

    >>> recoding_of("mondrian"), recoding_of("fusion")
    ('local', 'substitution')
    """
    from kanopy.masking.algorithms.registry import SUBSTITUTION
    from kanopy.search.algorithms import algorithm_class

    return SUBSTITUTION if masks(algorithm) else algorithm_class(algorithm).recoding


class Models(ParameterType):
    """Privacy models in any of their forms."""

    words = 'privacy models, each a text such as "t-equal:income:0.2" or a table with its name and parameters'

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        from kanopy.privacy.models import make_models

        if not isinstance(value, Iterable) and not hasattr(value, "violated"):
            return self.refuse(value, label, mistakes)
        models = value
        with collected(mistakes):
            models = make_models(value)
        return models


class AtLeastTwo(ParameterType):
    """The k of a job. Whether a model stands in for k = 1 is known once the models are."""

    words = "a whole number of at least 2"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        alone = not isinstance(value, bool) and isinstance(value, Integral) and value == 1
        return Integer(1 if alone else 2, why=ALONE).take(value, label, mistakes)

    def read(self, text: str) -> Any:
        return Integer().read(text)


class HierarchyGiven(ParameterType):
    """Whatever a job may give for the hierarchy of a column."""

    words = "a Hierarchy, a file or a method like {'method': 'iotf'} or {'classification': 'icd-10-cm'}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        from kanopy.hierarchy.builders.registry import BUILDERS, method_of

        method = method_of(value) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping) and isinstance(method, str) and method != "auto":
            with collected(mistakes):
                given = {name: parameter for name, parameter in value.items() if name != "method"}
                mistakes += check_parameters(BUILDERS.find(method), given)
        elif isinstance(value, Mapping) and not isinstance(value.get("method", ""), str):
            self.refuse(value, label, mistakes)
        elif not isinstance(value, (Hierarchy, str, Path, Mapping)) and not hasattr(value, "build"):
            mistakes.append(
                f"{label} must be {self.words}, not {type(value).__name__}. Hierarchy.from_rows(…) makes one from "
                "rows of labels."
            )
        elif isinstance(value, Builder):
            with collected(mistakes):
                BUILDERS.adopt(type(value))
        return value


class KnownRows(ParameterType):
    """How many rows of a person others may know."""

    words = f"a whole number of at least 1, or {KNOWN_ALL!r}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if value == KNOWN_ALL:
            return value
        wrong: list[str] = []
        number = Integer(1).take(Integer(1).read(value) if isinstance(value, str) else value, label, wrong)
        return self.refuse(value, label, mistakes) if wrong else number


class Place(ParameterType):
    """A file or an address."""

    words = "a file or an address"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if not isinstance(value, (str, Path)) or not str(value):
            return self.refuse(value, label, mistakes)
        return Address(str(value))


def wrong_lists(job: Any) -> Iterable[str]:
    """What is wrong with what a job says of lists."""
    if strangers := [name for name in job.separators if name not in job.quasi]:
        yield (
            f"separators names {some(strangers)}, which is not a quasi-identifier: only lists of quasi-identifiers "
            "are split."
        )
    if wrong := [text for text in job.separators.values() if len(text) > 5 or any(map(str.isalnum, text))]:
        yield f"{some(wrong)} is not a separator. Name the text between the values, such as ';' or ' | '."
