"""What search, privacy models and metrics share: the domain, recodings, and the classes they produce.

Rows are reduced once to distinct quasi-identifier tuples with counts (`Domain`). Every algorithm, whatever its
kind, answers with a `Recoding`: groups of rows and, per group and attribute, the published label. `Classes` are
the groups of rows that a release makes equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kanopy._arrays import Floats, Ints, Longs
from kanopy._core.histograms import Histogram, summed
from kanopy._core.numbering import number_keys, number_rows
from kanopy._core.units import Units
from kanopy._lazy import cached_property, public
from kanopy._mixins import ReprMixin
from kanopy._usage import checked
from kanopy.hierarchy.hierarchy import Hierarchy

TUPLES_AT_ONCE = 8192
"""Tuples whose columns are lifted together, so that they stay in the cache."""


class Records:
    """What lays out distinct records with counts."""

    counts: Longs

    @property
    def records(self) -> int:
        """Distinct records."""
        return len(self.counts)


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What a privacy model may know of a column beyond the classes: the table as it was before anything was done.

    `totals` counts all rows of the original table. `numbers` are the values as numbers (days, for dates) where they
    are numbers; `hierarchy` has the values as its leaves, in the same order.
    """

    values: tuple[str, ...]
    totals: Longs
    numbers: Floats | None = None
    hierarchy: Hierarchy | None = None
    people: int = 0
    """Units of the table, where values are counted once per unit; 0 where rows are counted."""

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Which values occur at all."""
        return self.totals > 0

    @property
    def distribution(self) -> Floats:
        """The share that each value has of all, adding up to 1."""
        return np.asarray(self.totals / max(1, int(self.totals.sum())), np.float64)

    @property
    def shares(self) -> Floats:
        """The share of the original rows, or units, that hold each value; a unit may hold several."""
        return np.asarray(self.totals / self.people, np.float64) if self.people else self.distribution


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A confidential column: its values and, per row, the code of the value."""

    name: str
    values: tuple[str, ...]
    code_of_row: Ints
    numbers: Floats | None = None
    hierarchy: Hierarchy | None = None
    multiplicity: Longs | None = None
    """How many rows of the table each row here stands for; `None`: itself."""

    @cached_property
    def facts(self) -> ColumnFacts:
        """What models may know of the column."""
        totals = np.bincount(self.code_of_row, self.multiplicity, minlength=len(self.values)).astype(np.int64)
        return ColumnFacts(self.values, totals, self.numbers, self.hierarchy)


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody the rows could be about: distinct quasi-identifier tuples (leaves, as in the domain) with counts."""

    tuples: Ints
    counts: Longs

    @property
    def rows(self) -> int:
        """How many people."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Survey:
    """What a sample says of its rows: how many people each stands for, and with whom it lives (by number)."""

    weight_of_row: Floats
    household_of_row: Ints | None = None

    def part(self, rows: npt.NDArray[np.integer[Any]]) -> Survey:
        """The same of some rows."""
        households = None if self.household_of_row is None else self.household_of_row[rows]
        return Survey(self.weight_of_row[rows], households)


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Domain(ReprMixin):
    """Distinct quasi-identifier tuples with counts, and a hierarchy per quasi-identifier.

    `tuples[t, j]` is a leaf of `hierarchies[j]`; tuples are numbered by first appearance in the table.
    `tuple_of_row[r]` is -1 for rows that the policy for missing or unknown values suppresses from the start.
    A table that was counted elsewhere has a row per different row, and `rows_of[r]` says how many are like it.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    tuples: Ints
    counts: Longs
    tuple_of_row: Ints
    sensitive: tuple[Sensitive, ...] = ()
    population: Population | None = None
    survey: Survey | None = None
    units: Units | None = None
    """Whose rows these are, where several may be about the same person."""
    multiplicity: Longs | None = None

    @classmethod
    def of_column(cls, name: str, values: Iterable[str], hierarchy: Hierarchy) -> Domain:
        """The domain of a table with one quasi-identifier.

        >>> Domain.of_column("letter", "aab", Hierarchy.flat(["a", "b"])).counts.tolist()
        [2, 1]
        """
        leaf_of_value = {value: leaf for leaf, value in enumerate(hierarchy.values)}
        leaves = np.array([leaf_of_value[value] for value in values], np.int32)
        of_row, first, counts = number_keys(leaves.astype(np.int64), hierarchy.size)
        return cls((name,), (hierarchy,), leaves[first][:, None], counts, of_row)

    @cached_property
    def facts(self) -> dict[str, ColumnFacts]:
        """By sensitive column, what models may know of it."""
        return {column.name: self._facts(column) for column in self.sensitive}

    def _facts(self, column: Sensitive) -> ColumnFacts:
        if self.units is None:
            return column.facts
        whole = np.zeros(len(self.tuple_of_row), np.int32)
        totals = self.units.histogram(whole, column.code_of_row, 1, len(column.values))[0]
        return replace(column.facts, totals=totals, people=self.units.count)

    def part(self, rows: npt.NDArray[np.integer[Any]]) -> Domain:
        """The domain of some of its rows; what models may know of sensitive columns stays that of the whole table.

        >>> whole = Domain.of_column("letter", "aba", Hierarchy.flat(["a", "b"]))
        >>> whole.part(np.array([0, 2])).counts.tolist()
        [2]
        """
        tuple_of_row, multiplicity = (
            self.tuple_of_row[rows],
            None if self.multiplicity is None else self.multiplicity[rows],
        )
        of_row, first, counts = number_keys(tuple_of_row.astype(np.int64), len(self.tuples), ascending=True)
        if multiplicity is not None:
            counts = summed(multiplicity, of_row, len(first))
        columns = tuple(
            replace(column, code_of_row=column.code_of_row[rows], multiplicity=multiplicity)
            for column in self.sensitive
        )
        for column, whole in zip(columns, self.sensitive, strict=True):
            column.__dict__["facts"] = whole.facts
        units = None if self.units is None else self.units.part(rows)
        return Domain(
            self.names, self.hierarchies, self.tuples[tuple_of_row[first]], counts, of_row, columns, self.population,
            None if self.survey is None else self.survey.part(rows), units, multiplicity,
        )  # fmt: skip

    def expanded(self) -> Domain:
        """The same table with a row for every row: for searches that put equal rows into different groups.

        >>> tree = Hierarchy.from_rows([["a", "*"], ["b", "*"]])
        >>> kinds = np.array([0, 1], np.int32)
        >>> few = Domain(("l",), (tree,), kinds[:, None], np.array([2, 1]), kinds, multiplicity=np.array([2, 1]))
        >>> few.expanded().tuple_of_row.tolist()
        [0, 0, 1]
        """
        return self if self.multiplicity is None else replace(self.of_rows(self.kind_of_row), multiplicity=None)

    @property
    def kind_of_row(self) -> Ints:
        """The row here that each row of the table is like, those that are alike side by side."""
        kinds = np.arange(len(self.tuple_of_row), dtype=np.int32)
        return kinds if self.multiplicity is None else np.repeat(kinds, self.multiplicity)

    def of_rows(self, rows: npt.NDArray[np.integer[Any]], multiplicity: Longs | None = None) -> Domain:
        """The same tuples with other rows: copies of those here, each of which stands for `multiplicity` rows."""
        columns = tuple(
            replace(column, code_of_row=column.code_of_row[rows], multiplicity=multiplicity)
            for column in self.sensitive
        )
        for column, original in zip(columns, self.sensitive, strict=True):
            column.__dict__["facts"] = original.facts
        return replace(
            self,
            tuple_of_row=self.tuple_of_row[rows],
            sensitive=columns,
            survey=None if self.survey is None else self.survey.part(rows),
            units=None if self.units is None else self.units.of_rows(rows),
            multiplicity=multiplicity,
        )

    def columns(self, chosen: Sequence[int]) -> Domain:
        """The domain of some of its quasi-identifiers alone, with a row per different row and how many are like it.

        >>> tree = Hierarchy.from_rows([["a", "*"], ["b", "*"]])
        >>> cells, counts = np.array([[0, 0], [0, 1]], np.int32), np.array([2, 1])
        >>> both = Domain(("l", "m"), (tree, tree), cells, counts, np.array([0, 0, 1, -1], np.int32))
        >>> one = both.columns([0])
        >>> one.counts.tolist(), one.rows, one.excluded_rows
        ([3], 4, 1)
        """
        chosen_tuples, hierarchies = self.tuples[:, list(chosen)], tuple(self.hierarchies[j] for j in chosen)
        number, first, _ = number_rows(chosen_tuples, [h.size for h in hierarchies])
        counts = summed(self.counts, number, len(first))
        return Domain(
            tuple(self.names[j] for j in chosen), hierarchies, chosen_tuples[first], counts,
            np.append(np.arange(len(first), dtype=np.int32), np.int32(-1)),
            multiplicity=np.append(counts, self.excluded_rows),
        )  # fmt: skip

    @property
    def counted(self) -> str:
        """What promises count: rows, or what units are called."""
        return "rows" if self.units is None else self.units.called

    @property
    def counted_before(self) -> Classes:
        """The classes of the original tuples in what promises count."""
        if self.units is None:
            return Classes(self.counts, suppressed_rows=self.excluded_rows)
        return self._of_units(Classes(self.counts, suppressed_rows=self.excluded_rows), self.tuple_of_row)

    def counted_classes(self, recoding: Recoding) -> Classes:
        """The classes of a release in what promises count, suppressed rows left out."""
        if self.units is None:
            return recoding.classes
        return self._of_units(recoding.classes, np.append(recoding.class_of_group, -1)[recoding.group_of_row])

    def _of_units(self, classes: Classes, class_of_row: Ints) -> Classes:
        """The same classes, counted in units."""
        assert self.units is not None
        fitting = self.units.fitting(class_of_row, classes.count)
        return replace(classes, sizes=self.units.people(class_of_row, classes.count), fitting=fitting)

    @property
    def rows(self) -> int:
        """All rows of the table, also those suppressed from the start."""
        return len(self.tuple_of_row) if self.multiplicity is None else int(self.multiplicity.sum())

    @cached_property
    def excluded_rows(self) -> int:
        """Rows suppressed from the start by the policy for missing or unknown values."""
        return _rows_among(self.tuple_of_row < 0, self.multiplicity)

    @property
    def width(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.hierarchies)

    @cached_property
    def marginals(self) -> tuple[Longs, ...]:
        """Per attribute, how many (not excluded) rows hold each value."""
        return tuple(summed(self.counts, self.tuples[:, j], h.size) for j, h in enumerate(self.hierarchies))


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Recoding(ReprMixin):
    """What will be published for the quasi-identifiers.

    `group_of_row` is -1 for suppressed rows. `codes[group, j]` points into `labels[j]`; `shares[j][code]` is the
    share of the attribute's domain that the label covers, so losses need nothing else.
    `nodes[j][code]` is the hierarchy node behind a label, or -1 for labels made without a hierarchy. `multiplicity`
    says for how many rows of the table each row here stands, where that is not one.
    """

    group_of_row: Ints
    codes: Ints
    labels: tuple[tuple[str, ...], ...]
    shares: tuple[Floats, ...]
    nodes: tuple[Ints, ...] = ()
    multiplicity: Longs | None = None
    averaged: tuple[bool, ...] = ()
    """Per attribute whether its labels are means or medians of classes: numbers, and published as numbers."""

    @property
    def rows(self) -> int:
        """All rows of the table, suppressed ones too."""
        return len(self.group_of_row) if self.multiplicity is None else int(self.multiplicity.sum())

    @cached_property
    def group_sizes(self) -> Longs:
        """Rows per group."""
        return rows_by_group(self.group_of_row, len(self.codes), self.multiplicity)

    @property
    def suppressed_rows(self) -> int:
        """Rows whose quasi-identifiers are not published at all."""
        return _rows_among(self.group_of_row < 0, self.multiplicity)

    @cached_property
    def class_of_group(self) -> Ints:
        """Groups whose published labels are equal belong to one class; unused groups get -1."""
        used = self.group_sizes > 0
        result = np.full(len(self.codes), -1, np.int32)
        if used.any() and not self.labels:
            result[used] = 0
        elif used.any():
            merged = [_first_of_equal(labels) for labels in self.labels]
            codes = self.codes[used]
            if any(same is not None for same in merged):
                columns = [codes[:, j] if same is None else same[codes[:, j]] for j, same in enumerate(merged)]
                codes = np.column_stack(columns)
            result[used] = number_rows(codes, [len(labels) for labels in self.labels], ascending=True).number
        return result

    @cached_property
    def classes(self) -> Classes:
        """The equivalence classes of the release, suppressed rows left out."""
        count = int(self.class_of_group.max(initial=-1)) + 1
        sizes = summed(self.group_sizes, self.class_of_group, count)
        return Classes(sizes, suppressed_rows=self.suppressed_rows)


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """What one quasi-identifier publishes, per class: `labels[codes[c]]`."""

    codes: npt.NDArray[np.integer[Any]]
    labels: tuple[str, ...]
    hierarchy: Hierarchy | None = None


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Classes(ReprMixin):
    """Groups of rows that are equal in the quasi-identifiers; where rows have units, sizes and histograms count these.

    `histograms[name]` is a dense `[class, value]` table of a sensitive column, where one is needed, and
    `facts[name]` what is known of that column beyond the classes. `population` counts, per class, the people of the
    population who would fall into it. `labels[name]` says what a quasi-identifier publishes for each class. Of a
    sample, `weights` adds up the sampling weights of each class, and `class_of_row` (-1: none) and `household_of_row`
    say of its rows where they are and with whom they live.
    """

    sizes: Longs
    suppressed_rows: int = 0
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    facts: Mapping[str, ColumnFacts] = field(default_factory=dict)
    population: Longs | None = None
    labels: Mapping[str, ClassLabels] = field(default_factory=dict)
    weights: Floats | None = None
    class_of_row: Ints | None = None
    household_of_row: Ints | None = None
    units: Units | None = None
    """Whose the rows of `class_of_row` are, for models that count units over several classes."""
    fitting: Longs | None = None
    """Where units were counted for a report: per published unit, how many fit what may be known of it."""

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """Published rows; with units, the units of every class added up."""
        return int(self.sizes.sum())

    @property
    def smallest(self) -> int:
        """The size of the smallest class; 0 if nothing is published."""
        return int(self.sizes.min()) if len(self.sizes) else 0


def rows_by_group(groups: npt.NDArray[np.integer[Any]], count: int, multiplicity: Longs | None = None) -> Longs:
    """How many rows each of `count` groups has; those of group -1 are left out, and each stands for `multiplicity`.

    >>> rows_by_group(np.array([0, -1, 0]), 1).tolist(), rows_by_group(np.array([0, 1]), 2, np.array([3, 4])).tolist()
    ([2], [3, 4])
    """
    used = groups >= 0
    return np.bincount(groups[used], None if multiplicity is None else multiplicity[used], count).astype(np.int64)


def _rows_among(marked: npt.NDArray[np.bool_], multiplicity: Longs | None) -> int:
    return int(marked.sum()) if multiplicity is None else int(multiplicity[marked].sum())


def _first_of_equal(labels: Sequence[str]) -> Ints | None:
    """Per code the first one with the same label (a value `*` under a top `*`), or `None` if all labels differ."""
    first: dict[str, int] = {}
    codes = [first.setdefault(label, code) for code, label in enumerate(labels)]
    return None if len(first) == len(codes) else np.array(codes, np.int32)


def full_domain_recoding(domain: Domain, levels: Sequence[int], suppressed_tuples: npt.NDArray[np.bool_]) -> Recoding:
    """The recoding that lifts every attribute to one level and suppresses the marked tuples."""
    picked = [h.level(level) for h, level in zip(domain.hierarchies, levels, strict=True)]
    lifts, starts = np.concatenate([p.codes for p in picked]), np.cumsum([0, *(len(p.codes) for p in picked[:-1])])
    codes = np.empty(domain.tuples.shape, lifts.dtype)
    for begin in range(0, len(codes), TUPLES_AT_ONCE):
        tuples = domain.tuples[begin : begin + TUPLES_AT_ONCE]
        np.take(lifts, tuples + starts, out=codes[begin : begin + len(tuples)], mode="clip")
    lookup = np.append(np.where(suppressed_tuples, -1, np.arange(len(codes))), -1).astype(np.int32)
    return Recoding(
        group_of_row=lookup[domain.tuple_of_row],
        codes=codes,
        labels=tuple(h.labels_at(level) for h, level in zip(domain.hierarchies, levels, strict=True)),
        shares=tuple(level.shares for level in picked),
        nodes=tuple(level.nodes for level in picked),
        multiplicity=domain.multiplicity,
    )


@public("kanopy.extend")
@checked
def recoding_from_nodes(domain: Domain, group_of_row: Ints, nodes: Ints) -> Recoding:
    """The recoding of groups that each publish one hierarchy node per attribute (`nodes[group, j]`)."""
    codes = np.empty_like(nodes)
    labels, shares, used = [], [], []
    for j, hierarchy in enumerate(domain.hierarchies):
        distinct, inverse = np.unique(nodes[:, j], return_inverse=True)
        codes[:, j] = inverse.reshape(-1)
        labels.append(tuple(hierarchy.label(int(node)) for node in distinct))
        shares.append(hierarchy.leaf_counts[distinct] / hierarchy.size)
        used.append(distinct.astype(np.int32))
    return Recoding(group_of_row, codes, tuple(labels), tuple(shares), tuple(used), domain.multiplicity)
