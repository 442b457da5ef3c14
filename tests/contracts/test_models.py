"""One contract for every privacy model: what it says of itself is true, and a release that names it keeps it.

Whoever adds a model adds its name to `MODELS`; this file then tests the model of its `example` without being touched.
An example may name the columns of this table: the quasi-identifiers country, age and sex, the sensitive columns
diagnosis and income, and guard (what each person wants hidden).
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._core.classes import Classes, ClassLabels, ColumnFacts
from kanopy._errors import JobError, NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import MODELS, Model, make_model, parse_model

COUNTRY = Hierarchy.from_rows(
    [[name, continent, "*"] for name, continent in
     [("France", "Europe"), ("Italy", "Europe"), ("Japan", "Asia"), ("India", "Asia"), ("Kenya", "Africa")]],
    name="country",
)  # fmt: skip
AGE = Hierarchy.from_rows([[str(age), f"{age // 10}0s", "*"] for age in (21, 24, 27, 33, 38)], name="age")
SEX = Hierarchy.flat(["f", "m"], name="sex")
DIAGNOSIS = Hierarchy.from_rows(
    [["HIV", "virus", "*"], ["flu", "virus", "*"], ["gout", "other", "*"], ["asthma", "other", "*"]], name="diagnosis"
)
TREES = (COUNTRY, AGE, SEX)
INCOMES = np.array([9000.0, 9500.0, 20000.0, 31000.0])
GUARDS = ("(missing)", "HIV", "virus")
STEPS = [
    ((0, 0, 0), (0, 1, 0)), ((0, 0, 0), (1, 0, 1)), ((0, 1, 0), (1, 1, 0)), ((1, 1, 0), (2, 1, 0)),
    ((1, 1, 1), (2, 2, 1)), ((0, 0, 0), (2, 2, 1)),
]  # fmt: skip
"""Two releases each, by the levels of country, age and sex: the second generalizes the first."""

every = pytest.mark.parametrize("name", list(MODELS))
seeds = pytest.mark.parametrize("seed", range(12))


def example(name: str) -> Model:
    return parse_model(MODELS[name].example)


class People:
    """Random rows, some of them alike."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        rows = int(2 ** draw.uniform(2, 9))
        few = int(draw.integers(1, 6))
        self.leaves = [draw.integers(0, few, rows), draw.integers(0, few, rows), draw.integers(0, 2, rows)]
        self.diagnosis, self.income, self.guard = (draw.integers(0, n, rows) for n in (4, 4, 3))
        self.weight = draw.integers(1, 400, rows).astype(np.float64)
        self.home = draw.integers(0, max(1, rows // 2), rows).astype(np.int32)
        self.others = int(draw.integers(0, 4))

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(
            {
                **{
                    tree.name: [tree.values[leaf] for leaf in own] for tree, own in zip(TREES, self.leaves, strict=True)
                },
                "diagnosis": [DIAGNOSIS.values[code] for code in self.diagnosis],
                "income": INCOMES[self.income],
                "guard": [None if code == 0 else GUARDS[code] for code in self.guard],
                "weight": self.weight,
                "home": self.home,
            }
        )

    def classes(self, levels: tuple[int, ...]) -> tuple[Classes, np.ndarray]:
        """The classes of a release, and the class of every row."""
        published = [tree.level(at).codes[own] for tree, at, own in zip(TREES, levels, self.leaves, strict=True)]
        keys, of_row = np.unique(np.stack(published), axis=1, return_inverse=True)
        of_row = of_row.reshape(-1)
        count = keys.shape[1]
        sensitive = {"diagnosis": self.diagnosis, "income": self.income, "guard": self.guard}
        widths = {"diagnosis": 4, "income": 4, "guard": 3}
        histograms = {
            name: np.bincount(of_row * widths[name] + codes, minlength=count * widths[name]).reshape(count, -1)
            for name, codes in sensitive.items()
        }
        totals = {name: np.bincount(codes, minlength=widths[name]) for name, codes in sensitive.items()}
        sizes = np.bincount(of_row, minlength=count)
        found = Classes(
            sizes,
            histograms=histograms,
            facts={
                "diagnosis": ColumnFacts(DIAGNOSIS.values, totals["diagnosis"], hierarchy=DIAGNOSIS),
                "income": ColumnFacts(tuple(f"{each:g}" for each in INCOMES), totals["income"], INCOMES),
                "guard": ColumnFacts(GUARDS, totals["guard"]),
            },
            # Everybody is there `others` times more, so that people add up as rows do.
            population=sizes * (1 + self.others),
            labels={
                tree.name: ClassLabels(codes, tuple(tree.labels[node] for node in tree.level(at).nodes), tree)
                for tree, at, codes in zip(TREES, levels, keys, strict=True)
            },
            weights=np.bincount(of_row, self.weight, minlength=count),
            class_of_row=of_row.astype(np.int32),
            household_of_row=self.home,
        )  # fmt: skip
        return found, of_row


def accepts(model: Model, found: Classes) -> bool:
    return not model.violated(found).any() and model.satisfied(found, found)


@every
def test_it_says_what_it_is(name: str) -> None:
    kind, model = MODELS[name], example(name)
    assert type(model) is kind and model.name == name
    assert model.explain().endswith(".") and kind.summary.endswith(".")
    assert len(" ".join((kind.__doc__ or "").split())) > 60
    assert make_model(model.to_dict()) == model
    with pytest.raises(JobError, match="no parameter 'colour'"):
        make_model({**model.to_dict(), "colour": "green"})


@every
@seeds
def test_what_it_declares_holds(name: str, seed: int) -> None:
    model, people = example(name), People(seed)
    for finer, coarser in STEPS:
        fine, fine_of_row = people.classes(finer)
        coarse, coarse_of_row = people.classes(coarser)
        wrong = model.violated(fine)
        assert wrong.dtype == np.bool_ and wrong.shape == (fine.count,)
        assert (fine.sizes[~wrong] >= model.least_size).all(), "a safe class is smaller than the least size"
        if model.monotonic and accepts(model, fine):
            assert accepts(model, coarse), "a union of safe classes is unsafe"
        if model.monotonic_with_suppression:
            holds_a_safe_one = np.unique(coarse_of_row[~wrong[fine_of_row]])
            assert not model.violated(coarse)[holds_a_safe_one].any(), "a union with a safe class is unsafe"
        gone = np.bincount(coarse_of_row[wrong[fine_of_row]], minlength=coarse.count)
        needed = np.minimum(model.must_go(coarse, model.violated(coarse)), coarse.sizes)
        assert (needed <= gone).all(), "the bound on rows that must go is too high"


@every
def test_it_refuses_something(name: str) -> None:
    model = example(name)
    tried = [People(seed).classes(levels)[0] for seed in range(12) for levels in ((0, 0, 0), (2, 2, 1))]
    assert not all(accepts(model, found) for found in tried)


@every
@pytest.mark.parametrize("suppress", [0.0, 1.0])
def test_a_release_keeps_it(name: str, suppress: float) -> None:
    """A release is verified on its labels, or it would raise; where everything may be suppressed there is one
    (unless the model judges the release as a whole)."""
    model, people = example(name), People(3)
    hidden = [column for column in ("weight", "home", "guard") if column not in model.sensitive]
    job = kanopy.Job(
        quasi=["country", "age", "sex"], k=5 if name == "k" else 2, suppress=suppress, identifiers=hidden,
        models=[MODELS[name].example],
        sensitive=[column for column in ("diagnosis", "income") if column not in model.hidden],
        hierarchies={tree.name: tree for tree in (*TREES, DIAGNOSIS)},
        **({"sampling_weight": "weight"} if model.needs_weights else {}),
        **({"household": "home"} if model.needs_households else {}),
    )  # fmt: skip
    assert kanopy.Job.from_toml(job.to_toml()).models == job.models
    frame = people.frame()
    try:
        result = kanopy.anonymize(frame, job, population=pl.concat([frame] * 3) if model.needs_population else None)
    except NoSolution as nothing:
        assert nothing.reason and (suppress == 0.0 or model.of_release)
        return
    assert name in {each.name for each in result.job.all_models} and result.smallest_class != 1
