"""`kanopy mcp`: an assistant drives Kanopy without seeing a row; a person approves what is written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kanopy._errors import InputError
from kanopy.cli import options as o
from kanopy.cli.console import emit


@o.command()
def mcp(
    folder: Annotated[
        Path, typer.Argument(help="The folder with the tables; nothing outside of it is read or written.")
    ],
    least: Annotated[
        int,
        typer.Option(
            "--least-rows",
            min=2,
            help="The assistant sees a value only if at least this many rows share it; also the smallest k.",
        ),
    ] = 5,
    approve: Annotated[
        bool, typer.Option("--approve", help="Ask at this terminal whether to write the requested releases.")
    ] = False,
) -> None:
    """Serve an assistant over standard input and output (Model Context Protocol). It never sees a row."""
    if not folder.is_dir():
        raise InputError(f"There is no folder {str(folder)!r}. Name the folder that holds the tables.")
    if not approve:
        from kanopy.assistant.server import server

        server(folder, k=least).run("stdio")
        return
    if least != 5:
        raise InputError("--least-rows has no effect with --approve: each request states its k. Leave it out.")
    from kanopy.assistant.approvals import Approvals

    if not sys.stdin.isatty():
        raise InputError("Releases are approved at a terminal, and standard input is not one. Run this in a terminal.")
    approvals = Approvals(folder)
    answered = {}
    for request in approvals.waiting():
        publishes = f"\n  {request.publishes}\n" if request.publishes else " "
        asked = f"Write {request.file} from {request.table} (k = {request.k}, asked {request.asked})?{publishes}"
        yes = typer.confirm(asked, default=False, err=True)
        (approvals.approve if yes else approvals.refuse)(request)
        answered[request.number] = "approved" if yes else "refused"
    words = [f"{number}: {state}" for number, state in answered.items()] or ["No release is waiting for approval."]
    emit({"requests": answered}, lambda out: out.print("\n".join(words), markup=False, highlight=False))
