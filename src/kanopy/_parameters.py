"""Parameters stated once: what each is called, which values it takes, and what it means.

A class with parameters is a frozen dataclass whose fields carry their kind and their meaning:

    steps: Annotated[int | None, Maybe(Whole(0)), "changes to try instead of a time budget"] = None

and, as a third word, what the parameter has no effect without (`kanopy._usage.Needs`).
From these declarations come the check of every value (`Declared`, `make`), the reading of `name=value` texts (`parse`)
and the words of help, docs and messages (`describe`). All mistakes are reported together.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from kanopy._errors import InputError, JobError, near_miss, refuse, short, some
from kanopy._mixins import ReprMixin
from kanopy._parameter_types import ParameterType
from kanopy._usage import Needs, in_vain, is_given

Made = TypeVar("Made")


@dataclass(frozen=True)
class Parameter:
    """One declared parameter; `required` ones have no default."""

    name: str
    kind: ParameterType
    meaning: str
    default: Any
    required: bool
    needs: Needs | None = None


def parameters_of(cls: type) -> dict[str, Parameter]:
    """The declared parameters of a class by name."""
    return _parameters_of(cls)


@functools.cache
def _parameters_of(cls: Any) -> dict[str, Parameter]:
    parameters = {}
    hints = typing.get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        declared: tuple[Any, ...] = getattr(hints[field.name], "__metadata__", ())
        if len(declared) not in (2, 3):
            raise TypeError(f"{cls.__name__}.{field.name} does not declare its type and its meaning.")
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        required = default is dataclasses.MISSING
        parameters[field.name] = Parameter(
            field.name, declared[0], declared[1], None if required else default, required, *declared[2:]
        )
    return parameters


class Declared(ReprMixin):
    """The base of a frozen dataclass whose parameters are declared: every value is checked when it is made.

    >>> from kanopy.search.full_domain.optimal import Optimal
    >>> Optimal(threads="two")
    Traceback (most recent call last):
    kanopy.extend.JobError: threads of the algorithm 'optimal' must be a whole number of at least 1, not 'two'.
    """

    family: ClassVar[str] = ""
    """What its kind is called in messages: model, method, algorithm."""
    refusal: ClassVar[type[InputError]] = JobError
    to_write: ClassVar[tuple[str, ...]] = ()
    """What the author of a class of this family has to write."""

    @classmethod
    def faults(cls) -> list[str]:
        """What is wrong with the class itself, before an object of it is made."""
        base = next(
            ancestor for ancestor in reversed(cls.__mro__) if "to_write" in vars(ancestor) and ancestor is not Declared
        )
        absent = [
            name for name in cls.to_write if getattr(cls, name, None) in (None, "") or (vars(base).get(name) is not None
            and getattr(cls, name) == getattr(base, name))
        ]  # fmt: skip
        wrong = [f"it does not define {', '.join(absent)}"] if absent else []
        parameters = getattr(cls, "__dataclass_params__", None)
        if parameters is None or not parameters.frozen or _undecorated(cls):
            wrong.append("it is not a frozen dataclass: write @dataclass(frozen=True) above it")
        else:
            try:
                parameters_of(cls)
            except (TypeError, NameError) as error:
                wrong.append(str(error))
        return wrong

    def __post_init__(self) -> None:
        mistakes = [mistake for own_mistakes in self._settled().values() for mistake in own_mistakes]
        refuse(mistakes or list(self.contradictions()), self.refusal)

    def _settled(self) -> dict[str, list[str]]:
        """Take over every value as its kind keeps it; the mistakes in those that are wrong."""
        wrong: dict[str, list[str]] = {}
        for name, parameter in parameters_of(type(self)).items():
            value, mistakes = getattr(self, name), list[str]()
            settled = parameter.kind.take(value, _label(type(self), name), mistakes)
            if mistakes:
                wrong[name] = mistakes
            elif settled is not value:
                object.__setattr__(self, name, settled)
        return wrong

    def contradictions(self) -> Iterable[str]:
        """What is wrong with the parameters together, once each is right by itself."""
        return ()


def _undecorated(cls: type) -> bool:
    """Whether a class annotates fields that no decorator made parameters."""
    annotated = {name for name, hint in vars(cls).get("__annotations__", {}).items() if "ClassVar" not in str(hint)}
    return bool(annotated - getattr(cls, "__dataclass_fields__", {}).keys())


def faults_of_class(base: str) -> Any:
    """What says what is wrong with something that is to be a class of a family, given where its base stands.

    >>> faults_of_class("kanopy.privacy.base:Model")("k")
    ['it is not a class that derives from kanopy.extend.Model']
    """

    def faults(thing: Any) -> list[str]:
        module, _, name = base.partition(":")
        family: Any = getattr(importlib.import_module(module), name)
        if not isinstance(thing, type) or not issubclass(thing, family):
            return [f"it is not a class that derives from kanopy.extend.{name}"]
        return list(cast(type[Declared], thing).faults())

    return faults


def called(cls: type) -> str:
    """How messages name a class: `the model 't-equal'`."""
    family = getattr(cls, "family", "")
    return f"the {family} {getattr(cls, 'name', None) or getattr(cls, 'method', '')!r}" if family else ""


def _label(cls: type, name: str) -> str:
    owner = called(cls)
    return name if not owner or owner.endswith(f" {name!r}") else f"{name} of {owner}"


def check_parameters(cls: type, given: Mapping[str, Any]) -> list[str]:
    """Everything wrong with the parameters given to a class: unknown names, missing ones, values of other kinds.

    >>> from kanopy.privacy.models import MODELS
    >>> for mistake in check_parameters(MODELS["l-distinct"], {"colum": "ill", "l": 1.5}):
    ...     print(mistake)
    The model 'l-distinct' has no parameter 'colum'. Did you mean 'column'?
    The model 'l-distinct' needs 'column'.
    l of the model 'l-distinct' must be a whole number of at least 2, not 1.5.
    """
    declared, owner = parameters_of(cls), called(cls)
    start = owner[:1].upper() + owner[1:] if owner else cls.__name__
    mistakes = [
        f"{start} has no parameter {short(name)}. {near_miss(str(name), declared) if declared else 'It has none.'}"
        for name in given
        if name not in declared
    ]
    if absent := [name for name, parameter in declared.items() if parameter.required and name not in given]:
        mistakes.append(f"{start} needs {some(absent)}.")
    for name, parameter in declared.items():
        if name in given:
            parameter.kind.take(given[name], _label(cls, name), mistakes)
    return mistakes


def make(cls: type[Made], given: Mapping[str, Any], hint: str = "") -> Made:
    """An object of a class with declared parameters; one error lists all mistakes."""
    mistakes = check_parameters(cls, given)
    refuse([f"{mistake}{hint}" for mistake in mistakes], getattr(cls, "refusal", JobError))
    return cls(**given)


def parse(cls: type, texts: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts `name=value`, each read as the kind that the class declares.

    >>> from kanopy.hierarchy.builders.registry import BUILDERS
    >>> parse(BUILDERS["widths"], ["widths=5,10,20", "label={low}–{high}", "start=1"])
    {'widths': (5, 10, 20), 'label': '{low}–{high}', 'start': 1}
    """
    declared = parameters_of(cls)
    values: dict[str, Any] = {}
    for name, value in pairs(texts).items():
        name = name if name in declared else name.replace("-", "_")
        values[name] = declared[name].kind.read(value) if name in declared else value
    return values


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Names and values from texts `name=value`.

    >>> pairs(["k=5", "label=a=b"])
    {'k': '5', 'label': 'a=b'}
    """
    split = [(text, *text.partition("=")) for text in texts]
    refuse([f"A parameter is written name=value, not {short(text)}." for text, name, equals, _ in split
            if not equals or not name.strip()])  # fmt: skip
    return {name.strip(): value for _, name, _, value in split}


def defaults(cls: type) -> dict[str, Any]:
    """The default of every parameter as plain data; nothing for those that have none.

    >>> from kanopy.search.algorithms import algorithm_class
    >>> defaults(algorithm_class("mondrian"))
    {'strict': False, 'cut': 'loss', 'free': []}
    """
    return {name: plain(parameter.default) for name, parameter in parameters_of(cls).items()}


def unused(asked: Any, about: Any = None, once: str = "") -> dict[str, Needs]:
    """The parameters that were given and have no effect, as each declares it.

    What is needed is looked for in `about`, or in the object itself, as far as can be told `once` something is known.

    >>> from kanopy._job.job import Job
    >>> list(unused(Job(quasi="age", population="everybody.csv")))
    ['population']
    """
    declared = parameters_of(type(asked))
    given = [name for name, parameter in declared.items() if is_given(getattr(asked, name), parameter.default)]
    needs = {name: parameter.needs for name, parameter in declared.items() if parameter.needs is not None}
    return in_vain(given, needs, asked if about is None else about, once)


def describe(cls: type) -> list[dict[str, Any]]:
    """The parameters of a class for people: name, kind in words, default, meaning.

    >>> from kanopy.privacy.models import MODELS
    >>> describe(MODELS["k"])[0]["kind"]
    'a whole number of at least 2'
    """
    return [
        {
            "name": parameter.name,
            "kind": parameter.kind.words,
            "required": parameter.required,
            "default": plain(parameter.default),
            "meaning": parameter.meaning,
        }
        for parameter in parameters_of(cls).values()
    ]


def plain(value: Any) -> Any:
    """A value as JSON holds it: tuples as lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value
