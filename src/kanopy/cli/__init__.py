"""The `kanopy` command. Thin: parse, call the library, show what it returns.

Each family of commands lives in its own file and is named here; heavy libraries are imported inside the
commands so that `kanopy --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kanopy._errors import Cancelled, InputError, KanopyError, in_words, some
from kanopy.cli import assess, check, hierarchies, large, lists, many, mask, ontologies, release, reproduce, risk
from kanopy.cli.console import fail, plain_streams


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

COMMANDS: dict[str, Callable[..., None]] = {
    "init": release.init,
    "anonymize": release.anonymize,
    "apply": release.apply,
    "count": large.count,
    "check": check.check,
    "mask": mask.mask,
    "baseline": mask.baseline,
    "similarity": ontologies.similarity,
    "reproduce": reproduce.reproduce,
    "explore": many.explore,
    "compare": many.compare,
    "risk": risk.risk,
    "assess": assess.assess,
    "algorithms": lists.algorithms,
    "models": lists.models,
    "app": release.app,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(hierarchies.hierarchy, name="hierarchy")
app.add_typer(ontologies.ontology, name="ontology")


def _version(wanted: bool) -> None:
    if wanted:
        from kanopy import __version__

        typer.echo(f"kanopy {__version__}")
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and leave.")
    ] = False,
) -> None:
    """Turn a table about people into one that may be published."""


def main() -> None:
    """Entry point: known errors become plain words and an exit status."""
    plain_streams()
    try:
        if strange := [argument for argument in sys.argv if "\0" in argument]:
            raise InputError(f"A zero character cannot be part of a command: {some(strange)}.")
        app(standalone_mode=True)
    except KanopyError as error:
        sys.exit(fail(error))
    except (OSError, UnicodeError, RecursionError, OverflowError, MemoryError) as error:
        # What the system refuses, wherever it does: a file that vanished, a disk that fails, a number too large.
        sys.exit(fail(InputError(in_words(error))))
    except KeyboardInterrupt:
        sys.exit(fail(Cancelled("Stopped. Nothing was written.")))
