"""A PostgreSQL server of its own for the tests that need one."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.servers import NotHereError, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a temporary server that listens on a socket only."""
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(postgres_server())
        except NotHereError as reason:
            pytest.skip(str(reason))
        yield address


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small disk needs the right to mount: run the tests as the superuser")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
