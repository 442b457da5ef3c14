"""A shell in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")  # no message is folded, however long the path of the folder
    return Shell(tmp_path, monkeypatch, capsys)
