"""Used or refused: a setting says what makes it count, and what was given in vain is an error.

A field of a job, an option of a command and an argument of a function declare their `Needs` beside themselves. Whoever
starts work asks which of the given ones nothing would look at, and refuses them together, before anything is read.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

from kanopy._errors import refuse

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Needs:
    """What a setting has no effect without: in `words`, and whether it is there.

    `met` is asked about everything that was given together: it has an attribute per setting.
    """

    words: str
    met: Callable[[Any], object]
    once: str = ""
    """What must be known before it can be told: the `job` of a command (the attribute `wanted`), the `columns` of the
    table, what the `table` holds, or what a `study` compares it with."""


def in_vain(given: Iterable[str], needs: Mapping[str, Needs], about: Any, once: str = "") -> dict[str, Needs]:
    """Of the settings that were given, those that have no effect, as far as can be told `once` something is known.

    >>> needs = {"key": Needs("an earlier release", lambda asked: asked.beside)}
    >>> list(in_vain(["key"], needs, SimpleNamespace(key="id", beside=None)))
    ['key']
    """
    asked = [name for name in given if name in needs and needs[name].once == once]
    return {name: needs[name] for name in asked if not needs[name].met(about)}


def refuse_in_vain(unused: Mapping[str, Needs], called: Callable[[str], str] = str) -> None:
    """Raise one error that names every setting without effect, and what would make it count."""
    refuse(
        [
            f"{called(name)} has no effect without {needs.words}. Leave it out, or give what it needs."
            for name, needs in unused.items()
        ]
    )


def arguments(**needs: Needs) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare what arguments of a function need; a call that gives one in vain is refused.

    >>> @arguments(key=Needs("an earlier release (beside=…)", lambda given: given.beside is not None))
    ... def check(data, *, beside=None, key=None): ...
    >>> check([], key="id")
    Traceback (most recent call last):
    kanopy.extend.JobError: key has no effect without an earlier release (beside=…). Leave it out, ...
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        defaults = {name: parameter.default for name, parameter in signature.parameters.items()}

        @functools.wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            given = [
                name for name, value in bound.arguments.items() if name in needs and is_given(value, defaults[name])
            ]
            if given:
                bound.apply_defaults()
                refuse_in_vain(in_vain(given, needs, SimpleNamespace(**bound.arguments)))
            return function(*args, **kwargs)

        asked.needs = needs  # type: ignore[attr-defined]
        return asked

    return decorate


def is_given(value: Any, default: Any) -> bool:
    """Whether a value says something: it is not the default, nor an empty list or table where nothing is the default.

    >>> is_given("id", None), is_given((), None), is_given(1, 1), is_given({}, {})
    (True, False, False, False)
    """
    if value is default:
        return False
    if isinstance(value, (str, int, float, bool, tuple, frozenset)) or type(value) is type(default):
        return not (value == default or (value in ("", ()) and default is None))
    return not (isinstance(value, (list, dict, Mapping)) and not value)
