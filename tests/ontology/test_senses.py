"""From label to concept: the chain, the choice of senses, and the file in which people correct it."""

from __future__ import annotations

import tomllib

import pytest

from kanopy._errors import OntologyError
from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.labels import find_label, sense_name, suggestions
from kanopy.ontology.senses.senses import SenseChoices, senses_of_hierarchy, senses_of_values
from kanopy.ontology.senses.senses_file import parse_senses, read_senses, senses_path, senses_toml
from kanopy.ontology.taxonomy import Concept, Taxonomy

WORDNET = load_ontology("wordnet")


@pytest.mark.parametrize(
    ("label", "how", "term"),
    [
        ("Cat", "exact", "cat"),
        ("United-States", "exact", "united-states"),
        ("warm_blooded animal", "head noun", "animal"),
        ("Wolves", "morphology", "wolf"),
        ("warm-blooded", "nominalized", "homeotherm"),
        ("widowed", "stem", "widow"),
        ("rural tourism", "head noun", "tourism"),
        ("tiger#2", "chosen", "tiger#2"),
        ("*", "suppressed", "*"),
        ("qqxzt", "unknown", ""),
    ],
)
def test_the_chain(label, how, term):
    match = find_label(WORDNET, label)
    assert (match.how, match.term) == (how, term)
    assert match.known == (how != "unknown")


def test_what_the_user_says_comes_first():
    match = find_label(WORDNET, "Prof-specialty", {"prof specialty": "professional#1"})
    assert (match.how, WORDNET.sense_name(match.concepts[0])) == ("synonym", "professional#1")
    adjective = find_label(WORDNET, "cold-blooded", {"cold-blooded": "ectotherm"})
    assert adjective.part_of_speech == "adjective"


@pytest.mark.parametrize("label", ["No diploma", "never married", "Without-pay", "not a degree"])
def test_a_denied_head_noun_is_not_taken(label):
    assert find_label(WORDNET, label).how == "unknown"


def test_an_abbreviation_in_lower_case_is_not_taken_for_one_in_capitals():
    assert find_label(WORDNET, "Self-emp-inc").how == "unknown"  # WordNet knows INC, the Iraqi National Congress
    assert find_label(WORDNET, "Outlying-US").how == "head noun"


def test_unknown_labels_come_with_suggestions():
    assert suggestions(WORDNET, "crocodyle")[0] == "crocodile"
    assert find_label(WORDNET, "vertebreat").suggestions[0] == "vertebrate"


def test_a_sense_that_does_not_exist_is_an_error():
    with pytest.raises(OntologyError, match="2 senses"):
        find_label(WORDNET, "tiger#7")


def test_leaf_takes_the_sense_under_its_ancestors_and_ancestors_the_one_above_their_leaves():
    found = senses_of_hierarchy(
        WORDNET, [["tiger", "big cat", "animal"], ["frog", "amphibian", "animal"], ["salmon", "fish", "animal"]]
    )
    assert found.name("tiger") == "tiger#2"
    assert found.name("amphibian") == "amphibian#3"
    assert found.name("salmon") == "salmon#1"
    assert not found.ambiguous


def test_no_sense_under_the_ancestors_is_flagged():
    found = senses_of_hierarchy(WORDNET, [["tiger", "vehicle"]])
    assert found.name("tiger") == "tiger#1"
    assert found["tiger"].is_ambiguous
    assert [row["label"] for row in found.report() if row["ambiguous"]] == ["tiger", "vehicle"]


def test_the_users_choice_wins_over_the_rule():
    rows = [["tiger", "big cat", "animal"]]
    found = senses_of_hierarchy(WORDNET, rows, SenseChoices(senses={"Tiger": "tiger#1"}))
    assert found.name("tiger") == "tiger#1"
    written_in_the_label = senses_of_hierarchy(WORDNET, [["tiger#1", "big cat", "animal"]])
    assert written_in_the_label.name("tiger#1") == "tiger#1"


def test_the_noun_of_an_adjective_nearest_to_the_leaves():
    found = senses_of_hierarchy(WORDNET, [["snake", "reptile", "cold-blooded"]])
    assert WORDNET.sense("ectotherm") == found.concept("cold-blooded")
    assert found["cold-blooded"].flagged


def test_values_agree_with_each_other():
    animals = senses_of_values(WORDNET, ["tiger", "lion", "leopard", "cat"])
    people = senses_of_values(WORDNET, ["tiger", "daredevil", "madcap", "hothead"])
    assert animals.name("tiger") == "tiger#2"
    assert people.name("tiger") == "tiger#1"


def test_senses_file_round_trip(tmp_path):
    rows = [["tiger", "big cat"], ["snake", "cold-blooded"], ['odd "label" \\ é', "big cat"], ["qqxzt", "big cat"]]
    synonyms = {'odd "label" \\ é': "lion"}
    found = senses_of_hierarchy(WORDNET, rows, SenseChoices(synonyms=synonyms))
    file = tmp_path / "animals.senses.toml"
    file.write_text(senses_toml(found, name="animals.csv", synonyms=synonyms), encoding="utf-8")
    assert tomllib.loads(file.read_text(encoding="utf-8"))["ontology"] == "WordNet 3.0"
    read = read_senses(file)
    again = senses_of_hierarchy(WORDNET, rows, read)
    assert {label: again.concept(label) for label in again} == {label: found.concept(label) for label in found}
    assert read.synonyms == synonyms
    text = file.read_text(encoding="utf-8")
    assert "UNKNOWN" in text and "CHECK" in text and "could be" in text
    rewritten = senses_toml(again)
    assert "could be tiger#1" in rewritten  # what else a chosen label could mean is still said


def test_senses_path_lies_beside_the_hierarchy():
    assert senses_path("a/b.c.csv").as_posix() == "a/b.c.senses.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[senses]\n"tiger" = "tiger#9"', "2 senses"),
        ('[senses]\n"tiger" = "tigrr"', "does not know the word 'tigrr'"),
        ('[synonyms]\n"x" = "warm-blooded"', "no noun sense"),
        ('[senses]\n"tiger" = 2', "not a text"),
        ('[sense]\n"tiger" = "tiger#2"', "Did you mean 'senses'"),
        ('[senses\n"tiger"', "is not a senses file"),
        ('[senses]\n"tiger" = "tiger#1"\n"tiger" = "tiger#2"', r"says twice .*'tiger \(lines 2, 3\)'"),
        ('[synonyms]\n"x" = "lion"\n[senses]\n"x" = "dog#1"', "contradicts its synonym: 'x = dog#1 and lion'"),
    ],
)
def test_bad_senses_files(tmp_path, text, message):
    file = tmp_path / "x.senses.toml"
    file.write_text(text)
    with pytest.raises(OntologyError, match=message) as caught:
        read_senses(file).check(WORDNET)
    assert "x.senses.toml" in str(caught.value)


def test_missing_senses_file(tmp_path):
    with pytest.raises(OntologyError, match="There is no senses file"):
        read_senses(tmp_path / "none.toml")


def test_all_wrong_senses_are_named_at_once():
    with pytest.raises(OntologyError, match="cat = cat#99"):
        parse_senses({"senses": {"tiger": "tiger#9", "cat": "cat#99"}}).check(WORDNET)


def test_concepts_of_other_ontologies_can_be_chosen_by_key():
    taxonomy = Taxonomy.from_concepts([Concept("D:1", ("disease",)), Concept("D:2", ("flu",), ("D:1",))])
    found = senses_of_hierarchy(taxonomy, [["grippe", "disease"]], SenseChoices(senses={"grippe": "D:2"}))
    assert found.concept("grippe") == 1
    assert sense_name(taxonomy, "D:2", 1) == "flu#1"
