"""The wait at the door: the first command on an empty cache against the same command again.

Run: python benchmarks/first_run.py [--repeat 3]. Seconds of the clock and of the processor (of all processes), and the
ratio of the first command to the next ones. The table is the bundled Adult data with its hierarchies.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from kanopy._table import datasets
from kanopy.hierarchy.files.files import write_hierarchy

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
COMMANDS = {
    "optimal": ["--suppress", "2%"],
    "local, 5 s": ["--local", "--budget", "5s"],
    "local, k = 20": ["--local", "--budget", "5s", "-k", "20"],
}


def timed(folder: Path, cache: Path, options: list[str]) -> tuple[float, float]:
    """Seconds of the clock and of the processor for one command."""
    command = [
        sys.executable, "-m", "kanopy", "anonymize", str(folder / "adult.csv"), "-q", ",".join(QUASI), "-k", "5",
        "--rest", "publish", "--hierarchies", str(folder), "-o", str(folder / "release.csv"), *options,
    ]  # fmt: skip
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)})
    clock = time.perf_counter() - begun
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, now.ru_utime + now.ru_stime - spent.ru_utime - spent.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        datasets.adult(complete=True).select(QUASI).write_csv(folder / "adult.csv")
        hierarchies = datasets.adult_hierarchies()
        for column in QUASI:
            write_hierarchy(hierarchies[column], folder / f"{column}.csv")
        print(f"{'command':<16}{'first':>9}{'again':>9}{'ratio':>8}   processor: {'first':>7}{'again':>9}{'ratio':>8}")
        for label, options in COMMANDS.items():
            cache = folder / label.replace(" ", "")
            first = timed(folder, cache, options)
            again = [timed(folder, cache, options) for _ in range(repeat)]
            clock, spent = (median(run[i] for run in again) for i in (0, 1))
            print(
                f"{label:<16}{first[0]:>8.2f}s{clock:>8.2f}s{first[0] / clock:>8.1f}              "
                f"{first[1]:>6.2f}s{spent:>8.2f}s{first[1] / spent:>8.1f}"
            )


if __name__ == "__main__":
    main()
