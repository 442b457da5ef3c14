"""Every bug ever found keeps a test here."""

from __future__ import annotations

import subprocess
import sys

import kanopy


def test_a_label_repeated_at_a_higher_level_is_one_published_label() -> None:
    """k-member published "White" from two nodes; the classes claimed and the classes found differed by one."""
    race = kanopy.Hierarchy.from_rows([["w", "w", "*"], ["b", "other", "*"], ["a", "other", "*"]])
    people = {"race": ["w", "w", "w", "w", "b", "a"], "age": [30, 30, 41, 42, 50, 51]}
    job = kanopy.Job(
        quasi=["race", "age"], k=2, algorithm="k-member",
        hierarchies={"race": race, "age": {"method": "iotf"}},
    )  # fmt: skip
    result = kanopy.anonymize(people, job)
    assert result.verification.smallest_class >= 2


def test_local_recoding_of_all_of_adult_verifies() -> None:
    """Two nodes with one label made the count of classes differ from the published labels."""
    job = kanopy.Job(
        quasi=["age", "race", "sex"], k=5, algorithm="mondrian", hierarchies=kanopy.datasets.adult_hierarchies()
    )
    result = kanopy.anonymize(kanopy.datasets.adult(), job)
    assert kanopy.check(result.data, quasi=job.quasi).k >= 5


def test_a_column_of_record_numbers_stays_home() -> None:
    """A unique column called id was published as insensitive: it points at one person in every row."""
    people = {"id": list(range(6)), "age": [30, 30, 30, 40, 40, 40], "shop no": [1, 1, 1, 1, 2, 2]}
    result = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3))
    assert list(result.data) == ["age", "shop no"]
    assert "'id' was left out" in result.notes[0]
    kept = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3, insensitive=["id"]))
    assert "id" in kept.data


def test_a_control_character_in_a_label_does_not_end_the_process() -> None:
    """The plotting library ends the whole process when it meets a control character: pictures of explored jobs, of
    compared algorithms and of hierarchies were drawn without looking for one."""
    code = """
from kanopy.hierarchy import Hierarchy
from kanopy.ontology import load_ontology
from kanopy.report.charts.compare import loss_bars
from kanopy.report.charts.marks import lines, sheet
from kanopy.report.charts.risk_map import risk_map
from kanopy.report.charts.semantic import trees_and_curves
from kanopy.report.render import picture
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
bad = "a\\x01b\\x0b\\x00"
point = {"k": 2, "suppress": 0.0, "models": [bad], "algorithm": bad, "loss": 0.1, "highest_risk": 0.5, "best": True}
entry = {"name": bad, "recoding": "local", "losses": {bad: 0.1}, "seconds": 1.0}
judged = evaluate_hierarchy(Hierarchy.from_rows([["cat", bad], ["dog", bad]]), load_ontology("wordnet"))
for chart in (
    risk_map([point], bad), loss_bars([entry], bad), trees_and_curves([(bad, judged)]),
    sheet(bad, bad, lines([{"series": bad, bad: 1, "y": 2}], [bad], bad, "y", axis=bad)),
):
    for kind in ("svg", "png", "pdf"):
        assert len(picture(chart, kind)) > 500
print("drawn")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == "drawn\n", done.stderr[-500:]
