"""Releases over time: the promise holds for what all releases say of a person together.

Release t promises for every person present: the people who agree with it in every release that it appeared in, and who
came and went at the same releases, number at least k; models of sensitive columns hold of the same groups, for the
values of this release and of the earlier ones. The history of a person enters the search as one more column that must
not be generalized; newcomers have a history of their own. People whose history fewer than k of those present share
cannot be in any release: they are left out, and this is the least that any release has to suppress.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kanopy._arrays import Longs, Mask
from kanopy._chain import now
from kanopy._core.classes import Recoding
from kanopy._core.units import ALL
from kanopy._errors import DataError, JobError, NoSolution, VerificationFailed, some
from kanopy._job.job import Job
from kanopy._progress import SILENT, Clock, Progress
from kanopy._table.formats.layout import Layout
from kanopy.linked.history.guarded import (
    earlier_values,
    guarded_columns,
    require_guarded,
    require_models,
    require_possible,
    value_column,
    values_to_record,
)
from kanopy.linked.history.ledger import (
    ABSENT,
    HISTORY,
    NEW,
    STATE,
    SUPPRESSED,
    UNIT,
    Ledger,
    keyed,
    parquet_bytes,
    with_event,
)
from kanopy.release.prepare import Generalizable, prepare
from kanopy.release.run import MemorySteps, drawn_within_margin, make_release, search
from kanopy.search.solution import Solution
from kanopy.verify.regroup import labels_of_values

if TYPE_CHECKING:
    import polars as pl

    from kanopy.release.result import Result

COLUMN = "earlier releases"
"""The column of histories in the search; it is never published."""


@dataclass(frozen=True, eq=False)
class Present:
    """The people of a table as the ledger knows them: per row the person, and per person the keyed hash and history."""

    of_row: Longs
    unit: tuple[str, ...]
    history: tuple[str, ...]
    named: Mask
    """Which people have a name at all; the others are in no earlier release, and are not recorded."""


@dataclass(frozen=True, eq=False)
class OverTime:
    """A release that keeps the promise over time, with what is to be recorded of it."""

    result: Result
    ledger: Ledger
    present: Present
    left_out: Mask
    """Rows that no release may have."""
    lines: tuple[str, ...]

    def record(self, key: bytes, recorded: Mapping[str, tuple[str, Path]]) -> dict[Path, bytes]:
        """The files of the ledger after this release; `recorded` are the files whose digests it keeps."""
        job = self.result.job
        assert isinstance(job, Job)
        output = recorded.get("output")
        return recorded_release(
            self.ledger, self.present, states_of(self, key), key,
            {
                "k": job.k,
                "rows": self.result.rows + int(self.left_out.sum()),
                "job_sha256": hashlib.sha256(job.explicit().to_toml().encode("utf-8")).hexdigest(),
                "output_sha256": None if output is None else _checksum(output[1]),
                "unit_sha256": unit_digest(unit_columns(job), key), "guarded": guarded_columns(job, key),
            },
            values_to_record(self, key),
        )  # fmt: skip


def recorded_release(
    ledger: Ledger, present: Present, of_person: Sequence[str], key: bytes, facts: Mapping[str, Any],
    sensitive: Mapping[str, Mapping[str, str]],
) -> dict[Path, bytes]:  # fmt: skip
    """The files of a ledger after one more release: what it said of every person, and what is known of the release."""
    people = zip(present.unit, of_person, present.named.tolist(), strict=True)
    states = {unit: state for unit, state, named in people if named}
    frame = _next(ledger, present, states, key, sensitive)
    event = {
        "event": "release", "release": ledger.last + 1, "date": now(), **facts, "people": frame.height,
        "present": int(present.named.sum()),
        "suppressed_people": sum(state == SUPPRESSED for state in states.values()),
    }  # fmt: skip
    if not ledger.events:
        event |= {"format": "kanopy-ledger", "version": 1, "key": keyed(key, "key", "check")}
    return with_event(ledger, event, {ledger.last + 1: parquet_bytes(frame)})


def unit_columns(job: Job) -> tuple[str, ...]:
    """The columns that say who a row is about, from one release to the next."""
    if job.unit:
        return tuple(job.unit)
    if len(job.pseudonymize) == 1:
        return tuple(job.pseudonymize)
    raise JobError(
        "A ledger recognizes people from release to release. Name the column of the person (unit, --unit), or "
        "publish one column as a pseudonym."
    )


def anonymize_over_time(
    data: Any,
    job: Job,
    ledger: Ledger,
    key: bytes,
    *,
    population: Any = None,
    source: str | None = None,
    clock: Clock | None = None,
    progress: Progress = SILENT,
) -> OverTime:
    """A release of a table that keeps the promise together with all releases of the ledger, verified; nothing is
    written and nothing is recorded yet."""
    import polars as pl

    from kanopy._job.reading_rules import read_records
    from kanopy.linked.preparation import UNSAID_LAYOUT, with_history
    from kanopy.metrics.release_losses import release_losses

    if not isinstance(job, Job) or job.masks:
        raise JobError("A ledger needs classes of labels, and the algorithm replaces answers. Use 'optimal' or 'best'.")
    if job.separators or population is not None or any(model.needs_population for model in job.models):
        raise JobError("A ledger cannot be combined with lists or with a population. Leave one of them out.")
    if job.sample < 1:
        raise JobError(
            "A ledger counts who is in each release, and a new sample of every month lets people come and go. Leave "
            "the sample or the ledger out."
        )
    clock = clock or Clock()
    with clock.stage("read"):
        whole = read_records(data, job)
    job = job.replaced(skip_rows=0, column_tokens={}, decimals={}, **UNSAID_LAYOUT)
    unit = unit_columns(job)
    if COLUMN in whole.columns:
        raise DataError(f"The table has a column {COLUMN!r}, a name that the ledger uses. Rename it.")
    present = present_people(whole, unit, job.missing_tokens, ledger, key)
    if not job.unit and len(present.unit) < whole.height:
        raise JobError(
            f"{whole.height - len(present.unit):,} of {whole.height:,} rows belong to a person who has another row, "
            f"and the job counts rows. Name {some(list(unit))} as the unit (unit, --unit)."
        )
    lost, lines = left_out(present, ledger, job.k, key)
    if lost.all():
        raise NoSolution(
            f"No row can be published: fewer than k = {job.k:,} people share the history of each person in the "
            "earlier releases.",
            advice=["choose a smaller k"],
        )
    frame = whole.filter(pl.Series(~lost))
    rows = present.of_row[~lost]
    histories = pl.Series(COLUMN, [present.history[person] for person in rows.tolist()], dtype=pl.String)
    extended, extra = frame.with_columns(histories), with_history(job, histories)
    require_guarded(job, ledger, whole.columns, key)
    earlier = earlier_values(job, ledger, present, rows, frame, key)
    if earlier:
        extended = extended.with_columns(list(earlier[0]))
        sensitive = [*job.sensitive, *(column.name for column in earlier[0])]
        extra = extra.replaced(models=[*job.models, *earlier[1]], sensitive=sensitive)
    prepared = prepare(extended, extra, source=source, clock=clock, progress=progress)
    if prepared.units is not None and (prepared.units.known != ALL or job.models):
        raise JobError(
            "Several rows belong to one person, and a ledger records all rows of a person: "
            + ("the job must protect all rows (known = all)." if prepared.units.known != ALL else
               "models of sensitive columns are not supported over time in this case. Leave them out, or make one "
               "row per person.")
        )  # fmt: skip
    with clock.stage("search"):
        assert isinstance(prepared.job, Job)
        if ledger.releases:
            require_possible(prepared.job, prepared.domain.facts)
        given_solution = drawn_within_margin(
            prepared, prepared.job, search(prepared, prepared.job, progress), key, progress
        )
    assert isinstance(given_solution, Solution) and isinstance(prepared.table, Generalizable)
    trees = {name: tree for name, tree in prepared.table.hierarchies.items() if name != COLUMN}
    plain = prepare(
        frame, job.replaced(hierarchies={**job.hierarchies, **trees}), source=source, clock=clock, progress=progress
    )
    plain = replace(plain, job=job)
    at = prepared.domain.names.index(COLUMN)
    recoding = _without(given_solution.recoding, at)
    levels = (
        None
        if given_solution.levels is None
        else tuple(level for j, level in enumerate(given_solution.levels) if j != at)
    )
    weights = [job.weights.get(name, 1.0) for name in plain.domain.names]
    losses = release_losses(plain.domain, recoding, weights, levels)
    solution = replace(given_solution, recoding=recoding, levels=levels, score=losses.get(job.metric, losses["loss"]))
    steps = MemorySteps(lambda: plain, job, key=key, clock=clock, notify=progress)
    result = make_release(steps, solution=solution)
    notes = tuple(note for note in result.notes if COLUMN not in note)
    result = replace(result, notes=(*notes, *lines))
    made = OverTime(result, ledger, present, lost, lines)
    verify_over_time(made, key)
    return made


def _without(recoding: Recoding, at: int) -> Recoding:
    """A recoding without one of its columns."""

    def rest(parts: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(part_of_column for j, part_of_column in enumerate(parts) if j != at)

    return replace(
        recoding, codes=np.ascontiguousarray(np.delete(recoding.codes, at, axis=1)), labels=rest(recoding.labels),
        shares=rest(recoding.shares), nodes=rest(recoding.nodes) if recoding.nodes else (),
    )  # fmt: skip


def present_people(
    frame: pl.DataFrame, unit: Sequence[str], missing_tokens: Sequence[str], ledger: Ledger, key: bytes,
    called: Sequence[str] = (),
) -> Present:  # fmt: skip
    """Who the rows of a table are about, as the ledger knows them; `called` names the unit where columns do not."""
    from kanopy._table.grouping import units_of

    numbers, alone = units_of(frame, unit, missing_tokens)
    first = np.unique(numbers, return_index=True)[1]
    count = len(first)
    texts = [labels_of_values(frame[name], "\0").to_list() for name in unit]
    names = ["\0".join(column[row] for column in texts) for row in first.tolist()]
    hashes = [keyed(key, "unit", name) for name in names]
    named = np.arange(count) < count - alone
    history_of_unit: dict[str, str] = {}
    if ledger.releases:
        expected = ledger.releases[0]["unit_sha256"]
        if expected != unit_digest(called or unit, key):
            raise DataError(
                f"The ledger {str(ledger.folder)!r} has another unit than {some(list(called or unit))}. Name the "
                "unit of the earlier releases, or another ledger."
            )
        last = ledger.people(ledger.last)
        history_of_unit = dict(zip(last[UNIT].to_list(), last[HISTORY].to_list(), strict=True))
        if not any(digest in history_of_unit for digest in hashes):
            raise DataError(
                f"None of the {count:,} people of the table is in the ledger {str(ledger.folder)!r}, so it belongs "
                "to another table. Name the ledger of this table, or an empty folder."
            )
    histories = [
        history_of_unit.get(digest, NEW) if there else NEW for digest, there in zip(hashes, named.tolist(), strict=True)
    ]
    return Present(numbers.astype(np.int64), tuple(hashes), tuple(histories), named)


def unit_digest(unit: Sequence[str], key: bytes) -> str:
    return keyed(key, "unit columns", "\0".join(unit))


def left_out(present: Present, ledger: Ledger, k: int, key: bytes) -> tuple[Mask, tuple[str, ...]]:
    """The rows that no release may have, and what to say: what is known of their history is shared by too few."""
    counts: dict[str, int] = {}
    for history in present.history:
        counts[history] = counts.get(history, 0) + 1
    forgotten = ledger.forgotten
    few = np.array([counts[history] < k for history in present.history], np.bool_)
    is_left_out = np.array([unit in forgotten for unit in present.unit], np.bool_)
    if is_left_out.any():
        present_units: dict[str, int] = {}
        for history, away in zip(present.history, is_left_out.tolist(), strict=True):
            present_units[history] = present_units.get(history, 0) + (not away)
        few = np.array([present_units[history] < k for history in present.history], np.bool_) | is_left_out
    lost = few[present.of_row]
    if not ledger.releases:
        return np.zeros(len(lost), np.bool_), ()
    lines = [f"Earlier releases in the ledger: {ledger.last:,}. The promise holds for all of them together."]
    if lost.any():
        newcomers = sum(
            history == NEW and bool(away) for history, away in zip(present.history, few.tolist(), strict=True)
        )
        lines.append(
            f"{int(lost.sum()):,} rows of {int(few.sum()):,} people are left out: fewer than k = {k:,} of those "
            "present "
            f"share what earlier releases said of each, so no release of them is safe ({newcomers:,} are newcomers)."
        )
    away, below = already_told(ledger, k)
    if below:
        lines.append(
            f"In the earlier releases alone, {below:,} of {away:,} people share their labels with fewer than k = "
            f"{k:,} people: this cannot be undone."
        )
    return lost, tuple(lines)


def already_told(ledger: Ledger, k: int) -> tuple[int, int]:
    """People who are published in an earlier release, and of these, people whose history fewer than k share."""
    import polars as pl

    last = ledger.people(ledger.last)
    states = [
        ledger.people(release).rename({STATE: f"s{release}"}).select(UNIT, f"s{release}")
        for release in range(1, ledger.last + 1)
    ]
    whole = last.select(UNIT)
    for state in states:
        whole = whole.join(state, on=UNIT, how="left")
    names = [f"s{release}" for release in range(1, ledger.last + 1)]
    whole = whole.with_columns(pl.col(names).fill_null(ABSENT))
    published_people = whole.filter(pl.any_horizontal(~pl.col(names).is_in([ABSENT, SUPPRESSED])))
    shared = published_people.with_columns(pl.len().over(names).alias("n"))["n"]
    return published_people.height, int((shared < k).sum())


def states_of(made: OverTime, key: bytes) -> list[str]:
    """What the release publishes of every person, as keyed hashes; `-` where nothing is."""
    result, present = made.result, made.present
    names = list(result.prepared.names)
    published = result.published
    published_people = np.flatnonzero(~made.left_out)
    published_people = published_people if result.kept is None else published_people[result.kept]
    solution = result.solution
    assert solution is not None
    is_shown = solution.recoding.group_of_row >= 0
    is_shown = is_shown if result.kept is None else is_shown[result.kept]
    import polars as pl

    rows = published.select(
        pl.struct([labels_of_values(published[name]).alias(str(j)) for j, name in enumerate(names)]).rank("dense")
    ).to_series()
    texts = published.select(
        pl.concat_str([labels_of_values(published[name]) for name in names], separator="\0")
    ).to_series()
    first = pl.DataFrame({"rank": rows, "text": texts}).unique("rank")
    classes = {rank: keyed(key, "class", text) for rank, text in first.iter_rows()}
    held: dict[int, list[str]] = {}
    for person, rank, there in zip(
        present.of_row[published_people].tolist(), rows.to_list(), is_shown.tolist(), strict=True
    ):
        if there:
            held.setdefault(person, []).append(classes[rank])
    states = []
    several: dict[tuple[str, ...], str] = {}
    for person in range(len(present.unit)):
        group_key = tuple(sorted(held.get(person, ())))
        if group_key not in several:
            several[group_key] = (
                SUPPRESSED
                if not group_key
                else group_key[0]
                if len(group_key) == 1
                else keyed(key, "trace", "\0".join(group_key))
            )
        states.append(several[group_key])
    return states


def _next(
    ledger: Ledger, present: Present, states: Mapping[str, str], key: bytes, sensitive: Mapping[str, Mapping[str, str]]
) -> pl.DataFrame:
    """The people of the ledger after a release: those of earlier ones, and newcomers."""
    import polars as pl

    now_here = pl.DataFrame(
        {UNIT: list(states), STATE: list(states.values())}, schema={UNIT: pl.String, STATE: pl.String}
    )
    if ledger.releases:
        before = ledger.people(ledger.last).select(UNIT, pl.col(HISTORY).alias("before"))
    else:
        before = pl.DataFrame(schema={UNIT: pl.String, "before": pl.String})
    whole = before.join(now_here, on=UNIT, how="full", coalesce=True)
    whole = whole.with_columns(pl.col("before").fill_null(NEW), pl.col(STATE).fill_null(ABSENT))
    pairs = whole.select("before", STATE).unique()
    release = ledger.last + 1
    # All who come later have the history of those who were in no release: newcomers of one release share theirs.
    made = [keyed(key, "history", f"{release}\0{before}\0{state}") for before, state in pairs.iter_rows()]
    whole = whole.join(pairs.with_columns(pl.Series(HISTORY, made)), on=["before", STATE], how="left")
    for name, values in sensitive.items():
        at = value_column(name, key)
        column = pl.DataFrame(
            {UNIT: list(values), at: list(values.values())}, schema=dict.fromkeys([UNIT, at], pl.String)
        )
        whole = whole.join(column, on=UNIT, how="left")
    return whole.drop("before").sort(UNIT)


def verify_over_time(made: OverTime, key: bytes) -> None:
    """Count again, from the labels and from what the ledger holds of every release, who agrees with whom in all."""
    job = made.result.job
    assert isinstance(job, Job)
    table, names = require_shared(made.ledger, made.present, states_of(made, key), job.k)
    require_models(made, table, names, key)


def require_shared(ledger: Ledger, present: Present, states: Sequence[str], k: int) -> tuple[pl.DataFrame, list[str]]:
    """Per person what all releases say, and the names of these columns; raises where fewer than k published people
    share it."""
    import polars as pl

    named = pl.Series(present.named)
    table = pl.DataFrame({UNIT: list(present.unit), "now": states}, schema={UNIT: pl.String, "now": pl.String})
    table = table.with_columns(pl.when(named).then(pl.col(UNIT)).alias(UNIT))
    names = ["now"]
    for release in range(1, ledger.last + 1):
        past = ledger.people(release).select(UNIT, pl.col(STATE).alias(f"s{release}"))
        table = table.join(past, on=UNIT, how="left", maintain_order="left").with_columns(
            pl.col(f"s{release}").fill_null(ABSENT)
        )
        names.append(f"s{release}")
    published = table.filter(pl.col("now") != SUPPRESSED)
    shared = published.group_by(names).len()["len"]
    fewest = int(shared.min()) if len(shared) else k  # type: ignore[arg-type]
    if fewest < k:
        raise VerificationFailed(
            f"What all releases together say of a person is shared by {fewest} people only, k is {k:,}. Nothing was "
            "written. This is an error in Kanopy: please report it."
        )
    return table, names


def _checksum(path: Path) -> str:
    from kanopy.release.manifest import checksum

    return checksum(path)


def publish_over_time(
    data: Any,
    job: Job,
    files: Any,
    folder: str | Path,
    key: bytes,
    *,
    read: Any = None,
    inputs: Sequence[Any] = (),
    source: str | None = None,
    progress: Any = None,
    finish: Any = None,
    neutralize: bool = False,
) -> tuple[Result, list[str]]:
    """Make a release that keeps the promise over time, and write it with its line in the ledger, or nothing at all.

    >>> import tempfile, polars as pl
    >>> from kanopy.release.writing import Files
    >>> place = Path(tempfile.mkdtemp())
    >>> table = pl.DataFrame({"who": list("abcdef"), "sex": list("fffmmm")})
    >>> job, key = Job(quasi="sex", unit="who", k=3), b"a key of sixteen bytes"
    >>> for month in ("may", "june"):
    ...     result, _ = publish_over_time(table, job, Files(str(place / f"{month}.csv")), place / "ledger", key)
    >>> result.notes[-1]
    'Earlier releases in the ledger: 1. The promise holds for all of them together.'
    """
    from kanopy._table.sources import is_source, read_source
    from kanopy.linked.history.ledger import locked, read_ledger
    from kanopy.release.writing import inputs_of, write_files

    clock, notify = Clock(), Progress(progress)
    input_paths = inputs_of(data)
    forbidden = [*input_paths, *inputs_of(*getattr(job, "hierarchies", {}).values(), *inputs)]
    files.check(forbidden, job)
    with locked(folder) as folder_path:
        ledger = read_ledger(folder_path, key)
        with clock.stage("read"):
            layout = Layout.of(job)
            table = read() if read is not None else read_source(data, layout=layout) if is_source(data) else None
        frame = data if table is None else table.frame
        made = anonymize_over_time(frame, job, ledger, key, source=source, clock=clock, progress=notify)
        whole = replace(files, ledger=lambda recorded: made.record(key, recorded))
        messages = write_files(
            made.result, whole, dialect=None if table is None else table.dialect,
            read_from=input_paths[0] if input_paths else None,
            neutralize=neutralize or job.neutralize_formulas, inputs=forbidden, finish=finish, progress=notify,
        )  # fmt: skip
    return made.result, messages
