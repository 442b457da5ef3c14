"""Two releases of the same people, side by side: what they give away together that neither does alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL
from kanopy._errors import DataError, some
from kanopy._shown import Plain, Short

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Beside(Plain, Short):
    """How rows group by what two releases say of them together.

    `joined_by` is the key column, or "row" where rows were taken to be in the same order. `rows` are in both releases,
    `unique_rows` alone in what both say; classes of fewer than `k` rows hold `rows_below` rows. `unique_alone` are the
    rows unique in one of the releases already.
    """

    joined_by: str
    columns: tuple[str, ...]
    rows: int
    classes: int
    smallest_class: int
    k: int
    classes_below: int
    rows_below: int
    unique_rows: int
    unique_alone: int

    @property
    def holds(self) -> bool:
        """Whether every class of both releases together has k rows."""
        return self.rows_below == 0


def beside(
    new: pl.DataFrame, earlier: pl.DataFrame, quasi: Sequence[str], *, k: int = 2, key: str | None = None
) -> Beside:
    """Join two releases row by row, and count who is alike in both.

    Whoever has both releases and can tell which rows belong together (by a pseudonym, or because rows stand in the same
    order) sees two labels for every value: only rows that agree in both stay alike. Rows are joined by `key`, a column
    of both whose values are different in every row; without one they are taken to be in the same order. A manifest says
    under `beside_others` whether they are: rows that a release has shuffled cannot be joined in order by anybody.

    >>> import polars as pl
    >>> one = pl.DataFrame({"age": ["20-29", "20-29", "30-39", "30-39"]})
    >>> two = pl.DataFrame({"age": ["20-24", "25-34", "25-34", "35-39"]})
    >>> beside(one, two, ["age"]).unique_rows
    4
    """
    from kanopy._table.grouping import number_rows, require_columns

    require_columns(new, quasi)
    shared = [name for name in quasi if name in earlier.columns]
    if not shared:
        raise DataError(
            f"The earlier release has none of the columns {some(list(quasi))}: there is nothing to compare."
        )
    if key is not None:
        for frame, which in ((new, "release"), (earlier, "earlier release")):
            require_columns(frame, [key])
            if frame[key].n_unique() < frame.height:
                raise DataError(f"The {which} has values of {key!r} in several rows: rows cannot be joined by them.")
        other = earlier.select(key, *(earlier[name].alias(f"earlier {name}") for name in shared))
        joined = new.select(*dict.fromkeys([key, *quasi])).join(other, on=key, how="inner", nulls_equal=True)
    elif new.height != earlier.height:
        raise DataError(
            f"The releases have {new.height:,} and {earlier.height:,} rows, so rows of the same number are not of the "
            "same person. Name a column that both have and that tells people apart (--key)."
        )
    else:
        joined = new.select(quasi).with_columns(earlier[name].alias(f"earlier {name}") for name in shared)
    if not joined.height:
        raise DataError(f"No value of {key!r} is in both releases: they are about other people, or have other keys.")
    both = [*quasi, *(f"earlier {name}" for name in shared)]
    # A row that is `*` everywhere in one release is in no class there; with the other it may well be in one.
    gone = np.ones(joined.height, np.bool_)
    for name in both:
        gone &= (joined[name].cast(str) == SUPPRESSED_LABEL).fill_null(False).to_numpy()
    together = number_rows(joined, both, gone)
    alone = np.zeros(joined.height, np.bool_)
    for names in (list(quasi), both[len(quasi) :]):
        rows = number_rows(joined, names)
        alone[rows.first[rows.sizes == 1]] = True
    sizes = together.sizes
    return Beside(
        joined_by=key or "row",
        columns=tuple(shared),
        rows=joined.height,
        classes=len(sizes),
        smallest_class=int(sizes.min(initial=joined.height)) if len(sizes) else 0,
        k=k,
        classes_below=int((sizes < k).sum()),
        rows_below=int(sizes[sizes < k].sum()),
        unique_rows=int((sizes == 1).sum()),
        unique_alone=int(alone.sum()),
    )
