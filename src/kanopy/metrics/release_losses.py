"""What a release loses, whatever algorithm made it: every metric from the recoding alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats
from kanopy._core.classes import Domain, Recoding
from kanopy.metrics import full_domain


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


def release_losses(
    domain: Domain, recoding: Recoding, weights: Sequence[float], levels: Sequence[int] | None = None
) -> dict[str, float]:
    """Every metric that is defined for a release, by name, as searches compute it.

    `precision`, `entropy` and `height` need the level of each published value: that of its column where `levels` says
    so (full-domain releases), else the lowest one at which its hierarchy node stands. They are left out for labels that
    do not come from a hierarchy, and `height` where columns have no level.
    """
    losses = attribute_losses(domain, recoding)
    classes = recoding.classes
    squares = int(np.dot(classes.sizes, classes.sizes))
    suppressed = recoding.suppressed_rows
    result = {
        "loss": float(full_domain.Loss().combine(losses, weights)),
        "loss-geometric": float(full_domain.GeometricLoss().combine(losses, weights)),
        "aecs": full_domain.AverageClassSize().score(domain.rows, classes.count, suppressed, squares),
        "discernibility": full_domain.Discernibility().score(domain.rows, classes.count, suppressed, squares),
    }
    if recoding.nodes and all(len(nodes) and (nodes >= 0).all() for nodes in recoding.nodes):
        for metric in (
            full_domain.Precision(),
            full_domain.Entropy(),
            *([] if levels is None else [full_domain.Height()]),
        ):
            losses = np.array([_loss(metric, domain, recoding, j, levels) for j in range(domain.width)])
            result[metric.name] = float(metric.combine(losses, weights))
    return result


def _loss(
    metric: full_domain.AttributeMetric, domain: Domain, recoding: Recoding, j: int, levels: Sequence[int] | None
) -> float:
    """What a column loses: all that can be lost, less what the published rows keep of it."""
    hierarchy, marginal = domain.hierarchies[j], domain.marginals[j]
    cost = metric.costs(hierarchy, marginal, domain.rows)
    level = 0 if levels is None else levels[j]
    # The labels of a full-domain release are those of its level, in the same order.
    keep = cost.keep_of_nodes(hierarchy)[recoding.nodes[j]] if levels is None else cost.extras[level]
    retained = _total(recoding.group_sizes, keep[recoding.codes[:, j]])
    return float(cost.loss(cost.whole(hierarchy, marginal, level) - retained))


def _total(sizes: npt.NDArray[np.int64], values: Floats) -> float:
    """The sum of products. Not `np.dot`: on a busy machine its threads wait longer than the sum takes."""
    return float((sizes * values).sum())
