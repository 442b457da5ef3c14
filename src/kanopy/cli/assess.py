"""`kanopy assess`: what is a release still good for?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit, note, progress_bar


def assess(
    original: Annotated[str, typer.Argument(help="The table as it was.")],
    released: Annotated[str, typer.Argument(help="The table as it is published, by Kanopy or another tool.")],
    job: Annotated[Path | None, typer.Option("--job", help="The job: quasi-identifiers and hierarchies.")] = None,
    quasi: Annotated[
        str | None, typer.Option("--quasi", "-q", help="Quasi-identifiers [default: the columns that changed].")
    ] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with the hierarchies whose labels the release uses.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="A column that tells which rows of both belong together.")] = None,
    target: Annotated[str | None, typer.Option(help="The column that classifiers learn to predict.")] = None,
    learn: Annotated[bool, typer.Option(help="Train classifiers (needs scikit-learn).")] = True,
    queries: Annotated[int, typer.Option(help="Random count queries to ask; 0 for none.")] = 500,
    disturbed: Annotated[bool, typer.Option(help="Values were exchanged or noise was added on purpose.")] = False,
    seed: Annotated[int, typer.Option(help="For queries, folds and samples.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a page (.html) or the numbers (.json).")] = None,
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")] = False,
) -> None:
    """What is a release still good for: loss, distributions, associations, counts, learning, statistics."""
    from kanopy._files import write_whole
    from kanopy._job.job import Job
    from kanopy._progress import Step
    from kanopy._table.sinks import check_writable
    from kanopy._table.sources import local_path, read_table
    from kanopy.cli.risk import _hierarchies, _names, _report
    from kanopy.study.assess import assess as compare

    begin(json_mode)
    inputs = [path for name in (original, released) if (path := local_path(name)) is not None]
    if report is not None:
        check_writable(report, inputs, table=False)
    wanted = None if job is None else Job.read(job)
    with progress_bar() as show:
        show(Step("reading", None, ""))
        before, after = read_table(original), read_table(released)
        show(Step("comparing", None, ""))
        columns = _names(quasi) or (list(wanted.quasi) if wanted else before.columns)
        found = compare(
            before,
            after,
            quasi=_names(quasi),
            job=wanted,
            hierarchies=_hierarchies(hierarchies, columns),
            key=key,
            target=target,
            learn=learn,
            queries=queries,
            disturbed=disturbed,
            seed=seed,
        )
        if report is not None:
            write_whole(report, _report(found, report, released))
    for line in found.notes:
        note(line)
    emit(found.to_dict(), lambda out: _show(out, found, report))


def _show(out: Any, found: Any, report: Path | None) -> None:
    from rich.table import Table
    from rich.text import Text

    out.print(
        f"Published values lost [bold]{found.loss:.2%}[/] of their detail; {found.released_rows:,} of {found.rows:,} "
        f"rows are in the release, {found.hidden_rows:,} of them hidden."
    )
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    heads = ("column", "loss", "information kept", "total variation", "earth mover's", "changed", "hidden")
    for title in heads:
        table.add_column(title, justify="left" if title == "column" else "right")
    for each in found.columns:
        table.add_row(
            Text(each.name),
            f"{each.loss:.3f}",
            f"{each.bits_kept:.1%}",
            f"{each.total_variation:.3f}",
            f"{each.earth_movers:.3f}",
            f"{each.changed_rows:,}",
            f"{each.hidden_rows:,}",
        )
    out.print(table)
    if found.dropped:
        out.print(Text(f"Not published: {', '.join(found.dropped)}."))
    if found.queries is not None:
        out.print(
            f"Count queries ({found.queries.queries:,}): median error {found.queries.median:.1%}, mean "
            f"{found.queries.mean:.1%}."
        )
    for each in found.learners:
        out.print(
            f"{each.learner}: accuracy {each.before:.1%} before, {each.after:.1%} after "
            f"(guessing: {each.baseline:.1%})."
        )
    for each in found.bounds:
        if each.statistic in ("mean", "median") and each.low < each.high:
            mark = "" if each.holds else "  [red]does not hold[/]"
            out.print(
                f"{each.column}: {each.statistic} between {each.low:,.4g} and {each.high:,.4g} (was {each.truth:,.4g})"
                + mark
            )
    if report is not None:
        out.print(f"Report: [bold]{report}[/]", soft_wrap=True)


def attach(app: typer.Typer) -> None:
    """Add the command to the `kanopy` application."""
    app.command("assess")(assess)
