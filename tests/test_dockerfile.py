"""The image is not built here: what its file names is there, and its demo is the one that runs in other tests."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINES = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]


def test_every_line_is_an_instruction_and_the_order_is_right() -> None:
    words = [line.split()[0] for line in LINES]
    assert set(words) <= {"FROM", "WORKDIR", "COPY", "RUN", "USER", "CMD"}
    assert words[0] == "FROM" and words[-1] == "CMD" and words.index("USER") > words.index("RUN")
    version = re.fullmatch(r"FROM python:3\.(\d+)-slim", LINES[0])
    assert version is not None and int(version[1]) >= 11


def test_what_is_copied_and_installed_is_there() -> None:
    for line in LINES:
        if line.startswith("COPY "):
            assert all((ROOT / name).exists() for name in line.split()[1:-1]), line
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (asked,) = re.findall(r'"\.\[(.*)\]"', "\n".join(LINES))
    assert set(asked.split(",")) <= set(known)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    copied = {name for line in LINES if line.startswith("COPY ") for name in line.split()[1:-1]}
    assert set(needed["dev-mode-dirs"]) <= copied


def test_the_demo_of_the_image_is_the_demo() -> None:
    command = json.loads(LINES[-1].removeprefix("CMD "))
    assert command[0] == "python" and (ROOT / command[1].removeprefix("/opt/kanopy/")).is_file()
    assert " ".join(command[1:]).removeprefix("/opt/kanopy/") in (ROOT / "Makefile").read_text()
