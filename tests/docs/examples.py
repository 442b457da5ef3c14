"""Runs the examples of a page as its reader would: top to bottom, in one folder.

What a block means is said by its language:

- `python`: a doctest, `>>>` with the output compared.
- `console`: lines after `$` are commands, what follows is their output (compared like a doctest: `...` stands for
  anything). A command must succeed, unless `$ echo $?` and its status come next.
- `sh`: commands only; each must succeed.
- a block with `title="name"` is a file that the commands after it find under that name.
- `toml`, `json`: must be readable; `text`: nothing is checked.

`<!-- not run: reason -->` above a block says why it cannot run. `<!-- run: commands -->` runs commands that the page
does not show. All files in `docs/files` lie in the folder from the start.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "docs" / "files"
LANGUAGES = {"python", "console", "sh", "toml", "json", "csv", "text"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^( *)```(\w*)(.*)$")
NOT_RUN = re.compile(r"<!--\s*not run: (.+?)\s*-->")
HIDDEN = re.compile(r"<!--\s*run:(.*?)-->", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    text: str
    line: int
    not_run: str = ""


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page in order, and its hidden commands."""
    hidden = {text.count("\n", 0, found.start()) + 1: found[1] for found in HIDDEN.finditer(text)}
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if at + 1 in hidden:
            yield Block("sh", "", textwrap.dedent(hidden[at + 1]), at + 1)
        fence = FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
        why = NOT_RUN.search(lines[at - 1]) if at else None
        title = re.search(r'title="([^"]+)"', fence[3])
        body = textwrap.dedent("\n".join(lines[at + 1 : end])) + "\n"
        yield Block(fence[2], title[1] if title else "", body, at + 1, why[1] if why else "")
        at = end + 1


class Reader:
    """Somebody who follows one page in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {}
        self.status = 0
        shutil.copytree(FILES, folder, dirs_exist_ok=True)

    def follow(self, text: str, place: str) -> list[str]:
        """Run all blocks; what did not come out as the page says, in words."""
        wrong: list[str] = []
        for block in blocks(text):
            try:
                found = self._run(block, f"{place}:{block.line}")
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
            if found:
                wrong.append(f"{place}:{block.line}\n{found}")
        return wrong

    def _run(self, block: Block, place: str) -> str:
        if block.language not in LANGUAGES:
            return f"a block of {block.language or 'no language'!r}; known are {', '.join(sorted(LANGUAGES))}"
        if block.not_run:
            return ""
        if block.title:
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "python":
            return self._doctest(block, place)
        elif block.language in ("sh", "console"):
            return self._session(block)
        return ""

    def _doctest(self, block: Block, place: str) -> str:
        if ">>>" not in block.text:
            return "a Python block without >>>: its output cannot be compared"
        said = io.StringIO()
        test = doctest.DocTestParser().get_doctest(block.text, self.names, place, place, block.line)
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        runner.run(test, out=said.write, clear_globs=False)
        self.names.update(test.globs)
        return said.getvalue()

    def _session(self, block: Block) -> str:
        shown = block.language == "console"
        self.status, command, output = 0, "", ""
        for following, expected in commands(block.text, shown):
            if following == "echo $?":
                output, self.status = f"{self.status}\n", 0
            elif self.status:
                break
            else:
                output = self.shell(following)
            command = following
            if shown and not doctest.OutputChecker().check_output(expected, output, FLAGS):
                return f"$ {command}\nshown:\n{expected}\nsaid:\n{output}"
        return f"$ {command}\nstatus {self.status}:\n{output}" if self.status else ""

    def shell(self, command: str) -> str:
        """What a command says; its status is kept."""
        words = shlex.split(command, comments=True)
        if words and words[0] == "kanopy" and not set(words) & {"|", ">", "&&"}:
            return self._kanopy(words)
        search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        ran = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env={**os.environ, "PATH": search, "COLUMNS": "90"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
        )  # fmt: skip
        self.status = ran.returncode
        return ran.stdout

    def _kanopy(self, words: list[str]) -> str:
        """The command in this process: a hundred starts would take minutes."""
        from kanopy.cli import main

        said = io.StringIO()
        with (
            mock.patch.object(sys, "argv", words),
            mock.patch.dict(os.environ, {"COLUMNS": "90"}),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                main()
                self.status = 0
            except SystemExit as stop:
                self.status = int(stop.code or 0)
        return "".join(f"{line.rstrip()}\n" for line in said.getvalue().splitlines())


def commands(text: str, shown: bool) -> Iterator[tuple[str, str]]:
    """Commands with the output that follows each of them."""
    joined = text.replace("\\\n", " ")
    if not shown:
        yield from ((line.strip(), "") for line in joined.splitlines() if line.strip() and line.strip()[0] != "#")
        return
    command, expected = "", ""
    for line in joined.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line[2:].strip(), ""
        else:
            expected += f"{line}\n"
    yield command, expected
