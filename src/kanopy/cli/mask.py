"""`kanopy mask`: substitute rare answers by answers of similar meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit, note, progress_bar


def mask(
    data: Annotated[
        str, typer.Argument(help="The table: a CSV, Parquet, Excel or Arrow file, a database, an address.")
    ],
    text: Annotated[str, typer.Option("--text", "-t", help="Columns with free text, separated by commas.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the release goes; the suffix gives the format.")],
    k: Annotated[int, typer.Option("-k", help="Rows that must share each published combination.")] = 5,
    quasi: Annotated[
        str | None, typer.Option("--quasi", "-q", help="Further columns that are substituted: numbers, categories.")
    ] = None,
    guide: Annotated[
        str, typer.Option(help="A similarity measure (wu-palmer, path, lin, …), discernibility or random.")
    ] = "wu-palmer",
    measure: Annotated[str | None, typer.Option(help="State quality in another measure than the guide.")] = None,
    algorithm: Annotated[
        str, typer.Option(help="fusion, local-recoding, semantic-microaggregation or semantic-swapping.")
    ] = "fusion",
    search: Annotated[str, typer.Option(help="greedy (as in the thesis) or refined (keeps more meaning).")] = "greedy",
    heuristics: Annotated[str, typer.Option(help="Which of the three are on, e.g. 12.")] = "123",
    ontology: Annotated[str, typer.Option(help="wordnet, or an ontology file.")] = "wordnet",
    vgh: Annotated[Path | None, typer.Option(help="An ordinary hierarchy file as the ontology.")] = None,
    senses: Annotated[Path | None, typer.Option(help="A file of chosen senses and synonyms (.senses.toml).")] = None,
    unknown: Annotated[
        str, typer.Option(help="Values the ontology lacks: own-class, embedding or error.")
    ] = "own-class",
    embedding: Annotated[Path | None, typer.Option(help="The folder of a local sentence-transformers model.")] = None,
    weights: Annotated[str | None, typer.Option(help="Weights of columns, e.g. reason1=2,age=0.5.")] = None,
    hierarchies: Annotated[
        Path | None, typer.Option(help="A folder with hierarchies of the --quasi columns (<column>.csv).")
    ] = None,
    sensitive: Annotated[str | None, typer.Option("--sensitive", "-s", help="Confidential columns.")] = None,
    diversity: Annotated[
        str | None, typer.Option(help="Different confidential values per group, e.g. 2 or illness=3.")
    ] = None,
    identifiers: Annotated[str | None, typer.Option(help="Columns that never leave.")] = None,
    insensitive: Annotated[str | None, typer.Option(help="Columns that are published as they are.")] = None,
    missing: Annotated[str, typer.Option(help="Missing answers: as-value or error.")] = "as-value",
    missing_tokens: Annotated[str | None, typer.Option(help="Texts that mean missing, e.g. '?,NA'.")] = None,
    seed: Annotated[int, typer.Option(help="Settles ties; the same seed gives the same bytes.")] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a report page (.html) or the numbers (.json).")] = None,
    json_mode: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Substitute rare answers by answers of similar meaning until k people share each one."""
    from kanopy._progress import Clock
    from kanopy._table.sinks import check_writable, staged
    from kanopy._table.sources import local_path, read_source
    from kanopy.masking.job import MaskJob
    from kanopy.release.run import mask as run

    begin(json_mode)
    clock = Clock()
    confidential = _names(sensitive)
    job = MaskJob(
        text=_names(text),
        k=k,
        quasi=_names(quasi),
        algorithm=algorithm,
        guide=guide,
        measure=measure,
        heuristics=heuristics,
        search=search,
        seed=seed,
        ontology=_hierarchy(vgh) if vgh is not None else ontology,
        senses=senses,
        unknown=unknown,
        embedding=embedding,
        weights={name: _number(value, name) for name, value in _pairs(weights, "weights").items()},
        hierarchies=_found(hierarchies, _names(quasi)),
        sensitive=confidential,
        diversity=_diversity(diversity, confidential),
        identifiers=_names(identifiers),
        insensitive=_names(insensitive),
        missing=missing,
        missing_tokens=_names(missing_tokens),
    )
    inputs = [path for path in (local_path(data),) if path is not None]
    check_writable(output, inputs)
    if report is not None:
        check_writable(report, inputs, table=False)
    with progress_bar() as show:
        with clock.stage("read"):
            source = read_source(data)
        result = run(source.frame, job, progress=show, clock=clock, source=data)
        with clock.stage("write"), staged(forbidden=inputs) as release:
            release.table(result.frame, output, dialect=source.dialect)
            if report is not None:
                release.bytes(report, _report_bytes(result, report))
    for line in result.notes:
        note(line)
    emit(result.summary(), lambda out: show_masking(out, result, output, report))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _pairs(text: str | None, what: str) -> dict[str, str]:
    from kanopy._errors import JobError

    found = {}
    for part in _names(text):
        name, equals, value = part.rpartition("=")
        if not equals:
            raise JobError(f"Write {what} as column=number, not {part!r}.")
        found[name.strip()] = value.strip()
    return found


def _number(text: str, name: str) -> float:
    from kanopy._errors import JobError

    try:
        return float(text)
    except ValueError:
        raise JobError(f"The weight of {name!r} is not a number: {text!r}.") from None


def _diversity(text: str | None, sensitive: tuple[str, ...]) -> dict[str, int]:
    from kanopy._errors import JobError

    if text is None:
        return {}
    pairs = dict.fromkeys(sensitive, text.strip()) if "=" not in text else _pairs(text, "diversity")
    if not pairs:
        raise JobError("--diversity needs a confidential column: name it with --sensitive.")
    try:
        return {name: int(value) for name, value in pairs.items()}
    except ValueError:
        raise JobError(f"Write diversity as a whole number, or as column=number, not {text!r}.") from None


def _hierarchy(path: Path) -> Any:
    from kanopy.hierarchy.files.files import read_hierarchy

    return read_hierarchy(path)


def _found(folder: Path | None, columns: tuple[str, ...]) -> dict[str, Any]:
    from kanopy.hierarchy.files.files import find_hierarchies

    return {} if folder is None else dict(find_hierarchies(folder, columns))


def _report_bytes(result: Any, path: Path) -> bytes:
    report = result.report
    forms = {".json": report.to_json, ".py": report.to_script}
    return str(forms.get(path.suffix, report.to_html)()).encode("utf-8", "replace")


def show_masking(out: Any, result: Any, output: str, report: Path | None) -> None:
    """Draw what a masking did."""
    from rich.table import Table
    from rich.text import Text

    found = result.summary()
    if result.masked.guarantees_k:
        out.print(
            f"[bold green]✓[/] Every published combination is shared by at least "
            f"[bold]{result.verification.smallest_class:,}[/] rows (k = {result.job.k}), "
            "checked again on what is published."
        )
    else:
        out.print("[bold yellow]![/] Answers were swapped. No number of equal rows is promised.")
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    for title, side in (("from", "left"), ("to", "left"), ("people", "right"), ("similarity", "right")):
        table.add_column(title, justify=side)  # type: ignore[arg-type]
    shown = result.evaluation.substitutions()
    for each in shown[:10]:
        table.add_row(_answer(each.before), _answer(each.after), f"{each.people:,}", f"{each.similarity:.3f}")
    if shown:
        out.print(table)
    if len(shown) > 10:
        out.print(Text(f"… and {len(shown) - 10:,} more substitutions", style="dim"))
    out.print(
        f"semantic quality {found['semantic_quality']:.4f} ({found['measure']}) · {found['rows']:,} rows · "
        f"{found['groups']:,} groups · {found['changed_records']:,} records changed · record linkage "
        f"{found['record_linkage_percent']:.3f} % · semantic linkage {found['semantic_linkage_percent']:.3f} % · "
        f"DM {found['dm']:,} · C_AVG {found['c_avg']:.2f}"
    )
    seconds = found["seconds"]
    parts = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items() if name != "total" and value >= 0.005)
    out.print(f"[dim]{seconds['total']:.2f} s ({parts})[/]")
    out.print(Text(f"Release: {output}" + (f"   Report: {report}" if report else "")), soft_wrap=True)


def _answer(values: Any) -> Any:
    from rich.text import Text

    from kanopy._arrays import MISSING_LABEL

    text = " · ".join(MISSING_LABEL if value is None else str(value) for value in values)
    return Text(text if len(text) <= 60 else text[:59] + "…")


def attach(app: typer.Typer) -> None:
    """Add the command to the `kanopy` application."""
    app.command("mask")(mask)
