"""Generalization semantic loss: weights, levels, conventions for unknown labels, faults, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import HierarchyError, InputError, OntologyError
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_loss import level_weights, parse_weights, transition_loss
from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy, rank_hierarchies
from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.senses import SenseChoices
from kanopy.ontology.similarity.measures import MEASURES
from kanopy.ontology.taxonomy import Concept, Taxonomy

WORDNET = load_ontology("wordnet")
PETS = [["cat", "mammal", "animal"], ["dog", "mammal", "animal"], ["salmon", "fish", "animal"]]


def judge(rows, **options):
    return evaluate_hierarchy(Hierarchy.from_rows(rows), WORDNET, **options)


def kinds(quality):
    return [fault.kind for fault in quality.faults]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.sampled_from(["constant", "level"]))
def test_weights_sum_to_one_and_never_grow(height, name):
    weights = level_weights(height, name)
    assert weights.sum() == pytest.approx(1.0)
    assert (np.diff(weights) <= 1e-15).all()


def test_level_weights_of_the_paper():
    assert level_weights(4, "level").tolist() == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert level_weights(2, "level").tolist() == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.5, 0.5), "2 weights were given"),
        ((0.5, 0.2, 0.2), "sum to 0.9"),
        ((1.5, -0.25, -0.25), "at least 0"),
        ((float("nan"), 0.5, 0.5), "at least 0"),
        ("levels", "Did you mean 'level'"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InputError, match=message):
        level_weights(3, weights)


def test_weights_as_written():
    assert parse_weights(" Level ") == "level"
    assert parse_weights("0.5, 0.5") == (0.5, 0.5)
    with pytest.raises(InputError, match="one number per level"):
        parse_weights("heavy")


def test_own_weights_are_used():
    quality = judge(PETS, weights=(1.0, 0.0))
    assert quality.score == quality.levels[0].gsl


def test_mean_and_deviation():
    quality = judge(PETS)
    losses = quality.losses[0]
    assert quality.levels[0].mean == pytest.approx(losses.mean())
    assert quality.levels[0].sd == pytest.approx(losses.std())
    assert [t.leaf for t in quality.levels[0].worst] == ["cat", "dog"]
    assert quality.worst(1)[0].loss == quality.losses.max()


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if not measure.needs_glosses])
def test_any_measure(name):
    quality = judge(PETS, measure=name)
    assert (quality.losses >= -1e-9).all()
    assert quality.score == pytest.approx(np.mean([level.gsl for level in quality.levels]))


def test_unbalanced_hierarchies_repeat_the_leaf():
    h = Hierarchy.from_parents({"cat": "mammal", "dog": "mammal", "mammal": "animal", "salmon": "animal"})
    quality = evaluate_hierarchy(h, WORDNET)
    assert [t.loss for t in quality.transitions if t.leaf == t.ancestor] == [0.0]


def test_star_says_nothing_and_an_unknown_ancestor_neither():
    star = judge([["cat", "*"], ["dog", "*"]])
    root = float(transition_loss(WORDNET, WORDNET.sense("cat"), WORDNET.sense("entity")))
    assert star.levels[0].gsl == pytest.approx(max(root, star.losses[0, 1]))
    unknown = judge([["cat", "qqxzt"], ["dog", "qqxzt"]])
    assert unknown.score == star.score
    assert kinds(unknown) == ["unknown-term"]
    assert unknown.transitions[0].ancestor_sense is None


def test_an_unknown_value_is_left_out_but_listed():
    known = judge([["cat", "animal"], ["dog", "animal"]])
    more = judge([["cat", "animal"], ["dog", "animal"], ["crocodyle", "animal"]])
    assert more.score == known.score
    assert more.transitions[2].loss is None
    assert more.faults[0].facts["suggestions"][0] == "crocodile"
    json.dumps(more.to_dict(), allow_nan=False)


def test_no_known_value_is_an_error():
    with pytest.raises(HierarchyError, match="knows none of its values"):
        judge([["qqxzt", "animal"], ["qqxzu", "animal"]])


def test_nothing_above_the_values_is_an_error():
    with pytest.raises(HierarchyError, match="nothing to evaluate"):
        judge([["cat"], ["dog"]])


def test_a_chosen_sense_that_does_not_exist_is_an_error():
    with pytest.raises(OntologyError, match="tiger"):
        judge(PETS, choices=SenseChoices(senses={"cat": "tiger#5"}))


def test_fault_child_less_specific_than_parent():
    quality = judge([["horse", "herbivore", "mammal", "animal"], ["giraffe", "herbivore", "mammal", "animal"]])
    fault = next(fault for fault in quality.faults if fault.kind == "less-specific-than-parent")
    assert fault.labels == ("herbivore",)
    assert fault.facts["whole_level"]
    assert {t["leaf"] for t in fault.facts["transitions"]} == {"horse", "giraffe"}
    assert "not-a-hypernym" in kinds(quality)


def test_fault_mixed_parts_of_speech_also_with_a_chosen_sense():
    rows = [["cat", "warm-blooded", "animal"], ["dog", "warm-blooded", "animal"]]
    assert "mixed-parts-of-speech" in kinds(judge(rows))
    assert "mixed-parts-of-speech" in kinds(judge(rows, choices=SenseChoices(senses={"warm-blooded": "homeotherm#1"})))


def test_fault_duplicate_meaning():
    fault = next(
        fault
        for fault in judge([["car", "vehicle"], ["automobile", "vehicle"], ["bus", "vehicle"]]).faults
        if fault.kind == "duplicate-meaning"
    )
    assert set(fault.labels) == {"car", "automobile"}


def test_a_sound_hierarchy_has_no_faults():
    assert judge([["cat", "feline", "mammal"], ["wolf", "canine", "mammal"]]).faults == ()


def test_other_ontologies_with_several_roots():
    concepts = [Concept("a", ("fruit",)), Concept("b", ("apple",), ("a",)), Concept("c", ("stone",))]
    taxonomy = Taxonomy.from_concepts(concepts)
    quality = evaluate_hierarchy(Hierarchy.from_rows([["apple", "fruit", "*"], ["stone", "stone", "*"]]), taxonomy)
    assert quality.levels[0].gsl < quality.levels[1].gsl
    assert not quality.faults


def test_ranking_shares_ranks():
    ranking = rank_hierarchies([("a", 0.2), ("b", 0.1), ("c", 0.2), ("d", 0.3)])
    assert [entry["rank"] for entry in ranking] == [1, 2, 2, 4]


def test_labels_too_close_to_their_value() -> None:
    rows = [["crocodile", "crocodilian", "animal"], ["parrot", "bird", "animal"], ["stork", "bird", "animal"]]
    quality = evaluate_hierarchy(Hierarchy.from_rows(rows), load_ontology("wordnet"))
    close = quality.too_close()
    assert [(c.leaf, c.ancestor, c.level, c.values) for c in close] == [
        ("crocodile", "crocodilian", 1, 1),
        ("parrot", "bird", 1, 2),
    ]
    assert all(c.loss == quality.transition(c.level, [r[0] for r in rows].index(c.leaf)).loss for c in close)
    assert quality.too_close(0) == [] and len(quality.too_close(1)) == 6
    with pytest.raises(InputError, match="from 0 to 1"):
        quality.too_close(2)
    unbalanced = Hierarchy.from_rows([["cat", "cat", "animal"], ["dog", "canine", "animal"]])
    assert all(c.leaf != c.ancestor for c in evaluate_hierarchy(unbalanced, load_ontology("wordnet")).too_close(1))
