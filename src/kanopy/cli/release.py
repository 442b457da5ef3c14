"""`kanopy init`, `kanopy anonymize` and `kanopy check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit, note, progress_bar

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")]

# Written out, so that help needs no search; a test compares the names with the dictionaries.
METRIC_HELP = "The loss to minimise: loss, loss-geometric, aecs, discernibility, precision, entropy, height."
MODEL_HELP = "A privacy model besides k, e.g. t-equal:income:0.2; repeatable, all must hold. See `kanopy models`."
ALGORITHM_HELP = "The algorithm: optimal (the default), best, mondrian, … `kanopy algorithms` lists all."


def anonymize(
    data: Annotated[
        str, typer.Argument(help="The table: a CSV, Parquet, Excel or Arrow file, a database, an address.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the release goes; the suffix gives the format.")],
    job: Annotated[Path | None, typer.Option("--job", help="A job file (`kanopy init` writes one).")] = None,
    quasi: Annotated[str | None, typer.Option("--quasi", "-q", help="Quasi-identifiers, separated by commas.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Rows that must share each published combination.")] = None,
    suppress: Annotated[str | None, typer.Option(help="Rows that may be suppressed, e.g. 2%.")] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with <column>.csv or files ending in _<column>.csv.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help=METRIC_HELP)] = None,
    algorithm: Annotated[str | None, typer.Option(help=ALGORITHM_HELP)] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Rows with equal values may be published differently: loses far less.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="How long the search may take, e.g. 1s, 30s or 5m (best and some others).")
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Also prove how far from the best possible the release is (takes a while).")
    ] = False,
    bound_budget: Annotated[str | None, typer.Option(help="How long proving the bound may take, e.g. 60s.")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", help="A parameter of the algorithm, e.g. strict=true; repeatable.")
    ] = None,
    sensitive: Annotated[str | None, typer.Option("--sensitive", "-s", help="Sensitive columns.")] = None,
    identifiers: Annotated[str | None, typer.Option(help="Columns that never leave.")] = None,
    insensitive: Annotated[str | None, typer.Option(help="Columns that are published as they are.")] = None,
    missing: Annotated[str | None, typer.Option(help="Missing values: as-value, suppress or error.")] = None,
    missing_tokens: Annotated[str | None, typer.Option(help="Texts that mean missing, e.g. '?,NA'.")] = None,
    unknown: Annotated[str | None, typer.Option(help="Values a hierarchy lacks: error, suppress or add.")] = None,
    drop_suppressed: Annotated[bool, typer.Option(help="Leave suppressed rows out instead of writing *.")] = False,
    model: Annotated[list[str] | None, typer.Option("--model", help=MODEL_HELP)] = None,
    population: Annotated[
        str | None, typer.Option(help="The table of everybody, for models such as k-map and delta-presence.")
    ] = None,
    pseudonymize: Annotated[
        str | None, typer.Option(help="Identifiers published as keyed hashes instead of left out.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(help="The secret key for pseudonyms [default: the variable KANOPY_KEY].")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="Write original → published per column, with counts, as CSV. Keep it inside.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="Write what was done, without any value of the table, as JSON.")
    ] = None,
    solution: Annotated[
        Path | None, typer.Option(help="Write the solution as JSON, for `kanopy apply` to new rows.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report: .html, .json, or .py for the script.")] = None,
    report_values: Annotated[
        bool, typer.Option("--report-values", help="Show original rows and values in the report. Keep it inside.")
    ] = False,
    sampling_fraction: Annotated[
        str | None, typer.Option(help="For the report: the share of the population that is in the table, e.g. 2%.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="For the report: a column whose prediction is tried before and after.")
    ] = None,
    json_mode: Json = False,
) -> None:
    """Find the release that keeps most information, prove that it is safe, and write it."""
    from kanopy._job.job import Job
    from kanopy._kinds import as_seconds, as_share
    from kanopy._progress import Clock
    from kanopy._table.sinks import check_writable, staged
    from kanopy._table.sources import local_path, read_source
    from kanopy.release.prepare import is_prepared
    from kanopy.release.run import anonymize as run
    from kanopy.release.solution_file import check_reusable

    begin(json_mode)
    clock = Clock()
    fraction = None if sampling_fraction is None else as_share(sampling_fraction, "sampling fraction")
    given = Job.read(job) if job is not None else Job()
    changes = _changes(
        quasi=quasi, k=k, suppress=suppress, metric=metric, algorithm=algorithm, sensitive=sensitive,
        identifiers=identifiers, insensitive=insensitive, missing=missing, missing_tokens=missing_tokens,
        unknown=unknown, suppressed_rows="drop" if drop_suppressed else None,
        parameters=_parameters(param) if param else None, population=population, pseudonymize=pseudonymize,
    )  # fmt: skip
    if local:
        changes["local"] = True
        if algorithm is None:
            # Allowed on the command line, so wanted: the search that a job file names for full-domain releases yields.
            changes = {"algorithm": None, "parameters": {}, **changes}
    if model:
        # Models add up: one on the command line never takes away one of the job file.
        changes["models"] = (*given.models, *model)
    wanted = given.replaced(**changes) if changes else given
    if budget is not None:
        wanted = wanted.with_budget(budget)
    proof: bool | float = bound if bound_budget is None else as_seconds(bound_budget, "time for the bound")
    key = None
    if wanted.pseudonymize:
        from kanopy._table.pseudonyms import read_key

        key = read_key(key_file)
    if hierarchies is not None:
        wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **_found(hierarchies, wanted)})
    files = (local_path(data), job, *wanted.hierarchies.values())
    inputs = [path for path in files if isinstance(path, (str, Path))]
    check_writable(output, inputs)
    for extra in (report, mapping, manifest, solution):
        if extra is not None:
            check_writable(extra, inputs, table=False)
    if solution is not None:
        check_reusable(wanted)
    if not is_prepared():
        note("The first run prepares compiled code; this takes some seconds, once.")
    with progress_bar() as show:
        with clock.stage("read"):
            source = read_source(data)
        result = run(source.frame, wanted, progress=show, clock=clock, source=data, key=key, bound=proof)
        with clock.stage("write"), staged(forbidden=inputs) as release:
            release.table(result.frame, output, dialect=source.dialect)
            recorded = {"output": (Path(output).name, release.place_of(output))}
            if (own := local_path(data)) is not None:
                recorded = {"input": (own.name, own), **recorded}
            if report is not None:
                told = {"files": recorded, "sampling_fraction": fraction, "target": target}
                release.bytes(report, _report_bytes(result, report, report_values, told))
            if mapping is not None:
                release.bytes(mapping, result.mapping().write_csv().encode("utf-8"))
            if solution is not None:
                release.bytes(solution, result.solution_json().encode("utf-8"))
            if manifest is not None:
                release.bytes(manifest, result.manifest(recorded).encode("utf-8"))
    for line in result.notes:
        note(line)
    if result.masked is not None:
        from kanopy.cli.mask import show_masking

        emit(result.summary(), lambda out: show_masking(out, result, output, report))
        return
    emit(result.summary(), lambda out: _show_release(out, result, output, report))


def _changes(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _parameters(pairs: list[str]) -> dict[str, Any]:
    """`name=value` options, values read as TOML where possible."""
    import tomllib

    from kanopy._errors import JobError

    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise JobError(f"Write parameters as name=value, not {pair!r}.")
        try:
            found[name.strip()] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value
    return found


def _found(folder: Path, job: Any) -> dict[str, Any]:
    from kanopy._errors import some
    from kanopy.hierarchy.files.files import find_hierarchies

    found = find_hierarchies(folder, job.quasi)
    without = [name for name in job.quasi if name not in found and name not in job.hierarchies]
    if without:
        note(f"{folder} has no hierarchy for {some(without)}: built from the data.")
    return dict(found)


def _report_bytes(result: Any, path: Path, values: bool, told: dict[str, Any]) -> bytes:
    report = result.full_report(**told)
    text: str
    if path.suffix == ".json":
        text = report.to_json()
    elif path.suffix == ".py":
        text = report.to_script()
    else:
        text = report.to_html(values=values)
    return text.encode("utf-8")


def _show_release(out: Any, result: Any, output: str, report: Path | None) -> None:
    from rich.table import Table

    solution, verification = result.solution, result.verification
    proved = "proved optimal" if solution.optimal else "not proved optimal"
    judged = f" · {solution.judged:,} of {solution.candidates:,} candidates judged" if solution.candidates else ""
    out.print(
        f"[bold green]✓[/] Every published combination of {len(result.domain.names)} quasi-identifiers is shared by at "
        f"least [bold]{verification.smallest_class:,}[/] rows (k = {result.job.k}), checked again on what is published."
    )
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    levels = result.levels
    table.add_column("column")
    for title in ("level", "of") if levels else ():
        table.add_column(title, justify="right")
    table.add_column("loss", justify="right")
    for name, hierarchy in zip(result.domain.names, result.domain.hierarchies, strict=True):
        loss = result.column_losses[name]
        bar = "█" * round(loss * 20)
        level = (str(levels[name]), str(hierarchy.height)) if levels else ()
        table.add_row(name, *level, f"{loss:.3f} [cyan]{bar:<20}[/]")
    out.print(table)
    for model in result.job.models:
        out.print(f"[bold green]✓[/] {model.explain()}", markup=True)
    rows, suppressed = result.domain.rows, solution.recoding.suppressed_rows
    out.print(
        f"{result.job.metric} {result.score:.4f} · {rows:,} rows · {verification.classes:,} classes · "
        f"{suppressed:,} suppressed ({suppressed / rows:.2%}) · {solution.algorithm}, {proved}{judged}"
    )
    if result.bound is not None:
        loss = result.losses["loss"]
        out.print(
            f"No local recoding with these hierarchies and this k loses less than [bold]{result.bound.value:.4f}[/] "
            f"(proved); this release loses {loss:.4f}, so at most {result.bound.gap(loss):.1%} of that is avoidable."
        )
    seconds = result.clock.total()
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items() if name != "total" and value >= 0.005)
    out.print(f"[dim]{seconds['total']:.2f} s ({parts})[/]")
    out.print(f"Release: [bold]{output}[/]" + (f"   Report: [bold]{report}[/]" if report else ""), soft_wrap=True)


def check(
    data: Annotated[str, typer.Argument(help="The table to look at.")],
    quasi: Annotated[str, typer.Option("--quasi", "-q", help="Quasi-identifiers, separated by commas.")],
    sensitive: Annotated[str | None, typer.Option("--sensitive", "-s", help="Sensitive columns.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help=MODEL_HELP)] = None,
    population: Annotated[str | None, typer.Option(help="The table of everybody, for models such as k-map.")] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with hierarchies, for models that need one of a column.")
    ] = None,
    json_mode: Json = False,
) -> None:
    """How anonymous is a table as it stands?"""
    from kanopy._table.sources import read_table
    from kanopy.study.check import check as look

    begin(json_mode)
    columns = [name.strip() for name in quasi.split(",") if name.strip()]
    confidential = [name.strip() for name in (sensitive or "").split(",") if name.strip()]
    found = look(
        read_table(data), columns, confidential, models=model or (), population=population,
        hierarchies=_model_hierarchies(hierarchies, model or []),
    )  # fmt: skip

    def show(out: Any) -> None:
        verdict = "[bold green]✓[/]" if found.k >= 2 else "[bold red]✗[/]"
        out.print(f"{verdict} {found.rows:,} rows fall into {found.classes:,} classes; the smallest has {found.k:,}.")
        out.print(
            f"{found.unique_rows:,} rows ({found.unique_rows / found.rows:.2%}) are unique, "
            f"{found.suppressed_rows:,} are suppressed. An average class has {found.average_class:,.1f} rows."
        )
        out.print(f"Risk of being singled out: at most {found.highest_risk:.2%}, on average {found.average_risk:.2%}.")
        for name, numbers in found.sensitive.items():
            out.print(f"{name}: every class has at least {numbers['distinct']} different values.")
        for each in found.models:
            _show_model(out, each)

    emit(found.to_dict(), show)


def _model_hierarchies(folder: Path | None, models: list[str]) -> dict[str, Any]:
    """Hierarchies of the columns that models name."""
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
    from kanopy.privacy.models import make_models

    if folder is None:
        return {}
    names = [name for model in make_models(models) for name in (*model.sensitive, *model.quasi)]
    return {name: read_hierarchy(path, column=name) for name, path in find_hierarchies(folder, names).items()}


def _show_model(out: Any, each: Any) -> None:
    from rich.text import Text

    mark = Text("✓ ", style="bold green") if each.holds else Text("✗ ", style="bold red")
    out.print(mark.append(f"{each.model}: {each.explanation}", style="default"))
    if not each.holds:
        out.print(Text(f"  {each.failing_classes:,} classes with {each.failing_rows:,} rows fail, among them:"))
        for example in each.examples:
            out.print(Text("    " + ", ".join(f"{name} {label}" for name, label in example.items())))


def init(
    data: Annotated[str, typer.Argument(help="The table to look at.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The job file to write.")] = Path("job.toml"),
    force: Annotated[bool, typer.Option(help="Overwrite an existing job file.")] = False,
    json_mode: Json = False,
) -> None:
    """Guess roles and hierarchies, write a commented job file, and show why."""
    from kanopy._errors import JobError
    from kanopy._files import write_whole
    from kanopy._job.guess import guess_job
    from kanopy._table.sinks import check_writable
    from kanopy._table.sources import local_path, read_table

    begin(json_mode)
    check_writable(output, [path for path in (local_path(data),) if path is not None], table=False)
    if output.exists() and not force:
        raise JobError(f"{output} exists already. Give another name with -o, or --force to overwrite it.")
    guessed = guess_job(read_table(data), data)
    write_whole(output, guessed.text.encode("utf-8"))

    def show(out: Any) -> None:
        from rich.table import Table

        table = Table(header_style="bold", box=None, pad_edge=False)
        for title in ("column", "role", "hierarchy", "why"):
            table.add_column(title)
        for column in guessed.columns:
            table.add_row(column["column"], column["role"], column["hierarchy"] or "", column["reason"])
        out.print(table)
        out.print(f"Wrote [bold]{output}[/]. Read it, correct it, then run:")
        out.print(f"  kanopy anonymize {data} --job {output} -o release.csv --report report.html", soft_wrap=True)

    emit({"job": str(output), "columns": guessed.columns}, show)
