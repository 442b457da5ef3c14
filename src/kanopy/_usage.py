"""Used or refused: what was given has the declared type and an effect, or it is an error.

A field of a job, an option of a command and an argument of a function declare their `Needs` beside themselves. Whoever
starts work asks which of the given ones nothing would look at, and refuses them together, before anything is read.

`checked` refuses arguments of public functions at their entry, by the types that the function declares: a value of
another type is an error in words, before anything is read. Types that are not listed here, such as a table, a job or a
model, have readers of their own, which say what they take.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from kanopy._errors import InputError, refuse
from kanopy._parameter_types import Either, Instance, Integer, Nothing, ParameterType, Text

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

    >>> from types import SimpleNamespace
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


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """A public function that refuses arguments of types that it does not declare.

    >>> @checked
    ... def read(path: str | Path, rows: int | None = None): ...
    >>> read(3.2, rows="all")
    Traceback (most recent call last):
    kanopy.extend.InputError: 2 arguments are wrong:
      - path must be a path, not 3.2.
      - rows must be a whole number, not 'all'.
    """
    code = function.__code__
    positional, annotations = code.co_varnames[: code.co_argcount], function.__annotations__

    @functools.wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        mistakes: list[str] = []
        for name, value in (*zip(positional, args, strict=False), *kwargs.items()):
            kind = declared_type(annotations.get(name, "Any"))
            if kind is not None:
                kind.take(value, name, mistakes)
        refuse(mistakes, InputError, "arguments")
        return function(*args, **kwargs)

    return asked


@functools.cache
def declared_type(annotation: str) -> ParameterType | None:
    """The values that an annotation allows, or nothing where somebody else says it.

    >>> declared_type("Mapping[str, Iterable[str]] | None").words
    'a dictionary, from a text to a list, each a text, or nothing'
    >>> declared_type("JobSource | None")
    """
    return _type_of(ast.parse(annotation, mode="eval").body)


def _type_of(node: ast.expr) -> ParameterType | None:
    if isinstance(node, ast.BinOp):
        choices = [_type_of(choice) for choice in (node.left, node.right)]
        kinds = [kind for kind in choices if kind is not None]
        if len(kinds) < len(choices):
            return None
        return kinds[1] if isinstance(kinds[0], Text) and kinds[1] is PATH else Either(*kinds)
    if isinstance(node, ast.Subscript):
        *keys, inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        container = ast.unparse(node.value)
        if container == "os.PathLike":
            return PATH
        if container in ("Mapping", "dict"):
            return _Each("a dictionary", _is_mapping, _type_of(inside), _type_of(keys[0]))
        return _Each("a list", _is_iterable if container == "Iterable" else _is_list, _type_of(inside))
    return TYPES.get(ast.unparse(node))


@dataclass(frozen=True)
class _Like(ParameterType):
    """Values that pass a test."""

    what: str
    passes: Callable[[Any], bool]

    @property
    def words(self) -> str:
        return self.what

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        return value if self.passes(value) else self.refuse(value, label, mistakes)


@dataclass(frozen=True)
class _Each(_Like):
    """Lists and dictionaries; their elements are looked at only where that does not use them up."""

    item: ParameterType | None
    key: ParameterType | None = None

    @property
    def words(self) -> str:
        elements = "each" if self.key is None else f"from {self.key.words} to"
        return self.what + ("" if self.item is None else f", {elements} {self.item.words}")

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if not self.passes(value):
            return self.refuse(value, label, mistakes)
        if self.item is not None and isinstance(value, Collection):
            wrong: list[str] = []
            pairs = isinstance(value, Mapping) and self.key is not None
            for element in value.values() if pairs else value:  # type: ignore[attr-defined]
                self.item.take(element, label, wrong)
            for name in value if self.key is not None else ():
                self.key.take(name, label, wrong)  # type: ignore[union-attr]
            if wrong:
                return self.refuse(value, label, mistakes)
        return value


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, bytearray))


def _is_list(value: Any) -> bool:
    return _is_iterable(value) and not isinstance(value, Mapping)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) or (hasattr(value, "__fspath__") and isinstance(value.__fspath__(), str))


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and not getattr(value, "ndim", 0)


def _are_numbers(value: Any) -> bool:
    """Whether NumPy makes numbers of it: a number, an array, or a list of them."""
    if hasattr(value, "dtype") or isinstance(value, (int, float)):
        return getattr(getattr(value, "dtype", None), "kind", "i") in "biuf"
    return _is_list(value) and all(map(_are_numbers, value))


def _is_dtype(value: Any) -> bool:
    return isinstance(value, type) or type(value).__name__.startswith(("dtype", "Float")) or value in FLOATS


FLOATS = ("float32", "float64")
PATH = _Like("a path", _is_path)
NUMBERS = _Like("a number, or a list of them", _are_numbers)
TYPES: dict[str, ParameterType] = {
    "None": Nothing(),
    "str": Text(empty=True),
    "int": Integer(None),
    "float": _Like("a number", _is_number),
    "bool": _Like("true or false", lambda value: type(value).__name__ in ("bool", "bool_")),
    "bytes": _Like("bytes", lambda value: isinstance(value, bytes)),
    "Path": PATH,
    "Callback": _Like("a function that is called with every step", callable),
    "Concepts": NUMBERS,
    "Ints": _Like("an array of whole numbers", lambda value: getattr(value, "ndim", 0) > 0 and _are_numbers(value)),
    "npt.ArrayLike": NUMBERS,
    "npt.DTypeLike": _Like("the name of a type of numbers such as 'float32'", _is_dtype),
    "Clock": Instance(("Clock",), "a Clock"),
    "Column": Instance(("Column",), "a Column"),
    "Domain": Instance(("Domain",), "a Domain"),
    "Hierarchy": Instance(("Hierarchy",), "a Hierarchy"),
    "Layout": Instance(("Layout",), "a Layout"),
    "LevelJudgement": Instance(("LevelJudgement",), "a judgement of Problem.evaluate"),
    "Measure": Instance(("Measure",), "a Measure"),
    "ParameterType": Instance(("ParameterType",), "a parameter type"),
    "Problem": Instance(("Problem",), "a Problem"),
    "SenseChoices": Instance(("SenseChoices",), "SenseChoices"),
    "Senses": Instance(("Senses",), "Senses"),
    "Suggestion": Instance(("Suggestion",), "a Suggestion"),
    "Taxonomy": Instance(("Taxonomy",), "a Taxonomy"),
}
"""What the names in annotations stand for. Classes are known by their names, so that nothing is loaded."""
