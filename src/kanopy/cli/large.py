"""`kanopy count`, and releases that are handed out as a statement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import emit, note, worked_out
from kanopy.cli.files import check_outputs, inputs_of


@o.command(
    "job", "quasi", "sensitive", "unit", "model", "sampling_weight", "household",
    reads=("quasi", "sensitive", "unit", "models", "hierarchies", "algorithm", "parameters", "sampling_weight",
           "household", "skip_rows", "places"),
)  # fmt: skip
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
    from kanopy.release.large import ROWS_COLUMN, key_columns
    from kanopy.release.where import open_engine

    if output.suffix != ".parquet":
        raise JobError(f"Counts are written as Parquet. Name them {output.stem}.parquet.")
    wanted = o.job_of({"hierarchies": None, **given})
    if not wanted.quasi:
        raise JobError("Name the columns to count: -q age,sex, or a job file.")
    if wanted.places:
        raise JobError("The places of a job are only made of two columns in memory. Count their columns themselves.")
    columns = list(dict.fromkeys((*key_columns(wanted), *wanted.sensitive)))
    check_outputs(inputs_of(data, given["job"]), output)
    name = "database" if is_database(data) else "stream"
    with open_engine(name, data, None, wanted.replaced(missing_tokens=()), encoding=encoding) as holder:
        found = holder.count(columns).rename({ROWS: ROWS_COLUMN})
    with staged(forbidden=inputs_of(data)) as release:
        release.table(found, output, private=True)
    told = {"counts": str(output), "rows": int(found[ROWS_COLUMN].sum()), "different": found.height, "columns": columns}
    note(f"{output} holds values of the original table: keep inside.")
    emit(
        told,
        lambda out: out.print(f"{told['rows']:,} rows, {found.height:,} different ones in {len(columns)} columns."),
    )


def emit_statement(
    data: str, output: str, job: Any, dialect: str, encoding: str | None, given: dict[str, Any], *,
    solution: Path | None, **unused: Any,
) -> None:  # fmt: skip
    """Write the statement that makes the release, for a database that is not reached from here."""
    from kanopy._errors import JobError, near_miss, some
    from kanopy._table.sinks import staged
    from kanopy._table.sources import split_source
    from kanopy.engine.connections import is_database
    from kanopy.engine.statements import DIALECTS, emitted
    from kanopy.release.large import recode_only
    from kanopy.release.where import open_engine
    from kanopy.release.writing import Files, stage_beside

    if dialect not in DIALECTS:
        raise JobError(f"Statements are not handed out for {dialect!r}. {near_miss(dialect, DIALECTS)}")
    if not output.endswith(".sql"):
        raise JobError(f"Statements are written to a .sql file. Name it {Path(output).stem}.sql.")
    rows_alone = {name: given[name] for name in ("report", "report_values", "sampling_fraction", "target")}
    engine = {"engine": None if unused["engine"] == "auto" else unused["engine"]}
    asked = [name for name, value in (rows_alone | unused | engine).items() if value]
    if asked:
        said = some(f"--{name.replace('_', '-')}" for name in asked)
        raise JobError(
            f"{said} has no use beside --emit-sql, which only counts and hands out a statement. Leave it out."
        )
    files = Files(output, mapping=given["mapping"], manifest=given["manifest"], solution=solution)
    inputs = inputs_of(data, given["job"], *job.hierarchies.values())
    check_outputs(inputs, output)
    files.check(inputs, job, table=False)
    path, table, _ = split_source(data)
    name = table or path.stem
    with staged(forbidden=inputs) as release:
        with open_engine("database" if is_database(data) else "stream", data, None, job, encoding=encoding) as holder:
            result, recoded = recode_only(holder, job, source=data)
        statement = emitted(recoded, name, f"{name}_release", dialect, shuffle=job.shuffle is not False)
        release.bytes(output, statement.encode(), private=True)
        stage_beside(release, result, files, {"output": (Path(output).name, release.place_of(output))})
        show = worked_out(
            result.summary(), lambda out: out.print(f"Wrote {output}: it makes {name}_release of {name} ({dialect}).")
        )
    inside = ", ".join(str(file) for file in (output, files.mapping, files.solution) if file is not None)
    note(f"{inside} {'hold' if ',' in inside else 'holds'} values of the original table: keep inside.")
    show()
