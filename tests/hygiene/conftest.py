"""A folder to run commands in, with the rights that files usually get."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    """Commands in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    yield Shell(tmp_path, monkeypatch, capsys)
    os.umask(before)
