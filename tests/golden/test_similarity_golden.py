"""Published and recomputed similarities: Ayala-Rivera et al. 2014 (Table 1), worked Wu-Palmer pairs, correlations."""

from __future__ import annotations

import numpy as np
import pytest

from kanopy.ontology.load import load_ontology
from kanopy.ontology.similarity.benchmark import rating_agreement, read_word_pairs
from kanopy.ontology.similarity.measures import similarities
from kanopy.ontology.similarity.subsumers import deepest_common_subsumer
from tests.shared_input import figures, needs_shared

# Ayala-Rivera et al. 2014, Table 1: 1 - similarity, four decimals
TABLE_1 = [("parrot", "bird", 0.0435), ("parrot", "homeotherm", 0.2381), ("snake", "vertebrate", 0.1304)]

# Correlations (Pearson, Spearman) with the ratings of Miller and Charles 1991 and of Rubenstein and Goodenough 1965,
# recomputed independently from the files of WordNet 3.0 with the best over senses, tag counts by sense key
CORRELATIONS = {
    "wu-palmer": ((0.7284, 0.7416), (0.7851, 0.7847)),
    "path": ((0.755, 0.7244), (0.7842, 0.782)),
    "path-length": ((0.6379, 0.7244), (0.7374, 0.782)),
    "leacock-chodorow": ((0.7792, 0.7244), (0.8387, 0.782)),
    "resnik": ((0.8007, 0.76), (0.8346, 0.7673)),
    "resnik-seco": ((0.8026, 0.7227), (0.8408, 0.7756)),
    "resnik-sanchez": ((0.8293, 0.7519), (0.8456, 0.7732)),
    "lin": ((0.8312, 0.7666), (0.8626, 0.7943)),
    "lin-seco": ((0.8361, 0.7622), (0.8704, 0.8072)),
    "lin-sanchez": ((0.8406, 0.7637), (0.859, 0.7998)),
    "jiang-conrath": ((0.7024, 0.8144), (0.7384, 0.8061)),
    "jiang-conrath-seco": ((0.8604, 0.8396), (0.8706, 0.8054)),
    "jiang-conrath-sanchez": ((0.7802, 0.8103), (0.8074, 0.8111)),
    "jiang-conrath-distance": ((0.8677, 0.8144), (0.8677, 0.8061)),
    "jiang-conrath-distance-seco": ((0.8819, 0.8396), (0.8669, 0.8054)),
    "jiang-conrath-distance-sanchez": ((0.8696, 0.8103), (0.8692, 0.8111)),
}


@pytest.mark.parametrize(("leaf", "ancestor", "loss"), TABLE_1)
def test_published_losses(leaf: str, ancestor: str, loss: float) -> None:
    wordnet = load_ontology("wordnet")
    assert round(1 - float(similarities(wordnet, wordnet.sense(leaf), wordnet.sense(ancestor))), 4) == loss


def test_all_published_transitions() -> None:
    wordnet = load_ontology("wordnet")
    rows = figures("gsl_animals")["rows"]
    assert len(rows) == 21
    for row in rows:
        a, b = wordnet.sense(row["leaf_sense"]), wordnet.sense(row["ancestor_sense"])
        assert round(1 - float(similarities(wordnet, a, b)), 4) == row["expected"], row
        assert wordnet.sense_name(int(deepest_common_subsumer(wordnet, a, b).concept)) == row["lcs"]


def test_all_worked_pairs_exactly_as_pairs_and_as_blocks() -> None:
    wordnet = load_ontology("wordnet")
    pairs = figures("wup_pairs")["pairs"]
    a, b, lcs = ([wordnet.find_key(f"{pair[x]:08d}-n") for pair in pairs] for x in ("a", "b", "lcs"))
    found = deepest_common_subsumer(wordnet, a, b)
    assert found.concept.tolist() == lcs
    assert found.edges.tolist() == [pair["N1"] + pair["N2"] for pair in pairs]
    assert (found.depth + 2).tolist() == [pair["N3"] for pair in pairs]
    expected = [pair["wup"] for pair in pairs]
    assert similarities(wordnet, a, b).tolist() == expected
    block = similarities(wordnet, np.array(a)[:, None], np.array(b)[None, :])
    assert np.diagonal(block).tolist() == expected
    assert [wordnet.sense_name(x) for x in a] == [pair["a_name"].replace("_", " ") for pair in pairs]


@pytest.mark.parametrize(("file", "column"), [("mc30.csv", 0), ("rg65.csv", 1)])
def test_correlations_with_people(file: str, column: int) -> None:
    pairs, ratings = read_word_pairs(needs_shared("oracles", file), ratings=True)
    for found in rating_agreement(load_ontology("wordnet"), pairs, ratings, list(CORRELATIONS)):
        assert (found.pearson, found.spearman) == pytest.approx(CORRELATIONS[found.measure][column], abs=6e-5), found
