"""The hierarchy commands: what they print, as JSON and in words, and how they refuse."""

from __future__ import annotations

import pytest

from kanopy._errors import InputError
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.hierarchy.files.files import read_hierarchy
from tests.cli.running import run_hierarchy as run
from tests.cli.running import run_hierarchy_json as run_json


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "".join(f"{age},{'fm'[age % 2]}\n" for age in range(1, 101)) + "?,f\n")
    return path


def test_methods_lists_every_builder():
    assert [entry["name"] for entry in run_json("methods")["methods"]] == list(BUILDERS)
    assert "merge the" in run("methods")


def test_build_prints_levels_and_nodes(data, tmp_path):
    out = tmp_path / "age.json"
    result = run_json(
        "build", data, "age", "--method", "cgh", "--param", "min_width=10", "--missing-tokens", "?", "-o", out
    )
    assert {"method", "height", "leaves", "levels", "nodes"} <= set(result)
    assert (result["method"], result["height"], result["leaves"]) == ("cgh", 4, 100)
    assert [len(level) for level in result["levels"]] == [8, 4, 2, 1]
    assert result["levels"][0][0] == [1, 12]
    assert result["nodes"][0] == {"min": 1, "max": 1, "parent": 100, "label": "1"}
    assert result["nodes"][-1]["parent"] is None
    assert read_hierarchy(out).height == 4


def test_build_iotf_begins_with_the_values(data):
    result = run_json("build", data, "age", "-m", "iotf", "--missing-tokens", "?")
    assert result["levels"][0][:2] == [[1, 1], [2, 2]]
    assert result["levels"][-1] == [[1, 100]]
    assert len(result["nodes"]) == 199


def test_build_of_text_lists_labels(data):
    assert run_json("build", data, "sex", "-m", "suppress")["levels"] == [["f", "m"], ["*"]]


def test_show_draws(data, tmp_path):
    run("build", data, "age", "-m", "iotf", "--missing-tokens", "?", "-o", tmp_path / "age.csv")
    svg, html = tmp_path / "a.svg", tmp_path / "a.html"
    assert "[1, 100]  (100 values)" in run("show", tmp_path / "age.csv", "--svg", svg, "--html", html)
    assert svg.read_text().startswith("<svg")
    assert "kanopy-tree" in html.read_text()
    assert run_json("show", tmp_path / "age.csv")["nodes_per_level"][0] == 100


def test_a_hierarchy_that_does_not_nest_can_be_shown(data):
    shown = run("build", data, "age", "-m", "dbgh", "-p", "chain=false", "-p", "min_width=10", "--missing-tokens", "?")
    assert "does not nest" in shown
    nodes = run_json("build", data, "age", "-m", "dbgh", "-p", "chain=false", "--missing-tokens", "?")["nodes"]
    assert all(node["parent"] is None for node in nodes)


def test_suggest_and_compare(data, tmp_path):
    ranking = run_json("suggest", data, "age", "-k", 3, "--missing-tokens", "?", "-o", tmp_path / "best.csv")
    losses = [entry["loss"] for entry in ranking["ranking"]]
    assert losses == sorted(losses)
    assert ranking["best"] == ranking["ranking"][0]["method"]
    assert "equal_width" in ranking["note"]
    assert "Best:" in run("suggest", data, "age", "--missing-tokens", "?")
    run("build", data, "age", "-m", "cgh", "--missing-tokens", "?", "-o", tmp_path / "cgh.json")
    files = tmp_path / "best.csv", tmp_path / "cgh.json"
    found = run_json("compare", *files, "--data", data, "--column", "age", "-k", 3, "--missing-tokens", "?")
    assert [entry["leaves"] for entry in found["hierarchies"]] == [100, 100]
    assert all(0 <= entry["loss"] <= 1 for entry in found["hierarchies"])
    assert "share" in run("compare", *files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "DATA", "age", "-m", "iotf"), "contains texts, and iotf needs numbers: '\\?'"),
        (("build", "DATA", "agee", "-m", "iotf"), "Did you mean 'age'"),
        (("build", "DATA", "age", "-m", "iotf", "-p", "x"), "name=value"),
        (("build", "DATA", "age", "-m", "iotf", "-p", "x=1", "--missing-tokens", "?"), "no parameter 'x'"),
        (("build", "DATA", "age", "-p", "x=1", "--missing-tokens", "?"), "no parameter but k"),
        (("build", "DATA", "sex", "-m", "suppress", "-o", "DATA"), "never overwritten"),
        (("suggest", "DATA", "age", "-k", "1000", "--missing-tokens", "?"), "fewer than k=1,000"),
        (("compare", "DATA", "DATA", "--data", "DATA"), "both --data and --column"),
    ],
)
def test_bad_requests_are_answered_in_words(data, arguments, message):
    before = data.read_text()
    with pytest.raises(InputError, match=message):
        run(*[str(data) if argument == "DATA" else argument for argument in arguments])
    assert data.read_text() == before
