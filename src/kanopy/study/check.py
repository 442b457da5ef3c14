"""Look at any table: how anonymous is it as it stands?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import DataError, JobError, near_miss, some
from kanopy._shown import Plain, Short
from kanopy.metrics.risk.class_sizes import risk
from kanopy.metrics.risk.weighted import HOUSEHOLD_ALONE
from kanopy.privacy.models import ModelSource, make_models
from kanopy.study.beside import Beside
from kanopy.study.beside import beside as both_releases

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints
    from kanopy._core.classes import Classes, ColumnFacts
    from kanopy._core.units import Units
    from kanopy._table.grouping import NumberedRows
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.privacy.models import Model


@dataclass(frozen=True)
class ModelCheck(Plain, Short):
    """Whether a model holds, and if not which classes fail: how many, how many rows they have, and the first few.

    A failing class is named by what it publishes, column by column.
    """

    model: str
    explanation: str
    holds: bool
    failing_classes: int
    failing_rows: int
    examples: tuple[dict[str, str], ...] = ()

    json_names = {"model": "name"}  # noqa: RUF012


@dataclass(frozen=True)
class Check(Plain, Short):
    """How rows group by the quasi-identifiers.

    `k` is the size of the smallest class, in rows, or in people where a unit was named (`counted`); then `unique_rows`
    are people, and risks are of what is known of each of them. Rows with `*` in every quasi-identifier are suppressed:
    they are counted in `suppressed_rows` and form no class.
    """

    rows: int
    classes: int
    k: int
    unique_rows: int
    suppressed_rows: int
    average_class: float
    largest_class: int
    highest_risk: float
    average_risk: float
    sensitive: dict[str, dict[str, int]]
    models: tuple[ModelCheck, ...] = ()
    beside: Beside | None = None
    counted: str = "rows"
    units: int | None = None

    json_names = {"k": "smallest_class", "suppressed_rows": "suppressed"}  # noqa: RUF012

    @property
    def holds(self) -> bool:
        """Whether every model asked for holds, also beside an earlier release where there is one."""
        return all(model.holds for model in self.models) and (self.beside is None or self.beside.holds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `kanopy check --json` prints."""
        plain = {**super().to_dict(), "holds": self.holds}
        if self.beside is None:
            del plain["beside"]
        return plain if self.units is not None else {n: v for n, v in plain.items() if n not in ("counted", "units")}

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.check(self.to_dict())


def check(
    data: Any,
    quasi: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    *,
    models: Sequence[ModelSource] = (),
    population: Any = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    sampling_weight: str | None = None,
    household: str | None = None,
    beside: Any = None,
    key: str | None = None,
    beside_quasi: Sequence[str] | None = None,
    in_order: bool = True,
    one_level: bool = False,
    unit: str | Sequence[str] = (),
    known: int | str = 1,
    separators: Mapping[str, str] | None = None,
) -> Check:
    """Group a table by its quasi-identifiers, count, and ask the models.

    For each sensitive column, `distinct` is the smallest number of different values in a class (its l-diversity).
    Models such as t-closeness compare with the table as given, `*` rows included. `sampling_weight` and `household` are
    the columns that models such as individual-risk look at. `beside` is an earlier release of the same people: what
    both say together is counted as well, rows joined by the column `key`, else in order, or, where a release was
    shuffled (`in_order=False`), by what both publish. `beside_quasi` are its quasi-identifiers, if not those of this
    one and all columns that this one lacks; `one_level` says that both have one level per column. `unit` names the
    columns that say whose row it is: then people are counted, not rows, and k must hold for what is `known` of each
    (see `Job`). A quasi-identifier that holds lists, or texts that `separators` part into such, is looked at element by
    element: then records are counted, and `known` is how many elements of one others may know.

    >>> check({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]}, quasi=["zip"], sensitive=["ill"]).k
    1
    """
    from kanopy._kinds import Names, taken
    from kanopy._table.frames import to_polars
    from kanopy._table.grouping import number_rows, require_columns
    from kanopy.study.elements import opened

    quasi, sensitive = taken(Names(), quasi, "quasi"), taken(Names(), sensitive, "sensitive")
    frame, _ = to_polars(data)
    unit = taken(Names(), unit, "unit")
    if wrong := [name for name in unit if name in (*quasi, *sensitive)]:
        raise DataError(f"The unit {some(wrong)} has another role too. Give it one.")
    if not quasi:
        raise DataError("Name at least one quasi-identifier to check.")
    survey = [name for name in (sampling_weight, household) if name is not None]
    if household is not None and sampling_weight is None:
        raise JobError(HOUSEHOLD_ALONE.format(household))
    require_columns(frame, [*quasi, *sensitive, *survey])
    whole = frame.height
    frame, units, lists = opened(frame, quasi, separators or {}, unit, known)
    if lists is not None and (survey or population is not None):
        raise JobError("Weights, households and populations are of rows: leave them out where lists are looked at.")
    rows = number_rows(frame, quasi, units=units)
    asked = make_models(models)
    judged = _judged(frame, quasi, asked, population, hierarchies or {}, rows, units, survey)
    sizes = rows.sizes
    found = risk(sizes, (), fitting=None if units is None else units.fitting(rows.class_of_row, len(sizes)))
    together = None
    if beside is not None and units is not None:
        raise DataError("What two releases say together is counted in rows: leave the unit out, or the other release.")
    if beside is not None:
        k = max((model.least_size for model in asked), default=2)
        together = both_releases(
            frame, to_polars(beside)[0], quasi, k=k, key=key, earlier_quasi=beside_quasi, in_order=in_order,
            one_level=one_level,
        )  # fmt: skip
    return Check(
        rows=whole,
        classes=len(sizes),
        k=int(sizes.min()) if len(sizes) else 0,
        unique_rows=found.unique_rows,
        suppressed_rows=rows.suppressed,
        average_class=int(sizes.sum()) / len(sizes) if len(sizes) else 0.0,
        largest_class=int(sizes.max()) if len(sizes) else 0,
        highest_risk=found.highest_prosecutor,
        average_risk=found.average_prosecutor,
        sensitive={name: {"distinct": _fewest_values(frame[name], rows)} for name in sensitive if len(sizes)},
        models=judged,
        beside=together,
        counted="rows" if units is None else units.called,
        units=None if units is None else units.count,
    )


def _judged(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    population: Any,
    hierarchies: Mapping[str, Hierarchy],
    numbered: NumberedRows,
    units: Units | None,
    survey: Sequence[str] = (),
) -> tuple[ModelCheck, ...]:
    import polars as pl

    from kanopy._table.frames import to_polars
    from kanopy.privacy.models import KAnonymity, failing
    from kanopy.verify.regroup import Background, SurveyColumns, column_facts, labels_of_values, published

    if not models:
        return ()
    needed = list(dict.fromkeys(name for model in models for name in model.sensitive))
    for model in models:
        wrong = [name for name in model.sensitive if name in quasi]
        absent = [name for name in model.sensitive if name not in frame.columns]
        if absent:
            hint = near_miss(absent[0], frame.columns)
            raise DataError(
                f"The model {model.name!r} names a column that the table does not have: {absent[0]!r}. {hint}"
            )
        if wrong:
            raise DataError(
                f"The model {model.name!r} names the quasi-identifier {wrong[0]!r}. Name a sensitive column."
            )
    people = None
    if any(model.needs_population for model in models):
        if population is None:
            raise DataError("A model compares with a population. Give one (population=…, --population FILE).")
        people, _ = to_polars(population)
        absent = [name for name in quasi if name not in people.columns]
        if absent:
            raise DataError(f"The population has no column {some(absent)}. {near_miss(absent[0], people.columns)}")
        if people.height < frame.height:
            raise DataError(
                f"The population has {people.height:,} rows, fewer than the {frame.height:,} rows of the table. "
                "Give the table of everybody the rows could be about."
            )
    whose = None if units is None else pl.Series(units.of_row)
    called = "rows" if units is None else units.called
    facts = {name: column_facts(frame[name], hierarchies.get(name), whose) for name in needed}
    for model in models:
        model.check(facts)
    alone = [model.name for model in models if model.needs_weights or model.needs_households]
    if units is not None and alone:
        raise DataError(
            f"The model {alone[0]!r} adds up the sampling weights of rows: of {units.called} with several rows it "
            "would count some twice. Leave the unit out, or the model."
        )
    weighted = [model for model in models if model.needs_weights]
    if weighted and len(survey) < 1 + any(model.needs_households for model in weighted):
        wanted = "a household (household=…, --household) besides its weights" if survey else "sampling weights"
        raise DataError(f"The model {weighted[-1].name!r} needs {wanted} (sampling_weight=…, --weight COLUMN).")
    labelled = any(model.quasi or model.all_quasi or model.needs_weights for model in models)
    class_of_row = numbered.class_of_row
    if people is None and not labelled:
        classes = _classes(frame, facts, numbered, hierarchies, units)
        firsts = frame[list(quasi)]

        def shown(number: int) -> dict[str, str]:
            row = firsts[int(numbered.first[number])]
            return {name: str(labels_of_values(row[name])[0]) for name in quasi}
    else:
        columns = SurveyColumns(*(frame[name] for name in survey)) if weighted else None
        background = Background(
            frame[needed], hierarchies, population=people, survey=columns, units=whose, original_units=whose
        )
        classes, names = published(frame, quasi, models, background, without=SUPPRESSED_LABEL)
        if units is not None:
            class_of_row = _class_of_row(frame, quasi, numbered, names, people)

        def shown(number: int) -> dict[str, str]:
            return {name: str(names[name][number]) for name in quasi}

    found = []
    for model in models:
        wrong_classes = failing(model, classes) & (classes.sizes > 0)
        if units is not None and isinstance(model, KAnonymity):
            # What may be known of a person can be rare though no class is: all classes that show it fail.
            unsafe = units.leaving(class_of_row, classes.count, model.k)
            wrong_classes[np.unique(class_of_row[unsafe])] = True
        where = np.flatnonzero(wrong_classes)[:5]
        examples = tuple(shown(int(i)) for i in where)
        rows = int(classes.sizes[wrong_classes].sum())
        if units is not None:
            rows = len(np.unique(units.of_row[np.append(wrong_classes, False)[class_of_row]]))
        holds = not wrong_classes.any()
        found.append(ModelCheck(model.name, model.said(called), holds, int(wrong_classes.sum()), rows, examples))
    return tuple(found)


def _class_of_row(
    frame: pl.DataFrame, quasi: Sequence[str], numbered: NumberedRows, names: pl.DataFrame, people: pl.DataFrame | None
) -> Ints:
    """The class of every row (-1: none) by what classes publish, `names`, in the order of these."""
    import polars as pl

    from kanopy.verify.regroup import labels_of_values, missing_label

    keys, labels = [f"\0{place}" for place in range(len(quasi))], []
    for name, key in zip(quasi, keys, strict=True):
        gap = missing_label(frame[name], *([] if people is None else [people[name]]))
        labels.append(labels_of_values(frame[name][numbered.first.tolist()], gap).alias(key))
    told = pl.DataFrame([names[name].alias(key) for name, key in zip(quasi, keys, strict=True)])
    joined = pl.DataFrame(labels).join(told.with_row_index("\0class"), on=keys, how="left", maintain_order="left")
    of_class = joined["\0class"].cast(pl.Int32).fill_null(-1).to_numpy()
    return np.asarray(np.append(of_class, np.int32(-1))[numbered.class_of_row])


def _classes(
    frame: pl.DataFrame, facts: Mapping[str, ColumnFacts], numbered: NumberedRows,
    hierarchies: Mapping[str, Hierarchy], units: Units | None,
) -> Classes:  # fmt: skip
    """What models look at, counted from numbered classes: much faster than grouping labels on large tables."""
    from kanopy._core.classes import Classes
    from kanopy._core.histograms import histogram
    from kanopy._table.column import column_values
    from kanopy.verify.regroup import missing_label

    histograms = {}
    for name, known in facts.items():
        labels, codes = column_values(frame[name]).sorted_as_text()
        place = {value: number for number, value in enumerate(known.values)}
        gap = missing_label(frame[name], hierarchy=hierarchies.get(name))
        moved = np.array([place[gap if label is None else label] for label in labels], np.int64)
        count = histogram if units is None else units.histogram
        histograms[name] = count(numbered.class_of_row, moved[codes], len(numbered.sizes), len(known.values))
    return Classes(numbered.sizes, histograms=histograms, facts=dict(facts))


def _fewest_values(column: pl.Series, numbered: NumberedRows) -> int:
    """The smallest number of different values in a class; a missing value is one, however it is written."""
    from kanopy._core.numbering import SMALL_ALONE, number_rows
    from kanopy._table.column import column_values

    labels, codes = column_values(column).sorted_as_text()
    pairs = number_rows([numbered.class_of_row, codes], [len(numbered.sizes), len(labels)], small=SMALL_ALONE)
    return int(np.bincount(numbered.class_of_row[pairs.first]).min())
