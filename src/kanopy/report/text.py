"""How a report writes numbers, names and explanations: escaped, rounded honestly, in plain words."""

from __future__ import annotations

import html
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already. Whatever is not marked so is escaped before it comes into a page."""

    __slots__ = ()


def esc(value: object) -> Markup:
    """Text that came from data or a user, safe anywhere in the page; what is `Markup` stays as it is.

    >>> esc('<script src="x">')
    '&lt;script src=&quot;x&quot;&gt;'
    """
    return value if isinstance(value, Markup) else Markup(html.escape(printable(str(value)), quote=True))


def printable(text: str) -> str:
    """Text without control characters and half characters, which no page or drawing can hold.

    >>> printable("a\\x00b")
    'a\ufffdb'
    """
    return _NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)


def percent(share: float | None) -> str:
    """A share in percent; what is not quite nothing or not quite everything never reads as such.

    >>> percent(0.25), percent(0.0002), percent(0.99999), percent(1)
    ('25%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share is None or not math.isfinite(share):
        return "–"
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{share * 100:.1f}".removesuffix(".0") + "%"


def whole(number: int | None) -> str:
    """A count with thousands separated.

    >>> whole(48842), whole(None)
    ('48,842', '–')
    """
    return "–" if number is None else f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    """A count and its noun.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def figure(value: float | None) -> str:
    """A loss: four digits where it is a share, none where it is large.

    >>> figure(0.294687), figure(123456.0), figure(None)
    ('0.2947', '123,456', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}".removesuffix(".0")


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0.0312), seconds(4.2), seconds(125)
    ('31 ms', '4.2 s', '2 min 5 s')
    """
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def listed(names: Sequence[str], shown: int = 4) -> str:
    """Names in a row, the rest counted (not escaped).

    >>> listed(["a", "b", "c"], shown=2)
    'a, b and 1 more'
    """
    head = ", ".join(names[:shown])
    return head + (f" and {len(names) - shown:,} more" if len(names) > shown else "")


def megabytes(size: int | None) -> str:
    """Memory in megabytes.

    >>> megabytes(12_400_000), megabytes(None)
    ('12 MB', '–')
    """
    return "–" if size is None else f"{size / 1e6:,.0f} MB"


def _or_withheld(value: float | None) -> str:
    return WITHHELD if value is None else f"{value:,.6g}"


WITHHELD = "withheld"
WRITERS: dict[str, Callable[[Any], str]] = {
    "whole": whole,
    "percent": percent,
    "figure": figure,
    "seconds": seconds,
    "megabytes": megabytes,
    "withheld": _or_withheld,
    "hundredths": lambda share: f"{share * 100:.1f}",
}


class _Wording(Formatter):
    """Writes numbers into the texts of `words.toml`, whose head explains how."""

    def format_field(self, value: Any, spec: str) -> str:
        one, _, other = spec[1:].partition("|")
        if spec.startswith("#"):
            return plural(value, one, other)
        if spec.startswith("?"):
            return one if value else other
        return WRITERS[spec](value) if spec in WRITERS else str(format(value, spec))


class _SafeWording(_Wording):
    def format_field(self, value: Any, spec: str) -> str:
        return esc(value) if isinstance(value, Markup) else esc(super().format_field(value, spec))


def worded(text: str, numbers: Mapping[str, Any]) -> str:
    """A text with its numbers; where it is markup, what is written into it is escaped.

    >>> worded("{n:#row}, {share:percent}", {"n": 1, "share": 0.5}), worded("<b>{name}</b>", {"name": "<k>"})
    ('1 row, 50%', '<b>&lt;k&gt;</b>')
    """
    if "<" in text:
        return Markup(_SafeWording().vformat(text, (), numbers))
    return _Wording().vformat(text, (), numbers)


@cache
def _book() -> dict[str, Any]:
    return tomllib.loads((resources.files("kanopy.report") / "words.toml").read_text(encoding="utf-8"))


_PIECES = re.compile(r"\{[^{}]*\}|[^{}]+|[{}]")
_COUNTED: ContextVar[str] = ContextVar("counted", default="rows")
_OF_COUNTED = (
    "risk.", "check.", "compare.measured", "explore.map", "release.tiles", "release.checked", "release.holds",
    "release.alone", "release.warning",
)  # fmt: skip
_OF_ROWS = ("risk.survey", "risk.special", "risk.tiles_survey", "risk.attacks", "risk.more")
"""Texts about what promises count, and those among them that speak of rows all the same, as all others do."""


@contextmanager
def counting(what: str) -> Iterator[None]:
    """While this lasts, texts about what promises count speak of people or households instead of rows.

    >>> with counting("people"):
    ...     sentence("release.checked", smallest=5).split("group ")[-1]
    'has 5 people.'
    """
    token = _COUNTED.set(what)
    try:
        yield
    finally:
        _COUNTED.reset(token)


def of_counted(text: str) -> str:
    """A text about rows as one about what is counted; suppressed rows stay rows.

    >>> with counting("people"):
    ...     of_counted("Rows that stand alone: {n:#row}; suppressed rows")
    'People who stand alone: {n:#person|people}; suppressed rows'
    """
    what = _COUNTED.get()
    if what == "rows":
        return text
    one = {"people": "person"}.get(what, what.removesuffix("s"))
    text = text.replace(":#row}", f":#{one}|{what}}}")
    # Names of numbers stand in braces and are no words.
    return "".join(piece if piece.startswith("{") else _renamed(piece, one, what) for piece in _PIECES.findall(text))


def _renamed(text: str, one: str, what: str) -> str:
    text = re.sub(r"\bRows( that)?\b", lambda match: what.capitalize() + (" who" if match[1] else ""), text)
    stay = r"(?<!uppressed )(?<!published )(?<!pairs of )(?<!among all )(?<!original )"
    return re.sub(rf"{stay}\brow(s?)\b(?! published)", lambda m: what if m[1] else one, text)


def _counted(content: Any) -> Any:
    if isinstance(content, str):
        return of_counted(content)
    if isinstance(content, dict):
        return {key: _counted(value) for key, value in content.items()}
    return [_counted(value) for value in content] if isinstance(content, list) else content


def told(name: str) -> Any:
    """What `words.toml` holds under a dotted name.

    >>> told("roles.insensitive")
    'harmless'
    """
    entry: Any = _book()
    for key in name.split("."):
        entry = entry[key]
    may_count = name.startswith(_OF_COUNTED) and not name.startswith(_OF_ROWS)
    return _counted(entry) if may_count and _COUNTED.get() != "rows" else entry


def sentence(name: str, /, **numbers: Any) -> str:
    """A text of `words.toml` with its numbers.

    >>> sentence("compare.budget", budget_seconds=60)
    'Algorithms with a budget had 1 min 0 s.'
    """
    return worded(told(name), numbers)


def lines(name: str, numbers: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Lines of texts of `words.toml`, such as tiles or meanings, with their numbers.

    >>> lines("risk.tiles_map", {"k_map": 3})
    [('k-map', '3', 'people at least share the values of each row')]
    """
    return [tuple(worded(text, numbers) for text in line) for line in told(name)]


MOST_LOST = 0.5
"""A release that loses more than this has lost most of its detail."""


def lost_words(loss: float | None, wiped: Sequence[str]) -> str:
    """What terminal and page say first where columns are wiped or most of the detail is gone; else nothing.

    >>> lost_words(0.7, ["zip"])
    'Most of the detail is lost (70%). Fully suppressed: zip.'
    >>> lost_words(0.2, [])
    ''
    """
    warning = sentence("release.gone", loss=loss) if loss is not None and loss > MOST_LOST else ""
    return " ".join(filter(None, [warning, sentence("release.wiped", names=listed(wiped, 8)) if wiped else ""]))


def methods_of(treatments: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The method by which each treated column was changed: whatever its role is, it is not published as it was.

    >>> methods_of([{"column": "pay", "method": "microaggregate", "columns": ["pay", "tax"]}])
    {'pay': 'microaggregate', 'tax': 'microaggregate'}
    """
    return {name: treatment["method"] for treatment in treatments for name in treatment["columns"]}


def described_models(models: Iterable[Any], counted: str) -> list[dict[str, Any]]:
    """Privacy models with what they promise, and the sensitive columns that they look at."""
    return [
        {"name": model.name, "explanation": model.promise(counted), "columns": list(model.sensitive)}
        for model in models
    ]
