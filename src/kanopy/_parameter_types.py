"""Kinds of values that parameters take: how each is worded, checked, and read from a text.

Every kind collects what is wrong instead of stopping at the first mistake; `taken` is for a single value.
"""

from __future__ import annotations

import csv
import json
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kanopy._errors import collected, near_miss, refuse, short, some
from kanopy._lazy import public

LARGEST = 2**63 - 1
"""Whole numbers go into arrays of 64 bits."""


class ParameterType:
    """The values that a parameter takes. `words` complete the sentence "it must be …"."""

    @property
    def words(self) -> str:
        """The values in words."""
        return ""

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        """The value as it is kept; what is wrong with it is added to `mistakes`."""
        raise NotImplementedError

    def read(self, text: str) -> Any:
        """A value from the text after `name=`; a text that is no such value is returned as it is, for `take`."""
        return text

    def refuse(self, value: Any, label: str, mistakes: list[str], hint: str = "") -> Any:
        """Note that the value does not do."""
        mistakes.append(f"{label} must be {self.words}, not {short(value)}.{' ' + hint if hint else ''}")
        return value


def _range(least: float | None, most: float | None, above: float | None = None, below: float | None = None) -> str:
    low = f"above {above:g}" if above is not None else f"at least {least:g}" if least is not None else ""
    high = f"below {below:g}" if below is not None else f"at most {most:g}" if most is not None else ""
    if least is not None and most is not None:
        return f" between {least:g} and {most:g}"
    both = " and ".join(limit for limit in (low, high) if limit)
    return f" {both}" if low.startswith("above") else f" of {both}" if both else ""


@public("kanopy.extend")
@dataclass(frozen=True)
class Integer(ParameterType):
    """A whole number, `least` and `most` included.

    >>> Integer(2).words, taken(Integer(2), 5)
    ('a whole number of at least 2', 5)
    """

    least: int | None = 0
    most: int | None = None
    why: str = ""

    @property
    def words(self) -> str:
        return f"a whole number{_range(self.least, self.most)}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        try:
            number = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = None
        least, most = -LARGEST if self.least is None else self.least, LARGEST if self.most is None else self.most
        if number is None or not least <= number <= most:
            return self.refuse(value, label, mistakes, self.why)
        return number

    def read(self, text: str) -> Any:
        try:
            return int(text)
        except ValueError:
            number = _float(text)
            # 1e6 is a whole number too; 1000000.0 was meant as another kind.
            whole = number is not None and abs(number) < 2**53 and number == int(number) and "." not in text
            return int(number) if whole and number is not None else text


@public("kanopy.extend")
@dataclass(frozen=True)
class Number(ParameterType):
    """A finite number; `least` and `most` are included, `above` and `below` are not.

    >>> Number(above=0, below=1).words
    'a number above 0 and below 1'
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    @property
    def words(self) -> str:
        return f"a number{_range(self.least, self.most, self.above, self.below)}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        number = value if isinstance(value, (int, float)) else _real(value)
        if isinstance(value, bool) or number is None or not self._holds(number):
            return self.refuse(value, label, mistakes)
        return number

    def _holds(self, number: float) -> bool:
        try:
            finite = math.isfinite(number)
        except OverflowError:  # a whole number of hundreds of digits
            return False
        return (
            finite
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def read(self, text: str) -> Any:
        percent = _float(text.strip()[:-1]) if text.strip().endswith("%") else None
        if percent is not None:
            return percent / 100
        whole = Integer(None).read(text)
        number = _float(text)
        return whole if isinstance(whole, int) else text if number is None else number


def _float(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, (numbers.Real, Decimal)) else None


@public("kanopy.extend")
@dataclass(frozen=True)
class Share(Number):
    """A number between 0 and 1, or a text such as `2%`."""

    least: float | None = 0
    most: float | None = 1

    @property
    def words(self) -> str:
        limits = _range(None if self.above is not None else self.least, self.most, self.above, self.below)
        return f"a share{limits} (write 2% or 0.02)"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        read = self.read(value) if isinstance(value, str) else value if isinstance(value, int) else _real(value)
        if isinstance(read, bool) or not isinstance(read, (int, float)) or not self._holds(read):
            return self.refuse(value, label, mistakes)
        return read


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Seconds(ParameterType):
    """A time of more than nothing: seconds, or a text such as `500ms`, `30s`, `5m`."""

    words = "a time of more than 0 seconds (write 500ms, 5s or 2m)"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        seconds = self.read(value) if isinstance(value, str) else value
        if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real) or not Number(above=0)._holds(seconds):  # type: ignore[arg-type]
            return self.refuse(value, label, mistakes)
        return seconds

    def read(self, text: str) -> Any:
        plain = text.strip().lower()
        amount = plain.rstrip("abcdefghijklmnopqrstuvwxyz ")
        number, unit = _float(amount), _UNITS.get(plain[len(amount) :].strip() or "s")
        return text if number is None or unit is None else number * unit


@public("kanopy.extend")
class Flag(ParameterType):
    """A truth value: true or false."""

    words = "true or false"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        return value if isinstance(value, bool) else self.refuse(value, label, mistakes)

    def read(self, text: str) -> Any:
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().casefold(), text)


@public("kanopy.extend")
class OneOf(ParameterType):
    """One of some names, which may be found out when they are needed.

    >>> taken(OneOf("keep", "drop"), "dorp", "suppressed_rows")
    Traceback (most recent call last):
    kanopy.extend.JobError: suppressed_rows must be 'keep' or 'drop', not 'dorp'. Did you mean 'drop'?
    """

    def __init__(self, *names: str, known: Callable[[], Iterable[str]] | None = None) -> None:
        self._names, self._known = names, known

    @property
    def names(self) -> tuple[str, ...]:
        """The names to choose from."""
        return self._names or tuple(self._known() if self._known else ())

    @property
    def words(self) -> str:
        *others, last = (repr(name) for name in self.names)
        return f"{', '.join(others)} or {last}" if others else last

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if isinstance(value, str) and value in self.names:
            return value
        return self.refuse(value, label, mistakes, _meant(value, self.names))


def _meant(value: Any, names: Iterable[str]) -> str:
    """The near misses, where there are any: the other names are in the words already."""
    hint = near_miss(value, names) if isinstance(value, str) else ""
    return hint if hint.startswith("Did you mean") else ""


@public("kanopy.extend")
@dataclass(frozen=True)
class Text(ParameterType):
    """A text; `usable` refuses, by an error, what cannot be used."""

    what: str = "a text"
    empty: bool = False
    usable: Callable[[str], object] | None = None

    @property
    def words(self) -> str:
        return self.what

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if not isinstance(value, str) or not (value or self.empty):
            return self.refuse(value, label, mistakes)
        with collected(mistakes):
            if self.usable is not None:
                self.usable(value)
        return value


@public("kanopy.extend")
def Name(what: str = "the name of one column") -> Text:
    """The name of a column."""
    return Text(what)


@public("kanopy.extend")
@dataclass(frozen=True)
class ColumnNames(ParameterType):
    """Texts, each once, in a list or as a line of a CSV file: separated by commas, quoted where they hold one.

    With another `separator`, as for labels that are full of commas, one text outside a list is one name.

    >>> taken(ColumnNames(), 'age, sex,"city, country"')
    ('age', 'sex', 'city, country')
    """

    what: str = "names of columns"
    separator: str = ","
    least: int = 0

    @property
    def words(self) -> str:
        return self.what

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if isinstance(value, str):
            value = self.read(value) if self.separator == "," else (value,)
        if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
            return self.refuse(value, label, mistakes)
        names = tuple(value)
        if len(names) < self.least:
            return self.refuse(value, label, mistakes)
        if wrong := [name for name in names if not isinstance(name, str)]:
            mistakes.append(f"{label} must be {self.words}, not {some(wrong)}.")
            return names
        return tuple(dict.fromkeys(names))

    def read(self, text: str) -> Any:
        try:
            line = next(csv.reader([text], skipinitialspace=True, delimiter=self.separator, strict=True), [])
        except csv.Error:
            return (text,)  # quotes that do not fit are letters: there is no such column, and the message shows it
        return tuple(dict.fromkeys(item.strip() for item in line if item.strip()))


@public("kanopy.extend")
@dataclass(frozen=True)
class ListOf(ParameterType):
    """Values of one kind in a list.

    >>> ListOf(Number(above=0)).read("5,10,20")
    (5, 10, 20)
    """

    item: ParameterType
    least: int = 0

    @property
    def words(self) -> str:
        needs = f" of at least {self.least}" if self.least else ""
        return f"a list{needs}, each {self.item.words}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return self.refuse(value, label, mistakes)
        given = list(value)
        wrong: list[Any] = []
        for i, item in enumerate(given):
            own_mistakes: list[str] = []
            given[i] = self.item.take(item, label, own_mistakes)
            wrong += [item] if own_mistakes else []
        if wrong:
            mistakes.append(f"{label} must be {self.words}, not {some(wrong)}.")
        elif len(given) < self.least:
            self.refuse(value, label, mistakes)
        return tuple(given)

    def read(self, text: str) -> Any:
        plain = _json(text)
        if isinstance(plain, list):
            return plain
        return tuple(self.item.read(item.strip()) for item in text.split(",") if item.strip())


@public("kanopy.extend")
@dataclass(frozen=True)
class MapOf(ParameterType):
    """A value of one kind per name.

    >>> MapOf(Number(0)).read("age=2, zip=0.5")
    {'age': 2, 'zip': 0.5}
    """

    item: ParameterType
    example: str = "{'age': …}"
    least: int = 0

    @property
    def words(self) -> str:
        of_each = "" if isinstance(self.item, Anything) else f": each {self.item.words}"
        return f"given per name, such as {self.example}{of_each}"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if not isinstance(value, Mapping) or len(value) < self.least:
            return self.refuse(value, label, mistakes)
        if wrong := [name for name in value if not isinstance(name, str)]:
            mistakes.append(f"{label} must be {self.words}; {some(wrong)} are not names.")
            return value
        return {name: self.item.take(item, f"{label} of {name!r}", mistakes) for name, item in value.items()}

    def read(self, text: str) -> Any:
        plain = _json(text)
        if isinstance(plain, dict):
            return plain
        pairs = [item.rpartition("=") for item in ColumnNames(separator="|" if "|" in text else ",").read(text)]
        if not all(name and equals for name, equals, _ in pairs):
            return text
        return {name.strip(): self.item.read(item.strip()) for name, _, item in pairs}


class Either(ParameterType):
    """A value of one of several kinds.

    >>> Either(Integer(2), ListOf(Integer(2))).read("2,3"), Optional(Integer(2)).words
    ((2, 3), 'a whole number of at least 2, or nothing')
    """

    def __init__(self, *kinds: ParameterType) -> None:
        self.kinds = kinds

    @property
    def words(self) -> str:
        return ", or ".join(kind.words for kind in self.kinds)

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        tried: list[list[str]] = []
        for kind in self.kinds:
            tried.append([])
            settled = kind.take(value, label, tried[-1])
            if not tried[-1]:
                return settled
        if len(tried) == 2 and isinstance(self.kinds[1], Nothing):
            mistakes += tried[0]
            return value
        names = [name for kind in self.kinds if isinstance(kind, OneOf) for name in kind.names]
        return self.refuse(value, label, mistakes, _meant(value, names))

    def read(self, text: str) -> Any:
        for kind in self.kinds:
            own_mistakes: list[str] = []
            value_read = kind.read(text)
            kind.take(value_read, "", own_mistakes)
            if not own_mistakes:
                return value_read
        return text


class Nothing(ParameterType):
    """The absence of a value."""

    words = "nothing"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        return value if value is None else self.refuse(value, label, mistakes)

    def read(self, text: str) -> Any:
        return None if text.strip().casefold() in ("none", "") else text


@public("kanopy.extend")
def Optional(kind: ParameterType) -> Either:
    """A value of a kind, or nothing."""
    return Either(kind, Nothing())


class Anything(ParameterType):
    """Whatever it is, someone else looks at it."""

    words = "of any kind"

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        return value


@dataclass(frozen=True)
class Instance(ParameterType):
    """An object of one of some classes, found by their names so that nothing has to be loaded."""

    classes: tuple[str, ...]
    what: str

    @property
    def words(self) -> str:
        return self.what

    def take(self, value: Any, label: str, mistakes: list[str]) -> Any:
        if any(ancestor.__name__ in self.classes for ancestor in type(value).__mro__):
            return value
        return self.refuse(value, label, mistakes)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def taken(kind: ParameterType, value: Any, label: str = "It") -> Any:
    """One value of a kind, or an error."""
    mistakes: list[str] = []
    settled = kind.take(value, label, mistakes)
    refuse(mistakes)
    return settled


def as_share(value: float | int | str, what: str = "suppress") -> float:
    """A share from a number between 0 and 1 or a text such as `2%`.

    >>> as_share("2%"), as_share(0.05)
    (0.02, 0.05)
    """
    return float(taken(Share(), value, what))


def as_seconds(value: float | int | str, what: str = "budget") -> float:
    """Seconds from a number or a text such as `500ms`, `30s`, `5m`.

    >>> as_seconds("1.5s"), as_seconds("2m"), as_seconds(5)
    (1.5, 120.0, 5.0)
    """
    return float(taken(Seconds(), value, what))
