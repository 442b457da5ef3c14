"""What became of every original value: the mapping that a steward keeps inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kanopy._arrays import SUPPRESSED_LABEL, Longs
from kanopy.release.prepare import Generalizable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from kanopy.release.result import Result

Labels = list[str | None]


def mapping_table(result: Result) -> pl.DataFrame:
    """What became of every original value: column, original, published, rows.

    Rows add up to the table for every column, suppressed rows (published as `*`) and rows with a missing value
    included. The table holds original values: it is for the steward, not for publication.
    """
    import polars as pl

    columns: dict[str, list[object]] = {"column": [], "original": [], "published": [], "rows": []}
    for name, originals, published, before, after in _columns(result):
        cell = before * len(published) + after
        used, number, counts = np.unique(cell, return_inverse=True, return_counts=True)
        if (multiplicity := result.prepared.multiplicity) is not None:
            counts = np.bincount(number.reshape(-1), multiplicity).astype(np.int64)
        columns["column"] += [name] * len(used)
        columns["original"] += [originals[i] for i in (used // len(published)).tolist()]
        columns["published"] += [published[i] for i in (used % len(published)).tolist()]
        columns["rows"] += counts.tolist()
    treated = _treated(result)
    kinds = {"column": pl.String, "original": pl.String, "published": pl.String, "rows": pl.Int64}
    made = pl.DataFrame(columns, schema=kinds)
    return made if treated is None else pl.concat([made, treated])


def _treated(result: Result) -> pl.DataFrame | None:
    """The same of treated columns, which no recoding knows."""
    if result.treated is None or result.treated.pieces:
        return None
    from kanopy.release.treated.treated_result import mapping_of_treated

    return mapping_of_treated(result)


def _columns(result: Result) -> Iterator[tuple[str, Labels, Labels, Longs, Longs]]:
    """Per column its name, original and published labels, and where each row stands in both."""
    table, solution = result.prepared.table, result.solution
    if solution is None or not isinstance(table, Generalizable):
        assert result.masked is not None and not isinstance(table, Generalizable)
        published = result.masked.codes_of_rows(table.guide)
        for j, column in enumerate(table.columns):
            labels = list(column.labels)
            yield column.name, labels, labels, column.codes.astype(np.int64), published[:, j].astype(np.int64)
        return
    recoding = solution.recoding
    for j, encoded in enumerate(table.counted.columns):
        # The label behind the last one stands for suppressed rows, in originals for values that no leaf has.
        published_labels: Labels = [*recoding.labels[j], SUPPRESSED_LABEL]
        values: Labels = [*encoded.hierarchy.values, None]
        if encoded.missing_leaf is not None:
            missing = values[encoded.missing_leaf]
            values[encoded.missing_leaf] = None
            published_labels = [None if label == missing else label for label in published_labels]
        code_of_group = np.append(recoding.codes[:, j], len(published_labels) - 1).astype(np.int64)
        leaf = np.where(encoded.codes < 0, len(values) - 1, encoded.codes).astype(np.int64)
        yield encoded.name, values, published_labels, leaf, code_of_group[recoding.group_of_row]
