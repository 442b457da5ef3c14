"""A PostgreSQL server of its own for the tests that need one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HOW = "no PostgreSQL server binaries (Debian: apt install postgresql)"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a temporary server that listens on a socket only."""
    pytest.importorskip("adbc_driver_postgresql", reason="pip install 'kanopy[postgres]'")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip(HOW)
    tools = Path(initdb).resolve().parent
    user: dict[str, object] = {}
    if os.geteuid() == 0:
        try:
            import pwd

            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as the superuser, and there is no account 'postgres'")
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="kanopy-pg-", dir="/tmp"))
    folder.chmod(0o777)

    def run(*command: str) -> None:
        environment = {**os.environ, "LC_ALL": "C", "HOME": str(folder)}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False, **user
        )  # type: ignore[call-overload]
        if done.returncode != 0:
            pytest.skip(f"PostgreSQL did not start: {done.stderr.strip()[-200:]}")

    data = str(folder / "data")
    try:
        run(str(tools / "initdb"), "-D", data, "-U", "kanopy", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        run(str(tools / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://kanopy@/postgres?host={folder}"
        finally:
            run(str(tools / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
