"""What follows from a release being minimal: the minimality attack and downcoding.

*Minimality* (Wong, Fu, Wang, Pei 2007, "Minimality attack in privacy preserving data publishing", VLDB): the attacker
knows that every finer candidate violates the model. Worlds, in which the sensitive values of each published class are
given to its people in another way, are credible only if they agree with that. His belief that a person has a value is
the share of credible worlds in which the person has it.

*Downcoding* (Cohen 2022, "Attacks on deidentification's defenses", USENIX Security): in a minimal local release, the
rows of a class do not all lie below one child of its label, or the child would have been published; and no class can be
cut into two safe ones. This excludes assignments of rows to children.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy._core.classes import Classes
from kanopy._mixins import DictMixin, ReprMixin
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.privacy.base import Model

MOST_WORLDS = 20_000
"""So many worlds are all looked at; of more, a sample."""
SAMPLED_WORLDS = 2_000
FEWEST_WORLDS = 30
LARGEST_CLASS = 400
"""Classes with more rows are left out of the search for worlds, class by class: hardly anything follows in them."""


LARGEST_K = 12
"""Up to here every way to divide a class is looked at; above, the share that remains is an upper bound."""


@dataclass(frozen=True)
class Minimality(DictMixin):
    """What a sensitive column gives away because the release is minimal. `people` have a value that is believed more
    surely than `promised`, and more surely than by its frequency in their class; `believed` is the highest belief,
    `by_frequency` the highest without knowing that. Where the release is not minimal (a finer candidate satisfies the
    models), nothing follows: `not_minimal` says of how many people."""

    column: str
    worlds: int
    credible: int
    believed: float
    by_frequency: float
    promised: float
    people: int
    exact: bool
    not_minimal: int = 0

    @property
    def told(self) -> bool:
        """Whether enough credible worlds were found to say so."""
        return self.credible >= FEWEST_WORLDS or (self.exact and self.credible > 0)


@dataclass(frozen=True)
class Downcoding(DictMixin):
    """What the children of a column's labels give away: rows in classes where assignments are excluded, the least
    share of assignments that remain, and rows whose child follows for certain, for anybody or for a member of their
    class. Of `not_minimal` rows an attacker would exclude the truth: their class could have been published finer."""

    column: str
    rows: int
    narrowed_rows: int
    least_share: float
    certain_rows: int
    certain_for_members: int
    not_minimal: int = 0


@dataclass(frozen=True, eq=False)
class MinimalReport(ReprMixin):
    """Both attacks on one release."""

    local: bool
    minimality: tuple[Minimality, ...]
    downcoding: tuple[Downcoding, ...]
    margin: float = 0.0
    """What the job allows beyond the least loss: the figures are those of an attacker who ignores it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "local": self.local,
            "margin": self.margin,
            "minimality": [
                {**result_of_column.to_dict(), "told": result_of_column.told} for result_of_column in self.minimality
            ],
            "downcoding": [result_of_column.to_dict() for result_of_column in self.downcoding],
        }


def remaining_share(rows: int, children: int, k: int, *, cuts: bool = True) -> float:
    """The share of assignments of a class's rows to the children of its label that a minimal release leaves possible.

    Excluded are those with all rows below one child, and, with `cuts`, those that could be cut into two classes of at
    least k rows.

    >>> remaining_share(2, 2, 2), remaining_share(4, 2, 2), remaining_share(3, 1, 2)
    (0.5, 0.5, 1.0)
    """
    if children < 2 or rows < 2:
        return 1.0
    if not cuts or rows < 2 * k or (rows < 3 * k - 2 and k > LARGEST_K):
        return float(1.0 - children ** (1.0 - rows))
    if rows < 3 * k - 2:
        return _counted_share(rows, children, k)
    # Children of fewer than k rows each can always be added up to between k and rows - k: one child has more than that.
    left = children - 1
    shares = (
        comb(rows, most) * (left / children) ** (rows - most) / children ** (most - 1)
        for most in range(rows - k + 1, rows)
    )
    return float(sum(shares))


def _counted_share(rows: int, children: int, k: int) -> float:
    """The same by looking at every way to divide the rows among the children."""
    total = 0
    for counts in _partitions(rows, rows - 1, children):
        sums = 1
        for count in counts:
            sums |= sums << count
        if any(sums >> cut & 1 for cut in range(k, rows - k + 1)):
            continue
        ways = factorial(rows) // prod(map(factorial, counts))
        parts = [*counts, *([0] * (children - len(counts)))]
        placed = factorial(children) // prod(factorial(parts.count(part_size)) for part_size in set(parts))
        total += ways * placed
    return float(total / children**rows)


def _partitions(rows: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum of up to so many parts, the largest first."""
    if not rows:
        yield ()
    elif parts:
        for first in range(min(rows, most), 0, -1):
            for rest in _partitions(rows - first, first, parts - 1):
                yield first, *rest


def assignments_left(rows: int, children: int, k: int) -> list[tuple[int, ...]]:
    """The assignments that remain, one by one: what `remaining_share` counts. For small classes.

    >>> assignments_left(2, 2, 2)
    [(0, 1), (1, 0)]
    """
    from itertools import product

    assignments = []
    for assignment in product(range(children), repeat=rows):
        counts = np.bincount(assignment, minlength=children)
        cut = any(
            k <= int(counts[list(chosen)].sum()) <= rows - k
            for size in range(1, children)
            for chosen in combinations(range(children), size)
        )
        if counts.max() < rows and not cut:
            assignments.append(assignment)
    return assignments


def downcoding(
    names: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    class_of_row: Longs,
    hierarchies: Mapping[str, Hierarchy],
    k: int,
    truth: Mapping[str, Longs] | None = None,
    *,
    cuts: bool = True,
) -> tuple[Downcoding, ...]:
    """What the labels of each column give away, class by class. `labels[name][c]` is that of class c; `truth` says for
    every row below which child its value lies (-1: unknown). Without `cuts`, models besides k may have kept a class
    from being cut: only assignments with all rows below one child are excluded.

    >>> from kanopy import Hierarchy
    >>> sexes = Hierarchy.flat(["f", "m"])
    >>> downcoding(["sex"], {"sex": ["*"]}, np.array([0, 0]), {"sex": sexes}, 2)[0].certain_for_members
    2
    """
    sizes = np.bincount(class_of_row[class_of_row >= 0], minlength=len(next(iter(labels.values()))))
    results = []
    for name in names:
        if name not in hierarchies:
            continue
        tree = hierarchies[name]
        node_of = {label: node for node, label in enumerate(tree.labels)}
        children = {label: len(tree.children(node)) for label, node in node_of.items()}
        narrowed = certain = members = wrong = 0
        least = 1.0
        for index, (size, label) in enumerate(zip(sizes.tolist(), labels[name], strict=True)):
            many = children.get(label, 0)
            if many < 2 or size < 2:
                continue
            if truth is not None and not _remains(truth[name][class_of_row == index], k, cuts):
                wrong += size
                continue
            share = remaining_share(size, many, k, cuts=cuts)
            if share < 1.0:
                narrowed += size
                least = min(least, share)
            if size == many == 2:
                members += 2  # who knows his own child knows the other's
        results.append(Downcoding(name, int(sizes.sum()), narrowed, least, certain, members, wrong))
    return tuple(results)


def _remains(children: Longs, k: int, cuts: bool) -> bool:
    """Whether the true assignment of a class's rows is among those that a minimal release leaves possible."""
    counts = np.unique(children, return_counts=True)[1].tolist()
    sums = 1
    for count in counts:
        sums |= sums << count
    return len(counts) > 1 and not (cuts and any(sums >> cut & 1 for cut in range(k, len(children) - k + 1)))


def violating_rows(models: Sequence[Model], column: str, groups: Longs, values: Ints, width: int) -> int:
    """How many rows are in groups that violate a model, for one assignment of sensitive values."""
    count = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=count)
    histogram = np.bincount(groups.astype(np.int64) * width + values, minlength=count * width).reshape(count, width)
    classes = Classes(sizes.astype(np.int64), histograms={column: histogram.astype(np.int64)})
    wrong: Mask = np.zeros(count, np.bool_)
    for model in models:
        wrong |= np.asarray(model.violated(classes), np.bool_)
    return int(sizes[wrong].sum())


def minimality(
    column: str,
    values: Ints,
    class_of_row: Longs,
    finer: Sequence[Longs],
    models: Sequence[Model],
    *,
    most_suppressed: int = 0,
    random: np.random.Generator,
    worlds: int = SAMPLED_WORLDS,
    progress: Progress = SILENT,
) -> Minimality:
    """The attacker's beliefs. `finer` are the next finer candidates: the class of every row in each.

    >>> from kanopy.privacy.models import make_models
    >>> ills, zips = np.array([0, 0, 1, 2, 3], np.int32), np.array([0, 0, 1, 1, 1])
    >>> models = make_models(["k:2", "l-distinct:ill:2"])
    >>> found = minimality("ill", ills, np.zeros(5, np.int64), [zips], models, random=np.random.default_rng(1))
    >>> found.believed, found.people, found.promised, found.exact
    (1.0, 2, 0.5, True)
    """
    width = int(values.max(initial=0)) + 1
    published = class_of_row >= 0
    where = [
        np.flatnonzero(class_of_row == class_number) for class_number in range(int(class_of_row.max(initial=-1)) + 1)
    ]
    if any(violating_rows(models, column, groups, values, width) <= most_suppressed for groups in finer):
        return _nothing(column, values, where, models)
    everything = _all_worlds(values, where)
    beliefs = np.zeros((len(values), width))
    rows = np.arange(len(values))
    credible = looked_at = 0
    judged = [
        groups
        for groups in finer
        if violating_rows(_of_sizes(models), column, groups, values, width) <= most_suppressed
    ]
    for index in range(worlds if everything is None else len(everything)):
        progress("minimality", index / max(worlds, 1))
        world = _drawn(values, where, random) if everything is None else everything[index]
        looked_at += 1
        # A finer candidate that fails by its class sizes fails in every world.
        if all(violating_rows(models, column, groups, world, width) > most_suppressed for groups in judged):
            credible += 1
            beliefs[rows, world] += 1
    frequency = np.zeros((len(values), width))
    for members in where:
        frequency[members] = np.bincount(values[members], minlength=width) / len(members)
    promised = _promised(models, column, frequency[published])
    posterior = beliefs / max(credible, 1)
    noise = 0.0 if everything is not None else 3.0 * np.sqrt(0.25 / max(credible, 1))
    above = (posterior[published] > np.maximum(promised, frequency[published]) + noise + 1e-9).any(axis=1)
    return Minimality(
        column, looked_at, credible, float(posterior.max(initial=0.0)), float(frequency.max(initial=0.0)), promised,
        int(above.sum()) if credible else 0, everything is not None,
    )  # fmt: skip


def _nothing(column: str, values: Ints, where: Sequence[Longs], models: Sequence[Model]) -> Minimality:
    """Nothing follows from a release that is not minimal."""
    shares = [np.unique(values[members], return_counts=True)[1] / len(members) for members in where if len(members)]
    highest = max((float(share.max()) for share in shares), default=0.0)
    promised = _promised(models, column, np.array([[highest]]))
    return Minimality(column, 1, 1, highest, highest, promised, 0, True, sum(map(len, where)))


def minimality_by_class(
    column: str,
    values: Ints,
    class_of_row: Longs,
    pieces: Mapping[int, Sequence[Longs]],
    models: Sequence[Model],
    *,
    random: np.random.Generator,
    worlds: int = SAMPLED_WORLDS,
    progress: Progress = SILENT,
) -> Minimality:
    """The same of a local release, class by class: each finer cut of a class (`pieces[c]`: the piece of each of its
    rows) must violate the models."""
    width = int(values.max(initial=0)) + 1
    frequency: Floats = np.zeros(width)
    believed = by_frequency = promised = 0.0
    people = looked_at = credible = not_minimal = 0
    exact = True
    for class_number, cuts in pieces.items():
        progress("minimality", class_number / max(len(pieces), 1))
        members = np.flatnonzero(class_of_row == class_number)
        if not len(members):
            continue
        class_values = values[members]
        frequency = np.bincount(class_values, minlength=width) / len(class_values)
        by_frequency = max(by_frequency, float(frequency.max()))
        limit = _promised(models, column, frequency[None, :])
        promised = max(promised, limit)
        sized = [cut for cut in cuts if not violating_rows(_of_sizes(models), column, cut, class_values, width)]
        if not sized or len(members) > LARGEST_CLASS:
            believed = max(believed, float(frequency.max()))
            continue
        result_of_class = minimality(
            column, class_values, np.zeros(len(class_values), np.int64), sized, models, random=random, worlds=worlds
        )  # fmt: skip
        not_minimal += result_of_class.not_minimal
        if result_of_class.not_minimal:
            believed = max(believed, result_of_class.believed)
            continue
        looked_at += result_of_class.worlds
        credible += result_of_class.credible
        exact &= result_of_class.exact
        believed = max(believed, result_of_class.believed)
        people += result_of_class.people if result_of_class.told else 0
    if not looked_at:
        credible, looked_at, exact = 1, 1, True  # nothing could be cut finer, whatever people have
    return Minimality(column, looked_at, credible, believed, by_frequency, promised, people, exact, not_minimal)


def _of_sizes(models: Sequence[Model]) -> list[Model]:
    return [model for model in models if model.of_sizes]


def _promised(models: Sequence[Model], column: str, frequency: Floats) -> float:
    """The belief that the models allow: 1/l, else the highest share of a value in a class."""
    promises = [
        1.0 / float(limit) for model in models if column in model.sensitive and (limit := getattr(model, "l", None))
    ]
    return max(promises, default=float(frequency.max(initial=0.0)))


def _all_worlds(values: Ints, where: Sequence[Longs]) -> list[Ints] | None:
    """All ways to give the values of each class to its people; `None` if there are too many."""
    count = 1
    for members in where:
        counts = np.unique(values[members], return_counts=True)[1].tolist()
        count *= factorial(len(members)) // prod(map(factorial, counts)) if len(members) < 100 else MOST_WORLDS + 1
        if count > MOST_WORLDS:
            return None
    worlds_found = [values.copy()]
    for members in where:
        orders = _orders(np.sort(values[members]).tolist())
        spread = []
        for world in worlds_found:
            for order in orders:
                changed = world.copy()
                changed[members] = order
                spread.append(changed)
        worlds_found = spread
    return worlds_found


def _orders(values: list[int]) -> list[list[int]]:
    """All different orders of some values."""
    if len(values) < 2:
        return [values]
    orders = []
    for index, value in enumerate(values):
        if index and values[index - 1] == value:
            continue
        orders += [[value, *rest] for rest in _orders(values[:index] + values[index + 1 :])]
    return orders


def _drawn(values: Ints, where: Sequence[Longs], random: np.random.Generator) -> Ints:
    """One world: the values of each class given to its people by chance."""
    world = values.copy()
    for members in where:
        world[members] = random.permutation(values[members])
    return world
