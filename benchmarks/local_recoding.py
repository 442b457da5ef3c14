"""Local recoding: `best` beside the other algorithms and a textbook Mondrian, its growth with the table, its bound.

Run `python benchmarks/local_recoding.py WHAT`: adult, growth, million, arx FOLDER, rounds FOLDER, bound [FOLDER] or
million-bound. Budgets are measured in processor time here, so that a busy machine does not change the result; wall time
is printed beside it.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

from kanopy._core.classes import Domain
from kanopy._core.local_recoding import with_extents
from kanopy._progress import SILENT
from kanopy._table import datasets
from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
from kanopy.metrics.certainty import global_certainty_penalty
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm
from kanopy.search.bound.bound import lower_bound
from kanopy.search.local.best.best import Best
from kanopy.search.problem import Problem

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")


def adult_domain() -> Domain:
    """Adult's 45,222 complete records, eight quasi-identifiers, bundled hierarchies."""
    hierarchies = datasets.adult_hierarchies()
    return LocalEngine().count(datasets.adult(complete=True), {name: hierarchies[name] for name in QUASI}).domain


def arx_domain(folder: Path) -> Domain:
    """The Adult example of ARX, where its files are at hand."""
    frame = read_table(folder / "adult.csv")
    files = find_hierarchies(folder, frame.columns)
    return LocalEngine().count(frame, {name: read_hierarchy(files[name], column=name) for name in frame.columns}).domain


def resampled(domain: Domain, rows: int, seed: int = 0) -> Domain:
    """A larger table: values drawn attribute by attribute from two random rows of the original each."""
    generator = np.random.default_rng(seed)
    cells = domain.tuples[domain.tuple_of_row[domain.tuple_of_row >= 0]]
    one, two = (cells[generator.integers(0, len(cells), rows)] for _ in range(2))
    mixed = np.where(generator.random(one.shape) < 0.85, one, two)
    tuples, inverse, counts = np.unique(mixed, axis=0, return_inverse=True, return_counts=True)
    of_row = inverse.reshape(-1).astype(np.int32)
    return Domain(domain.names, domain.hierarchies, tuples.astype(np.int32), counts.astype(np.int64), of_row)


def textbook_mondrian(domain: Domain, k: int) -> np.ndarray:
    """The yardstick: cut the attribute with the widest node, at the children of that node, while each keeps k rows.

    Strict, hierarchy-guided, as in the textbooks; a plain recursion. Returns the group of every row.
    """
    cells = domain.tuples[domain.tuple_of_row]
    group = np.zeros(domain.rows, np.int32)
    count = 0
    stack = [np.arange(domain.rows)]
    while stack:
        rows = stack.pop()
        options = []
        for j, h in enumerate(domain.hierarchies):
            level = next(i for i in range(h.height + 1) if len(np.unique(h.table[i, cells[rows, j]])) == 1)
            if level:
                share = h.leaf_counts[h.table[level, cells[rows[0], j]]] / h.size
                options.append((-share, j, level))
        for _, j, level in sorted(options):
            child = domain.hierarchies[j].table[level - 1, cells[rows, j]]
            parts = [rows[child == node] for node in np.unique(child)]
            if min(len(part) for part in parts) >= k:
                stack.extend(parts)
                break
        else:
            group[rows] = count
            count += 1
    return group


def nodes_of_groups(domain: Domain, group: np.ndarray) -> np.ndarray:
    """The lowest common node per group and attribute."""
    cells = domain.tuples[domain.tuple_of_row]
    nodes = np.zeros((group.max() + 1, domain.width), np.int32)
    for g, rows in enumerate(np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])):
        for j, h in enumerate(domain.hierarchies):
            level = next(i for i in range(h.height + 1) if len(np.unique(h.table[i, cells[rows, j]])) == 1)
            nodes[g, j] = h.table[level, cells[rows[0], j]]
    return nodes


def _line(*cells: object) -> None:
    print("".join(f"{cell!s:>16}" for cell in cells), flush=True)


def adult(k: int = 5) -> None:
    """NCP and time of every local algorithm beside the yardstick, each after a first run that compiles its kernels."""
    from kanopy._core.classes import recoding_from_nodes

    domain = adult_domain()
    problem = Problem(domain, [KAnonymity(k)])
    Best(steps=1).solve(problem)
    group = textbook_mondrian(domain, k)
    textbook = recoding_from_nodes(domain, group, nodes_of_groups(domain, group))
    ncp = global_certainty_penalty(domain, with_extents(domain, textbook))
    _line("algorithm", "NCP", "of textbook", "loss", "cpu s", "wall s")
    loss = release_losses(domain, textbook, problem.weights)["loss"]
    _line("textbook", f"{ncp:.4f}", "1.00", f"{loss:.4f}", "-", "-")
    runs = [("best 1 s", Best(budget_seconds=1)), ("best 5 s", Best(budget_seconds=5))]
    others = [name for name in ALGORITHMS if algorithm_class(name).recoding == "local" and name != "best"]
    runs += [(name, make_algorithm(name)) for name in others]
    runs.append(("xu top-down", make_algorithm("xu", direction="top-down")))
    small = Problem(domain.part(np.arange(3000)), [KAnonymity(k)])
    for name, algorithm in runs:
        algorithm.solve(small, SILENT)
        begun, wall = time.thread_time(), time.perf_counter()
        found = algorithm.solve(problem, SILENT)
        spent, wall = time.thread_time() - begun, time.perf_counter() - wall
        own = global_certainty_penalty(domain, with_extents(domain, found.recoding))
        loss = release_losses(domain, found.recoding, problem.weights)["loss"]
        _line(name, f"{own:.4f}", f"{own / ncp:.2f}", f"{loss:.4f}", f"{spent:.2f}", f"{wall:.2f}")


def growth(k: int = 5, sizes: tuple[int, ...] = (10_000, 40_000, 160_000, 640_000), steps: int = 2) -> None:
    """Time of a fixed amount of work per row at four sizes."""
    domain = adult_domain()
    Best(steps=1).solve(Problem(resampled(domain, 1000), [KAnonymity(k)]))
    _line("rows", "distinct", "loss", "cpu s", "us per row", "peak MB")
    for rows in sizes:
        table = resampled(domain, rows)
        begun = time.thread_time()
        found = Best(steps=steps).solve(Problem(table, [KAnonymity(k)]))
        spent = time.thread_time() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        _line(
            f"{rows:,}",
            f"{len(table.counts):,}",
            f"{found.score:.4f}",
            f"{spent:.1f}",
            f"{1e6 * spent / rows:.0f}",
            peak,
        )


def million(k: int = 5) -> None:
    """One million rows within a budget of 45 seconds."""
    table = resampled(adult_domain(), 1_000_000)
    begun, wall = time.thread_time(), time.perf_counter()
    found = Best(budget_seconds=45).solve(Problem(table, [KAnonymity(k)]))
    spent, wall = time.thread_time() - begun, time.perf_counter() - wall
    _line("distinct", "loss", "cpu s", "wall s", "peak MB")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    _line(f"{len(table.counts):,}", f"{found.score:.4f}", f"{spent:.1f}", f"{wall:.1f}", peak)


def rounds(folder: Path, shares: tuple[float, ...] = (0.9, 0.95, 0.98, 0.99)) -> None:
    """Full-domain search repeated on what it left out, on the ARX example, beside the losses and times of ARX itself.

    Those are of another machine: .0306 / .0589 / .0820 / .1972 at k = 2 / 5 / 10 / 100; its finest setting reaches
    .0523 at k = 5 in 30 s.
    """
    domain = arx_domain(folder)
    peers = {2: (0.0306, 1.0), 5: (0.0589, 5.1), 10: (0.0820, 4.5), 100: (0.1972, 14.5)}
    make_algorithm("iterative-local").solve(Problem(domain, [KAnonymity(5)]), SILENT)
    _line("k", "share", "loss", "of ARX's", "cpu s", "wall s", "ARX s")
    for k, (loss, seconds) in peers.items():
        for share in shares:
            begun, wall = time.thread_time(), time.perf_counter()
            found = make_algorithm("iterative-local", share=share).solve(Problem(domain, [KAnonymity(k)]), SILENT)
            spent, wall = time.thread_time() - begun, time.perf_counter() - wall
            _line(k, share, f"{found.score:.4f}", f"{found.score / loss:.2f}", f"{spent:.2f}", f"{wall:.2f}", seconds)


def arx(folder: Path, budgets: tuple[float, ...] = (1, 5, 30)) -> None:
    """The losses at k = 2, 5, 10, 100 for each budget."""
    domain = arx_domain(folder)
    Best(steps=1).solve(Problem(domain, [KAnonymity(5)]))
    _line("k", "budget s", "loss", "cpu s", "wall s")
    for k in (2, 5, 10, 100):
        for budget in budgets:
            begun, wall = time.thread_time(), time.perf_counter()
            found = Best(budget_seconds=budget).solve(Problem(domain, [KAnonymity(k)]))
            spent, wall = time.thread_time() - begun, time.perf_counter() - wall
            _line(k, budget, f"{found.score:.4f}", f"{spent:.2f}", f"{wall:.2f}")


def bound(domain: Domain, passes: int | None = None, ks: tuple[int, ...] = (2, 5, 10, 100)) -> None:
    """Per k: the proved bound, what it took, and the gap to `best` at 5 seconds."""
    warm = Problem(resampled(domain, 500), [KAnonymity(3)])
    Best(steps=1).solve(warm)
    lower_bound(warm, passes=2)
    _line("k", "bound", "passes", "s per pass", "cpu s", "best 5 s", "gap", "after each pass")
    for k in ks:
        problem = Problem(domain, [KAnonymity(k)])
        loss = Best(budget_seconds=5).solve(problem).score
        begun = time.thread_time()
        found = lower_bound(problem, passes=passes)
        spent = time.thread_time() - begun
        steps = " ".join(f"{value:.4f}" for value in found.history)
        each, gap = f"{found.pass_seconds:.1f}", f"{found.gap(loss):.1%}"
        _line(k, f"{found.value:.5f}", found.passes, each, f"{spent:.1f}", f"{loss:.4f}", gap, f"  {steps}")


def million_bound(k: int = 5, budget: float = 60.0) -> None:
    """One million rows: what a budget proves, and how well it is kept."""
    table = resampled(adult_domain(), 1_000_000)
    begun, wall = time.thread_time(), time.perf_counter()
    found = lower_bound(Problem(table, [KAnonymity(k)]), passes=100, budget_seconds=budget)
    spent, wall = time.thread_time() - begun, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    _line("distinct", "bound", "passes", "combinations", "cpu s", "wall s", "peak MB", "levels joined in")
    joined = ", ".join(found.left_out) or "none"
    distinct, value = f"{len(table.counts):,}", f"{found.value:.5f}"
    _line(distinct, value, found.passes, found.checked, f"{spent:.1f}", f"{wall:.1f}", peak, f"  {joined}")


def main() -> None:
    """Run one part, or those that need no outside data."""
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    if what in ("adult", "all"):
        adult()
    if what in ("growth", "all"):
        growth()
    if what == "million":
        million()
    if what == "bound":
        bound(arx_domain(Path(sys.argv[2])) if len(sys.argv) > 2 else adult_domain())
    if what == "million-bound":
        million_bound()
    if what == "arx":
        arx(Path(sys.argv[2]))
    if what == "rounds":
        rounds(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
