"""The `kanopy` command. Thin: parse, call the library, show what it returns.

Each family of commands lives in its own file and is named here; heavy libraries are imported inside the
commands so that `kanopy --help` answers at once.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Annotated, Any

# Threads of NumPy's linear algebra spin while they wait; our matrices are small (docs/decisions/0215-threads.md).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer
from typer.core import TyperGroup

from kanopy._address import Address
from kanopy._errors import Cancelled, InputError, KanopyError, in_words, some
from kanopy._files import LANDING
from kanopy._temporary import sweep
from kanopy.cli import (
    assistant,
    counts,
    hierarchies,
    lists,
    local_app,
    logs,
    mask,
    ontologies,
    release,
    reproduce,
    sweeps,
)
from kanopy.cli.console import begin, fail, plain_streams
from kanopy.cli.linked.ledger import ledger
from kanopy.cli.official.classifications import classifications
from kanopy.cli.studies import assess, check, evidence, risk

USAGE_ERROR: Any = typer.BadParameter.__bases__[0]
"""What the parser raises: Click's, or that of the Click inside Typer."""


class Commands(TyperGroup):
    """The commands; Ctrl-C in any of them becomes an error like the others, with words and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except USAGE_ERROR as error:  # its usage is no line of a log, and may repeat what was typed
            if not logs.is_on():
                raise
            begin("--json" in sys.argv)
            raise InputError(error.format_message()) from None
        except KeyboardInterrupt:
            raise Cancelled("Stopped. Nothing was written.") from None


COMMANDS: dict[str, Callable[..., None]] = {
    "init": release.init,
    "anonymize": release.anonymize,
    "apply": release.apply,
    "count": counts.count,
    "check": check.check,
    "mask": mask.mask,
    "baseline": mask.baseline,
    "similarity": ontologies.similarity,
    "reproduce": reproduce.reproduce,
    "explore": sweeps.explore,
    "compare": sweeps.compare,
    "risk": risk.risk,
    "assess": assess.assess,
    "attack": evidence.attack,
    "cells": evidence.cells,
    "evidence": evidence.evidence,
    "algorithms": lists.algorithms,
    "models": lists.models,
    "treatments": lists.treatments,
    "schema": lists.schema,
    "app": local_app.app,
    "record": local_app.record,
    "mcp": assistant.mcp,
}
GROUPS = {
    "hierarchy": hierarchies.hierarchy,
    "ontology": ontologies.ontology,
    "classifications": classifications,
    "ledger": ledger,
}


def _version(wanted: bool) -> None:
    if wanted:
        from kanopy import __version__

        typer.echo(f"kanopy {__version__}")
        raise typer.Exit()


def _main(
    context: typer.Context,
    log: Annotated[
        logs.LogFormat | None,
        typer.Option("--log", help="Log lines on standard error instead of notes: json. Also after the command."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Turn a table about people into one that may be published."""
    logs.start(log, str(context.invoked_subcommand))


def program(only: str | None = None) -> typer.Typer:
    """All commands, or a single one: the options of all take longer to declare than a small table takes to publish."""
    made = typer.Typer(
        name="kanopy",
        cls=Commands,
        help="Turn a table about people into one that may be published.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    made.callback()(_main)
    for name, command in COMMANDS.items():
        if only in (None, name):
            made.command(name)(command)
    for name, group in GROUPS.items():
        if only in (None, name):
            made.add_typer(group, name=name)
    return made


app = program()


@cache
def _command(only: str | None) -> Any:
    """What runs a command, made once for each."""
    return typer.main.get_command(app if only is None else program(only))


class Interrupted(KeyboardInterrupt):
    """A signal that ends a run.

    Where a `KeyboardInterrupt` passes through code made from text (a dataclass that is being imported), Python ends by
    SIGINT whoever catches it, and the exit status is lost; it asks for exactly that class, not for this one.
    """


@contextmanager
def _stoppable() -> Iterator[list[int]]:
    """SIGTERM and SIGHUP end a run as Ctrl-C does; the signals that came are in the list.

    Who ignores hangups (nohup) goes on ignoring them.
    """
    came: list[int] = []
    before: dict[int, Any] = {}
    LANDING.armed = LANDING.begun = False
    last = 0.0

    def stop(number: int, _frame: Any) -> None:
        nonlocal last
        if LANDING.begun:
            return  # the release is there: its status says so
        came.append(number)
        # Some send both at once: the second must not end the cleaning up.
        again, last = len(came) > 1 and time.monotonic() - last < 1, time.monotonic()
        if not again:
            raise Interrupted

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no hangups
        with suppress(ValueError):  # only the main thread is told of signals
            if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, stop)
    try:
        yield came
    finally:
        for number, old in before.items():
            signal.signal(number, old)


INTERNAL = 70
"""The exit status of a fault of Kanopy itself, where a log stands for its traceback."""


def main() -> None:
    """Entry point: known errors become plain words and an exit status."""
    # Hundreds of thousands of labels and codes are no reference cycles: looking for some took a tenth of the time.
    gc.set_threshold(50_000, 20, 100)
    plain_streams()
    with _stoppable() as came:
        try:
            status = _run()
        except SystemExit as stop:
            logs.end(stop.code if isinstance(stop.code, int) else int(stop.code is not None))
            raise
        except BaseException as error:
            if not came and logs.is_on():
                logs.fault(error)
                logs.end(INTERNAL)
                sys.exit(INTERNAL)
            if not came:
                raise
            # A library that was interrupted says so in words of its own; one in Rust panics, which is no `Exception`.
            status = fail(Cancelled("Stopped. Nothing was written."))
        status = 128 + came[0] if came and status == Cancelled.exit_status else status
        logs.end(status)
        sys.exit(status)


def _addresses(arguments: list[str]) -> Iterator[str]:
    """The arguments, those of servers as addresses, so that no message and no file ever shows their passwords."""
    for argument in arguments:
        match = re.fullmatch(r"(?s)(?:(-[A-Za-z]|--[\w-]+)=?)?([A-Za-z][A-Za-z0-9+.-]*://.*)", argument)
        if match is None:
            yield argument
            continue
        if match[1]:
            yield match[1]
        yield Address(match[2])


def _run() -> int:
    try:
        sweep()
        if strange := [argument for argument in sys.argv if "\0" in argument]:
            raise InputError(f"A zero character cannot be part of a command: {some(strange)}.")
        log, arguments = logs.option_and_rest(list(_addresses(sys.argv[1:])))
        only = arguments[0] if arguments and arguments[0] in {*COMMANDS, *GROUPS} else None
        _command(only)(args=[*log, *arguments], standalone_mode=True)
    except KanopyError as error:
        return fail(error)
    except (OSError, UnicodeError, RecursionError, OverflowError, MemoryError) as error:
        # What the system refuses, wherever it does: a file that vanished, a disk that fails, a number too large.
        return fail(InputError(in_words(error)))
    except KeyboardInterrupt:
        return fail(Cancelled("Stopped. Nothing was written."))
    return 0
