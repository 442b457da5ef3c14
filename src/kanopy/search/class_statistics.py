"""What models look at beyond class sizes: sensitive histograms, the population, published labels, sampling weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kanopy._arrays import Ints, Longs, Mask
from kanopy._core.classes import Classes, ClassLabels, Domain
from kanopy._core.histograms import Histogram, histogram, summed
from kanopy._core.numbering import number_keys, number_rows
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._lazy import cached_property
from kanopy.privacy.models import Model
from kanopy.search.class_tables import ClassTable, Packing, Tuples
from kanopy.search.lattice import Levels

LARGEST_HISTOGRAM = 400_000_000
"""Entries of the finest histogram: four bytes each."""


class ClassStatistics:
    """Histograms of the columns that the models name, side by side, the population's counts last."""

    def __init__(self, domain: Domain, models: Sequence[Model]) -> None:
        self.domain = domain
        self.columns = tuple(dict.fromkeys(name for model in models for name in model.sensitive))
        self.quasi = tuple(dict.fromkeys(name for model in models for name in model.quasi))
        if any(model.all_quasi for model in models):
            self.quasi = domain.names
        column_of_name = {column.name: column for column in domain.sensitive}
        for model in models:
            for name in model.sensitive:
                if name not in column_of_name:
                    raise DataError(
                        f"The model {model.name!r} names the column {name!r}. {near_miss(name, column_of_name)}"
                    )
            for name in model.quasi:
                if name not in domain.names:
                    hint = near_miss(name, domain.names)
                    raise JobError(f"The model {model.name!r} names {name!r}, which is no quasi-identifier. {hint}")
            model.check(domain.facts)
        self.sensitive = tuple(column_of_name[name] for name in self.columns)
        self.facts = {column.name: column.facts for column in self.sensitive}
        self.population = domain.population if any(model.needs_population for model in models) else None
        if self.population is None and any(model.needs_population for model in models):
            wanted = some([model.name for model in models if model.needs_population])
            raise JobError(
                f"The model {wanted} compares with a population. Give one (population=…, --population FILE)."
            )
        if self.population is not None and self.population.rows < domain.rows:
            raise DataError(
                f"The population has {self.population.rows:,} rows, fewer than the {domain.rows:,} rows of the "
                "table. Give the table of the whole population."
            )
        self.survey = domain.survey if any(model.needs_weights for model in models) else None
        for model in models:
            if model.needs_weights and domain.survey is None:
                raise JobError(
                    f"The model {model.name!r} needs sampling weights (sampling_weight=…, --sampling-weight COLUMN)."
                )
        self.households = self.survey if any(model.needs_households for model in models) else None
        self.widths = [len(column.values) for column in self.sensitive]
        entries = len(domain.counts) * max(1, sum(self.widths))
        if entries > LARGEST_HISTOGRAM:
            raise DataError(
                f"{some(self.columns)} have {sum(self.widths):,} different values over {len(domain.counts):,} "
                f"combinations of quasi-identifiers: {entries:,} counts are too many to keep. Generalize the sensitive "
                "column (for example by rounding numbers), or raise the lowest levels of the quasi-identifiers."
            )

    def tuples(self) -> Tuples:
        """The finest table with histograms; tuples that only the population has come last, with no rows."""
        domain = self.domain
        count = len(domain.counts)
        parts = [
            histogram(domain.tuple_of_row, column.code_of_row, count, width, domain.multiplicity).astype(np.int32)
            for column, width in zip(self.sensitive, self.widths, strict=True)
        ]
        if self.population is None:
            return Tuples(domain.tuples, domain.counts, np.ascontiguousarray(np.concatenate(parts, axis=1)))
        both = np.concatenate([domain.tuples, self.population.tuples])
        # Numbered as they appear, known tuples keep their numbers: they come first in `both`.
        number, first, _ = number_rows(both, [h.size for h in domain.hierarchies])
        people = summed(self.population.counts, number[count:], len(first)).astype(np.int32)
        extra = len(first) - count
        parts = [np.concatenate([column, np.zeros((extra, column.shape[1]), np.int32)]) for column in parts]
        counted = np.ascontiguousarray(np.concatenate([*parts, people[:, None]], axis=1))
        counts = np.concatenate([domain.counts, np.zeros(extra, np.int64)])
        return Tuples(both[first].astype(np.int32), counts, counted)

    @cached_property
    def weight_scale(self) -> float:
        """What weights are multiplied by to be whole numbers, whose sums are exact in any order."""
        assert self.survey is not None
        return float(2.0 ** np.floor(52 - np.log2(max(1.0, float(self.survey.weight_of_row.sum())))))

    @cached_property
    def weight_of_row(self) -> Longs:
        """Sampling weights as whole numbers; rounded down, so that no risk is estimated too low."""
        assert self.survey is not None
        return np.maximum(1, np.floor(self.survey.weight_of_row * self.weight_scale)).astype(np.int64)

    @cached_property
    def weight_of_tuple(self) -> Longs:
        """The same summed by distinct tuple."""
        return summed(
            self.weight_of_row[self.domain.tuple_of_row >= 0], self._tuple_of_kept_row, len(self.domain.counts)
        )

    @cached_property
    def _tuple_of_kept_row(self) -> Ints:
        return self.domain.tuple_of_row[self.domain.tuple_of_row >= 0]

    def _of_survey(self, table: ClassTable, packing: Packing, levels: Levels, picked: Mask | None) -> dict[str, Any]:
        """Weights of the (picked) classes and, where a model asks for households, the class of every row."""
        pairs = zip(self.domain.hierarchies, levels, strict=True)
        keys = packing.pack(self.domain.tuples, [h.level(level).codes for h, level in pairs])
        both = np.concatenate([table.keys, keys], axis=1)
        number = number_keys(both[0]).number if len(both) == 1 else np.unique(both, axis=1, return_inverse=True)[1]
        rank_of_class = np.full(int(number.max(initial=0)) + 1, -1, np.int32)
        rank_of_class[number.reshape(-1)[: table.count]] = (
            np.arange(table.count) if picked is None else np.where(picked, np.cumsum(picked) - 1, -1)
        )
        of_tuple = rank_of_class[number.reshape(-1)[table.count :]]
        count = table.count if picked is None else int(picked.sum())
        survey: dict[str, Any] = {"weights": summed(self.weight_of_tuple, of_tuple, count) / self.weight_scale}
        if self.households is not None:
            survey["class_of_row"] = np.append(of_tuple, np.int32(-1))[self.domain.tuple_of_row]
            survey["household_of_row"] = self.households.household_of_row
        return survey

    def by_column(self, side_by_side: Histogram) -> dict[str, Histogram]:
        """The histogram of each column, taken from a table with all of them."""
        ends = np.cumsum([0, *self.widths]).tolist()
        return {column: side_by_side[:, ends[i] : ends[i + 1]] for i, column in enumerate(self.columns)}

    def classes(self, table: ClassTable, packing: Packing, levels: Levels, picked: Mask | None = None) -> Classes:
        """The (picked) classes of a table as models see them."""
        sizes = table.sizes if picked is None else table.sizes[picked]
        histograms: dict[str, Histogram] = {}
        population = None
        if table.histogram is not None:
            whole = table.histogram if picked is None else table.histogram[picked]
            histograms = self.by_column(whole)
            if self.population is not None:
                population = whole[:, -1].astype(np.int64)
        labels: dict[str, ClassLabels] = {}
        for name in self.quasi:
            j = self.domain.names.index(name)
            keys = table.keys[packing.word[j]]
            keys = keys if picked is None else keys[picked]
            hierarchy = self.domain.hierarchies[j]
            codes = (keys >> packing.shift[j]) & packing.mask[j]
            labels[name] = ClassLabels(codes, hierarchy.labels_at(levels[j]), hierarchy)
        survey = {} if self.survey is None else self._of_survey(table, packing, levels, picked)
        return Classes(sizes, histograms=histograms, facts=self.facts, population=population, labels=labels, **survey)
