"""`--log json`: lines of figures and kinds, never of values; and where messages quote values, at most five."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from kanopy.cli import main
from tests.assistant.canaries import broken, planted

EVENTS = {"start", "stage", "result", "warning", "error", "end"}


def run(*words: str) -> tuple[int, str, str]:
    """The command in this process: its status, standard output and standard error."""
    said, log = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["kanopy", *words]),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(log),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    return int(stop.value.code or 0), said.getvalue(), log.getvalue()


def commands(folder: Path, column: str) -> dict[str, tuple[int, list[str]]]:
    """Runs that end in every way, with the status of each."""
    table, roles = str(folder / "people.csv"), ["-s", "ill", "-o", str(folder / "out.csv")]
    job, out = folder / "job.toml", str(folder / "own.csv")
    hierarchy = '{ method = "groups", groups = { some = ["nobody"] } }'
    job.write_text(f'k = 5\n[columns."{column}"]\nrole = "quasi-identifier"\nhierarchy = {hierarchy}\n')
    return {
        "released": (0, ["anonymize", table, "-q", "age,town", "-k", "5", *roles]),
        "rare as sensitive": (0, ["anonymize", table, "-q", "age", "-k", "5", "-s", column, "-o", out]),
        "unknown column": (2, ["anonymize", table, "-q", "nothing", "-k", "5", *roles]),
        "values without hierarchy": (2, ["anonymize", table, "--job", str(job), "-o", out]),
        "broken file": (2, ["anonymize", str(folder / "broken.csv"), "-q", "a", "-k", "5", "-o", out]),
        "unknown model": (2, ["anonymize", table, "-q", "age", "-k", "5", "--model", f"nothing:{column}", "-o", out]),
        "too few rows": (2, ["anonymize", table, "-q", "age", "-k", "400", *roles]),
        "unknown option": (2, ["anonymize", table, f"--{column}", column, "-o", out]),
        "below k": (1, ["check", table, "-q", column, "--model", "k:5"]),
    }  # fmt: skip


def quoted_in(text: str, canaries: set[str]) -> set[str]:
    """The planted values in a text, each once however it is written."""
    text = text.casefold()
    found = {each for each in canaries if each in text}
    return {each for each in found if not any(each != other and each in other for other in found)}


def quoted_by_commands(folder: Path, seed: int) -> int:
    """How many planted values messages quote to their owner; no log line, figure or note for others may have one."""
    frame, canaries = planted(random.Random(seed))
    frame.write_csv(folder / "people.csv")
    (folder / "broken.csv").write_text(broken(sorted(canaries)), encoding="utf-8")
    quoted = 0
    for name, (status, words) in commands(folder, frame.columns[-1]).items():
        found, said, log = run(*words, "--json", "--log", "json")
        assert found == status or (seed and found in (0, 1, 2)), (seed, name, said, log)
        status = found
        lines = [json.loads(line) for line in log.splitlines()]
        assert {line["event"] for line in lines} <= EVENTS and lines[0]["event"] == "start"
        assert lines[-1]["event"] == "end" and lines[-1]["status"] == status
        assert ("error" in {line["event"] for line in lines}) == (
            status == 2 or (status != 0 and words[0] == "anonymize")
        )
        assert quoted_in(log, canaries) == set(), (seed, name)
        answer: dict[str, Any] = json.loads(said)
        message = json.dumps([answer.pop("error", ""), answer.pop("notes", [])], ensure_ascii=False)
        assert len(quoted_in(message, canaries)) <= 5, (seed, name, message)
        quoted += len(quoted_in(message, canaries))
        if words[0] == "anonymize":
            # Figures of a release quote nothing; the classes that `check` found to fail are named to their owner.
            assert quoted_in(json.dumps(answer, ensure_ascii=False), canaries) == set(), (seed, name)
    return quoted


def test_no_log_line_has_a_value_and_messages_quote_five_at_most(tmp_path: Path) -> None:
    assert quoted_by_commands(tmp_path, 1) > 0, "messages for the owner of the table do quote"


@pytest.mark.slow
def test_no_log_line_has_a_value_in_many_runs(tmp_path: Path) -> None:
    """KANOPY_CANARY_TABLES=200 is the full size: 1,600 runs."""
    tables = int(os.environ.get("KANOPY_CANARY_TABLES", "10"))
    assert sum(quoted_by_commands(tmp_path, seed) for seed in range(1, tables + 1)) > tables
    assert len(list(tmp_path.iterdir())) < 10


def test_a_fault_of_kanopy_is_logged_without_its_message(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "41\n" * 9)
    with mock.patch("kanopy._table.sources.read_source", side_effect=ValueError("Ann Smith")):
        status, said, log = run(
            "--log",
            "json",
            "anonymize",
            str(tmp_path / "people.csv"),
            "-q",
            "age",
            "-k",
            "5",
            "-o",
            str(tmp_path / "o.csv"),
        )
    assert status == 70 and "Ann" not in said + log
    assert [json.loads(line).get("kind") for line in log.splitlines()][-2] == "ValueError"


def test_the_option_may_stand_anywhere_but_needs_a_format(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "41\n" * 9)
    words = ["check", str(tmp_path / "people.csv"), "-q", "age"]
    for given in (["--log", "json", *words], [*words, "--log", "json"], [words[0], "--log=json", *words[1:]]):
        status, _, log = run(*given)
        assert status == 0 and json.loads(log.splitlines()[0])["event"] == "start", given
    status, _, log = run(*words, "--log")
    assert status == 2 and "--log needs a format: --log json." in log


def test_without_log_nothing_changes(tmp_path: Path) -> None:
    status, _, log = run("check", str(tmp_path / "none.csv"), "-q", "age")
    assert status == 2 and log.startswith("Error: ") and "none.csv" in log.replace("\n", "")
