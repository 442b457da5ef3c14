"""Every kind of bad input: a message with the offending values and what to do, an exit status, nothing written."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kanopy import anonymize as front_door
from kanopy.engine.local import LocalEngine
from kanopy.search.full_domain.optimal import Optimal
from tests.cli.running import Run, Shell

GOOD = "age,sex,ill\n31,f,flu\n34,f,flu\n38,f,cold\n52,m,flu\n57,m,cold\n59,m,cough\n"


def refused(shell: Shell, *arguments: str | Path, status: int = 2) -> str:
    """Run `anonymize --json`, expect an error and that nothing changed; the message."""
    before = {name: (shell.folder / name).read_bytes() for name in shell.files}
    run: Run = shell("anonymize", *arguments, "--json")
    assert run.status == status, (run.out, run.error)
    found = run.json["error"]
    assert set(found) == {"kind", "message"}
    assert " ".join(found["message"].split()) in run.words
    assert {name: (shell.folder / name).read_bytes() for name in shell.files} == before
    return str(found["message"])


@pytest.fixture
def good(shell: Shell) -> Path:
    return shell.write("good.csv", GOOD)


def test_missing_file(shell: Shell, good: Path) -> None:
    message = refused(shell, "goood.csv", "-q", "age", "-o", "out.csv")
    assert "no file 'goood.csv'" in message and "Did you mean 'good.csv'?" in message


@pytest.mark.parametrize(
    ("content", "says"),
    [("", ["bad.csv is empty", "at least one record"]), ("age,sex\n", ["no records", "at least one record"])],
    ids=["empty file", "header only"],
)
def test_files_without_a_table(shell: Shell, content: str, says: list[str]) -> None:
    shell.write("bad.csv", content)
    message = refused(shell, "bad.csv", "-q", "age", "-o", "out.csv")
    assert [part for part in says if part not in message] == []


def test_ragged_rows(shell: Shell) -> None:
    shell.write("ragged.csv", "age,sex\n1,f\n2\n3,m,x\n4,m\n")
    message = refused(shell, "ragged.csv", "-q", "age", "-o", "out.csv")
    assert "header has 2 fields" in message and "line 3 has 1" in message and "line 4 has 3" in message
    assert "quotes" in message


def test_wrong_encoding(shell: Shell) -> None:
    good = "âge,ville\n" + "31,Orléans – là\n" * 9
    shell.write("damaged.csv", good.encode() + b"32,Be\xffzi\xc3ers\n")
    message = refused(shell, "damaged.csv", "-q", "âge", "-o", "out.csv")
    assert "line 11" in message and "0xff" in message and "UTF-8" in message


def test_a_table_that_is_no_text(shell: Shell) -> None:
    shell.write("picture.csv", bytes(range(256)) * 20 + bytes(2000))
    message = refused(shell, "picture.csv", "-q", "age", "-o", "out.csv")
    assert message


def test_absent_quasi_identifier(shell: Shell, good: Path) -> None:
    message = refused(shell, good, "-q", "Agee,sex", "-o", "out.csv")
    assert "no column 'Agee'" in message and "Did you mean 'age'?" in message


def test_no_quasi_identifier(shell: Shell, good: Path) -> None:
    assert "names no quasi-identifier" in refused(shell, good, "-o", "out.csv")


def test_value_unknown_to_its_hierarchy(shell: Shell) -> None:
    shell.write("t.csv", "city\n" + "".join(f"{name}\n" for name in ["Rome", *"abcdefg"]))
    shell.write("trees/city.csv", "Rome;Italy;*\nMilan;Italy;*\n")
    message = refused(shell, "t.csv", "-q", "city", "-k", "2", "--hierarchies", "trees", "-o", "out.csv")
    assert "'city'" in message and "'a', 'b', 'c', 'd', 'e' and 2 more" in message and "7 rows" in message
    assert "Add them" in message and "--unknown suppress or --unknown add" in message
    for policy, suppressed in (("add", 0), ("suppress", 7)):
        options = ("-q", "city", "-k", "2", "--hierarchies", "trees", "--unknown", policy, "--suppress", "100%")
        run = shell("anonymize", "t.csv", *options, "-o", f"{policy}.csv", "--json")
        assert run.status == 0 and run.json["suppressed"] >= suppressed


def test_hierarchy_that_does_not_nest(shell: Shell, good: Path) -> None:
    shell.write("trees/sex.csv", "f;x;A;*\nm;x;B;*\n")
    message = refused(shell, good, "-q", "sex", "-k", "2", "--hierarchies", "trees", "-o", "out.csv")
    assert "does not nest between level 1 and 2" in message and "'x' under 'A' (line 1) and 'B' (line 2)" in message
    assert "one parent" in message


@pytest.mark.parametrize("k", ["1", "0", "-3"])
def test_k_below_two(shell: Shell, good: Path, k: str) -> None:
    assert f"at least 2, not {k}" in refused(shell, good, "-q", "age", "-k", k, "-o", "out.csv")


def test_k_above_the_rows(shell: Shell, good: Path) -> None:
    message = refused(shell, good, "-q", "age", "-k", "7", "-o", "out.csv")
    assert "k is 7" in message and "only 6 rows" in message and "smaller k" in message


@pytest.mark.parametrize("share", ["101%", "-1%", "1.5", "nan"])
def test_suppression_outside_its_range(shell: Shell, good: Path, share: str) -> None:
    message = refused(shell, good, "-q", "age", f"--suppress={share}", "-o", "out.csv")
    assert "between 0 and 1" in message and share in message and "2%" in message


def test_suppression_that_is_no_number(shell: Shell, good: Path) -> None:
    assert "must be a share" in refused(shell, good, "-q", "age", "--suppress", "few", "-o", "out.csv")


def test_output_is_the_input(shell: Shell, good: Path) -> None:
    for target in ("good.csv", "./good.csv", str(good)):
        assert "never overwritten" in refused(shell, "good.csv", "-q", "age", "-k", "2", "-o", target)
    (shell.folder / "link.csv").symlink_to(good)
    assert "never overwritten" in refused(shell, "good.csv", "-q", "age", "-k", "2", "-o", "link.csv")
    assert "never overwritten" in refused(
        shell, "good.csv", "-q", "age", "-k", "2", "-o", "out.csv", "--report", "good.csv"
    )


def test_output_is_the_job_or_a_hierarchy(shell: Shell, good: Path) -> None:
    shell.write("trees/sex.csv", "f;*\nm;*\n")
    shell.write("job.toml", 'k = 2\n[columns.sex]\nrole = "quasi-identifier"\n')
    options = (good, "--job", "job.toml", "--hierarchies", "trees")
    assert "never overwritten" in refused(shell, *options, "-o", "trees/sex.csv")
    assert "never overwritten" in refused(shell, *options, "-o", "out.csv", "--report", "job.toml")


def test_output_folder_is_missing(shell: Shell, good: Path) -> None:
    message = refused(shell, good, "-q", "age", "-k", "2", "-o", "nowhere/out.csv")
    assert "no folder 'nowhere'" in message and "Create it" in message


def test_output_is_a_folder_or_of_no_known_format(shell: Shell, good: Path) -> None:
    (shell.folder / "box.csv").mkdir()
    assert "is a folder" in refused(shell, good, "-q", "age", "-k", "2", "-o", "box.csv")
    assert ".parquet" in refused(shell, good, "-q", "age", "-k", "2", "-o", "out.docx")
    assert "local file" in refused(shell, good, "-q", "age", "-k", "2", "-o", "s3://bucket/out.csv")


def test_output_may_not_be_written(shell: Shell, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Asked of the system, because whoever runs the tests may have all rights.
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: real(path, mode) and not mode & os.W_OK)
    message = refused(shell, good, "-q", "age", "-k", "2", "-o", "out.csv")
    assert "may not be written" in message and "Choose another" in message


def test_release_and_report_with_one_name(shell: Shell, good: Path) -> None:
    message = refused(shell, good, "-q", "age", "-k", "2", "-o", "out.csv", "--report", "out.csv")
    assert "same name" in message


@pytest.mark.parametrize("report", [False, True])
def test_disk_full_while_writing(shell: Shell, good: Path, monkeypatch: pytest.MonkeyPatch, report: bool) -> None:
    shell.write("out.csv", "the release of last year")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if report:
        monkeypatch.setattr(Path, "write_bytes", full)
    else:
        monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    files = ("-o", "out.csv", "--report", "report.json")
    before = {name: (shell.folder / name).read_bytes() for name in shell.files}
    run = shell("anonymize", good, "-q", "age", "-k", "2", *files, "--json")
    monkeypatch.undo()
    assert run.status == 2
    assert "disk is full" in run.json["error"]["message"] and "Free some space" in run.json["error"]["message"]
    assert {str(p.name): p.read_bytes() for p in shell.folder.iterdir()} == before


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Optimal, "solve"), (LocalEngine, "apply"), (pl.DataFrame, "write_csv"), (os, "fsync"), (os, "replace")],
)
def test_interrupted(shell: Shell, good: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    shell.write("out.csv", "the release of last year")
    real = getattr(owner, name)

    def interrupt(*_: Any, **__: Any) -> None:
        monkeypatch.setattr(owner, name, real)  # once: what tidies up must work
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupt)
    message = refused(shell, good, "-q", "age", "-k", "2", "-o", "out.csv", status=130)
    assert message == "Stopped. Nothing was written."


@pytest.mark.parametrize(("algorithm", "kept"), [("optimal", True), ("incognito", False)])
def test_interrupted_process(algorithm: str, kept: bool, tmp_path: Path) -> None:
    """A real Ctrl-C: the signal arrives in the middle of a search that would last a minute. A search that has a release
    by then publishes it and says that it was stopped; one that has none writes nothing."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{i}": rng.integers(0, 40, 3000) for i in range(8)})
    frame.write_csv(tmp_path / "t.csv")
    code = (
        "import sys, kanopy.cli as cli\n"
        "from kanopy.search.solution import Algorithm\n"
        "real = Algorithm.solve\n"
        "def solve(*given):\n"
        "    print('searching', file=sys.stderr, flush=True)\n"
        "    return real(*given)\n"
        "Algorithm.solve = solve\n"
        "cli.main()\n"
    )
    command = [sys.executable, "-c", code, "anonymize", "t.csv", "-q", ",".join(frame.columns), "-k", "2"]
    command += ["--algorithm", algorithm, "--param", "budget_seconds=60", "-o", "out.csv", "--json"]
    command += ["--param", "most_candidates=1"] if kept else []
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "KANOPY_KERNELS": "plain"})  # fmt: skip
    assert process.stderr is not None
    try:
        assert "searching" in process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    written = {path.name for path in tmp_path.iterdir()}
    if kept and process.returncode == 0:
        assert "before it was stopped" in " ".join(error.split()) and "out.csv" in written
        classes = pl.read_csv(tmp_path / "out.csv").group_by(frame.columns).len()
        assert classes["len"].min() >= 2
    else:  # stopped before there was a release
        assert process.returncode == 130, error
        assert "Stopped" in error and '"Cancelled"' in out and written == {"t.csv"}


def test_verification_failure_writes_nothing(shell: Shell, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that errs: one row is published as if its class were large enough."""
    real = Optimal.solve

    def careless(self: Optimal, problem: Any, progress: Any) -> Any:
        solution = real(self, problem, progress)
        labels = [list(column) for column in solution.recoding.labels]
        codes = solution.recoding.codes.copy()
        labels[0].append("31 exactly")
        codes[0, 0] = len(labels[0]) - 1
        nodes = tuple(np.append(n, -1).astype(np.int32) for n in solution.recoding.nodes)
        wrong = replace(
            solution.recoding, codes=codes, labels=tuple(tuple(column) for column in labels), nodes=nodes,
            shares=tuple(np.append(s, 0.0) for s in solution.recoding.shares),
        )  # fmt: skip
        return replace(solution, recoding=wrong)

    monkeypatch.setattr(Optimal, "solve", careless)
    message = refused(shell, good, "-q", "age,sex", "-k", "2", "-o", "out.csv", "--report", "r.json", status=3)
    assert "violate the model" in message and "Nothing was written" in message and "report it" in message


def test_an_identifier_that_slips_through_is_noticed(shell: Shell, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = LocalEngine.apply

    def careless(self: LocalEngine, frame: Any, counted: Any, recoding: Any, **options: Any) -> Any:
        return real(self, frame, counted, recoding, **{**options, "dropped": []})

    monkeypatch.setattr(LocalEngine, "apply", careless)
    message = refused(shell, good, "-q", "age", "-k", "2", "--identifiers", "ill", "-o", "out.csv", status=3)
    assert "ill" in message and "Nothing was written" in message


def test_no_solution(shell: Shell, good: Path) -> None:
    shell.write("trees/sex.csv", "f;F\nm;M\n")
    message = refused(shell, good, "-q", "sex", "-k", "4", "--hierarchies", "trees", "-o", "out.csv", status=1)
    assert "6 of 6 rows would have to be suppressed" in message
    assert "--suppress 100%" in message and "lower k to 3" in message and "let sex be generalized further" in message


def test_wrong_options_are_usage_errors(shell: Shell, good: Path) -> None:
    run = shell("anonymize", good, "-q", "age")
    assert run.status == 2 and "--output" in run.error and run.out == ""
    run = shell("anonymize", good, "-q", "age", "-k", "many", "-o", "out.csv")
    assert run.status == 2 and "-k" in run.error
    assert shell.files == ["good.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--metric", "los"), "Did you mean 'loss'?"),
        (("--algorithm", "optimum"), "Did you mean 'optimal'?"),
        (("--missing", "ignore"), "missing must be"),
        (("--unknown", "drop"), "unknown must be"),
        (("--sensitive", "age"), "two roles"),
        (("--job", "job.toml"), "`kanopy init DATA` writes one"),
        (("--hierarchies", "nowhere"), "no folder nowhere"),
    ],
)
def test_wrong_settings(shell: Shell, good: Path, options: tuple[str, ...], words: str) -> None:
    assert words in refused(shell, good, "-q", "age", "-k", "2", *options, "-o", "out.csv")


def test_damaged_job_files(shell: Shell, good: Path) -> None:
    for text, words in (
        ("k = = 2", "not valid TOML"),
        ("kk = 2", "Did you mean 'k'?"),
        ("columns = 5", "a table of columns"),
        ("[columns]\nage = 3", "must hold settings"),
        ('[columns.age]\nrole = "quasi-id"', "Did you mean 'quasi-identifier'?"),
        ('[columns.age]\nrole = "quasi-identifier"\nlevel = 1', "unknown setting 'level'"),
        ('[columns.age]\nrole = "quasi-identifier"\nhierarchy = { widths = [5] }', "names no method"),
        ('k = "five"', "not 'five'"),
    ):
        shell.write("job.toml", text)
        assert words in refused(shell, good, "--job", "job.toml", "-o", "out.csv")
    shell.write("job.json", "[1]")
    assert "a table of settings" in refused(shell, good, "--job", "job.json", "-o", "out.csv")
    shell.write("job.json", "{")
    assert "not valid JSON" in refused(shell, good, "--job", "job.json", "-o", "out.csv")


def test_the_same_errors_in_python() -> None:
    """The command line adds nothing: the library itself refuses."""
    from kanopy import Hierarchy, Job, KanopyError, NoSolution

    with pytest.raises(KanopyError, match="only 2 rows"):
        front_door({"a": [1, 2]}, Job(quasi=["a"], k=3))
    with pytest.raises(NoSolution) as caught:
        tree = Hierarchy.from_rows([["x", "X"], ["y", "Y"]])
        front_door({"a": ["x", "y", "y"]}, Job(quasi=["a"], k=2, hierarchies={"a": tree}))
    assert caught.value.best is not None and caught.value.best.suppressed_rows == 1
    assert any("33.4%" in line for line in caught.value.advice)


def test_k_is_written_either_way(shell: Shell) -> None:
    shell.write("people.csv", "age,sex\n" + "".join(f"{30 + i % 2},f\n" for i in range(8)))
    for spelled in ("-k", "--k"):
        assert shell("anonymize", "people.csv", "-q", "age,sex", spelled, "4", "-o", f"{spelled}.csv").status == 0
    assert (shell.folder / "-k.csv").read_bytes() == (shell.folder / "--k.csv").read_bytes()
