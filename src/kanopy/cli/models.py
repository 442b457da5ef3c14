"""`kanopy models`: every privacy model with one sentence and how it is written."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kanopy.cli.console import begin, emit


def models(
    json_mode: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """List the privacy models, each with one sentence and an example."""
    from kanopy.privacy.models import MODELS

    begin(json_mode)
    listed = [
        {"name": name, "summary": kind.summary, "example": kind.example, "definition": _first_line(kind)}
        for name, kind in MODELS.items()
    ]

    def show(out: Any) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(header_style="bold", box=None, pad_edge=False)
        for title in ("model", "in one sentence", "--model"):
            table.add_column(title, overflow="fold")
        for each in listed:
            table.add_row(Text(each["name"], style="bold"), Text(each["summary"]), Text(each["example"]))
        out.print(table)

    emit({"models": listed}, show)


def _first_line(kind: type) -> str:
    """The opening of the docstring: definition and paper."""
    text = (kind.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split())


def attach(app: typer.Typer) -> None:
    """Add the command to the `kanopy` application."""
    app.command("models")(models)
