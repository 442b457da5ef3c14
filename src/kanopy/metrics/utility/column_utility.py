"""What a release is still good for, column by column: pure functions of what its labels cover.

A published label stands for any of the original values it covers; where a single number is needed, each of them is
taken to be equally likely (the uniform assumption of LeFevre et al. 2006 and Xiao and Tao 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import MISSING_LABEL, Floats, Ints
from kanopy._mixins import DictMixin
from kanopy.metrics.utility.published_values import ColumnDomain, Covers

MOST_BINS = 24


@dataclass(frozen=True)
class ColumnUtility(DictMixin):
    """One column before and after.

    `loss` is the share of the column's values that a label covers, 0 as before and 1 for nothing (the house loss);
    `range_loss` the width of its interval over that of the column (NCP, Xu et al. 2006; numbers only). `bits_kept` is
    the share of the original's entropy that the labels still carry. `total_variation` and `earth_movers` compare the
    distributions: half the sum of differences, and the mean distance the mass must move over the column's range
    (categories: every move costs 1, so both agree). `contradicted_rows` publish what excludes their original value:
    they were disturbed, not generalized.
    """

    name: str
    changed_rows: int
    hidden_rows: int
    contradicted_rows: int
    values_before: int
    labels_after: int
    loss: float
    range_loss: float | None
    bits_kept: float
    total_variation: float
    earth_movers: float
    numeric: bool


def expected_counts(covers: Covers, label_counts: npt.ArrayLike) -> Floats:
    """How many rows each original value is expected to have, every label spread evenly over what it covers.

    A label that covers no original value (a number of its own) is given to the nearest value.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> towns = ColumnDomain("town", ("Lyon", "Paris", "Rome"), np.array([3, 1, 2]))
    >>> expected_counts(understand(["{Lyon, Paris}", "Rome"], towns), [4, 2]).tolist()
    [2.0, 2.0, 2.0]
    """
    counts = np.asarray(label_counts, np.float64)
    expected = np.zeros(covers.domain.size)
    for label, number in enumerate(counts):
        members = covers.values_of(label)
        if len(members):
            expected[members] += number / len(members)
        elif covers.domain.numbers is not None:
            expected[nearest_value(covers, label)] += number
    return expected


def nearest_value(covers: Covers, label: int) -> int:
    """The original value nearest to a label that covers none."""
    numbers = covers.domain.numbers
    assert numbers is not None
    middle = (covers.low[label] + covers.high[label]) / 2.0
    return int(np.nanargmin(np.abs(numbers - middle)))


def house_loss(
    covers: Covers, label_counts: npt.ArrayLike, *, lost_rows: int = 0, domain_size: int | None = None
) -> float:
    """The mean share of the column's values a label covers, scaled so that originals are 0 and `*` is 1.

    `lost_rows` were left out of the release and count 1; `domain_size` is the size of the column's hierarchy, if it
    knows more values than occur.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> towns = ColumnDomain("town", ("Lyon", "Paris", "Rome"), np.array([3, 1, 2]))
    >>> house_loss(understand(["{Lyon, Paris}", "Rome"], towns), [4, 2])
    0.333...
    """
    counts = np.asarray(label_counts, np.float64)
    size = max(domain_size or 0, covers.domain.size)
    rows = float(counts.sum()) + lost_rows
    share = np.maximum(covers.breadth, 1) / size
    share[[kind == "anything" for kind in covers.kinds]] = 1.0
    least = 1.0 / size
    beyond = float(np.dot(counts, share - least)) + lost_rows * (1.0 - least)
    return max(0.0, beyond / (rows * (1.0 - least))) if size > 1 and rows else 0.0


def range_loss(covers: Covers, label_counts: npt.ArrayLike, *, lost_rows: int = 0) -> float | None:
    """The mean width of the published intervals over the range of the column; `None` for categories."""
    if covers.domain.numbers is None:
        return None
    counts = np.asarray(label_counts, np.float64)
    low, high = covers.domain.ends()
    if high <= low:
        return 0.0
    width = np.clip(np.nan_to_num(covers.high - covers.low) / (high - low), 0.0, 1.0)
    width[[kind == "anything" for kind in covers.kinds]] = 1.0
    rows = float(counts.sum()) + lost_rows
    return (float(np.dot(counts, width)) + lost_rows) / rows if rows else 0.0


def bits_kept(values: Ints, labels: Ints) -> float:
    """The share of the original's entropy that the labels carry: mutual information over entropy, row by row.

    >>> bits_kept(np.array([0, 1, 2, 3], np.int32), np.array([0, 0, 1, 1], np.int32))
    0.5
    """
    before = entropy(np.bincount(values))
    if before <= 0.0:
        return 1.0
    after = entropy(np.bincount(labels))
    pairs = values.astype(np.int64) * (int(labels.max(initial=0)) + 1) + labels
    together = entropy(np.unique(pairs, return_counts=True)[1])
    return min(1.0, max(0.0, (before + after - together) / before))


def entropy(counts: npt.NDArray[Any]) -> float:
    """Shannon's entropy, in bits, of values that occur so often.

    >>> entropy(np.array([2, 1, 1, 0]))
    1.5
    """
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def total_variation(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """Half the sum of the differences of two distributions: the mass that must move.

    >>> total_variation([1, 1, 2], [2, 1, 1])
    0.25
    """
    p, q = _shares(before), _shares(after)
    return float(np.abs(p - q).sum() / 2.0)


def earth_movers_distance(before: npt.ArrayLike, after: npt.ArrayLike, numbers: Floats | None = None) -> float:
    """How far the mass of one distribution must move to become the other, over the range of the column.

    Without numbers every move costs 1 and this is the total variation (Rubner et al. 2000; Li et al. 2007).

    >>> earth_movers_distance([1, 0, 0], [0, 1, 0], np.array([0.0, 5, 10]))
    0.5
    """
    if numbers is None:
        return total_variation(before, after)
    is_known = np.isfinite(numbers)
    if np.asarray(before)[is_known].sum() <= 0 or np.asarray(after)[is_known].sum() <= 0:
        return total_variation(before, after)
    p, q = _shares(np.asarray(before)[is_known]), _shares(np.asarray(after)[is_known])
    ordered = numbers[is_known]
    width = float(ordered.max() - ordered.min())
    if width <= 0.0:
        return 0.0
    return float((np.abs(np.cumsum(p - q)[:-1]) * np.diff(ordered)).sum() / width)


def _shares(counts: npt.ArrayLike) -> Floats:
    array = np.asarray(counts, np.float64)
    total = float(array.sum())
    return array / total if total > 0 else array


def bins_of(covers: Covers, most: int = MOST_BINS, *, least: int = 1) -> tuple[Ints, list[str]]:
    """The values of a column lumped into at most `most` bins: neighbouring numbers, or rare categories together.

    With `least` above 1, bins of fewer rows are joined with others and no value that fewer rows have is named, so
    that the names may be shown to people who must not see rare values.

    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> towns = ColumnDomain("town", ("Lyon", "Paris", "Rome"), np.array([3, 1, 2]))
    >>> bins_of(understand(["Rome"], towns), most=2)
    (array([0, 1, 1], dtype=int32), ['Lyon', 'other'])
    >>> ages = ColumnDomain("age", ("20", "21", "99"), np.array([5, 5, 1]), np.array([20.0, 21, 99]))
    >>> bins_of(understand(["20"], ages), least=2)
    (array([0, 1, 1], dtype=int32), ['20', '21 and above'])
    """
    domain = covers.domain
    if domain.numbers is None:
        return _categories(domain, most, least)
    if domain.size <= most:
        places, names = np.arange(domain.size, dtype=np.int32), list(domain.labels)
    else:
        room = most - 1 if domain.missing else most
        low, high = domain.ends()
        with np.errstate(invalid="ignore"):
            at = (domain.numbers - low) / (high - low) * room
        places = np.clip(np.nan_to_num(at, nan=room), 0, room - 1).astype(np.int32)
        edges = low + (high - low) * np.arange(room + 1) / room
        names = [_edge(domain.numbers, places, number, edges) for number in range(room)]
        if domain.missing:
            places[-1] = room
            names.append(MISSING_LABEL)
    return (places, names) if least <= 1 else _joined(domain, places, least)


def _categories(domain: ColumnDomain, most: int, least: int) -> tuple[Ints, list[str]]:
    """The most frequent categories by name, the others as one."""
    order = np.argsort(-domain.counts, kind="stable")
    named = int((domain.counts >= least).sum())
    if domain.size <= most and named == domain.size:
        return np.arange(domain.size, dtype=np.int32), list(domain.labels)
    named = min(named, most - 1)
    # A few rare rows alone under "other" would be as good as named.
    while 0 < named < domain.size and domain.counts[order[named:]].sum() < least:
        named -= 1
    places = np.full(domain.size, named, np.int32)
    places[order[:named]] = np.arange(named)
    return places, [*(domain.labels[index] for index in order[:named]), "other"]


def _joined(domain: ColumnDomain, places: Ints, least: int) -> tuple[Ints, list[str]]:
    """Neighbouring bins of numbers joined until each has `least` rows, named by values that so many rows have."""
    present = domain.present
    counts = np.bincount(places[:present], weights=domain.counts[:present]) if present else np.zeros(0)
    joined, bins, rows = np.zeros(len(counts), np.int32), 0, 0.0
    for number, count in enumerate(counts):
        joined[number] = bins
        rows += count
        if rows >= least:
            bins, rows = bins + 1, 0.0
    if rows and bins:  # the last ones do not suffice: they go with their neighbours
        joined[joined == bins] = bins - 1
    bin_of_value = np.empty(domain.size, np.int32)
    bin_of_value[:present] = joined[places[:present]]
    total = int(bin_of_value[:present].max(initial=-1)) + 1
    names = []
    for number in range(total):
        inside = np.flatnonzero(bin_of_value[:present] == number)
        common = inside[domain.counts[inside] >= least]
        if not len(common):
            names.append("…")
            continue
        low, high = domain.labels[common[0]], domain.labels[common[-1]]
        if common[0] > inside[0] and not number:
            names.append(f"up to {high}")
        elif common[-1] < inside[-1] and number == total - 1:
            names.append(f"{low} and above")
        else:
            names.append(low if low == high else f"{low}–{high}")
    if domain.missing:
        bin_of_value[-1] = total
        names.append(MISSING_LABEL)
    return bin_of_value, names


def _edge(numbers: Floats, places: Ints, number: int, edges: Floats) -> str:
    inside = numbers[: len(places)][places == number]
    inside = inside[np.isfinite(inside)]
    if not len(inside):
        return f"{edges[number]:.6g}…"
    low, high = float(inside.min()), float(inside.max())
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"
