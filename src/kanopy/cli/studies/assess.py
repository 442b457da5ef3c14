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
        assessment = compare(
            before, after, None if file is None else wanted, quasi=wanted.quasi or None, hierarchies=described, on=on,
            target=given["target"], learn=learn, queries=queries, disturbed=disturbed, seed=seed,
        )  # fmt: skip
        with staged() as outputs:
            if report is not None:
                outputs.bytes(report, page_or_numbers(assessment, report, released))
            show_all = worked_out(
                {**assessment.to_dict(), "seconds": clock.total()}, lambda out: _show(out, assessment, report)
            )
    for line in assessment.notes:
        note(line)
    show_all()


def _show(out: Any, assessment: Any, report: Path | None) -> None:
    from rich.markup import escape

    from kanopy.cli.studies.risk import show_numbers

    out.print(
        f"Published values lost [bold]{assessment.loss:.2%}[/] of their detail; {assessment.released_rows:,} of "
        f"{assessment.rows:,} rows are in the release, {assessment.hidden_rows:,} of them suppressed."
    )
    titles = ("column", ">loss", ">information kept", ">total variation", ">earth mover's", ">changed", ">hidden")
    rows = (
        (
            column_utility.name, f"{column_utility.loss:.3f}", f"{column_utility.bits_kept:.1%}",
            f"{column_utility.total_variation:.3f}",
            f"{column_utility.earth_movers:.3f}", f"{column_utility.changed_rows:,}", f"{column_utility.hidden_rows:,}",
        )
        for column_utility in assessment.columns
    )  # fmt: skip
    out.print(grid(titles, rows))
    if assessment.dropped:
        out.line(f"Not published: {', '.join(assessment.dropped)}.")
    if assessment.queries is not None:
        out.print(
            f"Count queries ({assessment.queries.queries:,}): median error {assessment.queries.median:.1%}, mean "
            f"{assessment.queries.mean:.1%}."
        )
    for learner_utility in assessment.learners:
        out.print(
            f"{learner_utility.learner}: accuracy {learner_utility.before:.1%} before, {learner_utility.after:.1%} "
            f"after "
            f"(guessing: {learner_utility.baseline:.1%})."
        )
    show_numbers(out, assessment.treated)
    for learner_utility in assessment.bounds:
        if learner_utility.statistic in ("mean", "median") and learner_utility.low < learner_utility.high:
            mark = "" if learner_utility.holds else "  [red]does not hold[/]"
            out.print(
                f"{escape(learner_utility.column)}: {learner_utility.statistic} between {learner_utility.low:,.4g} "
                f"and {learner_utility.high:,.4g} "
                f"(was {learner_utility.truth:,.4g}){mark}"
            )
    if report is not None:
        out.line(f"Report: {report}", soft_wrap=True)
