"""How risky is a table, before or after anything is done to it? The whole assessment on one page.

Class sizes give prosecutor, journalist and marketer risk; a population (its size, or a table of it) says how many of
the unique rows are unique people; sets of columns show which columns identify; a release of the same people is
attacked with what is known of them; sensitive columns are judged by what their classes give away; and sampling weights,
households and special uniques answer what statisticians ask (`study.survey`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Longs, Mask
from kanopy._core.units import ALL, KNOWN_ALL
from kanopy._errors import DataError, JobError, some
from kanopy._lazy import public
from kanopy._mixins import DictMixin, ReprMixin
from kanopy._parameters import unused
from kanopy._usage import checked, in_vain, refuse_in_vain
from kanopy.engine.opening import PATH, place_of
from kanopy.metrics.risk.class_sizes import THRESHOLDS, Risk, SizeBin, risk, rows_at_risk, size_histogram
from kanopy.metrics.risk.disclosure import Disclosure, People, attribute_disclosure
from kanopy.metrics.risk.identifying import Identifying, identifying_columns
from kanopy.metrics.risk.population import (
    PopulationUniques,
    expected_inverse_sizes,
    population_size,
    population_uniques,
)
from kanopy.study.earlier_release import JointRisk, RowOrder, joined_releases, row_order
from kanopy.study.exposed_endpoints import ExposedEndpoints, exposed_endpoints
from kanopy.study.risk_settings import IN_VAIN, RiskSettings, split_settings
from kanopy.study.subject import Subject, column_names, refuse_alone, refuse_elsewhere, refuse_joined
from kanopy.study.survey import SurveyAnswers, SurveyQuestions, survey_answers
from kanopy.treatments.study import TreatedStudy, study_numbers

if TYPE_CHECKING:
    import polars as pl

    from kanopy._core.units import Units
    from kanopy._job.coercion import JobSource
    from kanopy._table.grouping import NumberedRows
    from kanopy.metrics.risk.linkage import Attack
    from kanopy.study.table_matching import Matched


@dataclass(frozen=True)
class Journalist(DictMixin):
    """Risk for someone who does not know who is in the table, given the population it was drawn from.

    `basis` says how population class sizes are known: `counted` in a population table, `estimated` from the sampling
    fraction, or `worst-case` where nothing is known and the table stands for the population.
    """

    basis: str
    highest: float
    average: float
    k_map: int | None = None
    highest_presence: float | None = None


@dataclass(frozen=True)
class RiskAssessment(ReprMixin):
    """Everything found out about one table. `marketer` is the share of rows expected to be matched rightly."""

    rows: int
    suppressed_rows: int
    quasi: tuple[str, ...]
    suggested_quasi: bool
    threshold: float
    rows_above_threshold: int
    sizes: Risk
    histogram: tuple[SizeBin, ...]
    journalist: Journalist
    marketer: float
    population: PopulationUniques | None
    identifying: Identifying | None
    disclosure: tuple[Disclosure, ...]
    given_away: dict[str, list[dict[str, Any]]]
    attacks: tuple[Attack, ...]
    exposed: tuple[ExposedEndpoints, ...] = ()
    answers: SurveyAnswers = field(default_factory=SurveyAnswers, repr=False)
    """Sampling weights, households, special uniques and combinations of a few columns, where they were asked for."""
    counted: str = "rows"
    units: int | None = None
    """What was counted, and how many of them there are where it was not rows."""
    known: int | str = 1
    """How many rows of one of them others may know."""
    order: RowOrder | None = None
    """Who is found by the place of their row in the release."""
    treated: tuple[TreatedStudy, ...] = ()
    """Risk and utility of treated numbers of the release."""
    beside: JointRisk | None = None
    """What the table gives away together with an earlier release of the same people."""

    @property
    def row_risks(self) -> dict[str, Any]:
        """A column of numbers per answer of a statistician, row by row in the order of the table: for the steward."""
        return self.answers.per_row

    @property
    def share_above_threshold(self) -> float:
        """The share of published rows whose risk lies above the threshold."""
        return self.rows_above_threshold / self.sizes.rows if self.sizes.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data without any value of the table: what `kanopy risk --json` prints."""
        above = {"above": self.threshold, "rows": self.rows_above_threshold, "share": self.share_above_threshold}
        return {
            "rows": self.rows,
            "suppressed": self.suppressed_rows,
            "quasi_identifiers": list(self.quasi),
            "quasi_identifiers_suggested": self.suggested_quasi,
            "threshold": above,
            "smallest_class": self.sizes.smallest_class,
            "prosecutor": {"highest": self.sizes.highest_prosecutor, "average": self.sizes.average_prosecutor},
            "journalist": self.journalist.to_dict(),
            "marketer": self.marketer,
            "classes": self.sizes.classes,
            "unique_rows": self.sizes.unique_rows,
            "unique_share": self.sizes.unique_share,
            "rows_at_risk": self.sizes.to_dict()["rows_above"],
            "class_sizes": [
                {"from": size_bin.low, "to": size_bin.high, "classes": size_bin.classes, "rows": size_bin.rows}
                for size_bin in self.histogram
            ],
            "population": None if self.population is None else self.population.to_dict(),
            "identifying": None if self.identifying is None else self.identifying.to_dict(),
            "disclosure": [column_disclosure.to_dict() for column_disclosure in self.disclosure],
            "attacks": [attack.to_dict() for attack in self.attacks],
            "treated_numbers": [numbers_of_column.to_dict() for numbers_of_column in self.treated],
            **self.answers.to_dict(),
            **({} if self.units is None else {"counted": self.counted, "units": self.units, "known": self.known}),
            **({} if self.order is None else {"row_order": {**self.order.to_dict(), "share": self.order.share}}),
            **({} if self.beside is None else {"beside": self.beside.to_dict()}),
            "exposed_ends": [
                {"column": endpoint.column, "ends": len(endpoint.ends), "fewer_than": endpoint.k}
                for endpoint in self.exposed
            ],
        }

    def to_html(self, source: str = "a table") -> str:
        """A self-contained page. It names columns and, where classes give values away, those values."""
        from kanopy.report.pages.risk_page import risk_page

        return risk_page(
            self.to_dict(), given_away=self.given_away, source=source, values=self.answers.risky_values,
            combinations=self.answers.unsafe_combinations(),
        )  # fmt: skip

    def _repr_html_(self) -> str:
        from kanopy.report import notebook

        return notebook.risk_assessment(self.to_dict())


@public("kanopy")
@checked
def assess_risk(
    data: Any,
    job: JobSource | None = None,
    *,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    population: Any = None,
    as_release: bool = False,
    released: Any = None,
    beside: Any = None,
    on: str | None = None,
    beside_quasi: str | Iterable[str] | None = None,
    in_order: bool = True,
    one_level: bool = False,
    settings: RiskSettings | Mapping[str, Any] | None = None,
    engine: str = "auto",
    **more: Any,
) -> RiskAssessment:
    """Assess the risk of a table by what others may know (`quasi`).

    `data` is a table or where one is. `job` is a job in any form: the table is read as `anonymize` reads it, and the
    columns, units, weights and the population that the job names are taken. `quasi`, `sensitive` and `more` (`unit`,
    `known`, `separators`, `hierarchies`, `sampling_weight`, `household`, `missing_tokens`, …) are arguments of `Job`
    that take the place of the job's; fields of `RiskSettings` may be given by their names as well. `as_release` says
    that the table is a release of the job: it is read as it stands.

    Without `quasi`, the columns that identify people are looked for first and taken. `population` is a table with the
    same columns, whose classes are counted (k-map, Sweeney 2002); else the settings say how large it is. `released` is
    a release of this table: original rows are looked for in it, exactly and by nearest neighbour; its rows are in the
    same order, or `on` names a column that both have. `beside` is an earlier release of the same people, where the
    table is one itself: what both give away together, and who came or went between them (`on`, `beside_quasi`,
    `in_order` and `one_level` as in `kanopy.check`).

    With a `unit` people are counted, not rows, each once, by one over the number of people who fit what is `known` of
    them: one row, m rows, or "all" (see `Job`). Of a quasi-identifier that holds lists, or texts that `separators` part
    into such, records are counted, and `known` is how many elements of one others may know.

    For a sample survey, `sampling_weight` is the column with the number of people that a row represents, and
    `household` the one whose equal values live together (Benedetti and Franconi 1998). `row_risks` has risks by row.

    `engine` is as in `kanopy.check`; one that counts distinct rows says nothing row by row.

    >>> people = {"zip": ["1", "1", "2", "2"], "sex": ["f", "m", "f", "f"]}
    >>> found = assess_risk(people, quasi="zip, sex", settings=RiskSettings(population_size=40))
    >>> found.sizes.highest_prosecutor, found.marketer < 0.3, found.population.chosen
    (1.0, True, 'pitman')
    """
    from kanopy._table.frames import to_polars
    from kanopy.study.list_elements import opened

    asked, more = split_settings(settings, more)
    refuse_elsewhere(data, engine, released=released, beside=beside)
    subject = Subject.of(data, job, as_release=as_release, quasi=quasi, sensitive=sensitive, engine=engine, **more)
    refuse_alone(beside if released is None else released, on=on)
    refuse_alone(beside, beside_quasi=beside_quasi)
    refuse_joined(beside, on=on, in_order=in_order, one_level=one_level)
    wanted = subject.job
    about = SimpleNamespace(sampling_weight=wanted.sampling_weight, released=released)
    refuse_in_vain(
        unused(asked, about, "study")
        | in_vain([name for name in more if more[name] is not None], IN_VAIN, about, "study")
    )
    survey = SurveyQuestions(
        wanted.sampling_weight, wanted.household, asked.missing_means, asked.exact, asked.suda, dict(asked.every),
        asked.sampling_fraction, asked.threshold,
    )  # fmt: skip
    named = wanted.population if asked.population_size is None and asked.sampling_fraction is None else None
    source = population if population is not None else named
    from kanopy._job.inputs import read_other

    everyone = None if source is None else read_other(source, subject.job)
    subject.require_unit()
    frame, units, lists = opened(
        subject.frame, wanted.quasi, wanted.separators, wanted.unit, wanted.known_rows or KNOWN_ALL, as_release
    )
    if lists is not None and (survey.asked or everyone is not None or released is not None):
        raise JobError(
            "For lists, only elements are counted: leave out weights, special uniques, sets of columns, the "
            "population and the release."
        )
    assessment = table_risk(
        frame, wanted.quasi, wanted.sensitive, asked, population=everyone, units=units, survey=survey,
        leave_out=wanted.unit,
    )  # fmt: skip
    assessment = replace(assessment, rows=subject.frame.height)
    if place_of(data, engine) not in (PATH, "memory"):  # rows come in another order than they have there
        assessment = replace(assessment, answers=replace(assessment.answers, per_row={}))
    if released is not None:
        from kanopy.study.table_matching import match_tables

        hierarchies = subject.hierarchies(assessment.quasi)
        matched = match_tables(
            frame, released, quasi=assessment.quasi, hierarchies=hierarchies, key=on, compare=assessment.quasi
        )
        other = to_polars(released)[0]
        shared = [name for name in assessment.quasi if name in other.columns]
        assessment = replace(
            assessment,
            attacks=attack_matched(matched, assessment.quasi, seed=asked.seed, units=units),
            order=row_order(matched.partner),
            exposed=exposed_endpoints(frame, other, shared, asked.least_rows, units=units),
            treated=study_numbers(frame, other, matched.partner, wanted.protect, assessment.quasi),
        )
    if beside is not None:
        together = joined_releases(
            frame, beside, assessment.quasi, k=asked.least_rows, key=on, unit=wanted.unit, in_order=in_order,
            earlier_quasi=column_names(beside_quasi), one_level=one_level,
        )  # fmt: skip
        assessment = replace(assessment, beside=together)
    return assessment


def table_risk(
    frame: pl.DataFrame,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    settings: RiskSettings | None = None,
    *,
    population: Any = None,
    suppressed: Mask | None = None,
    units: Units | None = None,
    survey: SurveyQuestions | None = None,
    leave_out: Sequence[str] = (),
) -> RiskAssessment:
    """What a table gives away by itself. `suppressed` says which rows publish no quasi-identifier; otherwise those that
    show `*` in all. Where columns are looked for, it is not among `leave_out`.

    >>> import polars as pl
    >>> table_risk(pl.DataFrame({"zip": ["1", "1", "2"]}), ["zip"]).sizes.unique_rows
    1
    """
    from kanopy._table.grouping import code_columns, number_rows, require_columns

    asked = settings or RiskSettings()
    require_columns(frame, [*quasi, *sensitive])
    looked_at = list(quasi) or [name for name in frame.columns if name not in (*sensitive, *leave_out)]
    identifying = None
    if asked.largest_subset or not quasi:
        columns, largest = code_columns(frame, looked_at), asked.largest_subset or 3
        identifying = identifying_columns(
            looked_at, [c.codes for c in columns], [c.size for c in columns], largest=largest, units=units
        )
    suggested = not quasi
    if identifying is not None and suggested:
        quasi = identifying.suggested
        if not quasi:
            raise DataError(
                "No column singles out enough rows to be suggested as a quasi-identifier. Name the columns that an "
                "attacker may know (-q)."
            )
    grouped = number_rows(frame, quasi, suppressed, units)
    answers = survey_answers(frame, quasi, survey or SurveyQuestions(), grouped.class_of_row >= 0, units)
    sizes = grouped.sizes
    fitting = None if units is None else units.fitting(grouped.class_of_row, len(sizes))
    of_population = _Population(population, asked.population_size, asked.sampling_fraction)
    journalist, marketer, uniques = _population(frame, quasi, grouped, of_population, units, fitting)
    disclosed, given_away = _disclosure(frame, quasi, sensitive, grouped, units)
    return RiskAssessment(
        rows=frame.height,
        suppressed_rows=grouped.suppressed,
        quasi=tuple(quasi),
        suggested_quasi=suggested,
        threshold=asked.threshold,
        rows_above_threshold=rows_at_risk(sizes, asked.threshold, fitting),
        sizes=risk(sizes, THRESHOLDS, fitting=fitting),
        histogram=size_histogram(sizes, fitting=fitting),
        journalist=journalist,
        marketer=marketer,
        population=uniques,
        identifying=identifying,
        disclosure=disclosed,
        given_away=given_away,
        attacks=(),
        answers=answers,
        counted="rows" if units is None else units.called,
        units=None if units is None else units.count,
        known=1 if units is None else units.known or KNOWN_ALL,
    )


def attack_matched(
    matched: Matched, quasi: Sequence[str], *, seed: int = 0, units: Units | None = None
) -> tuple[Attack, ...]:
    """Look for every original row in a release that lies beside it: exactly, and by nearest neighbour."""
    from kanopy.metrics.risk.linkage import attack

    columns = [matched.columns[name] for name in quasi if name in matched.columns]
    if not columns:
        return ()
    return tuple(
        attack(
            columns,
            matched.partner,
            kind=kind,
            hidden=matched.hidden,
            seed=seed,
            units=None if units is None else units.of_row,
        )
        for kind in ("exact", "nearest")
    )


@dataclass(frozen=True, eq=False)
class _Population:
    """What is known of the population: a table of it, its size, or the share of it that the table holds."""

    table: Any = None
    size: int | None = None
    fraction: float | None = None


def _population(
    frame: pl.DataFrame,
    quasi: Sequence[str],
    grouped: NumberedRows,
    of_population: _Population,
    units: Units | None,
    fitting: Longs | None,
) -> tuple[Journalist, float, PopulationUniques | None]:
    """Journalist and marketer risk, and population uniqueness, from whatever is known of the population.

    Where people are counted, each has the risk of the row that says most: one over how many of the population it fits.
    """
    sizes = grouped.sizes
    rows = int(sizes.sum()) if fitting is None else len(fitting)
    if of_population.table is not None:
        if of_population.size is not None or of_population.fraction is not None:
            raise JobError("A population table says how large the population is: leave its size and fraction out.")
        if units is not None and units.known != 1:
            raise JobError("A population table is compared row by row: leave it out where more rows may be known.")
        if not rows:  # everything is suppressed: nobody can be found
            return Journalist("counted", 0.0, 0.0), 0.0, None
        within = population_class_sizes(frame, quasi, grouped, of_population.table, rows)
        presence = sizes / within
        risks = 1.0 / within
        if units is None:
            average, matched = fsum(sizes * risks) / rows, fsum(presence) / rows
        else:
            average = matched = fsum(1.0 / units.least(grouped.class_of_row, within)) / rows
        exact = Journalist("counted", float(risks.max()), average, int(within.min()), float(presence.max()))
        return exact, matched, None
    figures = risk(sizes, fitting=fitting)
    if of_population.size is None and of_population.fraction is None:
        return Journalist("worst-case", figures.highest_journalist, figures.average_prosecutor), figures.marketer, None
    people = population_size(rows, population=of_population.size, sampling_fraction=of_population.fraction)
    if people == rows:
        return Journalist("counted", figures.highest_prosecutor, figures.average_prosecutor), figures.marketer, None
    alike, members = (sizes, sizes) if fitting is None else (fitting, np.ones(rows, np.int64))
    risks = expected_inverse_sizes(alike, rows / people)
    average = fsum(members * risks) / rows  # exact, whatever the order of the classes
    estimated = Journalist("estimated", float(risks.max()), average)
    if units is None:
        return estimated, average, population_uniques(sizes, people)
    # Estimates need everybody to be in one group: those of people whose rows are all alike, if all may be known.
    if units.known != ALL or fitting is None:
        return estimated, average, None
    numbers, counts = np.unique(fitting, return_counts=True)
    return estimated, average, population_uniques(np.repeat(numbers, counts // numbers), people)


def population_class_sizes(
    frame: pl.DataFrame, quasi: Sequence[str], grouped: NumberedRows, population: Any, members: int
) -> Longs:
    """How many people of a population table share the values of each class of a table with so many members."""
    import polars as pl

    from kanopy._table.frames import to_polars
    from kanopy._table.grouping import number_rows

    everyone, _ = to_polars(population)
    absent = [name for name in quasi if name not in everyone.columns]
    if absent:
        raise DataError(f"The population table has no column {some(absent)}. It needs all quasi-identifiers.")
    if everyone.height < members:
        raise DataError(
            f"The population table has {everyone.height:,} rows but the table has {members:,}: a population cannot be "
            "smaller than a sample of it. Give the table of the whole population."
        )
    both = pl.concat([_as_labels(frame, quasi), _as_labels(everyone, quasi)])
    alike = number_rows(both, quasi, np.zeros(both.height, np.bool_))
    people = np.bincount(alike.class_of_row[frame.height :], minlength=len(alike.sizes))
    within = people[alike.class_of_row[grouped.first]]
    lacking = np.flatnonzero(within < grouped.sizes)
    if len(lacking):
        examples = [tuple(frame[list(quasi)].row(int(grouped.first[i]))) for i in lacking[:5]]
        raise DataError(
            f"{len(lacking):,} classes have more rows in the table than in the population, e.g. {some(examples)}. "
            "Everyone in the table must be in the population table, with values at the same level of detail."
        )
    return np.asarray(within, np.int64)


def _as_labels(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Columns as text, so that two tables can be compared whatever types they were read with."""
    import polars as pl

    from kanopy._table.column import as_labels

    return pl.DataFrame([as_labels(frame[name]) for name in names])


def _disclosure(
    frame: pl.DataFrame, quasi: Sequence[str], sensitive: Sequence[str], grouped: NumberedRows, units: Units | None
) -> tuple[tuple[Disclosure, ...], dict[str, list[dict[str, Any]]]]:
    """What the classes give away about each sensitive column, with the worst classes in words."""
    from kanopy._core.numbering import SMALL_ALONE, number_rows
    from kanopy._table.column import column_values

    disclosed, worst = [], {}
    for name in sensitive:
        labels, codes = column_values(frame[name]).sorted_as_text()
        pair, at, counts = number_rows(
            [grouped.class_of_row, codes], [len(grouped.sizes), len(labels)], ascending=True, small=SMALL_ALONE
        )
        groups, values = grouped.class_of_row[at], codes[at]
        people = None
        if units is not None:
            counts = units.people(pair, len(at))
            published_codes = np.where(grouped.class_of_row < 0, -1, codes)
            people = People(units, grouped.class_of_row, grouped.sizes, units.people(published_codes, len(labels)))
        one = attribute_disclosure(name, groups, values, counts, people=people)
        disclosed.append(one)
        examples = []
        for worst_class in one.worst:
            row = int(grouped.first[worst_class.group])
            row_of_value = int(at[np.flatnonzero((groups == worst_class.group) & (values == worst_class.value))[0]])
            labels_of_class = {column: frame[column][row] for column in quasi}
            counted = {"rows": worst_class.rows, "confidence": worst_class.confidence}
            examples.append({"class": labels_of_class, "value": frame[name][row_of_value], **counted})
        worst[name] = examples
    return tuple(disclosed), worst
