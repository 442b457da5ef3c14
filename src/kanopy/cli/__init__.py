"""The `kanopy` command. Thin: parse, call the library, show what it returns.

Each family of commands lives in its own file and is attached here; heavy libraries are imported inside the
commands so that `kanopy --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from kanopy._errors import Cancelled, KanopyError
from kanopy.cli import apply, assess, compare, explore, hierarchies, mask, models, ontologies, release, reproduce, risk
from kanopy.cli.console import fail


class Commands(TyperGroup):
    """The commands; Ctrl-C in any of them becomes an error like the others, with words and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Cancelled("Stopped. Nothing was written.") from None


app = typer.Typer(
    name="kanopy",
    cls=Commands,
    help="Turn a table about people into one that may be published.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

app.command()(release.init)
app.command()(release.anonymize)
app.command()(release.check)
mask.attach(app)
hierarchies.attach(app)
ontologies.attach(app)
reproduce.attach(app)
models.attach(app)
apply.attach(app)
explore.attach(app)
compare.attach(app)
risk.attach(app)
assess.attach(app)


def main() -> None:
    """Entry point: known errors become plain words and an exit status."""
    os.environ.setdefault("KANOPY_COMMAND", "1")
    try:
        app(standalone_mode=True)
    except KanopyError as error:
        sys.exit(fail(error))
    except KeyboardInterrupt:
        sys.exit(fail(Cancelled("Stopped. Nothing was written.")))
