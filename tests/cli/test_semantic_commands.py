"""`kanopy hierarchy evaluate`, `improve` and `build --method ontology`: shapes, files, refusals."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from kanopy._errors import HierarchyError, InputError, OntologyError
from kanopy.hierarchy.files.files import read_hierarchy
from kanopy_papers.ayala2014 import ANIMALS
from tests.cli.running import run_hierarchy as run
from tests.cli.running import run_hierarchy_json as run_json


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text("".join(";".join(row) + "\n" for row in ANIMALS))
    return path


def test_evaluate_prints_exactly_the_promised_shape(animals):
    result = run_json("evaluate", animals)
    assert set(result) == {"hierarchies", "ranking"}
    (judged,) = result["hierarchies"]
    assert set(judged) == {
        "file", "score", "mean_score", "agreement", "known_values", "known_labels", "weights", "levels",
        "too_close", "transitions", "faults",
    }  # fmt: skip
    assert round(judged["score"], 4) == 0.2291
    assert judged["weights"] == pytest.approx([1 / 3] * 3)
    assert set(judged["levels"][0]) == {"level", "gsl", "mean", "sd", "weighted", "worst"}
    assert judged["levels"][0]["worst"] == [
        {"leaf": "cat", "ancestor": "mammal", "loss": pytest.approx(4 / 26)},
        {"leaf": "dog", "ancestor": "mammal", "loss": pytest.approx(4 / 26)},
    ]
    assert [(c["leaf"], c["ancestor"]) for c in judged["too_close"]] == [("frog", "amphibian"), ("parrot", "bird")]
    assert len(judged["transitions"]) == 21
    assert judged["transitions"][17] == {
        "leaf": "snake",
        "ancestor": "vertebrate",
        "level": 3,
        "similarity": pytest.approx(20 / 23),
        "loss": pytest.approx(3 / 23),
        "leaf_sense": "snake#1",
        "ancestor_sense": "vertebrate#1",
    }
    assert {fault["kind"] for fault in judged["faults"]} == {"not-a-hypernym", "less-specific-than-parent"}


def test_evaluate_in_words_with_pictures(animals, tmp_path):
    svg, page = tmp_path / "a.svg", tmp_path / "a.html"
    better = tmp_path / "better.csv"
    run("improve", animals, "-o", better)
    text = run("evaluate", animals, better, "--svg", svg, "--html", page)
    assert "VghGSL 0.2291" in text
    assert "Ranking" in text
    assert svg.read_text().startswith("<svg") and "homeotherm" in svg.read_text()
    html = page.read_text()
    assert "kanopy-tree" in html and "http://" not in html.replace("http://www.w3.org", "")


def test_ranking_weights_and_measure(animals, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("cat;carnivore\ndog;carnivore\n")
    result = run_json("evaluate", animals, other, "--weights", "level", "--measure", "path")
    assert [entry["file"] for entry in result["ranking"]] == [str(other), str(animals)]
    assert result["hierarchies"][0]["weights"] == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    own = run_json("evaluate", animals, "--weights", "0.5,0.3,0.2")
    assert own["hierarchies"][0]["weights"] == [0.5, 0.3, 0.2]


def test_senses_are_written_and_reused(animals, tmp_path):
    run("evaluate", animals, "--write-senses")
    file = tmp_path / "animals.senses.toml"
    text = file.read_text()
    assert '"amphibian" = "amphibian#3"' in text
    file.write_text(text.replace('"cat" = "cat#1"', '"cat" = "cat#2"'))
    judged = run_json("evaluate", animals)["hierarchies"][0]
    assert next(t for t in judged["transitions"] if t["leaf"] == "cat")["leaf_sense"] == "cat#2"
    elsewhere = tmp_path / "mine.toml"
    elsewhere.write_text('[senses]\n"cat" = "cat#1"\n')
    judged = run_json("evaluate", animals, "--senses", elsewhere)["hierarchies"][0]
    assert round(judged["score"], 4) == 0.2291


def test_improve(animals, tmp_path):
    out = tmp_path / "better.csv"
    result = run_json("improve", animals, "-o", out)
    assert result["after"] < result["before"]
    assert result["level_score"] == "mean" and result["edits"][0]["kind"] == "relabel"
    again = run_json("evaluate", out)["hierarchies"][0]
    assert again["mean_score"] == pytest.approx(result["after"])
    assert read_hierarchy(out).height == 3
    assert "relabel 'mammal'" in run("improve", animals)
    with pytest.raises(InputError, match="never overwritten"):
        run("improve", animals, "-o", animals)


def test_build_from_an_ontology(tmp_path):
    data = tmp_path / "pets.csv"
    data.write_text("pet\n" + "\n".join(["cat", "dog", "cat", "salmon", "snake", "crocodile", "blorb"]) + "\n")
    out = tmp_path / "pet.csv"
    result = run_json("build", data, "pet", "--method", "ontology", "--levels", 3, "--max-fan-out", 4, "-o", out)
    assert result["method"] == "ontology"
    assert result["height"] == 2
    assert any("blorb" in note for note in result["notes"])
    assert run_json("evaluate", out)["hierarchies"][0]["score"] == pytest.approx(result["score"])
    clusters = run("build", data, "pet", "--method", "semantic-clusters", "--levels", 3)
    assert "VghGSL" in clusters and "Note:" in clusters


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty|no rows|holds"),
        ("cat;mammal;animal\ndog;mammal\n", "2|rows|levels"),
        ("cat;mammal\ncat;fish\n", "two parents"),
        ("cat;mammal;animal\ncat2;mammal;thing\n", "does not nest"),
        ("qqxzt;animal\nqqxzu;animal\n", "knows none of its values"),
        ("tiger#9;animal\n", "2 senses"),
    ],
)
def test_bad_hierarchy_files(tmp_path, content, message):
    file = tmp_path / "bad.csv"
    file.write_text(content)
    with pytest.raises((HierarchyError, OntologyError), match=message):
        run("improve", file)
    if "nest" not in message:  # a hierarchy that does not nest can still be judged
        with pytest.raises((HierarchyError, OntologyError), match=message):
            run("evaluate", file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weights", "0.5,0.5"], "2 weights were given"),
        (["--weights", "0.5,0.5,0.5"], "sum to 1"),
        (["--weights", "soft"], "constant, level"),
        (["--measure", "wupalmer"], "Did you mean 'wu-palmer'"),
        (["--ontology", "wrdnet"], "no ontology 'wrdnet'"),
        (["--senses", "none.toml"], "no senses file"),
    ],
)
def test_bad_options(animals, options, message):
    with pytest.raises(InputError, match=message):
        run("evaluate", animals, *options)


def test_one_senses_file_cannot_be_written_by_several(animals, tmp_path):
    with pytest.raises(InputError, match="cannot write one senses file"):
        run("evaluate", animals, animals, "--senses", tmp_path / "x.toml", "--write-senses")


TREES = Path(__file__).parents[1] / "ontology" / "trees"
SHARED = Path(__file__).parents[3] / "shared" / "oracles" / "columns"  # four more, where that folder is there
QUICK = ("countries", "crimes", "occupations")


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param(tree, id=tree.stem, marks=[] if tree.stem in QUICK else pytest.mark.slow)
        for tree in sorted([*TREES.glob("*.csv"), *SHARED.glob("*.csv")])
    ],
)
def test_the_ranking_puts_a_hand_made_tree_above_its_shuffled_and_alphabetical_copies(tree, tmp_path):
    rows = [line.split(";") for line in tree.read_text().splitlines()]
    words = [row[0] for row in rows]
    orders = {f"shuffled{seed}": random.Random(seed).sample(words, len(words)) for seed in range(3)}
    copies = {name: [[word, *row[1:]] for word, row in zip(order, rows, strict=True)] for name, order in orders.items()}
    copies["same-shape"] = [[word, *row[1:]] for word, row in zip(sorted(words), rows, strict=True)]
    copies["letters"] = [[word, word[0].upper(), "A–L" if word[0].upper() < "M" else "M–Z"] for word in sorted(words)]
    for name, copy in copies.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(";".join(row) for row in copy))
    ranking = run_json("evaluate", *(tmp_path / f"{name}.csv" for name in copies), tree)["ranking"]
    assert (ranking[0]["file"], ranking[0]["rank"], ranking[1]["rank"]) == (str(tree), 1, 2)


@pytest.mark.parametrize("name", ["countries", "cities"])
@pytest.mark.parametrize("score", ["max", "mean"])
def test_places_are_not_renamed_by_kind(name, score):
    """Asia is where Tokyo lies, and no worse a label than `city`: kinds say nothing against places."""
    assert not run_json("improve", TREES / f"{name}.csv", "--level-score", score)["edits"]


def test_levels_that_group_by_meaning_are_not_dropped():
    edits = run_json("improve", TREES / "feelings.csv", "--level-score", "mean")["edits"]
    assert all(edit["kind"] != "drop" for edit in edits)


def test_the_published_score_ranks_if_it_is_asked_for(animals, tmp_path):
    flat = tmp_path / "flat.csv"
    flat.write_text("\n".join(f"{line.split(';')[0]};*" for line in animals.read_text().splitlines()))
    for entry in run_json("evaluate", animals, flat, "--level-score", "max")["ranking"]:
        assert entry["score"] == entry["max"]
    with pytest.raises(InputError, match="no level score 'median'"):
        run("evaluate", animals, "--level-score", "median")


def test_one_set_of_senses_for_all_files_of_a_ranking(tmp_path):
    trees = {"a": "bass;fish\ntrout;fish\n", "b": "bass;musical instrument\ntrout;fish\n"}
    for name, text in trees.items():
        (tmp_path / f"{name}.csv").write_text(text)
    judged = run_json("evaluate", *(tmp_path / f"{name}.csv" for name in trees))["hierarchies"]
    senses = [{t["leaf_sense"] for t in each["transitions"] if t["leaf"] == "bass"} for each in judged]
    assert senses[0] == senses[1]
    (tmp_path / "a.senses.toml").write_text('[senses]\nbass = "bass#4"\n')
    (tmp_path / "b.senses.toml").write_text('[senses]\nbass = "bass#7"\n')
    text = run("evaluate", *(tmp_path / f"{name}.csv" for name in trees))
    assert "'bass' is read as bass#4 in all files, but one says bass#7" in " ".join(text.split())


@pytest.mark.parametrize("level_score", ["mean", "max"])
@pytest.mark.parametrize("tree", ["foods", "occupations", "kitchen"])
def test_every_edit_lowers_the_score_and_says_why(tree, level_score):
    found = run_json("improve", TREES / f"{tree}.csv", "--level-score", level_score)
    scores = [found["before"], *(edit["score"] for edit in found["edits"])]
    assert all(after < before for before, after in itertools.pairwise(scores))
    assert found["after"] == pytest.approx(scores[-1])
    assert found["edits"] or (tree, level_score) == ("kitchen", "max")
    for edit in found["edits"]:
        assert "lose" in edit["why"]
        assert edit["to"] not in {"physical entity", "entity", "object", "whole", "matter", "artifact"}


def test_suggest_shows_labels_losses_unsure_values_and_a_picture(tmp_path):
    table, page = tmp_path / "p.csv", tmp_path / "p.html"
    words = ["teacher", "nurse", "lawyer", "doctor", "plumber", "farmer", "cook", "waiter", "typist", "qqx"]
    table.write_text("job,sex\n" + "".join(f"{words[i % 10]},{'fm'[i % 2]}\n" for i in range(200)))
    job = tmp_path / "job.toml"
    job.write_text('k = 5\n[columns.job]\nrole = "quasi-identifier"\n[columns.sex]\nrole = "quasi-identifier"\n')
    found = run_json("suggest", table, "job", "--job", job, "--html", page, "--style", "nearness")
    (meant,) = [one for one in found["ranking"] if one["method"] == "ontology"]
    assert meant["unsure"] == ["qqx"]
    assert meant["labels"]
    assert meant["release_loss"] is not None
    assert "in the release" in page.read_text()
    assert "1 value of unsure meaning" in page.read_text()
    assert "uncertain meaning: 1 ('qqx')" in run("suggest", table, "job")
