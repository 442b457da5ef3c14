"""One contract for every algorithm: what `About` says of it is true, and what holds for all holds for each.

Whoever adds an algorithm adds its name to `ALGORITHMS`; this file then tests it without being touched (a setting in
`tests/quick.py` bounds its work).
"""

from __future__ import annotations

import contextlib
import math
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
from kanopy._errors import Cancelled, HierarchyError, JobError, KanopyError, NoSolution
from kanopy._job.job import Job
from kanopy._progress import Progress, Step
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity, parse_model
from kanopy.release.prepare import make_problem, prepare
from kanopy.search.algorithms import ALGORITHMS, algorithm_class, make_algorithm, takes_budget
from kanopy.search.problem import Problem
from kanopy.search.solution import About
from tests.quick import QUICK

ROWS = 90
QUASI = ("age", "town", "job")

TOWN = Hierarchy.from_rows(
    [[f"t{i}", f"district {i // 3}", "north" if i < 6 else "south", "*"] for i in range(12)], name="town"
)
JOB = Hierarchy.from_rows([["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "food", "*"]], name="job")
ILL = Hierarchy.from_rows([["flu", "lungs", "*"], ["asthma", "lungs", "*"], ["gout", "other", "*"]], name="ill")
AGES = {"method": "widths", "widths": [5, 20]}
MODELS = (
    "p-sensitive:ill:2", "l-distinct:ill:2", "l-entropy:ill:1.5", "l-recursive:ill:3,2", "l-plus:ill:flu=1.2",
    "t-equal:ill:0.4", "t-ordered:income:0.4", "t-hierarchical:ill:0.4", "alpha-k:ill:0.9,3", "delta-disclosure:ill:3",
    "beta-basic:ill:3", "beta-enhanced:ill:3", "epsilon-m:income:1,2", "delta-presence:0,0.9", "k-map:4",
    "risk-average:0.2", "uniqueness:0.1", "population-uniqueness:0.5,0.5", "constrained:job:care",
    "guarding:ill:guard,0.9",
)  # fmt: skip
"""One of each kind, all of which a coarse enough release of the table satisfies."""


def people(rows: int = ROWS, seed: int = 3) -> pl.DataFrame:
    """A made-up table: three quasi-identifiers, two sensitive columns, a name, and what each person wants hidden."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": draw.integers(20, 60, rows),
            "town": [f"t{i}" for i in np.minimum(draw.geometric(0.2, rows) - 1, 11)],
            "job": draw.choice(["nurse", "doctor", "cook"], rows).tolist(),
            "ill": draw.choice(["flu", "asthma", "gout"], rows).tolist(),
            "income": draw.integers(1, 9, rows) * 10,
            "guard": draw.choice(["flu", "lungs"], rows).tolist(),
        }
    )


def job(name: str, **changes: Any) -> Job:
    """The job of this suite for one algorithm."""
    settings: dict[str, Any] = {
        "quasi": QUASI,
        "k": 3,
        "identifiers": ["name"],
        "hierarchies": {"age": AGES, "town": TOWN, "job": JOB, "ill": ILL},
        "algorithm": name,
        "parameters": QUICK.get(name, {}),
    }
    return Job(**(settings | changes))


def release(name: str, table: pl.DataFrame | None = None, **changes: Any) -> Any:
    """A verified release."""
    return kanopy.anonymize(people() if table is None else table, job(name, **changes))


def published(result: Any) -> pl.DataFrame:
    """The published quasi-identifiers as text."""
    frame: pl.DataFrame = result.frame
    return frame.select(pl.col(column).cast(pl.String) for column in QUASI)


every = pytest.mark.parametrize("name", list(ALGORITHMS))


def those_with(says: Callable[[About], bool]) -> pytest.MarkDecorator:
    """For the algorithms that say so of themselves."""
    return pytest.mark.parametrize("name", [name for name in ALGORITHMS if says(algorithm_class(name).about)])


@every
def test_it_says_what_it_is(name: str) -> None:
    kind = algorithm_class(name)
    assert kind.name == name
    assert kind.recoding in ("full-domain", "subtree", "local", "cell")
    assert kind.about.does and kind.about.source
    doc = " ".join((kind.__doc__ or "").split())
    assert len(doc) > 150, "the docstring says what the paper proposes, what was decided, the guarantee and the cost"


@every
def test_output_is_safe_and_its_loss_in_range(name: str) -> None:
    result = release(name)
    groups = published(result).group_by(QUASI).len()
    assert groups["len"].min() >= 3
    assert result.solution.recoding.suppressed_rows == 0
    assert "name" not in result.frame.columns
    for measure in ("loss", "loss-geometric", "LM", "GCP"):
        assert 0.0 <= result.losses[measure] <= 1.0 + 1e-12
    # Published labels cover the values they replace.
    for column, hierarchy in zip(QUASI, result.domain.hierarchies, strict=True):
        place = {value: leaf for leaf, value in enumerate(hierarchy.values)}
        for value, label in zip(people()[column].cast(pl.String), published(result)[column], strict=True):
            labels = {hierarchy.label(int(node)) for node in hierarchy.table[:, place[value]]}
            assert label in labels or _covers(label, value)


def _covers(label: str, value: str) -> bool:
    """Whether a label that is no node of a hierarchy covers a value."""
    if label.startswith("{") and label.endswith("}"):
        items = label[1:-1].split(", ")
        runs = (item.split(" - ") for item in items if " - " in item)
        return value in items or any(float(low) <= float(value) <= float(high) for low, high in runs)
    if label.startswith("[") and label.endswith("]"):
        low, high = label[1:-1].split(", ")
        return float(low) <= float(value) <= float(high)
    return label in (value, "*")


@every
def test_recoding_is_of_the_kind_it_claims(name: str) -> None:
    result = release(name)
    recoding = algorithm_class(name).recoding
    assert (result.levels is not None) == (recoding == "full-domain")
    if recoding in ("full-domain", "subtree"):
        original, labels = people(), published(result)
        for column in QUASI:
            pairs = pl.DataFrame({"from": original[column].cast(pl.String), "to": labels[column]}).unique()
            assert pairs["from"].n_unique() == pairs.height, f"{column}: one value, one label"


@every
def test_it_repeats(name: str) -> None:
    one, two = release(name), release(name)
    assert one.frame.equals(two.frame)
    assert one.losses == two.losses


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


@every
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    """Where equal rows are published differently, which of them is which may differ, and nothing else."""
    table = people()
    order = np.random.default_rng(7).permutation(ROWS)
    straight, mixed = published(release(name)), published(release(name, table[order]))
    assert not algorithm_class(name).about.row_order
    assert straight.sort(straight.columns).equals(mixed.sort(mixed.columns))


@every
@pytest.mark.parametrize("limit", [0.058, 0.317])
def test_suppression_stays_within_its_limit(name: str, limit: float) -> None:
    """5.22 and 28.53 rows: a limit that was rounded up would let one row too many go."""
    result = release(name, suppress=limit, k=4)
    gone = result.solution.recoding.suppressed_rows
    assert gone <= math.floor(limit * ROWS) < limit * ROWS
    assert gone == published(result).filter(pl.all_horizontal(pl.all() == "*")).height
    if not algorithm_class(name).about.suppresses:
        assert gone == 0


@every
def test_level_limits_hold_or_are_refused(name: str) -> None:
    limits = {"min_levels": {"age": 1}, "max_levels": {"town": 2}}
    if not algorithm_class(name).about.level_limits:
        with pytest.raises(JobError, match="level"):
            release(name, **limits)
        return
    result = release(name, suppress=0.3, **limits)
    ages, towns = result.domain.hierarchies[0], result.domain.hierarchies[1]
    low = {ages.label(int(node)) for node in np.unique(ages.table[1:])}
    high = {towns.label(int(node)) for node in np.unique(towns.table[:3])}
    gone = pl.Series(result.solution.recoding.group_of_row < 0)
    kept = published(result).filter(~gone)
    assert set(kept["age"]) <= low
    assert set(kept["town"]) <= high


@every
def test_weights_move_the_loss_or_change_nothing(name: str) -> None:
    """A column that weighs much more than the others keeps more detail; where weights are not looked at, nothing moves.

    On some tables only one release is left to choose, so one of several must show it.
    """
    moved = []
    for seed in (3, 4, 5, 6):
        table = people(seed=seed)
        town, age = (release(name, table, weights={heavy: 1000.0}).column_losses for heavy in ("town", "age"))
        if not algorithm_class(name).about.weights:
            assert town == age
        moved.append(town["town"] < age["town"] and age["age"] < town["age"])
        if moved[-1]:
            break
    assert any(moved) == algorithm_class(name).about.weights


@every
@pytest.mark.parametrize("text", MODELS)
@pytest.mark.parametrize("limit", [0.0, 0.2])
def test_models_are_satisfied_or_refused(name: str, text: str, limit: float) -> None:
    model = parse_model(text)
    changes: dict[str, Any] = {"models": [text], "suppress": limit}
    table = people()
    everybody = pl.concat([table, people(200, seed=4)]) if model.needs_population else None
    wanted = job(name, **changes)
    if not algorithm_class(name).about.supports(model, suppressing=limit > 0):
        with pytest.raises(JobError, match=model.name):
            kanopy.anonymize(table, wanted, population=everybody)
        return
    try:
        result = kanopy.anonymize(table, wanted, population=everybody)  # verified, or it would raise
    except NoSolution as nothing:
        assert nothing.reason
        about = algorithm_class(name).about
        assert algorithm_class(name).recoding != "full-domain" or not about.proves, "a coarse release is safe"
        return
    assert result.verification.smallest_class >= 3


@every
def test_it_stops_when_told(name: str) -> None:
    """An anytime algorithm answers with its best so far, any other with `Cancelled`; neither with half a release."""
    calls = 0

    def stop_soon(step: Step) -> bool | None:
        nonlocal calls
        calls += step.stage not in ("reading", "encoding", "searching", "applying", "verifying")
        return False if calls == 2 else None

    timed = algorithm_class(name).about.anytime and takes_budget(name)
    parameters = {"budget_seconds": 20.0} if timed else QUICK.get(name, {})
    try:
        result = kanopy.anonymize(people(), job(name, parameters=parameters), progress=stop_soon)
    except Cancelled:
        return
    groups = published(result).group_by(QUASI).len()
    assert groups["len"].min() >= 3
    if calls >= 2:
        assert algorithm_class(name).about.anytime
        assert any("top" in note for note in result.notes)


@every
def test_hierarchies_that_do_not_nest_are_refused_or_not_needed(name: str) -> None:
    crossing = Hierarchy.from_rows(
        [["1", "1-2", "a", "*"], ["2", "1-2", "b", "*"], ["3", "3-4", "a", "*"], ["4", "3-4", "b", "*"]],
        name="n",
        require_nesting=False,
    )
    table = pl.DataFrame({"n": [1, 2, 3, 4] * 6})
    wanted = Job(quasi=["n"], k=3, hierarchies={"n": crossing}, algorithm=name, parameters=QUICK.get(name, {}))
    if "nest" in algorithm_class(name).about.attributes:
        with pytest.raises(HierarchyError, match="nest"):
            kanopy.anonymize(table, wanted)
    else:
        assert kanopy.anonymize(table, wanted).verification.smallest_class >= 3


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
def test_rows_suppressed_from_the_start_are_counted(name: str) -> None:
    table = people().with_columns(pl.when(pl.int_range(ROWS) < 4).then(None).otherwise(pl.col("town")).alias("town"))
    result = release(name, table, missing="suppress")
    assert result.solution.recoding.suppressed_rows == 4
    assert result.verification.smallest_class >= 3


@every
def test_a_budget_is_taken_or_refused_with_the_reason(name: str) -> None:
    if takes_budget(name):
        assert job(name).with_budget("250ms").parameters["budget_seconds"] == 0.25
        return
    with pytest.raises(JobError, match="makes one pass, and half of it would be no release"):
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
    parameters = {"budget_seconds": 0.05} if takes_budget(name) else {}
    try:
        assert make_algorithm(name, **parameters).solve(problem).recoding.classes.smallest >= 4
    except JobError as refused:
        assert "lists all choices of levels" in str(refused) and "Use algorithm 'optimal'" in str(refused)


@every
def test_unknown_parameters_and_no_budget_are_refused(name: str) -> None:
    with pytest.raises(JobError, match="no parameter 'colour'"):
        make_algorithm(name, colour="green")
    if takes_budget(name):
        for budget in (0, -1, float("nan"), float("inf")):
            with pytest.raises(JobError, match="budget"):
                make_algorithm(name, budget_seconds=budget)


@every
def test_too_few_rows_are_an_error(name: str) -> None:
    with pytest.raises(KanopyError, match="rows"):
        release(name, people(2))
