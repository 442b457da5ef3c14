"""Several ontologies as one, in whatever takes an ontology."""

from __future__ import annotations

import pytest

import kanopy
from kanopy._errors import OntologyError
from kanopy.hierarchy.builders.registry import build_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
from kanopy.ontology.combine import united
from kanopy.ontology.load import load_ontology
from kanopy.ontology.similarity.words import word_similarity
from kanopy.ontology.taxonomy import Taxonomy

CLINIC = (
    "concept,parent\ndisease,\nzorbitis,disease\nzorbitis minor,zorbitis\nzorbitis major,zorbitis\nquoxia,disease\n"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("clinic") / "clinic.csv"
    path.write_text(CLINIC)
    return f"wordnet+{path}"


@pytest.fixture(scope="module")
def both(place: str) -> Taxonomy:
    return load_ontology(place)


def test_words_of_one_ontology_mean_what_they_meant(both: Taxonomy) -> None:
    wordnet = load_ontology("wordnet")
    for word in ("cat", "bank", "wolves", "tiger"):
        assert [both.keys[c] for c in both.senses(word)] == [wordnet.keys[c] for c in wordnet.senses(word)]
        assert both.tagged(word) == wordnet.tagged(word)
    assert both.exceptions == wordnet.exceptions
    adjective = "warm-blooded"
    assert [both.keys[c] for c in both.nominalizations(adjective)] == [
        wordnet.keys[c] for c in wordnet.nominalizations(adjective)
    ]
    assert word_similarity(both, "cat", "dog").similarity == word_similarity(wordnet, "cat", "dog").similarity


def test_concepts_of_both_meet(both: Taxonomy) -> None:
    near = word_similarity(both, "zorbitis minor", "influenza").similarity
    assert near > word_similarity(both, "zorbitis minor", "cat").similarity
    assert both.label(both.sense("disease")) == "disease" and len(both.senses("disease")) == 2


def test_the_same_files_are_read_once(both: Taxonomy, place: str) -> None:
    assert load_ontology(place) is both


def test_hierarchies_are_built_and_judged_over_both(both: Taxonomy, place: str) -> None:
    values = ["zorbitis minor", "zorbitis major", "quoxia", "cat", "dog", "salmon"]
    tree = build_hierarchy(values, "ontology", ontology=place, style="taxonomy")
    under = {
        value: {tree.label(int(tree.table[level][at])) for level in range(1, tree.height)}
        for at, value in enumerate(tree.values)
    }
    assert set(under) == set(values) and under["zorbitis minor"] & under["zorbitis major"]
    rows = [["zorbitis minor", "disease", "*"], ["influenza", "disease", "*"], ["cat", "animal", "*"]]
    quality = evaluate_hierarchy(Hierarchy.from_rows(rows), both)
    assert 0 < quality.score < 1


def test_answers_of_both_are_masked(place: str) -> None:
    answers = ["zorbitis minor"] * 4 + ["zorbitis major"] * 6 + ["cat"] * 6 + ["dog"] * 4
    job = kanopy.MaskJob(text=["answer"], k=5, ontology=place)
    masked = kanopy.mask({"answer": answers}, job).data["answer"]
    assert set(masked[:4]) == {"zorbitis major"} and set(masked[16:]) == {"cat"}


def test_nothing_to_unite_and_unknown_parts_are_refused() -> None:
    with pytest.raises(OntologyError, match="at least one"):
        united([])
    with pytest.raises(OntologyError, match=r"There is no ontology 'nowhere\.csv'"):
        load_ontology("wordnet+nowhere.csv")
