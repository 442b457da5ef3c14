"""`kanopy init`, `anonymize` and `check`: JSON as promised, exit statuses, job files, hierarchies from a folder."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kanopy import Hierarchy, Job, datasets, read_table
from kanopy._job.guess import guess_job
from kanopy.cli import options
from kanopy.metrics.full_domain import METRICS
from kanopy.search.algorithms import ALGORITHMS, takes_budget
from tests.cli.running import Shell

PEOPLE = """name,age,zip,sex,ill
Ann,31,10115,f,flu
Bob,34,10117,m,flu
Cid,38,10119,m,cold
Dee,52,80331,f,flu
Eve,57,80333,f,cold
Fay,59,80335,f,cough
"""
AGES = "31;30-39;*\n34;30-39;*\n38;30-39;*\n52;50-59;*\n57;50-59;*\n59;50-59;*\n"
ANONYMIZE_KEYS = {
    "algorithm", "optimal", "k", "levels", "metric", "score", "losses", "rows", "suppressed", "classes",
    "smallest_class", "judged", "candidates", "floor", "gap", "verified", "seconds",
}  # fmt: skip


@pytest.fixture
def people(shell: Shell) -> Path:
    return shell.write("people.csv", PEOPLE)


def records(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_anonymize_prints_one_json_object_with_the_promised_keys(shell: Shell, people: Path) -> None:
    options = ("-q", "age,sex", "-k", "2", "--suppress", "20%", "--insensitive", "ill", "-o", "out.csv", "--json")
    run = shell("anonymize", people, *options)
    assert run.status == 0
    found = run.json
    assert set(found) >= ANONYMIZE_KEYS
    assert found["seconds"].keys() == {"read", "encode", "search", "apply", "verify", "advise", "write", "total"}
    assert sum(v for name, v in found["seconds"].items() if name != "total") <= found["seconds"]["total"]
    assert found["seconds"]["write"] > 0 and found["seconds"]["read"] > 0
    assert found["levels"].keys() == {"age", "sex"}
    assert (found["algorithm"], found["metric"], found["k"], found["rows"]) == ("optimal", "loss", 2, 6)
    assert found["optimal"] is True and found["verified"] is True
    assert found["losses"]["loss"] == pytest.approx(found["score"])
    assert set(found["losses"]) >= set(METRICS) - {"height"}
    assert 1 <= found["judged"] <= found["candidates"]
    published = records(shell.folder / "out.csv")
    sizes = Counter((row["age"], row["sex"]) for row in published)
    hidden = sizes.pop(("*", "*"), 0)
    assert (hidden, len(sizes), min(sizes.values())) == (
        found["suppressed"], found["classes"], found["smallest_class"],
    )  # fmt: skip
    assert sorted(row["ill"] for row in published) == ["cold", "cold", "cough", "flu", "flu", "flu"]


def test_identifiers_stay_home_and_the_note_says_so(shell: Shell, people: Path) -> None:
    options = ("-k", "2", "--rest", "publish", "-o", "out.csv", "--json")
    run = shell("anonymize", people, "-q", "age,sex", *options)
    assert "'name' was left out" in run.words and "insensitive" in run.words
    assert list(records(shell.folder / "out.csv")[0]) == ["age", "zip", "sex", "ill"]
    assert any("'name' was left out" in line for line in run.json["notes"])
    named = shell("anonymize", people, "-q", "age", "--identifiers", "zip,sex", *options)
    assert named.status == 0
    assert list(records(shell.folder / "out.csv")[0]) == ["age", "ill"]
    asked = shell("anonymize", people, "-q", "age", "--insensitive", "name", *options)
    assert asked.status == 0 and "left out" not in asked.error
    assert "Ann" in [row["name"] for row in records(shell.folder / "out.csv")]


def test_without_json_people_read_words(shell: Shell, people: Path) -> None:
    run = shell("anonymize", people, "-q", "age,sex", "-k", "2", "-s", "ill", "--insensitive", "zip", "-o", "out.csv")
    assert run.status == 0
    assert "Published unchanged: zip, ill (sensitive, no model guards it)" in run.out
    assert "Note: Published unchanged, although an attacker may know it: 'zip'" in run.words
    assert "k = 2" in run.out and "proved optimal" in run.out and "out.csv" in run.out
    looked = shell("check", "out.csv", "-q", "age,sex", "-s", "ill")
    assert looked.status == 0 and "6 rows" in looked.out and "ill:" in looked.out


def test_check_json(shell: Shell, people: Path) -> None:
    found = shell("check", people, "-q", "sex", "-s", "ill", "--json").json
    assert {
        "rows": 6,
        "classes": 2,
        "k": None,
        "smallest_class": 2,
        "unique_rows": 0,
        "holds": True,
    }.items() <= found.items()
    assert found["sensitive"] == {"ill": {"distinct": 2}}
    assert shell("check", people, "-q", "age,sex", "--json").json["unique_rows"] == 6
    missing = shell("check", people, "-q", "agee", "--json")
    assert missing.status == 2 and "Did you mean 'age'?" in missing.json["error"]["message"]


def test_a_release_passes_its_own_check(shell: Shell, people: Path) -> None:
    made = shell("anonymize", people, "-q", "age,zip", "-k", "3", "--suppress", "0.5", "-o", "out.csv", "--json").json
    found = shell("check", "out.csv", "-q", "age,zip", "--json").json
    assert found["smallest_class"] == made["smallest_class"] >= 3
    assert (found["classes"], found["suppressed"]) == (made["classes"], made["suppressed"])


@pytest.mark.parametrize("name", ["age.csv", "adult_hierarchy_age.csv", "AGE.csv"])
def test_hierarchies_are_found_by_the_name_of_their_file(shell: Shell, people: Path, name: str) -> None:
    shell.write(f"trees/{name}", AGES)
    shell.write("trees/ill_unrelated.txt", "not a hierarchy")
    run = shell("anonymize", people, "-q", "age", "-k", "3", "--hierarchies", "trees", "-o", "out.csv", "--json")
    assert run.status == 0 and run.json["levels"] == {"age": 1}
    assert [row["age"] for row in records(shell.folder / "out.csv")] == ["30-39"] * 3 + ["50-59"] * 3


def test_the_exact_name_wins_and_commas_separate_too(shell: Shell, people: Path) -> None:
    shell.write("trees/age.csv", AGES.replace(";", ","))
    shell.write("trees/other_age.csv", AGES.replace("30-39", "young"))
    run = shell("anonymize", people, "-q", "age", "-k", "3", "--hierarchies", "trees", "-o", "out.csv", "--json")
    assert run.status == 0
    assert records(shell.folder / "out.csv")[0]["age"] == "30-39"


def test_a_folder_without_a_hierarchy_for_a_column_says_so(shell: Shell, people: Path) -> None:
    shell.write("trees/age.csv", AGES)
    run = shell("anonymize", people, "-q", "age,sex", "-k", "3", "--hierarchies", "trees", "-o", "out.csv", "--json")
    assert run.status == 0 and run.json["verified"]
    assert "no hierarchy for 'sex': built from the data" in run.words


def test_two_files_for_one_column(shell: Shell, people: Path) -> None:
    shell.write("trees/a_age.csv", AGES)
    shell.write("trees/b_age.csv", AGES)
    run = shell("anonymize", people, "-q", "age", "--hierarchies", "trees", "-o", "out.csv", "--json")
    assert run.status == 2 and "'a_age.csv', 'b_age.csv'" in run.json["error"]["message"]


def test_init_then_anonymize(shell: Shell) -> None:
    frame = datasets.adult().head(400).select("age", "sex", "race", "income")
    frame.write_csv(shell.folder / "adult.csv")
    made = shell("init", "adult.csv", "--json")
    assert made.status == 0
    roles = {column["column"]: column["role"] for column in made.json["columns"]}
    assert roles == {"age": "quasi-identifier", "sex": "quasi-identifier", "race": "quasi-identifier",
                     "income": "sensitive"}  # fmt: skip
    assert all(column["reason"] for column in made.json["columns"])
    text = (shell.folder / "job.toml").read_text(encoding="utf-8")
    assert text.count("#") > 10
    job = Job.read(shell.folder / "job.toml")
    assert job.quasi == ("age", "sex", "race") and job.sensitive == ("income",) and job.suppress == 0.02
    again = shell("init", "adult.csv")
    assert again.status == 2 and "--force" in again.error
    run = shell("anonymize", "adult.csv", "--job", "job.toml", "-k", "3", "-o", "out.csv", "--json")
    assert run.status == 0 and run.json["k"] == 3 and run.json["smallest_class"] >= 3


def test_init_never_overwrites_the_table(shell: Shell, people: Path) -> None:
    run = shell("init", people, "-o", people, "--force")
    assert run.status == 2 and "never overwritten" in run.words
    assert people.read_text() == PEOPLE


def test_guessed_job_files_are_valid_for_any_column_name() -> None:
    import polars as pl

    names = ['a "b"', "emoji 😀", "tab\there", "a.b", "", "line\nbreak", "\x7f", "[x]", "ünï"]
    guessed = guess_job(pl.DataFrame({name: ["x", "y"] for name in names}), "one\ntwo.csv")
    job = Job.from_toml(guessed.text)
    assert set(job.roles) == set(names)


def test_hierarchies_of_a_job_lie_beside_it(shell: Shell, people: Path) -> None:
    shell.write("jobs/age.csv", AGES)
    shell.write("jobs/job.toml", 'k = 3\n[columns.age]\nrole = "quasi-identifier"\nhierarchy = "age.csv"\n')
    run = shell("anonymize", people, "--job", "jobs/job.toml", "-o", "out.csv", "--json")
    assert run.status == 0 and run.json["levels"] == {"age": 1}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "xlsx", "csv.gz"])
def test_every_format_carries_the_same_release(shell: Shell, people: Path, suffix: str) -> None:
    if suffix == "xlsx":
        pytest.importorskip("xlsxwriter")
        pytest.importorskip("fastexcel")
    assert shell("anonymize", people, "-q", "age,sex", "-k", "2", "-o", f"out.{suffix}", "--json").status == 0
    plain = shell("anonymize", people, "-q", "age,sex", "-k", "2", "-o", "plain.csv", "--json")
    assert plain.status == 0
    frame = read_table(shell.folder / f"out.{suffix}")
    assert [[str(v) for v in row] for row in frame.iter_rows()] == [
        list(row.values()) for row in records(shell.folder / "plain.csv")
    ]


def test_suppressed_rows_are_kept_as_stars_or_dropped(shell: Shell) -> None:
    path = shell.write("t.csv", "a,b\nx,1\nx,2\ny,3\n")
    shell.write("trees/a.csv", "x;x2\ny;y2\n")
    options = ("-q", "a", "-k", "2", "--suppress", "40%", "--hierarchies", "trees", "--insensitive", "b", "--json")
    assert shell("anonymize", path, *options, "-o", "out.csv").json["suppressed"] == 1
    assert sorted((shell.folder / "out.csv").read_text().splitlines()) == ["*,3", "a,b", "x,1", "x,2"]
    assert shell("anonymize", path, *options, "-o", "out.csv", "--drop-suppressed").json["suppressed"] == 1
    assert sorted((shell.folder / "out.csv").read_text().splitlines()) == ["a,b", "x,1", "x,2"]


def test_report_files_appear_together_with_the_release(shell: Shell, people: Path) -> None:
    for name in ("report.html", "report.json", "report.py"):
        run = shell("anonymize", people, "-q", "age", "-k", "2", "-o", "out.csv", "--report", name, "--json")
        assert run.status == 0, run.error
        assert (shell.folder / name).stat().st_size > 100
    assert "<html" in (shell.folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((shell.folder / "report.json").read_text(encoding="utf-8"))


def test_parameters_of_an_algorithm(shell: Shell, people: Path) -> None:
    run = shell("anonymize", people, "-q", "age,sex", "-k", "2", "--param", "threads=1", "-o", "out.csv", "--json")
    assert run.status == 0
    wrong = shell("anonymize", people, "-q", "age", "--param", "thread=1", "-o", "out.csv", "--json")
    assert wrong.status == 2 and "Did you mean 'threads'?" in wrong.json["error"]["message"]
    shape = shell("anonymize", people, "-q", "age", "--param", "threads", "-o", "out.csv", "--json")
    assert shape.status == 2 and "name=value" in shape.json["error"]["message"]


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_algorithm_from_the_command_line(shell: Shell, people: Path, algorithm: str) -> None:
    limit = ("--budget", "1s") if takes_budget(algorithm) else ()
    mixed = ("--param", "distance=gower") if algorithm == "microaggregation" else ()  # averages numbers alone
    asked = ("-q", "age,sex", "-k", "2", "--algorithm", algorithm, *limit, *mixed)
    run = shell("anonymize", people, *asked, "-o", "out.csv", "--json")
    assert run.status == 0, run.error
    assert run.json["algorithm"] == algorithm and run.json["verified"]
    sizes = Counter((row["age"], row["sex"]) for row in records(shell.folder / "out.csv"))
    assert all(size >= 2 for labels, size in sizes.items() if labels != ("*", "*"))


def test_help_lists_what_the_dictionaries_hold(shell: Shell, people: Path) -> None:
    def listed(text: str) -> list[str]:
        return re.findall(r"[a-z-]+", text.partition(":")[2])

    assert listed(options.METRIC_HELP) == list(METRICS)
    shown = " ".join(shell("anonymize", "--help").out.replace("│", " ").split())
    assert all(re.search(rf"\b{name}\b", shown) for name in METRICS)
    assert [each["name"] for each in shell("algorithms", "--json").json["algorithms"]][: len(ALGORITHMS)] == list(
        ALGORITHMS
    )
    text = guess_job(read_table(people)).text
    lines = [line for line in text.splitlines() if line.startswith("#")]
    assert any(all(re.search(rf"\b{name}\b", line) for name in METRICS) for line in lines)


def test_a_real_process_ends_with_the_right_status(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    (tmp_path / "zip.csv").write_text("".join(f"{z};{z // 1000}\n" for z in (10115, 10117, 10119, 80331, 80333, 80335)))

    def kanopy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kanopy", "anonymize", str(path), *arguments, "-o", str(tmp_path / "o.csv")]
        # Without the compiler, which takes longer to load than all the rest: this is about processes.
        plain = {**os.environ, "KANOPY_KERNELS": "plain"}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=plain)

    done = kanopy("-q", "age,sex", "-k", "2", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["verified"] is True
    (tmp_path / "o.csv").unlink()
    none = kanopy("-q", "zip", "-k", "4", "--hierarchies", str(tmp_path), "--json")
    assert none.returncode == 1 and json.loads(none.stdout)["error"]["kind"] == "NoSolution"
    assert "No solution" in none.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "zip.csv"]


def test_leading_zeros_and_case_survive(shell: Shell) -> None:
    path = shell.write("codes.csv", "zip,City\n00123,Rome\n00124,rome\n00223,Rome\n00224,rome\n")
    options = ("-q", "zip", "-k", "2", "--insensitive", "City", "-o", "out.csv", "--keep-order", "--json")
    assert shell("anonymize", path, *options).status == 0
    assert (shell.folder / "out.csv").read_text() == "zip,City\n0012*,Rome\n0012*,rome\n0022*,Rome\n0022*,rome\n"


def test_separator_and_byte_order_mark_of_the_input_are_kept(shell: Shell) -> None:
    path = shell.write("t.csv", "Größe;Ort\r\n1;Köln\r\n1;Köln\r\n".encode("utf-8-sig"))
    assert (
        shell("anonymize", path, "-q", "Größe", "-k", "2", "--rest", "publish", "-o", "out.csv", "--json").status == 0
    )
    assert (shell.folder / "out.csv").read_bytes() == "Größe;Ort\r\n1;Köln\r\n1;Köln\r\n".encode("utf-8-sig")


def test_given_hierarchy_reads_back_from_its_own_release(shell: Shell, people: Path) -> None:
    shell.write("age.csv", AGES)
    shell("anonymize", people, "-q", "age", "-k", "3", "--hierarchies", ".", "-o", "out.csv", "--json")
    tree = Hierarchy.from_rows(line.split(";") for line in AGES.splitlines())
    before, after = records(people), records(shell.folder / "out.csv")
    assert sorted(tree.generalize(row["age"], 1) for row in before) == sorted(row["age"] for row in after)


def test_init_writes_the_hierarchies_it_chose(shell: Shell) -> None:
    rows = "".join(f"{30 + i % 20},{['Bonn', 'Kiel', 'Ulm'][i % 3]},0{i % 4}11\n" for i in range(120))
    table = shell.write("people.csv", "age,town,zip\n" + rows)
    init = ("init", table, "-o", shell.folder / "job.toml", "--hierarchies", shell.folder / "levels")
    done = shell(*init)
    assert done.status == 0 and "for internal use" in done.error
    assert [name for name in shell.files if name.startswith("levels")] == [
        "levels/age.json",
        "levels/town.csv",
        "levels/zip.csv",
    ]
    shell.write("levels/town.csv", "Bonn;Rhine;*\nKiel;North;*\nUlm;South;*\n")
    made, job = shell.folder / "made.csv", shell.folder / "job.toml"
    written = job.read_text(encoding="utf-8")  # a town and its region lose the same: say that regions are wanted
    job.write_text(written.replace('town.csv"\n', 'town.csv"\nmin-level = 1\n'), encoding="utf-8")
    assert shell("anonymize", table, "--job", job, "--algorithm", "optimal", "-k", "30", "-o", made).status == 0
    assert "Rhine" in made.read_text(encoding="utf-8") and "Bonn" not in made.read_text(encoding="utf-8")
    (shell.folder / "job.toml").unlink()
    assert shell(*init).status == 2 and "Rhine" in (shell.folder / "levels/town.csv").read_text(encoding="utf-8")
    assert shell(*init, "--force").status == 0


def test_init_without_a_quasi_identifier_says_so_and_exits_1(shell: Shell) -> None:
    table = shell.write("measures.csv", "measure\n" + "".join(f"{100 + row // 2}\n" for row in range(40)))
    made = shell("init", table, "-o", "none.toml")
    assert made.status == 1 and "cannot run yet" in made.out and "then run" not in made.out
    assert (shell.folder / "none.toml").exists()


def test_init_writes_hierarchies_beside_the_job_unless_told_not_to(shell: Shell) -> None:
    places = ("France", "Spain", "Japan", "China", "Kenya", "Egypt")
    rows = "".join(f"{20 + (7 * i) % 50},{places[i % 6]}\n" for i in range(240))
    table = shell.write("people.csv", "age,country\n" + rows)
    made = shell("init", table, "-o", "first.toml", "--json").json
    assert made["hierarchies"] == ["first-hierarchies/age.json", "first-hierarchies/country.csv"]
    assert [column["hierarchy"] for column in made["columns"]] == ["auto", "classification"]
    assert "Africa" in (shell.folder / "first-hierarchies/country.csv").read_text(encoding="utf-8")
    assert shell("init", table, "-o", "second.toml", "--no-hierarchies", "--json").json["hierarchies"] == []
    losses = {
        job: shell("anonymize", table, "--job", f"{job}.toml", "-o", f"{job}.csv", "--json").json["score"]
        for job in ("first", "second")
    }
    assert losses["first"] == pytest.approx(losses["second"])
    assert shell("init", table, "-o", "third.toml", "--no-hierarchies", "--hierarchies", "x").status == 2
