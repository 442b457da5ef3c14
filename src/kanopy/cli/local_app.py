"""The local app, and the record of what was decided in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import counted, emit, grid

PASSWORD = "KANOPY_APP_PASSWORD"


@o.command()
def app(
    data: Annotated[str | None, typer.Argument(help="A table to open, in any form that every command accepts.")] = None,
    port: Annotated[int | None, typer.Option(help="The port [default: the first free one from 8790 on].")] = None,
    host: Annotated[
        str, typer.Option(help=f"The address to listen on; an address other than this machine requires {PASSWORD}.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    project: Annotated[Path, typer.Option(help="The project folder.")] = Path("kanopy-project"),
    public_url: Annotated[
        str, typer.Option(help="Where a reverse proxy shows the page, such as https://data.example.org.")
    ] = "",
    user_header: Annotated[
        str, typer.Option(help="The header in which that proxy names who is logged in, for the record.")
    ] = "",
) -> None:
    """Open the page: look at hierarchies, move sliders, take the release home. Everything stays on this machine."""

    from kanopy._table.sources import check_source
    from kanopy.app.server import serve

    if data is not None:
        check_source(data)

    def ready(address: str, opener: Path) -> None:
        words = f"{address}\nThe work is kept in {project}. Ctrl-C ends it."
        emit({"address": address, "project": str(project)}, lambda out: out.line(words, soft_wrap=True))
        if browser:
            import webbrowser

            webbrowser.open(opener.as_uri())

    serve(project, data=data, host=host, port=port, password=os.environ.get(PASSWORD, ""), ready=ready,
          public_url=public_url, user_header=user_header)  # fmt: skip


@o.command()
def record(
    project: Annotated[Path, typer.Argument(help="The folder of a project of the app.")] = Path("kanopy-project"),
) -> None:
    """Verify the record of a project: no line changed, every release and manifest as it was recorded and signed."""
    from kanopy.app.record import said, verify_record

    verification = verify_record(project)

    def show(out: Any) -> None:
        rows = [(event["date"], event["who"], said(event)) for event in verification["events"]]
        out.print(grid(("date", "who", "what"), rows))
        for difference in verification["differences"]:
            out.print(f"Not as recorded: {difference}.", markup=False)
        whole = "its files are as recorded" if not verification["differences"] else "its files are not"
        events = counted(len(verification["events"]), "event")
        out.print(f"{events}, no line changed; {whole}. Last hash: {verification['head']}",
                  soft_wrap=True, markup=False)  # fmt: skip

    emit(verification, show)
    if verification["differences"]:
        raise typer.Exit(1)
