"""`kanopy compare`: many algorithms on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import emit, grid, note, progress_bar
from kanopy.cli.files import SUFFIXES, check_outputs, drawn, inputs_of, read_data


@o.command(
    "job", "quasi", "k", "suppress", "hierarchies", "metric", "sensitive", "identifiers", "unit", "known", "model",
    "population", "sampling_weight", "household", "missing", "missing_tokens", "output", budget="5s",
)  # fmt: skip
def compare(
    data: o.Data,
    algorithms: Annotated[
        str, typer.Option(help="all, or names separated by commas; with parameters: mondrian:strict=true.")
    ] = "all",
    encoding: o.Encoding = None,
    **given: Any,
) -> None:
    """Run algorithms on the same table, models and measures; show loss, risk, time and memory side by side.

    The output may be a page (.html), a table (.csv), or a picture (.svg, .png, .json for Vega-Lite).
    """
    from kanopy._files import write_whole
    from kanopy._progress import Clock
    from kanopy.release.many.compare import compare as run

    clock = Clock(())
    wanted, output = o.job_of(given), given["output"]
    inputs = inputs_of(data, given["job"], wanted.population, *wanted.hierarchies.values())
    check_outputs(inputs, output, suffixes=SUFFIXES)
    names = [part for part in (each.strip() for each in algorithms.split(",")) if part]
    with progress_bar() as show:
        frame = read_data(data, encoding).frame
        found = run(frame, wanted, algorithms=names, budget=given["budget"], progress=show)
    if output is not None:
        write_whole(output, drawn(found, output, data, comparison_csv, _chart))
    if found.stopped:
        note("Stopped: what is missing was not run.")
    emit({**found.to_dict(), "seconds": clock.total()}, lambda out: _show(out, found, output))


def _chart(found: Any) -> dict[str, Any]:
    from kanopy.report.charts.compare import loss_bars

    return loss_bars([entry.to_dict() for entry in found.solved if found.metric in entry.losses], found.metric)


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
    from rich.text import Text

    extra = [name for name in ("loss", "GCP", "discernibility") if name != found.metric] if out.width >= 120 else []
    wide = out.width >= 100
    measured = (found.metric, *extra, "classes", "suppr.", "risk", "time", *(["MB"] if wide else []))
    table = grid(("algorithm", "recoding", *(f">{title}" for title in measured)), ())
    for column in table.columns:
        column.no_wrap = True
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
