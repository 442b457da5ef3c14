"""`kanopy assess`: what is a release still good for?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._job.usage import SEARCHED
from kanopy.cli import options as o
from kanopy.cli.console import grid, note, progress_bar, worked_out
from kanopy.cli.files import check_document, check_outputs, hierarchies_in, inputs_of, read_data

NO_PART = (
    "models", "population", "sampling_weight", "household", "repeats", "k", "suppress", "metric", "algorithm",
    "parameters", "local", "missing", "known", "min_levels", "max_levels", "weights",
)  # fmt: skip
"""What decides a release and not how its table is read: labels of hierarchies that the job does not name say by
themselves what they cover, however fine these were."""


@o.command(
    "job",
    "quasi",
    "target",
    "report",
    seed=0,
    needs={"target": None, "on": None, "hierarchies": None, "seed": o.CHANCE},
    reads=[*(name for name in SEARCHED if name not in NO_PART), "sensitive"],
)
def assess(
    original: o.Data,
    released: Annotated[str, typer.Argument(help="The published table, made by Kanopy or another tool.")],
    hierarchies: o.ReleaseHierarchies = None,
    on: o.JoiningColumn = None,
    learn: Annotated[bool, typer.Option(help="Train classifiers (needs scikit-learn).")] = True,
    queries: Annotated[int, typer.Option(help="The number of random count queries; 0 for none.")] = 500,
    disturbed: Annotated[bool, typer.Option(help="Accept values that were exchanged or changed by noise.")] = False,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """What is a release still good for: loss, distributions, associations, counts, learning, statistics.

    Without --quasi and --job the columns that changed are compared.
    """
    from kanopy._parameter_types import Integer, taken
    from kanopy._progress import Clock, Step
    from kanopy._table.sinks import staged
    from kanopy.cli.studies.risk import page_or_numbers
    from kanopy.study.utility_study import assess as compare

    clock = Clock(())
    file, report = given["job"], given["report"]
    check_outputs(inputs_of(original, released, file), report)
    check_document(report)
    wanted = o.job_of({"job": file, "quasi": given["quasi"]}, settled=False)
    seed = taken(Integer(0), given["seed"], "seed")
    with progress_bar() as show:
        show(Step("reading", None, ""))
        before, after = (read_data(original, layout.over(wanted)).frame, read_data(released, layout.of_others).frame)
        show(Step("comparing", None, ""))
        described = hierarchies_in(hierarchies, wanted.quasi or before.columns)
        found = compare(
            before, after, None if file is None else wanted, quasi=wanted.quasi or None, hierarchies=described, on=on,
            target=given["target"], learn=learn, queries=queries, disturbed=disturbed, seed=seed,
        )  # fmt: skip
        with staged() as outputs:
            if report is not None:
                outputs.bytes(report, page_or_numbers(found, report, released))
            show_all = worked_out({**found.to_dict(), "seconds": clock.total()}, lambda out: _show(out, found, report))
    for line in found.notes:
        note(line)
    show_all()


def _show(out: Any, found: Any, report: Path | None) -> None:
    from rich.markup import escape
    from rich.text import Text

    from kanopy.cli.studies.risk import show_numbers

    out.print(
        f"Published values lost [bold]{found.loss:.2%}[/] of their detail; {found.released_rows:,} of {found.rows:,} "
        f"rows are in the release, {found.hidden_rows:,} of them suppressed."
    )
    titles = ("column", ">loss", ">information kept", ">total variation", ">earth mover's", ">changed", ">hidden")
    rows = (
        (
            each.name, f"{each.loss:.3f}", f"{each.bits_kept:.1%}", f"{each.total_variation:.3f}",
            f"{each.earth_movers:.3f}", f"{each.changed_rows:,}", f"{each.hidden_rows:,}",
        )
        for each in found.columns
    )  # fmt: skip
    out.print(grid(titles, rows))
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
    show_numbers(out, found.treated)
    for each in found.bounds:
        if each.statistic in ("mean", "median") and each.low < each.high:
            mark = "" if each.holds else "  [red]does not hold[/]"
            out.print(
                f"{escape(each.column)}: {each.statistic} between {each.low:,.4g} and {each.high:,.4g} "
                f"(was {each.truth:,.4g}){mark}"
            )
    if report is not None:
        out.print(Text(f"Report: {report}"), soft_wrap=True)
