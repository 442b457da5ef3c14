"""The tagged union of the rows of several tables: the promise over joins becomes `unit` and `known` of one table.

Every row carries the published tuple of its person and its own, and which table it is from. Then k units share
p(u) and any m events of a person exactly if any m rows of the union that a person has belong to k persons: search,
proof and verification are those of one table, and the join is never made.

A column of the union has one copy of its values per table that has it (whose loss counts there), one for rows that
only repeat what their person or parent has (which costs nothing), and a value for rows without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Classes, ColumnFacts, Domain, Sensitive
from kanopy._core.numbering import number_rows
from kanopy._core.units import ALL, Units
from kanopy._errors import HierarchyError, JobError
from kanopy._parameter_types import Anything, Text
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.linked.job import At
from kanopy.linked.keys import Related
from kanopy.metrics.full_domain import AttributeCosts, AttributeMetric
from kanopy.privacy.base import Model

TAG = "table"
ABSENT = "\0absent"


@dataclass(frozen=True, eq=False)
class TableCodes:
    """A table as its quasi-identifiers were encoded: the domain, and what the job says of levels and weights."""

    name: str
    domain: Domain
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    weights: tuple[float, ...]
    models: tuple[Model, ...] = ()


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the union: the columns of tables that have its values, and whether further rows repeat one's."""

    members: tuple[At, ...]
    repeated: bool
    hierarchy: Hierarchy
    lowest: int
    highest: int
    weight: float
    costs: AttributeCosts
    sizes: tuple[int, ...]
    """Values of every block: of the members, and of their copies."""

    @property
    def name(self) -> str:
        """What the column is called in messages."""
        return " = ".join(map(str, self.members))


@dataclass(frozen=True)
class TablesLoss(AttributeMetric):
    """The mean loss of the columns of several tables, each over the rows of its own table."""

    name: ClassVar[str] = "loss"
    of_hierarchy: tuple[tuple[int, AttributeCosts], ...] = ()

    def costs(self, hierarchy: Hierarchy, marginal: Longs, rows: int) -> AttributeCosts:
        return dict(self.of_hierarchy)[id(hierarchy)]


@dataclass(frozen=True, eq=False)
class Union:
    """The union as a domain; where every row comes from; and columns that must have the same level."""

    domain: Domain
    columns: tuple[Column, ...]
    table_of_row: Ints
    row_of_row: Longs
    tables: tuple[str, ...]
    tied: tuple[tuple[int, ...], ...]
    models: tuple[Model, ...]
    metric: TablesLoss

    def gone(self, suppressed: Mask, heights: Mapping[str, int]) -> dict[str, Mask]:
        """Per table which rows are suppressed."""
        suppressed_rows = {name: np.zeros(rows, np.bool_) for name, rows in heights.items()}
        for number, name in enumerate(self.tables):
            of_table = self.table_of_row == number
            suppressed_rows[name][self.row_of_row[of_table]] = suppressed[of_table]
        return suppressed_rows


def side_by_side(trees: Sequence[Hierarchy]) -> Hierarchy:
    """Hierarchies as one, with no node in common, and a last value that stands alone at every level.

    >>> both = side_by_side([Hierarchy.flat(["a", "b"]), Hierarchy.flat(["a", "b"])])
    >>> both.size, both.level_sizes
    (5, [5, 3])
    """
    tables = [tree.table for tree in trees]
    levels = {len(table) for table in tables}
    if len(levels) != 1:
        raise HierarchyError(
            f"The columns of one domain have hierarchies of "
            f"{' and '.join(str(level_name) for level_name in sorted(levels))} levels. "
            "Give them the same hierarchy."
        )
    if any(tree.parent is None for tree in trees):
        name = next(tree.name for tree in trees if tree.parent is None)
        raise HierarchyError(f"The hierarchy of {name} does not nest. Use one whose levels nest.")
    leaves = sum(tree.size for tree in trees) + 1
    leaf_offset, inner = 0, leaves
    parent = np.full(leaves + sum(tree.node_count - tree.size for tree in trees), -1, np.int32)
    pieces, starts = [], []
    for tree, table in zip(trees, tables, strict=True):
        moved = np.concatenate(
            [np.arange(tree.size) + leaf_offset, np.arange(tree.node_count - tree.size) + inner, [-1]]
        )
        assert tree.parent is not None
        parent[moved[:-1]] = moved[tree.parent]
        pieces.append(moved[table])
        starts.append((leaf_offset, inner))
        leaf_offset, inner = leaf_offset + tree.size, inner + tree.node_count - tree.size
    alone = np.full((len(tables[0]), 1), leaves - 1)
    table = np.ascontiguousarray(np.concatenate([*pieces, alone], axis=1), np.int32)

    def labels() -> list[str]:
        joint_labels = [ABSENT] * len(parent)
        for number, (tree, (leaf, above)) in enumerate(zip(trees, starts, strict=True)):
            tree_labels = tree.labels
            for node, label in enumerate(tree_labels):
                joint_labels[leaf + node if node < tree.size else above + node - tree.size] = f"{label}\0{number}"
        return joint_labels

    return Hierarchy(leaves, labels, parent, name=trees[0].name, table=table)


def joint_costs(
    metric: AttributeMetric, tree: Hierarchy, blocks: Sequence[tuple[Hierarchy, Longs, int, float]]
) -> AttributeCosts:
    """What a column of the union costs: per block (hierarchy, rows by value, rows, weight) its loss in its own table.

    Blocks without rows, copies of what another row has, cost nothing.
    """
    total = sum(weight for *_, weight in blocks) or 1.0
    totals = np.zeros(tree.height + 1)
    extras = [np.zeros(tree.level(level).size) for level in range(tree.height + 1)]
    leaf_offset = 0
    for part_tree, marginal, rows, weight in blocks:
        if rows and weight:
            cost = metric.costs(part_tree, marginal, rows)
            scale = cost.scale if cost.scale > 0 else np.inf
            for level in range(tree.height + 1):
                totals[level] += weight / total * max(0.0, (cost.totals[level] - cost.offset) / scale)
                codes = tree.level(level).codes[leaf_offset : leaf_offset + part_tree.size]
                extras[level][codes] = weight / total * cost.extras[level][part_tree.level(level).codes] / scale
        leaf_offset += part_tree.size
    return AttributeCosts(totals, tuple(extras), 0.0, 1.0)


def unite(
    related: Related,
    tables: Mapping[str, TableCodes],
    context: Mapping[str, Sequence[str]],
    domains: Sequence[Sequence[At]],
    rows_known: int | None,
    metric: AttributeMetric,
    called: str = "people",
) -> Union:
    """The union of encoded tables. `context` names per table the tables whose tuple its rows carry besides their own:
    that of the person, and of parents that are known together. `domains` are columns that share labels; `rows_known`
    is how
    many rows are known, `None` for all, and 0 for the person's own row alone."""
    names = [name for name in related.order if name in tables and _looked_at(name, related, tables, rows_known)]
    own_columns = {name: _own(tables[name]) if rows_known != 0 or name == related.people else [] for name in names}
    groups = _columns(names, own_columns, domains, context)
    anchors = {at: j for j, group in enumerate(groups) for at in group}
    repeated = {at for name in names for other in context[name] if other in own_columns for at in own_columns[other]}
    columns: list[Column] = []
    for group in groups:
        blocks = []
        for at in group:
            table, j = tables[at.table], tables[at.table].domain.names.index(at.column)
            marginal, rows = table.domain.marginals[j], table.domain.rows
            blocks.append((table.domain.hierarchies[j], marginal, rows, table.weights[j]))
        again = any(at in repeated for at in group)
        copies = [block[0] for block in blocks] if again else []
        tree = side_by_side([*(block[0] for block in blocks), *copies])
        limits = [
            (tables[at.table].lowest[j], tables[at.table].highest[j])
            for at in group
            for j in [tables[at.table].domain.names.index(at.column)]
        ]
        low, high = max(a for a, _ in limits), min(b for _, b in limits)
        if low > high:
            raise JobError(
                f"{' and '.join(map(str, group))} share labels, and their allowed levels exclude each other."
            )
        costs = joint_costs(
            metric, tree, [*blocks, *((tree_copy, np.zeros(0, np.int64), 0, 0.0) for tree_copy in copies)]
        )
        sizes = (*(block[0].size for block in blocks), *(tree_copy.size for tree_copy in copies))
        columns.append(Column(tuple(group), again, tree, low, high, sum(block[3] for block in blocks), costs, sizes))
    numbers, tags, units = _rows(names, related)
    order = np.argsort(units, kind="stable")
    codes = [np.full(len(units), column.hierarchy.size - 1, np.int32) for column in columns]
    excluded = np.zeros(len(units), np.bool_)
    start = {}
    for name, table in ((name, tables[name]) for name in names):
        start[name] = first = sum(related.frames[before].height for before in names[: names.index(name)])
        here = slice(first, first + related.frames[name].height)
        _fill(codes, columns, anchors, table, here, np.arange(related.frames[name].height), copies=False)
        excluded[here] = table.domain.tuple_of_row < 0
        for other in context[name]:
            if other in own_columns:
                theirs = _row_of(related, name, other)
                _fill(codes, columns, anchors, tables[other], here, theirs, copies=True)
    tag = Hierarchy(len(names), [f"{name}\0{TAG}" for name in names], np.full(len(names), -1, np.int32),
                    name=TAG, table=np.arange(len(names), dtype=np.int32)[None, :])  # fmt: skip
    flat = AttributeCosts(np.zeros(1), (np.zeros(len(names)),), 0.0, 0.0)
    hierarchies = (tag, *(column.hierarchy for column in columns))
    parents = _parents(related, names, start, order)
    units_found = Units(
        units[order].astype(np.int32), ALL if rows_known is None else max(1, rows_known), called, parents=parents
    )
    numbered = number_rows([tags, *codes], [tree.size for tree in hierarchies], ascending=True)
    tuple_of_row = numbered.number.astype(np.int32).copy()
    is_orphan = units_found.orphaned(excluded[order])
    moved = tuple_of_row[order]
    moved[is_orphan] = -1
    tuples = np.column_stack([codes_of_column[numbered.first] for codes_of_column in (tags, *codes)]).astype(np.int32)
    counts = np.bincount(moved[moved >= 0], minlength=len(tuples)).astype(np.int64)
    used = counts > 0
    new_tuple = np.append(np.cumsum(used) - 1, -1)
    new_tuple[:-1][~used] = -1
    sensitive, models = _sensitive(names, related, tables, context, start, order)
    domain = Domain(
        (TAG, *(column.name for column in columns)), hierarchies, tuples[used], counts[used],
        new_tuple[moved].astype(np.int32), sensitive, units=units_found,
    )  # fmt: skip
    domain.__dict__["in_order"] = True  # tuples ascend, and rows stand unit by unit: their parents do too
    priced = ((id(tag), flat), *((id(column.hierarchy), column.costs) for column in columns))
    tied = _tied(groups, domains, anchors)
    return Union(domain, tuple(columns), tags[order], numbers[order], tuple(names), tied, models, TablesLoss(priced))


def _looked_at(name: str, related: Related, tables: Mapping[str, TableCodes], rows_known: int | None) -> bool:
    """Whether rows of a table say something: where no event is known, only those with models of their own do."""
    return rows_known != 0 or name == related.people or bool(tables[name].models)


def _own(table: TableCodes) -> list[At]:
    return [At(table.name, column) for column in table.domain.names]


def _columns(
    names: Sequence[str],
    columns: Mapping[str, Sequence[At]],
    domains: Sequence[Sequence[At]],
    context: Mapping[str, Sequence[str]],
) -> list[list[At]]:
    """The columns of the union: those of one domain are one where no row has both."""
    left = [at for name in names for at in columns[name]]
    groups: list[list[At]] = []
    for domain in domains:
        members = [at for at in domain if at in left]
        while members:
            group = [members.pop(0)]
            for at in list(members):
                if not any(_meet(at.table, other.table, context) for other in group):
                    group.append(at)
                    members.remove(at)
            groups.append(group)
            left = [at for at in left if at not in group]
    return groups + [[at] for at in left]


def _meet(one: str, other: str, context: Mapping[str, Sequence[str]]) -> bool:
    """Whether a row may carry values of both tables."""
    if one == other:
        return True
    return any({one, other} <= {name, *above} for name, above in context.items())


def _tied(
    groups: Sequence[Sequence[At]], domains: Sequence[Sequence[At]], anchors: Mapping[At, int]
) -> tuple[tuple[int, ...], ...]:
    """Numbers of domain columns (the tag is the first) that must have the same level."""
    tied = []
    for domain in domains:
        numbers = tuple(dict.fromkeys(anchors[at] + 1 for at in domain if at in anchors))
        if len(numbers) > 1:
            tied.append(numbers)
    return tuple(tied)


def _rows(names: Sequence[str], related: Related) -> tuple[Longs, Ints, Ints]:
    heights = [related.frames[name].height for name in names]
    rows = np.concatenate([np.arange(height) for height in heights]).astype(np.int64)
    tags = np.repeat(np.arange(len(names), dtype=np.int32), heights)
    return rows, tags, np.concatenate([related.unit_of_row[name] for name in names]).astype(np.int32)


def _fill(
    codes: Sequence[Ints], columns: Sequence[Column], anchors: Mapping[At, int], table: TableCodes,
    here: slice, rows: Longs, *, copies: bool,
) -> None:  # fmt: skip
    """Write the values of a table's rows into the columns of the union; -1 is no row."""
    tuples = np.concatenate([table.domain.tuples, np.full((1, table.domain.width), -1, np.int32)])
    tuple_of_row_here = np.append(table.domain.tuple_of_row, -1)[rows]
    for j, at in enumerate(_own(table)):
        if at not in anchors:
            continue
        column = columns[anchors[at]]
        start = sum(column.sizes[: column.members.index(at) + (len(column.members) if copies else 0)])
        leaves = tuples[tuple_of_row_here, j]
        codes[anchors[at]][here] = np.where(leaves >= 0, leaves + start, codes[anchors[at]][here])


def _row_of(related: Related, name: str, other: str) -> Longs:
    """For every row of a table its row in a table above it; the person's row is that of its unit."""
    if other == related.people:
        return related.unit_of_row[name].astype(np.int64)
    for parent in related.parents[name]:
        above = parent.link.parent.table
        if above == other:
            return parent.row
        if parent.link.together:
            further = _row_of(related, above, other)
            return np.append(further, -1)[parent.row]
    return np.full(related.frames[name].height, -1, np.int64)


def _parents(related: Related, names: Sequence[str], start: Mapping[str, int], order: Longs) -> tuple[Longs, ...]:
    """Rows of the union that its rows cannot be published without, as rows in their new order."""
    count = len(order)
    position = np.empty(count + 1, np.int64)
    position[order], position[-1] = np.arange(count), -1
    most = max((len(related.parents[name]) for name in names), default=0)
    parents_found = [np.full(count, -1, np.int64) for _ in range(most)]
    for name in names:
        here = slice(start[name], start[name] + related.frames[name].height)
        for parent_rows, parent in zip(parents_found, related.parents[name], strict=False):
            above = parent.link.parent.table
            if above in start:
                parent_rows[here] = np.where(parent.row >= 0, parent.row + start[above], -1)
    return tuple(position[parent_rows][order] for parent_rows in parents_found)


# ---- models -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfTables(Model):
    """A model about a column that only some rows of the union have: it judges classes of these rows."""

    name: ClassVar[str] = "of-tables"
    summary: ClassVar[str] = "A model about a column of one of several tables."
    model: Annotated[Model, Anything(), "the model of the table"]
    column: Annotated[str, Text("the name of a column"), "the column, with its table"]

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def monotonic_with_units(self) -> bool:  # type: ignore[override]
        return self.model.monotonic_with_units

    @property
    def of_others(self) -> bool:  # type: ignore[override]
        return self.model.of_others

    @property
    def of_release(self) -> bool:
        return self.model.of_release

    @property
    def monotonic_with_suppression(self) -> bool:
        return self.model.monotonic_with_suppression

    def violated(self, classes: Classes) -> Mask:
        there = classes.histograms[self.column][:, :-1].sum(axis=1) > 0
        violated = np.zeros(classes.count, np.bool_)
        if there.any():
            violated[there] = self.model.violated(self._part(classes, there))
        return violated

    def satisfied(self, published: Classes, everything: Classes) -> bool:
        parts = [
            self._part(some_classes, some_classes.histograms[self.column][:, :-1].sum(axis=1) > 0)
            for some_classes in (published, everything)
        ]
        return self.model.satisfied(*parts)

    def _part(self, classes: Classes, there: Mask) -> Classes:
        histogram = classes.histograms[self.column][there][:, :-1]
        facts = {self._own: self._known(classes.facts[self.column])}
        return replace(classes, sizes=classes.sizes[there], histograms={self._own: histogram}, facts=facts)

    @property
    def _own(self) -> str:
        return self.model.sensitive[0]

    def _known(self, facts: ColumnFacts) -> ColumnFacts:
        numbers = None if facts.numbers is None else facts.numbers[:-1]
        return replace(facts, values=facts.values[:-1], totals=facts.totals[:-1], numbers=numbers)

    def require(self, facts: Mapping[str, ColumnFacts]) -> None:
        self.model.require({self._own: self._known(facts[self.column])})

    def explain(self) -> str:
        return self.model.explain()


def _sensitive(
    names: Sequence[str],
    related: Related,
    tables: Mapping[str, TableCodes],
    context: Mapping[str, Sequence[str]],
    start: Mapping[str, int],
    order: Longs,
) -> tuple[tuple[Sensitive, ...], tuple[Model, ...]]:
    """The sensitive columns that models name, on the rows of their table and of all tables below it."""
    columns: dict[str, Sensitive] = {}
    models: list[Model] = []
    for name in names:
        for model in tables[name].models:
            if (
                len(model.sensitive) != 1
                or model.hidden
                or model.quasi
                or model.needs_population
                or model.needs_weights
            ):
                raise JobError(
                    f"The model {model.name!r} of the table {name!r} does not support several tables; models of one "
                    "sensitive column do. Leave it out, or publish this table separately."
                )
            at = str(At(name, model.sensitive[0]))
            if at not in columns:
                sensitive_source = next(
                    candidate for candidate in tables[name].domain.sensitive if candidate.name == model.sensitive[0]
                )
                codes = np.full(len(order), len(sensitive_source.values), np.int32)
                for below in names:
                    rows = np.arange(related.frames[name].height) if below == name else _row_above(related, below, name)
                    if rows is not None:
                        here = slice(start[below], start[below] + related.frames[below].height)
                        codes[here] = np.append(sensitive_source.code_of_row, len(sensitive_source.values))[rows]
                numbers = None if sensitive_source.numbers is None else np.append(sensitive_source.numbers, 0.0)
                columns[at] = Sensitive(
                    at, (*sensitive_source.values, ABSENT), codes[order], numbers, sensitive_source.hierarchy
                )
            models.append(OfTables(model, at))
    return tuple(columns.values()), tuple(models)


def _row_above(related: Related, name: str, above: str) -> Longs | None:
    """For every row of a table its row in a table above it, by any chain of links; `None` where there is no chain."""
    if above == related.people:
        return related.unit_of_row[name].astype(np.int64)
    for parent in related.parents[name]:
        if parent.link.parent.table == above:
            return parent.row
        further = _row_above(related, parent.link.parent.table, above)
        if further is not None:
            return np.append(further, -1)[parent.row]
    return None
