"""Commands and options that the pages mention in passing exist, too."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from kanopy.cli import app
from tests.docs.test_examples import PAGES, ROOT

ROOT_COMMAND = typer.main.get_command(app)
ELSEWHERE = {"--no-deps", "--quick"}
"""Options of other programs, or of programs that stand in `src` beside the command."""


def known(command: Any) -> set[str]:
    """Every option of a command."""
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}


def everything(command: Any) -> set[str]:
    """Every option of a command and of those below it."""
    below = getattr(command, "commands", {}).values()
    return known(command).union(*(everything(one) for one in below))


def spans(page: Path) -> list[str]:
    """What stands between backticks in the prose of a page."""
    outside = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", outside)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_prose_exist(page: Path) -> None:
    options = everything(ROOT_COMMAND) | ELSEWHERE
    for span in spans(page):
        if span.startswith("kanopy "):
            command, words = ROOT_COMMAND, shlex.split(span)[1:]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            general = command is ROOT_COMMAND and words and words[0].isupper()
            assert command is not ROOT_COMMAND or general, f"no such command: {span}"
            used = {word.partition("=")[0] for word in words if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)}
            assert not used - known(command), f"{span}: {used - known(command)}"
        elif re.match(r"--[a-z]", span):
            assert span.split()[0].partition("=")[0] in options, span
