"""The second opinion on a release of which not even the different rows are here: classes, models and labels, counted on
what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import VerificationFailed
from kanopy._job.job import Job

if TYPE_CHECKING:
    import polars as pl

    from kanopy._table.encode import EncodedColumn
    from kanopy.verify.verify import Verification


def verified(
    table: Any, job: Job, release: str, unchanged: list[str], rows: int, suppressed_rows: int, drop: bool
) -> tuple[Verification, int]:
    """The second opinion on the classes of the release, counted where it was written; and their sizes squared.

    Of the rows that show only `*`, those beyond the suppressed ones are a class like any other.
    """
    from kanopy.verify.verify import Verification

    seen, starred, classes, least, squares = table.classes(release, unchanged)
    if seen != rows - (suppressed_rows if drop else 0) or starred < (0 if drop else suppressed_rows):
        raise differs("the published combinations")
    hidden = 0 if drop else suppressed_rows
    if (together := starred - hidden) > 0:
        classes, least, squares = classes + 1, min(least or together, together), squares + together**2
    allowed = int(np.floor(job.suppress * rows + 1e-9))
    if suppressed_rows > allowed:
        raise VerificationFailed(
            f"{suppressed_rows:,} rows are suppressed, and {allowed:,} may be. Nothing was published."
        )
    if classes and least < job.least_rows:
        raise VerificationFailed(
            f"A published combination is shared by {least:,} rows, fewer than k = {job.k:,}. Nothing was published. "
            "This is an error in Kanopy: please report it."
        )
    return Verification(seen, hidden, classes, least), squares


def models_hold(
    table: Any, asked: Any, job: Job, release: str, named: Any, verification: Verification, most: int
) -> None:
    """The second opinion on what models promise of every class, counted on the release; raises if one does not hold.

    `named` are the columns that models name, with their values and hierarchies. Suppressed rows that show such a column
    are a class like any other.
    """
    from kanopy.verify.regroup import Background

    hidden = verification.suppressed_rows
    for index, (column, values, hierarchy) in enumerate(named, len(job.quasi)):
        name, models = column.name, [model for model in job.models if column.name in model.sensitive]
        background = Background(
            values.alias(name).to_frame(), {} if hierarchy is None else {name: hierarchy},
            original_multiplicity=column.multiplicity,
        )  # fmt: skip
        classes = 0
        for cells in table.published_cells(asked, release, name, most, stars=not hidden):
            classes += _looked_at(cells, job.quasi, name, models, background)
        if hidden and name in asked.plan.columns:
            classes += _stars(table, asked, job, index, name, models, background)
        if classes != verification.classes:
            raise VerificationFailed("Two ways of counting the published classes disagree. Nothing was written.")


def _stars(table: Any, asked: Any, job: Job, index: int, name: str, models: Any, background: Any) -> int:
    """Rows that show only `*`: suppressed ones that keep their values, and a class of others, which is counted."""
    stars_found = table.stars(index)
    of_class = stars_found.filter(stars_found["gone"] == 0)
    if name not in asked.plan.withheld:
        _looked_at(stars_found.filter(stars_found["gone"] == 1).drop("gone"), [], name, models, background)
    return _looked_at(of_class.drop("gone"), [], name, models, background) if of_class.height else 0


def _looked_at(cells: pl.DataFrame, quasi: Any, name: str, models: Any, background: Any) -> int:
    """Refuse classes for which a model does not hold; returns how many classes there are."""
    from dataclasses import replace

    import polars as pl

    from kanopy.privacy.models import failing
    from kanopy.verify.regroup import published_classes

    rows = cells["n"].cast(pl.Int64).to_numpy()
    frame = cells.drop("n")
    labels = [f"g{j}" for j in range(len(quasi))] or ["g"]
    if not quasi:
        frame = frame.with_columns(pl.lit("*").alias("g"))
    frame = frame.rename({"s": name})
    seen = published_classes(frame, labels, models, replace(background, multiplicity=rows))
    for model in models:
        if wrong := int(failing(model, seen).sum()):
            raise VerificationFailed(
                f"{wrong:,} published classes violate the model {model.name!r} ({model.said()}) Nothing was written. "
                "This is an error in Kanopy: please report it."
            )
    return int(seen.count)


def true_labels(table: Any, asked: Any, job: Job, columns: list[EncodedColumn]) -> dict[str, pl.DataFrame]:
    """The second opinion on every pair of a value and a label, counted where the release was made."""
    import functools
    from pathlib import Path

    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.release.verification import labels_above
    from kanopy.verify.labels import verify_labels

    given = [name for name, source in job.hierarchies.items() if isinstance(source, (Hierarchy, str, Path))]
    pairs = {}
    for name, column in zip(job.quasi, columns, strict=True):
        pairs_found = table.place.ask(asked.pairs_of(name))
        pairs_found.columns = ["o", "l", "n"]
        above = {name: functools.partial(labels_above, column.hierarchy)}
        before, after = pairs_found.select(name=pairs_found["o"]), pairs_found.select(name=pairs_found["l"])
        before.columns = after.columns = [name]
        tokens, rows = job.missing_tokens, pairs_found["n"]
        verify_labels(before, after, [name], above, given=given, missing_tokens=tokens, k=job.k, multiplicity=rows)
        pairs[name] = pairs_found
    return pairs


def differs(what: str) -> VerificationFailed:
    return VerificationFailed(
        f"The written release differs from the planned one in {what}. Nothing was published. If the table did not "
        "change meanwhile, this is an error in Kanopy: please report it."
    )
