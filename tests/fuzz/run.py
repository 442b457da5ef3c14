"""`make fuzz`: random jobs, judged by the textbook, in as many processes as there are cores."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

from tests.fuzz.engines import compare
from tests.fuzz.orders import judge_order
from tests.fuzz.people import judge_one, judge_people
from tests.fuzz.watchdog import Hangs, watched

BLOCK = 50
JUDGES = {"tables": judge_one, "people": judge_people, "engines": compare, "orders": judge_order}
"""What is tried: tables in memory, tables about people in memory, all engines beside memory,
and rows in another order."""


def block(start: int, what: str) -> tuple[Counter[str], list[str]]:
    """How the jobs of some numbers ended, and what was wrong."""
    ends: Counter[str] = Counter()
    wrong = []
    for seed in range(start, start + BLOCK):
        try:
            with watched():
                ends[JUDGES[what](seed)] += 1
        except Hangs as hangs:
            ends["HANGS"] += 1
            wrong.append(f"job {seed}: {hangs}")
        except Exception as error:
            ends["WRONG"] += 1
            wrong.append(f"job {seed}: {error!r}"[:500])
    return ends, wrong


def found_by(running: Future[tuple[Counter[str], list[str]]], start: int) -> tuple[Counter[str], list[str]]:
    """What a block found; a process that died is among what is wrong."""
    try:
        return running.result()
    except BrokenProcessPool:
        return Counter({"DIED": 1}), [f"a process died, maybe in the jobs {start} to {start + BLOCK - 1}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first job")
    parser.add_argument("--what", choices=list(JUDGES), default="tables", help="what is tried")
    asked = parser.parse_args()
    ends: Counter[str] = Counter()
    began = time.perf_counter()
    starts = range(asked.first, asked.first + asked.jobs, BLOCK)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        blocks = [pool.submit(partial(block, what=asked.what), start) for start in starts]
        for done, (start, running) in enumerate(zip(starts, blocks, strict=True), 1):
            found, wrong = found_by(running, start)
            ends += found
            for line in wrong:
                sys.stdout.write(line + "\n")
            if done % 20 == 0 or done == len(starts):
                spent = time.perf_counter() - began
                sys.stdout.write(f"{sum(ends.values()):,} jobs in {spent:,.0f} s: {dict(ends)}\n")
            sys.stdout.flush()
    return 1 if ends.keys() & {"WRONG", "HANGS", "DIED"} else 0


if __name__ == "__main__":
    sys.exit(main())
