"""Computed checks of ontologies, senses, similarities and masking: small cases settled by hand from the definition."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

ANIMALS = [["cat", "carnivore", "animal"], ["dog", "carnivore", "animal"], ["trout", "fish", "animal"]]
ANSWERS = ["beach"] * 6 + ["baech"] + ["heron"] * 2 + ["egret"] * 2 + ["stork"]


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    from kanopy.ontology.load import load_ontology

    return load_ontology("wordnet")


def _at(word: str) -> Any:
    return np.array([_wordnet().sense(word)], np.int32)


def _close(one: Any, other: float) -> bool:
    return abs(float(np.asarray(one).reshape(-1)[0]) - other) < 1e-12


def _small() -> Any:
    """Five concepts: pets and birds below animals."""
    from kanopy.ontology import Concept, Taxonomy

    return Taxonomy.from_concepts(
        [
            Concept("a", ("animal",)),
            Concept("p", ("pet",), ("a",)),
            Concept("d", ("dog", "hound"), ("p",)),
            Concept("c", ("cat",), ("p",)),
            Concept("b", ("bird",), ("a",)),
        ]
    )


def other_ontologies() -> bool:
    """A file of another domain is read, and its is-a links hold."""
    import tempfile
    from pathlib import Path

    from kanopy.ontology.load import read_ontology

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ills.csv"
        path.write_text("illness,\nflu,illness\nmild flu,flu\n", encoding="utf-8")
        found = read_ontology(path)
    return bool(found.is_a(found.sense("mild flu"), found.sense("illness")))


def similarity_with_its_maximum() -> bool:
    """The loss of a label that means the value itself is 0 by every measure, whatever its maximum."""
    from kanopy.hierarchy.quality.semantic_loss import transition_loss

    names = ("wu-palmer", "path", "leacock-chodorow", "lin")
    own = [transition_loss(_wordnet(), _at("dog"), _at("dog"), name) for name in names]
    far = [transition_loss(_wordnet(), _at("dog"), _at("entity"), name) for name in names]
    return all(_close(one, 0.0) for one in own) and all(float(one[0]) > 0 for one in far)


def procedure_one() -> bool:
    """Cat to mammal and to animal, salmon to fish and to animal (Table 1): 4/26 is the larger loss of level 1."""
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy

    rows = [["cat", "mammal", "animal"], ["salmon", "fish", "animal"]]
    found = evaluate_hierarchy(Hierarchy.from_rows(rows), _wordnet())
    return _close(found.levels[0].gsl, 4 / 26) and _close(found.score, sum(one.gsl for one in found.levels) / 2)


def synonyms_given() -> bool:
    """A word that is not found takes the concept of the synonym that a person gives."""
    from kanopy.ontology.senses.senses import SenseChoices, senses_of_values

    words = ["qqpet", "cat", "horse"]
    found = senses_of_values(_wordnet(), words, SenseChoices(synonyms={"qqpet": "dog"}))
    return (
        found.concept("qqpet") == _wordnet().sense("dog") and senses_of_values(_wordnet(), words).concept("qqpet") < 0
    )


def senses_by_hand() -> bool:
    from kanopy.ontology.senses.senses import SenseChoices, senses_of_values

    found = senses_of_values(_wordnet(), ["dog", "cat"], SenseChoices(senses={"dog": "dog#3"}))
    return bool(found.concept("dog") == _wordnet().sense("dog#3") != _wordnet().sense("dog"))


def ancestors_sense() -> bool:
    """`fish` above a trout is the animal, above a fillet the food: both are hypernyms of their leaves."""
    from kanopy.ontology.senses.senses import senses_of_hierarchy

    w = _wordnet()
    found = senses_of_hierarchy(w, [["salmon", "fish", "*"], ["shark", "fish", "*"]])
    return all(w.is_a(found.concept(leaf), found.concept("fish")) for leaf in ("salmon", "shark"))


def ranking() -> bool:
    """The hierarchy that loses less comes first."""
    from kanopy.hierarchy.quality.semantic_quality import rank_hierarchies

    found = rank_hierarchies([("a", 0.3), ("b", 0.2)])
    return [(one["rank"], one["file"]) for one in found] == [(1, "b"), (2, "a")]


def faults() -> bool:
    """A value under what is not true of it is found."""
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy

    wrong = [["cat", "fish", "animal"], ["trout", "fish", "animal"]]
    kinds = {one.kind for one in evaluate_hierarchy(Hierarchy.from_rows(wrong), _wordnet()).faults}
    right = {one.kind for one in evaluate_hierarchy(Hierarchy.from_rows(ANIMALS), _wordnet()).faults}
    return "not-a-hypernym" in kinds and "not-a-hypernym" not in right


def hypernyms() -> bool:
    """Above the cat of WordNet 3.0 stand feline, carnivore, placental, mammal, vertebrate, chordate, animal."""
    w = _wordnet()
    names = {w.label(one) for one in w.ancestors_of(w.sense("cat"))}
    return {"feline", "carnivore", "placental", "mammal", "vertebrate", "chordate", "animal"} <= names


def depth_shifted() -> bool:
    """Cat and mammal: four links apart, nine links deep: 2 · 11 / (4 + 22) with the shift of 2, 18 / 22 without."""
    from kanopy.ontology.similarity.formulas import wu_palmer

    pair = _wordnet(), _at("cat"), _at("mammal")
    return _close(wu_palmer(*pair), 22 / 26) and _close(wu_palmer(*pair, depth_offset=0), 18 / 22)


def car_and_compact() -> bool:
    """A compact car lies one link below the car, which is what the two share: 2 · N3 / (1 + 2 · N3)."""
    from kanopy.ontology.similarity.formulas import wu_palmer

    w = _wordnet()
    car, compact = _at("car"), np.array([one for one in w.senses("compact") if w.is_a(one, w.sense("car"))][:1])
    depth = 2 * (int(w.depth[car[0]]) + 2)
    return len(compact) == 1 and _close(wu_palmer(w, car, compact), depth / (1 + depth))


def tversky_ratio() -> bool:
    """Dog and cat share {pet, animal}; each has one feature of its own at the same depth: 2 / (2 + .5 + .5)."""
    from kanopy.ontology.similarity.formulas import tversky

    t = _small()
    return _close(tversky(t, np.array([t.sense("dog")]), np.array([t.sense("cat")])), 2 / 3)


def rodriguez() -> bool:
    """No common word; neighbourhoods {dog, pet} and {cat, pet} share one: (0 + 1 / 2) / 2, for there are no parts."""
    from kanopy.ontology.similarity.formulas import rodriguez_egenhofer

    t = _small()
    return _close(rodriguez_egenhofer(t, np.array([t.sense("dog")]), np.array([t.sense("cat")])), 0.25)


def seco_content() -> bool:
    """The root says nothing, a leaf everything; pet has two of five concepts below it."""
    from kanopy.ontology.similarity.information_content import seco

    t = _small()
    found = seco(t)
    return bool(
        _close(found[t.sense("animal")], 0.0)
        and _close(found[t.sense("dog")], 1.0)
        and abs(found[t.sense("pet")] - (1 - np.log(3) / np.log(t.size))) < 1e-9
    )


def jiang() -> bool:
    """IC(a) + IC(b) - 2 · IC of what they share, as a distance."""
    from kanopy.ontology.similarity.formulas import jiang_conrath, jiang_conrath_distance
    from kanopy.ontology.similarity.information_content import seco

    t = _small()
    content = seco(t)
    apart = 2.0 - 2 * float(content[t.sense("pet")])
    pair = t, np.array([t.sense("dog")]), np.array([t.sense("cat")])
    return bool(
        abs(float(jiang_conrath_distance(*pair, content=content)[0]) + apart) < 1e-9
        and abs(float(jiang_conrath(*pair, content=content)[0]) - 1 / (1 + apart)) < 1e-9
    )


def correlations() -> bool:
    """Ratings that are the path lengths themselves correlate perfectly with them."""
    from kanopy.ontology.similarity.benchmark import rating_agreement
    from kanopy.ontology.similarity.words import word_similarities

    pairs = [("dog", "wolf"), ("cat", "tiger"), ("cat", "stone"), ("horse", "tree")]
    ratings = [one.similarity for one in word_similarities(_wordnet(), pairs, "path")]
    found = rating_agreement(_wordnet(), pairs, ratings, ["path"])[0]
    return bool(abs((found.pearson or 0) - 1) < 1e-9)


def best_of_senses() -> bool:
    """The similarity of two words is that of their nearest senses."""
    from kanopy.ontology.similarity.formulas import wu_palmer
    from kanopy.ontology.similarity.words import word_similarities

    w = _wordnet()
    senses = [w.senses(word) for word in ("bank", "river")]
    best = max(float(wu_palmer(w, np.array([a]), np.array([b]))[0]) for a in senses[0] for b in senses[1])
    return _close(word_similarities(w, [("bank", "river")], "wu-palmer")[0].similarity, best)


def _masked(**more: Any) -> Any:
    from kanopy import MaskJob, mask

    return mask({"why": ANSWERS}, MaskJob(text=["why"], k=3, **more))


def substitution() -> bool:
    """By the thesis every published answer is one of the table, and k rows share each."""
    found = list(_masked(targets="any").data["why"])
    return set(found) <= set(ANSWERS) and min(found.count(one) for one in found) >= 3


def other_maskings() -> bool:
    """Microaggregation and local recoding share every answer; swapping keeps the number of each."""
    for name in ("semantic-microaggregation", "local-recoding"):
        found = list(_masked(algorithm=name, targets="any").data["why"])
        if min(found.count(one) for one in found) < 3:
            return False
    return sorted(_masked(algorithm="semantic-swapping", targets="any").data["why"]) == sorted(ANSWERS)


def several_ontologies() -> bool:
    """What one ontology says of another's concept holds in both together."""
    from kanopy.ontology import Concept, Taxonomy
    from kanopy.ontology.combine import united

    world = Taxonomy.from_concepts([Concept("x", ("state",)), Concept("d", ("disease",), ("x",))], name="world")
    clinic = Taxonomy.from_concepts([Concept("d", ("disease",)), Concept("q", ("flu type q",), ("d",))])
    both = united([world, clinic])
    return [both.label(one) for one in both.ancestors_of(both.sense("flu type q"))][-1] == "state"


def words_grouped() -> bool:
    """Animals are divided into classes that are true of them."""
    from kanopy.hierarchy.builders.semantic.builders import Ontology

    words = ["dog", "cat", "horse", "eagle", "owl", "hawk", "trout", "salmon"]
    tree = Ontology().build(words)
    labels = [{tree.generalize(one, level) for level in range(1, tree.height)} for one in ("dog", "eagle", "trout")]
    return "mammal" in labels[0] and "bird" in labels[1] and "fish" in labels[2]


MEANING = (
    other_ontologies, similarity_with_its_maximum, procedure_one, synonyms_given, senses_by_hand, ancestors_sense,
    ranking, faults, hypernyms, depth_shifted, car_and_compact, tversky_ratio, rodriguez, seco_content,
    jiang, correlations, best_of_senses, substitution, other_maskings, several_ontologies, words_grouped,
)  # fmt: skip
