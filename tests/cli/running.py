"""Runs `kanopy` in this process the way a shell would."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kanopy.cli import app, main


@dataclass(frozen=True)
class Run:
    """What a command left behind."""

    status: int
    out: str
    error: str

    @property
    def words(self) -> str:
        """What was said on standard error, without the line breaks of the terminal."""
        return " ".join(self.error.split())

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        assert self.out.endswith("\n") and self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Shell:
    """A folder to work in, and a way to run commands there."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._patch = patch
        self._capture = capture

    def __call__(self, *arguments: str | Path) -> Run:
        self._patch.setattr(sys, "argv", ["kanopy", *(str(argument) for argument in arguments)])
        self._capture.readouterr()
        try:
            main()
            status: Any = 0
        except SystemExit as stop:
            status = stop.code or 0
        out, error = self._capture.readouterr()
        return Run(status, out, error)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    @property
    def files(self) -> list[str]:
        """Every file in the folder, hidden and temporary ones too."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


def run_hierarchy(*arguments: object) -> str:
    """`kanopy hierarchy …` with errors raised as they are: what it printed."""
    result = CliRunner().invoke(app, ["hierarchy", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def run_hierarchy_json(*arguments: object) -> Any:
    """The same with `--json`: the object it printed."""
    return json.loads(run_hierarchy(*arguments, "--json"))
