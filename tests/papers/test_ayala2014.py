"""The reproduction of Ayala-Rivera et al. 2014: every verdict follows from the numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kanopy_papers import ayala2014
from kanopy_papers.ayala2014 import reproduce


@pytest.fixture(scope="module")
def rerun() -> Any:
    return reproduce()


def test_verdicts_are_those_of_the_numbers(rerun: Any) -> None:
    transitions = {(t["leaf"], t["ancestor"]): t for t in rerun.data["table1"]["transitions"]}
    seen = 0
    for claim in rerun.claims:
        if claim.claim.startswith("Table 1"):
            leaf, ancestor = claim.claim.split("(")[1].rstrip(")").split(", ")
            found = transitions[leaf, ancestor]
            assert (claim.verdict == "holds") == (round(found["ours"], 4) == found["published"])
            seen += 1
    assert seen == 21
    assert [c.verdict for c in rerun.claims if "VghGSL with constant" in c.claim] == ["not decidable"]
    assert {c.source for c in rerun.claims if c.claim.startswith("Beyond")} == {"ours"}


def test_another_published_number_does_not_hold(monkeypatch: pytest.MonkeyPatch, rerun: Any) -> None:
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
    from kanopy.ontology.load import load_ontology

    monkeypatch.setitem(ayala2014.TABLE_1, "cat", (0.1538, 0.3334, 0.2))
    first = evaluate_hierarchy(Hierarchy.from_rows(ayala2014.ANIMALS), load_ontology("wordnet"))
    wrong = [claim.claim for claim in ayala2014._table_1_claims(first) if claim.verdict == "does not hold"]
    assert wrong == ["Table 1: TransGSL(cat, homeotherm)"]


def test_the_convention_that_decides_is_counted(rerun: Any) -> None:
    assert "21 of 21" in rerun.conventions[0]


def test_files(tmp_path: Any, rerun: Any) -> None:
    assert "reconstructed" in rerun.introduction
    plain = json.loads(json.dumps(rerun.json()))
    assert plain["table2_is_a_reconstruction"] is True
    assert len(plain["table1"]["transitions"]) == 21
    written = {path.name for path in rerun.write(tmp_path)}
    assert {"table1.csv", "table2.csv", "figure4.svg", "figure4.png", "index.html"} <= written
    assert "VGH2" in (tmp_path / "figure4.svg").read_text(encoding="utf-8")


def test_spoiling_a_hierarchy_keeps_its_shape_and_utility_is_judged_by_its_numbers(rerun: Any) -> None:
    from dataclasses import replace

    import numpy as np

    from kanopy_papers.ayala_utility import Spoiled, spoiled_rows, utility_claims

    rows = [[str(leaf), str(leaf // 3), "*"] for leaf in range(12)]
    half = spoiled_rows(rows, 0.5, np.random.default_rng(0))
    assert sorted(row[0] for row in half) == sorted(row[0] for row in rows)
    assert [row[1:] for row in half] == [row[1:] for row in rows]
    assert sum(a[0] != b[0] for a, b in zip(half, rows, strict=True)) == 6
    found = [Spoiled("c", 0.0, seed, seed / 10, seed / 10, 1 - seed / 10) for seed in range(5)]
    assert [claim.verdict for claim in utility_claims(found)] == ["holds", "holds"]
    mixed = utility_claims([replace(each, gsl=-each.gsl) for each in found])
    assert [claim.verdict for claim in mixed] == ["does not hold", "holds"]
    table = next(table for table in rerun.tables if table.name == "gsl_and_utility")
    assert {row[0] for row in table.rows} >= {"occupation", "education"} and all(0 <= row[5] <= 1 for row in table.rows)
