"""Objects that show themselves: one short line in a terminal, a drawing in a notebook."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any, ClassVar

LONGEST_LINE = 110
LONGEST_VALUE = 40
MOST_ITEMS = 6


def short_repr(thing: Any) -> str:
    """One line about a dataclass.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Pair(ReprMixin):
    ...     left: list
    ...     right: int = 1
    ...     _seen: int = 0
    >>> Pair([1, 2]), Pair(list(range(1000)))
    (Pair(left=[1, 2], right=1), Pair(left=<1,000 items>, right=1))
    """
    name = type(thing).__qualname__
    if not is_dataclass(thing):
        return f"<{name}: {len(thing):,} items>" if isinstance(thing, Collection) else f"<{name}>"
    shown_fields = [field for field in fields(thing) if field.repr and not field.name.startswith("_")]
    parts = [(field, f"{field.name}={brief(getattr(thing, field.name, None))}") for field in shown_fields]
    if sum(len(text) + 2 for _, text in parts) + len(name) > LONGEST_LINE:
        parts = [(field, text) for field, text in parts if not _is_default(field, getattr(thing, field.name, None))]
    line, left = "", LONGEST_LINE - len(name)
    for number, (_, text) in enumerate(parts):
        if len(line) + len(text) > left:
            return f"{name}({line}, …)" if number else f"{name}(…)"
        line += f", {text}" if number else text
    return f"{name}({line})"


def brief(value: Any) -> str:
    """A value in at most `LONGEST_VALUE` characters.

    >>> brief("a" * 100), brief({"a": 1}), brief(tuple("abcdefgh"))
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'", "{'a': 1}", '<8 items>')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST_VALUE - 2 else value[: LONGEST_VALUE - 3] + "…")[: 2 * LONGEST_VALUE]
    if shape := getattr(value, "shape", None):
        return f"<{' × '.join(f'{length:,}' for length in shape)} numbers>"
    if isinstance(value, Collection) and not isinstance(value, ReprMixin):
        counted = f"<{len(value):,} item{'' if len(value) == 1 else 's'}>"
        if len(value) > MOST_ITEMS:
            return counted
        if isinstance(value, Mapping):
            text = "{" + ", ".join(f"{brief(key)}: {brief(item)}" for key, item in value.items()) + "}"
        else:
            opening, closing = ("(", ",)" if len(value) == 1 else ")") if isinstance(value, tuple) else "[]"
            text = opening + ", ".join(map(brief, value)) + closing
        return text if len(text) <= LONGEST_VALUE else counted
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"<{type(value).__name__}>"


def _is_default(field: Any, value: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    if default is MISSING or hasattr(value, "shape"):
        return False
    return bool(default is value or default == value)


class ReprMixin:
    """The base of dataclasses whose `repr` is one line, however much they hold.

    What fits is shown as every dataclass shows itself; otherwise defaults are left out, then arrays and long texts are
    only counted.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # `dataclass` writes a repr of its own unless the class has one already.
        if "__repr__" not in vars(cls):
            cls.__repr__ = short_repr  # type: ignore[method-assign]


class DictMixin:
    """The base of dataclasses that machines read: `to_dict` gives their fields as plain data.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Found(DictMixin):
    ...     json_names = {"most": "largest", "own": ""}
    ...     most: int
    ...     own: int
    ...     parts: tuple[int, ...]
    >>> Found(3, 1, (1, 2)).to_dict()
    {'largest': 3, 'parts': [1, 2]}
    """

    __slots__ = ()

    json_names: ClassVar[Mapping[str, str]] = {}
    """Fields that go by another name there; those without a name stay here."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        named = {field.name: self.json_names.get(field.name, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: _plain(getattr(self, attribute)) for attribute, name in named.items() if name}


def _plain(value: Any) -> Any:
    """A value as JSON knows it: lists for tuples, texts for the keys of a table."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def shown_by(view: str, *plain: Any) -> str:
    """What a notebook shows of plain data by a view of the room that draws, which is looked up when asked for."""
    drawn: str = getattr(import_module("kanopy.report.notebook"), view)(*plain)
    return drawn


class HtmlReprMixin(ReprMixin):
    """The base of objects below the room that draws: a notebook shows the drawing, which is looked up when asked for.

    Objects of the rooms above call `kanopy.report.notebook` themselves.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawn: str = import_module("kanopy.report.notebook").drawn(self)
        return drawn
