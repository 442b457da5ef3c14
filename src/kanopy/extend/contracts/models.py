"""What holds for every privacy model: what it says of itself is true, and a release that names it keeps it.

The model that a class gives as its `example` is tried on a made-up table. The example may name its columns: the
quasi-identifiers country, age and sex, the sensitive columns diagnosis and income, and guard (what each person wants
hidden).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._core.classes import Classes, ClassLabels, ColumnFacts
from kanopy._errors import JobError, NoSolution
from kanopy.extend.contracts.refusing import refused
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.judgement import judged_twice
from kanopy.privacy.models import KAnonymity, Model, failing, make_model, parse_model

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

SEEDS = range(12)


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
                    tree.name: [tree.values[leaf] for leaf in leaf_row]
                    for tree, leaf_row in zip(TREES, self.leaves, strict=True)
                },
                "diagnosis": [DIAGNOSIS.values[code] for code in self.diagnosis],
                "income": INCOMES[self.income],
                "guard": [None if code == 0 else GUARDS[code] for code in self.guard],
                "weight": self.weight,
                "home": self.home,
            }
        )

    def classes(self, levels: tuple[int, ...]) -> tuple[Classes, np.ndarray[Any, Any]]:
        """The classes of a release, and the class of every row."""
        published = [
            tree.level(at).codes[leaf_row] for tree, at, leaf_row in zip(TREES, levels, self.leaves, strict=True)
        ]
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
        release_classes = Classes(
            sizes,
            histograms=histograms,
            facts={
                "diagnosis": ColumnFacts(DIAGNOSIS.values, totals["diagnosis"], hierarchy=DIAGNOSIS),
                "income": ColumnFacts(tuple(f"{income:g}" for income in INCOMES), totals["income"], INCOMES),
                "guard": ColumnFacts(GUARDS, totals["guard"]),
            },
            # Everybody is there `others` times more, so that people add up as rows do.
            population=sizes * (1 + self.others),
            labels={
                tree.name: ClassLabels(codes, tuple(tree.labels[node] for node in tree.level(at).nodes), tree)
                for tree, at, codes in zip(TREES, levels, keys, strict=True)
            },
            weights=np.bincount(of_row, self.weight, minlength=count).astype(np.float64),
            class_of_row=of_row.astype(np.int32),
            household_of_row=self.home,
        )  # fmt: skip
        return release_classes, of_row


def accepts(model: Model, classes: Classes) -> bool:
    return not model.violated(classes).any() and model.satisfied(classes, classes)


def says_what_it_is(kind: type[Model]) -> None:
    """It has a name, sentences for lists and reports, a documentation, and is written to and read from job files."""
    model = parse_model(kind.example)
    assert type(model) is kind and model.name == kind.name, "the example is no short form of the model"
    assert model.explain().endswith(".") and kind.summary.endswith("."), "explain() and summary are no sentences"
    assert len(" ".join((kind.__doc__ or "").split())) > 60, "the docstring does not say what the model asks for"
    assert make_model(model.to_dict()) == model, "to_dict() does not say all of the model"
    with refused(JobError, "no parameter 'colour'"):
        make_model({**model.to_dict(), "colour": "green"})


def declares_what_holds(kind: type[Model]) -> None:
    """What it declares (monotonic, least_size, must_go) holds when classes are united."""
    model = parse_model(kind.example)
    for people in map(People, SEEDS):
        for finer, coarser in STEPS:
            fine, fine_of_row = people.classes(finer)
            coarse, coarse_of_row = people.classes(coarser)
            wrong = model.violated(fine)
            assert wrong.dtype == np.bool_ and wrong.shape == (fine.count,), "violated() is no truth value per class"
            assert (fine.sizes[~wrong] >= model.least_size).all(), "a safe class is smaller than the least size"
            if model.monotonic and accepts(model, fine):
                assert accepts(model, coarse), "monotonic: a union of safe classes is unsafe"
            if model.monotonic_with_suppression:
                holds_a_safe_one = np.unique(coarse_of_row[~wrong[fine_of_row]])
                united = model.violated(coarse)[holds_a_safe_one]
                assert not united.any(), "monotonic_with_suppression: a union with a safe class is unsafe"
            rows_that_go = np.bincount(coarse_of_row[wrong[fine_of_row]], minlength=coarse.count)
            needed = np.minimum(model.must_go(coarse, model.violated(coarse)), coarse.sizes)
            assert (needed <= rows_that_go).all(), "must_go: the bound on rows that must go is too high"


def judges_alike(kind: type[Model]) -> None:
    """It gives the second look the same answer in whatever order, and however many together, classes are shown."""
    model = parse_model(kind.example)
    for people in map(People, SEEDS):
        classes = people.classes((0, 1, 0))[0]
        wrong = model.violated(classes)
        expected = wrong if wrong.any() or model.satisfied(classes, classes) else ~wrong
        assert np.array_equal(judged_twice(model, classes), expected) and np.array_equal(
            failing(model, classes), expected
        )


def refuses_something(kind: type[Model]) -> None:
    """Some table is not safe enough for it."""
    model = parse_model(kind.example)
    tried = [People(seed).classes(levels)[0] for seed in SEEDS for levels in ((0, 0, 0), (2, 2, 1))]
    assert not all(accepts(model, tried_classes) for tried_classes in tried), "it accepts every table"


def released(kind: type[Model], suppress: float) -> None:
    """Publish a table under the model: verified on its labels, or it would raise."""
    model, people = parse_model(kind.example), People(3)
    hidden = [column for column in ("weight", "home", "guard") if column not in model.sensitive]
    job = kanopy.Job(
        quasi=["country", "age", "sex"], k=5 if type(model) is KAnonymity else 2, suppress=suppress,
        identifiers=hidden, models=[kind.example],
        sensitive=[column for column in ("diagnosis", "income") if column not in model.hidden],
        hierarchies={tree.name: tree for tree in (*TREES, DIAGNOSIS)},
        sampling_weight="weight" if model.needs_weights else None,
        household="home" if model.needs_households else None,
    )  # fmt: skip
    assert kanopy.Job.from_toml(job.to_toml()).models == job.models, "a job file does not keep it"
    frame = people.frame()
    try:
        result = kanopy.anonymize(frame, job, population=pl.concat([frame] * 3) if model.needs_population else None)
    except NoSolution as nothing:
        assert nothing.reason and (suppress == 0.0 or model.of_release), "no release, though every row may go"
        return
    assert model.name in {model_asked.name for model_asked in result.job.all_models} and result.smallest_class != 1


def is_kept_by_a_release(kind: type[Model]) -> None:
    """A release that names it keeps it, or there is none and the error says why."""
    released(kind, 0.0)


def is_kept_where_rows_are_suppressed(kind: type[Model]) -> None:
    """Where everything may be suppressed there is a release, unless the model judges the release as a whole."""
    released(kind, 1.0)


CHECKS = (
    says_what_it_is,
    declares_what_holds,
    judges_alike,
    refuses_something,
    is_kept_by_a_release,
    is_kept_where_rows_are_suppressed,
)
