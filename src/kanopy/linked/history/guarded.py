"""Sensitive values in a ledger: a model that one release keeps must hold of what all releases tell together.

A release whose job has a model of a column records the value of every person there, as a keyed hash. Later releases
judge these values over the groups that all releases make, and must not drop the model: groups of two releases could
tell what the first one hid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._errors import DataError, JobError, NoSolution, VerificationFailed, some
from kanopy.linked.history.ledger import SUPPRESSED, UNIT, Ledger, keyed
from kanopy.verify.regroup import labels_of_values

if TYPE_CHECKING:
    import polars as pl

    from kanopy._arrays import Longs
    from kanopy._job.job import Job
    from kanopy.linked.history.over_time import OverTime, Present

VALUE = "value "


def value_column(name: str, key: bytes) -> str:
    """What the ledger calls the values of a sensitive column.

    >>> value_column("ill", b"a key of sixteen bytes").startswith("value ")
    True
    """
    return VALUE + keyed(key, "column", name)


def guarded_columns(job: Job, key: bytes) -> list[str]:
    """The columns that the models of a job are about, as the ledger calls them."""
    return sorted({value_column(name, key) for model in job.models for name in model.sensitive})


def values_to_record(made: OverTime, key: bytes) -> dict[str, dict[str, str]]:
    """Per column that a model is about, the keyed hash of the value of every person present."""
    columns = dict.fromkeys(name for model in made.result.job.models for name in model.sensitive)
    recorded = {}
    for name in columns:
        texts = labels_of_values(made.result.prepared.frame[name]).to_list()
        rows = made.present.of_row[~made.left_out].tolist()
        values: dict[str, list[str]] = {}
        for person, text in zip(rows, texts, strict=True):
            values.setdefault(made.present.unit[person], []).append(text)
        hashes = {text_value: keyed(key, f"value {name}", text_value) for text_value in set(texts)}
        recorded[name] = {
            unit: "+".join(sorted(hashes[text_value] for text_value in unit_texts))
            for unit, unit_texts in values.items()
        }
    return recorded


def require_guarded(job: Job, ledger: Ledger, columns: Sequence[str], key: bytes) -> None:
    """Refuse a job that drops the model of a column which an earlier release guarded."""
    guarded = set(guarded_columns(job, key))
    names = {value_column(name, key): name for name in columns}
    for event in ledger.releases:
        release = int(event["release"])
        if lost := [at for at in event.get("guarded", ()) if at not in guarded]:
            known_names = [names[at] for at in lost if at in names]
            what = some(known_names) if known_names else "a column that this table does not have"
            raise JobError(
                f"Release {release} kept a privacy model of {what}, and this job has none: both releases together "
                "could reveal the values that the model protected. Give the job a model of the same column, or "
                "begin a new ledger, with a new key, for releases that cannot be joined with these."
            )


def require_possible(job: Job, facts: Mapping[str, Any]) -> None:
    """Say that there is no release where the people that earlier releases leave have too few different values."""
    for model in job.models:
        try:
            model.check(facts)
        except JobError as error:
            raise NoSolution(
                f"No group of the people that earlier releases allow satisfies the model {model.name!r}: {error}",
                advice=["loosen the model", "begin a new ledger, with a new key, that cannot be joined with this one"],
            ) from error


def earlier_values(
    job: Job, ledger: Ledger, present: Present, rows: Longs, frame: pl.DataFrame, key: bytes
) -> tuple[list[pl.Series], list[Any]] | None:
    """The sensitive values of earlier releases as further columns, with the models that are about them.

    Who was not in an earlier release has the present value there: all people of a history were absent together.
    """
    import polars as pl

    columns: list[pl.Series] = []
    models: list[Any] = []
    for model in job.models:
        for name in model.sensitive:
            texts = labels_of_values(frame[name]).to_list()
            digests = [keyed(key, f"value {name}", text) for text in texts]
            for release, earlier_value in _recorded(ledger, name, key):
                then = [
                    earlier_value.get(present.unit[person], digests[row]) for row, person in enumerate(rows.tolist())
                ]
                if then == digests:
                    continue
                if not model.compares_values:
                    raise JobError(
                        f"The values of {name!r} changed since release {release}, and the model {model.name!r} looks "
                        "at more than which values are equal: the ledger keeps keyed hashes only. Use a model such as "
                        "l-distinct, or leave the model out."
                    )
                title = f"{name} in release {release}"
                if title in frame.columns:
                    raise DataError(f"The table has a column {title!r}, a name that the ledger uses. Rename it.")
                if all(column.name != title for column in columns):
                    columns.append(pl.Series(title, then, dtype=pl.String))
                changes: dict[str, Any] = {"column": title}
                models.append(replace(model, **changes))
    return (columns, models) if columns else None


def _recorded(ledger: Ledger, name: str, key: bytes) -> list[tuple[int, dict[str, str]]]:
    """Per release that recorded a column, the keyed hash of everybody's value there."""
    import polars as pl

    at, recorded = value_column(name, key), []
    for release in range(1, ledger.last + 1):
        past = ledger.people(release)
        if at in past.columns:
            recorded.append((release, dict(past.filter(pl.col(at).is_not_null()).select(UNIT, at).iter_rows())))
    return recorded


def require_models(made: OverTime, table: pl.DataFrame, names: Sequence[str], key: bytes) -> None:
    """Judge again, from what is published, the models over the groups that all releases make together.

    `table` has a row per person present: what this release (`now`) and every earlier one says of it, under `names`.
    """
    import polars as pl

    from kanopy.privacy.models import failing
    from kanopy.verify.regroup import Background, published_classes

    job = made.result.job
    if not job.models:
        return
    rows = made.present.of_row[~made.left_out]
    frame, is_published = made.result.prepared.frame, (table["now"] != SUPPRESSED).to_numpy()[rows]
    groups = table[rows].filter(pl.Series(is_published)).select(names)
    hierarchies = dict(made.result.prepared.table.confidential)  # type: ignore[union-attr]
    for model in job.models:
        if len(model.sensitive) != 1 or model.hidden or model.quasi or model.all_quasi or model.needs_weights:
            continue  # not about the values of one published column
        name = model.sensitive[0]
        present = frame[name]
        judged = [("now", present, hierarchies)]
        if model.compares_values:
            digests = [keyed(key, f"value {name}", text) for text in labels_of_values(present).to_list()]
            for release, earlier_value in _recorded(made.ledger, name, key):
                then = [
                    earlier_value.get(made.present.unit[person], digests[row])
                    for row, person in enumerate(rows.tolist())
                ]
                there = np.array([made.present.unit[person] in earlier_value for person in rows.tolist()], np.bool_)
                if there.any():
                    judged.append((str(release), pl.Series(name, then, dtype=pl.String), {}))
        for when_told, values, trees in judged:
            values = values.alias(name)
            seen = published_classes(
                groups.with_columns(values.filter(pl.Series(is_published))), list(names), [model],
                Background(values.to_frame(), trees),
            )  # fmt: skip
            wrong = int((failing(model, seen) & (seen.sizes > 0)).sum())
            if wrong:
                when = "this release" if when_told == "now" else f"release {when_told}"
                raise VerificationFailed(
                    f"{wrong:,} groups that all releases make together violate the model {model.name!r} of {name!r} in "
                    f"{when}. Nothing was written. This is an error in Kanopy: please report it."
                )
