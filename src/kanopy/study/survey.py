"""The statistician's risk of a table: sampling weights, households, special uniques, combinations of a few columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import JobError, some
from kanopy.metrics.risk.combinations import UnsafeSet, check_sets, unsafe_sets
from kanopy.metrics.risk.suda import SpecialUniques, special_uniques
from kanopy.metrics.risk.weighted import (
    ANY,
    HOUSEHOLD_ALONE,
    VALUE,
    SurveyRisk,
    household_risks,
    individual_risks,
    matching_sums,
    survey_risk,
)

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Ints, Mask
    from kanopy._core.units import Units


@dataclass(frozen=True)
class SurveyQuestions:
    """What is asked: by which columns rows are weighted and belong together, and how far sets of columns go."""

    weight: str | None = None
    household: str | None = None
    missing_means: str = VALUE
    exact: bool = False
    suda: int = 0
    every: Mapping[int, int] = field(default_factory=dict)
    fraction: float | None = None
    threshold: float = 0.2

    def __post_init__(self) -> None:
        if self.missing_means not in (ANY, VALUE):
            raise JobError(f"A missing value means 'any' or 'value', not {self.missing_means!r}.")
        if self.household is not None and self.weight is None:
            raise JobError(HOUSEHOLD_ALONE.format(self.household))
        if self.suda < 0:
            raise JobError(f"Special uniques are sets of at least 1 column, not {self.suda} (0 leaves them out).")

    @property
    def asked(self) -> bool:
        """Whether anything is."""
        return bool(self.weight is not None or self.suda or self.every)


@dataclass(frozen=True, eq=False)
class SurveyAnswers:
    """What was found. `per_row` has a column of numbers per answer and a row per row of the table; `risky_values` says
    how much of all scores is due to a value of a column. That, and the combinations, are for eyes that may see the
    table."""

    survey: SurveyRisk | None = None
    special: SpecialUniques | None = None
    every: tuple[UnsafeSet, ...] = ()
    asked_every: Mapping[int, int] = field(default_factory=dict)
    rows_in_unsafe: int = 0
    per_row: dict[str, Any] = field(default_factory=dict)
    risky_values: tuple[dict[str, Any], ...] = ()
    values: Mapping[str, tuple[Sequence[str | None], Ints]] = field(default_factory=dict, repr=False)

    def unsafe_combinations(self) -> Iterator[dict[str, Any]]:
        """Every unsafe combination: its columns, their values, how many rows share it, and how many should at least."""
        for unsafe_set in self.every:
            for row, count in zip(unsafe_set.first.tolist(), unsafe_set.counts.tolist(), strict=True):
                values = [labels[codes[row]] for labels, codes in (self.values[name] for name in unsafe_set.columns)]
                yield {"columns": unsafe_set.columns, "values": values, "rows": count, "at_least": unsafe_set.k}

    def to_dict(self) -> dict[str, Any]:
        """Plain data without values of the table."""
        every = None
        if self.asked_every:
            every = {
                "asked": [{"columns": size, "k": k} for size, k in sorted(self.asked_every.items())],
                "rows": self.rows_in_unsafe,
                "sets": [unsafe_set.to_dict() for unsafe_set in self.every],
            }
        return {
            "survey": None if self.survey is None else self.survey.to_dict(),
            "special_uniques": None if self.special is None else self.special.to_dict(),
            "every": every,
        }


def survey_answers(
    frame: pl.DataFrame, quasi: Sequence[str], asked: SurveyQuestions, published: Mask, units: Units | None = None
) -> SurveyAnswers:
    """Answer the questions of a statistician about the rows of a table that publish their quasi-identifiers.

    With `units`, combinations of a few columns are counted in people; weights and special uniques are those of rows.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m", "m"], "w": [10.0, 20.0, 20.0]})
    >>> found = survey_answers(people, ["sex"], SurveyQuestions(weight="w"), np.ones(3, bool))
    >>> found.per_row["people_alike"].tolist()
    [10.0, 40.0, 40.0]
    """
    from kanopy._table.column import column_values
    from kanopy._table.encode import household_codes, sampling_weights
    from kanopy._table.grouping import require_columns

    if not asked.asked:
        return SurveyAnswers()
    asked_columns = [name for name in (asked.weight, asked.household) if name is not None]
    require_columns(frame, asked_columns)
    twice = [name for name in asked_columns if name in quasi] + (
        [asked_columns[0]] if len(set(asked_columns)) < len(asked_columns) else []
    )
    if twice:
        raise JobError(
            f"Named twice: {some(twice)}. Weights and households are not quasi-identifiers, and are two columns."
        )
    check_sets(asked.every, len(quasi))
    rows = np.flatnonzero(published)
    coded = [column_values(frame[name]) for name in quasi]
    # Missing values are -1; where they are a value of their own, that one comes last.
    columns = [coded_column.codes[rows] for coded_column in coded]
    sizes = [len(coded_column.labels) for coded_column in coded]
    shown_codes = columns
    if asked.missing_means == VALUE:
        shown_codes = [np.where(codes < 0, size, codes) for codes, size in zip(columns, sizes, strict=True)]
    per_row: dict[str, Any] = {}

    def note(name: str, numbers: Any, empty: float = 0) -> None:
        whole = np.full(frame.height, empty, np.asarray(numbers).dtype)
        whole[rows] = numbers
        per_row[name] = whole

    summary = special = None
    fraction = asked.fraction
    if asked.weight is not None:
        everyone = sampling_weights(frame[asked.weight])
        weights = everyone[rows]
        alike, people = matching_sums(columns, sizes, weights, asked.missing_means)
        risks = individual_risks(alike, people, exact=asked.exact)
        note("rows_alike", alike)
        note("people_alike", people)
        note("individual_risk", risks)
        household = None
        if asked.household is not None:
            of_row, alone = household_codes(frame[asked.household])
            household = (asked.household, of_row[rows], alone)
            note("household_risk", household_risks(risks, of_row[rows]))
        fraction = min(1.0, frame.height / float(everyone.sum())) if fraction is None else fraction
        summary = survey_risk(
            risks, alike, weights, weight=asked.weight, missing_means=asked.missing_means, exact=asked.exact,
            threshold=asked.threshold, household=household,
        )  # fmt: skip
    risky: list[dict[str, Any]] = []
    if asked.suda:
        special = special_uniques(quasi, shown_codes, asked.suda, sampling_fraction=fraction)
        note("suda_score", special.scores)
        if special.dis is not None:
            note("dis_suda", special.dis)
        for j, (name, coded_column) in enumerate(zip(quasi, coded, strict=True)):
            note(f"suda_share_{name}", special.of_rows(j) / np.maximum(special.scores, 1))
            labels = [*coded_column.labels, None]
            shares = special.of_values(j, shown_codes[j], len(labels))
            risky += [{"column": name, "value": labels[i], "share": float(shares[i])} for i in np.flatnonzero(shares)]
        risky.sort(key=lambda entry: -entry["share"])
    unsafe: list[UnsafeSet] = []
    many = 0
    if asked.every:
        whose = None if units is None else units.part(rows)
        unsafe, at_risk = unsafe_sets(quasi, shown_codes, asked.every, units=whose)
        many = int(at_risk.sum()) if whose is None else len(np.unique(whose.of_row[at_risk]))
        note("unsafe_combination", at_risk)
    unsafe.sort(key=lambda unsafe_set: -unsafe_set.rows)
    named = {
        name: ([*coded_column.labels, None], codes)
        for name, coded_column, codes in zip(quasi, coded, shown_codes, strict=True)
    }
    return SurveyAnswers(
        summary, special, tuple(unsafe), asked.every, many, per_row, tuple(risky), named
    )  # fmt: skip
