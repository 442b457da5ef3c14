"""`make fuzz`: random jobs, judged by the textbook, in as many processes as there are cores."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.fuzz.people import judge_one, judge_people

BLOCK = 50


def block(start: int, people: bool = False) -> tuple[Counter[str], list[str]]:
    """How the jobs of some numbers ended, and what was wrong; with `people`, all of them have a unit."""
    ends: Counter[str] = Counter()
    wrong = []
    for seed in range(start, start + BLOCK):
        try:
            ends[(judge_people if people else judge_one)(seed)] += 1
        except Exception as error:
            ends["WRONG"] += 1
            wrong.append(f"job {seed}: {error!r}"[:500])
    return ends, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first job")
    parser.add_argument("--people", action="store_true", help="only jobs that count people")
    asked = parser.parse_args()
    ends: Counter[str] = Counter()
    began = time.perf_counter()
    starts = range(asked.first, asked.first + asked.jobs, BLOCK)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done, (found, wrong) in enumerate(pool.map(partial(block, people=asked.people), starts), 1):
            ends += found
            for line in wrong:
                sys.stdout.write(line + "\n")
            if done % 20 == 0 or done == len(starts):
                spent = time.perf_counter() - began
                sys.stdout.write(f"{sum(ends.values()):,} jobs in {spent:,.0f} s: {dict(ends)}\n")
                sys.stdout.flush()
    return 1 if ends["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
