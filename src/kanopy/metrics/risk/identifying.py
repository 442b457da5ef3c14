"""Which columns tell people apart: distinction and separation of every small set of columns.

Distinction is the share of different combinations among all rows; separation the share of pairs of rows that differ
(Motwani and Xu 2007, "Efficient algorithms for masking and finding quasi-identifiers"). Both can only grow when a
column is added, which prunes the search: once a set tells all rows apart that can be told apart, larger sets add
nothing. A set of columns is refined from a smaller one, and rows that already stand alone are not looked at again
(stripped partitions, Huhtala et al. 1999, TANE).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from kanopy._arrays import Longs
from kanopy._core.numbering import number_keys, number_rows
from kanopy._core.units import Units
from kanopy._errors import JobError
from kanopy._mixins import DictMixin

MOST_SUBSETS = 1500
FEWEST_SUBSETS, MOST_CELLS = 60, 200_000_000
"""Where people are counted, sets times rows are limited to so many cells, but never below so many sets."""
DIRECT = 0.95
"""A column that alone tells this share of rows apart names people directly; it is an identifier."""


@dataclass(frozen=True)
class Subset(DictMixin):
    """A set of columns: how many combinations occur, distinction, separation, and rows that stand alone."""

    columns: tuple[str, ...]
    combinations: int
    distinction: float
    separation: float
    unique_rows: int
    unique_share: float


@dataclass(frozen=True)
class Identifying(DictMixin):
    """Every set of columns looked at, the smallest first, and what follows from them.

    `largest` is the size up to which sets were looked at; `passed_over` columns were left out because there are too
    many; `identifiers` tell nearly everybody apart alone; `suggested` are the quasi-identifiers: columns that single
    out at least `level` of the rows more when added to a set looked at, or to all other columns. `keys` are the
    smallest sets that single out `level` of the rows, `gain` is by how much distinction grows on average.
    """

    rows: int
    subsets: tuple[Subset, ...]
    all_columns: Subset
    largest: int
    passed_over: tuple[str, ...]
    identifiers: tuple[str, ...]
    suggested: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    gain: dict[str, float]
    level: float

    json_names = {"rows": ""}  # noqa: RUF012 - the assessment has it already


@dataclass(frozen=True, eq=False)
class _Partition:
    """Combinations not yet told apart (`members`, with the number of their group) and the sums over those that are.

    Where people are counted, `cell` is the group of each different row of theirs."""

    members: Longs
    group: Longs
    groups: int
    classes: int
    pairs: int
    unique: int
    cell: Longs | None = None


def identifying_columns(
    names: Sequence[str],
    codes: Sequence[Longs],
    sizes: Sequence[int],
    *,
    largest: int = 3,
    level: float = 0.05,
    most_subsets: int = MOST_SUBSETS,
    units: Units | None = None,
) -> Identifying:
    """Distinction and separation of every set of up to `largest` columns.

    `codes[j]` are integers below `sizes[j]`. With many columns `largest` is lowered, and at last the columns that
    separate least are passed over, until at most `most_subsets` sets remain. With `units`, those who stand alone are
    people: who has a row whose combination nobody else has.

    >>> found = identifying_columns(["zip", "sex"], [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0])], [2, 2])
    >>> [(s.columns, s.distinction, round(s.separation, 3), s.unique_rows) for s in found.subsets]
    [(('zip',), 0.5, 0.667, 0), (('sex',), 0.5, 0.5, 1), (('zip', 'sex'), 0.75, 0.833, 2)]
    >>> found.suggested
    ('zip', 'sex')
    """
    if not names:
        raise JobError("Name at least one column to examine.")
    if largest < 1:
        raise JobError(f"Sets of columns have at least 1 column, not {largest}.")
    rows = len(codes[0])
    of_row, first, counts = number_rows(codes, sizes)
    tuples = [np.asarray(column)[first] for column in codes]
    start = _refined(_Partition(np.arange(len(counts)), np.zeros(len(counts), np.int64), 1, 0, 0, 0), None, 1, counts)
    index_of_name = {name: j for j, name in enumerate(names)}
    people: Units | None = None
    if units is not None:
        # A row more of somebody that is like another of theirs changes nothing.
        different = np.sort(number_rows([units.of_row, of_row]).first)
        people, tuple_of = units.of_rows(different), of_row[different]
        start = replace(start, cell=np.zeros(len(different), np.int64))
        most_subsets = max(FEWEST_SUBSETS, min(most_subsets, MOST_CELLS // len(different)))

    def refine(partition: _Partition, *by: str) -> _Partition:
        for name in by:
            cell, size = partition.cell, sizes[index_of_name[name]]
            partition = _refined(partition, tuples[index_of_name[name]], size, counts)
            if cell is not None:
                cell = number_keys(cell * size + tuples[index_of_name[name]][tuple_of]).number.astype(np.int64)
                partition = replace(partition, cell=cell)
        return partition

    def share(partition: _Partition) -> float:
        return _alone(partition, people) / (rows if people is None else people.count)

    def subset(columns: tuple[str, ...], partition: _Partition) -> Subset:
        refined_subset = _subset(columns, partition, counts, rows)
        return replace(refined_subset, unique_rows=_alone(partition, people), unique_share=share(partition))

    singles = {name: subset((name,), refine(start, name)) for name in names}
    everything = _finest(tuple(names), counts, rows)
    if people is not None:
        everything = subset(tuple(names), refine(start, *names))
    identifiers = tuple(name for name in names if singles[name].distinction >= DIRECT and rows > 1)
    order = [name for name in names if name not in identifiers]
    passed: tuple[str, ...] = ()
    largest = min(largest, max(len(order), 1))
    while largest > 2 and sum(comb(len(order), size) for size in range(2, largest + 1)) > most_subsets:
        largest -= 1
    if largest > 1:
        ranked = sorted(order, key=lambda name: -singles[name].separation)
        while comb(len(ranked), 2) > most_subsets:
            ranked.pop()
        passed = tuple(name for name in order if name not in ranked)
        order = [name for name in order if name in ranked]
    subsets = [singles[name] for name in names]

    def grow(held: tuple[str, ...], partition: _Partition, rest: Sequence[str]) -> None:
        for number, name in enumerate(rest):
            refined, columns = refine(partition, name), (*held, name)
            if len(columns) > 1:
                subsets.append(subset(columns, refined))
            if len(columns) < largest and len(refined.members):
                grow(columns, refined, rest[number + 1 :])

    grow((), start, order)
    subsets.sort(key=lambda subset: len(subset.columns))
    without: dict[str, float] = {}

    def leave_out(partition: _Partition, columns: Sequence[str]) -> None:
        """What all columns but one single out; halving the columns shares most of the work."""
        if len(columns) == 1:
            without[columns[0]] = share(partition)
            return
        middle = len(columns) // 2
        for staying, others in ((columns[:middle], columns[middle:]), (columns[middle:], columns[:middle])):
            leave_out(refine(partition, *others), staying)

    if len(order) > largest:  # larger sets were not looked at: at least all columns but one
        leave_out(start, order)
        together = share(refine(start, *order))
        without = {name: together - lost for name, lost in without.items()}
    plain = [subset for subset in subsets if not set(subset.columns) & set(identifiers)]
    contributors = _contributors(plain, level) | {name for name, lost in without.items() if lost >= level}
    return Identifying(
        rows=rows,
        subsets=tuple(subsets),
        all_columns=everything,
        largest=largest,
        passed_over=passed,
        identifiers=identifiers,
        suggested=tuple(name for name in names if name in contributors),
        keys=tuple(_smallest(plain, level)),
        gain=_gains(subsets, order, rows),
        level=level,
    )


def _refined(partition: _Partition, column: Longs | None, size: int, counts: Longs) -> _Partition:
    """Split every group by one more column; a combination that is alone in its group is done with."""
    members = partition.members
    if not len(members):
        return partition
    keys = partition.group * size + (0 if column is None else column[members])
    number, _, tuples = number_keys(keys, partition.groups * size)
    done = tuples[number] == 1
    alone = counts[members[done]]
    left = ~done
    # Numbers of the groups that go on, without gaps.
    dense = np.cumsum(tuples > 1) - 1
    return _Partition(
        members[left],
        dense[number[left]].astype(np.int64),
        int((tuples > 1).sum()),
        partition.classes + len(alone),
        partition.pairs + int((alone * (alone - 1) // 2).sum()),
        partition.unique + int((alone == 1).sum()),
    )


def _alone(partition: _Partition, people: Units | None) -> int:
    """Rows that stand alone, or people who have a row that does."""
    if people is None or partition.cell is None:
        return partition.unique
    alone = people.people(partition.cell, int(partition.cell.max(initial=-1)) + 1) == 1
    return len(np.unique(people.of_row[alone[partition.cell]]))


def _subset(columns: tuple[str, ...], partition: _Partition, counts: Longs, rows: int) -> Subset:
    weights = np.bincount(partition.group, weights=counts[partition.members], minlength=partition.groups)
    joined = weights.astype(np.int64)
    together = partition.pairs + int((joined * (joined - 1) // 2).sum())
    classes = partition.classes + partition.groups
    return Subset(
        columns, classes, classes / rows, _separation(together, rows), partition.unique, partition.unique / rows
    )


def _finest(columns: tuple[str, ...], counts: Longs, rows: int) -> Subset:
    together, alone = int((counts * (counts - 1) // 2).sum()), int((counts == 1).sum())
    return Subset(columns, len(counts), len(counts) / rows, _separation(together, rows), alone, alone / rows)


def _separation(together: int, rows: int) -> float:
    """The share of pairs that differ; a single row has no pairs and nothing to be told apart from."""
    pairs = rows * (rows - 1) // 2
    return 1.0 - together / pairs if pairs else 0.0


def _smallest(subsets: Sequence[Subset], level: float) -> list[tuple[str, ...]]:
    """The sets that single out `level` of the rows and have no smaller set within that does."""
    smallest: list[tuple[str, ...]] = []
    for subset in subsets:  # the smaller come first
        if subset.unique_share >= level and not any(set(key) <= set(subset.columns) for key in smallest):
            smallest.append(subset.columns)
    return smallest


def _contributors(subsets: Sequence[Subset], level: float) -> set[str]:
    """The columns that single out `level` of the rows more when added to a set."""
    distinction_known = {frozenset(subset.columns): subset.unique_share for subset in subsets}
    distinction_known[frozenset()] = 0.0
    return {
        name
        for columns, share in distinction_known.items()
        for name in columns
        if columns - {name} in distinction_known and share - distinction_known[columns - {name}] >= level
    }


def _gains(subsets: Sequence[Subset], names: Sequence[str], rows: int) -> dict[str, float]:
    """Per column, by how much distinction grows on average when it is added to a set looked at."""
    distinction_known = {frozenset(subset.columns): subset.distinction for subset in subsets}
    distinction_known[frozenset()] = 1 / rows  # without columns all rows are alike: one combination
    gains: dict[str, list[float]] = {name: [] for name in names}
    for columns, distinction in distinction_known.items():
        for name in columns & set(names):
            before = distinction_known.get(columns - {name})
            if before is not None:
                gains[name].append(distinction - before)
    return {name: float(np.mean(values)) if values else 0.0 for name, values in gains.items()}
