"""What is measured of people, counted again by the definitions: sets and loops that share no code with the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Job
from kanopy._errors import JobError
from tests.people.tables import visits

KNOWN = [1, 2, 3, "all"]


def fitting(rows: Sequence[tuple[object, ...]], whose: Sequence[object], known: int | str) -> list[int]:
    """Per person how many fit what may be known of them."""
    traces: dict[object, list[str]] = {}
    for row, own in zip(rows, whose, strict=True):
        traces.setdefault(own, []).append(repr(row))
    parts = {}
    for own, trace in traces.items():
        ordered = sorted(trace)
        sizes = [len(ordered)] if known == "all" else range(1, int(known) + 1)
        parts[own] = {part for size in sizes for part in combinations(ordered, size)}
    holders = Counter(part for own in parts.values() for part in own)
    return [min(holders[part] for part in own) for own in parts.values()]


def small_table(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(12, 40))
    return pl.DataFrame(
        {
            "p": draw.integers(0, max(3, rows // 3), rows).tolist(),
            "a": draw.integers(0, 3, rows).tolist(),
            "b": draw.choice(["x", "y"], rows).tolist(),
            "ill": draw.choice(["flu", "cold", "none"], rows, p=[0.7, 0.2, 0.1]).tolist(),
        }
    )


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("seed", range(12))
def test_risks_are_means_over_people(seed: int, known: int | str) -> None:
    table = small_table(seed)
    if known != "all" and int(known) > table["p"].value_counts()["count"].max():
        pytest.skip("nobody has so many rows")
    fits = fitting(table.select("a", "b").rows(), table["p"].to_list(), known)
    found = kanopy.assess_risk(table, quasi=["a", "b"], sensitive=["ill"], unit="p", known=known, largest_subset=2)
    sizes = {key: len(set(own["p"])) for key, own in table.group_by("a", "b")}
    assert found.sizes.rows == len(fits) == table["p"].n_unique()
    assert found.sizes.smallest_class == min(sizes.values()) and found.sizes.classes == len(sizes)
    average = sum(1 / each for each in fits) / len(fits)
    for number in (found.sizes.average_prosecutor, found.marketer, found.journalist.average):
        assert number == pytest.approx(average, abs=1e-12)
    assert found.sizes.highest_prosecutor == found.journalist.highest == 1 / min(fits)
    assert found.sizes.unique_rows == fits.count(1) and found.rows_above_threshold == sum(each < 5 for each in fits)
    for each in found.histogram:
        assert each.rows == sum(each.low <= own <= each.high for own in fits)
        assert each.classes == sum(each.low <= own <= each.high for own in sizes.values())
    looked = kanopy.check(table, quasi=["a", "b"], unit="p", known=known, models=["k:3"])
    assert (looked.highest_risk, looked.unique_rows) == (1 / min(fits), fits.count(1))
    assert looked.average_risk == pytest.approx(average, abs=1e-12)
    assert looked.holds == (min(fits) >= 3)


@pytest.mark.parametrize("seed", range(12))
def test_what_classes_give_away_is_counted_by_people(seed: int) -> None:
    table = small_table(seed)
    found = kanopy.assess_risk(table, quasi=["a", "b"], sensitive=["ill"], unit="p", largest_subset=2)
    best: dict[int, float] = {}
    for _, own in table.group_by("a", "b"):
        people = set(own["p"])
        sure = max(len(set(some["p"])) for _, some in own.group_by("ill")) / len(people)
        for person in people:
            best[person] = max(best.get(person, 0), sure)
    (told,) = found.disclosure
    assert told.rows == len(best) and told.certain_rows == sum(sure == 1 for sure in best.values())
    assert told.likely_rows == sum(sure >= 0.8 - 1e-12 for sure in best.values())
    assert told.expected_confidence == pytest.approx(sum(best.values()) / len(best))
    assert told.baseline == pytest.approx(max(len(set(own["p"])) for _, own in table.group_by("ill")) / len(best))
    assert found.identifying is not None
    for each in (*found.identifying.subsets, found.identifying.all_columns):
        alone = set()
        for _, own in table.group_by(each.columns):
            alone |= set(own["p"]) if own["p"].n_unique() == 1 else set()
        assert each.unique_rows == len(alone) and each.unique_share == len(alone) / len(best), each.columns
        assert each.combinations == table.select(each.columns).n_unique()


def test_a_population_is_compared_person_by_person() -> None:
    table = small_table(3)
    people = pl.concat([table.select("a", "b").unique()] * 30)
    found = kanopy.assess_risk(table, quasi=["a", "b"], unit="p", population=people, largest_subset=0)
    assert found.journalist.average == found.marketer == pytest.approx(1 / 30) and found.journalist.k_map == 30
    half = kanopy.assess_risk(table, quasi=["a", "b"], unit="p", sampling_fraction=0.5, largest_subset=0)
    whole = kanopy.assess_risk(table, quasi=["a", "b"], unit="p", sampling_fraction=1.0, largest_subset=0)
    assert half.journalist.average < whole.journalist.average == whole.sizes.average_prosecutor
    assert half.population is None
    traces = kanopy.assess_risk(table, quasi=["a", "b"], unit="p", known="all", sampling_fraction=0.5, largest_subset=0)
    assert traces.population is not None
    with pytest.raises(JobError, match="row by row"):
        kanopy.assess_risk(table, quasi=["a", "b"], unit="p", known=2, population=people)


def test_how_much_is_known_must_make_sense() -> None:
    table = small_table(0)
    for look in (kanopy.check, kanopy.assess_risk):
        with pytest.raises(JobError, match="nobody has more than"):
            look(table, quasi=["a", "b"], unit="p", known=40)
        with pytest.raises(JobError, match="known has no effect"):
            look(table, quasi=["a", "b"], known=2)
        with pytest.raises(JobError, match="at least 1"):
            look(table, quasi=["a", "b"], unit="p", known=0)


@pytest.mark.parametrize("known", [1, 2, "all"])
def test_report_map_and_comparison_count_people(known: int | str) -> None:
    table = visits()
    wanted = Job(quasi=["age", "sex"], sensitive=["diagnosis"], k=4, suppress=0.6, unit="patient", known=known)
    made = kanopy.anonymize(table, wanted.replaced(suppressed_rows="drop", insensitive=["zip"], sensitive=[]))
    gone = made.solution.recoding.group_of_row < 0
    whose = table["patient"].filter(pl.Series(~gone)).to_list()
    fits = fitting(made.data.select("age", "sex").rows(), whose, known)
    before = fitting(table.select("age", "sex").rows(), table["patient"].to_list(), known)
    numbers = made.report.to_dict()
    for side, own in (("before", before), ("after", fits)):
        told = numbers["risk"][side]
        assert told["rows"] == len(own) and told["highest_prosecutor"] == 1 / min(own)
        assert told["average_prosecutor"] == told["marketer"] == pytest.approx(sum(1 / each for each in own) / len(own))
        assert sum(each["rows"] for each in numbers["class_sizes"][side]) == len(own)
        assert made.report.findings.__dict__[side]["prosecutor"]["average"] == pytest.approx(told["average_prosecutor"])
    job = wanted.replaced(hierarchies=dict(made.hierarchies), sensitive=[])
    (point,) = kanopy.explore(table, job, ks=[4]).points
    (entry,) = kanopy.compare(table, job, algorithms=["optimal"]).entries
    for found in (point, entry):
        assert found.highest_risk == 1 / min(fits)
        assert found.average_risk == pytest.approx(sum(1 / each for each in fits) / len(fits))
