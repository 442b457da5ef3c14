"""Treatments of tables that are read piece by piece: every piece is treated and verified while it passes by.

Some treatments must know the whole table first: limits of top coding, the spread of a column, the place of each row for
its random numbers. One pass is made before, on every engine (in memory the table is one piece), and the column is
treated and verified as a whole; what is published is then compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import JobError, some
from kanopy.engine.spark_rows import TURN
from kanopy.release.treated.treating import Treated

if TYPE_CHECKING:
    import polars as pl

    from kanopy.treatments.base import Treatment

Batches = Callable[[Sequence[str], Sequence[str]], "Iterator[tuple[pl.DataFrame, Any]]"]
"""Some columns of a table, piece by piece, each with the digests of its rows in other columns if there are any."""


def with_digests(frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]]) -> Batches:
    """Pieces of a table that pass by here, with the digests of their rows."""
    from kanopy.treatments.random_numbers import row_digests

    def batches(names: Sequence[str], columns: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Any]]:
        for frame in frames(columns or names):
            yield frame.select(names), row_digests(frame.select(columns)) if columns else None

    return batches


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


def columns_alongside(job: Any, columns: Sequence[str]) -> list[str]:
    """The columns that treatments look at, and the unit whose rows they count: all of the table for places of rows."""
    if any(each.by_place for each in job.protect.values()):
        return list(columns)
    asked = [name for column, each in job.protect.items() for name in each.reads(column)]
    counted = [name for name in job.unit if any(each.looks_first for each in job.protect.values())]
    return list(dict.fromkeys((*asked, *counted)))


class Pieces:
    """Treats the pieces of a table; `look_at` the whole of it first where a treatment has to know it.

    >>> import polars as pl
    >>> from kanopy import Job
    >>> rows = pl.DataFrame({"pay": [1, 2, 3, 50, 60, 70]})
    >>> pieces = Pieces(Job(protect={"pay": {"method": "top-code", "top": 50}}))
    >>> pieces.look_at(with_digests(lambda names: iter([rows])), rows.columns)
    >>> pieces.treat(rows[3:4])["pay"].to_list()
    [50]
    """

    def __init__(self, job: Any, key: bytes | None = None) -> None:
        from kanopy.treatments.base import Secrets

        self.job, self.secrets = job, Secrets(key)
        self.facts: dict[str, dict[str, Any]] = {}
        self.whole: dict[str, pl.DataFrame] = {}
        """Per treated column that was looked at, its values before and after."""
        self.columns: list[str] = []
        """The columns of the whole table, where places of rows matter."""
        self._people: dict[tuple[str, str], set[Any]] = {}
        """Per value that several people must share some of them, until there are enough."""

    def __getstate__(self) -> dict[str, Any]:
        # Executors get Arrow tables: frames that serialize themselves may wait for each other without end.
        return {**self.__dict__, "whole": {column: pairs.to_arrow() for column, pairs in self.whole.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import polars as pl

        self.__dict__ |= {**state, "whole": {column: pl.from_arrow(pairs) for column, pairs in state["whole"].items()}}

    @property
    def looks_first(self) -> bool:
        """Whether a treatment has to know its whole column."""
        return any(each.looks_first for each in self.job.protect.values())

    def look_at(self, batches: Batches, columns: Sequence[str]) -> None:
        """Read what treatments have to know of a table with some columns, treat each column as a whole, and verify."""
        import polars as pl

        from kanopy.treatments.apply import treat_frame
        from kanopy.treatments.base import numbers_of, strata_of
        from kanopy.treatments.random_numbers import Places
        from kanopy.verify.treatments import TreatedColumns, verify_treatment

        self.columns = list(columns) if any(each.by_place for each in self.job.protect.values()) else []
        looking = {column: each for column, each in self.job.protect.items() if each.looks_first}
        asked = [name for column, each in looking.items() for name in (column, *each.reads(column))]
        names, pieces, digests = list(dict.fromkeys((*asked, *self.job.unit))), [], []
        for piece, digests_of_rows in batches(names, self.columns):
            pieces.append(piece)
            if self.columns:
                digests.append(digests_of_rows)
        rows = pl.concat(pieces)
        units = strata_of(rows, self.job.unit)[0] if self.job.unit else None
        for column, treatment in looking.items():
            facts: dict[str, Any] = {}
            if measures := treatment.measures(column):
                facts = rows.lazy().select(**measures).collect().row(0, named=True)
            own = dict(facts)
            if treatment.by_place:
                own["digests"] = np.concatenate(digests)
                facts["places"] = own["places"] = Places.of(numbers_of(rows[column], treatment.name), own["digests"])
            made = treat_frame(rows, column, treatment, self.secrets, units=units, facts=own)
            after = rows.with_columns(made.values())
            verify_treatment(TreatedColumns(column, treatment.to_dict(), rows, after, self.job.unit))
            self.facts[column] = facts
            pairs = pl.DataFrame({"before": rows[column], "after": after[column]})
            self.whole[column] = pairs if treatment.random else _changed_and_extremes(pairs)

    def facts_of(self, column: str, records: pl.DataFrame) -> dict[str, Any] | None:
        """What the treatment of a column has to know of the table and of these rows; `None` if that is not known."""
        treatment = self.job.protect[column]
        known = not treatment.looks_first or column in self.facts
        if not known or not {*treatment.reads(column), *(self.columns if treatment.by_place else ())} <= {
            *records.columns
        }:
            return None
        facts = {**self.facts.get(column, {}), "pieces": True}
        if treatment.by_place:
            from kanopy.treatments.random_numbers import row_digests

            facts["digests"] = row_digests(records[self.columns])
            facts["turns"] = records[TURN].to_numpy() if TURN in records.columns else None
        return facts

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
            facts = self.facts_of(column, records)
            if facts is None:
                made[column] = pl.Series(column, [None] * records.height, records[column].dtype)
                continue
            treated_columns = treat_frame(records, column, treatment, self.secrets, facts=facts)
            unit = tuple(name for name in self.job.unit if name in records.columns)
            after = records.with_columns(treated_columns.values())
            verify_treatment(
                TreatedColumns(column, treatment.to_dict(), records, after, unit, whole=self.whole.get(column))
            )
            made |= treated_columns
        return records.with_columns(made.values())

    def count(self, published: pl.DataFrame, units: pl.DataFrame) -> None:
        """Count the people who share coded values in some published rows; `units` says whose rows they are."""
        import polars as pl

        for column, facts in self.facts.items():
            if column not in published.columns:
                continue
            treatment, numbers = self.job.protect[column], published[column].cast(pl.Float64, strict=False)
            for what, value in treatment.shared(facts).items():
                found = self._people.setdefault((column, what), set())
                if found and treatment.too_few(column, what, value, len(found)) is None:
                    continue
                rows = (numbers == value).fill_null(False)
                if units.width:
                    found.update(units.filter(rows).unique().rows())
                else:
                    found.update(range(len(found), len(found) + int(rows.sum())))

    @property
    def unit(self) -> Sequence[str]:
        """The columns that say whose a row is."""
        return tuple(self.job.unit)

    @property
    def digested(self) -> Sequence[str]:
        """The columns in which rows are told apart, where their places matter."""
        return self.columns

    def shared(self) -> Iterator[tuple[str, str, float]]:
        """The columns and values that several people must share, and what each is called."""
        for column, facts in self.facts.items():
            for what, value in self.job.protect[column].shared(facts).items():
                yield column, what, value

    def require_shared(self) -> None:
        """Refuse a release in which suppressed rows leave a coded value to too few people."""
        for (column, what), people in self._people.items():
            self.require_enough(column, what, len(people))

    def require_enough(self, column: str, what: str, people: int) -> None:
        """Refuse a release in which so few people share a coded value."""
        treatment, facts = self.job.protect[column], self.facts[column]
        wrong = treatment.too_few(column, what, treatment.shared(facts)[what], people)
        if wrong is not None:
            raise JobError(wrong)


def _changed_and_extremes(pairs: pl.DataFrame) -> pl.DataFrame:
    """The distinct changed values before and after, and the least and the greatest value that stayed.

    >>> import polars as pl
    >>> _changed_and_extremes(pl.DataFrame({"before": [1, 5, 3, 9], "after": [1, 5, 3, 5]})).sort("before").rows()
    [(1.0, 1.0), (5.0, 5.0), (9.0, 5.0)]
    """
    import polars as pl

    # Numbers may be written as texts.
    pairs = pairs.select(pl.all().cast(pl.String).cast(pl.Float64, strict=False))
    stayed = pl.col("before") == pl.col("after")
    changed, kept = pairs.filter(~stayed).unique(), pairs.filter(stayed)
    return pl.concat([changed, kept.min(), kept.max()]).drop_nulls().unique()


def treated_in_pieces(job: Any) -> Treated | None:
    """What is said of a release whose rows were treated while they passed by."""
    import polars as pl

    protect = getattr(job, "protect", None)
    if not protect:
        return None
    checks = tuple(f"{column}: every piece of the table was checked while it was written" for column in protect)
    return Treated(pl.DataFrame(), protect, checks=checks, pieces=True)
