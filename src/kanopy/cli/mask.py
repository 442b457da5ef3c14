"""`kanopy mask`: substitute rare answers by answers of similar meaning; `kanopy baseline`: plain methods beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._errors import JobError
from kanopy.cli import options as o
from kanopy.cli.console import counted, grid


@o.command(
    "job", "quasi", "k", "hierarchies", "sensitive", "identifiers", "withheld", "insensitive", "rest", "shuffle",
    "missing", "missing_tokens", "neutralize_formulas", "key_file", "mapping", "manifest", "report",
    needs={"ontology": o.NO_VGH},
)  # fmt: skip
def mask(
    data: o.Data,
    output: o.Output,
    text: Annotated[
        list[str] | None, typer.Option("--text", "-t", help=f"Columns with free text, {o.SEVERAL}.")
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            help="What may replace an answer: frequent (the default: an answer that k people gave, a broader term, "
            "or *) or any (as in the thesis: one person's words may be published k times)."
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(help=f"Kinds of texts to treat as ordinary answers: number, place, date, …; {o.SEVERAL}."),
    ] = None,
    guide: Annotated[
        str | None,
        typer.Option(
            help="A similarity measure (wu-palmer, the default; path, lin, …), discernibility, random or random-record."
        ),
    ] = None,
    measure: Annotated[str | None, typer.Option(help="The measure of quality, if not that of --guide.")] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(help="fusion (the default), local-recoding, semantic-microaggregation or semantic-swapping."),
    ] = None,
    search: Annotated[
        str | None, typer.Option(help="greedy (as in the thesis; the default) or refined (keeps more meaning).")
    ] = None,
    heuristics: Annotated[str | None, typer.Option(help="The heuristics in use, e.g. 12 for the first two.")] = None,
    ontology: Annotated[
        str | None, typer.Option(help="`wordnet` (the default), or an ontology file; several joined by +.")
    ] = None,
    vgh: Annotated[Path | None, typer.Option(help="A hierarchy file to use as the ontology.")] = None,
    senses: Annotated[Path | None, typer.Option(help="A file of chosen senses and synonyms (.senses.toml).")] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(help="A mapping of an earlier run with decisions: accept, name or suppress single changes."),
    ] = None,
    unknown: Annotated[
        str | None, typer.Option(help="Values the ontology lacks: own-class (the default), embedding or error.")
    ] = None,
    embedding: Annotated[Path | None, typer.Option(help="The folder of a local sentence-transformers model.")] = None,
    weights: Annotated[list[str] | None, typer.Option(help="Weights of columns, e.g. reason1=2,age=0.5.")] = None,
    diversity: Annotated[
        str | None, typer.Option(help="Different confidential values per group, e.g. 2 or illness=3.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of random choices.")] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Substitute rare answers by answers of similar meaning until k people share each one."""
    from kanopy._job.job import Job
    from kanopy.cli.release import publish
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
    from kanopy.masking.job import MaskJob

    if embedding is not None and not embedding.is_dir():
        raise JobError(f"There is no folder {str(embedding)!r} with a model. Give the folder of a local model.")
    sensitive = o.columns(given["sensitive"])
    asked: dict[str, Any] = {
        "targets": targets, "allow": o.columns(allow) or None, "guide": guide, "measure": measure, "search": search,
        "heuristics": heuristics, "ontology": ontology if vgh is None else read_hierarchy(vgh), "senses": senses,
        "decisions": decisions, "unknown": unknown, "embedding": embedding, "seed": seed,
        "text": o.columns(text) or None,
    }  # fmt: skip
    asked = {name: value for name, value in asked.items() if value is not None}
    columns: dict[str, Any] = {"weights": _per_column(weights, "weights")} if weights else {}
    job: Any
    if given["job"] is not None:
        file_job = Job.read(given["job"])
        masks = file_job.masks
        parameters = {**(file_job.parameters if masks else {}), **asked}
        if diversity is not None:
            parameters["diversity"] = _diversity(diversity, sensitive or file_job.sensitive)
        job = o.job_of(
            given,
            algorithm=algorithm or (file_job.algorithm if masks else "fusion"),
            parameters=parameters,
            quasi=[*file_job.quasi, *asked.get("text", ()), *o.columns(given["quasi"])],
            **columns,
        )
    else:
        lists = ("quasi", "sensitive", "identifiers", "withheld", "insensitive", "missing_tokens")
        listed: dict[str, Any] = {name: o.columns(given[name]) for name in lists}
        single = {name: given[name] for name in ("k", "missing", "rest", "shuffle") if given[name] is not None}
        folder = given["hierarchies"]
        job = MaskJob(
            algorithm=algorithm or "fusion", **asked, **columns, **listed, **single,
            hierarchies={} if folder is None else find_hierarchies(folder, listed["quasi"]),
            diversity=_diversity(diversity, sensitive),
        )  # fmt: skip
        o.settle(job)
    publish(data, output, job, layout.over(job), given, read=[given["job"], vgh, senses, decisions], engine="memory")


@o.command("k", "shuffle", seed=0, needs={"seed": o.DRAWN})
def baseline(
    data: o.Data,
    output: o.Output,
    method: Annotated[
        str,
        typer.Option(
            help="noise, correlated-noise, rounding, resampling, rank-swapping, pram, sampling, representatives."
        ),
    ],
    columns: Annotated[list[str], typer.Option("--columns", "-c", help=f"Columns to publish, {o.SEVERAL}.")],
    amount: Annotated[
        float | None,
        typer.Option(
            help="noise: a share of the spread (0.1); rounding: the base; resampling: draws (3); rank-swapping: "
            "percent of the rows (5); pram: the probability that a value stays (0.8); sampling: a share of the "
            "rows (0.1)."
        ),
    ] = None,
    layout: o.Form = None,
    **given: Any,
) -> None:
    """Mask a table by a plain method of statistical offices, to compare with. None of them promises a k.

    `representatives` masks texts in groups of -k people (5 if not said) and publishes each group once.
    """
    from kanopy._table.sinks import staged
    from kanopy.cli.console import STANDARD, emit, note, progress_bar, standard_output
    from kanopy.cli.files import check_outputs, inputs_of, read_data
    from kanopy.masking.job import MaskJob
    from kanopy.release.baseline import baseline as run
    from kanopy.release.baseline import one_per_group
    from kanopy.release.run import mask as run_mask
    from kanopy.release.writing import PublishedRows
    from kanopy.study.order_disclosure import what_order_tells

    inputs, named = inputs_of(data), o.columns(columns)
    check_outputs(inputs, table=None if output == STANDARD else output)
    by_group = method == "representatives"
    if given["k"] is not None and not by_group:
        raise JobError(
            f"{method} does not guarantee k-anonymity. Leave -k out, or use `kanopy mask` or `kanopy anonymize`."
        )
    if by_group and amount is not None:
        raise JobError("representatives takes -k, the people in each group, and no amount.")
    source = read_data(data, layout)
    with progress_bar() as show:
        if by_group:
            job = MaskJob(text=named, k=given["k"] or 5, algorithm="semantic-microaggregation", seed=given["seed"])
            masked = run_mask(source.frame, job, progress=show)
            for line in masked.notes:
                note(line)
            published = one_per_group(masked.frame, named)
        else:
            published = run(source.frame, method, named, amount, seed=given["seed"])
    left = [name for name in source.frame.columns if name not in named]
    if given["shuffle"] is not False:
        published = PublishedRows(published).shuffled[0]
    elif len(published) == len(source.frame):
        note(what_order_tells(source.frame, left, (), len(published)))
    alone = 0 if by_group else int((published.group_by(list(named)).len()["len"] == 1).sum())

    def show_it(out: Any) -> None:
        if by_group:
            out.print(f"Each of {counted(len(published), 'record')} stands for at least {given['k'] or 5} people.")
        else:
            out.print(
                f"[bold yellow]![/] {method} promises no k: {counted(alone, 'row')} of {len(published):,} "
                f"{'has a combination' if alone == 1 else 'have combinations'} of {', '.join(named)} that no other has."
            )
        if left:
            out.print(f"Left out: {', '.join(left)}.", markup=False)

    facts = {"method": method, "columns": list(named), "rows": len(published), "unique_rows": alone, "left_out": left}
    with standard_output(output) as output_path:
        with staged(forbidden=inputs) as release:
            release.table(published, output_path, dialect=source.dialect)
        emit({**facts, "seed": given["seed"], "guarantees_k": False}, show_it)


def _per_column(texts: list[str] | None, name: str) -> dict[str, Any]:
    """What an option says per column, each value read as the kind that the job declares."""
    from kanopy._parameters import parameters_of
    from kanopy.masking.job import MaskJob

    settings: dict[str, Any] = {}
    for text in texts or ():
        read = parameters_of(MaskJob)[name].kind.read(text)
        if isinstance(read, str):
            raise JobError(f"Write --{name} as column=number, not {text!r}.")
        settings |= read
    return settings


def _diversity(text: str | None, sensitive: tuple[str, ...]) -> dict[str, Any]:
    from kanopy._parameter_types import Integer

    if text is None:
        return {}
    if "=" in text:
        return _per_column([text], "diversity")
    if not sensitive:
        raise JobError("--diversity needs a confidential column: name it with --sensitive.")
    return dict.fromkeys(sensitive, Integer(1).read(text))


def show_masking(out: Any, result: Any, output: str, report: Path | None) -> None:
    """Draw what a masking did."""

    from kanopy.cli.release import show_seconds, show_untouched

    summary = result.summary()
    columns = result.job.columns
    guarded = {name for model in result.job.models for name in model.sensitive}
    looked_after = {*columns, *result.job.pseudonymize, *guarded}
    as_they_are = [name for name in result.frame.columns if name not in looked_after]
    if as_they_are:
        out.headed(
            "! ", "bold yellow",
            f"Only {', '.join(columns)} {'is' if len(columns) == 1 else 'are'} protected. Published unchanged, "
            f"and not protected: {', '.join(as_they_are)}. Name columns that an attacker may know with --quasi.",
            "default not bold",
        )  # fmt: skip
    if result.masked.guarantees_k:
        out.print(
            f"[bold green]✓[/] Every published combination of {', '.join(columns)} is shared by at least "
            f"[bold]{counted(result.verification.smallest_class, 'row')}[/] (k = {result.job.k}), verified on the "
            "published labels."
        )
    else:
        out.print("[bold yellow]![/] Answers were swapped. k-anonymity is not guaranteed.")
    if result.job.targets == "any":
        rare = summary["rare_answers_shown"]
        out.print(
            f"[bold yellow]![/] {counted(rare, 'published answer')} {'was' if rare == 1 else 'were'} given by fewer "
            f"than {result.job.k} people: --targets any publishes answers of single people."
        )
    show_untouched(out, result)
    substitutions = result.evaluation.substitutions()
    if substitutions:
        rows = ((_answer(substitution["from"]), _answer(substitution["to"]), f"{substitution['people']:,}",
        f"{substitution['similarity']:.3f}")
                for substitution in substitutions[:10])  # fmt: skip
        out.print(grid(("from", "to", ">people", ">similarity"), rows))
    if len(substitutions) > 10:
        out.line(f"… and {len(substitutions) - 10:,} more substitutions", style="dim")
    out.print(
        f"semantic quality {summary['semantic_quality']:.4f} ({summary['measure']}), of the "
        f"{counted(summary['changed_answers'], 'changed answer')} {_mean(summary['similarity_of_changes'])} · "
        f"{counted(summary['rows'], 'row')} · "
        f"{counted(summary['groups'], 'group')} · {counted(summary['changed_records'], 'record')} changed · record "
        f"linkage "
        f"{summary['record_linkage_percent']:.3f} % · semantic linkage {summary['semantic_linkage_percent']:.3f} % · "
        f"DM {summary['dm']:,} · C_AVG {summary['c_avg']:.2f}"
    )
    show_seconds(out, summary["seconds"])
    out.line(f"Release: {output}" + (f"   Report: {report}" if report else ""), soft_wrap=True)


def _mean(similarity: float | None) -> str:
    return "–" if similarity is None else f"{similarity:.4f}"


def _answer(values: Any) -> Any:
    from rich.text import Text

    from kanopy._arrays import MISSING_LABEL

    text = " · ".join(MISSING_LABEL if value is None else str(value) for value in values)
    return Text(text if len(text) <= 60 else text[:59] + "…")
