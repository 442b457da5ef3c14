"""The documents stay true: paths exist, examples run, nothing speaks of other places."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    return [ROOT / name for name in listed.stdout.split("\n") if name]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"])
def test_paths_that_documents_name_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:src|tests|docs|tools|examples|benchmarks|reproductions)/[\w./-]*)`", text))
    named |= set(re.findall(r"\]\((?!http)([\w./-]+)\)", text))
    assert named
    missing = [name for name in sorted(named) if not (ROOT / name).exists() and name != "tests/test_issues.py"]
    assert not missing
    if page == "ARCHITECTURE.md":
        table = text.split("## Modules")[1].split("##")[0]
        rooms = re.findall(r"`([a-z_]+(?:/|\.py))`", " ".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE)))
        there = {f"{path.name}/" for path in (ROOT / "src" / "kanopy").iterdir() if (path / "__init__.py").exists()}
        assert {room for room in rooms if room.endswith("/")} == there, "each room in one line"
        assert [room for room in rooms if not (ROOT / "src" / "kanopy" / room).exists()] == []


def test_rooms_are_small_enough_to_see() -> None:
    for room in [ROOT / "src" / "kanopy", *(path.parent for path in (ROOT / "src").rglob("__init__.py"))]:
        files = [path.name for path in room.glob("*.py") if path.name not in ("__init__.py", "__main__.py")]
        assert len(files) <= 15, f"{room.name} has {len(files)} files: make sub-rooms"
        for name in files:
            lines = (room / name).read_text(encoding="utf-8").count("\n")
            assert lines <= 500, f"{room.name}/{name} has {lines} lines"


def test_no_machine_paths_and_no_registry_hosts() -> None:
    wrong = []
    for path in _tracked():
        if path.suffix in {".png", ".parquet", ".npz"} or path.name == "test_house.py" or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        if re.search(r"(?<![\w.])/(?:work|root|farm)/", text) or re.search(
            r"files\.pythonhosted|pypi\.org/simple", text
        ):
            wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


def test_no_lock_file_with_download_addresses() -> None:
    assert not [path for path in _tracked() if path.name in {"uv.lock", "poetry.lock", "package-lock.json"}]


LONG = ("compare_algorithms.py", "count_people.py")
"""Examples that search for seconds."""


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path.name, id=path.name, marks=[pytest.mark.slow] if path.name in LONG else [])
        for path in sorted((ROOT / "examples").glob("*.py"))
    ],
)
def test_examples_run(example: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example), str(tmp_path)],
        capture_output=True, text=True, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.strip()
    assert any(tmp_path.iterdir())
