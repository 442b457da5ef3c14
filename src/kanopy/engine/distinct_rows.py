"""What a table is reduced to where its rows are not here: distinct rows with multiplicities, or their number alone.

These are types of their own, and no tables: nothing that writes, shows or studies rows takes them for rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs


@dataclass(frozen=True, eq=False, repr=False)
class DistinctRows:
    """Distinct rows, and for how many rows of the table each of them stands.

    >>> import numpy as np
    >>> import polars as pl
    >>> DistinctRows(pl.DataFrame({"age": [29, 41]}), np.array([1, 2]))
    <2 distinct rows that stand for 3 rows>
    """

    distinct: pl.DataFrame
    multiplicity: Longs

    def __post_init__(self) -> None:
        assert self.distinct.height == len(self.multiplicity), "every distinct row has a multiplicity"

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.multiplicity.sum())

    def __repr__(self) -> str:
        return f"<{self.distinct.height:,} distinct rows that stand for {self.rows:,} rows>"


@dataclass(frozen=True)
class RowsElsewhere:
    """A table of which not even the distinct rows are here.

    >>> RowsElsewhere(3)
    RowsElsewhere(rows=3)
    """

    rows: int
