"""A project keeps every step, survives whatever ends its server, and lets nobody out of its folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kanopy._errors import DataError, InputError, JobError
from kanopy._job.job import Job
from kanopy.app.history import LONGEST, History
from kanopy.app.project import Project, safe_name
from kanopy.hierarchy.hierarchy import Hierarchy


def test_every_step_is_undone_and_done_again_after_a_restart(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for k in (7, 8, 9):
        project.change(f"k = {k}", lambda work, k=k: replace(work, job=work.job.replaced(k=k)))
    assert project.undo() == "k = 9" and project.work.job.k == 8
    project.close()
    again = Project(tmp_path)
    assert again.work.job.k == 8 and again.undoable == "k = 8" and again.redoable == "k = 9"
    again.redo()
    assert [again.undo() for _ in range(3)] == ["k = 9", "k = 8", "k = 7"]
    assert again.work.job.k == 5
    with pytest.raises(JobError, match="nothing to undo"):
        again.undo()
    again.close()


def test_a_new_step_forgets_what_was_undone_and_files_do_not_pile_up(tmp_path: Path) -> None:
    history = History(tmp_path, {"k": 0})
    for k in range(1, LONGEST + 20):
        history.add({"k": k}, f"k = {k}")
    history.undo()
    history.add({"k": -1}, "another")
    assert history.redoable == "" and history.now == {"k": -1}
    assert len(list((tmp_path / "states").iterdir())) == LONGEST


def test_a_crash_between_two_writes_leaves_the_present_as_it_was(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.change("k = 7", lambda work: replace(work, job=work.job.replaced(k=7)))
    project.close()
    (tmp_path / "states" / "000009.json").write_text("{half of a sta", encoding="utf-8")
    (tmp_path / "project.json.part").write_text("{", encoding="utf-8")
    again = Project(tmp_path)
    assert again.work.job.k == 7
    again.close()


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with pytest.raises(DataError, match="Another `kanopy app` works in"):
        Project(tmp_path)
    project.close()
    Project(tmp_path).close()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project.json").write_text(json.dumps({"format": "another"}), encoding="utf-8")
    with pytest.raises(DataError, match="not a project of the app"):
        Project(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "C:\\x\\y.csv", "..", "", "a/../../b.csv", "<script>.csv", "x" * 400 + ".csv"],
)
def test_file_names_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path / "project")
    kept = project.folder / project.keep_upload(name, b"a\n1\n")
    assert kept.resolve().parent == project.folder / "data" and kept.read_bytes() == b"a\n1\n"
    assert len(safe_name(name)) <= 80 and "/" not in safe_name(name)
    with pytest.raises(InputError):
        project.result_folder("../" + (name or "x"))
    project.close()


def test_versions_of_a_hierarchy_are_kept_beside_each_other(tmp_path: Path) -> None:
    project = Project(tmp_path)
    first = project.keep_hierarchy("a/b", Hierarchy.flat(["x", "y"]))
    second = project.keep_hierarchy("a/b", Hierarchy.flat(["x", "z"]))
    assert first != second == project.keep_hierarchy("a/b", Hierarchy.flat(["x", "z"]))
    project.change("hierarchy", lambda work: replace(work, job=Job(quasi="a/b", hierarchies={"a/b": second})))
    found = project.hierarchy("a/b")
    assert found is not None and found.values == ("x", "z")
    assert Job.read(project.job_file).hierarchies["a/b"] == str(tmp_path / second)
    project.close()


def test_the_key_stays_the_same_and_is_for_the_owner_alone(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert len(project.key) >= 32 and project.key == project.key
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    project.close()
