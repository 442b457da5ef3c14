"""What all commands share: the same options, one way to name columns, inputs and outputs, one vocabulary."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import typer.main

from kanopy import __version__
from kanopy.cli import app
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS
from tests.cli.running import Shell

GOOD = "age,sex,ill\n31,f,flu\n34,f,flu\n38,f,cold\n52,m,flu\n57,m,cold\n59,m,cough\n"


@pytest.fixture
def good(shell: Shell) -> Path:
    return shell.write("good.csv", GOOD)


def commands(command: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    inner = getattr(command, "commands", {})
    if not inner:
        return {" ".join(path): command}
    return {name: each for key, own in inner.items() for name, each in commands(own, (*path, key)).items()}


def test_the_same_option_means_the_same_everywhere() -> None:
    """One name, one meaning: only what a command says of its own may differ, and is listed here."""
    own = {"--output", "--k", "-k", "--suppress", "--algorithm", "--unknown", "--hierarchies", "--measure",
           "--ontology", "--algorithms", "--senses", "--svg", "--html", "--levels",
           "--weights", "-o", "-m", "--method", "--beside", "--control", "--learn"}  # fmt: skip
    seen: dict[str, set[str]] = {}
    for command in commands(typer.main.get_command(app)).values():
        for option in command.params:
            if option.param_type_name == "option":
                for name in option.opts:
                    seen.setdefault(name, set()).add(option.help or "")
    assert {name for name, words in seen.items() if len(words) > 1} <= own


def test_every_command_prints_json() -> None:
    for name, command in commands(typer.main.get_command(app)).items():
        assert any("--json" in option.opts for option in command.params), name


def test_version(shell: Shell) -> None:
    assert shell("--version").out.strip() == f"kanopy {__version__}"


def test_check_exits_with_1_when_a_model_does_not_hold(shell: Shell, good: Path) -> None:
    held = shell("check", good, "-q", "sex", "-k", "3", "--model", "l-distinct:ill:2", "--json")
    assert held.status == 0 and held.json["holds"] and (held.json["k"], held.json["smallest_class"]) == (3, 3)
    for options in (("-k", "4"), ("--model", "l-distinct:ill:3")):
        failed = shell("check", good, "-q", "sex", *options, "--json")
        assert failed.status == 1 and failed.json["holds"] is False
    assert shell("check", good, "-q", "age,sex").status == 0


def test_one_vocabulary(shell: Shell, good: Path) -> None:
    made = shell("anonymize", good, "-q", "age,sex", "-k", "2", "-o", "out.csv", "--json").json
    assert {"k", "smallest_class", "suppressed", "models", "seconds"} <= set(made)
    checked = shell("check", "out.csv", "-q", "age,sex", "-k", "2", "--json").json
    assert {"k", "smallest_class", "suppressed", "models", "seconds"} <= set(checked)
    for name in ("k", "smallest_class", "suppressed"):
        assert made[name] == checked[name]
    risk = shell("risk", "out.csv", "-q", "age,sex", "--json").json
    assert (risk["smallest_class"], risk["suppressed"]) == (made["smallest_class"], made["suppressed"])
    compared = shell("compare", good, "-q", "age,sex", "-k", "2", "--algorithms", "optimal", "--json").json
    assert compared["k"] == 2 and compared["entries"][0]["smallest_class"] == made["smallest_class"]


def test_apply_writes_like_any_release(shell: Shell, good: Path) -> None:
    assert shell("anonymize", good, "-q", "age,sex", "-k", "2", "-o", "out.csv", "--solution", "s.json").status == 0
    files = ("--report", "r.json", "--manifest", "m.json", "--mapping", "map.csv")
    done = shell("apply", "s.json", good, "-o", "again.csv", *files, "--json")
    assert done.status == 0 and done.json["smallest_class"] >= 2
    assert (shell.folder / "again.csv").read_bytes() == (shell.folder / "out.csv").read_bytes()
    assert json.loads((shell.folder / "m.json").read_text())["format"]
    assert "age" in (shell.folder / "map.csv").read_text() and (shell.folder / "r.json").exists()


@pytest.mark.parametrize("option", ["--report", "--mapping", "--manifest", "--solution"])
def test_outputs_are_checked_before_the_work(shell: Shell, good: Path, option: str) -> None:
    shell.write("key.txt", "a secret that is long enough to be one")
    shell.write("all.csv", GOOD)
    run = ("anonymize", good, "-q", "age,sex", "-k", "2", "--population", "all.csv", "--key-file", "key.txt",
           "--model", "k-map:2", "--pseudonymize", "ill", "--identifiers", "ill")  # fmt: skip
    for target in ("good.csv", "all.csv", "key.txt"):
        done = shell(*run, "-o", "out.csv", option, target)
        assert done.status == 2 and "never overwritten" in done.words, target
    assert "same name" in shell(*run, "-o", "out.csv", option, "./out.csv").words
    assert "no folder" in shell(*run, "-o", "out.csv", option, "nowhere/x.json").words
    assert shell.files == ["all.csv", "good.csv", "key.txt"]


def test_names_with_commas(shell: Shell) -> None:
    shell.write("t.csv", '"city, country",sex\n' + '"Rome, IT",f\n"Paris, FR",m\n' * 3)
    for names in (('"city, country",sex',), ('"city, country"', "sex")):
        options = [part for name in names for part in ("-q", name)]
        done = shell("check", "t.csv", *options, "--json")
        assert done.status == 0 and done.json["classes"] == 2


def test_standard_input_and_encoding(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "âge,sex\n" + "31,f\n" * 3
    shell.write("old.csv", table.encode("mac-roman"))
    assert shell("check", "old.csv", "-q", "âge", "--encoding", "mac-roman", "--json").json["rows"] == 3
    assert "no encoding 'x-none'" in shell("check", "old.csv", "-q", "âge", "--encoding", "x-none").words

    class Piped(io.BytesIO):
        buffer = property(lambda self: self)

    monkeypatch.setattr("kanopy.cli.files.sys.stdin", Piped(table.encode()))
    from kanopy.cli.files import read_data

    assert read_data("-").frame.shape == (3, 2)


def test_advice_speaks_of_options(shell: Shell, good: Path) -> None:
    words = shell("anonymize", good, "-o", "out.csv").words
    assert "--quasi" in words and "quasi=" not in words
    shell.write("gaps.csv", "age\n31\n\n34\n")
    words = shell("anonymize", "gaps.csv", "-q", "age", "-k", "2", "--missing", "error", "-o", "out.csv").words
    assert "--missing as-value" in words


def test_one_row_is_not_rows(shell: Shell) -> None:
    shell.write("one.csv", "age\n31\n")
    said = shell("check", "one.csv", "-q", "age").out
    assert "1 row falls into 1 class; the smallest has 1 row." in said


@pytest.mark.parametrize(
    ("command", "names"), [("algorithms", ALGORITHMS), ("models", MODELS), ("hierarchy methods", BUILDERS)]
)
def test_lists_show_the_parameters_of_one(shell: Shell, command: str, names: dict[str, Any]) -> None:
    for name in list(names)[:3]:
        found = shell(*command.split(), name, "--json").json
        (entry,) = next(iter(found.values()))
        assert entry["name"] == name and all(each["meaning"] for each in entry["declared"])
    assert "whole number" in shell("algorithms", "best").out
    wrong = shell(*command.split(), "nothing-like-it")
    assert wrong.status == 2 and "There is no" in wrong.words


@pytest.mark.parametrize(
    "param", ["steps=abc", "seed=1.5", "seed=-1", "seed=" + "9" * 5000, "budget_seconds=1e999999999", "seed=[1]", "x=1"]
)
def test_wrong_parameters_are_refused_in_words(shell: Shell, good: Path, param: str) -> None:
    done = shell("anonymize", good, "-q", "age", "-k", "2", "--local", "--param", param, "-o", "out.csv")
    assert done.status == 2 and ("of the algorithm 'best'" in done.words or "no parameter 'x'" in done.words)


def test_parameters_on_the_command_line_take_the_place_of_those_in_the_job(shell: Shell, good: Path) -> None:
    job = 'k = 2\nalgorithm = { name = "best", seed = 3, steps = 1 }\n[columns.age]\nrole = "quasi-identifier"\n'
    shell.write("job.toml", job)
    run = ("anonymize", good, "--job", "job.toml", "-o", "out.csv", "--json")
    done = shell(*run, "--algorithm", "mondrian", "--param", "strict=yes")
    assert done.status == 0 and done.json["algorithm"] == "mondrian"
    wrong = shell(*run, "--algorithm", "mondrian")
    assert wrong.status == 2 and "no parameter 'seed'" in wrong.words
