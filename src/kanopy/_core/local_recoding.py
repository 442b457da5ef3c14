"""The recoding of a clustering: every group publishes, per attribute, one hierarchy node or one range of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import SUPPRESSED_LABEL, Floats, Ints, says_missing
from kanopy._core.classes import Domain, Recoding
from kanopy._core.numbering import number_rows
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class LocalRecoding(Recoding):
    """A recoding that also knows the extent of its labels.

    `extents[j][code]` is the size of a label over the size of the whole attribute: `max - min` for numbers,
    values covered minus one for categories; 0 for a single value, 1 for the top.
    """

    extents: tuple[Floats, ...] = ()

    @cached_property
    def group_extents(self) -> Floats:
        """`[group, attribute]`: what the losses of clusterings are made of."""
        return np.column_stack([extent[self.codes[:, j]] for j, extent in enumerate(self.extents)])


def node_extents(hierarchy: Hierarchy) -> Floats:
    """Per node its size over the size of the largest node; all 0 if the attribute does not vary.

    >>> node_extents(Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])).tolist()
    [0.0, 0.0, 0.0, 0.5, 0.0, 1.0]
    """
    if hierarchy.low is not None and hierarchy.high is not None:
        return hierarchy.interval_shares
    sizes = hierarchy.leaf_counts.astype(np.float64) - 1
    return np.asarray(sizes / max(1.0, float(sizes.max())), np.float64)


def with_extents(domain: Domain, recoding: Recoding) -> LocalRecoding:
    """Any recoding whose labels are hierarchy nodes, with extents, so that the same losses apply to it."""
    if isinstance(recoding, LocalRecoding):
        return recoding
    extents = tuple(node_extents(h)[nodes] for h, nodes in zip(domain.hierarchies, recoding.nodes, strict=True))
    return LocalRecoding(
        recoding.group_of_row, recoding.codes, recoding.labels, recoding.shares, recoding.nodes, recoding.multiplicity,
        extents=extents,
    )  # fmt: skip


def recoding_from_ends(
    domain: Domain, group_of_row: Ints, first: Ints, last: Ints, free: Sequence[bool]
) -> LocalRecoding:
    """The recoding of groups given by the outermost values of each attribute (`first[group, j]`, `last[group, j]`).

    With a hierarchy a group publishes the lowest common ancestor of the two, without one the range between them.
    """
    columns = [
        _ranges(hierarchy, np.unique(domain.tuples[:, j]), first[:, j], last[:, j])
        if free[j]
        else ancestors(hierarchy, first[:, j], last[:, j])
        for j, hierarchy in enumerate(domain.hierarchies)
    ]
    return recoding_from_columns(domain, group_of_row, columns)


def recoding_from_columns(
    domain: Domain, group_of_row: Ints, columns: Sequence[GroupLabels], averaged: Sequence[bool] = ()
) -> LocalRecoding:
    """The recoding of groups whose labels are known, attribute by attribute."""
    return LocalRecoding(
        group_of_row,
        np.column_stack([column.codes for column in columns]).astype(np.int32),
        tuple(column.labels for column in columns),
        tuple(column.shares for column in columns),
        tuple(column.nodes for column in columns),
        domain.multiplicity,
        tuple(averaged),
        tuple(column.extents for column in columns),
    )


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """What the groups publish of one attribute: `labels[codes[group]]`, and per label what `LocalRecoding` says."""

    codes: npt.NDArray[np.integer[Any]]
    labels: tuple[str, ...]
    shares: Floats
    nodes: Ints
    extents: Floats


def ancestors(hierarchy: Hierarchy, first: Ints, last: Ints) -> GroupLabels:
    """The lowest common ancestors of the outermost values of groups."""
    used, codes = np.unique(hierarchy.common_ancestors(first, last), return_inverse=True)
    return GroupLabels(
        codes.reshape(-1),
        tuple(hierarchy.label(int(node)) for node in used),
        hierarchy.leaf_counts[used] / hierarchy.size,
        used.astype(np.int32),
        node_extents(hierarchy)[used],
    )


def _ranges(hierarchy: Hierarchy, present: Ints, first: Ints, last: Ints) -> GroupLabels:
    """Ranges of numbers; a range of one value is that value. Shares count the values of the domain it covers."""
    assert hierarchy.low is not None
    codes, at, _ = number_rows([first, last], ascending=True)
    pairs = np.column_stack([first[at], last[at]])
    spot = np.empty(hierarchy.size, np.int64)
    spot[np.argsort(hierarchy.low[: hierarchy.size], kind="stable")] = np.arange(hierarchy.size)
    low, high = hierarchy.low[pairs[:, 0]], hierarchy.low[pairs[:, 1]]
    whole = float(hierarchy.low[present].max() - hierarchy.low[present].min())
    single = pairs[:, 0] == pairs[:, 1]
    names = hierarchy.values
    return GroupLabels(
        codes,
        tuple(_range_label(names[a], names[b]) for a, b in pairs),
        (spot[pairs[:, 1]] - spot[pairs[:, 0]] + 1) / hierarchy.size,
        np.where(single, pairs[:, 0], -1).astype(np.int32),
        (high - low).astype(np.float64) / (whole or 1.0),
    )


def _range_label(low: str, high: str) -> str:
    """The range between two values; with a missing value in it nothing true can be said but `*`."""
    if low == high:
        return low
    return SUPPRESSED_LABEL if says_missing(low) or says_missing(high) else f"[{low}, {high}]"
