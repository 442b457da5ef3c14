"""Files with original values are for their owner's eyes only, whatever writes them; what is published is not."""

from __future__ import annotations

import os
import stat
from importlib.util import find_spec
from pathlib import Path

import pytest

import kanopy
from kanopy import _files, _temporary
from kanopy.hierarchy.files.files import write_hierarchy
from kanopy.hierarchy.hierarchy import Hierarchy
from tests.cli.running import Shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights as Unix has them")
PEOPLE = "age,job,ill\n" + "".join(f"{30 + i % 20},{'nurse' if i % 2 else 'clerk'},{i % 3}\n" for i in range(120))
JOB = ("-q", "age,job", "-s", "ill", "-k", "4")


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def people(shell: Shell) -> Path:
    return shell.write("people.csv", PEOPLE)


def assert_rights(shell: Shell, inside: set[str], outside: set[str]) -> None:
    found = {name: rights(shell.folder / name) for name in shell.files}
    assert {name for name, own in found.items() if own == 0o600} == inside
    assert {name for name, own in found.items() if own == 0o644} == outside


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_what_a_release_leaves(engine: str, shell: Shell, people: Path) -> None:
    shell.write("mapping.csv", "readable before")
    beside = ("--mapping", "mapping.csv", "--manifest", "manifest.json", "--solution", "solution.json")
    assert shell("anonymize", people, *JOB, "-o", "out.csv", *beside, "--engine", engine).status == 0
    assert_rights(shell, {"mapping.csv", "solution.json"}, {"people.csv", "out.csv", "manifest.json"})


def test_reports(shell: Shell, people: Path) -> None:
    for name, more in (("plain.html", ()), ("values.html", ("--report-values",)), ("script.py", ())):
        assert shell("anonymize", people, *JOB, "-o", "out.csv", "--report", name, *more).status == 0
    assert_rights(shell, {"values.html", "script.py"}, {"people.csv", "out.csv", "plain.html"})


def test_jobs_hierarchies_counts_and_statements(shell: Shell, people: Path) -> None:
    assert shell("init", people).status == 0
    own = {name for name in shell.files if name.startswith("job-hierarchies/")}
    assert own and rights(shell.folder / "job-hierarchies") == 0o700
    assert shell("count", people, *JOB[:4], "-o", "counts.parquet").status == 0
    statements = {"release.sql"} if find_spec("sqlglot") else set()
    for name in statements:
        assert shell("anonymize", people, *JOB, "-o", name, "--emit-sql", "duckdb").status == 0
    shown = ("hierarchy", "show", next(iter(own)), "--svg", "tree.svg", "--html", "tree.html")
    assert shell(*shown).status == 0
    assert_rights(shell, own | {"job.toml", "counts.parquet", *statements, "tree.svg", "tree.html"}, {"people.csv"})


def test_what_python_writes(tmp_path: Path) -> None:
    assert rights(write_hierarchy(Hierarchy.flat(["f", "m"]), tmp_path / "sex.csv")) == 0o600
    result = kanopy.anonymize({"age": [1, 1, 2, 2]}, kanopy.Job(quasi=["age"], k=2))
    result.write(tmp_path / "out.csv", mapping=tmp_path / "mapping.csv", solution=tmp_path / "solution.json")
    assert rights(tmp_path / "mapping.csv") == rights(tmp_path / "solution.json") == 0o600
    assert rights(tmp_path / "out.csv") == 0o666 & ~_umask()


def _umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now


def test_a_project_of_the_app(tmp_path: Path) -> None:
    from dataclasses import replace

    from kanopy.app.project import Project

    project = Project(tmp_path / "project")
    project.keep_upload("people.csv", PEOPLE.encode())
    project.keep_hierarchy("age", Hierarchy.flat(["1"]))
    project.change("k", lambda work: replace(work, job=work.job.replaced(k=7)))
    assert project.key
    project.close()
    places = [project.folder, *project.folder.rglob("*")]
    assert {rights(place) for place in places if place.is_dir()} == {0o700}
    assert {rights(place) for place in places if place.is_file()} == {0o600} and len(places) > 8


def test_temporary_folders_are_private_and_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    machine = _temporary.mark().partition("-")[0]
    nobody = next(pid for pid in range(4_000_000, 4_100_000) if not _runs(pid))
    dead = tmp_path / f"kanopy-{machine}-{nobody}-0123abcd"
    (dead / "deep").mkdir(parents=True)
    (dead / "deep" / "rows.duckdb").write_bytes(b"41")
    others = [tmp_path / f"kanopy-{machine}-{os.getppid()}-0123abcd", tmp_path / "kanopy-notes", tmp_path / "else"]
    for other in others:
        other.mkdir()
    with _temporary.folder() as own:
        assert rights(own) == 0o700
        assert set(tmp_path.iterdir()) == {own, *others}
        _temporary.sweep()
        assert own.exists()
    assert set(tmp_path.iterdir()) == set(others)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_staged_files_of_the_dead_are_swept_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    machine = _temporary.mark().partition("-")[0]
    dead = tmp_path / f".other.csv.{machine}-{2**22 + 1}-0123abcd.part"
    folder = tmp_path / f".out.{machine}-{2**22 + 1}-0123abcd.part"
    dead.write_text("half")
    folder.mkdir()
    (folder / "part-00000.parquet").write_bytes(b"half")
    beside = tmp_path / f".new.duckdb.{machine}-{2**22 + 1}-0123abcd.part.wal"
    beside.write_text("half")
    staged = _files.Release()
    staged.bytes(tmp_path / "mine.csv", b"whole")
    _files.write_whole(tmp_path / "out.csv", "whole")
    assert not any(left.exists() for left in (dead, folder, beside))
    staged.publish()
    assert {path.name for path in tmp_path.iterdir()} == {"mine.csv", "out.csv"}


def test_what_a_living_process_holds_is_not_swept_wherever_it_runs(tmp_path: Path) -> None:
    """In a container its number means another process here, or none."""
    machine = _temporary.mark().partition("-")[0]
    file = tmp_path / f".out.csv.{machine}-{2**22 + 1}-0123abcd.part"
    with file.open("w") as held:
        assert _temporary.hold(held.fileno()) and not _temporary.is_abandoned(file)
    assert _temporary.is_abandoned(file)
