"""Combinations of a few columns, counted in people: the model in a search and a check, and the list of unsafe ones."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._core.classes import Domain, Recoding, full_domain_recoding
from kanopy._core.numbering import distinct_tuples, number_keys
from kanopy._core.units import ALL, Units
from kanopy._errors import JobError, NoSolution
from kanopy.metrics.full_domain import metric_named
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.privacy.survey import SubsetK
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem
from tests.people.tables import visits
from tests.people.test_optimal import TREES, leaving


def rare(rows: list[tuple[str, ...]], units: list[int], there: list[bool], every: dict[int, int]) -> list[bool]:
    """Which rows show a combination of a few columns that too few people show."""
    people = defaultdict(set)
    for row, unit, is_there in zip(rows, units, there, strict=True):
        for m in every:
            for chosen in combinations(range(len(row)), m) if is_there else ():
                people[chosen, tuple(row[j] for j in chosen)].add(unit)
    few = {key for key, own in people.items() if len(own) < every[len(key[0])]}
    return [
        is_there
        and any(
            (chosen, tuple(row[j] for j in chosen)) in few for m in every for chosen in combinations(range(len(row)), m)
        )
        for row, is_there in zip(rows, there, strict=True)
    ]


@pytest.mark.parametrize("known", [1, 2, ALL])
def test_optimal_with_subset_k_equals_brute_force(known: int) -> None:
    draw = np.random.default_rng(known)
    for number in range(60):
        rows = int(draw.integers(4, 26))
        trees = tuple(TREES[j] for j in draw.permutation(3)[:2])
        codes = [draw.integers(0, h.size, rows).astype(np.int32) for h in trees]
        tuples, counts, of_row, _ = distinct_tuples(codes, [h.size for h in trees])
        units = number_keys(draw.integers(0, max(2, rows // 2), rows)).number
        limit, k = float(draw.choice([0, 0.2, 0.5])), int(draw.integers(1, 3))
        every = {1: int(draw.integers(2, 5)), **({2: 2} if number % 2 else {})}
        domain = Domain(("a", "b"), trees, tuples, counts, of_row, units=Units(units, known))
        best = None
        for levels in product(*[range(h.height + 1) for h in trees]):
            made = full_domain_recoding(domain, levels, np.zeros(len(counts), np.bool_))
            shown = [
                tuple(str(labels[code]) for labels, code in zip(made.labels, made.codes[group], strict=True))
                for group in made.group_of_row
            ]
            classes = np.append(made.class_of_group, -1)[made.group_of_row].tolist()
            gone = [False] * rows
            while True:
                left = [-1 if is_gone else own for own, is_gone in zip(classes, gone, strict=True)]
                out = leaving(units.tolist(), left, k, known)
                wrong = rare(shown, units.tolist(), [own >= 0 for own in left], every)
                out = [a or b for a, b in zip(out, wrong, strict=True)]
                if known != 1:
                    people = {unit for unit, own in zip(units.tolist(), out, strict=True) if own}
                    out = [unit in people and own >= 0 for unit, own in zip(units.tolist(), left, strict=True)]
                if not any(out):
                    break
                gone = [a or b for a, b in zip(gone, out, strict=True)]
            if sum(gone) > int(np.floor(limit * rows + 1e-9)):
                continue
            kept = np.where(gone, -1, made.group_of_row).astype(np.int32)
            release = Recoding(kept, made.codes, made.labels, made.shares, made.nodes)
            score = release_losses(domain, release, [1.0, 1.0], levels)["loss"]
            best = score if best is None else min(best, score)
        models = [KAnonymity(k), SubsetK(tuple(every.items()))] if k > 1 else [SubsetK(tuple(every.items()))]
        problem = Problem(domain, models, metric_named("loss"), suppression_limit=limit)
        try:
            found = make_algorithm("optimal").solve(problem)
        except NoSolution:
            assert best is None, number
            continue
        assert best is not None and found.score == pytest.approx(best, abs=1e-9), number


def test_a_release_and_its_check_count_people_behind_few_columns() -> None:
    table = visits()
    wanted = Job(quasi=["age", "zip", "sex"], k=2, models=["subset-k:1:10,2:4"], suppress=0.4, unit="patient")
    made = kanopy.anonymize(table, wanted)
    shown = made.data.with_columns(patient=table["patient"]).filter(pl.Series(made.solution.recoding.group_of_row >= 0))
    for m, k in ((1, 10), (2, 4)):
        for chosen in combinations(["age", "zip", "sex"], m):
            assert shown.group_by(chosen).agg(pl.col("patient").n_unique())["patient"].min() >= k
    asked = {"unit": "patient", "models": ["subset-k:1:10,2:4"]}
    assert kanopy.check(shown, quasi=["age", "zip", "sex"], **asked).holds
    one = table.with_columns(pl.when(pl.col("patient") == "P00001").then(pl.lit("9999")).otherwise("zip").alias("zip"))
    looked = kanopy.check(
        pl.concat([one, *[one.filter(pl.col("zip") == "9999")] * 9]),
        quasi=["zip"],
        unit="patient",
        models="subset-k:1:10",
    )
    assert not looked.holds and looked.models[0].failing_rows >= 1


def test_unsafe_combinations_are_counted_in_people() -> None:
    table = pl.DataFrame({"p": [0, 0, 0, 1, 2, 3], "a": list("xxxyyy"), "b": list("uuuuvv")})
    by_rows = kanopy.assess_risk(table, quasi=["a", "b"], every="1:3", largest_subset=0)
    assert by_rows.answers.rows_in_unsafe == 2
    people = kanopy.assess_risk(table, quasi=["a", "b"], every="1:3", unit="p", largest_subset=0)
    assert people.answers.rows_in_unsafe == 4
    assert {each.columns: (each.unsafe, each.rows) for each in people.answers.every} == {("a",): (1, 1), ("b",): (2, 4)}


def test_a_household_needs_weights() -> None:
    with pytest.raises(JobError, match="household has no effect without a model of households"):
        kanopy.anonymize(visits(), Job(quasi="age", household="home"))
    with pytest.raises(JobError, match="No model looks at households"):
        kanopy.check(visits().with_columns(home=1), quasi="age", household="home")
