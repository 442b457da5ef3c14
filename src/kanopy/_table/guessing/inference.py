"""What columns that are published unchanged give away of generalized ones, measured on the release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._table.guessing.dependence import (
    MOST_ROWS,
    Coded,
    Dependence,
    Relation,
    coded,
    dependences,
    drawn,
    in_no_order,
)

MOST_COMPARED, FEWEST_ROWS_COMPARED = 100_000_000, 1_000
LEAST_SHARE = 0.01
"""A smaller share of rows is what single wrong values bring."""


@dataclass(frozen=True)
class Narrowed:
    """A dependence, and the share of published rows of which it tells more than the labels do."""

    dependence: Dependence
    share: float

    def __str__(self) -> str:
        how, revealed = self.dependence.how, self.dependence.revealed
        return (
            f"{how} {revealed!r} ({100 * self.share:.0f} % of the rows: it allows fewer values than the published "
            "label)"
        )


def find_dependences(
    frame: pl.DataFrame, published: Iterable[str], generalized: Sequence[str], most_rows: int = MOST_ROWS
) -> list[Dependence]:
    """Which of the columns that are published unchanged tell something about which generalized ones.

    >>> table = pl.DataFrame({"age": [20 + i * 37 % 60 for i in range(400)]}).with_columns(born=2020 - pl.col("age"))
    >>> [(found.column, found.how, found.revealed) for found in find_dependences(table, ["born"], ["age"])]
    [('born', 'determines', 'age')]
    """
    published_names, hidden, rows = list(published), set(generalized), drawn(frame.height, most_rows)
    columns = {
        name: comparable for name in (*published_names, *hidden) if (comparable := coded(frame[name][rows])) is not None
    }
    if not columns.keys() & hidden or not columns.keys() - hidden:
        return []
    columns = in_no_order(columns)
    return dependences(
        {name: columns[name] for name in published_names if name in columns},
        {name: columns[name] for name in generalized if name in columns},
    )


def narrowed(
    revealing: Sequence[Dependence], original: pl.DataFrame, labels: Mapping[str, pl.Series]
) -> list[Narrowed]:
    """Of which share of the rows each dependence tells more than the labels: fewer original values than they allow.

    `original` are rows of the table, `labels` what these rows show of their generalized columns.

    >>> table = pl.DataFrame({"age": [20 + i * 37 % 60 for i in range(400)]}).with_columns(born=2020 - pl.col("age"))
    >>> found = find_dependences(table, ["born"], ["age"])
    >>> [each.share for each in narrowed(found, table, {"age": pl.Series(["*"] * 400)})]
    [1.0]
    >>> narrowed(found, table, {"age": table["age"].cast(pl.String)})
    []
    """
    names = dict.fromkeys(
        name for dependence in revealing for name in (dependence.column, dependence.revealed, *_others(dependence))
    )
    columns = {name: comparable for name in names if (comparable := coded(original[name])) is not None}
    groups = {name: _codes(label) for name, label in labels.items()}
    revealed = []
    for dependence in revealing:
        if not {dependence.column, dependence.revealed, *_others(dependence)} <= columns.keys():
            continue
        hidden, group = columns[dependence.revealed], groups[dependence.revealed]
        allowed = _values_in(group, hidden)
        if dependence.relation is not None:
            less = _by_relation(dependence.relation, dependence.revealed, columns, groups)
        else:
            both = group.astype(np.int64) * (columns[dependence.column].size + 1) + columns[dependence.column].codes + 1
            less = _values_in(np.unique(both, return_inverse=True)[1], hidden) < allowed
        share = float((less & (allowed > 1)).mean())
        if share >= LEAST_SHARE:
            revealed.append(Narrowed(dependence, share))
    return revealed


def told_of_hidden(frame: pl.DataFrame, published: Iterable[str], generalized: Sequence[str]) -> dict[str, Narrowed]:
    """Per column that would tell something of generalized columns, were these hidden altogether, what it tells most."""
    published = list(published)
    # Each pair of columns is compared: of very many columns on fewer rows.
    compared = max(FEWEST_ROWS_COMPARED, min(MOST_ROWS, MOST_COMPARED // max(len(published) * len(generalized), 1)))
    revealing = find_dependences(frame, published, generalized, compared)
    if not revealing:
        return {}
    rows = frame[drawn(frame.height)]
    hidden = pl.Series(["*"]).new_from_index(0, rows.height)
    revealed = sorted(
        narrowed(revealing, rows, dict.fromkeys(generalized, hidden)), key=lambda narrowing: narrowing.share
    )
    return {narrowing.dependence.column: narrowing for narrowing in revealed}


def _others(dependence: Dependence) -> tuple[str, ...]:
    """The other columns that a dependence needs."""
    relation = dependence.relation
    return () if relation is None else (relation.total, *relation.factors)


def _codes(column: pl.Series) -> Ints:
    codes: Ints = column.rename("").cast(pl.String).rank("dense").fill_null(0).cast(pl.Int32).to_numpy()
    return codes


def _values_in(group: Ints | Longs, column: Coded) -> Longs:
    """Per row how many different values its group has."""
    pairs = np.unique(group.astype(np.int64) * (column.size + 1) + column.codes + 1)
    value_counts: Longs = np.bincount(pairs // (column.size + 1), minlength=int(group.max(initial=0)) + 1)[group]
    return value_counts


def _by_relation(relation: Relation, revealed: str, columns: Mapping[str, Coded], groups: Mapping[str, Ints]) -> Mask:
    """Rows whose label allows values that a sum rules out, given what is published of its other parts."""
    total = _measured(columns[relation.total], relation)
    least, most = total - relation.constant, total - relation.constant
    for name, factor in relation.factors.items():
        if name != revealed:
            numbers = _measured(columns[name], relation)
            ends = _ends(numbers, groups[name]) if name in groups else (numbers, numbers)
            low, high = np.sort(np.stack([factor * end for end in ends]), axis=0)
            least, most = least - high, most - low
    least, most = np.sort(np.stack([least, most]) / relation.factors[revealed], axis=0)
    measured = _measured(columns[revealed], relation)
    lowest, highest = _ends(measured, groups[revealed])
    slack = 2 * relation.error / abs(relation.factors[revealed]) + 1e-6 * float(
        np.nanmax(measured) - np.nanmin(measured)
    )
    with np.errstate(invalid="ignore"):
        ruled_out: Mask = (least > lowest + slack) | (most < highest - slack)
    return ruled_out


def _measured(column: Coded, relation: Relation) -> Floats:
    """The numbers that a relation adds up."""
    numbers = column.measured
    assert numbers is not None
    if not relation.logarithms:
        return numbers
    return np.log(np.where(numbers > 0, numbers, np.nan))


def _ends(numbers: Floats, group: Ints) -> tuple[Floats, Floats]:
    """Per row the least and the largest number of its group."""
    least, most = np.full(int(group.max(initial=0)) + 1, np.inf), np.full(int(group.max(initial=0)) + 1, -np.inf)
    finite = np.isfinite(numbers)
    np.minimum.at(least, group[finite], numbers[finite])
    np.maximum.at(most, group[finite], numbers[finite])
    return least[group], most[group]


def withheld(
    revealed: Sequence[Narrowed], allowed: Collection[str] = (), needed: Collection[str] = ()
) -> tuple[list[str], tuple[str, ...]]:
    """Which columns may not leave, and what to say of them and of those that leave all the same.

    `allowed` are those that the job publishes whatever they give away, `needed` those that a model of the job names.
    """
    reasons: dict[str, list[Narrowed]] = {}
    for narrowing in revealed:
        reasons.setdefault(narrowing.dependence.column, []).append(narrowing)
    held, notes = [], []
    for name, narrowings in reasons.items():
        why = "; ".join(str(narrowing) for narrowing in sorted(narrowings, key=lambda narrowing: -narrowing.share)[:3])
        if name in allowed:
            notes.append(f"{name!r} is published, as the job allows, although it {why}.")
        elif name in needed:
            notes.append(
                f"{name!r} is published because a model or the target names it, although it {why}, which undoes the "
                "generalization. Leave out one of the two."
            )
        else:
            held.append(name)
            notes.append(
                f"The column {name!r} was left out: it {why}. To publish it nevertheless, name it in allow_dependent "
                "(allow-dependent, --allow-dependent)."
            )
    return held, tuple(notes)
