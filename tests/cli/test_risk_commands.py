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
        (["assess", "people.csv", "mixed.csv"], "not in the same order"),
        (["assess", "people.csv", "gone.csv"], "gone.csv"),
    ],
)
def test_bad_input_writes_nothing(shell: Shell, arguments: list[str], words: str) -> None:
    shell.write("people.csv", TABLE)
    shell.write("few.csv", "zip,sex,ill\n9,f,flu\n")
    shell.write("other.csv", TABLE.replace("zip", "postcode"))
    shell.write("mixed.csv", "zip,sex,ill\n3,m,cold\n2,f,flu\n2,f,cold\n2,f,cold\n1,m,flu\n1,f,flu\n")
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


SAMPLE = "zip,sex,w,home\n1,f,100,a\n1,m,50.5,a\n2,f,20,b\n2,f,20,b\n2,f,20,c\n3,,10,\n"


def test_risk_of_a_sample(shell: Shell) -> None:
    shell.write("sample.csv", SAMPLE)
    run = shell(
        "risk", "sample.csv", "-q", "zip,sex", "--sampling-weight", "w", "--household", "home",
        "--missing-means", "any", "--suda", "2", "--every", "1:2,2:2", "--row-risks", "rows.csv",
        "--combinations", "unsafe.csv", "--report", "risk.html", "--json",
    )  # fmt: skip
    assert run.status == 0, run.error
    survey = run.json["survey"]
    assert survey["represented"] == 220.5 and survey["household"]["households"] == 4
    assert survey["household"]["alone"] == 1 and survey["sample_uniques"] == 3
    assert run.json["special_uniques"]["largest"] == 1 and run.json["every"]["rows"] == 3
    lines = (shell.folder / "rows.csv").read_text().splitlines()
    assert len(lines) == 7 and lines[0].startswith("row,rows_alike,people_alike,individual_risk,household_risk,suda")
    unsafe = (shell.folder / "unsafe.csv").read_text()
    assert "sex,m,1,2" in unsafe and "zip,3,1,2" in unsafe and "zip + sex,1 + f,1,2" in unsafe
    page = (shell.folder / "risk.html").read_text()
    assert "Risk by sampling weights" in page and "Rows that few columns single out" in page
    words = shell("risk", "sample.csv", "-q", "zip,sex", "--sampling-weight", "w", "--household", "home", "--suda", "2",
                  "--every", "1:2")  # fmt: skip
    for told in ("By the sampling weights", "With their households", "Special uniques", "too few share"):
        assert told in words.out


def test_a_release_of_a_sample(shell: Shell) -> None:
    shell.write(
        "sample.csv", "".join(["age,sex,w,home\n", *(f"{20 + i},{'fm'[i % 2]},{9 + i},{i // 3}\n" for i in range(60))])
    )
    asked = ("-q", "age,sex", "--sampling-weight", "w", "--household", "home", "--model", "individual-risk:0.01",
             "--model", "household-risk:0.02", "--every", "1:8")  # fmt: skip
    run = shell("anonymize", "sample.csv", *asked, "-k", "2", "--insensitive", "w,home", "-o", "release.csv", "--json")
    assert run.status == 0, run.error
    assert [model["name"] for model in run.json["models"]] == ["individual-risk", "household-risk", "subset-k"]
    assert shell("check", "release.csv", *asked).status == 0
    alone = shell("anonymize", "sample.csv", *asked, "-k", "1", "-o", "alone.csv")
    assert "The models hold, checked again" in alone.out and "k = 1" not in alone.out
    assert shell("check", "sample.csv", *asked).status == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--household", "home"], "no sampling weights"),
        (["--sampling-weight", "home"], "hold 'a'"),
        (["--sampling-weight", "zero"], "missing, zero or negative in 2 rows"),
        (["--sampling-weight", "ww"], "no column 'ww'"),
        (["--sampling-weight", "w", "--missing-means", "none"], "'any' or 'value'"),
        (["--row-risks", "rows.csv"], "needs a risk per row"),
        (["--combinations", "rows.csv"], "--every 2:10,3:3"),
        (["--every", "3:2"], "but has only 2"),
        (["--every", "two"], "such as 2:10,3:3"),
        (["--suda", "2", "--row-risks", "sample.csv"], "sample.csv"),
        (["--suda", "2", "--every", "1:2", "--row-risks", "x.csv", "--combinations", "x.csv"], "same name"),
        (["--suda", "2", "--row-risks", "x.pdf"], "x.pdf"),
    ],
)  # fmt: skip
def test_bad_input_about_samples(shell: Shell, arguments: list[str], words: str) -> None:
    shell.write("sample.csv", "zip,sex,w,home,zero\n1,f,1,a,0\n2,m,1,a,-3\n2,m,1,a,5\n")
    run = shell("risk", "sample.csv", "-q", "zip,sex", *arguments)
    assert run.status == 2, run.out
    assert words in " ".join(run.error.split())
    assert sorted(path.name for path in shell.folder.iterdir()) == ["sample.csv"]


def test_risk_names_the_order_of_rows_and_what_an_earlier_release_adds(shell: Shell) -> None:
    shell.write("people.csv", TABLE)
    shell.write("release.csv", RELEASE)
    run = shell("risk", "people.csv", "-q", "zip,sex", "--released", "release.csv")
    assert run.status == 0 and "by the order of rows: 6 of 6 people" in run.out and "--keep-order" in run.out
    run = shell("risk", "release.csv", "-q", "zip,sex", "--beside", "release.csv")
    assert run.status == 0 and "Beside the earlier release" in run.out
