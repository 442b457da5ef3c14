"""Every measure: bounds, symmetry, blocks equal pairs, and small cases worked out by hand."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from kanopy._errors import OntologyError
from kanopy.ontology.combine import CombinedOntologies
from kanopy.ontology.load import load_ontology
from kanopy.ontology.readers import glosses as gloss_module
from kanopy.ontology.readers.glosses import Glosses
from kanopy.ontology.similarity import formulas as similarity
from kanopy.ontology.similarity import subsumers
from kanopy.ontology.similarity.information_content import information_content
from kanopy.ontology.similarity.marginality import marginality
from kanopy.ontology.similarity.measures import MEASURES, find_measure, similarities
from kanopy.ontology.similarity.pairwise import nearest_concepts, similarity_blocks, similarity_matrix
from kanopy.ontology.similarity.words import word_matrix, word_similarities, word_similarity
from kanopy.ontology.taxonomy import Concept, Taxonomy
from tests.ontology.test_taxonomy import taxonomies

WITHOUT_GLOSSES = [name for name, measure in MEASURES.items() if not measure.needs_glosses]

#        thing
#        /    \
#    living   tool
#     /  \      |
#  plant animal /
#          \   /
#          horse (also a tool), mule below it
WORLD = Taxonomy.from_concepts(
    [
        Concept("0", ("thing",)),
        Concept("1", ("living", "organism"), ("0",)),
        Concept("2", ("tool",), ("0",), parts=("6",)),
        Concept("3", ("plant",), ("1",)),
        Concept("4", ("animal",), ("1",)),
        Concept("5", ("horse",), ("4", "2")),
        Concept("6", ("handle",), ("2",)),
        Concept("7", ("mule",), ("5",)),
    ],
    name="world",
    tag_counts={"3": 3, "5": 1, "7": 2},
)
GLOSSES = Glosses(
    [
        "anything",
        "a thing that grows",
        "a thing for work",
        "grows from seed",
        "moves and eats",
        "rides and works the field",
        "part of a tool to hold",
        "rides like a horse in the field",
    ]
)


@given(taxonomies(largest=15))
@settings(max_examples=30, deadline=None)
def test_bounds_symmetry_and_blocks(taxonomy: Taxonomy) -> None:
    everything = np.arange(taxonomy.size)
    a, b = np.repeat(everything, taxonomy.size), np.tile(everything, taxonomy.size)
    for name in WITHOUT_GLOSSES:
        measure = MEASURES[name]
        if measure.content == "tags" and not taxonomy.has_tag_counts:
            continue
        block = measure(taxonomy, everything[:, None], everything[None, :])
        assert_allclose(np.ravel(block), measure(taxonomy, a, b), rtol=1e-12, err_msg=name)
        assert np.isfinite(block).all(), name
        assert block.max() <= measure.maximum(taxonomy) + 1e-12, name
        if measure.is_symmetric:
            assert_allclose(block, block.T, rtol=1e-12, err_msg=name)
        if measure.maximum_value is not None:
            assert_allclose(np.diagonal(block), measure.maximum_value, atol=1e-12, err_msg=name)


def test_by_hand() -> None:
    horse, plant, handle, mule, root = 5, 3, 6, 7, 0
    assert similarity.path(WORLD, horse, plant) == 1 / 4
    assert similarity.path_length(WORLD, mule, handle) == -3
    assert similarity.leacock_chodorow(WORLD, horse, horse) == pytest.approx(math.log(10))
    # longest-path depth decides: horse and plant meet at living (depth 1), horse and handle at tool (depth 1)
    assert similarity.wu_palmer(WORLD, horse, plant) == 6 / 9
    assert similarity.wu_palmer(WORLD, horse, handle) == 6 / 8
    assert similarity.wu_palmer(WORLD, root, root, depth_offset=0) == 1
    assert similarity.wu_palmer(WORLD, horse, plant, depth_offset=1) == 4 / 7
    # features: {horse animal living tool thing} and {plant living thing}; depths in nodes 4 and 3, gamma 3/7
    assert similarity.tversky(WORLD, horse, plant) == pytest.approx(2 / (2 + 3 / 7 * 3 + 4 / 7 * 1))
    assert similarity.tversky(WORLD, plant, horse) == pytest.approx(2 / (2 + 3 / 7 * 1 + 4 / 7 * 3))
    assert similarity.taxonomic_features(WORLD, horse, plant) == pytest.approx(-math.log2(1 + 4 / 6))
    # shared term: none; parts {handle} of horse (inherited from tool) and of tool; neighbours {horse animal tool mule}
    # and {tool thing horse handle}, gamma = 2/6
    expected = (0 + 1 + 2 / (2 + 2 / 6 * 2 + 4 / 6 * 2)) / 3
    assert similarity.rodriguez_egenhofer(WORLD, horse, 2) == pytest.approx(expected)
    # nobody has parts: the two other components share the weight
    assert similarity.rodriguez_egenhofer(WORLD, plant, plant) == pytest.approx(1)


def test_marginality_is_the_sum_of_distances_to_all_others() -> None:
    """Domingo-Ferrer, Sánchez, Rufian-Torrell 2013, written down answer by answer."""
    answers = [5, 5, 3, 6, 7, 7, 7, 0]
    distance = {(a, b): -float(similarity.taxonomic_features(WORLD, a, b)) for a in answers for b in answers}
    plain = {one: sum(distance[one, other] for other in answers) for one in answers}
    concepts, counts = np.unique(answers, return_counts=True)
    found = marginality(WORLD, concepts, counts)
    assert_allclose(found.of_value, [plain[one] for one in concepts.tolist()])
    assert concepts[found.mean] == min(sorted(plain), key=lambda one: round(plain[one], 12))
    assert found.variance == pytest.approx(sum(plain[one] for one in answers) / len(answers))
    one = marginality(WORLD, [5], [9], "wu-palmer")
    assert one.variance == 0 and one.of_value.tolist() == [0]  # equal answers have no distance
    with pytest.raises(OntologyError, match="how often it occurs"):
        marginality(WORLD, [5, 3], [1, 0])


def test_information_contents_by_hand() -> None:
    tags = information_content(WORLD, "tags")
    assert tags[0] == 0
    assert tags[5] == pytest.approx(-math.log((1 + 1 + 2 + 1) / 14))
    assert tags[1] == pytest.approx(-math.log((1 + 4 + 1 + 2 + 3) / 14))
    seco = information_content(WORLD, "seco")
    assert seco[5] == pytest.approx(1 - math.log(2) / math.log(8))
    assert seco[7] == 1
    sanchez = information_content(WORLD, "sanchez")  # leaves: plant, handle, mule
    assert sanchez[5] == pytest.approx(-math.log((1 / 5 + 1) / 4))
    assert sanchez[7] == pytest.approx(math.log(4))
    assert sanchez[0] == 0
    both = {"content": tags}
    assert similarity.resnik(WORLD, 7, 3, **both) == tags[1]
    assert similarity.resnik(WORLD, 7, 6, **both) == tags[2]
    assert similarity.lin(WORLD, 7, 3, **both) == pytest.approx(2 * tags[1] / (tags[7] + tags[3]))
    assert similarity.lin(WORLD, 0, 0, **both) == 1
    distance = tags[7] + tags[3] - 2 * tags[1]
    assert similarity.jiang_conrath_distance(WORLD, 7, 3, **both) == pytest.approx(-distance)
    assert similarity.jiang_conrath(WORLD, 7, 3, **both) == pytest.approx(1 / (1 + distance))


def test_gloss_measures_by_hand() -> None:
    # horse: "rides works field"; mule: "rides like horse field": 2 of 5 words; above: {animal living tool thing} is
    # all but one of the five above the mule
    assert similarity.x_similarity(WORLD, 5, 7, glosses=GLOSSES) == pytest.approx(4 / 5)
    assert similarity.x_similarity(WORLD, 5, 5, glosses=GLOSSES) == 1
    everything = np.arange(WORLD.size)
    block = similarity.gloss_vector(WORLD, everything[:, None], everything[None, :], glosses=GLOSSES)
    assert_allclose(block, block.T, atol=1e-6)
    assert block.min() >= 0
    assert block.max() <= 1
    pairs = similarity.gloss_vector(WORLD, np.repeat(everything, 8), np.tile(everything, 8), glosses=GLOSSES)
    assert_allclose(pairs.reshape(8, 8), block, atol=1e-6)
    assert block[5, 7] > block[5, 3]


def test_measures_that_need_glosses_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gloss_module, "wordnet_folders", lambda: iter(()))
    monkeypatch.setattr(gloss_module, "_found", {})
    for name in ("x-similarity", "gloss-vector"):
        with pytest.raises(OntologyError, match=r"apt install wordnet-base.*WNHOME"):
            similarities(load_ontology("wordnet"), 0, 1, name)


def test_installed_wordnet_gives_its_glosses() -> None:
    wordnet = load_ontology("wordnet")
    if not any((folder / "data.noun").is_file() for folder in gloss_module.wordnet_folders()):
        pytest.skip("needs an installed WordNet with glosses: apt-get install wordnet-base, or set WNHOME")
    texts = gloss_module.find_glosses(wordnet).texts
    assert texts[wordnet.sense("tiger#2")].startswith("large feline of forests")
    pair = word_similarity(wordnet, "gem", "jewel", "x-similarity")
    assert pair.similarity == 1


@pytest.mark.parametrize("packed", [False, True])
def test_glosses_are_read_from_a_folder_and_as_nltk_leaves_them(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ("00000001-n", "00000002-n", "00000003-n")
    ours = ("something that is", 'a beast that is kept; "the farm has one"', "a beast that nobody keeps")
    words = (Concept(keys[0], ("thing",)), Concept(keys[1], ("cow",), keys[:1]), Concept(keys[2], ("wolf",), keys[:1]))
    small = Taxonomy.from_concepts(words, name="small", part_of_speech="n")
    text = "  1 a line of the licence\n" + "".join(
        f"{key[:8]} 03 n 01 x 0 000 | {gloss}\n" for key, gloss in zip(keys, ours, strict=True)
    )
    folder = tmp_path / "corpora" / "wordnet"
    folder.parent.mkdir()
    if packed:
        with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
            archive.writestr("wordnet/data.noun", text)
    else:
        folder.mkdir()
        (folder / "data.noun").write_text(text, encoding="utf-8")
    monkeypatch.setattr(gloss_module, "wordnet_folders", lambda: iter([folder]))
    assert gloss_module.find_glosses(small).texts == [ours[0], "a beast that is kept", ours[2]]
    assert word_similarity(small, "cow", "wolf", "x-similarity").similarity == 1.0  # all above them is the same
    assert 0 <= word_similarity(small, "cow", "wolf", "gloss-vector").similarity <= 1


def test_no_tag_counts_is_explained() -> None:
    bare = Taxonomy.from_concepts([Concept("a", ("a",)), Concept("b", ("b",), ("a",))], name="bare")
    with pytest.raises(OntologyError, match=r"no tag counts.*-seco or -sanchez"):
        similarities(bare, 0, 1, "lin")
    assert similarities(bare, 0, 1, "lin-seco") == 0


def test_unknown_names_are_explained() -> None:
    with pytest.raises(OntologyError, match="Did you mean 'wu-palmer'"):
        find_measure("wu-plmer")
    with pytest.raises(OntologyError, match="Unknown information content"):
        information_content(WORLD, "corpus")
    with pytest.raises(OntologyError, match="go from 0 to 7"):
        similarities(WORLD, 0, 8)
    for name, measure in MEASURES.items():
        assert measure.name == name


def test_large_lists_of_pairs_use_the_kernel_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    wordnet = load_ontology("wordnet")
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, wordnet.size, (2, 4000))
    for name in ("wu-palmer", "path", "lin-seco"):
        quick = similarities(wordnet, a, b, name)
        monkeypatch.setattr(subsumers, "FEW_PAIRS", 10_000)
        assert_array_equal(quick, similarities(wordnet, a, b, name))
        monkeypatch.undo()


def test_matrix_blocks_and_nearest_agree_for_any_number_of_threads() -> None:
    wordnet = load_ontology("wordnet")
    rng = np.random.default_rng(2)
    rows, columns = rng.integers(0, wordnet.size, 300), rng.integers(0, wordnet.size, 700)
    whole = similarity_matrix(wordnet, rows, columns, threads=1)
    assert_array_equal(whole, similarity_matrix(wordnet, rows, columns, threads=3))
    assert_array_equal(whole, np.concatenate([block for _, block in similarity_blocks(wordnet, rows, columns)]))
    positions, values = nearest_concepts(wordnet, rows, columns, count=5)
    assert_array_equal(positions, np.argsort(-whole, axis=1, kind="stable")[:, :5])
    assert_array_equal(values, np.take_along_axis(whole, positions, axis=1))
    assert similarity_matrix(wordnet, [], columns).shape == (0, 700)
    assert nearest_concepts(wordnet, [], columns, count=3)[0].shape == (0, 3)
    with pytest.raises(OntologyError, match="at least one neighbour"):
        nearest_concepts(wordnet, rows, columns, count=0)
    with pytest.raises(OntologyError, match="too large to keep"):
        similarity_matrix(wordnet, np.zeros(60_000, int), np.zeros(60_000, int))


@pytest.mark.parametrize("name", ["wu-palmer", "resnik", "path-length", "tversky"])
def test_words_take_the_best_over_their_senses(name: str) -> None:
    wordnet = load_ontology("wordnet")
    words = ["tiger", "bank", "bass#1", "crane"]
    table = word_matrix(wordnet, words, name)
    for i, a in enumerate(words):
        for j, b in enumerate(words):
            best = max(float(similarities(wordnet, x, y, name)) for x in wordnet.resolve(a) for y in wordnet.resolve(b))
            pair = word_similarity(wordnet, a, b, name)
            assert pair.similarity == table[i, j] == best
            assert similarities(wordnet, pair.a_concept, pair.b_concept, name) == best
            assert wordnet.is_a(pair.a_concept, pair.lcs)
            assert wordnet.is_a(pair.b_concept, pair.lcs)
    assert word_similarities(wordnet, [], name) == []


def test_unknown_words_are_listed_together() -> None:
    with pytest.raises(OntologyError, match=r"2 words have no concept: 'qqqx', 'quickly'"):
        word_similarities(load_ontology("wordnet"), [("cat", "qqqx"), ("quickly", "dog")])


def test_combined_ontologies_let_the_one_that_knows_more_answer() -> None:
    wordnet = load_ontology("wordnet")
    both = CombinedOntologies((WORLD, wordnet))
    taxonomy, pair = both.similarity("horse", "plant")
    assert taxonomy is wordnet
    assert pair.similarity == word_similarity(wordnet, "horse", "plant").similarity
    own = Taxonomy.from_concepts([Concept("a", ("zeppelinoid",)), Concept("b", ("zz9",), ("a",))], name="own")
    both = CombinedOntologies((wordnet, own))
    assert both.similarity("zz9", "zeppelinoid")[0] is own
    assert both.similarity("zz9", "zz9", "resnik-seco")[1].similarity == 1
    assert both.knows("cat")
    assert not both.knows("qqqx")
    with pytest.raises(OntologyError, match=r"WordNet 3.0 lacks 'zz9'; own lacks 'cat'"):
        both.similarity("cat", "zz9")
    with pytest.raises(OntologyError, match="at least one"):
        CombinedOntologies(())
