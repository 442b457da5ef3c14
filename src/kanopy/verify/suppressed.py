"""Suppressed rows are a class like any other: what they show of sensitive columns must be as safe as in any class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from kanopy._arrays import Longs
from kanopy._core.classes import Classes
from kanopy.privacy.models import KAnonymity, Model, failing
from kanopy.verify.people import UnitColumns
from kanopy.verify.regroup import Background, published_classes


def tells(column: pl.Series) -> pl.Series:
    """Which rows have a value: an empty text is a missing one, as formats without missing texts write it.

    >>> tells(pl.Series(["a", "", None])).to_list()
    [True, False, False]
    """
    there = column.is_not_null()
    return there & (column != "").fill_null(False) if column.dtype == pl.String else there


def unguarded(
    rows: pl.DataFrame,
    quasi: Sequence[str],
    models: Sequence[Model],
    sensitive: Sequence[str],
    background: Background | None,
    unit_columns: UnitColumns | None = None,
    multiplicity: Longs | None = None,
) -> Iterator[tuple[str, Model]]:
    """The sensitive columns whose values suppressed rows show though a model does not hold for them, and the model.

    A column that is empty in all of them shows nothing. Of k-anonymity only this is asked: nobody can be looked for
    among rows without quasi-identifiers, but values that fewer than k of them have are told of few.

    >>> from kanopy.privacy.models import make_models
    >>> rows = pl.DataFrame({"age": ["*", "*"], "ill": ["flu", "flu"]})
    >>> models = make_models(["k:2", "l-distinct:ill:2"])
    >>> [(name, model.name) for name, model in unguarded(rows, ["age"], models, ["ill"], Background(rows[["ill"]]))]
    [('ill', 'l-distinct')]
    """
    many = rows.height if multiplicity is None else int(multiplicity.sum())
    together = Classes(np.array([many if unit_columns is None else unit_columns.units.n_unique()]))
    for name in sensitive:
        if name not in rows.columns or not tells(rows[name]).any():
            continue
        for model in models:
            if isinstance(model, KAnonymity):
                unsafe = bool(failing(model, together).any())
            elif name not in model.sensitive:
                continue
            else:
                assert background is not None, "models about columns need them"
                suppressed_background = replace(
                    background, unpublished=None, population=None, survey=None,
                    units=None if unit_columns is None else unit_columns.units, multiplicity=multiplicity,
                )  # fmt: skip
                unsafe = bool(model.hidden) or bool(
                    failing(model, published_classes(rows, quasi, [model], suppressed_background)).any()
                )
            if unsafe:
                yield name, model
