"""Ayala-Rivera et al. 2014: all transitions of Table 1, the levels of Figure 2, all of Table 2 (to its rounding)."""

from __future__ import annotations

import pytest

from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
from kanopy.ontology.load import load_ontology
from kanopy_papers.ayala2014 import ANIMALS, SENSES_2, TABLE_1, TABLE_2, VGH1, VGH2
from tests.shared_input import figures

WORDNET = load_ontology("wordnet")


def test_table_1_at_four_decimals():
    quality = evaluate_hierarchy(Hierarchy.from_rows(ANIMALS), WORDNET)
    found = {(t.leaf, t.level): round(t.loss, 4) for t in quality.transitions}
    assert found == {(leaf, level): row[level - 1] for leaf, row in TABLE_1.items() for level in (1, 2, 3)}
    assert [round(level.gsl, 4) for level in quality.levels] == [0.1538, 0.3333, 0.2]
    assert round(quality.score, 4) == 0.2291


def test_the_oracle_agrees_in_every_sense_and_fraction():
    rows = figures("gsl_animals")["rows"]
    quality = evaluate_hierarchy(Hierarchy.from_rows(ANIMALS), WORDNET)
    found = {(t.leaf, t.ancestor): t for t in quality.transitions}
    assert len(rows) == len(found) == 21
    for row in rows:
        transition = found[row["leaf"], row["ancestor"]]
        top, bottom = map(int, row["similarity_fraction"].split("/"))
        assert transition.similarity == pytest.approx(top / bottom, abs=1e-12)
        assert round(transition.loss, 4) == row["expected"]
        assert (transition.leaf_sense, transition.ancestor_sense) == (row["leaf_sense"], row["ancestor_sense"])


@pytest.mark.parametrize("weights", ["constant", "level"])
@pytest.mark.parametrize(("name", "rows"), [("VGH1", VGH1), ("VGH2", VGH2)])
def test_table_2_within_its_rounding(name, rows, weights):
    quality = evaluate_hierarchy(Hierarchy.from_rows(rows), WORDNET, weights=weights, choices=SENSES_2)
    ours = [*(level.weighted for level in quality.levels), quality.score]
    assert ours == pytest.approx(list(TABLE_2[name][weights]), abs=1.0001e-4)
