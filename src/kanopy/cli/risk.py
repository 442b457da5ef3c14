"""`kanopy risk`: how likely are the people in a table to be found again?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit, progress_bar


def risk(
    data: Annotated[str, typer.Argument(help="The table to look at, before or after anything is done to it.")],
    quasi: Annotated[
        str | None,
        typer.Option("--quasi", "-q", help="Columns others may know, separated by commas [default: suggested]."),
    ] = None,
    sensitive: Annotated[str | None, typer.Option("--sensitive", "-s", help="Columns nobody should learn.")] = None,
    population_size: Annotated[int | None, typer.Option(help="People in the population the table is from.")] = None,
    sampling_fraction: Annotated[
        str | None, typer.Option(help="Share of the population that is in the table, e.g. 5%.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="A table of the whole population (k-map).")] = None,
    released: Annotated[str | None, typer.Option(help="A release of this table: attack it.")] = None,
    key: Annotated[str | None, typer.Option(help="A column that tells which rows of both belong together.")] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with the hierarchies whose labels the release uses.")
    ] = None,
    threshold: Annotated[str, typer.Option(help="The risk a row may have.")] = "0.2",
    subsets: Annotated[int, typer.Option(help="Look at sets of up to so many columns; 0 for none.")] = 3,
    seed: Annotated[int, typer.Option(help="For the sample of people when an attack must be sampled.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a page (.html) or the numbers (.json).")] = None,
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")] = False,
) -> None:
    """How likely are people to be found again: prosecutor, journalist, marketer, uniqueness, linkage, disclosure."""
    from kanopy._files import write_whole
    from kanopy._kinds import as_share
    from kanopy._progress import Step
    from kanopy._table.sinks import check_writable
    from kanopy._table.sources import local_path, read_table
    from kanopy.study.risk import assess_risk

    begin(json_mode)
    inputs = [path for name in (data, population, released) if name and (path := local_path(name)) is not None]
    if report is not None:
        check_writable(report, inputs, table=False)
    columns, confidential = _names(quasi), _names(sensitive)
    accepted = as_share(threshold, "risk threshold")
    fraction = None if sampling_fraction is None else as_share(sampling_fraction, "sampling fraction")
    with progress_bar() as show:
        show(Step("reading", None, ""))
        table = read_table(data)
        everyone = None if population is None else read_table(population)
        release = None if released is None else read_table(released)
        show(Step("assessing", None, ""))
        found = assess_risk(
            table,
            columns,
            sensitive=confidential,
            population_size=population_size,
            sampling_fraction=fraction,
            population=everyone,
            released=release,
            key=key,
            hierarchies=_hierarchies(hierarchies, columns or table.columns),
            threshold=accepted,
            largest_subset=subsets,
            seed=seed,
        )
        if report is not None:
            write_whole(report, _report(found, report, data))
    emit(found.to_dict(), lambda out: _show(out, found, report))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _hierarchies(folder: Path | None, columns: list[str]) -> dict[str, Any]:
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy

    if folder is None:
        return {}
    return {name: read_hierarchy(path, column=name) for name, path in find_hierarchies(folder, columns).items()}


def _report(found: Any, path: Path, source: str) -> bytes:
    import json

    if path.suffix == ".json":
        return json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False, indent=1).encode("utf-8")
    text: str = found.to_html(Path(source).name)
    return text.encode("utf-8")


def _show(out: Any, found: Any, report: Path | None) -> None:
    from rich.table import Table
    from rich.text import Text

    sizes = found.sizes
    mark = "[bold green]✓[/]" if not found.rows_above_threshold else "[bold red]✗[/]"
    out.print(
        f"{mark} {found.rows_above_threshold:,} of {sizes.rows:,} rows ({found.share_above_threshold:.2%}) are above "
        f"the accepted risk of {found.threshold:.0%}."
    )
    if found.suggested_quasi:
        out.print(Text(f"Suggested quasi-identifiers: {', '.join(found.quasi)}. Name your own with -q.", "yellow"))
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    for title, side in (("risk", "left"), ("highest", "right"), ("average", "right"), ("", "left")):
        table.add_column(title, justify=side)  # type: ignore[arg-type]
    table.add_row(
        "prosecutor", f"{sizes.highest_prosecutor:.2%}", f"{sizes.average_prosecutor:.2%}", "knows who is in the table"
    )
    table.add_row(
        "journalist", f"{found.journalist.highest:.2%}", f"{found.journalist.average:.2%}", found.journalist.basis
    )
    table.add_row("marketer", "", f"{found.marketer:.2%}", "links everybody to a register")
    out.print(table)
    out.print(
        f"{sizes.classes:,} classes, the smallest of {sizes.smallest_class:,}; {sizes.unique_rows:,} rows "
        f"({sizes.unique_share:.2%}) are unique; {found.suppressed_rows:,} are suppressed."
    )
    if found.journalist.k_map is not None:
        out.print(f"k-map: every row shares its values with at least {found.journalist.k_map:,} of the population.")
    if found.population is not None:
        known = found.population
        parts = [
            f"{name} {'–' if value is None else f'{value / known.population:.3%}'}"
            for name, value in (("Pitman", known.pitman), ("Zayatz", known.zayatz), ("SNB", known.snb))
        ]
        out.print(
            f"Unique in the population: [bold]{known.dankar / known.population:.3%}[/] "
            f"(chosen: {known.chosen}; {', '.join(parts)})"
        )
    if found.identifying is not None:
        best = sorted(found.identifying.subsets, key=lambda each: (-each.unique_share, len(each.columns)))[:5]
        for each in best:
            out.print(
                Text(f"  {' + '.join(each.columns)}: {each.unique_share:.1%} unique, separation {each.separation:.2%}")
            )
    for each in found.attacks:
        out.print(
            f"{each.kind} attack: {each.found:,.1f} of {each.attempts:,} people found ({each.share:.2%}), "
            f"{each.certain:,} with certainty, highest risk {each.highest_risk:.2%}."
        )
    for each in found.disclosure:
        out.print(
            Text(
                f"{each.column}: {each.certain_rows:,} rows are in classes with a single value; best guess "
                f"{each.expected_confidence:.1%} instead of {each.baseline:.1%}."
            )
        )
    if report is not None:
        out.print(f"Report: [bold]{report}[/]", soft_wrap=True)


def attach(app: typer.Typer) -> None:
    """Add the command to the `kanopy` application."""
    app.command("risk")(risk)
