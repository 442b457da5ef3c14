"""The `kanopy` command. Thin: parse, call the library, show what it returns.

Each family of commands lives in its own file and is attached here; heavy libraries are imported inside the
commands so that `kanopy --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from kanopy.cli import assess, hierarchies, ontologies, release, reproduce, risk
from kanopy.cli.console import fail
from kanopy.errors import Cancelled, KanopyError

app = typer.Typer(
    name="kanopy",
    help="Turn a table about people into one that may be published.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

app.command()(release.init)
app.command()(release.anonymize)
app.command()(release.check)
hierarchies.attach(app)
ontologies.attach(app)
reproduce.attach(app)
risk.attach(app)
assess.attach(app)


def main() -> None:
    """Entry point: known errors become plain words and an exit status."""
    try:
        app(standalone_mode=True)
    except KanopyError as error:
        sys.exit(fail(error))
    except KeyboardInterrupt:
        sys.exit(fail(Cancelled("Stopped. Nothing was written.")))
