"""Singling out: does what a released row says describe exactly one person?

A predicate is the labels of one published row on some columns. It succeeds if exactly one person of the original has a
row that it covers. The same predicates are asked of a control group of other people: what isolates somebody there as
often says nothing about the release. Predicates are drawn over all columns, over random subsets of every size, and as
an attacker would choose them: those that only one published row has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._progress import SILENT, Progress
from kanopy.attacks.rates import Measured, at_size, evidence_of
from kanopy.attacks.tables import AttackTables, People

Predicate = Mapping[str, int]
DRAWS = 50
"""Draws per wanted predicate, after which there are no more different ones worth looking for."""


class Drawn(NamedTuple):
    """Different predicates, and from which released row each was taken."""

    predicates: list[dict[str, int]]
    rows: list[int]


def singling_out(
    tables: AttackTables, guesses: int, random: np.random.Generator, progress: Progress = SILENT
) -> tuple[Measured, ...]:
    """Singling out over all columns, by subsets of every size, and by predicates that one released row has."""
    measured = []
    sizes = list(range(1, len(tables.columns) + 1))
    everything = _draw(tables, guesses, random, None)
    measured.append(_measure(tables, "all columns", everything, random))
    for index, size in enumerate(sizes[:-1]):
        progress("singling out", index / len(sizes))
        words = "1 random column" if size == 1 else f"{size} random columns"
        measured.append(_measure(tables, words, _draw(tables, guesses, random, size), random))
    measured.append(
        _measure(tables, "predicates of a single released row", unique_predicates(tables, guesses, random), random)
    )
    return tuple(measured)


def _draw(tables: AttackTables, guesses: int, random: np.random.Generator, size: int | None) -> Drawn:
    """Up to so many different predicates of random released rows, over all columns or `size` random ones."""
    names, says, labels = tables.columns, tables.says, tables.labels
    seen: set[tuple[tuple[str, int], ...]] = set()
    drawn_predicates = Drawn([], [])
    attempts = tables.released_rows if size is None else guesses * DRAWS
    rows = (
        random.permutation(tables.released_rows)
        if size is None
        else random.integers(tables.released_rows, size=attempts)
    )
    for row in rows.tolist():
        chosen = names if size is None else random.choice(len(names), size, replace=False)
        predicate = {}
        for choice in chosen:
            name = str(choice) if size is None else names[int(choice)]
            label = int(labels[name][row])
            if says[name][label]:
                predicate[name] = label
        if not predicate or (size is not None and len(predicate) < size):
            continue  # a cell that says nothing, or that cannot be read
        key = tuple(sorted(predicate.items()))
        if key in seen:
            continue
        seen.add(key)
        drawn_predicates.predicates.append(predicate)
        drawn_predicates.rows.append(row)
        if len(drawn_predicates.predicates) == guesses:
            break
    return drawn_predicates


def unique_predicates(
    tables: AttackTables, guesses: int, random: np.random.Generator, size: int | None = None
) -> Drawn:
    """Predicates over random columns (`size` of them, or any number) that exactly one released row satisfies.

    An attacker prefers them: they are likely to describe one person. Every released row is used once, so that the
    guesses are about different rows.
    """
    names, labels, says = tables.columns, tables.labels, tables.says
    by_label = {name: _rows_by_label(labels[name]) for name in names}
    seen: set[tuple[tuple[str, int], ...]] = set()
    used: set[int] = set()
    drawn_predicates = Drawn([], [])
    for _ in range(guesses * DRAWS):
        row = int(random.integers(tables.released_rows))
        if row in used:
            continue
        wanted = int(random.integers(1, len(names) + 1)) if size is None else size
        chosen = [names[position] for position in random.choice(len(names), wanted, replace=False)]
        predicate = {name: int(labels[name][row]) for name in chosen if says[name][labels[name][row]]}
        key = tuple(sorted(predicate.items()))
        if len(predicate) < (1 if size is None else size) or key in seen:
            continue
        seen.add(key)
        alike: Longs | None = None
        for name, label in sorted(predicate.items(), key=lambda item: len(_rows_with(by_label[item[0]], item[1]))):
            rows = _rows_with(by_label[name], label)
            alike = rows if alike is None else alike[labels[name][alike] == label]
            if len(alike) < 2:
                break
        if alike is not None and len(alike) == 1:
            used.add(row)
            drawn_predicates.predicates.append(predicate)
            drawn_predicates.rows.append(row)
            if len(drawn_predicates.predicates) == guesses:
                break
    return drawn_predicates


def _rows_by_label(codes: Ints) -> tuple[Longs, Longs]:
    return np.argsort(codes, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(codes))])


def _rows_with(by_label: tuple[Longs, Longs], label: int) -> Longs:
    return by_label[0][by_label[1][label] : by_label[1][label + 1]]


def _measure(tables: AttackTables, detail: str, drawn: Drawn, random: np.random.Generator) -> Measured:
    """How many of the predicates single somebody out, in the original and in the control group."""
    count = len(drawn.predicates)
    mine = _matched(tables, tables.people, drawn.predicates)
    alone = [int(persons[0]) for persons in mine if len(persons) == 1]
    guesses, hits, counted, beside = None, None, None, 1.0
    if tables.control is not None:
        theirs = _matched(tables, tables.control, drawn.predicates)
        matches = np.array([len(persons) for persons in theirs], np.int64)
        guesses, beside = count, evidence_of(theirs)
        counted = float((matches == 1).mean()) if count else None
        hits = count * at_size(matches, tables.control.count, tables.people.count) if count else 0.0
    shuffled = [_shuffled(tables, predicate, random) for predicate in drawn.predicates]
    naive = sum(tables.matches(tables.people, predicate) == 1 for predicate in shuffled) / count if count else None
    same = tables.control is None or tables.control.count == tables.people.count
    note = "" if same or not count else (
        f"the control rate is that of {tables.people.count:,} {tables.called}, estimated from "
        f"{tables.control.count if tables.control else 0:,}"
    )  # fmt: skip
    return Measured(
        "singling out", detail, count, len(alone), guesses, hits, naive, len(set(alone)), note, evidence_of(mine),
        beside,
        None if same else counted,
    )  # fmt: skip


def _matched(tables: AttackTables, people: People, predicates: Sequence[Predicate]) -> list[Longs]:
    """The people whom each predicate covers."""
    return [np.unique(people.unit_of[tables.matched_rows(people, predicate)]) for predicate in predicates]


def _shuffled(tables: AttackTables, predicate: Predicate, random: np.random.Generator) -> dict[str, int]:
    """A predicate over the same columns with labels drawn from the marginals, each on its own."""
    drawn = {}
    for name in predicate:
        codes, says = tables.labels[name], tables.says[name]
        label = int(codes[random.integers(len(codes))])
        drawn[name] = label if says[label] else predicate[name]
    return drawn


class Isolated(NamedTuple):
    """People whom a class with an untouched value describes alone, and the same predicates in the control group."""

    predicates: int
    people: int
    control_share: float | None


def isolated_people(
    tables: AttackTables, most: int, random: np.random.Generator, progress: Progress = SILENT
) -> Isolated:
    """How many people all published combinations of labels and untouched values isolate (a sample of `most`)."""
    names = tables.columns
    table = np.column_stack([tables.labels[name] for name in names])
    distinct = np.unique(table, axis=0)
    if len(distinct) > most:
        distinct = distinct[np.sort(random.choice(len(distinct), most, replace=False))]
    isolated: list[dict[str, int]] = []
    people: set[int] = set()
    for index, row in enumerate(distinct.tolist()):
        progress("isolated people", index / len(distinct))
        predicate = {name: label for name, label in zip(names, row, strict=True) if tables.says[name][label]}
        if not predicate:
            continue
        units = np.unique(tables.people.unit_of[tables.matched_rows(tables.people, predicate)])
        if len(units) == 1:
            people.add(int(units[0]))
            isolated.append(predicate)
    share = None
    if tables.control is not None and isolated:
        matches = np.array([tables.matches(tables.control, predicate) for predicate in isolated], np.int64)
        share = at_size(matches, tables.control.count, tables.people.count)
    return Isolated(len(isolated), len(people), share)
