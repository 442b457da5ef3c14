"""How a report writes numbers, names and explanations: escaped, rounded honestly, in plain words."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


MISSING_WORDS = {
    "as-value": "A missing value is treated as a value of its own: rows that lack it are grouped with each other, "
    "and it is generalized like any other value.",
    "suppress": "Rows with a missing quasi-identifier are suppressed.",
    "error": "Missing quasi-identifiers are not accepted: the run would have stopped at the first one.",
}
UNKNOWN_WORDS = {
    "error": "Values that a hierarchy does not know are not accepted: the run would have stopped at the first one.",
    "suppress": "Rows with a value that its hierarchy does not know are suppressed.",
    "add": "Values that a hierarchy does not know were added to it directly under its top.",
}
ROLE_WORDS = {
    "identifier": "names a person directly",
    "quasi-identifier": "others may know it",
    "sensitive": "must not be learned",
    "insensitive": "harmless",
}
LOSS_WORDS = {
    "loss": "mean share of its column that a published value could stand for (0 = as before, 1 = nothing left)",
    "loss-geometric": "like loss, columns combined by the geometric mean",
    "precision": "mean height in the hierarchies (0 = original values, 1 = top)",
    "entropy": "bits needed to recover the original values, over those when everything is hidden",
    "height": "sum of the levels",
    "aecs": "average group size, the suppressed rows counted as one group",
    "discernibility": "sum over rows of the size of their group; a suppressed row counts as the whole table",
    "NTIL": "mean width of the groups over all columns, rows weighted alike (0 = as before, 1 = nothing left)",
    "NIL1": "mean width of the groups, groups weighted alike",
    "NILinf": "width of the widest group",
    "DM": "sum of the squared sizes of the groups the algorithm made; a suppressed row counts as the whole table",
    "AVG": "average size of the groups the algorithm made, over k (1 is the least possible)",
    "NIL1_merged": "mean width, groups that look alike counted as one",
    "DM_merged": "sum of squared sizes, groups that look alike counted as one",
    "AVG_merged": "average group size over k, groups that look alike counted as one (1 is the least possible)",
    "LM": "mean share of the other values of its column that a published value could stand for (Iyengar 2002)",
    "GCP": "mean width of published values over the range of their column (Ghinita et al. 2007)",
}


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


def whole(number: int) -> str:
    """A count with thousands separated.

    >>> whole(48842)
    '48,842'
    """
    return f"{number:,}"


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
