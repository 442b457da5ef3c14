"""How a table's risk is assessed: one object with declared parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any

from kanopy._errors import JobError, near_miss
from kanopy._job.usage import STUDIED
from kanopy._lazy import public
from kanopy._parameter_types import Flag, Integer, OneOf, Optional, Share
from kanopy._parameters import Declared, parameters_of
from kanopy._usage import Needs
from kanopy.metrics.risk.weighted import ANY, VALUE
from kanopy.privacy.survey import Every

WEIGHTS = Needs(
    "sampling weights (sampling_weight=…, --sampling-weight COLUMN)",
    lambda study: study.sampling_weight is not None,
    "study",
)
RELEASED = Needs(
    "a release in which rows are looked for (released=…, --released FILE)",
    lambda study: study.released is not None,
    "study",
)


@public("kanopy")
@dataclass(frozen=True)
class RiskSettings(Declared):
    """How a risk is assessed, apart from the table and what is known of its columns.

    `threshold` is the risk that a row may have. The population is known by its size, or by the share of it that the
    table holds (`sampling_fraction`). Sets of up to `largest_subset` columns are tried for how well they identify (0
    leaves that out), sets of up to `suda` for special uniques (SUDA2); `every` asks for combinations that too few rows
    share: "2:10,3:3" for 10 rows behind every two columns, and 3 behind every three. With sampling weights,
    `missing_means` says whether a missing value matches `any` value or is a `value` of its own, and `exact` takes the
    expectation where the usual approximation would do.

    >>> RiskSettings(threshold="10%", every="2:10").threshold
    0.1
    """

    threshold: Annotated[float, Share(), "the risk that a row may have"] = 0.2
    population_size: Annotated[int | None, Optional(Integer(1)), "people in the population the table is from"] = None
    sampling_fraction: Annotated[float | None, Optional(Share()), "the share of the population in the table"] = None
    largest_subset: Annotated[int, Integer(0), "columns of the largest sets that are tried; 0 for none"] = 3
    suda: Annotated[int, Integer(0), "columns of the largest special uniques that are looked for; 0 for none"] = 0
    every: Annotated[Any, Every(), "rows that should share each combination of a few columns"] = ()
    missing_means: Annotated[str, OneOf(ANY, VALUE), "what a missing value matches", WEIGHTS] = VALUE
    exact: Annotated[bool, Flag(), "the expected risk, not the usual approximation", WEIGHTS] = False
    seed: Annotated[int, Integer(0), "the seed of random choices", RELEASED] = 0

    if TYPE_CHECKING:
        # What may be given is wider than what is kept.
        def __init__(
            self,
            threshold: float | str = 0.2,
            population_size: int | None = None,
            sampling_fraction: float | str | None = None,
            largest_subset: int = 3,
            suda: int = 0,
            every: str | Mapping[int, int] | tuple[tuple[int, int], ...] = (),
            missing_means: str = VALUE,
            exact: bool = False,
            seed: int = 0,
        ) -> None: ...

    @property
    def least_rows(self) -> int:
        """Rows that must be alike for nobody to be above the threshold."""
        return ceil(1 / self.threshold) if self.threshold else 2


def split_settings(
    settings: RiskSettings | Mapping[str, Any] | None, more: Mapping[str, Any]
) -> tuple[RiskSettings, dict[str, Any]]:
    """The settings of an assessment with those among `more` that are fields of theirs, and the rest of `more`.

    >>> split_settings({"suda": 3}, {"threshold": 0.5, "unit": "patient"})
    (RiskSettings(threshold=0.5, suda=3), {'unit': 'patient'})
    """
    if isinstance(settings, Mapping):
        if strangers := [name for name in settings if name not in parameters_of(RiskSettings)]:
            raise JobError(
                f"There is no setting {strangers[0]!r}. {near_miss(strangers[0], parameters_of(RiskSettings))}"
            )
        settings = RiskSettings(**settings)
    if settings is not None and not isinstance(settings, RiskSettings):
        raise JobError(f"settings are RiskSettings or a dictionary of them, not {settings!r}.")
    risk_fields = {name: value for name, value in more.items() if name in parameters_of(RiskSettings)}
    rest = {name: value for name, value in more.items() if name not in risk_fields}
    if strangers := [name for name in rest if name not in STUDIED]:
        argument_names = (*parameters_of(RiskSettings), *STUDIED)
        raise JobError(f"An assessment takes no argument {strangers[0]!r}. {near_miss(strangers[0], argument_names)}")
    chosen = settings or RiskSettings()
    return replace(chosen, **risk_fields) if risk_fields else chosen, rest


IN_VAIN = {
    "hierarchies": RELEASED,
    "k": Needs("a job that makes a release; a risk that rows may have is a threshold", lambda study: False, "study"),
}
"""Arguments of `Job` that an assessment has no use for, or not always."""
