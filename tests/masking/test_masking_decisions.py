"""Decisions of a steward about single changes hold; contradictions are refused with their lines."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import kanopy
from kanopy import MaskJob
from kanopy._errors import JobError

ANSWERS = ["beach"] * 6 + ["heron"] * 2 + ["egret"] * 2 + ["stork", "baech", "museum", "dog", "xyzzy"] + ["woman"] * 5
ANSWERS += ["man", "qxa", "qxb", "qxc", "qxd", "qxe"]  # enough that are *: nobody else has to join them
HEAD = "column,original,published,rows,decision,name"


def masked(folder: Path, *lines: str, **job: object) -> dict[str, str]:
    path = folder / "decided.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    result = kanopy.mask({"why": ANSWERS}, MaskJob(text=["why"], k=5, decisions=path, **job))
    assert result.verification.smallest_class >= 5
    assert any(note.startswith("Decisions of decided.csv") for note in result.notes)
    return dict(zip(ANSWERS, result.data["why"], strict=True))


def test_what_a_steward_decides_holds(tmp_path: Path) -> None:
    named = [f"why,{bird},vertebrate,2,name,water birds" for bird in ("heron", "egret", "stork")]
    found = masked(tmp_path, *named, "why,baech,beach,1,accept,", "why,museum,*,1,suppress,", "why,dog,*,1,,")
    assert {found[bird] for bird in ("heron", "egret", "stork")} == {"water birds"}
    assert (found["baech"], found["museum"], found["beach"]) == ("beach", "*", "beach")
    assert found["dog"] != "water birds"


def test_the_mapping_of_a_run_is_the_file_to_decide_in(tmp_path: Path) -> None:
    first = kanopy.mask({"why": ANSWERS}, MaskJob(text=["why"], k=5))
    rows = first.mapping().to_dicts()
    changed = [row for row in rows if row["original"] != row["published"]]
    lines = [f"why,{row['original']},{row['published']},{row['rows']},accept," for row in changed]
    assert masked(tmp_path, *lines) == dict(zip(ANSWERS, first.data["why"], strict=True))


def test_a_suppressed_answer_is_suppressed_however_many_gave_it(tmp_path: Path) -> None:
    assert masked(tmp_path, "why,woman,woman,5,suppress,")["woman"] == "*"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["why,heron,x,2,name,bird", "why,heron,x,2,suppress,"], "lines 2 and 3: 'heron' is both 'bird' and '*'"),
        (["why,heron,x,2,nam,bird"], "line 2: 'nam' is no decision. Did you mean 'name'"),
        (["why,heron,x,2,name,"], "line 2: name needs the column name"),
        (["why,hern,x,2,name,bird"], "line 2: nobody answered 'hern'"),
        (["who,heron,x,2,name,bird"], "line 2: 'who' is no column with free text"),
        (["why,heron,x,2,name,bird"], "line 2: only 2 people would be published as 'bird', and k is 5"),
        (["why,heron,x,2,name,xyzzy"], "line 2: fewer than k people answered 'xyzzy'"),
        (["why,heron,x,2,name,XYZZY "], "line 2: fewer than k people answered 'XYZZY'"),
        (["why,heron,heron,2,accept,"], "line 2: fewer than k people answered 'heron'"),
        (["why,man,*,1,name,woman"], "line 2: who answered 'man' did not answer 'woman'"),
        (["why,,*,1,suppress,"], "line 2: nothing can be decided about a missing answer"),
    ],
)
def test_decisions_that_cannot_be_followed_are_refused_with_their_lines(
    tmp_path: Path, lines: list[str], says: str
) -> None:
    with pytest.raises(JobError) as refusal:
        masked(tmp_path, *lines)
    assert says in str(refusal.value)


def test_a_file_without_decisions_and_a_job_without_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("column,original,published,rows\nwhy,a,b,1\n", encoding="utf-8")
    with pytest.raises(JobError, match="has no column 'decision'"):
        kanopy.mask({"why": ANSWERS}, MaskJob(text=["why"], k=5, decisions=tmp_path / "plain.csv"))
    with pytest.raises(JobError, match=r"none\.csv"):
        kanopy.mask({"why": ANSWERS}, MaskJob(text=["why"], k=5, decisions=tmp_path / "none.csv"))


def test_no_answer_stands_for_another_kind_of_living_thing_or_for_what_shares_nothing_with_it() -> None:
    rows = ["woman"] * 5 + ["dog"] + ["beach"] * 5 + ["village", "qxa", "qxb", "qxc"]
    found = dict(zip(rows, kanopy.mask({"why": rows}, MaskJob(text=["why"], k=5)).data["why"], strict=True))
    assert found["dog"] != "woman" and found["village"] != "beach"


def test_decisions_are_read_as_rows_of_a_table(tmp_path: Path) -> None:
    rows = ["a, b"] * 2 + ["c"] * 3 + ["beach"] * 5
    with (tmp_path / "d.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerows([HEAD.split(","), ["why", "a, b", "*", 2, "name", "x; y"], ["why", "c", "*", 3, "name", "x; y"]])
    found = kanopy.mask({"why": rows}, MaskJob(text=["why"], k=5, decisions=tmp_path / "d.csv")).data["why"]
    assert found[:5] == ["x; y"] * 5
