"""Words grouped by meaning: senses chosen for the whole column, groups as people make them, names that are true."""

from __future__ import annotations

import csv
import itertools
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from kanopy.hierarchy.builders.semantic.builders import Ontology
from kanopy.ontology.load import load_ontology
from kanopy.ontology.nearness.company_kernel import company, gather
from kanopy.ontology.nearness.compile import compile_relations
from kanopy.ontology.nearness.nearness import nearness
from kanopy.ontology.nearness.relations import Relations, relations_of
from kanopy.ontology.nearness.walk_kernel import follow, walk
from kanopy.ontology.readers.glosses import wordnet_folders
from kanopy.ontology.senses.senses import senses_of_values
from kanopy.ontology.taxonomy import Taxonomy

WORDNET = load_ontology("wordnet")
TREES = Path(__file__).parent / "trees"
SHARED = Path(__file__).parents[3] / "shared" / "oracles" / "columns"
OWN = sorted(path.stem for path in TREES.glob("*.csv"))
LATER = ["crimes", "drinks", "feelings", "kitchen", "subjects"]
"""Trees by what people do with things rather than by what these are."""
FRESH = [
    "cities", "colours", "garden", "groceries", "hobbies", "household", "illnesses", "jobs", "nature", "zoo",
]  # fmt: skip
"""Trees written before the builder was changed for the last time, and measured while that was done."""
UNSEEN = ["body_parts", "gadgets", "languages", "people", "shops"]
"""Trees written with those, and measured once, when all was done: whether the others had been learnt by heart."""

FURTHER = [
    "claims", "departments", "dishes", "events", "genres", "injuries", "religions", "stationery", "toys", "traits",
]  # fmt: skip
"""Trees written before trees were made many times and far values kept apart, and measured while that was done."""
LAST = ["goods", "offences", "trades", "treatments"]
"""Trees written with those, and measured once at the end."""
EVERYDAY = [
    "absences", "appliances", "documents", "dwellings", "farm", "medicines", "symptoms", "weather",
]  # fmt: skip
"""Trees written before the company of words was looked at, and measured once, when that was done."""
FIRST = sorted({*OWN} - {*LATER, *FRESH, *UNSEEN, *FURTHER, *LAST, *EVERYDAY})
QUICK = ["countries", "diseases", "instruments", "occupations", "relations"]
"""Easy and hard ones of the first, grouped by every test run; the others with the long tests."""


def read(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return {row[0]: row for row in csv.reader(lines, delimiter=";")}


def meeting(rows: dict[str, list[str]], names: list[str]) -> np.ndarray:
    """At which level two values first share a label."""
    table = np.array([rows[name] for name in names], dtype=object)
    at = np.full((len(names), len(names)), table.shape[1])
    for level in range(table.shape[1] - 1, -1, -1):
        at[table[:, level][:, None] == table[:, level]] = level
    return at


def agreement(hand: dict[str, list[str]], other: dict[str, list[str]]) -> float:
    """Of the triples that the hand-made tree separates, the share the other separates alike (ties count half)."""
    names = list(hand)
    h, o = meeting(hand, names), meeting(other, names)
    won = total = 0.0
    for a, b in itertools.combinations(range(len(names)), 2):
        apart = (h[a, b] < h[a]) & (h[a, b] < h[b])
        apart[[a, b]] = False
        near = np.minimum(o[a], o[b])[apart]
        total += len(near)
        won += (o[a, b] < near).sum() + 0.5 * (o[a, b] == near).sum()
    return won / total


def built(words: list[str], name: str = "") -> dict[str, list[str]]:
    return _built(tuple(words), name)


@lru_cache(maxsize=64)
def _built(words: tuple[str, ...], name: str) -> dict[str, list[str]]:
    return {row[0]: list(row) for row in Ontology().build(words, name=name).rows()}


def scores(folder: Path, names: list[str], *, headed: bool = False) -> dict[str, float]:
    """Agreement per tree; `headed` columns have the tree's own name."""
    trees = {name: read(folder / f"{name}.csv") for name in names}
    return {name: agreement(tree, built(list(tree), name if headed else "")) for name, tree in trees.items()}


@pytest.mark.parametrize(
    ("names", "least", "worst"),
    [
        (QUICK, 0.86, 0.7),
        pytest.param(FIRST, 0.85, 0.65, marks=pytest.mark.slow),
        (LATER, 0.68, 0.57),
        pytest.param(FRESH, 0.79, 0.7, marks=pytest.mark.slow),
        pytest.param(FURTHER, 0.66, 0.49, marks=pytest.mark.slow),
        pytest.param(EVERYDAY, 0.72, 0.62, marks=pytest.mark.slow),
    ],
    ids=["quick", "first", "later", "fresh", "further", "everyday"],
)
def test_groups_agree_with_hand_made_trees(names: list[str], least: float, worst: float) -> None:
    found = scores(TREES, names)
    assert np.mean(list(found.values())) >= least, found
    assert min(found.values()) >= worst, found


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the folder shared beside the project, with oracles/columns in it"
)
@pytest.mark.parametrize("headed", [False, True], ids=["unnamed", "named"])
def test_groups_agree_with_the_four_published_trees(headed: bool) -> None:
    found = scores(SHARED, ["sports", "materials", "clothing", "vehicles"], headed=headed)
    assert np.mean(list(found.values())) >= 0.78, found
    assert min(found.values()) >= 0.55, found


def readings(name: str, header: str) -> list[dict[int, float]]:
    """What each value of a tree may mean, with chances: by that alone it is grouped."""
    senses = senses_of_values(WORDNET, sorted(read(TREES / f"{name}.csv")), header=header)
    return [choice.readings for choice in senses.values()]


@pytest.mark.parametrize("name", ["dishes", "diseases", "genres"])
def test_the_name_of_a_column_does_not_make_surer_what_its_values_mean(name: str) -> None:
    """Walks that start from one sense only had cost the dishes .23."""
    words = list(read(TREES / f"{name}.csv"))
    plain, named = senses_of_values(WORDNET, words), senses_of_values(WORDNET, words, header=name)
    same = [word for word in plain if plain.concept(word) == named.concept(word)]
    assert len(same) >= len(plain) - 1
    assert all(plain[word].readings == named[word].readings for word in same)


@pytest.mark.slow
def test_the_name_of_a_column_costs_no_agreement() -> None:
    names = [name for name in OWN if readings(name, name) != readings(name, "")]  # the others are grouped alike
    without, found = scores(TREES, names), scores(TREES, names, headed=True)
    lost = {name: without[name] - found[name] for name in names}
    assert len(names) > 4 and sum(lost.values()) <= 0.002 * len(OWN), lost
    assert max(lost.values()) <= 0.05, lost  # which way a tie falls is worth .04 in the documents


@pytest.mark.parametrize("name", OWN)
def test_a_shuffled_tree_agrees_less(name: str) -> None:
    tree = read(TREES / f"{name}.csv")
    order = np.random.default_rng(1).permutation(len(tree))
    rows = list(tree.values())
    shuffled = {word: [word, *rows[at][1:]] for word, at in zip(tree, order, strict=True)}
    assert agreement(tree, shuffled) < 0.6 < 1 == agreement(tree, tree)


MEANT = {
    "animals": "animal",
    "body": "body part|body substance|external body part|bodily structure",
    "countries": "country|island",
    "foods": "food|nutriment|beverage|liquid",
    "instruments": "musical instrument",
    "plants": "plant|protoctist|fungus|bryophyte",
    "relations": "person",
    "tools": "tool|device|instrument|machine|implement|equipment",
}


def test_the_senses_are_those_a_reader_means() -> None:
    wrong, total = [], 0
    for name, kinds in MEANT.items():
        words = list(read(TREES / f"{name}.csv"))
        senses = senses_of_values(WORDNET, words, header=name)
        for word in words:
            above = {term for up in WORDNET.ancestors_of(senses.concept(word)) for term in WORDNET.terms_of(up)}
            total += 1
            if above.isdisjoint(kinds.split("|")) and not senses[word].flagged:
                wrong.append((name, word, senses.name(word)))
    assert len(wrong) <= 0.05 * total, wrong


@pytest.mark.parametrize(
    ("word", "others", "kind"),
    [
        ("tuna", "beef butter bread cheese pork salmon milk rice", "food"),
        ("tuna", "dog cat horse shark trout eagle frog whale", "animal"),
        ("bank teller", "farmer nurse clerk carpenter lawyer cook", "person"),
        ("cabbage", "bread lettuce carrot potato onion spinach pea", "food"),
        ("turkey", "chicken beef pork lamb ham bacon", "food"),
        ("Turkey", "France Germany Spain Greece Italy Egypt", "country"),
    ],
)
def test_one_word_means_what_its_column_is_about(word: str, others: str, kind: str) -> None:
    senses = senses_of_values(WORDNET, [word, *others.split()])
    assert WORDNET.senses(kind)[0] in WORDNET.ancestors_of(senses.concept(word)) or any(
        kind in WORDNET.terms_of(up) for up in WORDNET.ancestors_of(senses.concept(word))
    )


@pytest.mark.parametrize(
    "name", [name if name in [*QUICK, *LATER] else pytest.param(name, marks=pytest.mark.slow) for name in OWN]
)
def test_names_of_groups_are_told_apart_and_say_something(name: str) -> None:
    rows = built(list(read(TREES / f"{name}.csv")))
    width = len(next(iter(rows.values())))
    for level in range(1, width):
        under: dict[str, set[str]] = {}
        for row in rows.values():
            under.setdefault(row[level], set()).add(row[min(level + 1, width - 1)])
        assert all(len(above) == 1 for above in under.values())
        assert not {"physical entity", "entity", "object", "whole", "abstraction"} & under.keys()


def test_a_group_is_named_by_its_place() -> None:
    rows = built(list(read(TREES / "countries.csv")))
    assert any(label == "Africa" for label in rows["Kenya"])
    assert any("Europe" in label for label in rows["France"])


def test_the_compiled_walk_equals_its_twin() -> None:
    relations = Relations(
        5, 5, *(np.array(a, np.int32) for a in ([0, 0, 1, 2], [1, 2, 3, 4], [0, 1, 0, 3], [0, 0, 0, 0]))
    )
    start, target, chance = relations.walk
    for first in range(5):
        found = walk(start, target, chance, first, 0.15, 1e-9)
        twin = np.zeros(2 * len(found))
        follow.plain(start, target, chance, first, 0.15, 1e-9, twin, np.zeros(6, np.int64))  # type: ignore[attr-defined]
        assert found == pytest.approx(twin[: len(found)])
        assert found.sum() == pytest.approx(1.0, abs=1e-6)


def test_words_keep_company_in_definitions_and_the_compiled_loop_equals_its_twin() -> None:
    # Five pairs of words, each pair in five texts of its own; the last word stands in two texts only and tells nothing.
    texts = [[2 * pair, 2 * pair + 1] + [10] * (use == 0 and pair < 2) for pair in range(5) for use in range(5)]
    at = [[number for number, text in enumerate(texts) if word in text] for word in range(11)]
    lists = [
        np.array(part, np.int32)
        for many in (texts, at)
        for part in (np.cumsum([0, *map(len, many)]), [one for members in many for one in members])
    ]
    wanted, shares = np.array([0, 4, 10], np.int32), np.array([[1.0, 0.0, 3.0], [0.5, 2.0, 0.0]])
    found = company(*lists, wanted, shares)
    twin = np.zeros_like(found)
    room = (np.zeros(11), np.zeros(11), np.zeros(11, np.int64))
    gather.plain(*lists, wanted, shares, twin, *room)  # type: ignore[attr-defined]
    assert found == pytest.approx(twin)
    assert [np.flatnonzero(row).tolist() for row in found] == [[0, 1], [0, 1, 4, 5]]


def test_nearness_is_symmetric_and_in_range_at_any_size() -> None:
    few = np.arange(20_000, 20_030, dtype=np.int32)
    many = np.arange(20_000, 20_410, dtype=np.int32)
    for near in (nearness(WORDNET, few), all_of_them := nearness(WORDNET, many)):
        assert np.allclose(near, near.T)
        assert near.min() >= 0 and near.max() == 1
    # Sketches find the neighbours that the exact comparison finds.
    exact, sketched = nearness(WORDNET, many[:400]), all_of_them[:400, :400]
    nearest = [{*np.argsort(-row)[:10].tolist()} for row in exact]
    again = [{*np.argsort(-row)[:10].tolist()} for row in sketched]
    assert np.mean([len(one & other) / 10 for one, other in zip(nearest, again, strict=True)]) > 0.7


def test_any_ontology_has_links_to_walk() -> None:
    from kanopy.ontology import Concept

    pets = Taxonomy.from_concepts(
        [Concept("a", ("animal",)), Concept("d", ("dog",), ("a",)), Concept("c", ("cat",), ("a",))]
    )
    assert relations_of(pets).nodes == 3
    assert nearness(pets, np.arange(3)).shape == (3, 3)


def test_one_value_and_unknown_values() -> None:
    assert built(["dog"])["dog"][0] == "dog"
    rows = built(["dog", "cat", "qqx", "horse"])
    assert rows["qqx"][0] == "qqx" and rows["qqx"][-1] == "*"


@pytest.mark.slow
def test_shipped_relations_are_what_the_compiler_makes(tmp_path: Path) -> None:
    folder = next((f for f in wordnet_folders() if (f / "data.noun").is_file()), None)
    if folder is None:
        pytest.skip("needs an installed WordNet: apt-get install wordnet-base, or set WNHOME")
    made = compile_relations(folder)
    if made.words_from != 117_659:
        pytest.skip("needs WordNet 3.0: apt-get install wordnet-base, or set WNHOME")
    made.save(tmp_path / "r.npz")
    again, shipped = Relations.load(tmp_path / "r.npz"), relations_of(WORDNET)
    assert (again.nodes, again.words_from) == (shipped.nodes, shipped.words_from)
    for field in ("low", "high", "kind", "share"):
        assert np.array_equal(getattr(again, field), getattr(shipped, field))
