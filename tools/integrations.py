"""Install each integration in an environment of its own and run its tests: `make integrations`, the last step of CI.

Usage: python tools/integrations.py [NAME …]. A test that fails, or requirements that contradict each other, end with
status 1. What could not be installed for another reason (no network, a version that the index lacks) is not tested:
the last lines name it, the reason, and how to run it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

from try_extras import fault_of_project

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "conda": ["tests/packaging/test_packages.py", "-k", "conda"],
    "dbt": ["tests/integrations/test_dbt.py"],
    "dagster": ["tests/integrations/test_pipelines.py", "-k", "dagster"],
    "airflow": ["tests/integrations/test_pipelines.py", "-k", "airflow"],
    "r": ["tests/integrations/test_r.py"],
}


def attempt(name: str) -> tuple[str, str]:
    """Install and test one: "passed", "FAILED" or "not tested", and why."""
    installed = subprocess.run([ROOT / "tools" / "environment", name], cwd=ROOT, capture_output=True, text=True)
    said = (installed.stdout + installed.stderr).strip()
    if installed.returncode:
        return ("FAILED" if fault_of_project(said) else "not tested"), said[-2000:]
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-rs", *TESTS[name], "-m", "slow or not slow"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if tested.returncode:
        return "FAILED", (tested.stdout + tested.stderr)[-6000:]
    skipped = re.findall(r"^SKIPPED .*$", tested.stdout, re.MULTILINE)
    return ("not tested", "\n".join(skipped)) if skipped else ("passed", "")


def main() -> int:
    """Try those that were named, or all."""
    ends: dict[str, str] = {}
    for name in sys.argv[1:] or TESTS:
        begun = time.monotonic()
        ends[name], why = attempt(name)
        sys.stdout.write(f"{name}: {ends[name]} ({time.monotonic() - begun:.0f} s)\n{why and why + chr(10)}")
        sys.stdout.flush()
    for name, end in ends.items():
        if end == "not tested":
            sys.stdout.write(f"NOT TESTED: {name}. The reason is above. Run it with: make {name}-test\n")
    return int("FAILED" in ends.values())


if __name__ == "__main__":
    sys.exit(main())
