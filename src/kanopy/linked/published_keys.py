"""What links published tables: keys as fresh numbers or keyed hashes, and dates shifted by person."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy.hierarchy.column import canonical_label
from kanopy.linked.job import At, LinkedJob
from kanopy.linked.keys import Related

if TYPE_CHECKING:
    import polars as pl

    from kanopy.linked.preparation import Table


@dataclass(frozen=True, eq=False)
class Keys:
    """Per key domain (the column that links lead to) the published key of every value."""

    of_domain: Mapping[At, Mapping[str, Any]]

    def publish(self, domain: At, values: pl.Series, name: str) -> pl.Series:
        """The published keys of a column; missing keys stay missing."""
        import polars as pl

        made = self.of_domain[domain]
        published_values = [None if value is None else made[canonical_label(value)] for value in values.to_list()]
        kind = pl.Int64 if all(isinstance(value, int) for value in published_values if value is not None) else pl.String
        return pl.Series(name, published_values, dtype=kind)


def key_domain(job: LinkedJob, at: At) -> At:
    """The column that says what a key means: the end of its link.

    >>> job = LinkedJob.from_dict({"unit": "p.id", "tables": {"p": {"data": ""}, "v": {"data": ""}},
    ...     "links": [{"from": "v.p", "to": "p.id"}]})
    >>> str(key_domain(job, At("v", "p")))
    'p.id'
    """
    for link in job.links:
        if link.child == at:
            return key_domain(job, link.parent)
    return at


def keys_for(
    job: LinkedJob,
    related: Related,
    published: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask],
    key: bytes | None,
) -> Keys:
    """New keys for all values that leave: numbers in an order that chance chose, or HMAC-SHA256 with a secret key."""
    values: dict[At, list[str]] = {}
    for name in related.order:
        for column in job.key_columns(name):
            key_values = related.frames[name][column].filter(is_published[name]).drop_nulls().unique()
            values.setdefault(key_domain(job, At(name, column)), []).extend(
                canonical_label(key_value) for key_value in key_values.to_list()
            )
    made: dict[At, dict[str, Any]] = {}
    chance = np.random.default_rng()  # nobody is to be able to draw the same numbers again
    for domain, labels in values.items():
        different = list(dict.fromkeys(labels))
        if job.keys == "hash":
            from kanopy._table.pseudonyms import check_key, pseudonym

            secret = check_key(key)
            made[domain] = {label: pseudonym(label, str(domain), secret) for label in different}
            if set(made[domain].values()) & set(different):
                raise VerificationFailed(f"A published key of {domain} equals an original one. Nothing was written.")
        else:
            numbers = chance.permutation(len(different)) + 1
            made[domain] = dict(zip(different, numbers.tolist(), strict=True))
    return Keys(made)


def with_keys(
    frame: pl.DataFrame,
    table: Table,
    name: str,
    job: LinkedJob,
    related: Related,
    is_published: Mapping[str, Mask],
    keys: Keys,
    published: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """A published table with its keys and the person's labels in columns that repeat them, in its original order."""
    import polars as pl

    if table.marker is not None and table.marker in frame.columns:
        frame = frame.drop(table.marker)
    rows = np.flatnonzero(is_published[name])
    more: list[pl.Series] = []
    if job.keys != "none":
        for column in job.key_columns(name):
            key_values = related.frames[name][column][rows]
            more.append(keys.publish(key_domain(job, At(name, column)), key_values, column))
    if table.repeated and related.people is not None:
        person_row = np.cumsum(is_published[related.people]) - 1
        theirs = person_row[related.unit_of_row[name][rows].astype(np.int64)]
        more += [published[related.people][column][theirs].alias(column) for column in table.repeated]
    frame = pl.DataFrame([*frame.get_columns(), *more])
    return frame.select(column for column in related.frames[name].columns if column in frame.columns)


def shifted(
    job: LinkedJob, related: Related, name: str, frame: pl.DataFrame, is_published: Mask, key: bytes | None
) -> pl.DataFrame:
    """A published table whose dates are shifted by a number of days that depends on the person alone."""
    import polars as pl

    shift = job.shift_dates
    wanted = [] if shift is None else [at.column for at in shift.columns if at.table == name]
    if shift is None or not wanted:
        return frame
    days = offsets(related, shift.days, key)[related.unit_of_row[name].astype(np.int64)][np.flatnonzero(is_published)]
    for column in wanted:
        if column in job.job_of(name).quasi:
            raise JobError(
                f"{name}.{column} is a quasi-identifier, and its labels would be wrong for shifted dates. Give it "
                "the role insensitive, or leave it out of [shift-dates]."
            )
        if column not in frame.columns:
            raise JobError(
                f"{name}.{column} is not published, so its dates cannot be shifted. Leave it out, or give it a role."
            )
        frame = frame.with_columns(_moved(frame[column], pl.Series(days), f"{name}.{column}"))
    return frame


def offsets(related: Related, most: int, key: bytes | None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Days per person, from -most to most and never 0: from the secret key where there is one, else by chance."""
    if key is None:
        draws = np.random.default_rng().integers(1, 2 * most + 1, related.count)
    else:
        digests = [hmac.new(key, b"shift-dates\0" + canonical_label(value).encode(), hashlib.sha256).digest()
                   for value in related.unit_values.to_list()]  # fmt: skip
        draws = np.array([int.from_bytes(digest[:8], "big") % (2 * most) + 1 for digest in digests], np.int64)
    return np.where(draws <= most, draws, most - draws).astype(np.int64)


def _moved(column: pl.Series, days: pl.Series, at: str) -> pl.Series:
    """Dates moved by so many days, in the form they came in."""
    import polars as pl

    texts = column.dtype == pl.String
    dates = column.str.to_date("%Y-%m-%d", strict=False) if texts else column
    if dates.dtype not in (pl.Date, pl.Datetime) or dates.null_count() > column.null_count():
        raise DataError(f"{at} is to be shifted and contains values that are not dates (YYYY-MM-DD).")
    moved = pl.DataFrame({"d": dates, "n": days}).select(pl.col("d") + pl.duration(days=pl.col("n"))).to_series()
    return (moved.dt.to_string("%Y-%m-%d") if texts else moved.cast(dates.dtype)).alias(column.name)
