"""The example package is built, installed beside Kanopy, found by its entry points, and keeps the contracts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "extension"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed; nothing is fetched."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    if not Path(uv).exists():
        pytest.skip("uv, which builds the package, is not installed")
    copy, folder = tmp_path_factory.mktemp("source") / "extension", tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        [uv, "pip", "install", "-q", "--offline", "--no-deps", "--python", sys.executable, "--target", folder, copy],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return folder


def run(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": path}
    )


def test_its_names_are_known_wherever_names_are_given(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "birds.pairs").write_text("heron < bird\nbird < animal\n")
    code = f"""
import json, sys, kanopy
assert "kanopy_partners" not in sys.modules
job = kanopy.Job(quasi=["age", "sex"], k=2, models=["partners:2"], algorithm="coarsest",
                 hierarchies={{"age": {{"method": "parts", "parts": 4}}}})
found = kanopy.anonymize({{"age": [21, 22, 31, 32, 41, 42, 51, 52], "sex": list("ffmmffmm")}}, job)
size = kanopy.load_ontology({str(tmp_path / "birds.pairs")!r}).size
print(json.dumps([found.smallest_class, found.solution.algorithm, kanopy.Job.from_toml(job.to_toml()) == job, size]))
"""
    done = run(installed, "-c", code)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [8, "coarsest", True, 3]
    listed = run(installed, "-m", "kanopy", "models", "--json")
    assert listed.returncode == 0 and "partners" in listed.stdout, listed.stderr


def test_it_keeps_the_contracts(installed: Path) -> None:
    code = """
import kanopy_partners as own
from kanopy.extend import check
for each in (own.Partners, own.Parts, own.Coarsest):
    assert check(each)
assert check(own.read_pairs, suffix=".pairs")
"""
    done = run(installed, "-c", code)
    assert done.returncode == 0, done.stderr


def test_it_is_short_and_imports_public_names_only() -> None:
    files = [PACKAGE / "pyproject.toml", PACKAGE / "kanopy_partners" / "__init__.py"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert sum(1 for line in text.split("\n") if line.strip()) < 120
    assert set(re.findall(r"(?:from|import) (kanopy[\w.]*)", text)) == {"kanopy.extend"}
