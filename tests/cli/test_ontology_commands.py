"""The ontology and similarity commands: JSON as promised, errors in plain words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kanopy._errors import InputError
from kanopy.cli import app


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in arguments else result.stdout


def test_words() -> None:
    found = run("similarity", "cat", "dog", "tiger#2", "--json")
    assert found["measure"] == "wu-palmer"
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [
        ("cat", "dog"),
        ("cat", "tiger#2"),
        ("dog", "tiger#2"),
    ]
    assert found["pairs"][0] == {"a": "cat", "b": "dog", "similarity": pytest.approx(26 / 30), "lcs": "carnivore#1"}
    assert "carnivore#1" in run("similarity", "cat", "dog")


def test_pairs_from_a_file_and_another_measure(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("word1,word2\ncar,automobile\ngem,jewel\n")
    found = run("similarity", "--pairs", str(file), "--measure", "path", "--json")
    assert found["measure"] == "path"
    assert [pair["similarity"] for pair in found["pairs"]] == [1.0, 1.0]
    assert set(found["pairs"][0]) == {"a", "b", "similarity", "lcs"}


def test_benchmark(tmp_path: Path) -> None:
    file = tmp_path / "rated.csv"
    file.write_text("car,automobile,4\ncat,dog,2.5\nnoon,string,0.1\ntree,bush,3\n")
    found = run("similarity", "--benchmark", str(file), "--json")
    assert found["pairs"] == 4
    by_name = {row["measure"]: row for row in found["measures"]}
    assert 0.5 < by_name["wu-palmer"]["pearson"] <= 1
    assert -1 <= by_name["lin-seco"]["spearman"] <= 1
    only = run("similarity", "--benchmark", str(file), "--measure", "path", "--json")
    assert [row["measure"] for row in only["measures"]] == ["path"]
    assert "Spearman" in run("similarity", "--benchmark", str(file), "--measure", "path")


def test_compile_info_and_several_ontologies(tmp_path: Path) -> None:
    source = tmp_path / "own.csv"
    source.write_text("zz9,zz\nzz,zzz\n")
    output = tmp_path / "own.npz"
    made = run("ontology", "compile", str(source), "-o", str(output), "--name", "own", "--json")
    assert (made["name"], made["concepts"], made["roots"], made["links"]) == ("own", 3, ["zzz"], 2)
    assert run("ontology", "info", str(output), "--json")["words"] == 3
    assert "82,115" in run("ontology", "info")
    found = run("similarity", "zz9", "zz", "--ontology", "wordnet", "--ontology", str(output), "--json")
    assert found["pairs"][0]["ontology"] == "own"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["similarity"], "Give either words"),
        (["similarity", "cat"], "at least two words"),
        (["similarity", "cat", "dog", "--pairs", "x.csv"], "Give either words"),
        (["similarity", "--pairs", "absent.csv"], "There is no file absent.csv"),
        (["similarity", "cat", "qqqx"], "does not know the word 'qqqx'"),
        (["similarity", "cat", "quickly"], "no noun sense"),
        (["similarity", "cat", "dog", "--measure", "wu"], "no similarity measure called 'wu'. Did you mean 'wu-palmer"),
        (["similarity", "cat", "dog", "--ontology", "absent.obo"], "no ontology 'absent.obo'"),
        (["ontology", "compile", "absent", "-o", "x.npz"], "no ontology 'absent'"),
        (["ontology", "compile", "absent", "-o", "x.txt"], "end in .npz"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(*arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no word pairs"),
        ("car,automobile\n", "line 1: expected word,word,rating"),
        ("car,automobile,high\n", "line 1: the rating 'high' is not a number"),
        ("car,automobile,1\n", "at least three pairs"),
        ("car,qqqx,1\na,b,2\ncat,dog,3\n", "does not know the word 'qqqx'"),
    ],
)
def test_bad_benchmark_files(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "rated.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        run("similarity", "--benchmark", str(file))


def test_the_depth_of_the_root_can_be_chosen() -> None:
    options: tuple[tuple[str, ...], ...] = ((), ("--depth-offset", "2"), ("--depth-offset", "0"))
    found = [run("similarity", "cat", "dog", "--json", *more)["pairs"][0]["similarity"] for more in options]
    assert found[0] == found[1] > found[2]
    with pytest.raises(InputError, match="counts no depth"):
        run("similarity", "cat", "dog", "--measure", "lin", "--depth-offset", "0")
