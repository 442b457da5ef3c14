"""Inference: what can be guessed of a person whose quasi-identifiers are known?

The attacker takes the released rows that cover what he knows, or the nearest ones where none does, and guesses their
most frequent value; of numbers the mean, right within 5 % of the value, or of the standard deviation. Beside it a
random forest is trained on the release. The control group tells what is learned about everybody: that smokers fall ill
is knowledge, not a disclosure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._progress import SILENT, Progress
from kanopy.attacks.candidates import Candidates, known_of
from kanopy.attacks.rates import Measured
from kanopy.attacks.tables import AttackTables, People
from kanopy.metrics.utility.association import middles, spread
from kanopy.metrics.utility.column_utility import bins_of
from kanopy.metrics.utility.published_values import Covers

TOLERANCE = 0.05
MOST_LEARNED_ROWS = 10_000
FEW_VALUES = 20
"""Up to so many different numbers a column is guessed as categories: its exact value."""


def inference(
    tables: AttackTables,
    guesses: int,
    random: np.random.Generator,
    *,
    secrets: Sequence[str] = (),
    learn: bool = True,
    one_row: bool = False,
    seed: int = 0,
    progress: Progress = SILENT,
) -> tuple[tuple[Measured, ...], tuple[str, ...]]:
    """Inference of the sensitive columns, or of `secrets`; and what is to be said of it.

    With `one_row` the attacker takes the value of one of the rows, by chance, as anonymeter does, not the most
    frequent one of all.
    """
    wanted = list(secrets) or list(tables.sensitive)
    if not wanted:
        return (), ("The release has no sensitive column: inference was not measured. Name one (--sensitive).",)
    measured: list[Measured] = []
    notes: list[str] = []
    for name in wanted:
        other_columns = [column for column in tables.quasi if column != name]
        if not other_columns:
            notes.append(f"The attacker knows no column from which {name!r} could be guessed.")
            continue
        targets = tables.people.targets(guesses, random)
        others = tables.control.targets(guesses, random) if tables.control is not None else None
        attacker = _Attacker(tables, other_columns, name, random if one_row else None)
        tries: list[tuple[str, Callable[[People, Longs], tuple[Longs | Floats, int]]]] = [("", attacker.guess)]
        if learn:
            try:
                tries.append((", learned", _Learner(tables, other_columns, name, seed).guess))
            except ImportError:
                notes.append("No trained model guessed values: this needs scikit-learn (the extra kanopy[utility]).")
        for words, guess in tries:
            progress("inference", wanted.index(name) / len(wanted), name)
            mine, far = guess(tables.people, targets)
            theirs = None if others is None or tables.control is None else guess(tables.control, others)[0]
            for right, how in _ways(tables, name):
                hits = right(mine, tables.people.values[name][targets])
                beside = None
                if theirs is not None and others is not None and tables.control is not None:
                    beside = right(theirs, tables.control.values[name][others])
                remark = (
                    f"{far:,} of the guesses use the nearest rows, because no row covers what is known" if far else ""
                )
                measured.append(
                    Measured(
                        "inference", f"{name}{words}{how}", len(targets), int(hits.sum()),
                        None if beside is None else len(beside), None if beside is None else float(beside.sum()),
                        _naive(tables, name, right, targets), note=remark,
                    )
                )  # fmt: skip
    return tuple(measured), tuple(notes)


def _is_number(covers: Covers) -> bool:
    """Whether a column is guessed by its mean: numbers with many values."""
    return covers.domain.numbers is not None and not covers.domain.temporal and covers.domain.present > FEW_VALUES


Right = Callable[[Any, Ints], Any]


def _ways(tables: AttackTables, name: str) -> list[tuple[Right, str]]:
    """When a guess counts as right, with the words for it."""
    covers = tables.covers[name]
    numbers = covers.domain.numbers
    if not _is_number(covers) or numbers is None:
        return [(lambda guessed, true: np.asarray(guessed == true), "")]
    deviation = float(np.nanstd(numbers[tables.people.values[name]]))

    def within_value(guessed: Floats, true: Ints) -> Any:
        return np.abs(guessed - numbers[true]) <= TOLERANCE * np.abs(numbers[true])

    def within_deviation(guessed: Floats, true: Ints) -> Any:
        return np.abs(guessed - numbers[true]) <= TOLERANCE * deviation

    return [(within_value, ", within 5 % of the value"), (within_deviation, ", within 5 % of the standard deviation")]


def _naive(tables: AttackTables, name: str, right: Right, targets: Longs) -> float:
    """The rate of guesses that are drawn from the released values."""
    covers = tables.covers[name]
    share = _shares(covers, np.bincount(tables.labels[name], minlength=len(covers.labels)).astype(np.float64))
    true = tables.people.values[name][targets]
    if not _is_number(covers):
        return float(share[true].mean())
    numbers = covers.domain.numbers
    assert numbers is not None
    drawn = np.random.default_rng(0).choice(len(share), size=(32, len(true)), p=share / share.sum())
    return float(np.mean([right(numbers[target], true).mean() for target in drawn]))


def _shares(covers: Covers, weights: Floats) -> Floats:
    """The share of every value, where each label stands for all its values alike; suppressed cells say nothing."""
    total = np.zeros(covers.domain.size)
    telling_labels = [label for label in np.flatnonzero(weights).tolist() if covers.sizes[label]]
    some_say = [label for label in telling_labels if covers.sizes[label] < covers.domain.size] or telling_labels
    for label in some_say:
        inside = covers.values_of(label)
        total[inside] += weights[label] / len(inside)
    return total / (total.sum() or 1.0)


class _Attacker:
    """Guesses from the released rows that cover what is known."""

    def __init__(
        self, tables: AttackTables, known: Sequence[str], name: str, one_row: np.random.Generator | None = None
    ) -> None:
        self.known, self._one_row = list(known), one_row
        self.groups = Candidates(tables, known)
        self.covers = tables.covers[name]
        width = len(self.covers.labels)
        pairs, counts = np.unique(
            self.groups.group_of_row.astype(np.int64) * width + tables.labels[name], return_counts=True
        )
        self._group, self._label = np.divmod(pairs, width)
        self._rows = counts.astype(np.float64)
        self._starts = np.searchsorted(self._group, np.arange(len(self.groups.groups) + 1))
        self._number = middles(self.covers) if _is_number(self.covers) else None

    def guess(self, people: People, rows: Longs) -> tuple[Longs | Floats, int]:
        """A guess for each row, and how many of them no released row covers."""
        guesses_of_rows: Any = np.zeros(len(rows), np.int64 if self._number is None else np.float64)
        far = 0
        answered: dict[tuple[int, ...], tuple[Any, bool]] = {}
        for index, row in enumerate(rows.tolist()):
            known_values = known_of(people.values, self.known, row)
            key = tuple(known_values.values())
            if key not in answered or self._one_row is not None:
                groups = self.groups.covering(known_values)
                nobody = not len(groups)
                answered[key] = self._of(self.groups.nearest(known_values) if nobody else groups), nobody
            guesses_of_rows[index], nobody = answered[key]
            far += nobody
        return guesses_of_rows, far

    def _of(self, groups: Longs) -> Any:
        weights = np.zeros(len(self.covers.labels))
        for group in groups.tolist():
            run = slice(self._starts[group], self._starts[group + 1])
            weights[self._label[run]] += self._rows[run]
        if self._one_row is not None:
            drawn = int(self._one_row.choice(len(weights), p=weights / weights.sum()))
            weights = np.where(np.arange(len(weights)) == drawn, 1.0, 0.0)
        if self._number is not None:
            has_number = np.isfinite(self._number) & (weights > 0)
            return np.average(self._number[has_number], weights=weights[has_number]) if has_number.any() else np.nan
        return int(np.argmax(_shares(self.covers, weights)))


class _Learner:
    """A random forest trained on the release: numbers by the middle of their interval, categories by shares."""

    def __init__(self, tables: AttackTables, known: Sequence[str], name: str, seed: int) -> None:
        from sklearn import ensemble

        self.tables, self.known = tables, list(known)
        covers = tables.covers[name]
        rows = np.arange(tables.released_rows)
        if len(rows) > MOST_LEARNED_ROWS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_LEARNED_ROWS, replace=False))
        self.numeric = _is_number(covers)
        if self.numeric:
            wanted = middles(covers)[tables.labels[name][rows]]
            rows, wanted = rows[np.isfinite(wanted)], wanted[np.isfinite(wanted)]
            self.model = ensemble.RandomForestRegressor(30, min_samples_leaf=3, random_state=seed, n_jobs=1)
        else:
            first = np.array([covers.values_of(label)[0] if size else -1 for label, size in enumerate(covers.sizes)])
            exact = (covers.sizes == 1)[tables.labels[name][rows]]
            rows = rows[exact] if exact.any() else rows
            wanted = first[tables.labels[name][rows]]
            self.model = ensemble.RandomForestClassifier(30, min_samples_leaf=3, random_state=seed, n_jobs=1)
        self.model.fit(self._released(rows), wanted)

    def _released(self, rows: Longs) -> Floats:
        parts = []
        for name in self.known:
            covers, labels = self.tables.covers[name], self.tables.labels[name][rows]
            if covers.domain.numbers is not None:
                parts.append(_filled(middles(covers), covers)[labels][:, None])
            else:
                bins, names = bins_of(covers)
                parts.append(spread(covers, bins, len(names))[labels])
        return np.hstack(parts)

    def guess(self, people: People, rows: Longs) -> tuple[Longs | Floats, int]:
        """A guess for each row."""
        parts = []
        for name in self.known:
            covers, values = self.tables.covers[name], people.values[name][rows]
            if covers.domain.numbers is not None:
                parts.append(_filled(covers.domain.numbers, covers)[values][:, None])
            else:
                bins, names = bins_of(covers)
                parts.append(np.eye(len(names))[bins[values]])
        return np.asarray(self.model.predict(np.hstack(parts))), 0


def _filled(numbers: Floats, covers: Covers) -> Floats:
    """Numbers with the middle of the column where none is known."""
    low, high = covers.domain.ends()
    return np.where(np.isfinite(numbers), numbers, (low + high) / 2.0)
