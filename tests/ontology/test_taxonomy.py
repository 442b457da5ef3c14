"""The one taxonomy type: structure, names, errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import OntologyError
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.ontology.compiled import load_compiled, save_ontology
from kanopy.ontology.load import load_ontology
from kanopy.ontology.readers.glosses import wordnet_folders
from kanopy.ontology.readers.wordnet import compile_wordnet
from kanopy.ontology.taxonomy import Concept, Taxonomy
from kanopy.ontology.text_pool import TextPool


@st.composite
def taxonomies(draw: st.DrawFn, largest: int = 25) -> Taxonomy:
    """Random DAGs: several roots, several parents, numbering unrelated to depth, shared terms."""
    size = draw(st.integers(1, largest))
    order = draw(st.permutations(range(size)))
    concepts = {}
    for position, number in enumerate(order):
        above = draw(st.lists(st.sampled_from(order[:position]), max_size=3, unique=True)) if position else []
        term = draw(st.sampled_from("abcdefgh"))
        concepts[number] = Concept(f"k{number}", (f"t{number}", term), tuple(f"k{up}" for up in above), number + 1)
    counts = {f"k{number}": draw(st.integers(0, 5)) for number in range(size)}
    return Taxonomy.from_concepts([concepts[n] for n in range(size)], name="random", tag_counts=counts)


def walk(taxonomy: Taxonomy, concept: int) -> dict[int, tuple[int, int]]:
    """Ancestors with shortest and longest distance, by naive recursion."""
    found = {concept: (0, 0)}
    for up in taxonomy.parents_of(concept):
        for above, (short, long) in walk(taxonomy, up).items():
            old = found.get(above, (10**6, -1))
            found[above] = (min(old[0], short + 1), max(old[1], long + 1))
    return found


@given(taxonomies())
@settings(max_examples=50, deadline=None)
def test_depths_ancestors_and_children_agree_with_naive_walks(taxonomy: Taxonomy) -> None:
    top = 1 if taxonomy.virtual_root >= 0 else 0
    for concept in range(taxonomy.size):
        naive = walk(taxonomy, concept)
        assert taxonomy.ancestors_of(concept) == {up: short for up, (short, _) in naive.items()}
        run = slice(taxonomy.ancestor_start[concept], taxonomy.ancestor_start[concept + 1])
        table = dict(zip(taxonomy.ancestors[run].tolist(), taxonomy.ancestor_distance[run].tolist(), strict=True))
        assert table == taxonomy.ancestors_of(concept)
        rootless = [up for up in naive if not taxonomy.parents_of(up)]
        assert taxonomy.depth[concept] == max(naive[up][1] for up in rootless) - top
        assert taxonomy.min_depth[concept] == min(naive[up][0] for up in rootless) - top
        for child in taxonomy.children_of(concept):
            assert concept in taxonomy.parents_of(child)
        assert set(taxonomy.descendants_of(concept).tolist()) == {
            other for other in range(taxonomy.size) if taxonomy.is_a(other, concept)
        }
    position = np.argsort(taxonomy.topological_order)
    child = np.repeat(np.arange(taxonomy.size), np.diff(taxonomy.parent_start))
    assert (position[taxonomy.parents] < position[child]).all()


@given(taxonomies())
@settings(max_examples=25, deadline=None)
def test_saving_and_loading_keeps_everything(tmp_path_factory: pytest.TempPathFactory, taxonomy: Taxonomy) -> None:
    path = tmp_path_factory.mktemp("t") / "t.npz"
    save_ontology(taxonomy, path)
    first = path.read_bytes()
    again = load_compiled(path)
    for name, value in vars(taxonomy).items():
        if isinstance(value, np.ndarray):
            assert getattr(again, name).dtype == value.dtype
            assert np.array_equal(getattr(again, name), value), name
    assert list(again.keys) == list(taxonomy.keys)
    assert [again.terms_of(c) for c in range(again.size)] == [taxonomy.terms_of(c) for c in range(taxonomy.size)]
    save_ontology(again, path)
    assert path.read_bytes() == first


def test_several_roots_hang_under_a_virtual_one_at_depth_minus_one() -> None:
    taxonomy = Taxonomy.from_concepts([Concept("a", ("A",)), Concept("b", ("B",)), Concept("c", ("C",), ("b",))])
    assert taxonomy.virtual_root == 3
    assert taxonomy.depth.tolist() == [0, 0, 1, -1]
    assert taxonomy.roots.tolist() == [0, 1]
    assert taxonomy.max_depth_in_nodes == 3
    assert taxonomy.label(3) == "*"
    assert not taxonomy.knows("*")


def test_a_cycle_is_shown() -> None:
    with pytest.raises(OntologyError, match=r"cycle: 'x' is-a 'y' is-a 'z' is-a 'x'"):
        Taxonomy.from_concepts(
            [
                Concept("r", ("r",)),
                Concept("x", ("x",), ("y",)),
                Concept("y", ("y",), ("z", "r")),
                Concept("z", (), ("x",)),
            ]
        )


def test_unknown_parents_show_their_line_and_duplicates_their_lines() -> None:
    with pytest.raises(OntologyError, match=r"line 7: 'x' has the parent 'nowhere'"):
        Taxonomy.from_concepts([Concept("x", ("x",), ("nowhere",), 7)])
    with pytest.raises(OntologyError, match=r"'x' occurs twice .*lines 1 and 2"):
        Taxonomy.from_concepts([Concept("x", ("x",), (), 1), Concept("x", ("x",), (), 2)])
    with pytest.raises(OntologyError, match="no concepts"):
        Taxonomy.from_concepts([])


def test_arrays_are_frozen() -> None:
    taxonomy = Taxonomy.from_concepts([Concept("a", ("a",))])
    with pytest.raises(ValueError, match="read-only"):
        taxonomy.depth[0] = 5


def test_a_hierarchy_is_a_taxonomy() -> None:
    rows = [["Lyon", "France", "*"], ["Paris", "France", "*"], ["Monaco", "Monaco", "*"]]
    taxonomy = Taxonomy.from_hierarchy(Hierarchy.from_rows(rows, name="city"))
    assert sorted(taxonomy.vocabulary) == ["*", "france", "lyon", "monaco", "paris"]
    assert taxonomy.size == 5
    assert taxonomy.label(taxonomy.parents_of(taxonomy.sense("Monaco"))[0]) == "*"
    assert taxonomy.depth[taxonomy.sense("paris")] == 2


def test_a_child_may_share_its_label_with_a_parent_that_has_other_children() -> None:
    rows = [["New York", "New York", "*"], ["Buffalo", "New York", "*"]]
    taxonomy = Taxonomy.from_hierarchy(Hierarchy.from_rows(rows))
    assert len(taxonomy.senses("new york")) == 2
    assert taxonomy.is_a(taxonomy.sense("new york#1"), taxonomy.sense("new york#2"))


def test_wordnet_is_as_its_manual_says() -> None:
    wordnet = load_ontology("wordnet")
    assert wordnet.size == 82_115
    assert len(wordnet.vocabulary) == 117_798
    assert int((wordnet.depth != wordnet.min_depth).sum()) == 19_668
    assert int(wordnet.depth.max()) == 19
    assert [wordnet.sense_name(int(root)) for root in wordnet.roots] == ["entity#1"]
    assert wordnet.find_key("00001740-n") == wordnet.sense("entity")
    assert wordnet.label(wordnet.sense("cricetidae")) == "Cricetidae"
    assert wordnet.is_instance[wordnet.sense("einstein")]
    assert wordnet.exceptions["wolves"] == ("wolf",)
    assert load_ontology("wordnet") is wordnet


@pytest.mark.parametrize("word", ["physical_entity", "Physical Entity", "physical-entity", " physical  entity "])
def test_case_underscore_hyphen_and_spaces_do_not_matter(word: str) -> None:
    wordnet = load_ontology("wordnet")
    assert wordnet.sense_name(wordnet.sense(word)) == "physical entity#1"


def test_adjectives_lead_to_nouns_through_derivation_and_similar_adjectives() -> None:
    wordnet = load_ontology("wordnet")
    assert wordnet.sense("homeotherm") in wordnet.nominalizations("warm-blooded")
    assert wordnet.nominalizations("warm blooded") == wordnet.nominalizations("warm-blooded")
    assert wordnet.nominalizations("qwertyish") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tigr", "does not know the word 'tigr'. Did you mean 'tiger'"),
        ("zzqx", "Check the spelling"),
        ("quickly", "'quickly' has no noun sense in WordNet 3.0; it is known as adverb only"),
        ("warm-blooded", "known as adjective only"),
        ("tiger#3", "has 2 senses in WordNet 3.0. Write a number from 1 to 2"),
        ("tiger#0", "Write a number from 1 to 2"),
        ("", "does not know the word ''"),
    ],
)
def test_words_without_a_sense_are_explained(text: str, message: str) -> None:
    with pytest.raises(OntologyError) as caught:
        load_ontology("wordnet").resolve(text)
    assert message in str(caught.value)


def test_a_key_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(OntologyError, match="keys look like '00001740-n'"):
        load_ontology("wordnet").find_key("1740")


def _fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_wordnet_loads_in_under_a_third_of_a_second() -> None:
    code = (
        "import numpy, time; from kanopy.ontology.load import load_ontology; start = time.process_time();"
        "load_ontology('wordnet').senses('tiger'); print(time.process_time() - start)"
    )
    assert min(float(_fresh(code)) for _ in range(2)) < 0.3


def test_importing_kanopy_loads_neither_ontology_nor_compiler() -> None:
    code = "import sys, kanopy; print([m for m in sys.modules if m.startswith('kanopy.ontology') or m == 'numba'])"
    assert _fresh(code) == "[]"


def test_a_few_pairs_need_no_compiler() -> None:
    code = (
        "import sys; from kanopy.ontology.load import load_ontology;"
        "from kanopy.ontology.similarity.words import word_similarity;"
        "word_similarity(load_ontology('wordnet'), 'cat', 'dog'); print('numba' in sys.modules)"
    )
    assert _fresh(code) == "False"


@pytest.mark.slow
def test_shipped_wordnet_is_what_the_compiler_makes(tmp_path: Path) -> None:
    folder = next((f for f in wordnet_folders() if (f / "data.noun").is_file()), None)
    if folder is None:
        pytest.skip("needs an installed WordNet: apt-get install wordnet-base, or set WNHOME")
    made = compile_wordnet(folder, name="WordNet 3.0")
    if made.size != 82_115:
        pytest.skip("needs WordNet 3.0: apt-get install wordnet-base, or set WNHOME")
    save_ontology(made, tmp_path / "w.npz")
    again, shipped = load_compiled(tmp_path / "w.npz"), load_ontology("wordnet")
    for name, value in vars(shipped).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(getattr(again, name), value), name
        elif isinstance(value, TextPool):
            assert getattr(again, name).data == value.data, name
