"""Microaggregation of quasi-identifiers: classes of similar rows publish the means of their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints, Longs, Mask, says_missing
from kanopy._core.classes import Domain
from kanopy._core.grouping.groups import means, renumbered, squared_error
from kanopy._core.grouping.mdav_kernel import mdav
from kanopy._core.grouping.search_kernel import anneal
from kanopy._core.grouping.similar import (
    MDAV,
    MEAN,
    MEDIAN,
    RANGE,
    STANDARDISED,
    in_spreads,
    indicators,
    published_numbers_of,
    similar_groups,
)
from kanopy._core.local_recoding import GroupLabels, ancestors, recoding_from_columns
from kanopy._core.neighbours_kernel import nearest_rows
from kanopy._errors import JobError, some
from kanopy._parameter_types import Number, OneOf, Optional
from kanopy._progress import Progress
from kanopy.search.clustering.costs import leaf_order, require_one_top
from kanopy.search.merging import PARTNERS, unite_unsafe
from kanopy.search.partition_solution import check_k, release
from kanopy.search.solution import About, Algorithm, Solution

if TYPE_CHECKING:
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.search.problem import Problem

EUCLIDEAN, GOWER = DISTANCES = ("euclidean", "gower")


@dataclass(frozen=True)
class Microaggregation(Algorithm):
    """Classes of `k` or more similar rows publish the mean (or median) of each numeric quasi-identifier.

    Without a `variant`, one column is grouped at its optimum (Hansen and Mukherjee 2003), and several by a local search
    that starts from MDAV; `mdav` is the classic method (Domingo-Ferrer and Mateo-Sanz 2002). Columns are compared in
    standard deviations. With Gower's distance they are compared by their range, and columns of categories are allowed
    beside them, which publish nodes of their hierarchies. Missing values are grouped apart where enough rows lack them;
    a class of missing and known values publishes `*`. Classes that other models find unsafe join their nearest.
    Means tell no row's own value, but who knows all rows of a class but one can work that one out.
    """

    variant: Annotated[str | None, Optional(OneOf(MDAV)), "mdav: the classic method; none: the better one"] = None
    publish: Annotated[str, OneOf(MEAN, MEDIAN), "what a class publishes of a number"] = MEAN
    distance: Annotated[str, OneOf(*DISTANCES), "how rows are compared; gower allows columns of categories"] = EUCLIDEAN
    effort: Annotated[float, Number(above=0, most=1000), "multiplies the work of the local search"] = 1.0
    name, recoding = "microaggregation", "local"
    averages = True
    about = About(
        does="forms classes of k similar rows and publishes the means of their numbers",
        source="Domingo-Ferrer, Mateo-Sanz 2002; Hansen, Mukherjee 2003", search="simulated annealing from MDAV",
        lowers="the squared error of the numbers", suppresses=False, level_limits=False,
        attributes="numbers without a hierarchy; beside them, with Gower's distance, hierarchies that nest",
    )  # fmt: skip

    @classmethod
    def kernels(cls) -> tuple[Any, ...]:
        return mdav, anneal

    def search(self, problem: Problem, progress: Progress) -> Solution:
        """Group the rows, unite unsafe classes, publish what the classes have in common."""
        domain = problem.domain
        rows = np.flatnonzero(domain.tuple_of_row >= 0)
        check_k(problem.k, len(rows))
        leaves = domain.tuples[domain.tuple_of_row[rows]]
        numbers = [leaf_numbers(hierarchy) for hierarchy in domain.hierarchies]
        nominal = np.array([number is None for number in numbers])
        if nominal.any():
            require_gower(self, [name for name, is_nominal in zip(domain.names, nominal, strict=True) if is_nominal])
            problem.require_nesting()
            for hierarchy, category in zip(domain.hierarchies, nominal, strict=True):
                if category:
                    require_one_top(hierarchy)
        values = np.column_stack(
            [
                leaves[:, j].astype(np.float64) if number is None else number[leaves[:, j]]
                for j, number in enumerate(numbers)
            ]
        )
        weights = np.array(problem.weights or [1.0] * domain.width)
        # A column of missing values alone has no spread; it is 0 for all.
        x = in_spreads(values, nominal, weights, RANGE if self.distance == GOWER else STANDARDISED)
        group = self._groups(x, nominal, weights, problem.k, progress)
        space = Centroids(rows, _features(x, nominal, weights))
        group, united = unite_unsafe(space, group, problem, progress)
        columns = [
            _ancestors_of(domain.hierarchies[j], leaves[:, j], group)
            if column_numbers is None
            else _averages_of(domain, j, leaves[:, j], column_numbers, group, self.publish)
            for j, column_numbers in enumerate(numbers)
        ]
        of_row = np.full(domain.rows, -1, np.int32)
        of_row[rows] = group
        notes = [f"{united} classes were united with their nearest to satisfy the privacy models."] if united else []
        recoding = recoding_from_columns(domain, of_row, columns, (~nominal).tolist())
        return release(self.name, problem, recoding, notes=[*notes, *_lost(x[:, ~nominal], group)])

    def _groups(self, x: Floats, nominal: Mask, weights: Floats, k: int, progress: Progress) -> Ints:
        """Groups of rows that have the same columns missing; fewer than k where too few have."""
        is_present = ~np.isnan(x)
        patterns, pattern = np.unique(is_present, axis=0, return_inverse=True)
        group, groups = np.zeros(len(x), np.int32), 0
        for number, present in enumerate(patterns):
            rows_of_pattern = np.flatnonzero(pattern.reshape(-1) == number)
            group_of_rows = np.zeros(len(rows_of_pattern), np.int32)
            if len(rows_of_pattern) >= 2 * k and present.any():
                group_of_rows = similar_groups(
                    x[rows_of_pattern][:, present], k, nominal[present], variant=self.variant, weights=weights[present],
                    effort=self.effort, of_rows=len(x),
                    progress=progress,
                )  # fmt: skip
            group[rows_of_pattern] = group_of_rows + groups
            groups += int(group_of_rows.max()) + 1
        return group


def require_gower(asked: Any, categories: list[str]) -> None:
    """Refuse columns of categories where rows are compared by numbers alone."""
    if asked.distance == EUCLIDEAN:
        verb = "does" if len(categories) == 1 else "do"
        raise JobError(
            f"The algorithm {asked.name!r} publishes means, and {some(categories)} {verb} not hold plain numbers. Give "
            "distance = 'gower' (--param distance=gower), which compares categories too and publishes their "
            "hierarchies, or use an algorithm that generalizes, such as 'mondrian'."
        )


def leaf_numbers(hierarchy: Hierarchy) -> Floats | None:
    """The number of each leaf, NaN for missing values; `None` if the leaves are no plain numbers.

    >>> from kanopy.hierarchy.builders.registry import build_hierarchy
    >>> leaf_numbers(build_hierarchy([1, 5], method="widths", widths=[2]))
    array([1., 5.])
    """
    if hierarchy.low is None or hierarchy.high is None:
        return None
    low, high = hierarchy.low[: hierarchy.size], hierarchy.high[: hierarchy.size]
    if (low != high).any():
        return None
    says_nothing = np.array([says_missing(value) for value in hierarchy.values])
    return None if says_nothing.all() else np.where(says_nothing, np.nan, low.astype(np.float64))


@dataclass(eq=False)
class Centroids:
    """Classes of rows as points: uniting two costs what the squared error grows by (Ward 1963)."""

    rows: Longs
    features: Floats
    _class_of: Ints = field(default_factory=lambda: np.zeros(0, np.int32))

    def settle(self, class_of: Ints) -> Ints:
        """The same classes, numbered without gaps."""
        is_classed = class_of >= 0
        settled = np.full(len(class_of), -1, np.int32)
        if is_classed.any():
            settled[is_classed] = renumbered(class_of[is_classed])
        self._class_of = settled
        return settled

    def partners(self, asking: Longs) -> tuple[Ints, Floats]:
        """The nearest classes of some, and what uniting costs."""
        is_classed = self._class_of >= 0
        sizes = np.bincount(self._class_of[is_classed]).astype(np.float64)
        centre = means(self.features[is_classed], self._class_of[is_classed])
        near, far = nearest_rows(centre, max(1, min(PARTNERS, len(sizes) - 1)))
        near, far = near[asking], far[asking]
        own_sizes, other = sizes[asking][:, None], sizes[near]
        return near, np.where(near >= 0, far * own_sizes * other / (own_sizes + other), np.inf)


def _features(x: Floats, nominal: Mask, weights: Floats) -> Floats:
    """Numbers, which of them are missing, and (unless they are too many) categories, as columns to compare by."""
    numbers, is_missing = x[:, ~nominal], np.isnan(x[:, ~nominal])
    missing = is_missing[:, is_missing.any(axis=0)] * np.sqrt(0.5)
    coded = None
    if nominal.any():
        coded = indicators(x[:, nominal], np.ones(int(nominal.sum()), np.bool_), weights[nominal])
    parts = [np.nan_to_num(numbers), missing, *([] if coded is None else [coded])]
    features = np.column_stack(parts)
    return np.ascontiguousarray(features if features.shape[1] else np.zeros((len(x), 1)), np.float64)


def _averages_of(
    domain: Domain, j: int, leaves: Ints, number_of_leaf: Floats, group: Ints, publish: str
) -> GroupLabels:
    """What groups publish of a numeric column; `*` where some of a group have no value.

    A label covers the values between the least and the greatest of its class, as a range would.
    """
    hierarchy, values, count = domain.hierarchies[j], number_of_leaf[leaves], int(group.max()) + 1
    made = np.full(count, np.nan)
    made[group] = published_numbers_of(values, group, publish)
    low, high, missing_count = np.full(count, np.inf), np.full(count, -np.inf), np.zeros(count, np.int64)
    is_known = ~np.isnan(values)
    np.minimum.at(low, group[is_known], values[is_known])
    np.maximum.at(high, group[is_known], values[is_known])
    np.add.at(missing_count, group[~is_known], 1)
    leaf = np.zeros(count, np.int32)
    leaf[group] = leaves
    ranked = np.sort(number_of_leaf[~np.isnan(number_of_leaf)])
    whole = float(ranked[-1] - ranked[0]) or 1.0
    none, mixed, single = np.isinf(low), (missing_count > 0) & ~np.isinf(low), (low == high) & (missing_count == 0)
    alone = none | single
    covered = np.searchsorted(ranked, high, "right") - np.searchsorted(ranked, low, "left")
    labels = [
        SUPPRESSED_LABEL if some_missing else hierarchy.values[one_leaf] if one else written(mean)
        for some_missing, one_leaf, one, mean in zip(mixed, leaf, alone, made.tolist(), strict=True)
    ]
    return GroupLabels(
        np.arange(count),
        tuple(labels),
        np.where(mixed, 1.0, np.where(alone, 1, covered) / hierarchy.size),
        np.where(alone, leaf, -1).astype(np.int32),
        np.where(mixed, 1.0, np.where(alone, 0.0, (np.where(none, 0, high) - np.where(none, 0, low)) / whole)),
    )


def written(number: float) -> str:
    """A mean as it is published, to twelve digits.

    >>> written(2.0), written(0.1 + 0.2)
    ('2', '0.3')
    """
    short = float(f"{number:.12g}")
    return str(int(short)) if short.is_integer() and abs(short) < 2**53 else repr(short)


def _ancestors_of(hierarchy: Hierarchy, leaves: Ints, group: Ints) -> GroupLabels:
    """The lowest node over all values of each group."""
    leaf_at = leaf_order(hierarchy)
    position_of_leaf = np.empty(hierarchy.size, np.int64)
    position_of_leaf[leaf_at] = np.arange(hierarchy.size)
    count = int(group.max()) + 1
    first, last = np.full(count, hierarchy.size), np.full(count, -1)
    np.minimum.at(first, group, position_of_leaf[leaves])
    np.maximum.at(last, group, position_of_leaf[leaves])
    return ancestors(hierarchy, leaf_at[first], leaf_at[last])


def _lost(x: Floats, group: Ints) -> list[str]:
    """How much of the variance of the numbers is within classes."""
    whole = np.nansum((x - np.nanmean(x, axis=0)) ** 2) if x.shape[1] else 0.0
    if not whole or np.isnan(x).any():
        return []
    return [f"Classes differ from their means by {squared_error(x, group) / whole:.2%} of the variance (SSE/SST)."]
