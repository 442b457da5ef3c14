"""What all commands share: plain words on standard error, one JSON object on standard output, exit statuses."""

from __future__ import annotations

import codecs
import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kanopy import _temporary
from kanopy._errors import JobError, KanopyError
from kanopy._progress import Callback, Step
from kanopy.cli import logs

STANDARD = "-"
"""What standard input and output are called among files."""
_json_mode = False
_table_mode = False


_PLAINER = {"✓": "ok", "✗": "no", "█": "#", "→": "->", "…": "...", "–": "-", "·": "|", "≥": ">=", "≤": "<="}


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """What a terminal shows instead of letters that it does not have."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(
        _PLAINER.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters
    ), error.end


def plain_streams() -> None:
    """Let standard output and error write every text, whatever their encoding: a run never fails at its last line."""
    codecs.register_error("plainer", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plainer")


def begin(json_mode: bool) -> None:
    """Called first by every command: with `--json`, standard output carries one JSON object and nothing else."""
    global _json_mode, _table_mode
    _json_mode, _table_mode = json_mode, False


def wants_json() -> bool:
    """Whether standard output carries JSON."""
    return _json_mode


class Drawing:
    """A Rich console that also prints plain lines, in which brackets are letters."""

    def __init__(self, console: Any) -> None:
        self._console = console

    def __getattr__(self, name: str) -> Any:
        return getattr(self._console, name)

    def line(self, text: str, style: str = "", **options: Any) -> None:
        """Print a text as it is, without markup."""
        from rich.text import Text

        self._console.print(Text(text, style), **options)

    def headed(self, head: str, style: str, text: str, rest: str = "default") -> None:
        """Print a text behind a head in another style."""
        from rich.text import Text

        self._console.print(Text(head, style=style).append(text, style=rest))

    def verdict(self, holds: bool, text: str) -> None:
        """Print a text behind a mark that says whether something holds."""
        self.headed(*(("✓ ", "bold green") if holds else ("✗ ", "bold red")), text)


def console() -> Any:
    """Where results are drawn: on standard error when JSON or a table owns standard output."""
    from rich.console import Console

    return Drawing(Console(stderr=_json_mode or _table_mode, highlight=False, soft_wrap=False))


@contextmanager
def standard_output(output: str) -> Iterator[str]:
    """Where a table is written: the output itself, or for `-` a file that goes to standard output when all is well.

    Until then nothing of it does, so that the next step of a pipeline never sees a part of a release.
    """
    global _table_mode
    if output != STANDARD:
        yield output
        return
    if _json_mode:
        raise JobError("--json and -o - both want standard output. Leave one of them out.")
    _table_mode = True
    with _temporary.folder() as folder:
        yield f"{folder}/release.csv"
        with open(f"{folder}/release.csv", "rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def emit(result: dict[str, Any], show: Callable[[Any], None] | None = None) -> None:
    """The result of a command: JSON, or what `show(console)` draws."""
    if logs.is_on():
        logs.result(result)
    if _json_mode:
        _print_json(result)
    elif show is not None and not _log_owns_terminal():
        show(console())


def worked_out(result: dict[str, Any], show: Callable[[Any], None]) -> Callable[[], None]:
    """The result of a command, worked out to the last letter now and shown later: what fails, fails now."""
    if _json_mode:
        json.dumps(result, allow_nan=False)
    out = console()
    with out.capture() as drawn:
        if not _json_mode:
            show(out)

    def write() -> None:
        if logs.is_on():
            logs.result(result)
        if _json_mode:
            _print_json(result)
        elif not _log_owns_terminal():
            out.file.write(drawn.get())
            out.file.flush()

    return write


def _log_owns_terminal() -> bool:
    """Whether what a person would read belongs on standard error, which carries log lines instead."""
    return logs.is_on() and _table_mode


def _print_json(result: dict[str, Any]) -> None:
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(result, allow_nan=False)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular for one.

    >>> counted(1, "row"), counted(2000, "class")
    ('1 row', '2,000 classes')
    """
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {plural}"


def of_units(number: int, what: str) -> str:
    """A count of rows, people or households.

    >>> of_units(1, "people"), of_units(1200, "rows")
    ('1 person', '1,200 rows')
    """
    one = {"people": "person"}.get(what, what.removesuffix("s"))
    return f"{number:,} {one if number == 1 else what}"


_SPOKEN = re.compile(
    r"\b(quasi|text|sensitive|identifiers|missing|unknown|suppress|algorithm|embedding|encoding|population|measure)"
    r"=(?:'([^']*)'|(…))"
)


def spoken(message: str) -> str:
    """A message of the library as advice for the command line: options instead of Python.

    >>> spoken("Name the columns (quasi=…), or choose missing='suppress'.")
    'Name the columns (--quasi …), or choose --missing suppress.'
    """
    return _SPOKEN.sub(lambda match: f"--{match[1]} {match[2] or match[3]}", message)


def grid(titles: Iterable[str], rows: Iterable[Iterable[Any]], **options: Any) -> Any:
    """A table without lines; titles that begin with `>` stand over numbers. Cells are plain text unless drawn."""
    from rich.table import Table
    from rich.text import Text

    table = Table(**{"header_style": "bold", "box": None, "pad_edge": False, "title_justify": "left", **options})
    for title in titles:
        table.add_column(title.lstrip(">"), justify="right" if title.startswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def note(text: str) -> None:
    """A remark for the user, always on standard error; a log only counts it, because it may quote values."""
    if logs.is_on():
        logs.count_note()
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False).print(Text("Note: ", style="bold yellow").append(text, style="default"))


def fail(error: KanopyError) -> int:
    """Show an error in plain words; the exit status says of which kind it is."""
    from rich.console import Console
    from rich.text import Text

    message = spoken(str(error))
    if _json_mode:
        _print_json({"error": {"kind": type(error).__name__, "message": message}})
    if logs.is_on():
        logs.line("error", kind=type(error).__name__)
        return error.exit_status
    title = "No solution: " if error.exit_status == 1 else "" if error.exit_status == 130 else "Error: "
    text = Text(title, style="bold red" if error.exit_status == 2 else "bold yellow").append(message, style="default")
    Console(stderr=True, highlight=False).print(text)
    return error.exit_status


@contextmanager
def progress_bar() -> Iterator[Callback]:
    """A callback that draws a progress bar on standard error while the block runs (nothing when piped)."""
    stages: list[str] = []

    def log(step: Step) -> None:
        if step.stage not in stages[-1:]:
            stages.append(step.stage)
            logs.line("stage", stage=step.stage)

    def wait(step: Step) -> None:
        if step.stage.startswith("preparing") and not stages:
            stages.append(step.stage)
            often = "every run, because the cache folder is not writable (NUMBA_CACHE_DIR sets another)"
            often = "the first run, once" if "first" in step.note else often
            note(f"Compiled code is prepared in {often}; this takes some seconds.")

    if logs.is_on():
        yield log
        return
    from rich.console import Console

    stream = Console(stderr=True)
    if not stream.is_terminal:
        yield wait
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        console=stream,
        transient=True,
    )
    with bar:
        task = bar.add_task("starting", total=None, note="")

        def show(step: Step) -> None:
            total = None if step.fraction is None else 1.0
            bar.update(task, description=step.stage, total=total, completed=step.fraction or 0.0, note=step.note)

        yield show
