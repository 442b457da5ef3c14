"""`kanopy apply`: publish other rows with a solution found before, and verify them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit, note, progress_bar


def apply(
    solution: Annotated[Path, typer.Argument(help="A solution (`kanopy anonymize … --solution FILE` writes one).")],
    data: Annotated[str, typer.Argument(help="The new rows.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the release goes.")],
    suppress: Annotated[str | None, typer.Option(help="Rows that may be suppressed, if not as before.")] = None,
    key_file: Annotated[Path | None, typer.Option(help="The key for pseudonyms [default: KANOPY_KEY].")] = None,
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Publish new rows at the levels of an earlier solution.

    The new rows are judged like a table of their own: every model must hold among them, and what is about to leave is
    verified. A value that the hierarchies do not know is an error.
    """
    from kanopy._table.sinks import check_writable, staged
    from kanopy._table.sources import local_path, read_source
    from kanopy.release.run import anonymize
    from kanopy.release.solution_file import read_solution

    begin(json_mode)
    job = read_solution(solution)
    if suppress is not None:
        job = job.replaced(suppress=suppress)
    inputs = [path for path in (local_path(data), solution) if path is not None]
    check_writable(output, inputs)
    key = None
    if job.pseudonymize:
        from kanopy._table.pseudonyms import read_key

        key = read_key(key_file)
    with progress_bar() as show:
        source = read_source(data)
        result = anonymize(source.frame, job, progress=show, source=data, key=key)
        with staged(forbidden=inputs) as release:
            release.table(result.frame, output, dialect=source.dialect)
    for line in result.notes:
        note(line)

    def draw(out: Any) -> None:
        out.print(
            f"[bold green]✓[/] {result.rows:,} rows at the levels of {solution}: {result.classes:,} classes, the "
            f"smallest of {result.smallest_class:,}; {result.suppressed:,} rows suppressed. Checked again on "
            f"what is published: [bold]{output}[/]",
            soft_wrap=True,
        )

    emit(result.summary(), draw)


def attach(app: typer.Typer) -> None:
    """Add the command to the `kanopy` application."""
    app.command("apply")(apply)
