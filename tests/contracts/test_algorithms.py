"""One contract for every algorithm: the one that `kanopy.extend.check` runs on those of other packages, and more.

Whoever adds an algorithm adds its name to `ALGORITHMS`; this file then tests it without being touched (a setting in
`tests/quick.py` bounds its work).
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._core.classes import Domain
from kanopy._errors import HierarchyError, JobError, NoSolution
from kanopy._job.job import Job
from kanopy._progress import Progress, Step
from kanopy.extend.contracts import algorithms as contract
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.release.prepare import make_problem, prepare
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm, takes_budget
from kanopy.search.problem import Problem
from kanopy.search.solution import About
from tests.quick import QUICK


def people(rows: int = contract.ROWS, seed: int = 3) -> pl.DataFrame:
    """The table of the contract."""
    return contract.people(rows, seed)


def job(name: str, **changes: Any) -> Job:
    """The job of the contract for one algorithm."""
    return contract.job(algorithm_class(name), changes.pop("parameters", QUICK.get(name, {})), **changes)


def release(name: str, table: pl.DataFrame | None = None, **changes: Any) -> Any:
    """A verified release."""
    return contract.release(algorithm_class(name), changes.pop("parameters", QUICK.get(name, {})), table, **changes)


every = pytest.mark.parametrize("name", list(ALGORITHMS))


def those_with(says: Callable[[About], bool]) -> pytest.MarkDecorator:
    """For the algorithms that say so of themselves."""
    return pytest.mark.parametrize("name", [name for name in ALGORITHMS if says(algorithm_class(name).about)])


@every
@pytest.mark.parametrize("check", contract.CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_algorithms(name: str, check: Callable[..., Any]) -> None:
    assert algorithm_class(name).name == name
    check(algorithm_class(name), QUICK.get(name, {}))


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Keep the processors busy with something else."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if takes_budget(name)])
def test_a_budget_gives_the_same_bytes_however_busy_the_machine_is(name: str) -> None:
    table = people(400)
    settings: dict[str, Any] = {"parameters": {"budget_seconds": 0.1}, "k": 5}
    if name == "optimal":
        settings["parameters"]["most_candidates"] = 1  # a search without a proof
    one = release(name, table, **settings)
    with busy():
        two = release(name, table, **settings)
    assert one.frame.write_csv() == two.frame.write_csv()
    assert one.solution.notes == two.solution.notes
    assert one.solution.judged == two.solution.judged


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if takes_budget(name)])
def test_a_millisecond_is_enough_for_a_safe_release_of_any_table(name: str) -> None:
    """One column, constant columns, hierarchies of one level, and a table on which there would be much to do."""
    trees = [Hierarchy.from_rows([[f"v{v}", f"g{v // 3}", "*"] for v in range(6)], name=f"q{j}") for j in range(3)]
    flat = [Hierarchy.from_rows([[f"v{v}"] for v in range(6)], name=f"q{j}") for j in range(3)]
    draw = np.random.default_rng(0).integers(0, 6, (600, 3)).astype(np.int32)
    same = np.zeros((40, 3), np.int32)
    for hierarchies, cells in ((trees[:1], draw[:60, :1]), (trees, same), (flat, same), (trees, draw)):
        tuples, of_row, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        domain = Domain(
            tuple(h.name for h in hierarchies), tuple(hierarchies), tuples, counts, of_row.reshape(-1).astype(np.int32)
        )
        begun = time.process_time()
        found = make_algorithm(name, budget_seconds=1e-3).solve(Problem(domain, [KAnonymity(5)]))
        assert time.process_time() - begun < 5.0
        assert found.recoding.classes.smallest >= 5
        assert cells is not same or found.score in (0.0, 40.0 * 40.0)
        assert cells is not same or (found.optimal and found.proved() == {"floor": found.score, "gap": 0.0})


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if takes_budget(name)])
@pytest.mark.parametrize("metric", ["loss", "discernibility"])
def test_who_listens_hears_what_is_lost_and_it_falls_to_what_is_published(name: str, metric: str) -> None:
    steps: list[Step] = []
    wanted = job(name, metric=metric, suppress=0.02, parameters={"budget_seconds": 0.2})
    problem = make_problem(prepare(people(400), wanted).domain, wanted)
    found = make_algorithm(name, budget_seconds=0.2).solve(problem, Progress(steps.append, interval=0.0))
    lost = [re.search(r"(\S+) ([\d,]+\.?\d*)(, at least ([\d,]+\.?\d*) \(gap ([\d.]+)%\))?$", s.note) for s in steps]
    told = [(each[1], *(float((each[i] or "0").replace(",", "")) for i in (2, 4, 5))) for each in lost if each]
    # Some lower one measure, whatever the job's is.
    own = "discernibility" if name == "bayardo-agrawal" else "loss" if recodes_locally(name) else metric
    assert told and {measure for measure, *_ in told} == {own}
    scores = [score for _, score, *_ in told]
    if name != "samarati":  # which goes down in height, whatever that loses
        assert all(b <= a for a, b in pairwise(scores)), scores
    for score, least, gap in ((score, least, gap) for _, score, least, gap in told if least):
        assert least <= score and gap == pytest.approx(100 * (1 - least / score), abs=0.06)
    if own == metric and name not in ("he-naughton", "iterative-local"):  # these end with a step that nobody hears of
        assert scores[-1] >= found.score - 1e-4


def recodes_locally(name: str) -> bool:
    """Whether classes have labels of their own."""
    return algorithm_class(name).recoding == "local"


def no_worse_with_more(name: str, table: pl.DataFrame, budgets: Sequence[float], **changes: Any) -> None:
    """A larger budget never gives a worse release than a smaller one."""
    scores = []
    for budget in budgets:
        parameters = {"budget_seconds": budget} | ({"most_candidates": 1} if name == "optimal" else {})
        scores.append(release(name, table, parameters=parameters, **changes).solution.score)
    # These lower discernibility, and the height, whatever the score is.
    lowered = name not in ("bayardo-agrawal", "samarati")
    assert not lowered or all(b <= a + 1e-12 for a, b in pairwise(scores)), scores


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if takes_budget(name)])
@pytest.mark.parametrize(("seed", "k", "suppress"), [(1, 2, 0.0), (2, 10, 0.0), (3, 5, 0.05), (4, 25, 0.0)])
def test_more_is_never_worse(name: str, seed: int, k: int, suppress: float) -> None:
    no_worse_with_more(name, people(200 * seed, seed), (0.01, 0.02, 0.05, 0.13, 0.3), k=k, suppress=suppress)


@pytest.mark.parametrize("models", ["l-distinct:ill:2", "t-equal:ill:0.4"])
def test_more_is_never_worse_where_classes_are_united_at_the_end(models: str) -> None:
    """The partition that costs less may be the release that costs more."""
    for seed in (1, 2):
        budgets = (0.01, 0.03, 0.06, 0.15, 0.35)
        no_worse_with_more("best", people(150 + 60 * seed, seed), budgets, k=3 + seed, models=[models], suppress=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_more_is_never_worse_for_longer(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table, k = people(int(draw.integers(100, 4000)), seed), int(draw.integers(2, 40))
    for name in ("best", "optimal"):
        no_worse_with_more(name, table, (0.5, 1, 2, 4, 8), k=k, suppress=float(draw.choice([0.0, 0.05])))


@those_with(lambda about: "hierarch" in about.attributes)
def test_no_release_is_an_error_that_says_what_to_do(name: str) -> None:
    """Where labels are nodes of hierarchies; who makes sets of values always has a coarser one."""
    flat = Hierarchy.from_rows([["a"], ["b"], ["c"]], name="x")
    table = pl.DataFrame({"x": ["a"] * 5 + ["b"] * 5 + ["c"]})
    wanted = Job(quasi=["x"], k=3, hierarchies={"x": flat}, algorithm=name, parameters=QUICK.get(name, {}))
    # A clustering needs one top for all values, and says so.
    with pytest.raises((NoSolution, HierarchyError)) as caught:
        kanopy.anonymize(table, wanted)
    assert isinstance(caught.value, NoSolution) or "several tops" in str(caught.value)


@every
def test_a_budget_is_taken_or_refused_with_the_reason(name: str) -> None:
    if takes_budget(name):
        assert job(name).with_budget("250ms").parameters["budget_seconds"] == 0.25
        return
    with pytest.raises(JobError, match="makes one pass, and half a pass gives no release"):
        job(name).with_budget("250ms")
    assert not algorithm_class(name).about.anytime and not algorithm_class(name).about.proves


@every
def test_more_candidates_than_can_be_counted_are_no_trouble_or_an_error_that_says_what_to_do(name: str) -> None:
    tree = [[f"v{v}", f"g{v // 2}", "*"] for v in range(4)]
    trees = tuple(Hierarchy.from_rows(tree, name=f"q{j}") for j in range(45))
    tuples = np.random.default_rng(0).integers(0, 4, (40, 45)).astype(np.int32)
    domain = Domain(tuple(h.name for h in trees), trees, tuples, np.ones(40, np.int64), np.arange(40, dtype=np.int32))
    problem = Problem(domain, [KAnonymity(4)])
    assert problem.lattice.size > 2**63
    parameters = {"budget_seconds": 0.05} if takes_budget(name) else QUICK.get(name, {})
    try:
        assert make_algorithm(name, **parameters).solve(problem).recoding.classes.smallest >= 4
    except JobError as refused:
        assert "lists all choices of levels" in str(refused) and "Use algorithm 'optimal'" in str(refused)
