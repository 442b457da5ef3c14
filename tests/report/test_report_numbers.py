"""What a report says is what one counts by hand from the rows."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from kanopy._core.classes import Classes
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.report.report import level_sizes, node_levels
from tests.report.report_inputs import SECRET


@pytest.mark.parametrize("kind", ["full", "local", "free"])
def test_numbers_equal_those_counted_from_the_rows(make, kind):
    made = make(kind)
    groups = Counter(row for row in made.published if row is not None)
    before = Counter(made.original)
    found = made.report.to_dict()
    assert found["rows"] == len(made.original)
    assert found["published"] == sum(groups.values())
    assert found["suppressed"] == made.published.count(None)
    assert found["classes"] == len(groups)
    assert found["smallest_class"] == min(groups.values())
    assert found["risk"]["after"]["highest_prosecutor"] == 1 / min(groups.values())
    assert found["risk"]["after"]["marketer"] == pytest.approx(len(groups) / sum(groups.values()))
    assert found["risk"]["before"]["marketer"] == pytest.approx(len(before) / len(made.original))
    assert found["risk"]["before"]["unique_rows"] == sum(1 for size in before.values() if size == 1)
    above = {round(1 / each["above"]): each["rows"] for each in found["risk"]["after"]["rows_above"]}
    assert above == {size: sum(n for n in groups.values() if n < size) for size in (2, 3, 5, 10, 20)}
    for j, column in enumerate(found["columns"]):
        assert set(column["published_labels"]) == {row[j] for row in groups}
        assert sum(use["rows"] for use in column["levels_used"]) == found["published"]


def test_levels_used_by_a_local_recoding(make):
    made = make("local")
    city, age = made.report.to_dict()["columns"]
    half = len(made.original) // 2
    assert [(use["level"], use["rows"]) for use in city["levels_used"]] == [(0, half), (2, half)]
    assert [(use["level"], use["share"]) for use in age["levels_used"]] == [(2, 1.0)]
    assert city["level"] is None and made.report.to_dict()["levels"] is None


def test_labels_without_a_hierarchy_have_no_level(make):
    assert [use["level"] for use in make("free").report.to_dict()["columns"][0]["levels_used"]] == [-1]


def test_the_json_holds_no_cell_and_no_unpublished_label(make):
    made = make("full")
    text = made.report.to_json()
    assert SECRET not in text
    assert "Name " not in text and "flu" not in text
    published = {label for row in made.published if row for label in row}
    hidden = {value for row in made.original for value in row} - published
    assert hidden
    strings = set(_strings(json.loads(text)))
    assert not hidden & strings


def _strings(value):
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


def test_the_first_keys_are_those_of_the_command(make):
    promised = {
        "algorithm", "optimal", "k", "levels", "metric", "score", "losses", "rows", "suppressed", "classes",
        "smallest_class", "judged", "candidates", "floor", "gap", "verified", "seconds",
    }  # fmt: skip
    assert set(list(make().report.to_dict())[: len(promised)]) == promised


def test_a_failed_check_is_never_good_news(make):
    report = make(verification={"verified": False}).report
    assert not report.holds and not report.verified
    assert "Do not publish" in report.sentence
    assert 'class="hero bad"' in report.to_html()


def test_classes_below_k_are_never_good_news(make):
    from kanopy.privacy.models import KAnonymity

    report = make(models=(KAnonymity(30),)).report
    assert not report.holds and "Do not publish" in report.sentence


def test_a_release_without_a_check_says_so(make):
    report = make(verification={}).report
    assert not report.verified and "has not been verified" in report.to_html()


def test_the_sentence_counts_the_others(make):
    words = "In its quasi-identifiers, every published row is indistinguishable from at least 2 others."
    assert make().report.sentence == words


def test_why_rows_were_suppressed(make):
    made = make("full")
    gone = made.report.suppression
    assert (gone.rows, gone.violating, gone.excluded, gone.limit_rows) == (made.published.count(None),) * 2 + (0, 3)


def test_notes_are_said_once(make):
    assert make("local").report.notes == ("A note of the search.", "A note of the run.")


def test_numbers_that_json_does_not_know_become_null(make):
    report = make(losses={"loss": float("nan"), "aecs": np.float64(2.5)}, classes_before=Classes(np.array([1]))).report
    assert json.loads(report.to_json())["losses"] == {"loss": None, "aecs": 2.5}


def test_deep_trees_need_no_level_table():
    chain = {str(i): str(i + 1) for i in range(150)} | {"leaf": "100"}
    tree = Hierarchy.from_parents(chain)
    levels = node_levels(tree)
    assert levels[: tree.size].tolist() == [0] * tree.size
    assert int(levels.max()) == tree.height == 150
    assert level_sizes(tree) == [int(n) for n in tree.level_sizes]
