"""`kanopy algorithms` and `kanopy compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import DataError
from kanopy.cli.console import begin, emit, note, progress_bar

SUFFIXES = (".html", ".csv", ".json", ".svg", ".png")
MODEL_HELP = "A privacy model besides k, e.g. t-equal:income:0.2; repeatable, all must hold."


def algorithms(
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """List the algorithms: what each does, its recoding, the models it supports, what it proves."""
    from kanopy.release.catalogue import MODEL_WORDS, recoding_words
    from kanopy.release.catalogue import algorithms as entries

    begin(json_mode)
    listed = entries()

    def show(out: Any) -> None:
        from rich.padding import Padding
        from rich.text import Text

        for each in listed:
            facts = f"  {each['recoding']} · models: {each['models']} · {each['proves'] or 'heuristic'}"
            if each["anytime"]:
                facts += " · stops at any time"
            out.print(Text(each["name"], style="bold").append(facts, style="not bold dim"))
            sentence = f"{each['does'][0].upper()}{each['does'][1:]}. {each['source']}. For {each['attributes']}."
            out.print(Padding(Text(sentence), (0, 0, 0, 2)))
        out.print()
        for kind in dict.fromkeys(each["recoding"] for each in listed):
            out.print(f"[bold]{kind}[/]: {recoding_words(kind)}.")
        for word, meaning in MODEL_WORDS.items():
            out.print(f"models [bold]{word}[/]: {meaning}.")

    emit({"algorithms": listed}, show)


def compare(
    data: Annotated[str, typer.Argument(help="The table.")],
    algorithms: Annotated[
        str, typer.Option(help="all, or names separated by commas; with parameters: mondrian:strict=true.")
    ] = "all",
    job: Annotated[Path | None, typer.Option("--job", help="A job file (`kanopy init` writes one).")] = None,
    quasi: Annotated[str | None, typer.Option("--quasi", "-q", help="Quasi-identifiers, separated by commas.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Rows that must share each published combination.")] = None,
    suppress: Annotated[str | None, typer.Option(help="Rows that may be suppressed, e.g. 2%.")] = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder with hierarchies.")] = None,
    metric: Annotated[str | None, typer.Option(help="The loss to rank by.")] = None,
    sensitive: Annotated[str | None, typer.Option("--sensitive", "-s", help="Sensitive columns.")] = None,
    identifiers: Annotated[str | None, typer.Option(help="Columns that never leave.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help=MODEL_HELP)] = None,
    population: Annotated[str | None, typer.Option(help="The table of everybody, for models such as k-map.")] = None,
    budget: Annotated[str, typer.Option(help="Time for each algorithm that takes a budget.")] = "5s",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The comparison: .html, .csv, .json, .svg or .png.")
    ] = None,
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Run algorithms on the same table, models and measures; show loss, risk, time and memory side by side."""
    from kanopy._files import write_whole
    from kanopy._job.job import Job
    from kanopy._table.sinks import check_writable
    from kanopy._table.sources import local_path, read_table
    from kanopy.cli.release import _changes, _found
    from kanopy.release.compare import compare as run

    begin(json_mode)
    given = Job.read(job) if job is not None else Job()
    changes = _changes(quasi=quasi, k=k, suppress=suppress, metric=metric, sensitive=sensitive, identifiers=identifiers)
    if model:
        changes["models"] = (*given.models, *model)
    wanted = given.replaced(**changes) if changes else given
    if hierarchies is not None:
        wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **_found(hierarchies, wanted)})
    if output is not None:
        inputs = [path for path in (local_path(data), job) if path is not None]
        check_writable(output, inputs, table=False)
        if output.suffix not in SUFFIXES:
            raise DataError(f"Cannot write a comparison as {output.name!r}. Known suffixes: {', '.join(SUFFIXES)}.")
    names = [part for part in (each.strip() for each in algorithms.split(",")) if part]
    with progress_bar() as show:
        found = run(read_table(data), wanted, algorithms=names, budget=budget, population=population, progress=show)
    if output is not None:
        write_whole(output, _drawn(found, output, data))
    if found.stopped:
        note("Stopped: what is missing was not run.")
    emit(found.to_dict(), lambda out: _show(out, found, output))


def _drawn(found: Any, output: Path, source: str) -> bytes:
    if output.suffix == ".html":
        page: str = found.to_html(Path(source).name)
        return page.encode("utf-8")
    if output.suffix == ".csv":
        return comparison_csv(found).encode("utf-8")
    from kanopy.report.charts.compare import loss_bars
    from kanopy.report.render import picture, standalone

    entries = [entry.to_dict() for entry in found.solved if found.metric in entry.losses]
    chart = loss_bars(entries, found.metric)
    if output.suffix == ".json":
        return json.dumps(standalone(chart), indent=1).encode("utf-8")
    return picture(chart, output.suffix[1:])


def comparison_csv(found: Any) -> str:
    """Every entry as a line."""
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    own = ("classes", "smallest_class", "suppressed", "highest_risk", "average_risk", "seconds", "memory", "optimal")
    writer.writerow(["algorithm", "recoding", *found.metrics, *own, "reason"])
    for entry in found.entries:
        losses = [entry.losses.get(name, "") for name in found.metrics]
        rest = ["" if getattr(entry, name) is None else getattr(entry, name) for name in own]
        writer.writerow([entry.name, entry.recoding, *losses, *rest, entry.reason or ""])
    return stream.getvalue()


def _show(out: Any, found: Any, output: Path | None) -> None:
    from rich.table import Table
    from rich.text import Text

    extra = [name for name in ("loss", "GCP", "discernibility") if name != found.metric] if out.width >= 120 else []
    table = Table(header_style="bold", box=None, pad_edge=False)
    for title in ("algorithm", "recoding"):
        table.add_column(title, no_wrap=True)
    wide = out.width >= 100
    for title in (found.metric, *extra, "classes", "suppr.", "risk", "time", *(["MB"] if wide else [])):
        table.add_column(title, justify="right", no_wrap=True)
    for entry in found.solved:
        losses = [_number(entry.losses.get(name)) for name in (found.metric, *extra)]
        mark = " ✓" if entry.optimal else ""
        memory = ["–" if entry.memory is None else f"{entry.memory / 1e6:,.0f}"] if wide else []
        table.add_row(
            Text(entry.name + mark, style="bold" if entry is found.solved[0] else ""), entry.recoding, *losses,
            f"{entry.classes:,}", f"{entry.suppressed:,}", f"{entry.highest_risk:.1%}", f"{entry.seconds:.2f} s",
            *memory,
        )  # fmt: skip
    out.print(table)
    if any(entry.optimal for entry in found.solved):
        out.print("✓ proved optimal for its kind of recoding. Every release was verified on its published labels.")
    reasons: dict[str, list[str]] = {}
    for entry in found.entries:
        if entry.reason is not None:
            reasons.setdefault(entry.reason, []).append(entry.name)
    for reason, names in reasons.items():
        out.print(Text(f"{', '.join(names)}: ", style="bold yellow").append(reason, style="not bold default"))
    if output is not None:
        out.print(Text(f"Comparison: {output}"))


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.0f}"


def attach(app: typer.Typer) -> None:
    """Add the commands to the `kanopy` application."""
    app.command("algorithms")(algorithms)
    app.command("compare")(compare)
