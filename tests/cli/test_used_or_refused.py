"""Every option of every command changes what comes out, or is refused in words: found by trying each.

Options are read from the commands themselves: a new one fails here until `option_cases` gives it a value, and then if
it has no effect.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from kanopy._errors import KanopyError
from kanopy._job.job_file import PER_COLUMN, SETTINGS
from kanopy._table.roles import ROLES
from kanopy.cli import app
from tests.cli import key_cases
from tests.cli.option_cases import (
    BASE,
    INSTEAD,
    MADE,
    NO_EFFECT,
    NOT_RUN,
    RULES,
    VALUES,
    WITH,
    WRONG_IS_SEEN,
    write_inputs,
)


def commands(command: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    inner = getattr(command, "commands", {})
    if not inner:
        return {" ".join(path): command}
    return {name: each for key, own in inner.items() for name, each in commands(own, (*path, key)).items()}


COMMANDS = commands(typer.main.get_command(app))
PAIRS = [
    (name, max(option.opts, key=len))
    for name, command in COMMANDS.items()
    for option in command.params
    if option.param_type_name == "option" and name not in NOT_RUN
]
TAKES_TIME = re.compile(r'"(seconds|memory)": *(\{[^}]*\}|[\d.e+-]+|null)|\d+\.\d\d s( +\d+|.*?\))')


class Runs:
    """A folder with inputs, in which every run leaves what it made, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.known = folder, dict[str, Any]()
        write_inputs(folder)
        os.chdir(folder)
        for each in MADE:
            assert self._run(each)[0] == 0, each
        self._inputs = {path for path in folder.rglob("*") if path.is_file()}

    def __call__(self, line: str) -> Any:
        """Exit status, what was printed, and the files that were written."""
        if line not in self.known:
            self.known[line] = self.fresh(line)
        return self.known[line]

    def write(self, name: str, text: str) -> None:
        """A further input."""
        (self.folder / name).write_text(text, encoding="utf-8")
        self._inputs.add(self.folder / name)

    def fresh(self, line: str) -> Any:
        status, out, words = self._run(line)
        files = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path not in self._inputs:
                files[str(path.relative_to(self.folder))] = TAKES_TIME.sub("", path.read_bytes().decode("latin-1"))
                path.unlink()
        return status, TAKES_TIME.sub("", out), files, words

    def _run(self, line: str) -> tuple[int, str, str]:
        words = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(words):
            done = CliRunner().invoke(app, line.split())
        error = done.exception
        if isinstance(error, KanopyError):
            return error.exit_status, "", str(error)
        if error is not None and not isinstance(error, SystemExit):
            raise error
        return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "200"
    try:
        yield Runs(tmp_path_factory.mktemp("used"))
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def given(command: str, option: str) -> str:
    value = VALUES.get((command, option), VALUES.get(option))
    assert value is not None, f"Give {option} a value in tests/cli/option_cases.py."
    return value if value.startswith("--") else f"{option} {value}"


def same(one: Any, other: Any) -> bool:
    return bool(one[:3] == other[:3])


@pytest.mark.parametrize(("command", "option"), PAIRS, ids=lambda each: each.replace(" ", "-"))
def test_an_option_changes_something_or_is_refused(runs: Runs, command: str, option: str) -> None:
    wrong_is_seen = option in WRONG_IS_SEEN or (command, option) in WRONG_IS_SEEN
    pair, wording = (command, option), "" if option == "--json" else " --json"
    line, value = f"{command} {BASE[command]}{wording}", given(command, option)
    plain, changed = runs(line), runs(f"{line} {value}")
    assert plain[0] in (0, 1), plain
    if changed[0] == 2 and pair not in INSTEAD:
        assert changed[3] and "No such option" not in changed[3]
        if wrong_is_seen:
            return
        assert pair in WITH, f"refused ({changed[3]}): say in WITH what makes it count"
    elif pair in WITH:
        raise AssertionError(f"{command} {option} is in WITH and was not refused without it")
    if pair in INSTEAD:
        line, other = INSTEAD[pair]
        line += wording
        plain, changed = runs(line), runs(other + wording if other.startswith(command) else f"{line} {other or value}")
    elif pair in WITH or pair in RULES:
        line += f" {WITH.get(pair) or RULES[pair]}"
        plain, changed = runs(line), runs(f"{line} {value}")
    if changed[0] == 2 and wrong_is_seen:
        return
    assert changed[0] in (0, 1) or option in ("--unknown", "--missing"), changed
    if same(plain, changed):  # without --json more is said
        line = line.replace(" --json", "")
        plain, changed = runs(line), runs(f"{line} {value}")
    assert same(plain, changed) == (pair in NO_EFFECT), f"{command} {option}: no effect, no word"


def test_every_run_is_repeatable(runs: Runs) -> None:
    """Else a difference would say nothing."""
    for command, arguments in BASE.items():
        line = f"{command} {arguments}"
        assert runs(line)[:3] == runs.fresh(line)[:3], command


def test_every_command_is_run_or_named() -> None:
    assert set(BASE) | set(NOT_RUN) == set(COMMANDS)
    assert all(NOT_RUN.values()) and all(NO_EFFECT.values())
    asked = {option for _, option in PAIRS}
    assert all((each if isinstance(each, str) else each[1]) in asked for each in VALUES)
    assert all(each in PAIRS for each in (*WITH, *RULES, *INSTEAD, *NO_EFFECT))
    assert not set(WITH) & {*RULES, *INSTEAD}


# ---- keys of a job file ----------------------------------------------------------------------------------------------

KEYS = {
    **{key: key.replace("-", "_") for key in SETTINGS},
    **{f"role {role}": field for field, role in ROLES.items()},
    **{f"column {key}": field for key, field in PER_COLUMN.items()},
}
"""Every key of a job file, and the field of a job that it says."""
JOBS = [name for name, command in COMMANDS.items() if any(each.name == "job" for each in command.params)]
MOST = [
    pytest.param(name, key, marks=[pytest.mark.slow] * (name in key_cases.SLOW), id=f"{name}-{key}".replace(" ", "-"))
    for name in JOBS
    for key in KEYS
]


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A job with what another says, deeply; what is nothing goes."""
    both = {**one}
    for name, value in other.items():
        kept = both.get(name)
        both[name] = merged(kept, value) if isinstance(value, dict) and isinstance(kept, dict) else value
    return {name: value for name, value in both.items() if value is not None}


@pytest.fixture
def with_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret key is at hand."""
    monkeypatch.setenv("KANOPY_KEY", "a secret that is long enough to be one")


def with_job(runs: Runs, line: str, job: dict[str, Any]) -> Any:
    """A run with a job file, which has the same name whatever it holds."""
    text = json.dumps(job)
    known = f"{line} {text}"
    if known not in runs.known:
        runs.write("job.json", text)
        runs.known[known] = runs.fresh(f"{line} --job job.json --json")
    return runs.known[known]


@pytest.mark.usefixtures("with_key")
@pytest.mark.parametrize(("command", "key"), MOST)
def test_a_key_of_a_job_counts_or_is_refused_or_is_not_read(runs: Runs, command: str, key: str) -> None:
    table, beside, said = key_cases.ONLY.get((command, key), key_cases.CASES[key])
    base = merged(key_cases.PLAIN, key_cases.MASKED) if command == "mask" else key_cases.PLAIN
    if " " not in table:
        table = {
            "mask": "animals.csv" if table == "people.csv" else table,
            "assess": f"{table} {table}",
            "attack": f"{table} release.csv",
            "evidence": f"release.csv --original {table}",
            "hierarchy suggest": f"{table} age",
        }.get(command, table)
    line, base = key_cases.LINES[command].format(table=table), merged(base, beside)
    plain, changed = with_job(runs, line, base), with_job(runs, line, merged(base, said))
    reads = COMMANDS[command].callback.reads
    if reads is not None and KEYS[key] not in reads:
        assert same(plain, changed), f"{command} reads {key}, and says that it does not"
    elif changed[0] == 2:
        assert key.split()[-1].replace("-", " ") in changed[3].replace("_", " ").replace("-", " "), changed[3]
    else:
        assert changed[0] in (0, 1), changed
        assert same(plain, changed) == ((command, key) in key_cases.NO_EFFECT), f"{command} {key}: no effect, no word"
