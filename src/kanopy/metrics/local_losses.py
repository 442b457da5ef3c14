"""The losses of a local recoding by name, for reports and `--json`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kanopy._arrays import Floats, Longs
from kanopy._core.classes import Domain
from kanopy._core.local_recoding import LocalRecoding
from kanopy.metrics import certainty, cluster_loss

Measured = Callable[[Domain, LocalRecoding, int], float]


def merged_classes(recoding: LocalRecoding) -> tuple[Longs, Floats]:
    """Sizes and extents of the classes that remain when groups publishing the same labels are one."""
    used = recoding.class_of_group >= 0
    _, first = np.unique(recoding.class_of_group[used], return_index=True)
    return recoding.classes.sizes, recoding.group_extents[np.flatnonzero(used)[first]]


LOCAL_LOSSES: dict[str, Measured] = {
    "NTIL": lambda domain, recoding, k: cluster_loss.normalized_total_loss(
        recoding.group_sizes, recoding.group_extents
    ),
    "NIL1": lambda domain, recoding, k: cluster_loss.average_extent(recoding.group_extents),
    "NILinf": lambda domain, recoding, k: cluster_loss.largest_extent(recoding.group_extents),
    "DM": lambda domain, recoding, k: cluster_loss.discernibility(recoding.group_sizes, recoding.suppressed_rows),
    "AVG": lambda domain, recoding, k: cluster_loss.average_class_size(recoding.group_sizes, k),
    "NIL1_merged": lambda domain, recoding, k: cluster_loss.average_extent(merged_classes(recoding)[1]),
    "DM_merged": lambda domain, recoding, k: cluster_loss.discernibility(
        recoding.classes.sizes, recoding.suppressed_rows
    ),
    "AVG_merged": lambda domain, recoding, k: cluster_loss.average_class_size(recoding.classes.sizes, k),
    "LM": lambda domain, recoding, k: certainty.loss_metric(recoding),
    "GCP": lambda domain, recoding, k: certainty.global_certainty_penalty(domain, recoding),
}


def local_losses(domain: Domain, recoding: LocalRecoding, k: int) -> dict[str, float]:
    """All losses of a local recoding.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy._core.local_recoding import recoding_from_ends
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    >>> one = Domain.of_column("letter", "abcc", tree)
    >>> ends = np.array([[0], [2]], np.int32), np.array([[1], [2]], np.int32)
    >>> release = recoding_from_ends(one, np.array([0, 0, 1, 1], np.int32), *ends, [False])
    >>> losses = local_losses(one, release, 2)
    >>> losses["NTIL"], losses["DM"], losses["AVG"]
    (0.25, 8, 1.0)
    """
    return {name: measure(domain, recoding, k) for name, measure in LOCAL_LOSSES.items()}
