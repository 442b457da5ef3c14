"""The classes of any table as privacy models see them, counted from labels alone.

The second opinion (`verify`) and `check` use this. It shares no code with the search: classes, histograms and the
distribution of the whole table are counted here again, by grouping labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from kanopy._arrays import MISSING_LABEL, Ints, Longs, Mask
from kanopy._core.classes import Classes, ClassLabels, ColumnFacts
from kanopy._core.units import Units
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._table.column import values_as_numbers
from kanopy._table.encode import household_codes, sampling_weights
from kanopy.hierarchy.column import canonical_label
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import Model


@dataclass(frozen=True, eq=False)
class SurveyColumns:
    """The sampling weights and the households of the rows of a release, in its order."""

    weight: pl.Series
    household: pl.Series | None = None

    def without(self, suppressed: Mask) -> SurveyColumns:
        """The same without the rows that are suppressed."""
        published_rows = pl.Series(~suppressed)
        return SurveyColumns(
            self.weight.filter(published_rows),
            None if self.household is None else self.household.filter(published_rows),
        )

    def of_classes(self, class_of_row: Ints, count: int) -> dict[str, Any]:
        """What models look at, counted from the class of every row (-1: none)."""
        used = class_of_row >= 0
        weights = np.bincount(class_of_row[used], sampling_weights(self.weight)[used], count)
        if self.household is None:
            return {"weights": weights}
        households = household_codes(self.household)[0]
        return {"weights": weights, "class_of_row": class_of_row, "household_of_row": households}


@dataclass(frozen=True, eq=False)
class Background:
    """What models compare a release with: the original sensitive columns, hierarchies, and the population.

    `original` holds the sensitive columns of the table before anything was suppressed. `unpublished` holds columns
    that models need but that do not leave, row by row beside the release. `population` carries the labels that the
    release would publish for its people. `survey` has sampling weights and households, row by row beside the release.
    `units` says whose rows the release has, and `original_units` whose the
    original: then each of them counts once in a class, and once for each of its values there. `multiplicity` and
    `original_multiplicity` say for how many rows each row of these tables stands, where an engine counted them.
    """

    original: pl.DataFrame
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    unpublished: pl.DataFrame | None = None
    population: pl.DataFrame | None = None
    survey: SurveyColumns | None = None
    units: pl.Series | None = None
    original_units: pl.Series | None = None
    multiplicity: Longs | None = None
    original_multiplicity: Longs | None = None
    facts: Mapping[str, ColumnFacts] = field(default_factory=dict)
    """What is known of sensitive columns, where it is not to be counted from `original`."""


def missing_label(*columns: pl.Series, hierarchy: Hierarchy | None = None) -> str:
    """How missing values are called: by a label that no value of the columns, or of their hierarchy, has.

    >>> missing_label(pl.Series(["a", None])), missing_label(pl.Series(["(missing)", None]))
    ('(missing)', '(missing 2)')
    """
    taken = set() if hierarchy is None else set(hierarchy.labels)
    if hierarchy is None:
        for column in columns:
            if isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum)):
                texts = column.rename("").unique().cast(pl.String)
                taken.update(texts.filter(texts.str.starts_with("(missing")).to_list())
    label, number = MISSING_LABEL, 2
    while label in taken:
        label, number = f"(missing {number})", number + 1
    return label


def labels_of_values(series: pl.Series, missing: str = MISSING_LABEL) -> pl.Series:
    """A column as labels; missing values are one label of their own."""
    plain = series.rename("")  # the library's methods would take some names for patterns
    plain = plain.cast(pl.String) if isinstance(series.dtype, (pl.Categorical, pl.Enum)) else plain
    if plain.dtype == pl.String:
        return plain.fill_null(missing).replace("", missing).alias(series.name)
    different = plain.unique()
    labels = [missing if value is None or value != value else canonical_label(value) for value in different.to_list()]
    replaced = plain.replace_strict(different, pl.Series(labels, dtype=pl.String), return_dtype=pl.String)
    return replaced.cast(pl.String).alias(series.name)  # a column without rows would keep its type


def column_facts(
    series: pl.Series,
    hierarchy: Hierarchy | None = None,
    units: pl.Series | None = None,
    multiplicity: Longs | None = None,
) -> ColumnFacts:
    """What models may know of a column, counted from the column itself; with `units`, each of them once per value, and
    with `multiplicity`, each row as many times.

    >>> column_facts(pl.Series("pay", [20, 10, 20])).totals.tolist()
    [1, 2]
    """
    missing = missing_label(series, hierarchy=hierarchy)
    if units is None and multiplicity is not None:
        standing = pl.DataFrame([series.alias("label"), pl.Series("len", multiplicity)])
        counted = standing.group_by("label").agg(pl.col("len").sum())
    elif units is None:
        counted = series.alias("label").to_frame().group_by("label").len()
    else:
        labels_of_units = pl.DataFrame([labels_of_values(series, missing).alias("label"), units.alias("unit")])
        counted = labels_of_units.group_by("label").agg(pl.col("unit").n_unique().alias("len"))
    labels = labels_of_values(counted["label"], missing).to_list()
    rows_of_label: dict[str, int] = {}
    for label, rows in sorted(zip(labels, counted["len"].to_list(), strict=True)):
        rows_of_label[label] = rows_of_label.get(label, 0) + rows
    values = tuple(rows_of_label)
    if hierarchy is not None:
        if missing in rows_of_label:
            # A further value needs one top: several roots, and values with nothing above them, get one.
            flat = hierarchy.height == 0
            hierarchy = (type(hierarchy).flat(hierarchy.values) if flat else hierarchy.rooted()).with_value(missing)
        strangers = [value for value in rows_of_label if value not in hierarchy.index]
        if strangers:
            raise DataError(f"The hierarchy of {series.name!r} does not know {some(strangers)}. Add them to it.")
        values = hierarchy.values
    numbers = values_as_numbers(values, series.dtype)
    if numbers is not None and hierarchy is None:
        order = np.argsort(numbers, kind="stable")
        values, numbers = tuple(values[i] for i in order), numbers[order]
    totals = np.array([rows_of_label.get(value, 0) for value in values], np.int64)
    return ColumnFacts(values, totals, numbers, hierarchy, 0 if units is None else units.n_unique())


def published_classes(
    frame: pl.DataFrame, quasi: Sequence[str], models: Sequence[Model], background: Background
) -> Classes:
    """Group a table by its labels and count what the models look at; `frame` holds no suppressed rows.

    >>> from kanopy.privacy.models import parse_model
    >>> frame = pl.DataFrame({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]})
    >>> found = published_classes(frame, ["zip"], [parse_model("l-distinct:ill:2")], Background(frame.select("ill")))
    >>> found.sizes.tolist(), found.histograms["ill"].tolist()
    ([2, 1], [[1, 1], [1, 0]])
    """
    return published(frame, quasi, models, background)[0]


def published(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    background: Background,
    *,
    without: str | None = None,
) -> tuple[Classes, pl.DataFrame]:
    """The classes as `published_classes`, and what each publishes, column by column, as text.

    `without` leaves out the class that shows only this label in every column, unless there is no other.
    """
    columns = list(dict.fromkeys(name for model in models for name in model.sensitive))
    keys = [f"\0{index}" for index in range(len(quasi))]
    values = [f"\1{index}" for index in range(len(columns))]
    # By column and not by name: a name such as `*` or `^a.*$` would mean many columns.
    named = [frame[name].alias(key) for name, key in zip(quasi, keys, strict=True)]
    value_columns = [_column(frame, background, name).alias(value) for name, value in zip(columns, values, strict=True)]
    # The one pass over all rows; everything after it works on the different combinations.
    unit_columns = [] if background.units is None else [background.units.alias("\0unit")]
    together = [*keys, *values, *(unit.name for unit in unit_columns)]
    table, counted_rows = pl.DataFrame([*named, *value_columns, *unit_columns]), pl.len()
    if background.multiplicity is not None:
        table, counted_rows = table.with_columns(pl.Series("\0rows", background.multiplicity)), pl.col("\0rows").sum()
    cells = table.group_by(together).agg(counted_rows.alias("\0count"))
    people = None if background.population is None else [background.population[name] for name in quasi]
    gaps = {
        key: missing_label(cells[key], *([] if people is None else [people[index]])) for index, key in enumerate(keys)
    }
    for name, value in zip(columns, values, strict=True):
        gaps[value] = missing_label(background.original[name], hierarchy=background.hierarchies.get(name))
    cells = cells.with_columns([labels_of_values(cells[key], gap).alias(key) for key, gap in gaps.items()])
    if without is not None:
        other_cells = cells.filter(~pl.all_horizontal([pl.col(key) == without for key in keys]))
        cells = other_cells if other_cells.height else cells
    # Sorted by rank instead of by text, which is much slower.
    ranked = [pl.col(key).cast(pl.Enum(cells[key].unique().sort())) for key in keys]
    cells = cells.with_columns(ranked).sort(keys)
    begins = cells.select(pl.any_horizontal([pl.col(key) != pl.col(key).shift(1) for key in keys])).to_series()
    first = begins.fill_null(True).to_numpy()
    class_of_cell = np.cumsum(first) - 1
    counts = cells["\0count"].to_numpy().astype(np.int64)
    starts = np.flatnonzero(first)
    sizes = np.add.reduceat(counts, starts) if len(starts) else np.zeros(0, np.int64)
    if unit_columns:
        sizes = _different(class_of_cell, cells["\0unit"], len(sizes))
    grouped = cells.filter(pl.Series(first)).select(pl.col(key).cast(pl.String) for key in keys)
    population = None
    if people is not None:
        everyone = pl.DataFrame([column.alias(key) for column, key in zip(people, keys, strict=True)])
        everyone = everyone.group_by(keys).agg(pl.len().alias("\0people"))
        everyone = everyone.with_columns([labels_of_values(everyone[key], gaps[key]).alias(key) for key in keys])
        everyone = everyone.group_by(keys).agg(pl.col("\0people").sum())
        grouped = grouped.with_columns(pl.Series("\0rows", sizes))
        grouped = grouped.join(everyone, on=keys, how="full", coalesce=True, maintain_order="left")
        grouped = grouped.with_columns(pl.col("\0rows", "\0people").fill_null(0))
        population = grouped["\0people"].to_numpy().astype(np.int64)
        sizes = grouped["\0rows"].to_numpy().astype(np.int64)
    facts, histograms = {}, {}
    for name, value in zip(columns, values, strict=True):
        facts[name] = background.facts.get(name) or column_facts(
            background.original[name],
            background.hierarchies.get(name),
            background.original_units,
            background.original_multiplicity,
        )
        width = len(facts[name].values)
        known_values = pl.Series(list(facts[name].values), dtype=pl.String)
        value_index = cells[value].replace_strict(
            known_values, pl.Series(np.arange(width)), default=None, return_dtype=pl.Int64
        )
        if value_index.null_count():
            raise DataError(f"The column {name!r} of the release holds values that the original column does not have.")
        cell = class_of_cell * width + value_index.to_numpy()
        if unit_columns:
            counted = _different(cell, cells["\0unit"], len(sizes) * width)
        else:
            counted = np.bincount(cell, weights=counts, minlength=len(sizes) * width).astype(np.int64)
        histograms[name] = counted.reshape(len(sizes), width)
    shown_labels = grouped.select(pl.col(key).alias(name) for name, key in zip(quasi, keys, strict=True))
    labels: dict[str, ClassLabels] = {}
    asked = dict.fromkeys(name for model in models for name in (quasi if model.all_quasi else model.quasi))
    for name in asked:
        if name not in quasi:
            raise JobError(f"{name!r} is not a quasi-identifier. {near_miss(name, quasi)}")
        texts = tuple(shown_labels[name].to_list())
        labels[name] = ClassLabels(np.arange(len(texts)), texts, background.hierarchies.get(name))
    survey: dict[str, Any] = {}
    if background.survey is not None:
        rows = pl.DataFrame(
            [labels_of_values(column, gaps[key]).alias(key) for column, key in zip(named, keys, strict=True)]
        )
        numbered = grouped.select(keys).with_row_index("\0class")
        joined = rows.join(numbered, on=keys, how="left", maintain_order="left")["\0class"]
        survey = background.survey.of_classes(joined.cast(pl.Int32).fill_null(-1).to_numpy(), len(sizes))
    if unit_columns and any(model.of_others for model in models):
        numbers = cells["\0unit"].rank("dense").to_numpy().astype(np.int32) - 1
        survey = {**survey, "class_of_row": class_of_cell.astype(np.int32), "units": Units(numbers)}
    classes = Classes(sizes, histograms=histograms, facts=facts, population=population, labels=labels, **survey)
    return classes, shown_labels


def _different(cells: Longs, units: pl.Series, count: int) -> Longs:
    """How many different units each cell has."""
    pairs = pl.DataFrame({"cell": cells, "unit": units}).group_by("cell").agg(pl.col("unit").n_unique())
    units_of_cell = np.zeros(count, np.int64)
    units_of_cell[pairs["cell"].to_numpy()] = pairs["unit"].to_numpy()
    return units_of_cell


def _column(frame: pl.DataFrame, background: Background, name: str) -> pl.Series:
    if name in frame.columns:
        return frame[name]
    hidden = background.unpublished
    if hidden is None or name not in hidden.columns:
        raise DataError(f"The table has no column {name!r}, which a model needs. {near_miss(name, frame.columns)}")
    if hidden.height != frame.height:
        raise DataError(f"The column {name!r} does not have a row for every published row.")
    return hidden[name]
