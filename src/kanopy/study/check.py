"""Look at any table: how anonymous is it as it stands?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._core.units import KNOWN_ALL
from kanopy._errors import DataError, JobError, near_miss
from kanopy._lazy import public
from kanopy._mixins import DictMixin, ReprMixin
from kanopy._usage import Needs, checked, refuse_in_vain
from kanopy.metrics.risk.class_sizes import risk
from kanopy.study.earlier_release import JointRisk, joined_releases
from kanopy.study.subject import (
    SURVEY,
    Subject,
    column_names,
    refuse_alone,
    refuse_elsewhere,
    refuse_joined,
    refuse_unused,
)

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints, Mask
    from kanopy._core.classes import Classes, ColumnFacts
    from kanopy._core.units import Units
    from kanopy._job.coercion import JobSource
    from kanopy._table.grouping import NumberedRows
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.privacy.models import Model, ModelSource
    from kanopy.verify.regroup import Background


@dataclass(frozen=True)
class ModelCheck(DictMixin, ReprMixin):
    """Whether a model holds, and if not which classes fail: how many, how many rows they have, and the first few.

    A failing class is named by what it publishes, column by column. `unguarded` are the sensitive columns whose values
    suppressed rows show though the model does not hold for them.
    """

    model: str
    explanation: str
    holds: bool
    failing_classes: int
    failing_rows: int
    examples: tuple[dict[str, str], ...] = ()
    unguarded: tuple[str, ...] = ()

    json_names = {"model": "name"}  # noqa: RUF012


@public("kanopy")
@dataclass(frozen=True)
class Check(DictMixin, ReprMixin):
    """How rows group by the quasi-identifiers.

    `k` is the size of the smallest class, in rows, or in people where a unit was named (`counted`); then `unique_rows`
    are people, and risks are of what is known of each of them. Rows with `*` in every quasi-identifier are suppressed:
    nobody can be looked for among them, so they are no class of `classes` and `k`. What they show of sensitive columns
    is judged like that of any class.
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
    beside: JointRisk | None = None
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


@public("kanopy")
@checked
def check(
    data: Any,
    job: JobSource | None = None,
    *,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    models: ModelSource | Sequence[ModelSource] | None = None,
    population: Any = None,
    as_release: bool = False,
    beside: Any = None,
    on: str | None = None,
    beside_quasi: str | Iterable[str] | None = None,
    in_order: bool = True,
    one_level: bool = False,
    engine: str = "auto",
    **settings: Any,
) -> Check:
    """Group a table by its quasi-identifiers, count, and ask the models.

    `data` is a table or where one is. `job` is a job in any form: the table is read as `anonymize` reads it, and k and
    the models of the job are asked. `quasi`, `sensitive`, `models` and further `settings` (`k`, `unit`, `known`,
    `separators`, `hierarchies`, `sampling_weight`, `household`, `missing_tokens`, …) are arguments of `Job`; they take
    the place of what the job says, models are added. `as_release` says that the table is a release that the job made:
    it is read as it stands, without skipping rows again.

    For each sensitive column, `distinct` is the smallest number of different values in a class (its l-diversity).
    Models such as t-closeness compare with the table as given, but for suppressed rows without any value. Suppressed
    rows publish no quasi-identifier, so k does not count them; what they show of sensitive columns must be as safe as
    in any class, and is told of at least k of them.

    `beside` is an earlier release of the same people, or a list of several releases and tables: what all say together
    is counted as well, rows (or people, where several rows are about one) joined by the column `on`, else in order, or,
    where a release was shuffled (`in_order=False`), by what both publish.
    `beside_quasi` are its quasi-identifiers, if not those of this one and all columns that this one lacks; `one_level`
    says that both have one level per column. With a `unit` people are counted, not rows, and k must hold for what is
    `known` of each. Of a quasi-identifier that holds lists, or texts that `separators` part into such, records are
    counted, and `known` is how many elements of one others may know.

    `engine` says where rows are counted: in memory, `stream` (files larger than memory), `database` or `spark`, which a
    frame of Spark chooses; only the distinct rows of the columns that are looked at come here then.

    >>> check({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]}, quasi="zip", sensitive="ill").k
    1
    >>> found = check({"zip": ["1", "1", "*"], "ill": ["a", "b", "a"]}, quasi="zip", models="l-distinct:ill:2")
    >>> found.holds, found.models[0].unguarded
    (False, ('ill',))
    """
    from kanopy._table.grouping import number_rows, require_columns
    from kanopy.study.list_elements import opened

    subject = Subject.of(
        data, job, as_release=as_release, quasi=quasi, sensitive=sensitive, models=models, population=population,
        engine=engine, **settings,
    )  # fmt: skip
    wanted, asked = subject.job, subject.models
    given = {"population": population, **settings}
    refuse_unused(asked, [name for name in SURVEY if given.get(name) is not None])
    if not wanted.quasi:
        raise DataError("Name at least one quasi-identifier to check.")
    refuse_alone(beside, on=on, beside_quasi=beside_quasi)
    refuse_joined(beside, on=on, in_order=in_order, one_level=one_level)
    _refuse_unlooked(settings.get("hierarchies"), asked)
    refuse_elsewhere(data, engine, beside=beside)
    weighted = any(model.needs_weights for model in asked)
    survey = [name for name in (wanted.sampling_weight, wanted.household) if name is not None] if weighted else []
    require_columns(subject.frame, [*wanted.quasi, *wanted.sensitive, *survey])
    subject.require_unit()
    frame, units, lists = opened(
        subject.frame, wanted.quasi, wanted.separators, wanted.unit, wanted.known_rows or KNOWN_ALL, part=as_release
    )
    if lists is not None and (survey or subject.population is not None):
        raise JobError("Weights, households and populations concern rows: leave them out for lists.")
    rows = number_rows(frame, wanted.quasi, units=units)
    judged = _judged(replace(subject, frame=frame), rows, units, survey)
    sizes = rows.sizes
    risk_numbers = risk(sizes, (), fitting=None if units is None else units.fitting(rows.class_of_row, len(sizes)))
    together = None
    if beside is not None:
        together = joined_releases(
            frame, beside, wanted.quasi, k=max((model.least_size for model in asked), default=2), key=on,
            unit=wanted.unit, earlier_quasi=column_names(beside_quasi), in_order=in_order, one_level=one_level,
        )  # fmt: skip
    return Check(
        rows=subject.frame.height,
        classes=len(sizes),
        k=int(sizes.min()) if len(sizes) else 0,
        unique_rows=risk_numbers.unique_rows,
        suppressed_rows=rows.suppressed,
        average_class=int(sizes.sum()) / len(sizes) if len(sizes) else 0.0,
        largest_class=int(sizes.max()) if len(sizes) else 0,
        highest_risk=risk_numbers.highest_prosecutor,
        average_risk=risk_numbers.average_prosecutor,
        sensitive={name: {"distinct": _fewest_values(frame[name], rows)} for name in wanted.sensitive if len(sizes)},
        models=judged,
        beside=together,
        counted="rows" if units is None else units.called,
        units=None if units is None else units.count,
    )


def _refuse_unlooked(hierarchies: Mapping[str, Any] | None, models: Sequence[Model]) -> None:
    """Refuse hierarchies of columns that no model looks at: labels are compared as they stand."""
    looked_at = {name for model in models for name in (*model.sensitive, *model.quasi)}
    if hierarchies and not looked_at & set(hierarchies):
        needs = "a model that looks at the hierarchy of one of their columns, such as t-hierarchical"
        refuse_in_vain({"hierarchies": Needs(needs, lambda asked: False)})


def _judged(
    subject: Subject, numbered: NumberedRows, units: Units | None, survey: Sequence[str] = ()
) -> tuple[ModelCheck, ...]:
    import polars as pl

    from kanopy._table.grouping import suppressed_rows
    from kanopy.privacy.models import KAnonymity, failing
    from kanopy.verify.regroup import Background, SurveyColumns, labels_of_values, published

    frame, quasi, models, people = subject.frame, subject.job.quasi, subject.models, subject.population
    if not models:
        return ()
    needed = list(dict.fromkeys(name for model in models for name in model.sensitive))
    if absent := [name for name in needed if name not in frame.columns]:
        called = next(model.name for model in models if absent[0] in model.sensitive)
        hint = near_miss(absent[0], frame.columns)
        raise DataError(f"The model {called!r} names a column that the table does not have: {absent[0]!r}. {hint}")
    if people is not None and people.height < frame.height:
        raise DataError(
            f"The population has {people.height:,} rows, fewer than the {frame.height:,} rows of the table. Give the "
            "table of the whole population."
        )
    whose = None if units is None else pl.Series("\0unit", units.of_row)
    called = "rows" if units is None else units.called
    if units is not None and (
        alone := [
            model_needing.name
            for model_needing in models
            if model_needing.needs_weights or model_needing.needs_households
        ]
    ):
        raise DataError(
            f"The model {alone[0]!r} adds up the sampling weights of rows: and would count {units.called} with "
            "several rows more than once. Leave the unit out, or the model."
        )
    hierarchies = subject.hierarchies([*needed, *(name for model in models for name in model.quasi)])
    hidden = suppressed_rows(frame, quasi)
    facts = {name: _facts(frame[name], hierarchies.get(name), whose, hidden) for name in needed}
    for model in models:
        if subject.as_release or hidden.any():  # what a model names may have been left out with suppressed rows
            model.require(facts)
        else:
            model.check(facts)
    labelled = any(model.quasi or model.all_quasi or model.needs_weights for model in models)
    background = Background(
        frame[needed], hierarchies, population=people, facts=facts, units=whose, original_units=whose,
        survey=SurveyColumns(*(frame[name] for name in survey)) if survey else None,
    )  # fmt: skip
    class_of_row = numbered.class_of_row
    if people is None and not labelled:
        classes = _classes(frame, facts, numbered, hierarchies, units)
        firsts = frame[list(quasi)]

        def shown(number: int) -> dict[str, str]:
            row = firsts[int(numbered.first[number])]
            return {name: str(labels_of_values(row[name])[0]) for name in quasi}
    else:
        classes, names = published(frame, quasi, models, background, without=SUPPRESSED_LABEL)
        if units is not None:
            class_of_row = _class_of_row(frame, quasi, numbered, names, people)

        def shown(number: int) -> dict[str, str]:
            return {name: str(names[name][number]) for name in quasi}

    unsafe_by_model = _told_of_suppressed(subject, hidden, background) if hidden.any() else {}
    checks = []
    for model in models:
        wrong_classes = failing(model, classes) & (classes.sizes > 0)
        if hidden.all() and (model.sensitive or model.all_quasi):  # suppressed rows: what they show decides
            wrong_classes[:] = False
        if units is not None and isinstance(model, KAnonymity) and not hidden.all():
            # What may be known of a person can be rare though no class is: all classes that show it fail. Rows that
            # are all suppressed show nothing by which they could be known.
            unsafe = units.leaving(class_of_row, classes.count, model.k)
            wrong_classes[np.unique(class_of_row[unsafe])] = True
        where = np.flatnonzero(wrong_classes)[:5]
        examples = [shown(int(i)) for i in where]
        rows, failed = int(classes.sizes[wrong_classes].sum()), int(wrong_classes.sum())
        if units is not None:
            rows = len(np.unique(units.of_row[np.append(wrong_classes, False)[class_of_row]]))
        if model in unsafe_by_model:
            rows += int(hidden.sum()) if units is None else len(np.unique(units.of_row[hidden]))
            failed, examples = failed + 1, [dict.fromkeys(quasi, SUPPRESSED_LABEL), *examples][:5]
        unsafe_columns = tuple(unsafe_by_model.get(model, ()))
        checks.append(
            ModelCheck(model.name, model.said(called), not failed, failed, rows, tuple(examples), unsafe_columns)
        )
    return tuple(checks)


def _facts(series: pl.Series, hierarchy: Hierarchy | None, whose: pl.Series | None, hidden: Mask) -> ColumnFacts:
    """What models may know of a column. Where suppressed rows have none of its values, they are no part of it."""
    import polars as pl

    from kanopy.verify.regroup import column_facts
    from kanopy.verify.suppressed import tells

    mask = pl.Series(hidden)
    if hidden.any() and not hidden.all() and not tells(series.filter(mask)).any():
        series, whose = series.filter(~mask), None if whose is None else whose.filter(~mask)
    return column_facts(series, hierarchy, whose)


def _told_of_suppressed(subject: Subject, hidden: Mask, background: Background) -> dict[Model, list[str]]:
    """Per model the sensitive columns whose values suppressed rows show though it does not hold for them.

    Rows that were generalized to `*` look like suppressed ones, whose values may have been left out: if those that do
    show values are safe without the others, they are.
    """
    import polars as pl

    from kanopy.verify.people import UnitColumns
    from kanopy.verify.suppressed import tells, unguarded

    models, quasi = subject.models, subject.job.quasi
    columns = dict.fromkeys((*subject.job.sensitive, *(name for model in models for name in model.sensitive)))
    unsafe_by_model: dict[Model, list[str]] = {}
    for name in columns:
        column = subject.frame[name]
        for rows in (hidden, hidden & tells(column).to_numpy()):
            mask = pl.Series(rows)
            units = background.units
            whose = None if units is None else UnitColumns(pl.DataFrame([units.filter(mask)]))
            arguments = (subject.frame.filter(mask), quasi, models, [name], background, whose)
            unsafe = [model for _, model in unguarded(*arguments)] if rows.any() else []
            if not unsafe:
                break
        for model in unsafe:
            unsafe_by_model.setdefault(model, []).append(name)
    return unsafe_by_model


def _class_of_row(
    frame: pl.DataFrame, quasi: Sequence[str], numbered: NumberedRows, names: pl.DataFrame, people: pl.DataFrame | None
) -> Ints:
    """The class of every row (-1: none) by what classes publish, `names`, in the order of these."""
    import polars as pl

    from kanopy.verify.regroup import labels_of_values, missing_label

    keys, labels = [f"\0{index}" for index in range(len(quasi))], []
    for name, key in zip(quasi, keys, strict=True):
        gap = missing_label(frame[name], *([] if people is None else [people[name]]))
        labels.append(labels_of_values(frame[name][numbered.first.tolist()], gap).alias(key))
    published_names = pl.DataFrame([names[name].alias(key) for name, key in zip(quasi, keys, strict=True)])
    joined = pl.DataFrame(labels).join(
        published_names.with_row_index("\0class"), on=keys, how="left", maintain_order="left"
    )
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
    for name, column_facts in facts.items():
        labels, codes = column_values(frame[name]).sorted_as_text()
        number_of_value = {value: number for number, value in enumerate(column_facts.values)}
        gap = missing_label(frame[name], hierarchy=hierarchies.get(name))
        # A missing value that is not known is one of suppressed rows, which are in no class.
        moved = np.array(
            [number_of_value.get(gap, 0) if label is None else number_of_value[label] for label in labels], np.int64
        )
        count = histogram if units is None else units.histogram
        histograms[name] = count(numbered.class_of_row, moved[codes], len(numbered.sizes), len(column_facts.values))
    return Classes(numbered.sizes, histograms=histograms, facts=dict(facts))


def _fewest_values(column: pl.Series, numbered: NumberedRows) -> int:
    """The smallest number of different values in a class; a missing value is one, however it is written."""
    from kanopy._core.numbering import SMALL_ALONE, number_rows
    from kanopy._table.column import column_values

    labels, codes = column_values(column).sorted_as_text()
    pairs = number_rows([numbered.class_of_row, codes], [len(numbered.sizes), len(labels)], small=SMALL_ALONE)
    return int(np.bincount(numbered.class_of_row[pairs.first]).min())
