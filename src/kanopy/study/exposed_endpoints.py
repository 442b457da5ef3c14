"""Published ends of intervals that are somebody's own value.

The end of an interval is published. Where it was taken from the data and few people have that value, it says that one
of them is in the table. Round numbers and calendar periods say nothing: they would have been cut there anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kanopy.hierarchy.builders.rounding import is_round

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs
    from kanopy._core.units import Units

_SIGNS = re.compile(r"(?:<=|>=|[<>≤≥])\s*(.+)")
_BETWEEN = (", ", "–", " - ", " to ", "..")


@dataclass(frozen=True)
class ExposedEndpoints:
    """The ends of a column's published intervals that are values which fewer than `k` rows (or people) have."""

    column: str
    k: int
    ends: tuple[str, ...]
    counted: str = "rows"


def exposed_endpoints(
    original: pl.DataFrame,
    published: pl.DataFrame,
    columns: Sequence[str],
    k: int,
    multiplicity: Longs | None = None,
    units: Units | None = None,
) -> tuple[ExposedEndpoints, ...]:
    """Per column the published ends of intervals that are values of fewer than `k` original rows, unless round.

    `multiplicity` says for how many rows each original row stands. With `units`, people count, however many their rows.

    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [17, 23, 23, 48, 60]})
    >>> after = pl.DataFrame({"age": ["[17, 48]", "[17, 48]", "[17, 48]", "[17, 48]", "≥ 60"]})
    >>> exposed_endpoints(before, after, ["age"], 2)[0].ends
    ('17', '48')
    """
    from kanopy._table.column import as_labels, column_values, people_of_values

    endpoints = []
    for name in columns:
        labels = as_labels(published[name]).rename("").drop_nulls().unique().to_list()
        ends = {pair for label in labels for pair in zip(label_ends(label), _closing(label), strict=False)}
        if ends:
            if units is None:
                values = column_values(original[name], multiplicity=multiplicity)
                having = dict(zip(values.labels, values.counts.tolist(), strict=True))
            else:
                having = people_of_values(original[name], units.of_row)
            rare = _at_ends([value for value, many in having.items() if many < k], {_plain(end) for end, _ in ends})
            original_of_text = {_plain(value): value for value in rare}
            revealed = {end for end, closes in ends if _plain(end) in original_of_text and not is_round(end, closes)}
            disclosed = sorted({original_of_text[_plain(end)] for end in revealed}, key=_order)
            if disclosed:
                endpoints.append(ExposedEndpoints(name, k, tuple(disclosed), "rows" if units is None else units.called))
    return tuple(endpoints)


def label_ends(label: str) -> tuple[str, ...]:
    """The ends that the label of an interval names.

    >>> label_ends("[17, 25)"), label_ends("20–29"), label_ends("≥ 90"), label_ends("cook")
    (('17', '25'), ('20', '29'), ('90',), ())
    """
    if match := _SIGNS.fullmatch(label):
        return (match[1].strip(),)
    inner = label[1:-1] if label[:1] in "[(" and label[-1:] in ")]" and len(label) > 2 else label
    for sign in _BETWEEN:
        low, between, high = inner.partition(sign)
        if between and low and high:
            return low.strip(), high.strip()
    return ()


def _closing(label: str) -> tuple[bool, bool]:
    """Which of the ends of an interval closes it: the greatest value in it, not the first of the next."""
    if _SIGNS.fullmatch(label):
        return label[0] == "≤" or label[:2] == "<=", False
    return False, not label.endswith(")")


def _plain(text: str) -> str | float:
    """A number as itself, so that 20.0 and 20 are one; another text as it is."""
    try:
        return float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return text


def _at_ends(values: Sequence[str], ends: Set[str | float]) -> list[str]:
    """The values that may be one of some ends, all at once: numbers that are none are left out."""
    import polars as pl

    texts = pl.Series(values, dtype=pl.String)
    is_number = texts.str.contains(r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$")
    numbers = pl.Series([end for end in ends if isinstance(end, float)], dtype=pl.Float64)
    is_end = texts.cast(pl.Float64, strict=False).is_in(numbers.implode()).fill_null(False)
    return texts.filter(~is_number | is_end).to_list()


def _order(text: str) -> tuple[bool, float, str]:
    plain = _plain(text)
    return (isinstance(plain, str), 0.0 if isinstance(plain, str) else plain, text)


def told(endpoints: Iterable[ExposedEndpoints]) -> tuple[str, ...]:
    """What is said of such ends, without naming them."""
    return tuple(
        f"Intervals of {endpoint.column!r} end at values that fewer than {endpoint.k:,} {endpoint.counted} have "
        f"({len(endpoint.ends):,} published ends are values from the data). "
        'method = "round", or no method at all, cuts at round numbers.'
        for endpoint in endpoints
    )
