"""Linkability, membership, and what two releases say together.

*Linkability*: an attacker holds some columns of a person from one source and others from a second one. The released
rows that cover the first and those that cover the second meet in exactly one class: then both sources are about the
same person. By number n of neighbours, each source names its n most specific rows, chance among equals, and they must
share one (as anonymeter counts it). *Membership*: is there a released row that covers everything that is known of a
person? *Intersection*: the sensitive values that two releases leave possible have only one in common.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Longs, Mask
from kanopy._errors import DataError, near_miss, some
from kanopy._progress import SILENT, Progress
from kanopy.attacks.candidates import Candidates, known_of
from kanopy.attacks.rates import Measured
from kanopy.attacks.tables import AttackTables, People

NEIGHBOURS = (1, 10)
"""How many of its most specific rows each source names."""


def sources_of(tables: AttackTables, first: Sequence[str], random: np.random.Generator) -> tuple[list[str], list[str]]:
    """The columns of the two sources: those of the first as named, or a random half of the quasi-identifiers; the
    others and the untouched columns are in the second."""
    usable_columns = [*tables.quasi, *tables.untouched]
    if first:
        if absent := [name for name in first if name not in usable_columns]:
            raise DataError(
                f"The first source cannot have {some(absent)}: they must be published columns that an attacker may "
                f"know. {near_miss(absent[0], usable_columns)}"
            )
        rest = [name for name in usable_columns if name not in first]
        if not rest:
            raise DataError("All columns are in the first source. Leave at least one for the second.")
        return list(first), rest
    if len(usable_columns) < 2:
        return [], []
    quasi = list(tables.quasi) if len(tables.quasi) > 1 else usable_columns
    mixed = [quasi[position] for position in random.permutation(len(quasi))]
    chosen = set(mixed[: (len(quasi) + 1) // 2])
    one = [name for name in usable_columns if name in chosen]
    return one, [name for name in usable_columns if name not in chosen]


def linkability(
    tables: AttackTables,
    guesses: int,
    random: np.random.Generator,
    *,
    first: Sequence[str] = (),
    neighbours: Sequence[int] = NEIGHBOURS,
    progress: Progress = SILENT,
) -> tuple[Measured, ...]:
    """How often two sources meet in exactly one class, and for n neighbours in one row."""
    one, other = sources_of(tables, first, random)
    if not one or not other:
        return (Measured("linkability", "needs two columns that an attacker may know", 0, 0, None, None),)
    everything = Candidates(tables, [*one, *other])
    classes = _classes(tables, everything)
    words = f"{', '.join(one)} with {', '.join(other)}"

    def ask(people: People) -> tuple[int, Longs]:
        targets = people.targets(guesses, random)
        met = np.zeros(len(neighbours) + 1, np.int64)
        for index, row in enumerate(targets.tolist()):
            progress("linkability", index / len(targets))
            left = everything.covering(known_of(people.values, one, row))
            both = everything.covering(known_of(people.values, other, row), left)
            met[0] += len(np.unique(classes[both])) == 1
            right = everything.covering(known_of(people.values, other, row))
            for number, neighbour in enumerate(neighbours):
                met[number + 1] += _meet(everything, left, right, neighbour, random)
        return len(targets), met

    count, hits = ask(tables.people)
    others = ask(tables.control) if tables.control is not None else None
    naive = _by_chance(tables, neighbours, len(np.unique(classes[classes >= 0])))
    details = [words, *(f"{n} nearest row{'' if n == 1 else 's'} of each: {words}" for n in neighbours)]
    return tuple(
        Measured(
            "linkability", detail, count, int(hits[index]), None if others is None else others[0],
            None if others is None else float(others[1][index]), naive[index],
        )
        for index, detail in enumerate(details)
    )  # fmt: skip


def _classes(tables: AttackTables, groups: Candidates) -> Longs:
    """The class of each group: its labels on the quasi-identifiers; -1 where all of them are suppressed."""
    quasi = [name for name in groups.columns if name in tables.quasi] or list(groups.columns)
    _, number = np.unique(np.column_stack([groups.labels[name] for name in quasi]), axis=0, return_inverse=True)
    return np.where(groups.told, number.ravel(), -1).astype(np.int64)


def _meet(groups: Candidates, left: Longs, right: Longs, most: int, random: np.random.Generator) -> bool:
    """Whether the `most` most specific rows of both sources share one; equals are ranked by chance."""
    if not len(left) or not len(right):
        return False
    one, other = (_most_specific(groups, side, most, random) for side in (left, right))
    return bool(np.isin(one, other).any())


def _most_specific(groups: Candidates, group_numbers: Longs, most: int, random: np.random.Generator) -> Longs:
    """`most` released rows of some groups, the most specific first."""
    order = group_numbers[np.argsort(groups.breadth[group_numbers], kind="stable")]
    enough = int(np.searchsorted(np.cumsum(groups.rows[order]), most)) + 1
    last = groups.breadth[order[min(enough, len(order)) - 1]]
    before = order[groups.breadth[order] < last - 1e-9]
    level = order[np.abs(groups.breadth[order] - last) <= 1e-9]
    rows, tied = groups.rows_of(before), groups.rows_of(level)
    drawn = random.choice(tied, min(most - len(rows), len(tied)), replace=False)
    return np.concatenate([rows, drawn])


def _by_chance(tables: AttackTables, neighbours: Sequence[int], classes: int) -> list[float]:
    """What naming a class, or n rows twice, at random achieves."""
    rows = tables.released_rows
    chances = [1.0 / max(classes, 1)]
    for neighbour in neighbours:
        n = min(neighbour, rows)
        missed = 1.0
        for index in range(n):
            missed *= max(rows - n - index, 0) / (rows - index)
        chances.append(1.0 - missed)
    return chances


def membership(
    tables: AttackTables, guesses: int, random: np.random.Generator, progress: Progress = SILENT
) -> tuple[Measured, ...]:
    """How often a released row covers everything that is known: the quasi-identifiers, or all columns."""
    measured = []
    kinds = [("knows the quasi-identifiers", tables.quasi or tables.columns), ("knows all columns", tables.columns)]
    for number, (detail, names) in enumerate(kinds if kinds[0][1] != kinds[1][1] else kinds[1:]):
        groups = Candidates(tables, names)

        def ask(people: People, groups: Candidates = groups, names: Sequence[str] = names) -> tuple[int, int]:
            targets = people.targets(guesses, random)
            there = sum(len(groups.covering(known_of(people.values, names, row))) > 0 for row in targets.tolist())
            return len(targets), there

        progress("membership", number / 2)
        count, there = ask(tables.people)
        others = ask(tables.control) if tables.control is not None else None
        measured.append(
            Measured(
                "membership", detail, count, there, None if others is None else others[0],
                None if others is None else others[1], None if others is None else 0.5,
                note="" if others is not None else "not measured: members cannot be distinguished from others "
                                                   "without a control group",
            )
        )  # fmt: skip
    return tuple(measured)


def intersection(
    tables: AttackTables, earlier: AttackTables, guesses: int, random: np.random.Generator, progress: Progress = SILENT
) -> tuple[Measured, ...]:
    """How often two releases together leave one sensitive value, the person's own; beside it the later one alone.

    Ganta, Kasiviswanathan, Smith 2008, "Composition attacks and auxiliary information in data privacy", KDD.
    """
    names = [name for name in tables.sensitive if name in earlier.sensitive]
    if not names:
        return (Measured("intersection", "the releases have no sensitive column in common", 0, 0, None, None),)
    groups, before = Candidates(tables, tables.quasi), Candidates(earlier, earlier.quasi)
    measured = []
    for name in names:
        here, there = (
            _Possible(side_tables, side_groups, name)
            for side_tables, side_groups in ((tables, groups), (earlier, before))
        )

        def ask(
            now: People, then: People, here: _Possible = here, there: _Possible = there, name: str = name
        ) -> tuple[int, int, int]:
            targets = now.targets(guesses, random)
            alone = together = 0
            for index, row in enumerate(targets.tolist()):
                progress("intersection", index / len(targets))
                true_value = int(now.values[name][row])
                one = here.values(known_of(now.values, tables.quasi, row))
                both = one & there.values(known_of(then.values, earlier.quasi, row))
                alone += bool(one.sum() == 1 and one[true_value])
                together += bool(both.sum() == 1 and both[true_value])
            return len(targets), alone, together

        count, alone, together = ask(tables.people, earlier.people)
        others = None
        if tables.control is not None and earlier.control is not None:
            others = ask(tables.control, earlier.control)
        shares = np.bincount(tables.people.values[name], minlength=here.size) / tables.people.rows
        naive = float((shares**2).sum())
        for index, (detail, hits) in enumerate(
            ((f"{name}, from this release alone", alone), (f"{name}, with the earlier release", together))
        ):
            measured.append(
                Measured(
                    "intersection", detail, count, hits, None if others is None else others[0],
                    None if others is None else others[1 + index], naive,
                )
            )  # fmt: skip
    return tuple(measured)


class _Possible:
    """The sensitive values that a release leaves possible for a person."""

    def __init__(self, tables: AttackTables, groups: Candidates, name: str) -> None:
        self.groups, self.size = groups, tables.covers[name].domain.size
        pairs = np.unique(groups.group_of_row.astype(np.int64) * len(tables.covers[name].labels) + tables.labels[name])
        self._group, self._label = np.divmod(pairs, len(tables.covers[name].labels))
        self._starts = np.searchsorted(self._group, np.arange(len(groups.groups) + 1))
        self._covers = tables.covers[name]

    def values(self, known_values: dict[str, int]) -> Mask:
        """Per value whether a row that covers what is known may have it; nothing is excluded where no row does."""
        possible = np.zeros(self.size, np.bool_)
        groups = self.groups.covering(known_values)
        if not len(groups):
            return ~possible
        labels = np.unique(
            np.concatenate([self._label[self._starts[g] : self._starts[g + 1]] for g in groups.tolist()])
        )
        for label in labels.tolist():
            possible[self._covers.values_of(label)] = True
        return possible
