"""Several published tables looked at again, by code written from the definition: labels joined by the published keys.

Nothing here is shared with the search: no codes, no hierarchies, no union. What is counted are labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Mask
from kanopy._errors import VerificationFailed
from kanopy.linked.job import LinkedJob
from kanopy.linked.keys import Related
from kanopy.privacy.models import failing
from kanopy.verify.job import require_used_categories
from kanopy.verify.people import UnitColumns, people_of, rare_traces, require_traces
from kanopy.verify.regroup import Background, published_classes

if TYPE_CHECKING:
    import polars as pl

    from kanopy.linked.preparation import Table

REPORT_IT = "Nothing was written. This is an error in Kanopy: please report it."


@dataclass(frozen=True)
class TablesVerified:
    """What the second look at several published tables found.

    `people` are published; whole traces (all rows of a person in all tables, joined) of `rare_traces` of them are
    shared by fewer than k. `rare_numbers` counts the people whose number of rows per table fewer than k share.
    """

    people: int
    smallest: int
    rare_traces: int
    rare_numbers: int
    orphans: int
    rows: Mapping[str, int]
    suppressed: Mapping[str, int]
    rare_chains: int = 0
    """People whose rows, each with the rows it refers to, fewer than k share: what links between events tell."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for reports and the manifest."""
        return {
            "people": self.people, "smallest_group": self.smallest, "people_with_rare_traces": self.rare_traces,
            "people_with_rare_numbers_of_rows": self.rare_numbers, "people_with_rare_chains": self.rare_chains,
            "orphan_keys": self.orphans, "rows": dict(self.rows), "suppressed_rows": dict(self.suppressed),
        }  # fmt: skip


def verify_tables(
    job: LinkedJob,
    related: Related,
    tables: Mapping[str, Table],
    frames: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask],
    levels: Mapping[str, Mapping[str, int]],
) -> TablesVerified:
    """Count people by what is published of them in all tables together; raises if the promise does not hold."""
    import polars as pl

    for frame in frames.values():
        require_used_categories(frame)
    orphans = _require_parents(job, related, frames)
    _require_one_label(job, tables, related, frames, is_published, levels)
    owners, labels, looked = looked_at(job, related, tables, frames, is_published)
    people, parts = related.people, []
    for name, looked_table in looked.items():
        if job.known_rows == 0 and name != people:
            continue
        keys = sorted(c for c in looked_table.columns if c != "\0unit")
        number = (
            looked_table.select(pl.struct(keys).rank("dense").cast(pl.Int64)).to_series()
            if keys
            else pl.Series([1] * looked_table.height, dtype=pl.Int64)
        )
        parts.append(pl.DataFrame([looked_table["\0unit"], (number.cast(pl.String) + f" {name}").alias("class")]))
    rows = pl.concat([class_rows for class_rows in parts if class_rows.height] or parts[:1])
    rows_known = job.known_rows
    unit_columns = UnitColumns(rows.select("\0unit"), None if rows_known is None else max(1, rows_known), "people")
    smallest = 0
    if rows.height:
        smallest = int(people_of(rows, ["class"], unit_columns).min())  # type: ignore[arg-type]
        if smallest < job.k:
            raise VerificationFailed(
                f"A published combination belongs to {smallest} people only, k is {job.k:,}. {REPORT_IT}"
            )
        require_traces(rows, ["class"], unit_columns, job.k)
    _require_models(job, related, tables, frames, is_published, looked)
    every, rare, numbers, chains = _measured(job, related, looked, frames, labels, owners)
    for name in related.order:
        leaked = [c for c in job.key_columns(name) if c in frames[name].columns and job.keys == "none"]
        if leaked:
            raise VerificationFailed(f"The key {name}.{leaked[0]} would be published. {REPORT_IT}")
    if rows_known is None and rare:
        raise VerificationFailed(
            f"The whole trace of {rare:,} people is shared by fewer than k = {job.k:,}. {REPORT_IT}"
        )
    return TablesVerified(
        every, smallest, rare, numbers, orphans,
        {name: frames[name].height for name in related.order},
        {name: int((~is_published[name]).sum()) for name in related.order}, chains,
    )  # fmt: skip


def looked_at(
    job: LinkedJob, related: Related, tables: Mapping[str, Table], frames: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask],
) -> tuple[dict[str, pl.Series], dict[str, pl.DataFrame], dict[str, pl.DataFrame]]:  # fmt: skip
    """Per table whose row each published row is, its labels, and all that is known together with a row: its labels,
    those of the person and of parents that are known with it."""
    import polars as pl

    owners = {name: _owner(job, related, name, frames, is_published) for name in related.order}
    people = related.people
    labels = {
        name: frames[name].select(pl.col(c).cast(pl.String) for c in _quasi(tables[name])) for name in related.order
    }
    person: pl.DataFrame | None = None
    if people is not None:
        person = pl.DataFrame(
            [
                owners[people].alias("\0unit"),
                *(labels[people][c].alias(f"\0p{i}") for i, c in enumerate(labels[people].columns)),
            ]
        )
    looked = {}
    for name in related.order:
        own_labels = pl.DataFrame(
            [
                owners[name].alias("\0unit"),
                *(labels[name][c].alias(f"\0e{i}") for i, c in enumerate(labels[name].columns)),
            ]
        )
        if name == people:
            own_labels = own_labels.rename({f"\0e{i}": f"\0p{i}" for i in range(labels[name].width)})
        elif person is not None:
            own_labels = own_labels.join(person, on="\0unit", how="left", maintain_order="left")
        looked[name] = _with_together(job, related, name, frames, labels, own_labels)
    return owners, labels, looked


def _quasi(table: Table) -> list[str]:
    return [*(c for c in table.job.quasi if c != table.marker), *table.repeated]


def _owner(
    job: LinkedJob, related: Related, name: str, frames: Mapping[str, pl.DataFrame], is_published: Mapping[str, Mask]
) -> pl.Series:
    """Whose row each published row is, by published keys where they lead to the person, else beside the release."""
    import polars as pl

    if job.keys != "none":
        if name == job.unit.table:
            return frames[name][job.unit.column].cast(pl.String).rename("unit")
        for link in job.links:
            if (
                link.child.table == name
                and link.parent == job.unit
                and not frames[name][link.child.column].null_count()
            ):
                return frames[name][link.child.column].cast(pl.String).rename("unit")
        for link in job.links:
            if link.child.table == name and not frames[name][link.child.column].null_count():
                above = _owner(job, related, link.parent.table, frames, is_published)
                theirs = pl.DataFrame(
                    {"key": frames[link.parent.table][link.parent.column].cast(pl.String), "unit": above}
                )
                ours = pl.DataFrame({"key": frames[name][link.child.column].cast(pl.String)})
                owners = ours.join(theirs, on="key", how="left", maintain_order="left")["unit"]
                if not owners.null_count():
                    return owners
        root = job.unit.table
        key = frames[root][job.unit.column].cast(pl.String).to_list()
        published = dict(zip(related.unit_of_row[root][is_published[root]].tolist(), key, strict=True))
        return pl.Series(
            "unit",
            [published[unit] for unit in related.unit_of_row[name][is_published[name]].tolist()],
            dtype=pl.String,
        )
    return pl.Series("unit", related.unit_of_row[name][is_published[name]]).cast(pl.String)


def _require_parents(job: LinkedJob, related: Related, frames: Mapping[str, pl.DataFrame]) -> int:
    """Refuse published foreign keys without their parent, and parents with one key twice."""
    if job.keys == "none":
        return 0
    for link in job.links:
        theirs, ours = (
            frames[link.parent.table][link.parent.column],
            frames[link.child.table][link.child.column].drop_nulls(),
        )
        if theirs.n_unique() != len(theirs):
            raise VerificationFailed(f"Published keys of {link.parent} repeat. {REPORT_IT}")
        if len(ours) and (~ours.is_in(theirs.implode())).any():
            raise VerificationFailed(
                f"Published keys of {link.child} have no row in {link.parent.table!r}. {REPORT_IT}"
            )
        original = related.frames[link.parent.table][link.parent.column]
        if job.keys == "hash" and set(theirs.to_list()) & set(original.cast(str).to_list()):
            raise VerificationFailed(f"Keys of {link.parent} would be published as they are. {REPORT_IT}")
    return 0


def _require_one_label(
    job: LinkedJob, tables: Mapping[str, Table], related: Related, frames: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask], levels: Mapping[str, Mapping[str, int]],
) -> None:  # fmt: skip
    """Refuse two labels for one value of a domain that several tables share."""
    import polars as pl

    from kanopy.linked.preparation import shared_domains

    for domain in shared_domains(job, related):
        pairs = []
        for at in domain:
            if at.column in frames[at.table].columns:
                before = related.frames[at.table][at.column].filter(pl.Series(is_published[at.table])).cast(pl.String)
                pairs.append(
                    pl.DataFrame({"value": before, "label": frames[at.table][at.column].cast(pl.String)}).unique()
                )
        together = pl.concat(pairs).unique().drop_nulls("value") if pairs else None
        if together is not None and together.height != together["value"].n_unique():
            raise VerificationFailed(
                f"{' and '.join(map(str, domain))} would publish one value under two labels. {REPORT_IT}"
            )


def _with_together(
    job: LinkedJob,
    related: Related,
    name: str,
    frames: Mapping[str, pl.DataFrame],
    labels: Mapping[str, pl.DataFrame],
    together: pl.DataFrame,
) -> pl.DataFrame:
    """The labels of a table with those of parents that are known together with it, by the published keys."""
    import polars as pl

    for link in job.links:
        if link.child.table == name and link.together and link.parent.table != related.people and job.keys != "none":
            above = link.parent.table
            their_labels = [labels[above][column].alias(f"\0t{above}{column}") for column in labels[above].columns]
            theirs = pl.DataFrame([frames[above][link.parent.column].cast(pl.String).alias("\0key"), *their_labels])
            theirs = _with_together(job, related, above, frames, labels, theirs)
            together = together.with_columns(frames[name][link.child.column].cast(pl.String).alias("\0key"))
            together = together.join(theirs, on="\0key", how="left", maintain_order="left").drop("\0key")
    return together


def _require_models(
    job: LinkedJob, related: Related, tables: Mapping[str, Table], frames: Mapping[str, pl.DataFrame],
    is_published: Mapping[str, Mask], looked: Mapping[str, pl.DataFrame],
) -> None:  # fmt: skip
    """Refuse tables whose classes of people, by what is known together, break a model of a sensitive column."""
    import polars as pl

    for name in related.order:
        table = tables[name]
        if table.prepared is None:
            continue
        for model in table.job.models:
            column = model.sensitive[0]
            for below in related.order:
                rows = _rows_above(related, below, name)
                if rows is None or not frames[below].height or (job.known_rows == 0 and below != name):
                    continue  # where no row of events is known, none of them makes a group of its own
                values = related.frames[name][column][rows.clip(min=0)]
                values = (
                    pl.select(pl.when(pl.Series(rows >= 0)).then(values)).to_series().alias(column)
                    if (rows < 0).any()
                    else values
                )
                there = pl.Series((rows >= 0)[np.flatnonzero(is_published[below])])
                keys = [
                    c for c in looked[below].columns if c != "\0unit" and (job.known_rows != 0 or c.startswith("\0p"))
                ]
                tag = pl.Series("\0tag", [""] * looked[below].height, dtype=pl.String)
                frame = pl.DataFrame([*(looked[below][c] for c in keys), tag,
                                      values.filter(pl.Series(is_published[below])).alias(column)])  # fmt: skip
                units = looked[below]["\0unit"].filter(there)
                hierarchies = dict(table.prepared.table.confidential)  # type: ignore[union-attr]
                everyone = pl.Series("u", related.unit_of_row[name]).cast(pl.String)
                background = Background(
                    related.frames[name].select(column), hierarchies, units=units, original_units=everyone
                )
                seen = published_classes(frame.filter(there), [*keys, "\0tag"], [model], background)
                wrong = int((failing(model, seen) & (seen.sizes > 0)).sum())
                if wrong:
                    raise VerificationFailed(
                        f"{wrong:,} classes of {below!r} violate the model {model.name!r} of {name}.{column}. "
                        f"{REPORT_IT}"
                    )


def _rows_above(related: Related, name: str, above: str) -> Any:
    """For every row of a table its row in a table above it (or itself); `None` where nothing leads there."""
    if name == above:
        return np.arange(related.frames[name].height)
    if above == related.people:
        return related.unit_of_row[name].astype(np.int64)
    for parent in related.parents[name]:
        further = _rows_above(related, parent.link.parent.table, above)
        if further is not None:
            return np.append(further, -1)[parent.row]
    return None


def _measured(
    job: LinkedJob, related: Related, looked: Mapping[str, pl.DataFrame], frames: Mapping[str, pl.DataFrame],
    labels: Mapping[str, pl.DataFrame], owners: Mapping[str, pl.Series],
) -> tuple[int, int, int, int]:  # fmt: skip
    """People, and of how many fewer than k share the whole trace, the numbers of rows, and the chains of rows."""
    import polars as pl

    traces, numbers, chains = [], [], []
    for name in related.order:
        own_labels = looked[name]
        keys = sorted(c for c in own_labels.columns if c != "\0unit")
        rank = (
            own_labels.select(pl.struct(keys).rank("dense").cast(pl.Int64)).to_series()
            if keys
            else pl.Series([1] * own_labels.height, dtype=pl.Int64)
        )
        traces.append(pl.DataFrame([own_labels["\0unit"], (rank.cast(pl.String) + f" {name}").alias("class")]))
        numbers.append(
            pl.DataFrame([own_labels["\0unit"], pl.Series("class", [name] * own_labels.height, dtype=pl.String)])
        )
        chains.append(pl.DataFrame([own_labels["\0unit"], _chain(job, related, name, frames, labels, own_labels)]))
    rare_counts = []
    every = 0
    for parts in (traces, numbers, chains):
        rows = pl.concat(parts)
        every, rare = rare_traces(rows, ["class"], rows["\0unit"], job.k)
        rare_counts.append(rare)
    return every, rare_counts[0], rare_counts[1], rare_counts[2]


def _chain(
    job: LinkedJob,
    related: Related,
    name: str,
    frames: Mapping[str, pl.DataFrame],
    labels: Mapping[str, pl.DataFrame],
    own_labels: pl.DataFrame,
) -> pl.Series:
    """What a row says together with all rows that it refers to, as a text."""
    import polars as pl

    every = LinkedJob(**{**{f: getattr(job, f) for f in job.__dataclass_fields__},
                         "links": tuple(type(link)(link.child, link.parent, True) for link in job.links)})  # fmt: skip
    whole = _with_together(every, related, name, frames, labels, own_labels)
    keys = sorted(c for c in whole.columns if c != "\0unit")
    rank = (
        whole.select(pl.struct(keys).rank("dense").cast(pl.Int64)).to_series()
        if keys
        else pl.Series([1] * own_labels.height, dtype=pl.Int64)
    )
    return (rank.cast(pl.String) + f" {name}").alias("class")
