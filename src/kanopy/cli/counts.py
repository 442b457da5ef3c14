"""`kanopy count`: the distinct rows of a table, for many jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._job.usage import FORM
from kanopy.cli import options as o
from kanopy.cli.console import emit, note
from kanopy.cli.files import check_outputs, inputs_of


@o.command(
    "job", "quasi", "sensitive", "unit", "model", "sampling_weight", "household",
    reads=("quasi", "sensitive", "unit", "models", "hierarchies", "algorithm", "parameters", "sampling_weight",
           "household", "skip_rows", "places", *FORM),
)  # fmt: skip
def count(
    data: o.Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The counts to write, a .parquet file.")],
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Count the distinct rows of a table, for many jobs: `kanopy anonymize --counts` reads them instead of the table.

    Counts of months or shards add up. For internal use: they contain original values.
    """
    from kanopy._errors import JobError
    from kanopy._table.sinks import staged
    from kanopy.engine.connections import is_database
    from kanopy.engine.contract import ROWS
    from kanopy.engine.opening import open_table
    from kanopy.release.out_of_core import ROWS_COLUMN, key_columns, require_unchanged

    if output.suffix != ".parquet":
        raise JobError(f"Counts are written as Parquet. Name them {output.stem}.parquet.")
    wanted = o.job_of({"hierarchies": None, **given})
    if not wanted.quasi:
        raise JobError("Name the columns to count: -q age,sex, or a job file.")
    if wanted.places:
        raise JobError("places: only the engine memory joins two columns to a place. Count the two columns instead.")
    columns = list(dict.fromkeys((*key_columns(wanted), *wanted.sensitive)))
    check_outputs(inputs_of(data, given["job"]), output)
    if is_database(data):
        require_unchanged(wanted)
    with open_table("stream", data, layout=layout.over(wanted), skip=wanted.skip_rows) as engine:
        counts = engine.count(columns).rename({ROWS: ROWS_COLUMN})
    with staged(forbidden=inputs_of(data)) as release:
        release.table(counts, output, private=True)
    summary = {
        "counts": str(output),
        "rows": int(counts[ROWS_COLUMN].sum()),
        "different": counts.height,
        "columns": columns,
    }
    note(f"{output} contains values of the original table: for internal use.")
    emit(
        summary,
        lambda out: out.print(f"{summary['rows']:,} rows, {counts.height:,} distinct ones in {len(columns)} columns."),
    )
