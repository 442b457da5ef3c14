"""The trees that cuts run through: per column the hierarchy between its level limits, for the values that occur."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.classes import Domain, Records
from kanopy._core.histograms import summed
from kanopy._core.numbering import Numbered, number_rows
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import AttributeCosts, AttributeMetric, ClassMetric, Height, Loss
from kanopy.search.problem import Problem


@dataclass(frozen=True, eq=False)
class Tree:
    """One column's tree, its nodes numbered so that parents come before children.

    A node under which the values of the table do not part (a single child) is one with that child, which is what would
    be published: it tells more and keeps the same rows together.
    """

    parent: Ints
    """The parent of each node, -1 for roots (the nodes of the highest allowed level)."""
    node: Ints
    """The node of the hierarchy that is published for it."""
    leaf_of_value: Ints
    """Per value of the domain its leaf (a node of the lowest allowed level), -1 for values that do not occur."""
    levels: tuple[Ints, ...]
    """The nodes of every level, from the lowest allowed one up: the cuts of full-domain recodings."""


def grow_tree(hierarchy: Hierarchy, present: Ints, lowest: int, highest: int) -> Tree:
    """The tree over the values that occur, between two levels.

    >>> h = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "z", "*"]])
    >>> tree = grow_tree(h, np.array([0, 1, 2], np.int32), 0, 2)
    >>> [h.label(node) for node in tree.node], tree.parent.tolist(), tree.leaf_of_value.tolist()
    (['*', 'x', 'c', 'a', 'b'], [-1, 0, 0, 1, 1], [3, 4, 2, -1])
    """
    table = hierarchy.table[lowest : highest + 1][:, present]
    order = np.lexsort(table)
    table = table[:, order]
    parents: list[Ints] = []
    levels: list[Ints] = []
    nodes = np.empty(0, np.int32)
    at = np.full(len(present), -1, np.int64)  # the node of each value at the level above
    count = 0
    for row in table[::-1]:
        new = np.ones(len(row), np.bool_)
        new[1:] = (row[1:] != row[:-1]) | (at[1:] != at[:-1])
        starts = np.flatnonzero(new)
        above = at[starts]
        children = np.bincount(above + 1, minlength=count + 1)[above + 1]
        parts = (children > 1) | (above < 0)
        number = above.copy()
        number[parts] = count + np.arange(int(parts.sum()))
        nodes = np.concatenate([nodes, np.zeros(int(parts.sum()), np.int32)])
        parents.append(above[parts].astype(np.int32))
        nodes[number] = row[starts]
        count += int(parts.sum())
        at = number[np.cumsum(new) - 1]
        levels.append(np.unique(number).astype(np.int32))
    leaf_of_value = np.full(hierarchy.size, -1, np.int32)
    leaf_of_value[present[order]] = at
    return Tree(np.concatenate(parents), nodes, leaf_of_value, tuple(levels[::-1]))


@dataclass(frozen=True, eq=False)
class Forest(Records):
    """The trees of all columns side by side, and the records: distinct tuples of leaves, sorted, with counts.

    Nodes are numbered through all columns; those of column `j` are `start[j]` to `start[j + 1] - 1`. `keep` is what a
    row keeps under the metric (before weighting) when it is published at a node, and `rows` how many rows lie
    under it. `label` numbers the labels of a column: nodes with equal labels have equal numbers.
    """

    problem: Problem
    start: Longs
    parent: Ints
    node: Ints
    rows: Longs
    keep: Floats
    label: Ints
    labels: tuple[int, ...]
    """How many different labels each column has."""
    leaves: Ints
    counts: Longs
    record_of_tuple: Ints
    costs: tuple[AttributeCosts, ...]
    levels: tuple[tuple[Ints, ...], ...]
    """Per column the nodes of every level, from the lowest allowed one up."""

    @property
    def domain(self) -> Domain:
        """What was laid out."""
        return self.problem.domain

    @property
    def nodes(self) -> int:
        """Nodes of all columns."""
        return len(self.parent)

    @cached_property
    def depth(self) -> Ints:
        """Steps from each node up to its root."""
        depth = np.zeros(self.nodes, np.int32)
        for node in range(self.nodes):
            if self.parent[node] >= 0:
                depth[node] = depth[self.parent[node]] + 1
        return depth

    @cached_property
    def column(self) -> Ints:
        """The column of each node."""
        return np.repeat(np.arange(len(self.labels), dtype=np.int32), np.diff(self.start))

    @cached_property
    def children(self) -> Longs:
        """How many children each node has: none or at least two."""
        return np.bincount(self.parent[self.parent >= 0], minlength=self.nodes).astype(np.int64)

    @cached_property
    def ancestor(self) -> Ints:
        """`[depth, node]`: the node on the way from the root at that depth, -1 below the node itself."""
        ancestors = np.full((int(self.depth.max()) + 2, self.nodes), -1, np.int32)
        nodes = np.arange(self.nodes, dtype=np.int32)
        ancestors[self.depth, nodes] = nodes
        for depth in range(len(ancestors) - 2, -1, -1):
            deeper = self.depth > depth
            below = ancestors[depth + 1, deeper]
            ancestors[depth, deeper] = self.parent[below]
        return ancestors

    @cached_property
    def roots(self) -> Ints:
        """`[record, column]`: the most general release allowed."""
        return np.ascontiguousarray(self.ancestor[0][self.leaves])

    @cached_property
    def worth(self) -> Floats:
        """What a row at each node keeps of the (arithmetic) score: weighted, and over the scale of its column."""
        weights = np.array(self.problem.weights) / sum(self.problem.weights)
        scales = np.array([cost.scale if cost.scale > 0 else np.inf for cost in self.costs])
        return np.asarray(self.keep * (weights / scales)[self.column], np.float64)

    def score(self, retained: Floats, classes: int, suppressed: int, squares: int) -> float:
        """The metric of a release: per column the sum of `keep` over published rows; kept classes and their squares."""
        problem = self.problem
        metric = problem.metric
        if isinstance(metric, ClassMetric):
            return metric.score(problem.domain.rows, classes, suppressed + problem.domain.excluded_rows, squares)
        losses = [
            float(cost.loss(whole - retained_of_column))
            for cost, whole, retained_of_column in zip(self.costs, self._whole, retained.tolist(), strict=True)
        ]
        return float(cut_metric(problem).combine(np.array(losses), problem.weights))

    @property
    def measure(self) -> str:
        """The metric that `score` is."""
        return (self.problem.metric if isinstance(self.problem.metric, ClassMetric) else cut_metric(self.problem)).name

    @cached_property
    def _whole(self) -> list[float]:
        """Per column the cost if every row were suppressed."""
        columns = zip(self.costs, self.domain.hierarchies, self.domain.marginals, strict=True)
        return [cost.whole(hierarchy, marginal) for cost, hierarchy, marginal in columns]

    def published(self, at: Ints) -> Ints:
        """`[tuple, column]`: hierarchy nodes, given the tree nodes of the records."""
        return np.asarray(self.node[at][self.record_of_tuple], np.int32)

    def number(self, at: Ints) -> Numbered:
        """Rows of tree nodes numbered by what they publish: nodes of different levels can have one label."""
        return number_rows([self.label[at[:, j]] for j in range(at.shape[1])], self.labels)

    def number_nodes(self, at: Ints) -> Numbered:
        """Rows of tree nodes numbered by the nodes themselves."""
        columns = [at[:, j] - np.int32(self.start[j]) for j in range(at.shape[1])]
        return number_rows(columns, np.diff(self.start).tolist())


def cut_metric(problem: Problem) -> AttributeMetric:
    """The metric that nodes are priced by: the problem's own, or `loss` where that has no price per node."""
    metric = problem.metric
    return metric if isinstance(metric, AttributeMetric) and not isinstance(metric, Height) else Loss()


def plant_forest(problem: Problem) -> Forest:
    """Lay out a problem for searches over cuts; hierarchies must nest."""
    problem.require_nesting()
    domain, lattice = problem.domain, problem.lattice
    metric = cut_metric(problem)
    trees, keeps, label_codes, label_counts, columns, costs = [], [], [], [], [], []
    start = np.zeros(domain.width + 1, np.int64)
    for j, hierarchy in enumerate(domain.hierarchies):
        present = np.flatnonzero(domain.marginals[j]).astype(np.int32)
        tree = grow_tree(hierarchy, present, lattice.lowest[j], lattice.highest[j])
        cost = metric.costs(hierarchy, domain.marginals[j], domain.rows)
        number: dict[str, int] = {}
        codes = [number.setdefault(hierarchy.label(int(node)), len(number)) for node in tree.node]
        trees.append(tree)
        costs.append(cost)
        keeps.append(cost.keep_of_nodes(hierarchy)[tree.node])
        label_codes.append(np.array(codes, np.int32))
        label_counts.append(len(number))
        columns.append(tree.leaf_of_value[domain.tuples[:, j]])
        start[j + 1] = start[j] + len(tree.node)
    sizes = [len(tree.node) for tree in trees]
    # Numbered by value, so that nothing that follows depends on the order in which the table lists its rows.
    record, first, _ = number_rows(columns, sizes, ascending=True)
    leaves = np.column_stack([columns[j][first] + int(start[j]) for j in range(domain.width)]).astype(np.int32)
    counts = summed(domain.counts, record, len(first))
    parent = np.concatenate(
        [np.where(tree.parent < 0, -1, tree.parent + int(start[j])) for j, tree in enumerate(trees)]
    ).astype(np.int32)
    rows = np.zeros(len(parent), np.int64)
    for j in range(domain.width):
        np.add.at(rows, leaves[:, j], counts)
    for node in range(len(parent) - 1, -1, -1):
        if parent[node] >= 0:
            rows[parent[node]] += rows[node]
    return Forest(
        problem, start, parent, np.concatenate([tree.node for tree in trees]), rows, np.concatenate(keeps),
        np.concatenate(label_codes), tuple(label_counts), np.ascontiguousarray(leaves), counts, record, tuple(costs),
        tuple(tuple(level + int(start[j]) for level in tree.levels) for j, tree in enumerate(trees)),
    )  # fmt: skip
