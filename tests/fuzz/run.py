"""`make fuzz`: random jobs, judged by the textbook, in as many processes as there are cores."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any
from unittest import mock

from kanopy._job import cut_optimizer
from tests.fuzz.drawn import NOT_DRAWN, never_drawn, said_by
from tests.fuzz.engines import compare
from tests.fuzz.linked import judge_linked
from tests.fuzz.orders import judge_order
from tests.fuzz.people import any_case, judge_one, judge_other, judge_people
from tests.fuzz.servers import KEPT_BY, with_server
from tests.fuzz.watchdog import Hangs, watched

BLOCK = 50
ENOUGH = 5000
"""After so many jobs of any kind each option must have been drawn."""
JUDGES: dict[str, Callable[[int], str]] = {
    "tables": judge_one, "people": judge_people, "others": judge_other, "engines": compare, "orders": judge_order,
    "linked": judge_linked,
}  # fmt: skip
"""What is tried: tables in memory, tables about people in memory, lists and maskings in memory, all engines beside
memory, and rows in another order."""

OPTIONS_OF = JUDGES.keys() - {"linked", "orders"}
"""Kinds whose jobs are drawn from all options together."""

IN_FULL = 4
"""One job in so many searches cut points for as long as Kanopy does."""


@contextlib.contextmanager
def quicker(seed: int) -> Iterator[None]:
    """Fitted cut points from fewer grids and fewer beginnings for most jobs: their search took a third of all time.

    Which cuts are found is no promise; what is published with them is judged as before, and all engines fit alike.
    """
    few = {"FINENESS": (4,), "STARTS": (2, 4)} if seed % IN_FULL else {}
    with mock.patch.multiple(cut_optimizer, **few) if few else contextlib.nullcontext():
        yield


class Worker:
    """A process that tries jobs. Where it dies, the job that it was at is known."""

    def __init__(self, what: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.what, self.at = what, context.Value("q", -1)
        self.told, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, what, self.at), daemon=True)
        self.process.start()
        theirs.close()
        self.block = range(0)

    def give(self, block: range) -> None:
        self.block = block
        self.told.send(block)

    def answer(self) -> tuple[Counter[str], list[str], range]:
        """How its jobs ended, what was wrong, and the jobs that it did not come to."""
        try:
            ends, wrong = self.told.recv()
            return ends, wrong, range(0)
        except (EOFError, ConnectionError):
            self.process.join(5)
            at = max(self.at.value, self.block.start)
            died = f"{self.what}, job {at}: the process died (exit status {self.process.exitcode})"
            return Counter({"DIED": 1}), [died], range(at + 1, self.block.stop)

    def end(self) -> None:
        self.told.close()
        self.process.terminate()
        self.process.join(5)


def _serve(told: Connection, what: str, at: Any) -> None:
    """Try one block after the other, in a process of its own."""
    with with_server(what) as judge:
        while True:
            try:
                block = told.recv()
            except EOFError:
                return
            told.send(tried(judge or JUDGES[what], block, what, lambda seed: setattr(at, "value", seed)))


def tried(
    judge: Callable[[int], str], seeds: range, what: str = "", begins: Callable[[int], None] = lambda seed: None
) -> tuple[Counter[str], list[str]]:
    """How the jobs of some numbers ended, and what was wrong."""
    ends: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        begins(seed)
        try:
            with watched(), quicker(seed):
                ends[judge(seed)] += 1
        except Hangs as hangs:
            ends["HANGS"] += 1
            wrong.append(f"{what}, job {seed}: {hangs}")
        except Exception as error:
            ends["WRONG"] += 1
            wrong.append(f"{what}, job {seed}: {error!r}"[:600])
    return ends, wrong


def try_all(what: str, seeds: range, processes: int, until: float) -> Counter[str]:
    """Try jobs in several processes until all are done, or the time is over."""
    ends: Counter[str] = Counter()
    began, told = time.perf_counter(), 0.0
    todo = [seeds[start : start + BLOCK] for start in range(0, len(seeds), BLOCK)][::-1]
    workers = [Worker(what) for _ in range(min(processes, len(todo)))]
    busy: dict[Any, Worker] = {}
    for worker in workers:
        worker.give(todo.pop())
        busy[worker.told] = worker
    while busy:
        for ready in wait(list(busy)):
            worker = busy.pop(ready)
            found, wrong, left = worker.answer()
            ends += found
            for line in wrong:
                sys.stdout.write(line + "\n")
            if "DIED" in found:
                worker.end()
                worker = Worker(what)
                todo += [left] if left else []
            if todo and time.time() < until:
                worker.give(todo.pop())
                busy[worker.told] = worker
            else:
                worker.end()
        spent = time.perf_counter() - began
        if spent - told > 30 or not busy:
            told, done = spent, sum(ends.values())
            sys.stdout.write(f"{what}: {done:,} jobs in {spent:,.0f} s, {done / spent:.1f} a second: {dict(ends)}\n")
        sys.stdout.flush()
    return ends


def what_was_drawn(seeds: range) -> list[str]:
    """What no job of these numbers says; the jobs are made and not run."""
    said: Counter[str] = Counter()
    for seed in seeds:
        said.update(said_by(any_case(seed)))
    return never_drawn(said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first job")
    parser.add_argument("--what", nargs="+", choices=[*JUDGES, *KEPT_BY], default=list(JUDGES), help="what is tried")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="so long all together, whatever is done")
    asked, wrong, never = parser.parse_args(), False, list[str]()
    # Tables are small, and processes as many as cores: threads would only wait for each other.
    os.environ |= {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if set(asked.what) & OPTIONS_OF:
        never = what_was_drawn(range(asked.first, asked.first + ENOUGH))
        for name, reason in NOT_DRAWN.items():
            sys.stdout.write(f"not drawn: {name}, as {reason}\n")
    for name in never:
        sys.stdout.write(f"NEVER DRAWN, without a reason: {name}\n")
    began = time.time()
    for number, what in enumerate(asked.what, 1):
        until = began + asked.seconds * number / len(asked.what)
        ends = try_all(what, range(asked.first, asked.first + asked.jobs), asked.processes, until)
        wrong = wrong or bool(ends.keys() & {"WRONG", "HANGS", "DIED"})
    return 1 if wrong or never else 0


if __name__ == "__main__":
    sys.exit(main())
