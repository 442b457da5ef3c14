"""`kanopy init`, `kanopy anonymize`, `kanopy apply`, and the page over them, `kanopy app`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kanopy._errors import shown_address
from kanopy._files import LANDING
from kanopy._job.protection import changed_columns
from kanopy.cli import options as o
from kanopy.cli.console import counted, emit, grid, note, of_units, progress_bar, standard_output, worked_out
from kanopy.cli.files import check_outputs, inputs_of, key_for, read_data

if TYPE_CHECKING:
    from kanopy._table.formats.layout import Layout

"""The variable that holds the password of a page that other machines may open."""


@o.command(
    "job", "quasi", "k", "suppress", "hierarchies", "metric", "budget", "threads", "param", "sensitive", "identifiers",
    "withheld", "insensitive", "rest", "allow_dependent", "shuffle", "unit", "known", "separator", "repeats", "missing",
    "missing_tokens", "unknown", "neutralize_formulas", "margin", "sample", "model", "every", "population",
    "sampling_weight", "household", *o.OUTPUTS,
)  # fmt: skip
def anonymize(
    output: o.Output,
    data: o.DataOrJob = None,
    algorithm: Annotated[str | None, typer.Option(help=o.ALGORITHM_HELP)] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local", help="Local recoding: rows with equal values may be published differently, which loses far less."
        ),
    ] = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="Also prove a lower bound of the loss (takes some time).")
    ] = False,
    bound_budget: Annotated[str | None, typer.Option(help="The time for proving the bound, e.g. 60s.")] = None,
    drop_suppressed: Annotated[
        bool, typer.Option(help="Drop suppressed rows instead of publishing them as *.")
    ] = False,
    pseudonymize: Annotated[
        list[str] | None, typer.Option(help=f"Identifiers to publish as keyed hashes, {o.SEVERAL}.")
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            help="The treatment of a column: COLUMN=METHOD[:name=value;…], e.g. pay=round:base=100; repeatable."
        ),
    ] = None,
    solution: o.SolutionFile = None,
    layout: o.Form = None,
    engine: Annotated[str, typer.Option(help="The engine: auto, memory, stream, database or spark.")] = "auto",
    master: Annotated[str | None, typer.Option(help="The Spark cluster, e.g. local[2] or spark://host:7077.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing table of the database.")] = False,
    counts: Annotated[
        list[Path] | None, typer.Option(help="Counts of `kanopy count`, used instead of counting again; repeatable.")
    ] = None,
    emit_sql: Annotated[
        str | None,
        typer.Option(
            help="Write an SQL statement that makes the release (duckdb, postgres, snowflake, "
            "…) instead of the release."
        ),
    ] = None,
    ledger: o.LedgerFolder = None,
    **given: Any,
) -> None:
    """Find the release that keeps most information, prove that it is safe, and write it."""
    from kanopy._errors import JobError
    from kanopy._parameter_types import as_seconds
    from kanopy.cli.linked.tables import anonymize_linked, is_linked_job

    if is_linked_job(given["job"]):
        if data is not None:
            raise JobError(f"The job {str(given['job'])!r} names its tables. Leave {data!r} out.")
        anonymize_linked(given["job"], output, given | {"encoding": layout.encoding}, ledger)
        return
    if data is None:
        raise JobError("Name the table, or a job file that names several tables (tables.NAME).")
    from kanopy.release.catalogue import parameters_for

    settings: dict[str, Any] = {
        "algorithm": algorithm, "local": local or None, "pseudonymize": pseudonymize,
        "suppressed_rows": "drop" if drop_suppressed else None,
    }  # fmt: skip
    if protect:
        from kanopy.cli.lists import treatments_given

        own_treatments = o.job_of({"job": given["job"]}, settled=False).protect if given["job"] else {}
        settings["protect"] = {**own_treatments, **treatments_given(protect)}
    if given["param"]:
        # The kinds of the parameters are those of the algorithm, which the job file may name.
        named = o.job_of(
            {"job": given["job"]}, settled=False, algorithm=algorithm, local=local or None, parameters={}
        ).algorithm
        settings["parameters"] = parameters_for(named, given["param"])
    wanted = o.job_of(given, **settings)
    if given["budget"] is not None:
        wanted = wanted.with_budget(given["budget"])
    if given["threads"] is not None:
        wanted = wanted.with_threads(given["threads"])
    proof = bound if bound_budget is None else as_seconds(bound_budget, "bound-budget")
    if ledger is not None:
        from kanopy.cli.linked.over_time import publish_with_ledger

        publish_with_ledger(
            data, output, wanted, ledger, layout.over(wanted), given, [given["job"]], solution, show=_show
        )
        return
    publish(
        data, output, wanted, layout.over(wanted), given, read=[given["job"]], solution=solution, bound=proof,
        engine=engine,
        overwrite=overwrite, master=master, counts=counts or (), emit_sql=emit_sql,
    )  # fmt: skip


@o.command("suppress", "rest", "shuffle", "unknown", "neutralize_formulas", "population", *o.OUTPUTS)
def apply(
    solution: Annotated[Path, typer.Argument(help="A solution (`kanopy anonymize … --solution FILE` writes one).")],
    data: o.Data,
    output: o.Output,
    layout: o.Form = None,
    ledger: o.LedgerFolder = None,
    **given: Any,
) -> None:
    """Publish new rows at the levels of an earlier solution.

    The new rows are judged like a table of their own: every model must hold among them, and what is about to leave is
    verified. A number or date that was not there before is published in the interval that holds it; any other value
    that the hierarchies do not know is an error, unless --unknown says otherwise.
    """
    from kanopy.release.solution_file import read_solution

    wanted = read_solution(solution)
    fields = ("suppress", "population", "rest", "unknown", "shuffle", "neutralize_formulas")
    wanted = wanted.replaced(
        **{name: given[name] for name in fields if given[name] is not None and (given[name] or name == "shuffle")}
    )
    o.settle(wanted)
    if ledger is not None:
        from kanopy.cli.linked.over_time import publish_with_ledger

        publish_with_ledger(data, output, wanted, ledger, layout, given, [solution], None, show=_show)
        return
    publish(data, output, wanted, layout, given, read=[solution])


def publish(
    data: str,
    output: str,
    job: Any,
    layout: Layout,
    given: dict[str, Any],
    *,
    read: list[Any],
    solution: Path | None = None,
    **settings: Any,
) -> None:
    """Make the release that a job asks for, and write all that is wanted of it at once; `settings` say where.

    `given` may have `options.OUTPUTS`; `read` are further files that the job reads.
    """
    from kanopy._parameter_types import as_share
    from kanopy.release.engine_choice import publish as release_to
    from kanopy.release.writing import Files, holds_values

    if given["neutralize_formulas"] and not getattr(job, "neutralize_formulas", True):
        job = job.replaced(neutralize_formulas=True)
    key_file, mapping, manifest, report, values, fraction, target = (given.get(name) for name in o.OUTPUTS)
    share = None if fraction is None else as_share(fraction, "sampling-fraction")
    displays: list[Callable[[], None]] = []

    def finish(result: Any) -> None:
        draw = _show_statement if settings.get("emit_sql") else _show
        displays.append(worked_out(result.summary(), lambda out: draw(out, result, output, report)))

    LANDING.armed = str(output) != "-"  # a pipe that nobody reads must not hold a run that is stopped
    with standard_output(output) as output_path, progress_bar() as show:
        result, messages = release_to(
            data, job, Files(output_path, report, mapping, manifest, solution, bool(values), share, target),
            read=lambda: read_data(data, layout), layout=layout, inputs=[key_file, *read],
            key=key_for(job, key_file, data), source=data, progress=show, finish=finish,
            neutralize=given["neutralize_formulas"], **settings,
        )  # fmt: skip
    for line in (*result.notes, *messages):
        note(line)
    statement = Path(output) if settings.get("emit_sql") else None
    inside = report if report and holds_values(result, report, bool(values)) else None
    _keep_inside(statement, mapping, solution, inside)
    displays[0]()


def _show(out: Any, result: Any, output: str, report: Path | None) -> None:
    from kanopy.cli.lists import show_treatments
    from kanopy.cli.mask import show_masking
    from kanopy.release.pushdown.pushdown_result import PushdownResult

    if isinstance(result, PushdownResult):
        _show_pushdown(out, result, output)
    elif result.treated is not None and not result.prepared.names:
        show_treatments(out, result)
        show_seconds(out, result.clock.total())
    elif result.masked is not None:
        show_masking(out, result, output, report)
    else:
        _show_release(out, result, output, report)


def _show_statement(out: Any, result: Any, output: str, report: Path | None) -> None:
    from kanopy.release.engine_choice import tables_of

    table, release = tables_of(result.source)
    out.print(f"Wrote {output}: it makes {release} of {table}.")


def _keep_inside(*files: Path | None) -> None:
    """Say which of the written files hold values of the original table."""
    names = [str(file) for file in files if file is not None]
    if names:
        verb = "contains" if len(names) == 1 else "contain"
        note(f"{', '.join(names)} {verb} values of the original table: for internal use.")


def _show_release(out: Any, result: Any, output: str, report: Path | None) -> None:
    from rich.text import Text

    from kanopy.release.solution_file import GIVEN_LEVELS
    from kanopy.search.budget import figure

    show_lost(out, result)
    solution, verification = result.solution, result.verification
    proved = "proved optimal" if solution.optimal else "not proved optimal"
    if solution.algorithm == GIVEN_LEVELS:
        proved = "given by the job or an earlier solution, not searched"
    if solution.floor and not solution.optimal:
        proved += f" (at most {solution.gap:.1%} of it avoidable)"
    of = f" of {solution.candidates:,}" if solution.judged <= solution.candidates else ""
    judged = f" · {solution.judged:,}{of} candidates judged" if solution.candidates else ""
    smallest = of_units(verification.smallest_class, result.counted)
    if result.job.k == 1:
        out.print(
            f"[bold green]✓[/] The models hold, checked again on what is published; the smallest class has {smallest}."
        )
    else:
        out.print(
            "[bold green]✓[/] Every published combination of "
            f"{counted(len(result.domain.names), 'quasi-identifier')} is shared by at least [bold]{smallest}[/] (k = "
            f"{result.job.k}), verified on the published labels."
        )
        if (units := result.prepared.units) and units.known != 1:
            fits = units.what_fits
            out.print(
                f"[bold green]✓[/] {fits[0].upper()}{fits[1:]} could be about at least {result.job.k:,} {units.called}."
            )
    show_untouched(out, result)
    levels = result.levels
    lines = []
    for name, hierarchy in zip(result.domain.names, result.domain.hierarchies, strict=True):
        loss = result.column_losses[name]
        level = (str(levels[name]), str(hierarchy.height)) if levels else ()
        lines.append((name, *level, Text(f"{loss:.3f} ").append(f"{'█' * round(loss * 20):<20}", style="cyan")))
    out.print(grid(("column", *((">level", ">of") if levels else ()), ">loss"), lines))
    for model in result.job.models:
        out.headed("✓ ", "bold green", model.said(result.counted), "not bold default")
    rows, suppressed = result.domain.rows, solution.recoding.suppressed_rows
    out.print(
        f"{result.job.metric} {figure(result.score)} · {counted(rows, 'row')} · "
        f"{counted(verification.classes, 'class')} · {suppressed:,} suppressed ({suppressed / rows:.2%}) · "
        f"{solution.algorithm}, {proved}{judged}"
    )
    if units := result.prepared.units:
        rows_known = "all rows" if not units.known else counted(units.known, "row")
        lost = units.count - (verification.people or 0)
        out.print(
            f"{units.count:,} {units.called} are counted; an attacker may know {rows_known} of each; {lost:,} of them "
            "have no published row."
        )
    if result.bound is not None:
        loss, least = result.losses["loss"], figure(result.bound.value, down=True)
        out.print(
            f"No local recoding with these hierarchies and this k loses less than [bold]{least}[/] "
            f"(proved); this release loses {loss:.4f}, so at most {result.bound.gap(loss):.1%} of that is avoidable."
        )
    if result.treated is not None:
        from kanopy.cli.lists import show_treatments

        show_treatments(out, result)
    show_seconds(out, result.clock.total())
    out.line(f"Release: {output}" + (f"   Report: {report}" if report else ""), soft_wrap=True)


def _show_pushdown(out: Any, result: Any, output: str) -> None:
    """A release whose different rows stayed where they are: what was counted on it there."""

    out.print(
        f"[bold green]✓[/] Every published combination of {counted(len(result.job.quasi), 'quasi-identifier')} is "
        f"shared by at least [bold]{result.smallest_class:,}[/] rows (k = {result.job.k}), verified where it was "
        "written."
    )
    for model in result.job.models:
        out.headed("✓ ", "bold green", model.said(), "not bold default")
    if result.levels is not None:
        heights = (hierarchy.height for hierarchy in result.hierarchies.values())
        lines = [(name, str(level), str(of)) for (name, level), of in zip(result.levels.items(), heights, strict=True)]
        out.print(grid(("column", ">level", ">of"), lines))
    out.print(f"{result!r}"[1:-1])
    risk = result.risk()
    out.print(f"The chance of finding a known row is at most {risk['highest']:.2%}, {risk['average']:.2%} on average.")
    show_seconds(out, result.clock.total())
    out.print(f"Release: {output}")


def show_lost(out: Any, result: Any) -> None:
    """Say first where a column is wiped or most of the detail is gone, and what would help."""

    from kanopy.report.text import lost_words

    lost = lost_words(result.losses.get("loss"), result.wiped)
    if not lost:
        return
    out.headed("! ", "bold yellow", lost)
    for advice_item in result.advice:
        out.line(f"  loss {advice_item.loss:.3f} if {advice_item.change} ({advice_item.option})")


def show_untouched(out: Any, result: Any) -> None:
    """Name the columns that are published unchanged, and what guards the sensitive ones."""

    guarded: dict[str, list[str]] = {}
    treated = changed_columns(result.job)
    untreated = {name: role for name, role in result.prepared.roles.items() if name not in treated}
    for name, role in untreated.items():
        models = ", ".join(model.name for model in result.job.models if name in model.sensitive)
        if role == "sensitive":
            guarded.setdefault(f"guarded by {models}" if models else "no model guards {}", []).append(name)
    plain = ", ".join(name for name, role in untreated.items() if role == "insensitive")
    several = any(len(names) > 1 for names in guarded.values())
    phrases = [plain] * bool(plain) + [
        f"{', '.join(names)} (sensitive, {how.format('it' if len(names) == 1 else 'them')})"
        for how, names in guarded.items()
    ]
    if phrases:
        out.line(f"Published unchanged: {('; ' if several else ', ').join(phrases)}")


def show_seconds(out: Any, seconds: dict[str, float]) -> None:
    """How long the stages took."""
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items() if name != "total" and value >= 0.005)
    out.print(f"[dim]{seconds['total']:.2f} s ({parts})[/]")


@o.command()
def init(
    tables: Annotated[
        list[str],
        typer.Argument(metavar="DATA...", help="The table, or several tables: files, a folder, or a database."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The job file to write.")] = Path("job.toml"),
    force: Annotated[bool, typer.Option(help="Overwrite existing files.")] = False,
    hierarchies: Annotated[
        Path | None,
        typer.Option(help="Write the chosen hierarchies into this folder [default: JOB-hierarchies beside the job]."),
    ] = None,
    no_hierarchies: Annotated[
        bool, typer.Option("--no-hierarchies", help="Write no hierarchies; the job says how to build them.")
    ] = False,
    layout: o.Form = None,
) -> None:
    """Guess roles and hierarchies, write a commented job file and the hierarchies to be edited, and show why."""
    from kanopy._errors import JobError, some
    from kanopy._files import private_folder, write_whole
    from kanopy._job.guess import guess_job, with_hierarchies
    from kanopy._job.schema import COMMENT, FILE
    from kanopy.linked.guess import holds_tables

    if len(tables) > 1 or holds_tables(tables[0]):
        from kanopy.cli.linked.tables import init_linked

        init_linked(tables, output, force)
        return
    data = tables[0]
    check_outputs(inputs_of(data), output)
    if output.exists() and not force:
        raise JobError(f"{output} exists already. Give another name with -o, or --force to overwrite it.")
    frame = read_data(data, layout).frame
    guessed = guess_job(frame, data, layout=layout)
    written: list[str] = []
    if hierarchies is not None and no_hierarchies:
        raise JobError("--hierarchies names a folder, --no-hierarchies writes none. Leave out one of them.")
    if guessed.job.quasi and not no_hierarchies:
        from kanopy.hierarchy.files.files import write_hierarchy

        hierarchies = hierarchies or output.with_name(f"{output.stem}-hierarchies")
        relative = os.path.relpath(hierarchies, output.parent)
        guessed, files = with_hierarchies(guessed, frame, Path(relative).as_posix())
        there = [str(hierarchies / file) for file in files if (hierarchies / file).exists()]
        if there and not force:
            raise JobError(f"{some(there)} exist already. Name another folder, or --force to overwrite them.")
        private_folder(hierarchies)
        for file, hierarchy in files.items():
            write_hierarchy(hierarchy, hierarchies / file)
        _keep_inside(*(hierarchies / file for file in files))
        written = [str(hierarchies / file) for file in files]
    text = guessed.text
    if (output.parent / FILE).exists() and output.suffix == ".toml":
        text = f"{COMMENT} ./{FILE}\n{text}"
    write_whole(output, text.encode("utf-8"), private=True)

    def show(out: Any) -> None:

        keys = {"column": "column", "role": "role", "hierarchy": "hierarchy", "why": "reason"}
        # What the steward has to decide comes first; the others stay in the order of the table.
        order = sorted(guessed.columns, key=lambda column: column["role"] != "undecided")
        out.print(grid(keys, ([column[key] or "" for key in keys.values()] for column in order)))
        for line in guessed.decide:
            out.line(line, style="bold")
        if written:
            out.line(f"The hierarchies are in {hierarchies}. Check and edit them. They are for internal use.")
        if not guessed.job.quasi:
            out.line(f"Wrote {output}. The job cannot run yet: give a column the role quasi-identifier.")
            return
        out.line(f"Wrote {output}. Read it, correct it, then run:")
        out.line(
            f"  kanopy anonymize {shown_address(data)} --job {output} -o release.csv --report report.html",
            soft_wrap=True,
        )

    result = {"job": str(output), "columns": guessed.columns, "decide": guessed.decide, "hierarchies": written}
    emit(result, show)
    if not guessed.job.quasi:
        raise typer.Exit(1)  # the job was written, and no release follows from it
