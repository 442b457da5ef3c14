"""`kanopy compare` and `kanopy explore`: many algorithms on one table, and the map of risk and utility."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import Cancelled, JobError
from kanopy._job.usage import SEARCHED
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid, note, progress_bar
from kanopy.cli.files import SUFFIXES, check_outputs, drawn, inputs_of, read_data

BUDGET = "5s"
"""What each algorithm that takes a time has of it, if nothing is said."""


@o.command(
    "job", "quasi", "k", "suppress", "hierarchies", "metric", "unit", "known", "model",
    "population", "sampling_weight", "household", "missing", "missing_tokens", "output", "budget",
    needs={"budget": o.TIMED}, reads=[name for name in SEARCHED if name != "local"],
)  # fmt: skip
def compare(
    data: o.Data,
    algorithms: Annotated[
        str, typer.Option(help="all, or names separated by commas; with parameters: mondrian:strict=true.")
    ] = "all",
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Run algorithms on the same table, models and measures; show loss, risk, time and memory side by side.

    Each algorithm that takes a budget has 5 seconds if nothing else is said.
    The output may be a page (.html), a table (.csv), or a picture (.svg, .png, .json for Vega-Lite).
    """
    from kanopy._files import write_whole
    from kanopy._progress import Clock
    from kanopy.release.sweeps.compare import compare as run

    clock = Clock(())
    wanted, output = o.job_of(given), given["output"]
    inputs = inputs_of(data, given["job"], wanted.population, *wanted.hierarchies.values())
    check_outputs(inputs, output, suffixes=SUFFIXES)
    names = [
        algorithm_name
        for algorithm_name in (algorithm_text.strip() for algorithm_text in algorithms.split(","))
        if algorithm_name
    ]
    with progress_bar() as show:
        frame = read_data(data, layout.over(wanted)).frame
        comparison = run(frame, wanted, algorithms=names, budget=given["budget"] or BUDGET, progress=show)
    if output is not None:
        write_whole(output, drawn(comparison, output, data, comparison_csv, _chart))
    if comparison.stopped:
        note("Stopped. The missing entries were not run.")
    emit({**comparison.to_dict(), "seconds": clock.total()}, lambda out: _show_comparison(out, comparison, output))


def _chart(comparison: Any) -> dict[str, Any]:
    from kanopy.report.charts.compare import loss_bars

    return loss_bars(
        [entry.to_dict() for entry in comparison.solved if comparison.metric in entry.losses], comparison.metric
    )


def comparison_csv(comparison: Any) -> str:
    """Every entry as a line."""
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    figures = (
        "classes",
        "smallest_class",
        "suppressed",
        "highest_risk",
        "average_risk",
        "seconds",
        "memory",
        "optimal",
    )
    writer.writerow(["algorithm", "recoding", *comparison.metrics, *figures, "reason"])
    for entry in comparison.entries:
        losses = [entry.losses.get(name, "") for name in comparison.metrics]
        rest = ["" if getattr(entry, name) is None else getattr(entry, name) for name in figures]
        writer.writerow([entry.name, entry.recoding, *losses, *rest, entry.reason or ""])
    return stream.getvalue()


def _show_comparison(out: Any, comparison: Any, output: Path | None) -> None:
    from rich.text import Text

    extra = (
        [name for name in ("loss", "GCP", "discernibility") if name != comparison.metric] if out.width >= 120 else []
    )
    wide = out.width >= 100
    measured = (comparison.metric, *extra, "classes", "suppr.", "risk", "time", *(["MB"] if wide else []))
    table = grid(("algorithm", "recoding", *(f">{title}" for title in measured)), ())
    for column in table.columns:
        column.no_wrap = True
    for entry in comparison.solved:
        losses = [_number(entry.losses.get(name)) for name in (comparison.metric, *extra)]
        mark = " ✓" if entry.optimal else ""
        memory = ["–" if entry.memory is None else f"{entry.memory / 1e6:,.0f}"] if wide else []
        table.add_row(
            Text(entry.name + mark, style="bold" if entry is comparison.solved[0] else ""), entry.recoding, *losses,
            f"{entry.classes:,}", f"{entry.suppressed:,}", f"{entry.highest_risk:.1%}", f"{entry.seconds:.2f} s",
            *memory,
        )  # fmt: skip
    out.print(table)
    _about_people(out, comparison)
    if any(entry.optimal for entry in comparison.solved):
        out.print("✓ proved optimal for its kind of recoding. Every release was verified on its published labels.")
    reasons: dict[str, list[str]] = {}
    for entry in comparison.entries:
        if entry.reason is not None:
            reasons.setdefault(entry.reason, []).append(entry.name)
    for reason, names in reasons.items():
        out.headed(f"{', '.join(names)}: ", "bold yellow", reason, "not bold default")
    if output is not None:
        out.line(f"Comparison: {output}")


def _about_people(out: Any, comparison: Any) -> None:
    from kanopy.report.pages.explore import about_people

    for words in about_people(comparison.to_dict()):
        out.print(words)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.0f}"


def parse_ks(text: str) -> list[int]:
    """Values of k from `2..20`, `5,10,50`, or both with a step: `2..50..4`.

    >>> parse_ks("2..5,10"), parse_ks("10..50..20")
    ([2, 3, 4, 5, 10], [10, 30, 50])
    """
    ks: list[int] = []
    for range_text in text.split(","):
        try:
            numbers = [int(number) for number in range_text.strip().split("..")]
        except ValueError:
            numbers = []
        range_text = range_text if len(range_text) <= 60 else range_text[:59] + "…"
        if not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and numbers[2] < 1):
            raise JobError(
                f"{range_text.strip()!r} is not a value of k. Write 2..20, or 5,10,50, or 2..50..4 for every fourth."
            )
        if len(numbers) == 1:
            ks.append(numbers[0])
            continue
        step = numbers[2] if len(numbers) == 3 else 1
        if numbers[0] > numbers[1]:
            raise JobError(f"{range_text.strip()!r} runs backwards. Write {numbers[1]}..{numbers[0]}.")
        if numbers[1] - numbers[0] > 100_000 * step:
            raise JobError(f"{range_text.strip()!r} contains too many values of k.")
        ks += range(numbers[0], numbers[1] + 1, step)
    return list(dict.fromkeys(ks))


@o.command(
    "job", "quasi", "hierarchies", "model", "metric", "population", "sampling_weight", "household", "unit", "known",
    "missing", "missing_tokens", "output", reads=[name for name in SEARCHED if name != "k"],
)  # fmt: skip
def explore(
    data: o.Data,
    k: Annotated[str, typer.Option("--k", "-k", help="Values of k: 2..20, or 5,10,50.")] = "2..20",
    suppress: Annotated[str | None, typer.Option(help="Suppression limits, e.g. 0,2%,5%.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--models", help="A set of models to try, joined by +; repeatable; '' tries k alone."),
    ] = None,
    algorithms: Annotated[str | None, typer.Option(help="Algorithms, separated by commas.")] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="Store finished points in this file; the same command continues after an interruption."),
    ] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Search many k, limits, models and algorithms; show loss against risk, and the releases that no other beats.

    The output may be a page (.html), a table (.csv), or a picture (.svg, .png, .json for Vega-Lite).
    """
    from kanopy._files import write_whole
    from kanopy._progress import Clock
    from kanopy.privacy.models import KAnonymity, make_models
    from kanopy.release.sweeps.explore import explore as run

    clock = Clock(())
    ks, output = parse_ks(k), given["output"]
    wanted = o.job_of(given, settled=not models)
    if any(isinstance(model, KAnonymity) for model in make_models(given["model"] or ())):
        raise JobError("Leave 'k' out of the models, and name its values with --k.")
    inputs = inputs_of(data, given["job"], wanted.population, *wanted.hierarchies.values())
    check_outputs(inputs, output, state, suffixes=SUFFIXES)
    sets = None
    if models:
        sets = [
            [*wanted.models, *(model_text.strip() for model_text in text.split("+") if model_text.strip())]
            for text in models
        ]
    with progress_bar() as show:
        try:
            exploration = run(
                read_data(data, layout.over(wanted)).frame, wanted, ks=ks, progress=show, state=state, models=sets,
                limits=None if suppress is None else [limit_text.strip() for limit_text in suppress.split(",")],
                algorithms=None if algorithms is None else [name.strip() for name in algorithms.split(",")],
            )  # fmt: skip
        except KeyboardInterrupt:
            hint = f" Finished points are in {state}. Run the command again to continue." if state else ""
            raise Cancelled(f"Stopped.{hint}") from None
    if output is not None:
        write_whole(output, drawn(exploration, output, data, _table, _map_chart))
    emit({**exploration.to_dict(), "seconds": clock.total()}, lambda out: _show_map(out, exploration, output))


def _table(exploration: Any) -> str:
    from kanopy.report.charts.risk_map import table_csv

    return table_csv([point.to_dict() for point in exploration.points])


def _map_chart(exploration: Any) -> dict[str, Any]:
    from kanopy.report.charts.risk_map import risk_map

    return risk_map([point.to_dict() for point in exploration.points], exploration.metric)


def _show_map(out: Any, exploration: Any, output: Path | None) -> None:

    solved = [point for point in exploration.points if point.loss is not None]
    titles = (
        ">k", ">limit", f">{exploration.metric}", ">highest risk", ">average risk", ">suppressed", ">classes",
        "release",
    )  # fmt: skip
    rows = (
        (
            str(point.k), f"{point.suppress:.2%}", f"{point.loss:.4f}", f"{point.highest_risk:.2%}",
            f"{point.average_risk:.2%}", f"{point.suppressed:,}", f"{point.classes:,}",
            ", ".join((point.algorithm, *point.models)),
        )
        for point in exploration.front
    )  # fmt: skip
    out.print(grid(titles, rows))
    _about_people(out, exploration)
    none = len(exploration.points) - len(solved)
    out.print(
        f"{len(exploration.front)} of {len(solved)} releases are on the front: no other release has less loss at no "
        "more risk"
        + (f"; {none} points have no release" if none else "")
        + f". {exploration.judged:,} candidates were grouped."
    )
    if output is not None:
        out.line(f"Map: {output}")
