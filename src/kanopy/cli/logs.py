"""`--log json`, before or after the command: one JSON object per line on standard error, for schedulers and collectors.

Logs are read by people who may not see the table. A message may quote values, so no log line has one: lines have
stages, counts, kinds of errors and exit statuses. Messages are in the answer of `--json` (decision 0261).
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from kanopy._errors import InputError


class LogFormat(StrEnum):
    """How a run is logged."""

    json = "json"


_on = False
_begun = 0.0
_notes = 0


def start(form: LogFormat | None, command: str) -> None:
    """Begin or, without a format, leave out the log of a command."""
    global _on, _begun, _notes
    _on, _begun, _notes = form is not None, time.perf_counter(), 0
    if _on:
        from kanopy import __version__

        warnings.showwarning = _warned
        line("start", command=command, version=__version__)


def option_and_rest(arguments: list[str]) -> tuple[list[str], list[str]]:
    """`--log FORMAT`, wherever it stands before a `--`, and the other arguments.

    >>> option_and_rest(["check", "people.csv", "--log", "json", "-q", "age"])
    (['--log', 'json'], ['check', 'people.csv', '-q', 'age'])
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    option: list[str] = []
    others: list[str] = []
    at = 0
    while at < end:
        wide = 2 if arguments[at] == "--log" else 1
        if at and at + wide > end:
            raise InputError("--log needs a format: --log json.")
        (option if arguments[at] == "--log" or arguments[at].startswith("--log=") else others).extend(
            arguments[at : at + wide]
        )
        at += wide
    return option, [*others, *arguments[end:]]


def is_on() -> bool:
    """Whether standard error carries log lines, and nothing else."""
    return _on


def line(event: str, **fields: Any) -> None:
    """Write one event."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    sys.stderr.write(json.dumps({"time": now, "event": event, **fields}) + "\n")
    sys.stderr.flush()


def count_note() -> None:
    """A note was made; how many there are is logged at the end."""
    global _notes
    _notes += 1


def result(answer: Mapping[str, Any]) -> None:
    """The figures of an answer: counts, shares and verdicts, no texts."""
    figures = {name: value for name, value in answer.items() if isinstance(value, (bool, int, float))}
    line("result", **figures)


def end(status: int) -> None:
    """The last line of a command, in every case but a kill."""
    global _on
    if _on:
        line("end", status=status, seconds=round(time.perf_counter() - _begun, 3), notes=_notes)
        warnings.showwarning = _SHOW
        _on = False


def fault(error: BaseException) -> None:
    """An error that nobody expected: its kind and where it was raised, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    line("error", kind=type(error).__name__, where=where)


_SHOW = warnings.showwarning


def _warned(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    line("warning", kind=category.__name__)
