"""`kanopy risk`: how likely are the people in a table to be found again?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import DataError, JobError, shown_address
from kanopy._job.usage import STUDIED
from kanopy.cli import options as o
from kanopy.cli.console import counted, grid, of_units, progress_bar, worked_out
from kanopy.cli.files import check_document, check_outputs, hierarchies_in, inputs_of, read_data
from kanopy.cli.studies.check import about_both, earlier_tables, show_beside

SHUFFLED = 0.1
"""Of shuffled rows hardly one stands where it was; in tiny tables some do by chance."""


@o.command(
    "job", "quasi", "sensitive", "unit", "known", "separator", "sampling_fraction", "population", "sampling_weight",
    "household", "every", "report", seed=0,
    needs={"sampling_fraction": None, "seed": o.RELEASED, "hierarchies": o.RELEASED, "exact": o.WEIGHTS,
           "missing_means": o.WEIGHTS},
    reads=[name for name in STUDIED if name not in ("k", "models")],
)  # fmt: skip
def risk(
    data: o.Data,
    population_size: Annotated[int | None, typer.Option(help="The number of people in the population.")] = None,
    released: Annotated[str | None, typer.Option(help="A release of this table, to attack.")] = None,
    beside: o.EarlierRelease = None,
    on: o.JoiningColumn = None,
    beside_quasi: o.EarlierQuasi = None,
    hierarchies: o.ReleaseHierarchies = None,
    threshold: Annotated[str, typer.Option(help="The accepted risk of a row.")] = "0.2",
    subsets: Annotated[int, typer.Option(help="The largest size of the sets of columns to examine; 0 for none.")] = 3,
    missing_means: Annotated[
        str, typer.Option(help="What a missing value matches: any value, or only missing values (value).")
    ] = "value",
    exact: Annotated[
        bool, typer.Option("--exact", help="Compute the expected risk exactly, without the usual approximation.")
    ] = False,
    suda: Annotated[int, typer.Option(help="The largest number of columns of special uniques (SUDA); 0 for none.")] = 0,
    row_risks: Annotated[
        str | None, typer.Option(help="Write a table with the risk and scores of every row. For internal use.")
    ] = None,
    combinations: Annotated[
        str | None, typer.Option(help="Write the combinations of --every that too few rows share. For internal use.")
    ] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """How likely are people to be found again: prosecutor, journalist, marketer, uniqueness, linkage, disclosure.

    Without --quasi the columns that identify people are suggested.
    """
    from kanopy._progress import Clock, Step
    from kanopy._table.sinks import staged
    from kanopy.study.risk_settings import RiskSettings
    from kanopy.study.risk_study import assess_risk

    clock = Clock(())
    population, report, every = given["population"], given["report"], given.pop("every")
    wanted = o.job_of(given, settled=False)
    if row_risks is not None and wanted.sampling_weight is None and not suda and every is None:
        raise JobError("--row-risks needs a risk per row: add --sampling-weight, --suda or --every.")
    if combinations is not None and every is None:
        raise JobError("--combinations needs --every, such as --every 2:10,3:3.")
    inputs = inputs_of(data, given["job"], wanted.population, released, *(beside or ()))
    check_outputs(inputs, report)
    check_document(report)
    for table_path in (row_risks, combinations):
        check_outputs([*inputs, *([report] if report else [])], table=table_path)
    if row_risks is not None and row_risks == combinations:
        raise DataError(f"Two outputs have the same name {row_risks!r}. Give each one of its own.")
    settings = RiskSettings(
        threshold=threshold, population_size=population_size, sampling_fraction=given["sampling_fraction"],
        largest_subset=subsets, suda=suda, every=every or (), missing_means=missing_means, exact=exact,
        seed=given["seed"],
    )  # fmt: skip
    both = about_both(data, beside, wanted.quasi, on) if beside else {}
    wanted = wanted.replaced(quasi=both.pop("quasi", wanted.quasi))
    both.pop("k", None)
    if beside_quasi:
        both["beside_quasi"] = o.columns(beside_quasi)
    with progress_bar() as show:
        show(Step("reading", None, ""))
        table = read_data(data, layout.over(wanted)).frame
        everyone = None if population is None else read_data(population, layout.of_others).frame
        release = None if released is None else read_data(released, layout.of_others).frame
        show(Step("assessing", None, ""))
        described = hierarchies_in(hierarchies, wanted.quasi or table.columns)
        assessment = assess_risk(
            table, wanted.replaced(hierarchies={**wanted.hierarchies, **described}), population=everyone,
            released=release, beside=earlier_tables(beside, layout.of_others), settings=settings,
            as_release=bool(beside), **{"on": on, **both},
        )  # fmt: skip
        with staged(forbidden=inputs) as release:
            if row_risks is not None:
                release.table(row_table(assessment), row_risks, private=True)
            if combinations is not None:
                release.table(combination_table(assessment), combinations, private=True)
            if report is not None:
                release.bytes(report, page_or_numbers(assessment, report, data))
            show_all = worked_out(
                {**assessment.to_dict(), "seconds": clock.total()}, lambda out: _show(out, assessment, report)
            )
    show_all()


def show_numbers(out: Any, studies: Any) -> None:
    """Risk and utility of treated numbers, a line each."""
    for study in studies:
        risk, utility = study.risk, study.utility
        if risk is not None and risk.linked is not None and utility.il1s_per_value is not None:
            out.print(
                f"Treated numbers {study.column}: {risk.linked:.1%} of the rows linked, {risk.interval_deviation:.1%} "
                f"within 5 % of a standard deviation; IL1s {utility.il1s_per_value:.3f} per value.",
                markup=False,
            )


def page_or_numbers(study: Any, path: Path, source: str) -> bytes:
    """A study as a page, a document to file or its numbers, by the suffix of the file."""
    from kanopy.release.writing import report_bytes
    from kanopy.report.documents.studies import document_of

    if path.suffix == ".json":
        return report_bytes(study, path)
    name = Path(shown_address(source)).name
    if path.suffix in (".pdf", ".docx"):
        filed: bytes = document_of(study, name).to_bytes(path.suffix)
        return filed
    page: str = study.to_html(name)
    return page.encode("utf-8")


def row_table(assessment: Any) -> Any:
    """A row per row of the table, numbered from 1, with all that is known of its risk."""
    import polars as pl

    return pl.DataFrame({"row": range(1, assessment.rows + 1), **assessment.row_risks})


def combination_table(assessment: Any) -> Any:
    """A row per combination that too few rows share."""
    import polars as pl

    rows = [
        {
            "columns": " + ".join(unsafe_combination["columns"]),
            "values": " + ".join("(missing)" if value is None else value for value in unsafe_combination["values"]),
            "rows": unsafe_combination["rows"],
            "at_least": unsafe_combination["at_least"],
        }
        for unsafe_combination in assessment.answers.unsafe_combinations()
    ]
    return pl.DataFrame(rows, {"columns": pl.String, "values": pl.String, "rows": pl.Int64, "at_least": pl.Int64})


def _show_survey(out: Any, assessment: Any) -> None:
    """What the sampling weights, special uniques and small combinations say."""

    survey_risk, special = assessment.answers.survey, assessment.answers.special
    if survey_risk is not None:
        out.print(
            f"By the sampling weights [bold]{survey_risk.expected_reidentifications:,.2f}[/] people "
            f"({survey_risk.share:.3%}) are expected to be found, the most exposed with a chance of "
            f"{survey_risk.highest:.2%}; {survey_risk.rows_above:,} rows are above the accepted risk."
        )
        if survey_risk.household is not None:
            home = survey_risk.household
            out.print(
                f"With their households: {home.expected_reidentifications:,.2f} ({home.share:.3%}), the highest "
                f"{home.highest:.2%}, in {counted(home.households, 'household')}"
                f"{f'; {home.alone:,} rows without one count alone' if home.alone else ''}."
            )
    if special is not None:
        named = sorted(zip(special.shares, special.names, strict=True), reverse=True)[:5]
        out.print(
            f"Special uniques of up to {counted(special.largest, 'column')}: {int((special.scores > 0).sum()):,} rows, "
            f"highest score {int(special.scores.max(initial=0)):,}."
        )
        out.line("  " + ", ".join(f"{name} {share:.1%}" for share, name in named) + " of all scores")
    if assessment.answers.asked_every:
        sets = assessment.answers.every
        out.print(
            f"{assessment.answers.rows_in_unsafe:,} rows show a combination of a few columns that too few share, in "
            f"{counted(len(sets), 'set')} of columns."
        )
        for unsafe_set in sets[:5]:
            out.line(
                f"  {' + '.join(unsafe_set.columns)}: {unsafe_set.unsafe:,} combinations with {unsafe_set.rows:,} rows"
            )


def _show(out: Any, assessment: Any, report: Path | None) -> None:

    sizes = assessment.sizes
    mark = "[bold green]✓[/]" if not assessment.rows_above_threshold else "[bold red]✗[/]"
    out.print(
        f"{mark} {assessment.rows_above_threshold:,} of {sizes.rows:,} {assessment.counted} "
        f"({assessment.share_above_threshold:.2%}) "
        f"are above the accepted risk of {assessment.threshold:.0%}."
    )
    if assessment.suggested_quasi:
        out.line(f"Suggested quasi-identifiers: {', '.join(assessment.quasi)}. Choose others with -q.", style="yellow")
    journalist = assessment.journalist
    rows = (
        (
            "prosecutor",
            f"{sizes.highest_prosecutor:.2%}",
            f"{sizes.average_prosecutor:.2%}",
            "knows who is in the table",
        ),
        ("journalist", f"{journalist.highest:.2%}", f"{journalist.average:.2%}", journalist.basis),
        ("marketer", "", f"{assessment.marketer:.2%}", "links everybody to a register"),
    )
    out.print(grid(("risk", ">highest", ">average", ""), rows))
    out.print(
        f"{counted(sizes.classes, 'class')}, the smallest of {of_units(sizes.smallest_class, assessment.counted)}; "
        f"{of_units(sizes.unique_rows, assessment.counted)} ({sizes.unique_share:.2%}) unique, "
        f"{assessment.suppressed_rows:,} {'' if assessment.units is None else 'rows '}suppressed."
    )
    if assessment.units is not None:
        from kanopy.report.pages.risk_page import known_rows

        out.print(known_rows(assessment.to_dict())[0])
    if assessment.journalist.k_map is not None:
        out.print(
            f"k-map: every row shares its values with at least {assessment.journalist.k_map:,} of the population."
        )
    if assessment.population is not None:
        uniques = assessment.population
        parts = [
            f"{name} {'–' if value is None else f'{value / uniques.population:.3%}'}"
            for name, value in (("Pitman", uniques.pitman), ("Zayatz", uniques.zayatz), ("SNB", uniques.snb))
        ]
        out.print(
            f"Unique in the population: [bold]{uniques.dankar / uniques.population:.3%}[/] "
            f"(chosen: {uniques.chosen}; {', '.join(parts)})"
        )
    _show_survey(out, assessment)
    if assessment.identifying is not None:
        best = sorted(assessment.identifying.subsets, key=lambda subset: (-subset.unique_share, len(subset.columns)))[
            :5
        ]
        for subset in best:
            out.line(
                f"  {' + '.join(subset.columns)}: {subset.unique_share:.1%} unique, separation {subset.separation:.2%}"
            )
    show_numbers(out, assessment.treated)
    for subset in assessment.attacks:
        out.print(
            f"{subset.kind} attack: {subset.found:,.1f} of {subset.attempts:,} people found ({subset.share:.2%}), "
            f"{subset.certain:,} with certainty, highest risk {subset.highest_risk:.2%}."
        )
    if assessment.order is not None:
        order, advice = assessment.order, " Publish without --keep-order." if assessment.order.share > SHUFFLED else ""
        out.print(f"by the order of rows: {order.found:,} of {order.rows:,} people found ({order.share:.2%}).{advice}")
    if assessment.beside is not None:
        show_beside(out, assessment.beside)
    for subset in assessment.exposed:
        ends = f"{', '.join(subset.ends[:5])}{', …' if len(subset.ends) > 5 else ''}"
        what = f"{counted(len(subset.ends), 'interval end')} of fewer than {subset.k:,} {subset.counted}: {ends}"
        out.line(f"{subset.column}: {what}. Cut at round numbers instead.")
    for subset in assessment.disclosure:
        certain = of_units(subset.certain_rows, assessment.counted)
        out.line(
            f"{subset.column}: {certain} in classes that reveal the value; best guess "
            f"{subset.expected_confidence:.1%} instead of {subset.baseline:.1%}."
        )
    if report is not None:
        out.line(f"Report: {report}", soft_wrap=True)
