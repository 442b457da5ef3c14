"""Columns of everyday nouns and columns of anything else: what each word means, and what is said of the rest."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kanopy._errors import HierarchyError
from kanopy.hierarchy.builders.semantic.builders import Ontology, Proposal
from kanopy.hierarchy.builders.semantic.naming import GroupNames
from kanopy.ontology.load import load_ontology
from kanopy.ontology.senses.senses import senses_of_values
from kanopy.ontology.terms import all_above

WORDNET = load_ontology("wordnet")
MEANT = {
    "pet": ("animal", "cat dog hamster mouse parrot goldfish rabbit turtle canary guinea_pig"),
    "jewelry": (
        "adornment|jewelry|timepiece|jewel|regalia|fastener|clip",
        "ring necklace bracelet watch brooch earring chain crown pin",
    ),
    "weather": (
        "weather|atmospheric phenomenon|precipitation|noise|atmospheric electricity|ice|water|physical phenomenon",
        "rain snow hail wind storm fog frost thunder lightning drizzle",
    ),
    "color": (
        "color|visual property|coloring material|pigment",
        "red orange pink violet rose gold silver olive brown purple",
    ),
    "room": ("room|area|structure|floor|building", "kitchen bedroom bathroom hall study cellar attic garage office"),
    "game": ("game", "chess bridge poker checkers monopoly rummy hearts dominoes darts"),
    "fish": ("fish|food fish|seafood", "tuna bass perch pike sole ray cod carp salmon flounder"),
    "part": (
        "device|electronic equipment|instrumentality|electronic component|memory device|container",
        "mouse keyboard monitor screen printer chip drive memory case fan",
    ),
    "water": ("body of water|spring|stream|geological formation", "river lake sea stream pond spring bay ocean canal"),
    "currency": ("monetary unit|money", "dollar pound mark crown franc yen rupee peso krona"),
    "gem": (
        "gem|mineral|jewel|jewelry|crystal|transparent gem|precious stone|adornment|organic compound",
        "ruby diamond pearl emerald jade opal amber sapphire topaz",
    ),
    "item": ("artifact|paper|material", "stapler paper pen envelope folder ruler stamp file clip"),
    "dance": ("dance|dancing|social dancing", "waltz tango polka ballet salsa foxtrot jive samba"),
    "bird": ("bird", "crane kite swallow robin crow duck swift eagle turkey"),
    "spice": ("flavorer|herb|spice|seasoning", "pepper mint ginger sage thyme mustard clove cinnamon nutmeg"),
    "mark": ("punctuation", "comma colon dash period hyphen bracket"),
    "component": ("artifact", "wheel brake trunk hood tire clutch horn engine seat bumper"),
    "tree": ("tree|woody plant", "pine oak ash beech palm cherry elm box maple willow"),
    "shoe": ("footwear", "boot sandal pump sneaker slipper clog loafer mule"),
    "rank": (
        "serviceman|military officer|enlisted person|commissioned officer|noncommissioned officer|military rank",
        "private general captain major sergeant colonel lieutenant corporal",
    ),
}
"""Per column its name, what is above the senses a reader means, and its values."""


def test_words_have_the_sense_a_reader_means_or_are_named_as_unsure() -> None:
    wrong, words = [], 0
    for header, (above, text) in MEANT.items():
        values = [word.replace("_", " ") for word in text.split()]
        senses = senses_of_values(WORDNET, values, header=header)
        for value in values:
            over = {term for one in WORDNET.ancestors_of(senses.concept(value)) for term in WORDNET.terms_of(one)}
            words += 1
            if not over & set(above.split("|")) and not senses[value].is_ambiguous:
                wrong.append((header, value, senses.name(value)))
    assert len(wrong) <= 0.05 * words, wrong


def proposed(values: list[str], name: str = "") -> Proposal:
    return Ontology().propose(values, name=name)


def test_half_unknown_values_are_other_and_are_named() -> None:
    found = proposed(["dog", "cat", "horse", "qqx", "zzv", "vvb"])
    rows = {row[0]: row for row in found.hierarchy.rows()}
    assert rows["qqx"][0] == "qqx" and rows["qqx"][-2:] == ("other", "*")
    assert any("does not know 'qqx', 'vvb', 'zzv'" in note for note in found.notes)


def test_all_unknown_is_refused_with_a_way_out() -> None:
    with pytest.raises(HierarchyError, match=r"does not know 'qqx', 'zzv'.*synonyms or a senses file"):
        proposed(["qqx", "zzv"])


def test_several_languages_and_typos_come_with_suggestions() -> None:
    found = proposed(["Hund", "chien", "dog", "cat", "perro", "elefant"])
    assert any("'elefant': perhaps 'elephant'" in note for note in found.notes)
    assert any("Only 2 of 6 values are known" in note for note in found.notes)


@pytest.mark.parametrize("others", [["A1", "B2", "C3"], ["2024-01-01", "2023-05-06"]])
def test_words_among_codes_or_dates_are_grouped_and_the_others_named(others: list[str]) -> None:
    found = proposed(["dog", "cat", *others])
    assert any(repr(min(others)) in note for note in found.notes)
    assert {row[0] for row in found.hierarchy.rows()} == {"dog", "cat", *others}


def test_a_word_that_is_also_a_code_is_a_word_among_words() -> None:
    """`tin` is a metal and `PIN` a number; among metals all values are metals."""
    senses = senses_of_values(WORDNET, ["tin", "lead", "iron", "zinc", "copper"], header="metal")
    metal = WORDNET.sense("metallic element")
    assert all(metal in WORDNET.ancestors_of(senses.concept(word)) for word in senses)


def test_one_value() -> None:
    assert proposed(["dog"]).hierarchy.size == 1


@pytest.mark.slow
def test_a_hundred_thousand_values() -> None:
    rng = random.Random(1)
    nouns = rng.sample([word for word in WORDNET.vocabulary if word.isalpha()], 40_000)
    noise = {"".join(rng.choices("abcdefghijklmnop", k=9)) for _ in range(60_000)}
    found = proposed([*nouns, *(noise - set(nouns))])
    assert found.hierarchy.size > 99_000
    assert any("and " in note and "more" in note for note in found.notes)


@pytest.mark.parametrize(
    "column", sorted((Path(__file__).parent / "trees").glob("*.csv"))[1::6], ids=lambda path: path.stem
)
def test_no_label_is_above_another_of_its_level_and_none_says_nothing(column: Path) -> None:
    values = [line.split(";")[0] for line in column.read_text(encoding="utf-8").splitlines()]
    found = proposed(values, column.stem)
    for level in range(1, found.hierarchy.height + 1):
        labels = found.hierarchy.labels_at(level)
        assert len(set(labels)) == len(labels)
        assert not {"physical entity", "entity", "object", "whole", "artifact", "matter"} & set(labels)
        known = [label for label in labels if label in found.senses and WORDNET.knows(label)]
        concepts = {label: found.senses.concept(label) for label in known}
        assert all(label in WORDNET.terms_of(concepts[label]) for label in set(known) - set(values))
        over = {label: all_above(WORDNET, concepts[label]) - {concepts[label]} for label in known}
        groups = set(known) - set(values)  # a value may mean what is above another one
        assert not [(one, other) for one in groups for other in known if concepts[one] in over[other]]


def test_nouns_among_adjectives_are_unsure() -> None:
    senses = senses_of_values(WORDNET, ["single", "married", "divorced", "widowed"])
    assert senses["single"].is_ambiguous


def test_a_cat_among_cars_is_a_cat() -> None:
    assert senses_of_values(WORDNET, ["cat", "car", "bus", "truck"]).name("cat") == "cat#1"


@pytest.mark.parametrize(
    ("header", "word", "others", "meant"),
    [
        ("vehicles", "bus", "car truck train tram bicycle ferry ship plane", "bus#1"),  # a conveyance, no jalopy
        ("materials", "diamond", "wood steel glass paper cotton silk leather marble", "diamond#2"),  # not the card
        ("offences", "battery", "theft fraud assault arson murder perjury bribery", "battery#7"),
        ("object", "ruby", "red blue green scarlet crimson purple", "ruby#3"),  # a name that says nothing: a color
        ("plants", "mill", "refinery brewery foundry factory cannery", "factory#1"),  # no organism among factories
    ],
)
def test_the_name_of_a_column_chooses_between_senses(header: str, word: str, others: str, meant: str) -> None:
    senses = senses_of_values(WORDNET, [word, *others.split()], header=header)
    assert senses.concept(word) == WORDNET.sense(meant)


def test_groups_are_called_by_the_words_of_the_column_and_other_is_only_what_is_left_over() -> None:
    """An `icebox` had stood for refrigerators, and bowls, cups and spoons had been `other`."""
    tools = "frying pan,saucepan,wok,kettle,teapot,toaster,microwave,oven,stove,refrigerator,freezer,dishwasher"
    table = (
        "knife,fork,spoon,ladle,spatula,whisk,plate,bowl,cup,mug,glass,tray,corkscrew,can opener,grater,sieve,colander"
    )
    others = "blender,cutting board,apron,napkin,tablecloth"
    found = proposed(f"{tools},{table},{others}".split(","), "kitchen_items").hierarchy
    labels = [label for level in range(1, found.height) for label in found.labels_at(level)]
    assert "icebox" not in " ".join(labels) and "other" not in labels
    assert "and others" not in " ".join(labels) and "white goods" in labels


def test_a_name_says_something_about_its_group() -> None:
    """Judo and karate had been `protection`, brass and bronze a `mixture`."""
    words = ["judo", "karate", "brass", "bronze", "pewter", "salmon", "trout", "tennis"]
    namer = GroupNames(WORDNET, words, concepts_of(words))
    names = namer.level(np.array([0, 0, 1, 1, 1, 2, 2, 3]), ["*"] * len(words))
    assert (names[0], names[2], names[5]) == ("martial art", "alloy", "fish")


def concepts_of(words: list[str]) -> np.ndarray:
    senses = senses_of_values(WORDNET, words)
    return np.array([senses.concept(word) for word in words], np.int32)
