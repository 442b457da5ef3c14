"""What holds for every treatment, on a small table with a column of each kind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from kanopy._errors import JobError
from kanopy._parameters import make
from kanopy.extend.contracts.refusing import refused
from kanopy.treatments.apply import treat_frame
from kanopy.treatments.base import DATES, NUMBERS, SEED, Secrets, Treatment
from kanopy.treatments.registry import make_treatment
from kanopy.verify.treatments import TreatedColumns, verify_treatment

ROWS = 60
KEY = b"a key of sixteen bytes"


def column_of(kind: type[Treatment]) -> str:
    """The column of the table that a treatment is tried on."""
    return {NUMBERS: "pay", DATES: "day"}.get(kind.takes, "number")


def table() -> pl.DataFrame:
    """People of two regions with numbers, dates and account numbers, some of them missing."""
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "pay": [None if i % 17 == 3 else int(value) for i, value in enumerate(rng.lognormal(8, 1, ROWS))],
            "cost": rng.lognormal(5, 1, ROWS).round(2),
            "day": [
                None if i % 13 == 5 else dt.date(2020, 1, 1) + dt.timedelta(days=int(7 * i % 500)) for i in range(ROWS)
            ],
            "patient": [f"p{i % 20}" for i in range(ROWS)],
            "region": ["north" if i % 3 else "south" for i in range(ROWS)],
            "number": [None if i % 19 == 7 else f"4929-{1000 + i % 25:04d}-5678" for i in range(ROWS)],
        }
    )


def treated(kind: type[Treatment], parameters: Mapping[str, Any], rows: pl.DataFrame, **given: Any) -> pl.DataFrame:
    """The table after a treatment of one of its columns."""
    treated_columns = treat_frame(
        rows, column_of(kind), make(kind, parameters), Secrets(KEY), **_follows(kind, rows), **given
    )
    return rows.with_columns(list(treated_columns.values()))


def _follows(kind: type[Treatment], rows: pl.DataFrame) -> dict[str, Any]:
    """What is published of another column, for treatments that follow one."""
    return {"facts": {"published": rows["number"]}} if kind.follows else {}


def says_what_it_is(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """It says in sentences what it does, what it guarantees and what it does not."""
    for text in (kind.summary, kind.guarantees, kind.lacks):
        assert len(text) > 15, "the summary, the guarantee or what it lacks says nothing"
    assert len(" ".join((kind.__doc__ or "").split())) > 60, "the docstring does not say what it does"


def changes_only_its_columns(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """It returns the columns that it says it writes, with a value per row, and missing values stay missing."""
    rows, made = table(), make(kind, parameters)
    changed_columns = treat_frame(rows, column_of(kind), made, Secrets(KEY), **_follows(kind, rows))
    assert tuple(changed_columns) == made.writes(column_of(kind)), "it changes other columns than it says"
    for name, series in changed_columns.items():
        assert len(series) == rows.height
        assert series.filter(rows[name].is_null()).is_null().all(), "a missing value became a value"


def is_what_it_allows(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """The independent check of the release finds what the treatment promises."""
    rows, made = table(), make(kind, parameters)
    after = treated(kind, parameters, rows)
    assert verify_treatment(TreatedColumns(column_of(kind), made.to_dict(), rows, after, leaders=rows))
    assert made.check(rows, after) is None


def repeats_with_the_key(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """The same key gives the same release; without one, what is random is new each time."""
    rows = table()
    if kind.keyed:
        assert treated(kind, parameters, rows).equals(treated(kind, parameters, rows)), "a key does not repeat it"
    if kind.secret == SEED:
        one, other = (treat_frame(rows, column_of(kind), make(kind, parameters), Secrets()) for _ in range(2))
        assert not make(kind, parameters).random or any(not one[name].equals(other[name]) for name in one), (
            "its random numbers are not secret"
        )


def does_not_depend_on_the_order_of_rows(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """Rows in another order get the same values."""
    if not kind.keyed:
        return
    rows = table().with_row_index("at")
    order = np.random.default_rng(1).permutation(ROWS)
    one = treated(kind, parameters, rows.drop("at"))
    other = treated(kind, parameters, rows[order].drop("at"))
    assert one[order].equals(other), "the order of rows matters"


def pieces_make_the_whole(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """Where pieces can be treated one by one, they are as in the whole table, but for what is random."""
    rows, made = table(), make(kind, parameters)
    if not made.piecewise or made.random:
        return
    facts = rows.lazy().select(**made.measures(column_of(kind))).collect()
    column_facts = facts.row(0, named=True) if facts.width else {}
    from kanopy.treatments.base import Table

    pieces = []
    for first in range(0, ROWS, 25):
        piece = rows.slice(first, 25)
        done = made.treat(column_of(kind), Table(piece, Secrets(KEY), {**column_facts, "pieces": True}))
        pieces.append(piece.with_columns(list(done.values())))
    assert pl.concat(pieces).equals(treated(kind, parameters, rows)), "pieces differ from the whole"


def is_kept_by_job_files(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """A job file keeps it."""
    made = make(kind, parameters)
    assert make_treatment(made.to_dict()) == made


def refuses_what_it_cannot_use(kind: type[Treatment], parameters: Mapping[str, Any]) -> None:
    """Unknown parameters, and columns that the table does not have, are refused."""
    with refused(JobError, "no parameter 'colour'"):
        make(kind, {**parameters, "colour": "green"})
    if set(make(kind, parameters).reads(column_of(kind))) - {column_of(kind)}:
        with refused(JobError, "does not have"):
            treat_frame(table().select(column_of(kind)), column_of(kind), make(kind, parameters), Secrets(KEY))


CHECKS = (
    says_what_it_is,
    changes_only_its_columns,
    is_what_it_allows,
    repeats_with_the_key,
    does_not_depend_on_the_order_of_rows,
    pieces_make_the_whole,
    is_kept_by_job_files,
    refuses_what_it_cannot_use,
)
