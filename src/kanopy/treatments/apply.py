"""Treating a column, or a list of values, outside a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from kanopy._errors import JobError, near_miss
from kanopy.treatments.base import Secrets, Table, Treatment
from kanopy.treatments.registry import TreatmentSource, make_treatment


def treat_frame(
    rows: pl.DataFrame, column: str, treatment: Treatment, secrets: Secrets | None = None, **given: Any
) -> dict[str, pl.Series]:
    """The columns that a treatment changes, treated."""
    for name in (*treatment.writes(column), *treatment.reads(column)):
        if name not in rows.columns:
            raise JobError(
                f"The treatment {treatment.name!r} of {column!r} names the column {name!r}, which the table does not "
                "have. "
                f"{near_miss(name, rows.columns)}"
            )
    facts = dict(given.pop("facts", {}))
    measures = {name: expression for name, expression in treatment.measures(column).items() if name not in facts}
    if measures:
        facts |= rows.lazy().select(**measures).collect().row(0, named=True)
    return treatment.treat(column, Table(rows, secrets or Secrets(), facts, **given))


def treat_values(
    values: Sequence[Any] | Mapping[str, Any], treatment: TreatmentSource, *, key: bytes | None = None
) -> list[Any]:
    """Values after a treatment: those of a list, or of the first column of several.

    >>> treat_values([1230, 1270], {"method": "round", "base": 100})
    [1200, 1300]
    """
    rows = pl.DataFrame(values if isinstance(values, Mapping) else {"values": values}, strict=False)
    made = make_treatment(treatment)
    return treat_frame(rows, rows.columns[0], made, Secrets(key))[rows.columns[0]].to_list()
