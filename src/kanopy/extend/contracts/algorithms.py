"""What holds for every algorithm: what `about` says of it is true, and what holds for all holds for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._errors import Cancelled, HierarchyError, JobError, KanopyError, NoSolution
from kanopy._job.job import Job
from kanopy._parameters import make, parameters_of
from kanopy._progress import Step
from kanopy.extend.contracts.refusing import refused
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import parse_model
from kanopy.search.solution import Algorithm

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


def job(kind: type[Algorithm], parameters: Mapping[str, Any], **changes: Any) -> Job:
    """The job of this suite for one algorithm."""
    settings: dict[str, Any] = {
        "quasi": QUASI,
        "k": 3,
        "identifiers": ["name"],
        "hierarchies": {"age": AGES, "town": TOWN, "job": JOB, "ill": ILL},
        "algorithm": kind.name,
        "parameters": parameters,
    }
    if kind.averages:  # numbers have no hierarchy then
        settings["hierarchies"] = {name: tree for name, tree in settings["hierarchies"].items() if name != "age"}
    return Job(**(settings | changes))


def release(
    kind: type[Algorithm], parameters: Mapping[str, Any], table: pl.DataFrame | None = None, **changes: Any
) -> Any:
    """A verified release."""
    return kanopy.anonymize(people() if table is None else table, job(kind, parameters, **changes))


def published(result: Any) -> pl.DataFrame:
    """The published quasi-identifiers as text."""
    frame: pl.DataFrame = result.frame
    return frame.select(pl.col(column).cast(pl.String) for column in QUASI)


def takes(kind: type[Algorithm], parameter: str) -> bool:
    """Whether an algorithm has a parameter of that name."""
    return parameter in parameters_of(kind)


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


def says_what_it_is(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """It has a name, a kind of recoding, a sentence and a source for lists, and a documentation."""
    assert kind.recoding in ("full-domain", "subtree", "local", "cell")
    assert kind.about.does and kind.about.source
    doc = " ".join((kind.__doc__ or "").split())
    assert len(doc) > 150, "the docstring says what the paper proposes, what was decided, the guarantee and the cost"


def gives_safe_releases(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Every class has k rows, losses are shares, no identifier leaves, and labels cover the values they replace."""
    result = release(kind, parameters)
    groups = published(result).group_by(QUASI).len()
    assert min(groups["len"].to_list()) >= 3
    assert result.solution.recoding.suppressed_rows == 0
    assert "name" not in result.frame.columns
    for measure in ("loss", "loss-geometric", "LM", "GCP"):
        assert 0.0 <= result.losses[measure] <= 1.0 + 1e-12
    # Published labels cover the values they replace; means lie among them.
    for column, hierarchy in zip(QUASI, result.domain.hierarchies, strict=True):
        if kind.averages and column == "age":
            classes = published(result).rename({"age": "mean"}).with_columns(people()["age"])
            ends = classes.group_by("mean", "town", "job").agg(low=pl.col("age").min(), high=pl.col("age").max())
            assert ends["mean"].cast(pl.Float64).is_between(ends["low"], ends["high"]).all()
            continue
        leaf_of_value = {value: leaf for leaf, value in enumerate(hierarchy.values)}
        for value, label in zip(people()[column].cast(pl.String), published(result)[column], strict=True):
            labels = {hierarchy.label(int(node)) for node in hierarchy.table[:, leaf_of_value[value]]}
            assert label in labels or _covers(label, value)


def recodes_as_it_claims(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Full-domain releases have a level per column; there and in subtrees one value has one label."""
    result = release(kind, parameters)
    recoding = kind.recoding
    assert (result.levels is not None) == (recoding == "full-domain")
    if recoding in ("full-domain", "subtree"):
        original, labels = people(), published(result)
        for column in QUASI:
            pairs = pl.DataFrame({"from": original[column].cast(pl.String), "to": labels[column]}).unique()
            assert pairs["from"].n_unique() == pairs.height, f"{column}: one value, one label"


def repeats(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """The same table and parameters give the same release."""
    one, two = release(kind, parameters), release(kind, parameters)
    assert one.frame.equals(two.frame)
    assert one.losses == two.losses


def ignores_the_order_of_rows(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Another order of the rows gives the same rows: only which of equal ones is which may differ."""
    table = people()
    order = np.random.default_rng(7).permutation(ROWS)
    straight, mixed = published(release(kind, parameters)), published(release(kind, parameters, table[order]))
    assert not kind.about.row_order
    assert straight.sort(straight.columns).equals(mixed.sort(mixed.columns))


def suppresses_within_the_limit(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """No more rows are suppressed than the limit allows: 5.22 are 5, and 28.53 are 28."""
    for limit in (0.058, 0.317):
        result = release(kind, parameters, suppress=limit, k=4)
        suppressed_rows = result.solution.recoding.suppressed_rows
        assert suppressed_rows <= math.floor(limit * ROWS) < limit * ROWS
        assert suppressed_rows == published(result).filter(pl.all_horizontal(pl.all() == "*")).height
        if not kind.about.suppresses:
            assert suppressed_rows == 0


def keeps_level_limits_or_refuses_them(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Labels stay within the lowest and highest levels of the job, or the job is refused."""
    limits: dict[str, Any] = {"min_levels": {"age": 1}, "max_levels": {"town": 2}}
    if not kind.about.level_limits:
        with refused(JobError, "level"):
            release(kind, parameters, **limits)
        return
    result = release(kind, parameters, suppress=0.3, **limits)
    ages, towns = result.domain.hierarchies[0], result.domain.hierarchies[1]
    low = {ages.label(int(node)) for node in np.unique(ages.table[1:])}
    high = {towns.label(int(node)) for node in np.unique(towns.table[:3])}
    suppressed = pl.Series(result.solution.recoding.group_of_row < 0)
    published_rows = published(result).filter(~suppressed)
    assert set(published_rows["age"]) <= low
    assert set(published_rows["town"]) <= high


def weighs_columns_if_it_says_so(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """A column that weighs much more than the others keeps more detail; where weights are not looked at, nothing moves.

    On some tables only one release is left to choose, so one of several must show it.
    """
    moved = []
    for seed in (3, 4, 5, 6):
        table = people(seed=seed)
        heavy = ({"weights": {name: 1000.0}} for name in ("town", "age"))
        town, age = (release(kind, parameters, table, **changes).column_losses for changes in heavy)
        if not kind.about.weights:
            assert town == age
        moved.append(town["town"] < age["town"] and age["age"] < town["age"])
        if moved[-1]:
            break
    assert any(moved) == kind.about.weights


def satisfies_models_or_refuses_them(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Every model is satisfied, or refused as `about` says."""
    for text in MODELS:
        for limit in (0.0, 0.2):
            model = parse_model(text)
            changes: dict[str, Any] = {"models": [text], "suppress": limit}
            table = people()
            everybody = pl.concat([table, people(200, seed=4)]) if model.needs_population else None
            wanted = job(kind, parameters, **changes)
            if not kind.about.supports(model, suppressing=limit > 0):
                with refused(JobError, model.name):
                    kanopy.anonymize(table, wanted, population=everybody)
                continue
            try:
                result = kanopy.anonymize(table, wanted, population=everybody)  # verified, or it would raise
            except NoSolution as nothing:
                assert nothing.reason
                about = kind.about
                assert kind.recoding != "full-domain" or not about.proves, "a coarse release is safe"
                continue
            assert result.verification.smallest_class >= 3


def stops_when_told(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """An anytime algorithm answers with its best so far, any other with `Cancelled`; neither with half a release."""
    calls = 0

    def stop_soon(step: Step) -> bool | None:
        nonlocal calls
        calls += step.stage not in ("reading", "encoding", "searching", "applying", "verifying")
        return False if calls == 2 else None

    timed = kind.about.anytime and takes(kind, "budget_seconds")
    bounded = {"budget_seconds": 20.0} if timed else parameters
    try:
        result = kanopy.anonymize(people(), job(kind, bounded), progress=stop_soon)
    except Cancelled:
        return
    groups = published(result).group_by(QUASI).len()
    assert min(groups["len"].to_list()) >= 3
    if calls >= 2:
        assert kind.about.anytime
        assert any("top" in note for note in result.notes)


def refuses_what_does_not_nest_if_it_must(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Hierarchies that do not nest are refused where `about.attributes` asks for nesting ones."""
    crossing = Hierarchy.from_rows(
        [["p", "p-q", "a", "*"], ["q", "p-q", "b", "*"], ["r", "r-s", "a", "*"], ["s", "r-s", "b", "*"]],
        name="n",
        require_nesting=False,
    )
    table = pl.DataFrame({"n": ["p", "q", "r", "s"] * 6})
    wanted = Job(quasi=["n"], k=3, hierarchies={"n": crossing}, algorithm=kind.name, parameters=parameters)
    if "nest" in kind.about.attributes:
        with refused(HierarchyError, "nest"):
            kanopy.anonymize(table, wanted)
    else:
        assert kanopy.anonymize(table, wanted).verification.smallest_class >= 3


def counts_rows_suppressed_from_the_start(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Rows that the policy for missing values suppresses are counted as suppressed."""
    table = people().with_columns(pl.when(pl.int_range(ROWS) < 4).then(None).otherwise(pl.col("town")).alias("town"))
    result = release(kind, parameters, table, missing="suppress")
    assert result.solution.recoding.suppressed_rows == 4
    assert result.verification.smallest_class >= 3


def refuses_too_few_rows(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """A table of fewer than k rows is an error."""
    with refused(KanopyError, "rows"):
        release(kind, parameters, people(2))


def refuses_wrong_parameters(kind: type[Algorithm], parameters: Mapping[str, Any]) -> None:
    """Unknown parameters and impossible budgets are refused."""
    with refused(JobError, "no parameter 'colour'"):
        make(kind, {"colour": "green"})
    if takes(kind, "budget_seconds"):
        for budget in (0, -1, float("nan"), float("inf")):
            with refused(JobError, "budget"):
                make(kind, {"budget_seconds": budget})


CHECKS = (
    says_what_it_is,
    gives_safe_releases,
    recodes_as_it_claims,
    repeats,
    ignores_the_order_of_rows,
    suppresses_within_the_limit,
    keeps_level_limits_or_refuses_them,
    weighs_columns_if_it_says_so,
    satisfies_models_or_refuses_them,
    stops_when_told,
    refuses_what_does_not_nest_if_it_must,
    counts_rows_suppressed_from_the_start,
    refuses_too_few_rows,
    refuses_wrong_parameters,
)
