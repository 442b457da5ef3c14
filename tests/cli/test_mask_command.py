"""`kanopy mask`: the JSON it promises, the release it writes, the page, and errors in plain words."""

from __future__ import annotations

import csv
import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kanopy._table.survey import survey
from tests.cli.running import Shell

PROMISED = {
    "k", "rows", "groups", "semantic_quality", "record_linkage_percent", "semantic_linkage_percent", "dm", "c_avg",
    "ic_loss", "unknown", "seconds",
}  # fmt: skip


@pytest.fixture
def answers(shell: Shell) -> Path:
    columns = survey()
    lines = [",".join(row) for row in zip(*columns.values(), strict=True)]
    return shell.write("answers.csv", "\n".join([",".join(columns), *lines]) + "\n")


def multiplicity(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def smallest(path: Path) -> int:
    return min(Counter((row["reason1"], row["reason2"]) for row in multiplicity(path)).values())


def test_json_and_release(shell: Shell, answers: Path) -> None:
    out = shell.folder / "out.csv"
    done = shell("mask", answers, "-t", "reason1,reason2", "-k", "5", "-o", out, "--json", "--targets", "any")
    assert done.status == 0, done.error
    found = done.json
    assert set(found) >= PROMISED
    assert (found["k"], found["rows"], found["unknown"]) == (5, 975, [])
    assert found["record_linkage_percent"] == pytest.approx(100 * found["groups"] / 975)
    assert smallest(out) >= 5
    assert len(multiplicity(out)) == 975


def test_guides_and_searches(shell: Shell, answers: Path) -> None:
    found = {}
    for name, options in {
        "greedy": (),
        "refined": ("--search", "refined"),
        "sizes": ("--guide", "discernibility"),
        "chance": ("--guide", "random", "--seed", "4"),
        "swapped": ("--algorithm", "semantic-swapping"),
        "centroids": ("--algorithm", "semantic-microaggregation"),
    }.items():
        done = shell(
            "mask", answers, "-t", "reason1,reason2", "-k", "10", "-o", shell.folder / "o.csv", "--json",
            "--targets", "any", *options,
        )  # fmt: skip
        assert done.status == 0, done.error
        found[name] = done.json
    assert found["sizes"]["groups"] == 47
    assert found["sizes"]["dm"] == 39_399
    quality = {name: each["semantic_quality"] for name, each in found.items()}
    assert quality["refined"] > quality["greedy"] > max(quality["sizes"], quality["chance"])
    assert not found["swapped"]["guarantees_k"]


class Balanced(HTMLParser):
    """Every element that opens closes, and nothing is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "path"):
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href") and value]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("meta", "path"):
            assert self.open.pop() == tag


def test_the_page_shows_substitutions_groups_curves_and_dendrograms(shell: Shell, answers: Path) -> None:
    page, out = shell.folder / "r.html", shell.folder / "o.csv"
    done = shell("mask", answers, "-t", "reason1,reason2", "-k", "4", "-o", out, "--report", page)
    assert done.status == 0, done.error
    assert "shared by at least" in " ".join(done.out.split())
    text = page.read_text(encoding="utf-8")
    reader = Balanced()
    reader.feed(text)
    assert reader.open == []
    assert all(address.startswith("#") for address in reader.addresses)
    for words in ("What was substituted", "The groups", "Other values of k", "Clusters before and after"):
        assert words in text
    assert text.count('aria-label="Before: Ward') == text.count('aria-label="After: Ward') == 1
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_answers_are_escaped_in_the_page(shell: Shell) -> None:
    data = shell.write("a.csv", "why\n<script>x</script>\nbeach\nbeach\n")
    page = shell.folder / "r.html"
    assert shell("mask", data, "-t", "why", "-k", "2", "-o", shell.folder / "o.csv", "--report", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;x" in text


def test_report_as_json_and_as_script(shell: Shell, answers: Path) -> None:
    for name in ("r.json", "r.py"):
        done = shell(
            "mask", answers, "-t", "reason1", "-k", "4", "-o", shell.folder / "o.csv", "--report", shell.folder / name
        )
        assert done.status == 0, done.error
    found = json.loads((shell.folder / "r.json").read_text(encoding="utf-8"))
    assert {"from", "to", "people", "similarity"} == set(found["substitutions"][0])
    script = (shell.folder / "r.py").read_text(encoding="utf-8")
    compile(script, "r.py", "exec")
    assert "MaskJob(text=('reason1',), k=4)" in script


def test_mixed_columns_senses_weights_and_diversity(shell: Shell) -> None:
    lines = [f"{why},{age},{ill}" for why, age, ill in zip(
        ["walk", "walk", "hike", "tigre", "lion", "lion"], [20, 21, 22, 60, 61, 60], ["a", "b", "a", "b", "a", "b"],
        strict=True)]  # fmt: skip
    data = shell.write("a.csv", "\n".join(["why,age,ill", *lines]) + "\n")
    senses = shell.write("a.senses.toml", '[synonyms]\n"tigre" = "tiger#2"\n')
    out = shell.folder / "o.csv"
    done = shell(
        "mask", data, "-t", "why", "-q", "age", "-k", "3", "-s", "ill", "--diversity", "2", "--senses", senses,
        "--weights", "why=2,age=1", "-o", out, "--json", "--targets", "any", "--keep-order",
    )  # fmt: skip
    assert done.status == 0, done.error
    assert done.json["unknown"] == []
    published = [row["why"] for row in multiplicity(out)]
    assert [set(published[:3]) < {"walk", "hike"}, set(published[3:]) < {"tigre", "lion"}] == [True, True]


def test_a_hierarchy_file_as_ontology(shell: Shell) -> None:
    data = shell.write("a.csv", "why\n" + "\n".join(["walk"] * 3 + ["golf"] + ["wine"] * 3) + "\n")
    tree = shell.write("tree.csv", "walk;sport;*\ngolf;sport;*\nwine;food;*\n")
    out = shell.folder / "o.csv"
    assert shell("mask", data, "-t", "why", "-k", "3", "--vgh", tree, "-o", out).status == 0
    assert sorted(row["why"] for row in multiplicity(out)) == ["walk"] * 4 + ["wine"] * 3


def test_anonymize_knows_the_masking_algorithms(shell: Shell, answers: Path) -> None:
    out = shell.folder / "o.csv"
    done = shell("anonymize", answers, "-q", "reason1,reason2", "-k", "5", "--algorithm", "fusion", "-o", out, "--json",
                 "--param", "guide=discernibility")  # fmt: skip
    assert done.status == 0, done.error
    assert done.json["groups"] == 56  # answers no longer stand for unlike ones
    done = shell("anonymize", answers, "-q", "reason1", "-k", "5", "--algorithm", "local-recoding", "-o", out)
    assert done.status == 0, done.error
    done = shell(
        "anonymize", answers, "-q", "reason1", "-k", "5", "--algorithm", "fusion", "-o", out, "--param", "gide=x"
    )
    assert done.status == 2
    assert "Did you mean 'guide'" in done.words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-t", "nope"), "no column 'nope'"),
        (("-t", "reason1", "-k", "976"), "only 975 rows"),
        (("-t", "reason1", "--guide", "magic"), "guide must be"),
        (("-t", "reason1", "--weights", "reason1"), "column=number"),
        (("-t", "reason1", "--weights", "reason1=x"), "a number of at least 0"),
        (("-t", "reason1", "--diversity", "2"), "needs a confidential column"),
        (("-t", "reason1", "--ontology", "no.obo"), "There is no ontology"),
        (("-t", "reason1", "--unknown", "embedding"), "needs vectors"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    shell: Shell, answers: Path, options: tuple[str, ...], message: str
) -> None:
    out = shell.folder / "o.csv"
    done = shell("mask", answers, "-o", out, *options)
    assert done.status == 2
    assert message in done.words
    assert not out.exists()


def test_a_value_that_cannot_be_masked_stops_the_release(shell: Shell) -> None:
    data = shell.write("a.csv", "why\nbeach\nqxqx\nbeach\n")
    out = shell.folder / "o.csv"
    done = shell("mask", data, "-t", "why", "-k", "2", "--unknown", "error", "-o", out)
    assert done.status == 2
    assert "'qxqx'" in done.words
    assert not out.exists()


def test_the_input_is_never_overwritten(shell: Shell, answers: Path) -> None:
    before = answers.read_bytes()
    assert shell("mask", answers, "-t", "reason1", "-o", answers).status == 2
    assert answers.read_bytes() == before


def test_a_masking_writes_what_any_release_writes(shell: Shell, answers: Path) -> None:
    job = ("anonymize", answers, "-q", "reason1", "-k", "5", "--algorithm", "fusion", "-o", "o.csv")
    done = shell(*job, "--mapping", "map.csv", "--manifest", "m.json", "--report", "r.html", "--json")
    assert done.status == 0, done.error
    assert sum(int(row["rows"]) for row in multiplicity(shell.folder / "map.csv")) == 975
    assert json.loads((shell.folder / "m.json").read_text(encoding="utf-8"))["result"]["rows"] == 975
    (shell.folder / "o.csv").unlink()
    done = shell(*job, "--solution", "s.json")
    assert done.status == 2 and "does not have one level per column" in done.words
    assert not (shell.folder / "o.csv").exists()


def test_a_job_file_a_mapping_and_a_manifest(shell: Shell) -> None:
    lines = [f"{why},{age},{zip_}" for why, age, zip_ in zip(
        ["beach"] * 4 + ["baech", "ada@example.org", "heron", "egret", "stork", "wine", "wine", "wine"],
        [30] * 6 + [60] * 6, range(1000, 1012), strict=True)]  # fmt: skip
    data = shell.write("a.csv", "\n".join(["why,age,zip", *lines]) + "\n")
    job = shell.write("job.toml", 'k = 3\n[columns.why]\nrole = "quasi-identifier"\n[columns.age]\n'
                      'role = "quasi-identifier"\n[columns.zip]\nrole = "insensitive"\n')  # fmt: skip
    out, mapping, manifest = (shell.folder / name for name in ("o.csv", "map.csv", "man.json"))
    done = shell("mask", data, "--job", job, "-o", out, "--mapping", mapping, "--manifest", manifest)
    assert done.status == 0, done.error
    first = " ".join(done.out.split())
    assert first.startswith("! Only why, age are protected. Published unchanged, and not protected: zip.")
    published = multiplicity(out)
    assert min(Counter((row["why"], row["age"]) for row in published).values()) >= 3
    assert {row["why"] for row in published} <= {"beach", "wine", "wading bird", "*"}
    assert sum(int(row["rows"]) for row in multiplicity(mapping) if row["column"] == "why") == 12
    said = json.loads(manifest.read_text(encoding="utf-8"))
    assert (said["result"]["targets"], said["result"]["rare_answers_shown"]) == ("frequent", 0)
    assert "ada@example.org" not in manifest.read_text(encoding="utf-8")


def test_any_target_says_what_it_shows(shell: Shell) -> None:
    data = shell.write("a.csv", "why\nbeach\ncoast\nwine\nbeer\n")
    done = shell("mask", data, "-t", "why", "-k", "2", "--targets", "any", "-o", shell.folder / "o.csv")
    assert "given by fewer than 2 people" in " ".join(done.out.split())
    wrong = shell("mask", data, "-t", "why", "--targets", "all", "-o", shell.folder / "o.csv")
    assert wrong.status != 0 and "frequent" in wrong.error


def test_plain_methods_say_that_they_promise_nothing(shell: Shell, answers: Path) -> None:
    out = shell.folder / "out.csv"
    done = shell("baseline", answers, "-o", out, "--method", "pram", "-c", "reason1", "--amount", "0.5")
    assert done.status == 0 and "promises no k" in done.out and "Left out: reason2" in done.out
    assert len(multiplicity(out)) == 975
    assert shell("baseline", answers, "-o", out, "--method", "pram", "-c", "reason1", "-k", "5").status == 2
    assert shell("baseline", answers, "-o", out, "--method", "noise", "-c", "reason1").status == 2


def test_plain_methods_write_rows_in_no_order(shell: Shell) -> None:
    """The order of the table would tell who is who, whatever was done to the values."""
    ages = [str(20 + i) for i in range(40)]
    data, out = shell.write("ages.csv", "\n".join(["age", *ages, ""])), shell.folder / "out.csv"
    asked = ("baseline", data, "-o", out, "--method", "rounding", "-c", "age", "--amount", "1")
    assert shell(*asked).status == 0
    written = [row["age"] for row in multiplicity(out)]
    assert written != ages and sorted(written) == ages
    kept = shell(*asked, "--keep-order")
    assert [row["age"] for row in multiplicity(out)] == ages and "finds 40 of 40 rows" in " ".join(kept.error.split())


def test_representatives_stand_for_k_people_each(shell: Shell, answers: Path) -> None:
    out = shell.folder / "out.csv"
    done = shell("baseline", answers, "-o", out, "--method", "representatives", "-c", "reason1,reason2", "-k", "7")
    assert done.status == 0 and "stands for at least 7 people" in done.out
    people = [int(row["people"]) for row in multiplicity(out)]
    assert sum(people) == 975 and min(people) >= 7
    shown = [(row["reason1"], row["reason2"]) for row in multiplicity(out)]
    assert len(set(shown)) == len(shown)
