"""Look at any table: how anonymous is it as it stands?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanopy.errors import DataError, near_miss, some


@dataclass(frozen=True)
class Check:
    """How rows group by the quasi-identifiers.

    `k` is the size of the smallest class. Rows with `*` in every quasi-identifier are suppressed: they are counted
    in `suppressed_rows` and form no class.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `kanopy check --json` prints."""
        return {
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "unique_rows": self.unique_rows,
            "suppressed_rows": self.suppressed_rows,
            "average_class": self.average_class,
            "largest_class": self.largest_class,
            "highest_risk": self.highest_risk,
            "average_risk": self.average_risk,
            "sensitive": self.sensitive,
        }


def check(data: Any, quasi: str | Sequence[str], sensitive: str | Sequence[str] = ()) -> Check:
    """Group a table by its quasi-identifiers and count.

    For each sensitive column, `distinct` is the smallest number of different values in a class (its l-diversity).

    >>> check({"zip": ["1", "1", "2"], "ill": ["a", "b", "a"]}, quasi=["zip"], sensitive=["ill"]).k
    1
    """
    import polars as pl

    from kanopy.spec import column_names
    from kanopy.table.frames import to_polars
    from kanopy.verify import class_table

    quasi, sensitive = column_names(quasi, "quasi"), column_names(sensitive, "sensitive")
    frame, _ = to_polars(data)
    if not quasi:
        raise DataError("Name at least one quasi-identifier to check.")
    absent = [name for name in (*quasi, *sensitive) if name not in frame.columns]
    if absent:
        raise DataError(f"The table has no column {some(absent)}. {near_miss(absent[0], frame.columns)}")
    extra = [pl.col(name).n_unique().alias(f"\0sensitive {i}") for i, name in enumerate(sensitive)]
    table, suppressed = class_table(frame, quasi, extra)
    sizes = table["\0rows"].to_numpy().astype(np.int64)
    kept = int(sizes.sum())
    return Check(
        rows=frame.height,
        classes=len(sizes),
        k=int(sizes.min()) if len(sizes) else 0,
        unique_rows=int((sizes == 1).sum()),
        suppressed_rows=suppressed,
        average_class=kept / len(sizes) if len(sizes) else 0.0,
        largest_class=int(sizes.max()) if len(sizes) else 0,
        highest_risk=1 / int(sizes.min()) if len(sizes) else 0.0,
        average_risk=len(sizes) / kept if kept else 0.0,
        sensitive={
            name: {"distinct": int(table[f"\0sensitive {i}"].to_numpy().min())}
            for i, name in enumerate(sensitive)
            if len(sizes)
        },
    )
