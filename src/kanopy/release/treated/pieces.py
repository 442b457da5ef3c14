"""Treatments of tables that are read piece by piece: every piece is treated and verified while it passes by.

Some treatments must know the whole column first, such as the limits of top coding. One pass over that column is made
before, and treated and verified as a whole; the pieces are then compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, some
from kanopy.release.treated.treating import Treated

if TYPE_CHECKING:
    import polars as pl

    from kanopy.treatments.base import Treatment

Batches = Callable[[Sequence[str]], "Iterator[pl.DataFrame]"]


def works_in_pieces(treatment: Treatment) -> bool:
    """Whether pieces of a table can be treated one by one, as the whole would be but for what is random.

    >>> from kanopy.treatments.registry import make_treatment
    >>> [works_in_pieces(make_treatment(name)) for name in ("hash", "noise", "shuffle")]
    [True, True, False]
    """
    return treatment.piecewise


def whole_table(job: Any) -> str | None:
    """Why the treatments of a job need all rows at once, or `None`."""
    protect: Mapping[str, Treatment] = getattr(job, "protect", None) or {}
    whole = [column for column, treatment in protect.items() if not works_in_pieces(treatment)]
    if whole:
        methods = dict.fromkeys(protect[column].name for column in whole)
        return f"{some(methods)} of {some(whole)} needs all rows at once"
    return None


def require_piecewise(job: Any, engine: str) -> None:
    """Refuse treatments that an engine cannot run because it never has all rows at once."""
    if (why := whole_table(job)) is not None:
        raise JobError(
            f"The engine {engine!r} treats rows piece by piece, and {why}. Use the engine 'memory', or a treatment "
            "that works piece by piece (`kanopy treatments`)."
        )


def require_in_memory(job: Any, engine: str) -> None:
    """Refuse treatments on an engine whose rows do not pass by."""
    if getattr(job, "protect", None):
        raise JobError(
            f"The engine {engine!r} does not treat columns ({some(job.protect)}): its rows stay where they are. Use "
            "the engine 'memory', or 'stream' for files and tables of databases."
        )


def columns_alongside(job: Any) -> list[str]:
    """The columns that treatments look at, and the unit whose rows they count."""
    asked = [name for column, treatment in job.protect.items() for name in treatment.reads(column)]
    counted = [name for name in job.unit if any(treatment.measures("x") for treatment in job.protect.values())]
    return list(dict.fromkeys((*asked, *counted)))


class Pieces:
    """Treats the pieces of a table; `look_at` the whole of it first where a treatment has to know it.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> rows = pl.DataFrame({"pay": [1, 2, 3, 50, 60, 70]})
    >>> pieces = Pieces(Job(protect={"pay": {"method": "top-code", "top": 50}}))
    >>> pieces.look_at(lambda names: iter([rows]))
    >>> pieces.treat(rows[3:4])["pay"].to_list()
    [50]
    """

    def __init__(self, job: Any, key: bytes | None = None) -> None:
        from kanopy.treatments.base import Secrets

        self.job, self.secrets = job, Secrets(key)
        self.facts: dict[str, dict[str, Any]] = {}
        self.whole: dict[str, pl.DataFrame] = {}
        """Per treated column that was looked at, its values before and after."""

    @property
    def looks_first(self) -> bool:
        """Whether a treatment has to know its whole column."""
        return any(treatment.measures(column) for column, treatment in self.job.protect.items())

    def look_at(self, batches: Batches) -> None:
        """Read the columns that treatments have to know, treat each as a whole, and verify that."""
        import polars as pl

        from kanopy.treatments.apply import treat_frame
        from kanopy.treatments.base import strata_of
        from kanopy.verify.treatments import TreatedColumns, verify_treatment

        for column, treatment in self.job.protect.items():
            if not (measures := treatment.measures(column)):
                continue
            names = list(dict.fromkeys((column, *treatment.reads(column), *self.job.unit)))
            rows = pl.concat(list(batches(names)))
            facts = rows.lazy().select(**measures).collect().row(0, named=True)
            units = strata_of(rows, self.job.unit)[0] if self.job.unit else None
            made = treat_frame(rows, column, treatment, self.secrets, units=units)
            after = rows.with_columns(made.values())
            verify_treatment(TreatedColumns(column, treatment.to_dict(), rows, after, self.job.unit))
            self.facts[column] = facts
            pairs = pl.DataFrame({"before": rows[column], "after": after[column]})
            self.whole[column] = pairs if treatment.random else pairs.unique()

    def treat(self, records: pl.DataFrame) -> pl.DataFrame:
        """A piece with its treated columns, each verified on the piece by independent code.

        A treated column whose treatment misses a column that it looks at becomes missing: nothing untreated passes.
        """
        import polars as pl

        from kanopy.treatments.apply import treat_frame
        from kanopy.verify.treatments import TreatedColumns, verify_treatment

        made: dict[str, pl.Series] = {}
        for column, treatment in self.job.protect.items():
            if column not in records.columns:
                continue
            facts_known = not treatment.measures(column) or column in self.facts
            if not facts_known or not set(treatment.reads(column)) <= set(records.columns):
                made[column] = pl.Series(column, [None] * records.height, records[column].dtype)
                continue
            facts = {**self.facts.get(column, {}), "pieces": True}
            treated_columns = treat_frame(records, column, treatment, self.secrets, facts=facts)
            unit = tuple(name for name in self.job.unit if name in records.columns)
            after = records.with_columns(treated_columns.values())
            verify_treatment(
                TreatedColumns(column, treatment.to_dict(), records, after, unit, whole=self.whole.get(column))
            )
            made |= treated_columns
        return records.with_columns(made.values())


def treated_in_pieces(job: Any) -> Treated | None:
    """What is said of a release whose rows were treated while they passed by."""
    import polars as pl

    protect = getattr(job, "protect", None)
    if not protect:
        return None
    checks = tuple(f"{column}: every piece of the table was checked while it was written" for column in protect)
    return Treated(pl.DataFrame(), protect, checks=checks, pieces=True)
