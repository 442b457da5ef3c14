"""`kanopy algorithms`, `kanopy models` and `kanopy hierarchy methods`: what there is, and the parameters of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from kanopy._errors import called, refuse, short
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid

Name = Annotated[str | None, typer.Argument(help="Show only this one, with its parameters.", show_default=False)]


@o.command()
def algorithms(name: Name = None) -> None:
    """List the algorithms: what each does, its recoding, the models it supports, what it proves."""
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.release.catalogue import MODEL_WORDS, recoding_words
    from kanopy.release.catalogue import algorithms as entries
    from kanopy.search.algorithms import ALGORITHMS, algorithm_class

    listed = entries()
    classes: dict[str, Any] = {**dict.fromkeys(ALGORITHMS), **MASKINGS}
    if name is not None:
        chosen = called(name, classes, "algorithm")
        listed = [{**entry, **declared_parameters(classes[chosen] or algorithm_class(chosen))} for entry in listed
                  if entry["name"] == chosen]  # fmt: skip

    def show(out: Any) -> None:
        from rich.padding import Padding
        from rich.text import Text

        for entry in listed:
            facts = f"  {entry['recoding']} · models: {entry['models']} · {entry['proves'] or 'heuristic'}"
            if entry["anytime"]:
                facts += " · stops at any time"
            out.headed(entry["name"], "bold", facts, "not bold dim")
            sentence = f"{entry['does'][0].upper()}{entry['does'][1:]}. {entry['source']}. For {entry['attributes']}."
            out.print(Padding(Text(sentence), (0, 0, 0, 2)))
            show_declared(out, entry)
        if name is None:
            out.print()
            for kind in dict.fromkeys(algorithm_entry["recoding"] for algorithm_entry in listed):
                out.print(f"[bold]{kind}[/]: {recoding_words(kind)}.")
            for word, meaning in MODEL_WORDS.items():
                out.print(f"models [bold]{word}[/]: {meaning}.")

    emit({"algorithms": listed}, show)


@o.command("output")
def schema(**given: Any) -> None:
    """Print the JSON Schema of job files, with which editors complete and check them.

    `kanopy schema -o job.schema.json`, and `#:schema ./job.schema.json` in the first line of the job: the extensions
    of VS Code for TOML (Taplo) then know its keys. `kanopy init` writes that line where the file is beside the job.
    """
    import json

    from kanopy._files import write_whole
    from kanopy.cli.files import check_outputs
    from kanopy.linked.schema import any_job_schema

    text = json.dumps(any_job_schema(), indent=1, ensure_ascii=False)
    output = given["output"]
    if output is None:
        emit(any_job_schema(), lambda out: out.print(text, markup=False, highlight=False, soft_wrap=True))
        return
    check_outputs([], output, suffixes=(".json",))
    write_whole(output, f"{text}\n")
    emit({"schema": str(output)}, lambda out: out.print(f"Wrote {output}."))


@o.command()
def models(name: Name = None) -> None:
    """List the privacy models, each with one sentence and an example."""
    from kanopy.privacy.models import MODELS

    chosen = MODELS if name is None else {(kind := MODELS.find(name)).name: kind}
    listed: list[dict[str, Any]] = [
        {"name": entry, "summary": kind.summary, "example": kind.example, "definition": _first_line(kind)}
        | (declared_parameters(kind) if name is not None else {})
        for entry, kind in chosen.items()
    ]
    _emit_table("models", listed, {"model": "name", "in one sentence": "summary", "--model": "example"})


@o.command()
def methods(name: Name = None) -> None:
    """List the methods that build hierarchies, with their parameters."""
    from kanopy._parameters import defaults
    from kanopy.hierarchy.builders.registry import BUILDERS

    chosen = BUILDERS if name is None else {(kind := BUILDERS.find(name)).method: kind}
    listed: list[dict[str, Any]] = [
        {"name": entry, "summary": kind.summary, "parameters": defaults(kind), "kinds": sorted(kind.fits)}
        | (declared_parameters(kind) if name is not None else {})
        for entry, kind in chosen.items()
    ]
    _emit_table("methods", listed, {"method": "name", "what it does": "summary", "parameters": "parameters"})


def declared_parameters(kind: type) -> dict[str, Any]:
    from kanopy._parameters import describe

    return {"declared": describe(kind)}


def _first_line(kind: type) -> str:
    """The opening of the docstring: definition and paper."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


def _emit_table(key: str, listed: list[dict[str, Any]], titles: dict[str, str]) -> None:
    def show(out: Any) -> None:
        from rich.text import Text

        table = grid(titles, ())
        for entry in listed:
            cells = [entry[field] for field in titles.values()]
            texts = [
                ", ".join(f"{n}={v}" for n, v in cell.items()) if isinstance(cell, dict) else cell for cell in cells
            ]
            table.add_row(Text(texts[0], style="bold"), *map(Text, texts[1:]))
        out.print(table)
        for entry in listed:
            show_declared(out, entry)

    emit({key: listed}, show)


def show_declared(out: Any, entry: dict[str, Any]) -> None:
    if "declared" not in entry:
        return
    if not entry["declared"]:
        out.print("It has no parameters.")
        return
    rows = (
        (
            parameter["name"],
            "required" if parameter["required"] else str(parameter["default"]),
            parameter["meaning"],
            parameter["kind"],
        )
        for parameter in entry["declared"]
    )
    out.print(grid(("parameter", "default", "meaning", "values"), rows))


@o.command()
def treatments(name: Name = None) -> None:
    """List the treatments of columns: what each does, guarantees and does not promise."""
    from kanopy.treatments.registry import TREATMENTS

    chosen = TREATMENTS if name is None else {(kind := TREATMENTS.find(name)).name: kind}
    listed: list[dict[str, Any]] = [
        {
            "name": entry, "does": kind.summary, "guarantees": kind.guarantees, "lacks": kind.lacks,
            "source": kind.source, "takes": kind.takes, "secret": kind.secret, "piecewise": in_pieces(entry),
        }
        | (declared_parameters(kind) if name is not None else {})
        for entry, kind in chosen.items()
    ]  # fmt: skip

    def show(out: Any) -> None:
        from rich.padding import Padding
        from rich.text import Text

        for entry in listed:
            secret = {"none": "", "seed": " · secret random numbers", "key": " · needs a key"}[entry["secret"]]
            facts = f"  {entry['takes']}{' · piece by piece' if entry['piecewise'] else ''}{secret}"
            out.headed(entry["name"], "bold", facts, "not bold dim")
            does = f"{entry['does'][0].upper()}{entry['does'][1:]}"
            sentence = f"{does}. Guarantees: {entry['guarantees']}. Not: {entry['lacks']}."
            out.print(Padding(Text(sentence), (0, 0, 0, 2)))
            show_declared(out, entry)

    emit({"treatments": listed}, show)


def in_pieces(name: str) -> bool:
    """Whether a treatment, as it is without parameters, treats files larger than memory."""
    from kanopy.release.treated.pieces import works_in_pieces
    from kanopy.treatments.registry import TREATMENTS

    kind: Any = TREATMENTS[name]
    usual: dict[str, Any] = {
        "round": {"base": 1},
        "follow": {"column": "x"},
        "tokens": {"table": "x"},
        "top-code": {"top": 1},
    }
    return works_in_pieces(kind(**usual.get(name, {})))


def treatments_given(texts: Iterable[str]) -> dict[str, Any]:
    """Treatments from texts `COLUMN=METHOD` or `COLUMN=METHOD:name=value;name=value`.

    >>> treatments_given(["pay=round:base=100", "born=cut-dates"])["pay"].base
    100
    """
    from kanopy._parameters import make, parse
    from kanopy.treatments.registry import TREATMENTS

    treatment_of_column: dict[str, Any] = {}
    wrong = [text for text in texts if not all(text.partition("=")[::2])]
    refuse([f"A treatment is written COLUMN=METHOD[:name=value;…], not {short(text)}." for text in wrong])
    for text in texts:
        column, _, method_text = text.partition("=")
        method, _, parameters = method_text.partition(":")
        kind = TREATMENTS.find(method.strip())
        treatment_of_column[column.strip()] = make(
            kind, parse(kind, [setting for setting in parameters.split(";") if setting.strip()])
        )
    return treatment_of_column


def show_treatments(out: Any, result: Any) -> None:
    """What was found to hold of treated columns."""

    for check in result.treated.checks:
        out.headed("✓ ", "bold green", check, "not bold default")
