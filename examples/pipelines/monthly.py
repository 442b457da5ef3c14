"""A monthly release with a ledger, as a scheduler runs it: one command, its exit status, its figures.

The table of a month is FOLDER/raw/MONTH.csv, the job FOLDER/job.toml, the secret FOLDER/key.txt. The release goes to
FOLDER/releases/MONTH.csv, which is never overwritten. `KANOPY` names the command where it is in another environment.

Run: python examples/pipelines/monthly.py FOLDER 2026-05
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MEANINGS = {
    1: "no release satisfies the job: tell the steward, and do not try again with the same table",
    2: "table, job or options are invalid: somebody must repair them",
    3: "the verification failed: stop the series and report it",
}
"""Statuses after which a second try is of no use."""


class Stopped(Exception):
    """A month without a release, and why, in words that quote no value."""


def kanopy(*words: str) -> dict[str, Any]:
    """Run a command; its figures. Its log goes where the log of the task goes, and has no values."""
    done = subprocess.run(
        [os.environ.get("KANOPY", "kanopy"), "--log", "json", *words, "--json"], stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        # Standard output has the message, which may quote values: it is not passed on.
        why = MEANINGS.get(done.returncode, "interrupted or failed")
        raise Stopped(f"kanopy {words[0]} ended with status {done.returncode}: {why}.")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def release_month(folder: Path, month: str) -> dict[str, Any]:
    """Make and check the release of a month; its figures."""
    output = folder / "releases" / f"{month}.csv"
    if output.exists():
        raise Stopped(f"The release of {month} is there. A release is never overwritten.")
    output.parent.mkdir(exist_ok=True)
    made = kanopy(
        "anonymize", str(folder / "raw" / f"{month}.csv"), "--job", str(folder / "job.toml"), "-o", str(output),
        "--ledger", str(folder / "ledger"), "--key-file", str(folder / "key.txt"),
    )  # fmt: skip
    checked = kanopy("ledger", "check", str(folder / "ledger"), "--key-file", str(folder / "key.txt"))
    return {"month": month, "file": str(output), "made": made, "ledger": checked}


def main() -> None:
    """Release one month."""
    folder, month = Path(sys.argv[1]), sys.argv[2]
    try:
        figures = release_month(folder, month)["made"]
    except Stopped as stop:
        sys.exit(str(stop))
    print(f"{month}: {figures['rows']:,} rows, smallest class {figures['smallest_class']}")


if __name__ == "__main__":
    main()
