"""The commands people run all day, as ratios of processor time to a floor measured in the same run.

Run: python benchmarks/commands.py [--repeat 3] [--only WORD]. The table is the bundled Adult data, for the last line a
million rows of which every one has a number of its own. The floor is a process that reads the table with Polars, groups
it by the quasi-identifiers, joins the counts and writes it. Every line is the median of the repeats; the clock is
printed too, and means something only where nothing else runs.
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

import numpy as np
import polars

import kanopy
from kanopy._table import datasets
from kanopy.hierarchy.files.files import write_hierarchy

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
SIX = ["age", "sex", "race", "marital-status", "education", "native-country"]
FLOOR = """
import polars
table = polars.read_csv("{folder}/{table}.csv")
columns = {quasi}
table.join(table.group_by(columns).len(), on=columns).write_csv("{folder}/floor.csv")
"""


def commands(folder: Path) -> dict[str, tuple[list[str], float]]:
    """The options of each command, and its goal as a multiple of the floor (0 where the goal is in seconds)."""
    adult, quasi, six = str(folder / "adult.csv"), ",".join(QUASI), ",".join(SIX)
    out = ["-o", str(folder / "release.csv")]
    plain = ["anonymize", adult, "-q", quasi, "-k", "5", "--suppress", "2%", "--rest", "publish", *out]
    trees = ["--hierarchies", str(folder / "hierarchies")]
    return {
        "anonymize": ([*plain, *trees], 0),
        "anonymize, automatic hierarchies": (plain, 4.5),
        "  the same with --report": ([*plain, "--report", str(folder / "report.html")], 7.5),
        "init": (["init", adult, "-o", str(folder / "job.toml"), "--force"], 7),
        "check": (["check", adult, "-q", six, "-s", "income"], 2),
        "risk": (["risk", adult, "-q", six, "-s", "income"], 2.4),
        "assess": (["assess", adult, str(folder / "local.csv"), "-q", six, *trees], 11),
        "hierarchy build by ontology": (
            ["hierarchy", "build", adult, "education", "--method", "ontology", "-o", str(folder / "tree.csv")], 0,
        ),
        "mask": (["mask", str(folder / "answers.csv"), "-t", "reason1,reason2", "-k", "5", *out], 0),
        "a million different values": (
            ["anonymize", str(folder / "million.csv"), "-q", "pay,sex", "-k", "5", *out], 0,
        ),
    }  # fmt: skip


def prepare(folder: Path) -> None:
    """The tables that the commands read."""
    from kanopy._table.survey import survey

    adult = datasets.adult(complete=True)
    adult.write_csv(folder / "adult.csv")
    (folder / "hierarchies").mkdir()
    for column, hierarchy in datasets.adult_hierarchies().items():
        write_hierarchy(hierarchy, folder / "hierarchies" / f"{column}.csv")
    chosen = {name: hierarchy for name, hierarchy in datasets.adult_hierarchies().items() if name in SIX}
    job = kanopy.Job(
        quasi=SIX, sensitive=["income"], k=5, suppress=0.02, local=True, parameters={"budget_seconds": 1.0},
        hierarchies=chosen, shuffle=False,
    )  # fmt: skip
    kanopy.anonymize(adult, job).write(folder / "local.csv")
    polars.DataFrame(survey()).write_csv(folder / "answers.csv")
    draw = np.random.default_rng(1)
    million = {"pay": draw.permutation(10**6) + 100_000, "sex": draw.choice(["f", "m"], 10**6)}
    polars.DataFrame(million).write_csv(folder / "million.csv")


def timed(command: list[str], accept: tuple[int, ...] = (0,)) -> tuple[float, float]:
    """Seconds of the processor and of the clock for one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, env={**os.environ, "COLUMNS": "100"})
    clock = time.perf_counter() - begun
    if done.returncode not in accept:
        sys.exit(f"{' '.join(command)}\n{done.stdout.decode()}{done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        print(f"{'command':<36}{'processor':>10}{'floor':>8}{'ratio':>8}{'goal':>7}{'clock':>9}")
        for label, (line, goal) in commands(folder).items():
            if options.only not in label:
                continue
            command = [sys.executable, "-m", "kanopy", *line]
            table, quasi = ("million", ["pay", "sex"]) if "million" in label else ("adult", QUASI)
            floor_command = [sys.executable, "-c", FLOOR.format(folder=folder, table=table, quasi=quasi)]
            timed(command, (0, 1))  # fills the caches of files
            pairs = [(timed(floor_command), timed(command, (0, 1))) for _ in range(options.repeat)]
            floor, spent = (median(pair[i][0] for pair in pairs) for i in (0, 1))
            clock = median(pair[1][1] for pair in pairs)
            asked = f"{goal:g}" if goal else "–"
            print(f"{label:<36}{spent:>9.2f}s{floor:>7.2f}s{spent / floor:>8.1f}{asked:>7}{clock:>8.2f}s", flush=True)


if __name__ == "__main__":
    main()
