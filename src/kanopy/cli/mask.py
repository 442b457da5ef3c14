"""`kanopy mask`: substitute rare answers by answers of similar meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import JobError
from kanopy.cli import options as o
from kanopy.cli.console import counted, grid


@o.command(
    "quasi", "hierarchies", "sensitive", "identifiers", "insensitive", "rest", "shuffle", "missing_tokens",
    "neutralize_formulas", "report", k=5, ontology="wordnet", missing="as-value", seed=0,
)  # fmt: skip
def mask(
    data: o.Data,
    output: o.Output,
    text: Annotated[list[str], typer.Option("--text", "-t", help=f"Columns with free text, {o.SEVERAL}.")],
    guide: Annotated[
        str, typer.Option(help="A similarity measure (wu-palmer, path, lin, …), discernibility or random.")
    ] = "wu-palmer",
    measure: Annotated[str | None, typer.Option(help="State quality in another measure than the guide.")] = None,
    algorithm: Annotated[
        str, typer.Option(help="fusion, local-recoding, semantic-microaggregation or semantic-swapping.")
    ] = "fusion",
    search: Annotated[str, typer.Option(help="greedy (as in the thesis) or refined (keeps more meaning).")] = "greedy",
    heuristics: Annotated[str, typer.Option(help="Which of the three are on, e.g. 12.")] = "123",
    vgh: Annotated[Path | None, typer.Option(help="An ordinary hierarchy file as the ontology.")] = None,
    senses: Annotated[Path | None, typer.Option(help="A file of chosen senses and synonyms (.senses.toml).")] = None,
    unknown: Annotated[
        str, typer.Option(help="Values the ontology lacks: own-class, embedding or error.")
    ] = "own-class",
    embedding: Annotated[Path | None, typer.Option(help="The folder of a local sentence-transformers model.")] = None,
    weights: Annotated[list[str] | None, typer.Option(help="Weights of columns, e.g. reason1=2,age=0.5.")] = None,
    diversity: Annotated[
        str | None, typer.Option(help="Different confidential values per group, e.g. 2 or illness=3.")
    ] = None,
    encoding: o.Encoding = None,
    **given: Any,
) -> None:
    """Substitute rare answers by answers of similar meaning until k people share each one."""
    from kanopy.cli.release import publish
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.release.run import mask as run

    if embedding is not None and not embedding.is_dir():
        raise JobError(f"There is no folder {str(embedding)!r} with a model. Give the folder of one.")
    lists = ("quasi", "sensitive", "identifiers", "insensitive", "missing_tokens")
    listed: dict[str, Any] = {name: o.columns(given[name]) for name in lists}
    single = {name: given[name] for name in ("k", "missing", "rest", "seed", "shuffle") if given[name] is not None}
    folder = given["hierarchies"]
    job = MaskJob(
        text=o.columns(text), algorithm=algorithm, guide=guide, measure=measure, heuristics=heuristics, search=search,
        ontology=read_hierarchy(vgh) if vgh is not None else given["ontology"], senses=senses, unknown=unknown,
        embedding=embedding, weights=_per_column(weights, "weights"),
        hierarchies={} if folder is None else find_hierarchies(folder, listed["quasi"]),
        diversity=_diversity(diversity, listed["sensitive"]), **listed, **single,
    )  # fmt: skip
    publish(data, output, job, encoding, given, run, read=[vgh, senses])


def _per_column(texts: list[str] | None, name: str) -> dict[str, Any]:
    """What an option says per column, each value read as the kind that the job declares."""
    from kanopy._parameters import parameters_of
    from kanopy.masking.job import MaskJob

    found: dict[str, Any] = {}
    for text in texts or ():
        read = parameters_of(MaskJob)[name].kind.read(text)
        if isinstance(read, str):
            raise JobError(f"Write --{name} as column=number, not {text!r}.")
        found |= read
    return found


def _diversity(text: str | None, sensitive: tuple[str, ...]) -> dict[str, Any]:
    from kanopy._kinds import Whole

    if text is None:
        return {}
    if "=" in text:
        return _per_column([text], "diversity")
    if not sensitive:
        raise JobError("--diversity needs a confidential column: name it with --sensitive.")
    return dict.fromkeys(sensitive, Whole(1).read(text))


def show_masking(out: Any, result: Any, output: str, report: Path | None) -> None:
    """Draw what a masking did."""
    from rich.text import Text

    from kanopy.cli.release import show_seconds, show_untouched

    found = result.summary()
    if result.masked.guarantees_k:
        out.print(
            f"[bold green]✓[/] Every published combination is shared by at least "
            f"[bold]{counted(result.verification.smallest_class, 'row')}[/] (k = {result.job.k}), "
            "checked again on what is published."
        )
    else:
        out.print("[bold yellow]![/] Answers were swapped. No number of equal rows is promised.")
    show_untouched(out, result)
    shown = result.evaluation.substitutions()
    if shown:
        rows = ((_answer(each["from"]), _answer(each["to"]), f"{each['people']:,}", f"{each['similarity']:.3f}")
                for each in shown[:10])  # fmt: skip
        out.print(grid(("from", "to", ">people", ">similarity"), rows))
    if len(shown) > 10:
        out.print(Text(f"… and {len(shown) - 10:,} more substitutions", style="dim"))
    out.print(
        f"semantic quality {found['semantic_quality']:.4f} ({found['measure']}) · {counted(found['rows'], 'row')} · "
        f"{counted(found['groups'], 'group')} · {counted(found['changed_records'], 'record')} changed · record linkage "
        f"{found['record_linkage_percent']:.3f} % · semantic linkage {found['semantic_linkage_percent']:.3f} % · "
        f"DM {found['dm']:,} · C_AVG {found['c_avg']:.2f}"
    )
    show_seconds(out, found["seconds"])
    out.print(Text(f"Release: {output}" + (f"   Report: {report}" if report else "")), soft_wrap=True)


def _answer(values: Any) -> Any:
    from rich.text import Text

    from kanopy._arrays import MISSING_LABEL

    text = " · ".join(MISSING_LABEL if value is None else str(value) for value in values)
    return Text(text if len(text) <= 60 else text[:59] + "…")
