"""`kanopy risk` and `kanopy assess` as a shell sees them."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import Shell

TABLE = "zip,sex,ill\n1,f,flu\n1,m,flu\n2,f,cold\n2,f,cold\n2,f,cold\n3,m,flu\n"
RELEASE = 'zip,sex,ill\n"{1, 2}",f,flu\n"{1, 2}",m,flu\n"{1, 2}",f,cold\n"{1, 2}",f,cold\n"{1, 2}",f,cold\n*,*,flu\n'


def test_risk_as_json_and_page(shell: Shell) -> None:
    shell.write("people.csv", TABLE)
    shell.write("release.csv", RELEASE)
    run = shell(
        "risk", "people.csv", "-q", "zip,sex", "-s", "ill", "--sampling-fraction", "1%", "--released", "release.csv",
        "--threshold", "50%", "--report", "risk.html", "--json",
    )  # fmt: skip
    assert run.status == 0, run.error
    found = run.json
    assert found["smallest_class"] == 1 and found["unique_rows"] == 3
    assert found["threshold"] == {"above": 0.5, "rows": 3, "share": 0.5}
    assert found["population"]["population"] == 600
    assert [attack["kind"] for attack in found["attacks"]] == ["exact", "nearest"]
    assert (shell.folder / "risk.html").read_text().startswith("<!DOCTYPE html>")


def test_risk_in_words(shell: Shell) -> None:
    shell.write("people.csv", TABLE)
    run = shell("risk", "people.csv", "-q", "zip,sex", "-s", "ill", "--population-size", "600")
    assert run.status == 0, run.error
    for words in ("6 of 6 rows", "prosecutor", "journalist", "marketer", "Unique in the population", "ill: 6 rows"):
        assert words in run.out


def test_assess_as_json_words_and_page(shell: Shell) -> None:
    shell.write("people.csv", TABLE)
    shell.write("release.csv", RELEASE)
    run = shell("assess", "people.csv", "release.csv", "--no-learn", "--report", "u.html", "--json")
    assert run.status == 0, run.error
    assert run.json["quasi_identifiers"] == ["zip", "sex"]
    assert run.json["hidden_rows"] == 1
    assert "<svg" in (shell.folder / "u.html").read_text()
    words = shell("assess", "people.csv", "release.csv", "--no-learn", "--report", "u.json")
    assert "Published values lost" in words.out and "Count queries" in words.out
    assert json.loads((shell.folder / "u.json").read_text())["loss"] == run.json["loss"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["risk", "people.csv", "-q", "zip", "--population-size", "3"], "a sample cannot be larger"),
        (["risk", "people.csv", "-q", "zip", "--sampling-fraction", "110%"], "between 0 and 1"),
        (["risk", "people.csv", "-q", "zipp"], "Did you mean 'zip'"),
        (["risk", "people.csv", "-q", "zip", "--population", "few.csv"], "cannot be smaller than a sample"),
        (["risk", "people.csv", "-q", "zip", "--released", "few.csv"], "no part of the original"),
        (["risk", "people.csv", "-q", "zip", "--threshold", "high"], "must be a share"),
        (["assess", "people.csv", "few.csv"], "no part of the original"),
        (["assess", "people.csv", "other.csv"], "columns that the original lacks"),
        (["assess", "people.csv", "reversed.csv"], "not in the same order"),
        (["assess", "people.csv", "gone.csv"], "gone.csv"),
    ],
)
def test_bad_input_writes_nothing(shell: Shell, arguments: list[str], words: str) -> None:
    lines = TABLE.splitlines()
    shell.write("people.csv", TABLE)
    shell.write("few.csv", "zip,sex,ill\n9,f,flu\n")
    shell.write("other.csv", TABLE.replace("zip", "postcode"))
    shell.write("reversed.csv", "\n".join([lines[0], *lines[:0:-1]]) + "\n")
    before = shell.files
    run = shell(*arguments, "--report", "page.html")
    assert run.status == 2
    assert words in run.words
    assert shell.files == before


def test_a_report_never_overwrites_the_table(shell: Shell) -> None:
    shell.write("people.csv", TABLE)
    run = shell("risk", "people.csv", "-q", "zip", "--report", "people.csv")
    assert run.status == 2
    assert (shell.folder / "people.csv").read_text() == TABLE
