"""Examples for schedulers, the pre-commit hook and the action run here as their servers would run them."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "pipelines"
KANOPY = Path(sys.executable).parent / "kanopy"
JOB = """
k = 5
suppress = "10%"
[columns.patient]
role = "unit"
[columns.age]
role = "quasi-identifier"
hierarchy = { method = "widths", widths = [10, 20] }
[columns.sex]
role = "quasi-identifier"
"""


def months(folder: Path) -> Path:
    """Two months of one hospital, most people in both."""
    rng = random.Random(1)
    people = pl.DataFrame({
        "patient": [f"p{i}" for i in range(300)], "age": [rng.randrange(20, 80) for _ in range(300)],
        "sex": [rng.choice("fm") for _ in range(300)],
    })  # fmt: skip
    (folder / "raw").mkdir(parents=True)
    people.head(270).write_csv(folder / "raw" / "2026-05.csv")
    people.tail(270).write_csv(folder / "raw" / "2026-06.csv")
    (folder / "job.toml").write_text(JOB)
    (folder / "key.txt").write_bytes(base64.b64encode(bytes(range(32))))
    (folder / "key.txt").chmod(0o600)
    return folder


def run(folder: Path, *words: str, python: str = sys.executable, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KANOPY": str(KANOPY), "KANOPY_FOLDER": str(folder), **more}
    environment["PATH"] = f"{KANOPY.parent}:{os.environ['PATH']}"
    return subprocess.run([python, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_two_months_with_a_ledger(tmp_path: Path) -> None:
    folder, script = months(tmp_path / "months"), str(EXAMPLES / "monthly.py")
    for month in ("2026-05", "2026-06"):
        done = run(folder, script, str(folder), month)
        assert done.returncode == 0 and f"{month}: " in done.stdout, done.stderr
        assert pl.read_csv(folder / "releases" / f"{month}.csv").height > 200
    again = run(folder, script, str(folder), "2026-06")
    assert again.returncode == 1 and "never overwritten" in again.stderr
    (folder / "raw" / "2026-07.csv").write_text("patient,age,sex\nMaria Quintanilla,41,x\n")
    bad = run(folder, script, str(folder), "2026-07")
    assert bad.returncode == 1 and "status" in bad.stderr and "Quintanilla" not in bad.stderr + bad.stdout
    assert not (folder / "releases" / "2026-07.csv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["airflow", "dagster"])
def test_the_schedulers_release_a_month(scheduler: str, tmp_path: Path) -> None:
    """In the scheduler's own process, without its server."""
    python = ROOT / f".venv-{scheduler}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"`make {scheduler}-test` installs {scheduler} in .venv-{scheduler} and runs this")
    folder, home = months(tmp_path / "months"), tmp_path / "home"
    home.mkdir()
    more = {"AIRFLOW_HOME": str(home), "DAGSTER_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "false"}
    more |= {"AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES), "DAGSTER_DISABLE_TELEMETRY": "1"}
    if scheduler == "airflow":
        ready = run(folder, "-m", "airflow", "db", "migrate", python=str(python), **more)
        assert ready.returncode == 0, ready.stderr[-2000:]
    done = run(folder, str(EXAMPLES / f"{scheduler}_release.py"), "2026-05", python=str(python), **more)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert pl.read_csv(folder / "releases" / "2026-05.csv").height > 200
    failed = run(folder, str(EXAMPLES / f"{scheduler}_release.py"), "2026-04", python=str(python), **more)
    assert failed.returncode != 0, "a month without a table"


@pytest.mark.slow
def test_the_hook_and_the_action_fail_for_a_table_that_is_not_anonymous(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hook["entry"] == "kanopy check" and hook["pass_filenames"] is False
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    assert set(steps["Check"]["env"].values()) == {
        f"${{{{ inputs.{name} }}}}" for name in ("table", "quasi", "k", "sensitive", "models")
    }
    assert "${{" not in steps["Check"]["run"], "inputs come as variables, so that none is run as code"
    for rows, status, smallest in ((5, 0, 5), (4, 1, 4)):
        (tmp_path / "release.csv").write_text("age,ill\n" + "40,a\n40,b\n40,c\n" + "40,a\n" * (rows - 3))
        inputs = {"TABLE": "release.csv", "QUASI": "age", "K": "5", "SENSITIVE": "ill", "MODELS": "l-distinct:ill:3\n"}
        place = {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / f"out{rows}")}
        environment = {**os.environ, **inputs, **place, "PATH": f"{KANOPY.parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", steps["Check"]["run"]],
            cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert (tmp_path / f"out{rows}").read_text() == f"smallest-class={smallest}\n"
        events: list[dict[str, Any]] = [json.loads(line) for line in done.stderr.splitlines()]
        assert events[-1]["status"] == status
