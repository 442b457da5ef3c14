"""Columns that are sums or products of others, each times a number or to a power: totals, differences, means, rates,
body mass indices.

A relation is looked for in two ways: for each pair of a generalized column and one that is published, the third that
explains most of what is left of both; and for each column that is published, those that explain it step by step, each
time the one with the largest partial correlation (orthogonal least squares). Products are sums of logarithms. What was
found is fitted anew on the rows that have all values, and parts that can be missed are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from kanopy._arrays import Floats, Mask
from kanopy._table.guessing.dependence import EXPECTED, FEWEST_ROWS, Coded, Dependence, Relation

ROWS, MOST_NUMBERS = 3_000, 1_000
"""Rows and columns of numbers that are looked at; rows are those that were drawn."""
TOLD, NEEDED = 0.995, 0.9
"""So much of what the other parts leave of a sum a part must explain to be told by it, and to belong to it."""
LEAST_LEFT = 1e-6
"""A column is the same as others together where less of its variance is left."""
LEAST_STEP, MOST_LEFT = 0.02, 0.1
"""A part that explains less of what is left is none; where more is left of a column, it is no sum."""
MOST_PARTS, TRIED, LIKELY_PARTIAL = 6, 3, 0.8


def relations(
    published: Mapping[str, Coded], generalized: Mapping[str, Coded], known: Collection[tuple[str, str]] = ()
) -> list[Dependence]:
    """Columns that are sums, differences, products or quotients of a generalized column and others.

    `known` are pairs of a published and a generalized column that depend on each other anyway. A column that was found
    is taken to be held back: what needs it beside itself gives nothing away.

    >>> import polars as pl
    >>> from kanopy._table.guessing.dependence import coded
    >>> draw = np.random.default_rng(0)
    >>> weight, height = draw.normal(75, 14, 500).round(), draw.normal(1.7, 0.1, 500).round(2)
    >>> shown = {"bmi": coded(pl.Series(weight / height**2).round(1))}
    >>> hidden = {"weight": coded(pl.Series(weight)), "height": coded(pl.Series(height))}
    >>> [(found.revealed, found.how) for found in relations(shown, hidden)]
    [('weight', "is, with 'height', a product or quotient that gives"), ('height', "is, with 'weight', a product or ...
    """
    dependences: list[Dependence] = []
    for logarithms in (False, True):
        seen = {*known, *((dependence.column, dependence.revealed) for dependence in dependences)}
        search = _Search(published, generalized, seen, {dependence.column for dependence in dependences}, logarithms)
        if search.possible:
            dependences += [*search.of_two(), *search.of_more()]
    return dependences


class _Search:
    """Columns as numbers or logarithms, in which sums are looked for."""

    def __init__(
        self,
        published: Mapping[str, Coded],
        generalized: Mapping[str, Coded],
        known: Collection[tuple[str, str]],
        taken: set[str],
        logarithms: bool,
    ) -> None:
        self.known, self.taken, self.logarithms = known, taken, logarithms
        columns: dict[str, Floats] = {}
        for name, column in (*generalized.items(), *published.items()):
            measured = column.measured
            if measured is not None and (values := _usable(measured[:ROWS], logarithms)) is not None:
                columns[name] = values
        self.names = list(columns)[:MOST_NUMBERS]
        self.place = {name: at for at, name in enumerate(self.names)}
        self.hidden = [name for name in self.names if name in generalized]
        self.shown = [name for name in self.names if name in published]
        self.possible = bool(self.hidden and self.shown) and len(self.names) > 2
        if self.possible:
            self.table = np.column_stack([columns[name] for name in self.names])
            self.alike = _correlations(self.table)

    def of_two(self) -> list[Dependence]:
        """Sums of a generalized column and another."""
        dependences = []
        for revealed in self.hidden:
            q = self.place[revealed]
            # Partial correlations of every published column with the generalized one, given each other column.
            rows = np.array([self.place[name] for name in self.shown])
            free = (1 - self.alike[rows] ** 2) * (1 - self.alike[q] ** 2)
            with np.errstate(all="ignore"):
                partials = (self.alike[rows, q][:, None] - self.alike[rows] * self.alike[q]) ** 2 / free
            partials[(free < LEAST_LEFT) | ~np.isfinite(partials)] = 0
            partials[:, q] = 0
            partials[np.arange(len(rows)), rows] = 0
            for at in np.flatnonzero(partials.max(axis=1) >= LIKELY_PARTIAL).tolist():
                name, p, partial = self.shown[at], int(rows[at]), partials[at]
                if (name, revealed) in self.known or name in self.taken:
                    continue
                for other in np.argsort(-partial)[:TRIED].tolist():
                    if partial[other] < LIKELY_PARTIAL:
                        break
                    if more := self._held(p, [q, other]):
                        dependences += more
                        break
        return dependences

    def of_more(self) -> list[Dependence]:
        """Sums of as many columns as it takes: first of generalized ones alone, then with others that are published."""
        dependences = []
        hidden = np.array([name in self.hidden for name in self.names])
        for among in (hidden, np.ones(len(self.names), dtype=bool)):
            for name in self.shown:
                p, free = self.place[name], among.copy()
                for _ in range(TRIED if name not in self.taken else 0):
                    parts = self._parts(p, free)
                    more = self._held(p, parts)
                    dependences += more
                    published = [at for at in parts if not hidden[at]]
                    if more or not published:
                        break
                    free[published[0]] = False  # published columns may tell each other, and generalized ones as well
        return dependences

    def _parts(self, p: int, among: Mask) -> list[int]:
        """Columns that together explain another, step by step."""
        free = among & (np.maximum(1 - self.alike[p] ** 2, 0) > LEAST_LEFT)
        free[[self.place[name] for name in self.taken if name in self.place]] = False
        left, with_p, of_p = np.ones(len(self.names)), self.alike[p].copy(), 1.0
        rows: list[Floats] = []
        parts: list[int] = []
        while of_p > LEAST_LEFT and len(parts) < MOST_PARTS:
            partial = np.where(free & (left > LEAST_LEFT), with_p**2 / np.maximum(left, LEAST_LEFT) / of_p, 0)
            best = int(partial.argmax())
            if partial[best] < LEAST_STEP:
                break
            row = (self.alike[best] - sum(row[best] * row for row in rows)) / np.sqrt(left[best])
            step = with_p[best] / np.sqrt(left[best])
            left, with_p, of_p = left - row**2, with_p - step * row, of_p - step**2
            free[best] = False
            rows.append(row)
            parts.append(best)
        return parts if of_p < MOST_LEFT else []

    def _held(self, p: int, parts: Sequence[int]) -> list[Dependence]:
        """What a column gives away as a sum of others, of which it is not known; it is taken from then on."""
        name = self.names[p]
        fitted = _fitted(self.table, p, parts)
        if fitted is None:
            return []
        factors, constant, error, shares = fitted
        surest = {self.names[at]: share for at, share in shares.items() if share >= TOLD}
        revealed = [
            hidden_name
            for hidden_name in self.hidden
            if hidden_name in surest and (name, hidden_name) not in self.known
        ]
        others = [self.names[at] for at in factors]
        if not revealed or self.taken & {*others, name}:  # what is held back already gives nothing away
            return []
        self.taken.add(name)
        kind = "a product or quotient" if self.logarithms else "a sum or difference"
        by_name = {self.names[at]: factor for at, factor in factors.items()}
        relation = Relation(name, by_name, constant, error, self.logarithms)
        dependences = []
        for revealed_name in revealed:
            beside = tuple(other for other in others if other != revealed_name)
            how = f"is, with {', '.join(map(repr, beside))}, {kind} that gives"
            dependences.append(Dependence(name, revealed_name, how, surest[revealed_name], beside, relation))
        return dependences


def _usable(values: Floats, logarithms: bool) -> Floats | None:
    """Numbers of which enough differ from the others to tell what they are made of; logarithms of positive ones."""
    if logarithms:
        values = np.log(np.where(values > 0, values, np.nan))
    finite = values[np.isfinite(values)]
    if len(finite) < FEWEST_ROWS:
        return None
    different, counts = np.unique(finite, return_counts=True)
    if len(finite) - int(counts.max()) < EXPECTED or (logarithms and len(different) == 2):
        return None
    return values


def _correlations(table: Floats) -> Floats:
    """Correlations of all columns, each pair where both have values."""
    there = np.isfinite(table)
    scale = np.nanstd(table, axis=0)
    plain = np.where(there, (table - np.nanmean(table, axis=0)) / np.where(scale > 0, scale, 1), 0)
    ones = there.astype(np.float64)
    rows = ones.T @ ones
    with np.errstate(all="ignore"):
        mean = (plain.T @ ones) / rows
        square = (plain**2).T @ ones / rows
        both = plain.T @ plain / rows
        spread = square - mean**2
        correlations: Floats = (both - mean * mean.T) / np.sqrt(spread * spread.T)
    correlations[~np.isfinite(correlations) | (rows < FEWEST_ROWS)] = 0
    return np.clip(correlations, -1, 1)


def _fitted(
    table: Floats, p: int, parts: Sequence[int]
) -> tuple[dict[int, float], float, float, dict[int, float]] | None:
    """The factors of those parts without which a column cannot be told, with constant, error, and how much each of
    them explains of what the others leave.

    Parts that explain less are left out one by one; `None` if less than two remain.
    """
    parts = list(parts)
    while len(parts) > 1:
        rows = table[:, [p, *parts]]
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) < max(FEWEST_ROWS, EXPECTED * len(parts)):
            return None
        middle, scale = rows.mean(axis=0), rows.std(axis=0)
        if not (scale > 0).all():
            return None
        plain = (rows - middle) / scale
        slopes, left, shares = _needed(plain)
        worst = int(shares.argmin())
        if shares[worst] >= NEEDED:
            if _few_differ(rows):
                return None
            factors = slopes * scale[0] / scale[1:]
            constant = float(middle[0] - factors @ middle[1:])
            factor_of = {at: float(factor) for at, factor in zip(parts, factors, strict=True)}
            return factor_of, constant, float(np.sqrt(left) * scale[0]), dict(zip(parts, shares.tolist(), strict=True))
        del parts[worst]
    return None


def _needed(plain: Floats) -> tuple[Floats, float, Floats]:
    """Slopes of the first of some columns on the others, what they leave of it, and what each explains of what the
    others leave; a part is worth nothing where these leave nothing."""
    slopes = np.linalg.lstsq(plain[:, 1:], plain[:, 0], rcond=None)[0].astype(np.float64)
    left = float(((plain[:, 0] - plain[:, 1:] @ slopes) ** 2).mean())
    shares: Floats = np.zeros(plain.shape[1] - 1)
    for at in range(len(shares)):
        others = np.delete(plain[:, 1:], at, axis=1)
        without, *_ = np.linalg.lstsq(others, plain[:, 0], rcond=None)
        left_without = float(((plain[:, 0] - others @ without) ** 2).mean())
        shares[at] = 0.0 if left_without < LEAST_LEFT else 1 - left / left_without
    return slopes, left, shares


def _few_differ(rows: Floats) -> bool:
    """Whether some column hardly differs among these rows: then they are a kind of their own."""
    most: list[int] = [int(np.unique(column, return_counts=True)[1].max()) for column in rows.T]
    return len(rows) - max(most) < EXPECTED
