"""Losses by the certainty that is left: NCP and GCP (Xu et al. 2006, Ghinita et al. 2007), LM (Iyengar 2002)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy._arrays import Floats
from kanopy._core.classes import Domain
from kanopy._core.local_recoding import LocalRecoding


def certainty_penalties(domain: Domain, recoding: LocalRecoding) -> Floats:
    """NCP per group and attribute: a range over the whole range for numbers, and for categories the share of all
    values that a label stands for (0 for a single value).

    >>> import numpy as np
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy._core.local_recoding import recoding_from_ends
    >>> tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    >>> one = Domain.of_column("letter", "abcc", tree)
    >>> ends = np.array([[0], [2]], np.int32), np.array([[1], [2]], np.int32)
    >>> release = recoding_from_ends(one, np.array([0, 0, 1, 1], np.int32), *ends, [False])
    >>> certainty_penalties(one, release).tolist()
    [[0.5], [0.0]]
    """
    columns = []
    for j, hierarchy in enumerate(domain.hierarchies):
        penalty = recoding.extents[j]
        if hierarchy.low is None:
            penalty = np.where(penalty > 0, recoding.shares[j], 0.0)
        columns.append(penalty[recoding.codes[:, j]])
    return np.column_stack(columns)


def global_certainty_penalty(domain: Domain, recoding: LocalRecoding, weights: Sequence[float] | None = None) -> float:
    """GCP: the mean NCP over all records and attributes, from 0 (as collected) to 1 (nothing left).

    `weights` makes some attributes count more (Xu et al. 2006). Suppressed records count 1.
    """
    share = np.asarray(weights if weights else [1.0] * domain.width, np.float64)
    return _mean_over_records(certainty_penalties(domain, recoding) @ (share / share.sum()), recoding)


def loss_metric(recoding: LocalRecoding) -> float:
    """LM: per cell (values covered - 1) / (values - 1), or range over range for numbers; the mean over all cells.

    Suppressed records count 1 (Iyengar 2002).
    """
    return _mean_over_records(recoding.group_extents.mean(axis=1), recoding)


def _mean_over_records(per_group: Floats, recoding: LocalRecoding) -> float:
    rows = recoding.rows
    spent = float((per_group * recoding.group_sizes).sum()) + recoding.suppressed_rows
    return spent / rows if rows else 0.0
