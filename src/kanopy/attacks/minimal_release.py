"""The minimality attack and downcoding on a release: classes and finer candidates from its labels and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Longs
from kanopy._progress import SILENT, Progress
from kanopy.attacks.minimal import Downcoding, MinimalReport, downcoding, minimality, minimality_by_class

if TYPE_CHECKING:
    import polars as pl

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.privacy.base import Model

MOST_CLASSES = 3_000
"""Classes of a local release that worlds are looked for in, the smallest first."""


def minimal_release(
    original: pl.DataFrame,
    released: pl.DataFrame,
    partner: Longs,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    k: int,
    most_suppressed: int = 0,
    local: bool | None = None,
    random: np.random.Generator,
    progress: Progress = SILENT,
) -> MinimalReport:
    """Both attacks. `partner[i]` is the released row of original row i, or -1 where it was left out.

    >>> import polars as pl
    >>> from kanopy import Hierarchy
    >>> from kanopy.privacy.models import make_models
    >>> before = pl.DataFrame({"zip": list("aabbb"), "ill": ["HIV", "HIV", "flu", "cold", "ok"]})
    >>> found = minimal_release(before, before.with_columns(zip=pl.lit("*")), np.arange(5), quasi=["zip"], k=2,
    ...     sensitive=["ill"], hierarchies={"zip": Hierarchy.flat(["a", "b"])},
    ...     models=make_models(["k:2", "l-distinct:ill:2"]), local=False, random=np.random.default_rng(1))
    >>> found.minimality[0].believed, found.minimality[0].people
    (1.0, 2)
    """
    from kanopy._table.column import as_labels, column_values

    names = [name for name in quasi if name in hierarchies and name in released.columns]
    labels = {name: as_labels(released[name]).to_list() for name in names}
    leaves = {name: _leaves(original, name, hierarchies[name]) for name in names}
    of_row = {name: [labels[name][row] if row >= 0 else SUPPRESSED_LABEL for row in partner.tolist()] for name in names}
    levels = {name: _level(hierarchies[name], leaves[name], of_row[name], names, of_row) for name in names}
    if local is None:
        local = any(level is None for level in levels.values())
    keys = list(zip(*(of_row[name] for name in names), strict=True))
    number = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    class_of_row = np.array([number[key] for key in keys], np.int64)
    hidden = number.get(tuple(SUPPRESSED_LABEL for _ in names))
    results = []
    for name in sensitive:
        if name not in released.columns:
            continue
        codes = np.asarray(column_values(original[name]).sorted_as_text()[1], np.int32)
        about = [model for model in models if model.of_sizes or set(model.sensitive) <= {name}]
        if local:
            pieces = _pieces(class_of_row, len(number), names, hierarchies, leaves, of_row, hidden)
            results.append(
                minimality_by_class(
                    name, codes, class_of_row, pieces, about, random=random, worlds=500, progress=progress
                )
            )
            continue
        finer = _finer(names, hierarchies, leaves, {column: int(level or 0) for column, level in levels.items()})
        results.append(
            minimality(
                name, codes, class_of_row, finer, about, most_suppressed=most_suppressed, random=random,
                worlds=_worlds(len(codes)), progress=progress,
            )
        )  # fmt: skip
    coded: tuple[Downcoding, ...] = ()
    if local:
        labels_by_column = {name: [key[index] for key in number] for index, name in enumerate(names)}
        sized = all(model.of_sizes for model in models)
        truth = {name: _children_of(hierarchies[name], leaves[name], of_row[name]) for name in names}
        visible_class = np.where(class_of_row == hidden, -1, class_of_row)
        coded = downcoding(names, labels_by_column, visible_class, hierarchies, k, truth, cuts=sized)
    return MinimalReport(local, tuple(results), coded)


def _worlds(rows: int) -> int:
    """Fewer worlds of large tables, in which each takes long."""
    return max(200, min(2_000, 20_000_000 // max(rows, 1)))


def _leaves(original: pl.DataFrame, name: str, tree: Hierarchy) -> Longs:
    """The leaf of every original value; -1 where the hierarchy does not know it."""
    from kanopy._table.column import as_labels

    return np.array([tree.index.get(str(label), -1) for label in as_labels(original[name]).to_list()], np.int64)


def _level(
    tree: Hierarchy, leaves: Longs, labels: Sequence[str], names: Sequence[str], of_row: Mapping[str, Sequence[str]]
) -> int | None:
    """The one level of a column, where all rows that are not suppressed have it; the lowest that fits."""
    visible_rows = [row for row in range(len(labels)) if any(of_row[name][row] != SUPPRESSED_LABEL for name in names)]
    if not tree.has_table and not tree.nested:
        return None
    rows = np.array([row for row in (visible_rows or range(len(labels))) if leaves[row] >= 0], np.int64)
    wanted = [labels[row] for row in rows.tolist()]
    for level in range(tree.height + 1):
        nodes = tree.table[level][leaves[rows]]
        if all(tree.label(int(node)) == label for node, label in zip(nodes.tolist(), wanted, strict=True)):
            return level
    return None


def _finer(
    names: Sequence[str], hierarchies: Mapping[str, Hierarchy], leaves: Mapping[str, Longs], levels: Mapping[str, int]
) -> list[Longs]:
    """The class of every row in each candidate that is one level finer in one column."""
    finer_classes = []
    for finer in names:
        if not levels[finer]:
            continue
        columns = []
        for name in names:
            level = levels[name] - (name == finer)
            nodes = np.asarray(hierarchies[name].table[level], np.int64)
            columns.append(np.where(leaves[name] >= 0, nodes[leaves[name]], -1))
        finer_classes.append(
            np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel().astype(np.int64)
        )
    return finer_classes


def _pieces(
    class_of_row: Longs,
    count: int,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    leaves: Mapping[str, Longs],
    of_row: Mapping[str, Sequence[str]],
    hidden: int | None,
) -> dict[int, list[Longs]]:
    """Per class the ways to cut it by the children of one of its labels: the piece of each of its rows."""
    below = {name: _children_of(hierarchies[name], leaves[name], of_row[name]) for name in names}
    order = np.argsort(class_of_row, kind="stable")
    starts = np.searchsorted(class_of_row[order], np.arange(count + 1))
    pieces: dict[int, list[Longs]] = {}
    sizes = np.diff(starts)
    for class_number in np.argsort(sizes, kind="stable")[:MOST_CLASSES].tolist():
        if class_number == hidden:
            continue
        members = np.sort(order[starts[class_number] : starts[class_number + 1]])
        cuts = []
        for name in names:
            children = below[name][members]
            if (children >= 0).all() and len(np.unique(children)) > 1:
                cuts.append(np.unique(children, return_inverse=True)[1].ravel().astype(np.int64))
        pieces[class_number] = cuts
    return pieces


def _children_of(tree: Hierarchy, leaves: Longs, labels: Sequence[str]) -> Longs:
    """Per row the child of its label's node that its value lies below; -1 where there is none."""
    known_children: dict[tuple[int, str], int] = {}
    parent = tree.tree()
    children = np.full(len(leaves), -1, np.int64)
    for row, (leaf, label) in enumerate(zip(leaves.tolist(), labels, strict=True)):
        if leaf < 0:
            continue
        if (leaf, label) not in known_children:
            child, node = -1, leaf
            while node >= 0 and tree.label(node) != label:
                child, node = node, int(parent[node])
            known_children[leaf, label] = child if node >= 0 else -1
        children[row] = known_children[leaf, label]
    return children
