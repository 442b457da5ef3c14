"""`kanopy attack`, `kanopy cells` and `kanopy evidence`: the evidence that reviewers of a release ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import DataError, JobError, shown_address
from kanopy._job.usage import ATTACKED, FORM
from kanopy._usage import Needs
from kanopy.cli import options as o
from kanopy.cli.console import counted, grid, note, progress_bar, worked_out
from kanopy.cli.files import check_document, check_outputs, hierarchies_in, inputs_of, read_data

ATTACKED_AND_K = (*ATTACKED, *FORM, "k")
POLICIES = ("hipaa-safe-harbor", "hipaa-expert", "ema-0070", "gdpr-wp216", "cms-11", "nist-800-188")
"""Written out, so that help needs no library; a test compares them with the profiles."""
BY = Annotated[list[str] | None, typer.Option("--by", help=f"Columns to count by, {o.SEVERAL} [default: all].")]
TABLE = Needs("a table of counts to publish (-o FILE)", lambda given: given.output is not None)


@o.command("job", "quasi", "sensitive", "unit", "report", seed=0, reads=(*ATTACKED, *FORM))
def attack(
    original: o.Data,
    released: Annotated[
        str | None, typer.Argument(help="The release, made by Kanopy or another tool. Without it, the job makes one.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="A control group: a table of other people of the same population, or the share of people "
            "to hold back (20%)."
        ),
    ] = None,
    hierarchies: o.ReleaseHierarchies = None,
    beside: Annotated[
        str | None, typer.Option("--beside", help="An earlier release of the same people, for attacks that use both.")
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option(help=f"Columns whose values the attacker guesses, {o.SEVERAL} [default: the sensitive ones]."),
    ] = None,
    first_source: Annotated[
        list[str] | None,
        typer.Option(help=f"Columns that the attacker's first source contains, {o.SEVERAL} [default: a random half]."),
    ] = None,
    guesses: Annotated[int, typer.Option(help="The number of guesses per attack.")] = 1000,
    learn: Annotated[bool, typer.Option(help="Also guess with a trained model (needs scikit-learn).")] = True,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Attack a release: singling out, linkability, inference, membership, beside a control group of other people.

    Without a release, the job makes one of the people who are not held back.
    """
    from kanopy._progress import Clock, Step
    from kanopy._table.sinks import staged
    from kanopy.release.evidence.attacking import attack as run
    from kanopy.release.evidence.attacking import is_share

    clock = Clock(())
    report, file, held = given["report"], given["job"], is_share(control)
    others = None if control is None or held else control
    inputs = inputs_of(original, released, file, others, beside)
    check_outputs(inputs, report)
    check_document(report)
    wanted = _job(given, held)
    with progress_bar() as show:
        show(Step("reading", None, ""))
        table = read_data(original, layout.over(wanted)).frame
        release = None if released is None else read_data(released, layout.of_others).frame
        people = control if held else None if others is None else read_data(others, layout.of_others).frame
        earlier = None if beside is None else read_data(beside, layout.of_others).frame
        described = hierarchies_in(hierarchies, wanted.quasi or table.columns)
        attack_report = run(
            table, release, wanted.replaced(hierarchies={**wanted.hierarchies, **described}), control=people,
            beside=earlier, secrets=o.columns(secret), first=o.columns(first_source), guesses=guesses, learn=learn,
            seed=given["seed"], progress=show,
        )  # fmt: skip
        with staged(forbidden=inputs) as files:
            if report is not None:
                files.bytes(
                    report, attack_report.to_document(_name(released or original)).to_bytes(report.suffix), private=True
                )
            show_all = worked_out(
                {**attack_report.to_dict(), "seconds": clock.total()}, lambda out: _show(out, attack_report, report)
            )
    show_all()


def _job(given: dict[str, Any], held: bool) -> Any:
    """The job of an attack: all of it where it makes the release, else what says how tables are read."""
    from kanopy._job.job import Job
    from kanopy._usage import refuse_in_vain

    wanted = o.job_of(given)
    if not held:
        return wanted
    if given["job"] is None:
        refuse_in_vain({"--control": Needs("the job that makes the release (--job FILE)", lambda _: False)})
    changes = {name: getattr(wanted, name) for name in ("quasi", "sensitive", "unit") if given[name]}
    file_job = Job.read(given["job"])
    return file_job.replaced(**changes) if changes else file_job


def _name(address: str) -> str:
    return Path(shown_address(address)).name


def _show(out: Any, attack_report: Any, report: Path | None) -> None:

    from kanopy.report.text import percent

    for line in attack_report.notes:
        note(line)
    out.line(attack_report.verdict)
    rows = []
    for attack_result in attack_report.attacks:
        risk = attack_result.risk
        rows.append(
            (
                f"{attack_result.attack}: {attack_result.detail}", f"{attack_result.guesses:,}",
                percent(attack_result.rate.value) if attack_result.guesses else "–",
                "–" if attack_result.control is None else percent(attack_result.control.value),
                "–" if risk is None else f"{percent(risk.value)} ({risk.low:.1%}–{risk.high:.1%})",
                attack_result.verdict,
            )
        )  # fmt: skip
    out.print(grid(("attack", ">guesses", ">rate", ">control", ">risk", ""), rows))
    isolated = attack_report.isolated
    beside = (
        ""
        if isolated.control_share is None
        else f"; {percent(isolated.control_share)} of these isolate somebody in the control group"
    )
    out.line(
        f"Labels and untouched values isolate {isolated.people:,} of {attack_report.people:,} "
        f"{attack_report.called}{beside}."
    )
    if report is not None:
        out.line(f"Report: {report}", soft_wrap=True)


@o.command("unit", "report", "output")
def cells(
    released: o.Data,
    by: BY = None,
    least: Annotated[int, typer.Option(help="Counts below this number are small.")] = 11,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Which small counts can be made from a release: all crosses of up to three columns, and by subtraction.

    With -o, the table of counts by these columns is written with its totals; small cells are hidden, and so many others
    that none follows from the totals.
    """
    from kanopy._progress import Clock, Progress, Step
    from kanopy._table.sinks import staged
    from kanopy.attacks.cell_suppression import protect_table
    from kanopy.attacks.cells import small_cells

    clock = Clock(())
    report, output = given["report"], given["output"]
    inputs = inputs_of(released)
    check_outputs(inputs, report)
    check_document(report)
    check_outputs([*inputs, *([report] if report else [])], table=None if output is None else str(output))
    columns, unit = o.columns(by), o.columns(given["unit"])
    if output is not None and not columns:
        raise JobError("The table of counts needs columns. Name up to three (--by).")
    with progress_bar() as show:
        show(Step("reading", None, ""))
        frame = read_data(released, layout).frame
        report_of_cells = small_cells(frame, columns, least=least, unit=unit, progress=Progress(show))
        if output is not None:
            from dataclasses import replace

            table = protect_table(frame, columns, least=least, unit=unit, progress=Progress(show))
            report_of_cells = replace(report_of_cells, table=table)
            if not table.holds:
                raise DataError(
                    f"The table by {', '.join(columns)} cannot be protected: it is so small that a small cell "
                    "follows from the totals whatever is hidden. Nothing was written. Name coarser or fewer columns."
                )
        with staged(forbidden=inputs) as files:
            if report_of_cells.table is not None:
                files.table(report_of_cells.table.to_frame(), str(output))
            if report is not None:
                files.bytes(report, report_of_cells.to_document(_name(released)).to_bytes(report.suffix))
            show_all = worked_out(
                {**report_of_cells.to_dict(), "seconds": clock.total()},
                lambda out: _show_cells(out, report_of_cells, report),
            )
    show_all()
    if report_of_cells.table is None and not report_of_cells.holds:
        raise typer.Exit(1)


def _show_cells(out: Any, report_of_cells: Any, report: Path | None) -> None:

    mark = "[bold green]✓[/]" if report_of_cells.holds else "[bold red]✗[/]"
    out.print(
        f"{mark} {report_of_cells.small:,} of {counted(report_of_cells.cells, 'cell')} have 1 to "
        f"{report_of_cells.least - 1} {report_of_cells.counted}; "
        f"{counted(report_of_cells.differences, 'further small count')} "
        f"{'follows' if report_of_cells.differences == 1 else 'follow'} by "
        "subtraction."
    )
    worst = sorted(report_of_cells.crosses, key=lambda cross: -(cross.small + cross.differences))[:10]
    rows = [
        (" × ".join(cross.columns), f"{cross.cells:,}", f"{cross.small:,}", f"{cross.differences:,}")
        for cross in worst if cross.small or cross.differences
    ]  # fmt: skip
    if rows:
        out.print(grid(("columns", ">cells", ">small", ">by subtraction"), rows))
    if report_of_cells.table is not None:
        protected = report_of_cells.table
        out.print(
            f"Table of counts: {int(protected.primary.sum()):,} small and {protected.complementary:,} further cells "
            f"hidden of "
            f"{len(protected.counts):,}."
        )
    if report is not None:
        out.line(f"Report: {report}", soft_wrap=True)


@o.command("job", "quasi", "sensitive", "unit", "report", seed=0, reads=ATTACKED_AND_K)
def evidence(
    released: o.Data,
    policy: Annotated[str, typer.Option(help=f"The requirements to check: {', '.join(POLICIES)}.")],
    original: Annotated[str | None, typer.Option(help="The original table of the release.")] = None,
    control: Annotated[
        str | None, typer.Option(help="A control group: a table of other people of the same population.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="The accepted risk of a row.")] = None,
    guesses: Annotated[int, typer.Option(help="The number of guesses per attack.")] = 1000,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Check what an authority asks of a release, and write the document that is filed.

    Each requirement is met, not met, not applicable, or for a person to judge. Nothing claims compliance.
    """
    from kanopy._progress import Clock, Step
    from kanopy._table.sinks import staged
    from kanopy.attacks.policies import Evidence, read_policy, report_policy
    from kanopy.release.evidence.attacking import manifest_beside

    clock = Clock(())
    report, inputs = given["report"], inputs_of(released, given["job"], original, control)
    check_outputs(inputs, report)
    check_document(report)
    asked = read_policy(policy)
    wanted = o.job_of(given)
    with progress_bar() as show:
        show(Step("reading", None, ""))
        own_layout = layout.over(wanted)
        before = None if original is None else read_data(original, own_layout).frame
        others = None if control is None else read_data(control, layout.of_others).frame
        rows = read_data(released, layout.of_others if original is not None else own_layout).frame
        manifest, checksum = manifest_beside(released)
        policy_report = report_policy(
            Evidence(
                asked, rows, before, others,
                wanted if given["job"] is not None else None, manifest, wanted.quasi, wanted.sensitive, wanted.unit,
                threshold, guesses, given["seed"], show,
            ),
            checksum=checksum,
        )  # fmt: skip
        with staged(forbidden=inputs) as files:
            if report is not None:
                files.bytes(report, policy_report.to_document(_name(released)).to_bytes(report.suffix), private=True)
            show_all = worked_out(
                {**policy_report.to_dict(), "seconds": clock.total()},
                lambda out: _show_policy(out, policy_report, report),
            )
    show_all()
    if not policy_report.holds:
        raise typer.Exit(1)


def _show_policy(out: Any, policy_report: Any, report: Path | None) -> None:
    from rich.text import Text

    mark = Text("✓ ", style="bold green") if policy_report.holds else Text("✗ ", style="bold red")
    out.print(mark + Text(policy_report.verdict))
    out.print(grid(("", "requirement", "state", "evidence"), (
        (requirement.number, requirement.title, requirement.state,
        requirement.evidence) for requirement in policy_report.requirements
    )))  # fmt: skip
    if report is not None:
        out.line(f"Report: {report}", soft_wrap=True)
