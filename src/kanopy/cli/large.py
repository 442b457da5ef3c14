"""`kanopy anonymize` of tables that are not read into memory, and `kanopy count`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import emit, note, progress_bar
from kanopy.cli.files import check_outputs, inputs_of, key_for


def publish_large(
    data: str, output: str, job: Any, engine: str, given: dict[str, Any], *, encoding: str | None, read: list[Any],
    solution: Path | None, overwrite: bool, master: str | None, counts: list[Path] | None = None,
) -> Any:  # fmt: skip
    """Let an engine make the release, and write what goes beside it when all is verified."""
    from kanopy._errors import JobError, some
    from kanopy._progress import Clock
    from kanopy._table.sinks import staged
    from kanopy.release.counts import read_counts
    from kanopy.release.large import anonymize_where_it_is, key_columns
    from kanopy.release.where import open_engine

    asked = [name for name in ("report", "target", "sampling_fraction", "neutralize_formulas") if given.get(name)]
    if asked:
        said = some([f"--{name.replace('_', '-')}" for name in asked])
        raise JobError(f"{said} needs all rows in memory. Leave it out, or use --engine memory.")
    clock, mapping, manifest = Clock(), given.get("mapping"), given.get("manifest")
    inputs = inputs_of(data, given.get("key_file"), *read, *job.hierarchies.values())
    check_outputs(inputs, mapping, manifest, solution)
    key = key_for(job, given.get("key_file"))
    with progress_bar() as show, staged(forbidden=inputs) as release:
        with open_engine(
            engine, data, output, job, encoding=encoding, key=key, release=release, forbidden=tuple(inputs),
            overwrite=overwrite, master=master,
        ) as holder:  # fmt: skip
            known = None if not counts else read_counts(counts, key_columns(job))
            result = anonymize_where_it_is(holder, job, progress=show, clock=clock, source=data, counts=known)
            formulas = getattr(getattr(holder, "sink", None), "formulas", [])
        if mapping is not None:
            release.bytes(mapping, result.mapping().write_csv().encode("utf-8"))
        if solution is not None:
            release.bytes(solution, result.solution_json().encode("utf-8"))
        if manifest is not None:
            release.bytes(manifest, result.manifest().encode("utf-8"))
    for line in result.notes:
        note(line)
    if formulas:
        note(f"A spreadsheet that opens {Path(output).name!r} takes texts of {some(formulas)} for formulas.")
    return result


@o.command("job", "quasi", "sensitive", "unit", "model", "sampling_weight", "household")
def count(
    data: o.Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The counts to write, a .parquet file.")],
    encoding: o.Encoding = None,
    **given: Any,
) -> None:
    """Count the different rows of a table, for many jobs: `kanopy anonymize --counts` reads them instead of the table.

    Counts of months or shards add up. They hold original values: keep them inside.
    """
    from kanopy._errors import JobError
    from kanopy._table.sinks import staged
    from kanopy.engine.connections import is_database
    from kanopy.engine.contract import ROWS
    from kanopy.release.counts import ROWS_COLUMN
    from kanopy.release.large import key_columns
    from kanopy.release.where import open_engine

    if output.suffix != ".parquet":
        raise JobError(f"Counts are written as Parquet. Name them {output.stem}.parquet.")
    wanted = o.job_of({"hierarchies": None, **given})
    if not wanted.quasi:
        raise JobError("Name the columns to count: -q age,sex, or a job file.")
    columns = list(dict.fromkeys((*key_columns(wanted), *wanted.sensitive)))
    check_outputs(inputs_of(data, given["job"]), output)
    name = "database" if is_database(data) else "stream"
    with open_engine(name, data, None, wanted.replaced(missing_tokens=()), encoding=encoding) as holder:
        found = holder.count(columns).rename({ROWS: ROWS_COLUMN})
    with staged(forbidden=inputs_of(data)) as release:
        release.table(found, output)
    told = {"counts": str(output), "rows": int(found[ROWS_COLUMN].sum()), "different": found.height, "columns": columns}
    note(f"{output} holds values of the original table: keep inside.")
    emit(
        told,
        lambda out: out.print(f"{told['rows']:,} rows, {found.height:,} different ones in {len(columns)} columns."),
    )


def emit_statement(data: str, output: str, job: Any, dialect: str, engine: str, encoding: str | None) -> None:
    """Write the statement that makes the release, for a database that is not reached from here."""
    from kanopy._errors import JobError, near_miss
    from kanopy._files import write_whole
    from kanopy._table.sources import split_source
    from kanopy.engine.connections import is_database
    from kanopy.engine.statements import DIALECTS, emitted
    from kanopy.release.large import recode_only
    from kanopy.release.where import open_engine

    if dialect not in DIALECTS:
        raise JobError(f"Statements are not handed out for {dialect!r}. {near_miss(dialect, DIALECTS)}")
    if not output.endswith(".sql"):
        raise JobError(f"Statements are written to a .sql file. Name it {Path(output).stem}.sql.")
    check_outputs(inputs_of(data), output)
    with open_engine("database" if is_database(data) else "stream", data, None, job, encoding=encoding) as holder:
        result, recoded = recode_only(holder, job, source=data)
    path, table, _ = split_source(data)
    name = table or path.stem
    write_whole(output, emitted(recoded, name, f"{name}_release", dialect))
    note(f"{output} holds values of the original table: keep inside.")
    emit(result, lambda out: out.print(f"Wrote {output}: it makes {name}_release of {name} ({dialect})."))
