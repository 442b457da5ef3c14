"""The image is not built here: its files exist, and its command and health check run as an unprivileged user with a
read-only root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]


def only(word: str) -> list[str]:
    """What follows an instruction."""
    return [line.removeprefix(f"{word} ") for line in LINES if line.startswith(f"{word} ")]


def environment() -> dict[str, str]:
    """The variables of the image."""
    return dict(pair.split("=", 1) for pair in only("ENV")[0].split())


def test_instructions_and_their_order() -> None:
    words = [line.split()[0] for line in LINES]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "CMD", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK"}
    assert set(words) == known
    assert words[0] == "FROM" and words[-1] == "CMD" and words.index("USER") > max(
        place for place, word in enumerate(words) if word == "RUN"
    )  # fmt: skip
    for line in only("FROM"):
        version = re.match(r"python:3\.(\d+)-slim", line)
        assert version is not None and int(version[1]) >= 11
    assert only("USER") == ["kanopy"] and "useradd --uid 10001" in only("RUN")[1]
    assert only("VOLUME") == only("WORKDIR")[-1:] == ["/projects"]
    assert all(place.startswith("/tmp/") for name, place in environment().items() if place.startswith("/"))


def test_what_is_copied_and_installed_is_there() -> None:
    copied = {name for line in only("COPY") if "--from" not in line for name in line.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied), copied
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (asked,) = re.findall(r'"kanopy\[(.*)\] @', only("RUN")[1])
    assert set(asked.split(",")) <= set(project["project"]["optional-dependencies"])
    hatch = project["tool"]["hatch"]["build"]
    needed = {*hatch["dev-mode-dirs"], hatch["targets"]["wheel"]["hooks"]["custom"]["path"], "README.md", "LICENSE"}
    assert needed <= copied
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", "tests"} <= set(ignored) and not needed & set(ignored)


SANDBOX = "mount -o remount,ro,bind / && mount -t tmpfs tmpfs /tmp && exec setpriv "
"""The root as it is, but read-only, and an empty folder for what is temporary."""
NOBODY = "--reuid=10001 --regid=10001 --clear-groups "


@pytest.fixture
def inside() -> Iterator[tuple[list[str], Path]]:
    """A command that runs others as the image does: read-only root, own /tmp, no privileges; and the volume."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    os.chmod(folder, 0o777)
    # The volume stays writable because it is a mount of its own.
    words = f"mount --bind {folder} {folder} && {SANDBOX}{NOBODY}" + '"$@"'
    command = ["unshare", "--mount", "sh", "-ec", words, "sh"]
    try:
        if sys.platform != "linux" or os.geteuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
            pytest.skip("needs Linux, root, unshare and setpriv; or build the image: docker build -t kanopy .")
        if subprocess.run([*command, sys.executable, "-c", "import kanopy"], capture_output=True).returncode:
            pytest.skip("this machine lets nobody else run this Python; build the image: docker build -t kanopy .")
        yield command, folder
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_the_app_runs_and_is_healthy_without_privileges_on_a_read_only_root(inside: tuple[list[str], Path]) -> None:
    pytest.importorskip("nicegui", reason="pip install 'kanopy[app]'")
    command, volume = inside
    search = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    variables = {**environment(), "PATH": search, "HOME": str(volume), "KANOPY_APP_PASSWORD": "a long password"}
    outside = subprocess.run([*command, "touch", "/etc/kanopy"], env=variables, capture_output=True, text=True)
    assert outside.returncode and "Read-only" in outside.stderr
    (volume / "people.csv").write_text("age,sex\n" + "41,f\n" * 6 + "52,m\n" * 6)
    run = ["kanopy", "anonymize", "people.csv", "-q", "age,sex", "-k", "5", "-o", "release.csv"]
    done = subprocess.run([*command, *run], cwd=volume, env=variables, capture_output=True, text=True)
    assert done.returncode == 0 and (volume / "release.csv").stat().st_uid == 10001, done.stderr
    app = [word.replace("/projects", str(volume)).replace("8790", "18790") for word in json.loads(only("CMD")[0])]
    check = json.loads(only("HEALTHCHECK")[0].partition("CMD ")[2])
    check = [word.replace("8790", "18790") for word in check]
    with subprocess.Popen([*command, *app], cwd=volume, env=variables, stderr=subprocess.PIPE) as server:
        try:
            healthy, until = 1, time.monotonic() + 60
            while healthy and time.monotonic() < until and server.poll() is None:
                healthy = subprocess.run(check, env=variables, capture_output=True).returncode
                time.sleep(0.5)
            assert healthy == 0, server.stderr.read() if server.poll() is not None and server.stderr else "no answer"
        finally:
            server.terminate()
            server.wait(20)
    assert subprocess.run(check, env=variables, capture_output=True).returncode, "a server that is down is not healthy"
    assert (volume / "kanopy-project").stat().st_mode & 0o077 == 0
    # Without a password nobody else is let in: the container ends at once.
    del variables["KANOPY_APP_PASSWORD"]
    refused = subprocess.run([*command, *app], cwd=volume, env=variables, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "KANOPY_APP_PASSWORD" in refused.stderr
