"""Arrays under one name: what a compiled loop is given as a single pointer."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kanopy._arrays import Longs


class Kind(NamedTuple):
    """What an annotation says about an array: the type of its elements and the number of its axes."""

    element: str
    axes: int


KINDS = {
    **{name: Kind(element, 1) for name, element in (("Ints", "int32"), ("Longs", "int64"), ("Floats", "float64"))},
    **{name: Kind(element, 1) for name, element in (("Words", "uint64"), ("Bytes", "uint8"), ("Shorts", "int16"))},
    **{name: Kind(element, 2) for name, element in (("IntRows", "int32"), ("LongRows", "int64"))},
    **{name: Kind(element, 2) for name, element in (("FloatRows", "float64"), ("WordRows", "uint64"))},
    "ShortRows": Kind("int16", 2),
    "Mask": Kind("bool", 1),
}
TYPES = {kind.element: np.dtype(kind.element) for kind in KINDS.values()}
SLOTS = 3
"""Places that describe an array to compiled code: its address, and the lengths of its axes (1 for one it lacks)."""


def describe(array: Any, kind: Kind, what: str) -> tuple[int, int, int]:
    """Address and lengths of an array; refuses one that compiled code would misread."""
    if array.dtype != TYPES[kind.element] or array.ndim != kind.axes or not array.flags.c_contiguous:
        raise TypeError(
            f"{what} must be {kind.element} with {kind.axes} axes, one element after the other, "
            f"not {array.dtype} with {array.ndim}."
        )
    return array.__array_interface__["data"][0], len(array), array.shape[1] if kind.axes == 2 else 1


@dataclasses.dataclass(frozen=True, eq=False)
class Arrays:
    """Base of dataclasses whose fields are arrays, named by the types of `kanopy._arrays`.

    In compiled code such an object is one pointer, whatever the number of its arrays; in Python it is what it looks
    like. Its fields stay the arrays they were at first; what is in them may change.

    >>> import dataclasses
    >>> from kanopy._arrays import Longs
    >>> @dataclasses.dataclass(frozen=True, eq=False)
    ... class Stack(Arrays):
    ...     items: Longs
    ...     height: Longs
    >>> Stack(np.zeros(8, np.int64), np.zeros(1, np.int32))
    Traceback (most recent call last):
    TypeError: Stack.height must be int64 with 1 axes, one element after the other, not int32 with 1.
    """

    def __post_init__(self) -> None:
        self.description  # noqa: B018 - a wrong array is refused where it is given

    @cached_property
    def description(self) -> Longs:
        """Addresses and lengths of all arrays, as compiled code reads them."""
        name = type(self).__name__
        rows = [describe(getattr(self, field), kind, f"{name}.{field}") for field, kind in members(type(self))]
        return np.array(rows, np.int64)

    @cached_property
    def address(self) -> int:
        """Where the description is."""
        address: int = self.description.__array_interface__["data"][0]
        return address


def members(of: type[Arrays]) -> tuple[tuple[str, Kind], ...]:
    """The fields of a class of arrays, and what they are."""
    return tuple((field.name, KINDS[str(field.type)]) for field in dataclasses.fields(of))
