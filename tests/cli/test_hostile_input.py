"""Hundreds of bad inputs, made from lists: each is answered in plain words with a status, and nothing is written.

A case is a name, the files it needs, and a command line. Status 2 says that what was given is wrong, 1 that no release
exists. An exception that leaves `main` is a traceback for the user and fails the case.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tests.cli import hostile_files, hostile_settings
from tests.cli.hostile_files import GOOD, Case
from tests.cli.running import Shell

CASES = [*hostile_files.CASES, *hostile_settings.CASES]


def state_of(folder: Path) -> dict[str, object]:
    """Everything in a folder: what links point to, and what files hold."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.encode("ascii", "backslashreplace").decode()[:90])
def test_bad_input_is_refused_in_words(shell: Shell, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"age,sex\n")))
    monkeypatch.delenv("KANOPY_KEY", raising=False)
    shell.write("good.csv", GOOD)
    for name, content in case.files.items():
        if name != "tree.":
            shell.write(name, content)
    if case.prepare is not None:
        case.prepare(shell.folder)
    before = state_of(shell.folder)
    run = shell(*case.arguments)
    assert (run.status, state_of(shell.folder) == before) == (case.status, True), (run.words[:300], run.out[:300])
    assert run.words, "no message"
    assert "Traceback" not in run.error and len(run.words) < 20_000, run.words[:500]


def test_there_are_hundreds_of_bad_inputs() -> None:
    assert len(CASES) > 400 and len({case.name for case in CASES}) > 0.95 * len(CASES)
