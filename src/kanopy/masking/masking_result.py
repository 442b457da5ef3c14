"""What every masking algorithm answers with, and what every masking algorithm looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import JobError, NoSolution, near_miss, some, too_few_rows
from kanopy._lazy import public
from kanopy._parameter_types import Integer
from kanopy._parameters import Declared, parameters_of
from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    from kanopy.masking.table import MaskingTable


@public("kanopy.extend")
@dataclass(frozen=True, eq=False)
class Masked:
    """What is published: per distinct original tuple one tuple of values of the same columns.

    `published[m]` are the values that move `m` publishes, `origin[m]` the original tuple and `people[m]` its records.
    Algorithms that treat all records of a tuple alike have one move per tuple and leave `move_of_row` out.
    """

    algorithm: str
    published: Ints
    origin: Longs
    people: Longs
    move_of_row: Ints | None = None
    guarantees_k: bool = True
    fusions: int = 0
    scans: int = 0
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def per_tuple(cls, algorithm: str, table: MaskingTable, published: Ints, **details: object) -> Masked:
        """Every record of a tuple publishes the same."""
        origin = np.arange(len(table.tuples))
        return cls(algorithm, np.ascontiguousarray(published, np.int32), origin, table.counts, **details)  # type: ignore[arg-type]

    def codes_of_rows(self, table: MaskingTable) -> Ints:
        """The published values of every record."""
        return self.published[table.tuple_of_row if self.move_of_row is None else self.move_of_row]


Seed = Annotated[int, Integer(0), "the seed that decides ties: the same seed gives the same release"]


@public("kanopy.extend")
class Masking(Declared):
    """An algorithm is a frozen dataclass of its parameters with one method."""

    family: ClassVar[str] = "algorithm"
    to_write: ClassVar[tuple[str, ...]] = ("name", "does", "source", "masked")
    name: ClassVar[str]
    does: ClassVar[str]
    """What it does, in one sentence for the list of algorithms."""
    source: ClassVar[str]
    """Where it was published."""
    way: ClassVar[str] = "greedy"
    """How it looks for a release."""

    @classmethod
    def faults(cls) -> list[str]:
        taken = {"guide", "heuristics", "search", "seed"}
        wrong = super().faults()
        if not wrong and (strange := sorted(parameters_of(cls).keys() - taken)):
            wrong.append(f"it has the parameters {some(strange)}, which no job for masking can give")
        return wrong

    guarantees_k: ClassVar[bool] = True
    """Whether `k` rows share every published combination."""
    keeps_diversity: ClassVar[bool] = False
    """Whether it also keeps different values of confidential columns in every group."""

    def mask(
        self, table: MaskingTable, k: int, needed: Mapping[str, int] | None = None, progress: Progress = SILENT
    ) -> Masked:
        """Substitute until every group is safe. `needed` are different values per confidential column and group."""
        check_feasible(table, k, needed or {})
        if table.plan is not None:
            from kanopy.masking.assignment import mask_by_plan

            return mask_by_plan(self, table, k, needed or {}, progress)
        return self.masked(table, k, needed or {}, progress)

    def masked(self, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress) -> Masked:
        """What each algorithm does of its own, once it is known not to be impossible."""
        raise NotImplementedError


def check_feasible(table: MaskingTable, k: int, needed: Mapping[str, int]) -> None:
    """Raise what is impossible from the start, with what would help."""
    if k > table.rows:
        raise too_few_rows(k, table.rows)
    column_of_name = {column.name: column for column in table.sensitive}
    for name, need in needed.items():
        if name not in column_of_name:
            raise JobError(
                f"The confidential column {name!r} was not named sensitive. {near_miss(name, column_of_name)}"
            )
        present = len(np.unique(column_of_name[name].code_of_row))
        if present < need:
            raise NoSolution(
                f"Every group should show {need} different values of {name!r}, but the whole column has {present}.",
                advice=[f"ask for at most {present} different values of {name!r}"],
            )
