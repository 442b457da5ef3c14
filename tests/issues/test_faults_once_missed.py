"""Faults that could be put into the source without any test failing (`tests/mutations.toml` has them all)."""

from __future__ import annotations

import datetime as dt
import itertools
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kanopy
from kanopy._core.classes import Classes, ColumnFacts, Domain, Sensitive, recoding_from_nodes
from kanopy.cli.options import job_of
from kanopy.hierarchy.builders.semantic.cuts import CutTree
from kanopy.privacy.closeness import OrderedCloseness
from kanopy.privacy.models import KAnonymity, make_models
from kanopy.search.algorithms import make_algorithm
from kanopy.search.clustering.groups import Groups, merge_until_safe
from kanopy.search.clustering.kmember import k_member_clusters
from kanopy.search.judge import ClassJudge
from kanopy.search.local.box_release import made_safe
from kanopy.search.local.boxes import lay_out
from kanopy.search.partition_solution import release
from kanopy.search.problem import Problem


def problem_of(values: list[int], tree: kanopy.Hierarchy, models: list[str], **limits: Any) -> Problem:
    """Rows of one column, given as leaves of its hierarchy."""
    leaves, of_row, counts = np.unique(values, return_inverse=True, return_counts=True)
    tuples = leaves[:, None].astype(np.int32)
    domain = Domain(("q",), (tree,), tuples, counts.astype(np.int64), of_row.reshape(-1).astype(np.int32))
    return Problem(domain, make_models(models), **limits)


def test_every_fault_of_the_list_can_still_be_put_into_the_source() -> None:
    root = Path(__file__).parents[2]
    faults = tomllib.loads((root / "tests" / "mutations.toml").read_text(encoding="utf-8"))["mutation"]
    texts = {fault["file"]: (root / fault["file"]).read_text(encoding="utf-8") for fault in faults}
    assert len(faults) > 50
    assert [fault["name"] for fault in faults if texts[fault["file"]].count(fault["old"]) != 1] == []


def test_models_of_the_command_line_add_to_those_of_the_job_file(tmp_path: Path) -> None:
    job = kanopy.Job(quasi=["age"], k=3, models=["l-distinct:ill:2"])
    (tmp_path / "job.toml").write_text(job.to_toml())
    found = job_of({"job": tmp_path / "job.toml", "model": ["t-equal:ill:0.2"]})
    assert [model.name for model in found.models] == ["l-distinct", "t-equal"] and found.k == 3


@pytest.mark.parametrize("option", ["--report", "--mapping", "--manifest", "--solution"])
def test_every_output_is_checked_before_the_work(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were refused when all the work was done."""
    from kanopy.cli import main
    from kanopy.release import engine_choice

    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age\n1\n1\n")
    monkeypatch.setattr(engine_choice, "make_release", lambda *_, **__: pytest.fail("the work was begun"))
    for place in ("t.csv", "gone/out.json", "out.csv"):
        command = ["kanopy", "anonymize", "t.csv", "-q", "age", "-k", "2", "-o", "out.csv", option, place]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2, capsys.readouterr()
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_the_limit_of_suppression_is_rounded_down() -> None:
    tree = kanopy.Hierarchy.flat(["a"])
    limits = {0.0: 0, 0.19: 1, 0.2: 2, 0.3: 3, 0.999: 9, 1.0: 10}  # 0.3 · 10 is a little less than 3 to a computer
    for limit, rows in limits.items():
        assert problem_of([0] * 10, tree, ["k:2"], suppression_limit=limit).max_suppressed_rows == rows
    letters = kanopy.Hierarchy.flat(["a", "b", "c"])
    exactly = problem_of([0] * 8 + [1, 2], letters, ["k:2"], suppression_limit=0.2)
    assert exactly.evaluate((0,)).feasible and exactly.evaluate((0,)).suppressed_rows == 2
    assert not problem_of([0] * 8 + [1, 2], letters, ["k:2"], suppression_limit=0.19).evaluate((0,)).feasible


def test_a_class_of_k_is_safe_and_one_of_fewer_is_not() -> None:
    classes = Classes(np.array([1, 2, 3, 4]))
    assert KAnonymity(3).violated(classes).tolist() == [True, True, False, False]
    problem = problem_of([0] * 3 + [1] * 2, kanopy.Hierarchy.flat(["a", "b"]), ["k:3"], suppression_limit=0.4)
    assert ClassJudge(problem).unsafe_classes(np.array([0, 1, 2, 3]), {}).tolist() == [False, True, True, False]
    as_it_is = recoding_from_nodes(problem.domain, problem.domain.tuple_of_row, np.array([[0], [1]], np.int32))
    assert release("as it is", problem, as_it_is).recoding.group_of_row.tolist() == [0, 0, 0, -1, -1]


def test_datafly_generalizes_the_column_with_most_values_first() -> None:
    table = {"many": [1, 2, 3, 4, 5, 6, 7, 8], "few": list("aaaabbbb")}
    trees = {name: {"method": "suppress"} for name in table}
    job = kanopy.Job(quasi=["few", "many"], k=4, algorithm="datafly", hierarchies=trees)
    assert kanopy.anonymize(table, job).levels == {"few": 0, "many": 1}


def test_best_counts_what_level_limits_suppress_before_it_suppresses_more() -> None:
    """Two rows have nobody to be alike to below the highest level, and no more than two may be suppressed."""
    branch = {**dict.fromkeys("abcdef", "x"), **dict.fromkeys("gh", "z"), "i": "y"}
    tree = kanopy.Hierarchy.from_rows([[letter, above, "*"] for letter, above in branch.items()])
    rows = [0] * 4 + [1] + [6] * 4 + [7] * 4 + [8] * 2
    problem = problem_of(rows, tree, ["k:4"], suppression_limit=0.14, highest_levels=[1])
    assert problem.max_suppressed_rows == 2
    found = make_algorithm("best", steps=1).solve(problem)
    assert found.recoding.suppressed_rows == 2 and sorted(found.recoding.classes.sizes.tolist()) == [4, 4, 5]


def test_rows_that_are_suppressed_stay_so_while_unsafe_classes_are_united() -> None:
    tree = kanopy.Hierarchy.from_rows([["a", "*"], ["b", "*"], ["c", "*"]])
    ill = Sensitive("ill", ("flu", "cold"), np.array([0, 0, 0, 1, 1], np.int32))
    problem = problem_of([0, 0, 1, 1, 2], tree, ["k:2"], suppression_limit=0.2)
    problem = Problem(
        replace(problem.domain, sensitive=(ill,)), make_models(["k:2", "l-distinct:ill:2"]), suppression_limit=0.2
    )
    layout = lay_out(problem)
    given = np.array([0, 0, 1, 1, -1], np.int32)[layout.rows]
    class_of, united = made_safe(layout, given, problem)
    assert united == 1 and class_of[layout.rows == 4].tolist() == [-1]
    assert len(set(class_of[layout.rows < 4].tolist())) == 1


@pytest.mark.parametrize("algorithm", ["mondrian", "k-member"])
def test_groups_under_level_limits_are_suppressed_where_they_are_not_safe(algorithm: str) -> None:
    tree = kanopy.Hierarchy.from_rows([[letter, "x" if letter != "c" else "y", "*"] for letter in "abc"])
    limits: dict[str, Any] = {"highest_levels": [1], "suppression_limit": 0.25}
    found = make_algorithm(algorithm).solve(problem_of([0] * 3 + [1] * 3 + [2] * 2, tree, ["k:3"], **limits))
    assert found.recoding.suppressed_rows == 2 and found.recoding.classes.sizes.tolist() == [3, 3]


@pytest.mark.parametrize("needed", range(1, 7))
def test_samarati_finds_the_lowest_height(needed: int) -> None:
    rows = [[f"{leaf}", *(f"{leaf // 2**level} of {level}" for level in range(1, 6)), "*"] for leaf in range(64)]
    found = make_algorithm("samarati").solve(
        problem_of(list(range(64)), kanopy.Hierarchy.from_rows(rows), [f"k:{2**needed}"])
    )
    assert found.levels == (needed,)


def test_people_of_a_population_are_added_up_however_their_gaps_are_written() -> None:
    """A gap and an empty text are one label: two classes of the population that are one."""
    table = {"zip": [None, None, "1", "1"]}
    people = {"zip": [None, None, "", "", "1", "1", "1", "1"]}
    found = kanopy.check(table, quasi=["zip"], models=["k-map:4"], population=people)
    assert found.holds and found.classes == 2
    assert not kanopy.check(table, quasi=["zip"], models=["k-map:5"], population=people).holds


def test_values_that_no_row_has_are_no_step_of_an_order() -> None:
    facts = {"pay": ColumnFacts(("1", "2", "3"), np.array([2, 2, 0]), np.array([1.0, 2.0, 3.0]))}
    classes = Classes(np.array([2, 2]), histograms={"pay": np.array([[2, 0, 0], [0, 2, 0]])}, facts=facts)
    assert OrderedCloseness("pay", 0.2).distances(classes).tolist() == [0.5, 0.5]


def test_cuts_of_an_ontology_never_get_finer_upwards() -> None:
    """A node that loses less than one below it would stand for it at a lower threshold than the one below."""
    parent = np.array([4, 4, 5, 6, 5, 6, -1], np.int32)
    tree = CutTree(parent, 4, np.array([0, 0, 0, 0, 0.9, 0.3, 1.0]))
    assert (tree.loss[parent[:-1]] >= tree.loss[:-1]).all() and tree.thresholds.tolist() == [0.9]
    levels = tree.table([0.5, 0.9], np.inf)
    assert levels[1].tolist() == [0, 1, 2, 3] and levels[2].tolist() == [5, 5, 5, 3]


@pytest.mark.parametrize("table", [True, False])
def test_with_levels_keeps_both_ends_and_exactly_so_many(table: bool) -> None:
    chains = [[f"{leaf}", *(f"{leaf // 2**level} of {level}" for level in range(1, 6)), "*"] for leaf in range(64)]
    pairs = {below: above for chain in chains for below, above in itertools.pairwise(chain)}
    tree = kanopy.Hierarchy.from_rows(chains) if table else kanopy.Hierarchy.from_parents(pairs)
    assert tree.height == 6
    for levels in range(2, 8):
        fewer = tree.with_levels(levels)
        assert fewer.height + 1 == levels
        assert fewer.labels_at(0) == tree.labels_at(0) and fewer.labels_at(levels - 1) == ("*",)
    assert tree.with_levels(4).level_sizes == [64, 16, 4, 1] and tree.with_levels(9) is tree


def test_codes_are_hidden_letter_by_letter_from_either_side() -> None:
    left = kanopy.build_hierarchy(["75001", "3001"], "redact", side="left", steps=(1, 2))
    assert [left.generalize("75001", level) for level in range(4)] == ["75001", "*5001", "***01", "*****"]
    assert left.generalize("3001", 2) == "***01"
    right = kanopy.build_hierarchy(["75001"], "redact", steps=(1, 2), keep_length=False)
    assert [right.generalize("75001", level) for level in range(4)] == ["75001", "7500*", "75*", "*"]


def test_a_value_at_the_begin_of_an_interval_lies_in_it_and_not_in_the_one_before() -> None:
    tree = kanopy.build_hierarchy([11.5, 14.25, 21.5, 24.75], "widths", widths=[10])
    assert tree.placed(["20"]).generalize("20", 1) == tree.generalize("21.5", 1)
    whole = kanopy.build_hierarchy([11, 14, 21, 24], "widths", widths=[10])
    more = whole.placed(["20", "19", "10", "29", "30"])
    assert [more.generalize(value, 1) for value in ("10", "19", "20", "29")] == ["[10, 19]"] * 2 + ["[20, 29]"] * 2
    assert "30" not in more.index


@pytest.mark.parametrize(("rows", "kept"), [(4, False), (5, True)])
def test_suppressed_rows_keep_sensitive_values_from_k_on(rows: int, kept: bool) -> None:
    letters = "bcdefg"[:rows]
    table = {"q": ["x"] * 20 + list(letters), "ill": ["flu"] * (20 + rows)}
    job = kanopy.Job(quasi=["q"], k=5, suppress=0.5, sensitive=["ill"], max_levels={"q": 0})
    found = kanopy.anonymize(table, job)
    assert found.suppressed == rows and found.data["ill"][20:] == (["flu"] * rows if kept else [None] * rows)


def test_weeks_begin_on_monday() -> None:
    days = [dt.date(2024, 1, day) for day in range(1, 15)]
    tree = kanopy.build_hierarchy(days, "dates", granularities=["week", "iso_year"])
    monday, second = dt.date(2024, 1, 1).toordinal(), dt.date(2024, 1, 8).toordinal()
    assert tree.intervals_at(1) == [(monday, monday + 6), (second, second + 6)]
    assert tree.generalize("2024-01-07", 1) == "2024-W01" and tree.generalize("2024-01-08", 1) == "2024-W02"


def test_microaggregation_leaves_no_group_of_twice_k() -> None:
    words = ["cat", "dog", "horse", "cow", "eagle", "parrot", "snake", "lizard", "frog", "salmon", "trout"]
    job = kanopy.MaskJob(text=["pet"], k=3, algorithm="semantic-microaggregation", targets="any")
    sizes = Counter(kanopy.mask({"pet": words}, job).data["pet"])
    assert sorted(sizes.values()) == [3, 3, 5]


def test_merging_groups_counts_the_rows_that_it_makes_broader() -> None:
    """One row beside a hundred in a narrow group and three a little further away: the three are cheaper to join."""
    tree = kanopy.build_hierarchy(list(range(21)), "iotf")
    rows = [6] * 50 + [8] * 50 + [10] + [15] * 3 + [0] * 5 + [20] * 5
    leaves, of_row, counts = np.unique(rows, return_inverse=True, return_counts=True)
    domain = Domain(
        ("q",), (tree,), leaves[:, None].astype(np.int32), counts.astype(np.int64), of_row.reshape(-1).astype(np.int32)
    )
    measure = k_member_clusters(domain, 2, free=["q"]).measure
    at = measure.positions[domain.tuple_of_row][:, 0]
    group = np.array([0] * 100 + [1] + [2] * 3 + [3] * 5 + [4] * 5, np.int32)
    ends = [[function(at[group == g]) for g in range(5)] for function in (min, max)]
    low, high = (np.array(each, np.int32)[:, None] for each in ends)
    merged, times = merge_until_safe(Groups(group, low, high, measure), Problem(domain, [KAnonymity(2)]))
    assert times == 1 and merged.of_row[100] == merged.of_row[101]


@pytest.mark.parametrize("algorithm", ["optimal", "incognito"])
def test_of_releases_that_lose_the_same_the_finer_is_published_then_the_first(algorithm: str) -> None:
    """Either column may go, and its middle level loses nothing; only a test of something else had noticed."""
    tree = kanopy.Hierarchy.from_rows([["a", "A", "*"], ["b", "B", "*"]])
    wanted = kanopy.Job(quasi=["p", "q"], k=2, hierarchies={"p": tree, "q": tree}, algorithm=algorithm)
    assert kanopy.anonymize({"p": list("aabb"), "q": list("abab")}, wanted).levels == {"p": 0, "q": 2}
