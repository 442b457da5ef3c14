"""What a release loses, whatever algorithm made it: every metric from the recoding alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats
from kanopy._core.classes import Domain, Recoding
from kanopy.metrics.full_domain import AverageClassSize, Discernibility, GeometricLoss, Loss


def attribute_losses(domain: Domain, recoding: Recoding) -> Floats:
    """Per attribute, the mean share of its domain that the published values cover, as in `Loss`."""
    rows = domain.rows
    sizes = recoding.group_sizes
    losses = np.zeros(domain.width)
    for j, hierarchy in enumerate(domain.hierarchies):
        covered = _total(sizes, recoding.shares[j][recoding.codes[:, j]]) + recoding.suppressed_rows
        lowest = rows / hierarchy.size
        if rows > lowest:
            losses[j] = max(0.0, (covered - lowest) / (rows - lowest))
    return losses


def column_losses(domain: Domain, recoding: Recoding) -> dict[str, float]:
    """`loss` per quasi-identifier, 0 (as it was) to 1 (nothing left)."""
    return dict(zip(domain.names, attribute_losses(domain, recoding).tolist(), strict=True))


def release_losses(domain: Domain, recoding: Recoding, weights: Sequence[float]) -> dict[str, float]:
    """Every metric that is defined for a release, by name.

    `precision`, `entropy` and `height` need the level of each published value; they are left out for labels that
    do not come from a hierarchy.
    """
    losses = attribute_losses(domain, recoding)
    classes = recoding.classes
    squares = int(np.dot(classes.sizes, classes.sizes))
    suppressed = recoding.suppressed_rows
    result = {
        "loss": float(Loss().combine(losses, weights)),
        "loss-geometric": float(GeometricLoss().combine(losses, weights)),
        "aecs": AverageClassSize().score(domain.rows, classes.count, suppressed, squares),
        "discernibility": Discernibility().score(domain.rows, classes.count, suppressed, squares),
    }
    if all(len(nodes) and (nodes >= 0).all() for nodes in recoding.nodes) and recoding.nodes:
        result["precision"] = _precision(domain, recoding, weights)
        result["entropy"] = _entropy(domain, recoding, weights)
    return result


def _total(sizes: npt.NDArray[np.int64], values: Floats) -> float:
    """The sum of products. Not `np.dot`: on a busy machine its threads wait longer than the sum takes."""
    return float((sizes * values).sum())


def _mean(losses: Sequence[float], weights: Sequence[float]) -> float:
    return float(np.dot(losses, weights) / sum(weights))


def _precision(domain: Domain, recoding: Recoding, weights: Sequence[float]) -> float:
    losses = []
    for j, hierarchy in enumerate(domain.hierarchies):
        height = max(hierarchy.height, 1)
        part = _lowest_level_of_nodes(domain, j)[recoding.nodes[j]] / height
        covered = _total(recoding.group_sizes, part[recoding.codes[:, j]]) + recoding.suppressed_rows
        losses.append(covered / domain.rows)
    return _mean(losses, weights)


def _lowest_level_of_nodes(domain: Domain, j: int) -> Floats:
    """The lowest level at which each node appears."""
    hierarchy = domain.hierarchies[j]
    level = np.zeros(hierarchy.node_count)
    for i in range(hierarchy.height, -1, -1):
        level[hierarchy.level(i).nodes] = i
    return level


def _entropy(domain: Domain, recoding: Recoding, weights: Sequence[float]) -> float:
    losses = []
    kept_rows = domain.rows - domain.excluded_rows
    for j, marginal in enumerate(domain.marginals):
        under = _rows_under_nodes(domain, j)
        present = marginal[marginal > 0]
        most = float((present * np.log2(kept_rows / present)).sum())
        gain = np.zeros(len(recoding.nodes[j]))
        rows = under[recoding.nodes[j]]
        gain[rows > 0] = np.log2(kept_rows / rows[rows > 0])
        kept = _total(recoding.group_sizes, gain[recoding.codes[:, j]])
        # Rows suppressed from the start cost as much as the average suppressed row.
        excluded = domain.excluded_rows * (most / kept_rows)
        whole = most + excluded
        losses.append((most - kept + excluded) / whole if whole > 0 else 0.0)
    return _mean(losses, weights)


def _rows_under_nodes(domain: Domain, j: int) -> Floats:
    """How many rows hold a value under each node of the hierarchy."""
    hierarchy, marginal = domain.hierarchies[j], domain.marginals[j]
    rows = np.zeros(hierarchy.node_count)
    for i in range(hierarchy.height + 1):
        level = hierarchy.level(i)
        rows[level.nodes] = np.bincount(level.codes, weights=marginal, minlength=level.size)
    return rows
