"""Attack a release with what is known of the people in it: who finds their own row again?

The attacker knows every original value of the quasi-identifiers and looks for the row of each person. The *exact*
attack takes the published rows whose labels allow what is known; the *nearest* attack takes those at the smallest
distance, so that it also works where values were exchanged or disturbed (distance-based record linkage, Pagliuca and
Seri 1999; Domingo-Ferrer and Torra 2001). Among the rows found the attacker picks one at random: a person whose row is
one of m is found with the chance 1/m.

The distance of a value from a label is, in numbers, the mean distance from the values the label stands for over the
range of the column; in categories 1 - 1/m if the label stands for m values and this is one of them, else 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.numbering import distinct_tuples, number_keys
from kanopy._core.units import Units
from kanopy._mixins import DictMixin
from kanopy.metrics.risk.nearest_kernel import EXPECTED, OUTSIDE, TABLE, Distances, Tree, nearest
from kanopy.metrics.utility.published_values import Covers

LARGEST_TABLE = 4_000_000
MOST_ATTEMPTS = 100_000


@dataclass(frozen=True)
class Attack(DictMixin):
    """What one attack achieved. `found` is the expected number of people whose own row is picked.

    `certain` people were singled out rightly (one candidate, the right one); `wrong` were matched to rows that are
    all somebody else's; `unmatched` to none. `highest_risk` is the largest chance for one person.
    """

    kind: str
    attempts: int
    people: int
    found: float
    share: float
    certain: int
    wrong: int
    unmatched: int
    highest_risk: float
    median_candidates: float


class PublishedColumn(NamedTuple):
    """One column of both tables: value codes of the original rows, label codes of the released ones, and what the
    labels cover."""

    values: Ints
    labels: Ints
    covers: Covers


def attack(
    columns: Sequence[PublishedColumn],
    partner: Longs,
    *,
    kind: str = "nearest",
    hidden: npt.NDArray[np.bool_] | None = None,
    most_attempts: int = MOST_ATTEMPTS,
    seed: int = 0,
    units: Ints | None = None,
) -> Attack:
    """Look for every original row among the released ones.

    `partner[i]` is the released row of original row i, or -1 if it was left out; `hidden` marks released rows that
    are suppressed and so cannot be picked. `units` says whose original rows these are: a person is found when
    any of their rows is, and candidates are people. Above `most_attempts` people a random sample of them (by
    `seed`) is looked for.

    >>> import numpy as np
    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> ages = ColumnDomain("age", ("20", "30", "40"), np.array([1, 1, 1]), np.array([20.0, 30, 40]))
    >>> column = PublishedColumn(np.array([0, 1, 2], np.int32), np.array([0, 0, 1], np.int32),
    ...                          understand(["20-30", "40"], ages))
    >>> attack([column], np.arange(3), kind="exact").found
    2.0
    """
    people = len(partner)
    chosen = np.arange(people)
    if people > most_attempts:
        chosen = np.sort(np.random.default_rng(seed).choice(people, most_attempts, replace=False))
    # Columns with few labels come first: they split the groups into blocks that are left as a whole.
    columns = sorted(columns, key=lambda column: len(column.covers.labels))
    published = len(columns[0].labels)
    visible = np.arange(published) if hidden is None else np.flatnonzero(~hidden)
    if not len(visible):
        return Attack(kind, len(chosen), people, 0.0, 0.0, 0, 0, len(chosen), 0.0, 0.0)
    groups, rows, group_of_kept, _ = distinct_tuples(
        [column.labels[visible] for column in columns],
        [len(column.covers.labels) for column in columns],
        ascending=True,
    )
    group_of_row = np.full(published + 1, -1, np.int64)  # the last place answers for partner -1
    group_of_row[visible] = group_of_kept
    if units is not None:
        # Whose the released rows are, so that a group counts as many candidates as it has people.
        whose = np.zeros(published, np.int32)
        whose[partner[partner >= 0]] = units[partner >= 0]
        rows = Units(number_keys(whose[visible].astype(np.int64)).number).people(group_of_kept, len(groups))
    true_group = group_of_row[partner[chosen]]
    distinct, _, inverse, _ = distinct_tuples(
        [*(column.values[chosen] for column in columns), (true_group + 1).astype(np.int32)],
        [*(column.covers.domain.size for column in columns), len(groups) + 1],
        ascending=True,
    )
    limit = 0.0 if kind == "exact" else np.inf
    _, tied, hit = nearest(
        np.ascontiguousarray(distinct[:, :-1]),
        distinct[:, -1].astype(np.int64) - 1,
        np.ascontiguousarray(groups),
        rows.astype(np.int64),
        _tree(groups),
        _distances(columns, kind),
        limit,
    )
    chance = np.where(hit, 1.0 / np.maximum(tied, 1), 0.0)[inverse]
    candidates, hits = tied[inverse], hit[inverse]
    if units is not None:
        chance, candidates, hits = _by_person(units[chosen], chance, candidates, hits)
        people, chosen = len(np.unique(units)), chosen[: len(chance)]
    expected_links = float(chance.sum())
    return Attack(
        kind=kind,
        attempts=len(chosen),
        people=people,
        found=expected_links,
        share=expected_links / len(chosen),
        certain=int((hits & (candidates == 1)).sum()),
        wrong=int((~hits & (candidates > 0)).sum()),
        unmatched=int((candidates == 0).sum()),
        highest_risk=float(chance.max()),
        median_candidates=float(np.median(candidates)),
    )


def _by_person(units: Ints, chance: Floats, candidates: Longs, hits: Mask) -> tuple[Floats, Longs, Mask]:
    """What was achieved by person: found when any row is, by the one that says most; unmatched when no row is.

    Rows of a person that look alike are one question, and are not asked again and again.
    """
    of_row, first, _ = number_keys(units.astype(np.int64))
    best = np.zeros(len(first))
    np.maximum.at(best, of_row, chance)
    hit = np.zeros(len(first), np.bool_)
    np.logical_or.at(hit, of_row, hits)
    fewest = np.full(len(first), np.iinfo(np.int64).max)
    counts = hits | ~hit[of_row]
    np.minimum.at(fewest, of_row[counts & (candidates > 0)], candidates[counts & (candidates > 0)])
    return best, np.where(fewest == np.iinfo(np.int64).max, 0, fewest), hit


def distance_table(covers: Covers, kind: str) -> Floats:
    """The distance of every original value (rows) from every published label (columns).

    >>> import numpy as np
    >>> from kanopy.metrics.utility.published_values import ColumnDomain, understand
    >>> towns = ColumnDomain("town", ("Lyon", "Paris", "Rome"), np.array([1, 1, 1]))
    >>> distance_table(understand(["{Lyon, Paris}", "Rome"], towns), "nearest").tolist()
    [[0.5, 1.0], [0.5, 1.0], [1.0, 0.0]]
    """
    domain = covers.domain
    table = np.ones((domain.size, len(covers.labels)))
    sizes = covers.sizes
    for label in range(len(covers.labels)):
        inside = covers.values_of(label)
        if kind == "exact":
            table[inside, label] = 0.0
        elif domain.numbers is None:
            table[inside, label] = 1.0 - 1.0 / max(int(sizes[label]), 1)
        else:
            table[:, label] = _numeric_distances(covers, label)
    return table


def _numeric_distances(covers: Covers, label: int) -> Floats:
    numbers = covers.domain.numbers
    assert numbers is not None
    lowest, highest = covers.domain.ends()
    scale = highest - lowest or 1.0
    members = numbers[covers.values_of(label)]
    members = members[np.isfinite(members)]
    if not len(members):  # a number of its own, an interval without values, or the missing value
        point = (covers.low[label] + covers.high[label]) / 2.0
        if np.isnan(point):
            return np.where(np.isnan(numbers), 0.0, 1.0)
        return np.where(np.isnan(numbers), 1.0, np.minimum(np.abs(numbers - point) / scale, 1.0))
    ordered = np.sort(members)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, numbers)
    total = sums[-1]
    mean = (numbers * below - sums[below] + (total - sums[below]) - numbers * (len(ordered) - below)) / len(ordered)
    return np.where(np.isnan(numbers), 1.0, mean / scale)


def _tree(groups: Ints) -> Tree:
    """The prefix tree of sorted tuples."""
    count, depth = groups.shape
    starts: list[Longs] = []
    changed = np.zeros(count, bool)
    changed[:1] = True
    for level in range(depth):
        changed[1:] |= groups[1:, level] != groups[:-1, level]
        starts.append(np.flatnonzero(changed) if level < depth - 1 else np.arange(count))
    first = np.concatenate([[0], np.cumsum([len(start) for start in starts])]).astype(np.int64)
    children = [first[level + 1] + np.searchsorted(starts[level + 1], starts[level]) for level in range(depth - 1)]
    children.append(np.full(count + 1, first[-1]))
    codes = np.concatenate([groups[start, level] for level, start in enumerate(starts)]).astype(np.int32)
    return Tree(first, np.concatenate(children).astype(np.int64), codes)


def _distances(columns: Sequence[PublishedColumn], kind: str) -> Distances:
    """The distances of all columns laid end to end."""
    kinds, offsets, widths, ends, least_offsets = ([] for _ in range(5))
    tables, points, low, high, least = ([np.empty(0)] for _ in range(5))
    table_at = point_at = end_at = least_at = 0
    for column in columns:
        covers = column.covers
        size, width = covers.domain.size, len(covers.labels)
        numbers = covers.domain.numbers
        ends.append(end_at)
        least_offsets.append(least_at)
        least_at += size
        if size * width <= LARGEST_TABLE or numbers is None:
            table = distance_table(covers, kind)
            kinds.append(TABLE)
            offsets.append(table_at)
            widths.append(width)
            tables.append(table.ravel())
            table_at += table.size
            least.append(table.min(axis=1))
            continue
        # Too many values and labels for a table: distances from intervals, computed as they are needed.
        lowest, highest = covers.domain.ends()
        scale = 1.0 if kind == "exact" else (highest - lowest or 1.0)
        kinds.append(OUTSIDE if kind == "exact" else EXPECTED)
        offsets.append(point_at)
        widths.append(0)
        points.append(np.where(np.isnan(numbers), np.inf if kind == "exact" else highest + scale, numbers) / scale)
        low.append(covers.low / scale)
        high.append(covers.high / scale)
        point_at += size
        end_at += width
        least.append(np.zeros(size))
    arrays: list[Any] = [np.array(values, np.int64) for values in (kinds, offsets, widths, ends, least_offsets)]
    arrays += [np.concatenate(values) for values in (tables, points, low, high, least)]
    return Distances(*arrays)
