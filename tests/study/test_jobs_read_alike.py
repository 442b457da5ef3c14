"""Units, lists and hierarchies of a job count for every command as they do for `anonymize`.

The same table and job once as files of text in which much has to be read, once as typed columns of which nothing has.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from tests.study.test_check_reads_jobs import COMMANDS, _told, run

ROWS = range(24)
TABLES: dict[str, pl.DataFrame] = {
    "unit": pl.DataFrame(
        {
            "age": [30 + i % 3 for i in ROWS],
            "ill": ["flu" if i % 2 else "cold" for i in ROWS],
            "who": [None if i == 5 else f"p{i // 2}" for i in ROWS],
        }
    ),
    "lists": pl.DataFrame(
        {
            "bought": [[["ale", "nuts"], ["ale"], ["tea", "nuts"]][i % 3] for i in ROWS],
            "ill": ["flu" if i % 2 else "cold" for i in ROWS],
        }
    ),
    "hierarchies": pl.DataFrame(
        {"age": [30 + i % 6 for i in ROWS], "ill": [["flu", "cold", "cough"][i % 3] for i in ROWS]}
    ),
}
QUASI, SENSITIVE = {"role": "quasi-identifier"}, {"role": "sensitive"}
JOBS: dict[str, dict[str, Any]] = {
    "unit": {"k": 2, "known": 2, "columns": {"age": QUASI, "ill": SENSITIVE, "who": {"role": "unit"}}},
    "lists": {"k": 2, "known": 2, "columns": {"bought": QUASI, "ill": SENSITIVE}},
    "hierarchies": {
        "k": 2,
        "models": ["t-hierarchical:ill:1"],
        "columns": {"age": {**QUASI, "hierarchy": "age.csv"}, "ill": {**SENSITIVE, "hierarchy": "ill.csv"}},
    },
}
READ: dict[str, dict[str, Any]] = {
    "unit": {"columns": {"who": {"missing-tokens": ["nobody"]}}},
    "lists": {"columns": {"bought": {"separator": ";"}}},
    "hierarchies": {"columns": {"age": {"missing-tokens": ["99"]}}},
}
"""What the job says of the table of texts besides."""


def as_texts(kind: str) -> pl.DataFrame:
    """The table as somebody exported it."""
    table = TABLES[kind]
    if kind == "unit":
        return table.with_columns(pl.col("who").fill_null("nobody"))
    return table.with_columns(pl.col("bought").list.join(";")) if kind == "lists" else table


def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    columns = {name: {**own, **other["columns"].get(name, {})} for name, own in one["columns"].items()}
    return {**one, **other, "columns": columns}


@pytest.fixture
def files(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, str, str, str]:
    kind = request.param
    (tmp_path / "age.csv").write_text("".join(f"{30 + i};{'low' if i < 3 else 'high'};*\n" for i in range(6)))
    (tmp_path / "ill.csv").write_text("flu;light;*\ncold;light;*\ncough;other;*\n")
    messy, rules, clean, plain = (tmp_path / name for name in ("t.csv", "rules.json", "t.parquet", "plain.json"))
    as_texts(kind).write_csv(messy)
    TABLES[kind].write_parquet(clean)
    rules.write_text(json.dumps(joined(JOBS[kind], READ[kind])))
    plain.write_text(json.dumps(JOBS[kind]))
    return str(messy), str(rules), str(clean), str(plain)


@pytest.mark.parametrize("files", TABLES, indirect=True)
@pytest.mark.parametrize("command", [*COMMANDS, "assess", "apply"])
def test_a_job_means_the_same_for_every_command(
    command: str, files: tuple[str, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # what a job names lies beside it
    messy, rules, clean, plain = files
    more = {"explore": ("--k", "2,4"), "compare": ("--algorithms", "optimal")}.get(command, ())
    told = []
    for number, (table, job) in enumerate(((messy, rules), (clean, plain))):
        out, solution = str(tmp_path / f"{number}.parquet"), str(tmp_path / f"{number}.json")
        if command == "assess":
            loaded = pl.read_csv(table, infer_schema=False) if table == messy else pl.read_parquet(table)
            kanopy.anonymize(loaded, kanopy.Job.read(job)).data.write_parquet(out)
            told.append(run("assess", table, out, "--job", job, "--no-learn"))
        elif command == "apply":
            run("anonymize", table, "--job", job, "-o", out, "--solution", solution)
            again = str(tmp_path / f"{number}-again.parquet")
            run("apply", solution, table, "-o", again)
            rows = pl.read_parquet(again)
            assert sorted(map(str, rows.rows())) == sorted(map(str, pl.read_parquet(out).rows()))
            told.append(sorted(re.sub(r"[\[\]'\" ]", "", str(row)).replace(";", ",") for row in rows.rows()))
        else:
            told.append(run(command, table, "--job", job, *more))
    assert _told(told[0]) == _told(told[1])


@pytest.mark.parametrize(
    ("files", "without"),
    [("unit", {"known": 1}), ("lists", {"known": 1}), ("hierarchies", {"models": []})],
    indirect=["files"],
)
def test_what_a_job_says_of_units_lists_and_hierarchies_is_looked_at(
    files: tuple[str, str, str, str], without: dict[str, Any], tmp_path: Path
) -> None:
    """Else commands that agree would say nothing."""
    messy, rules, _, _ = files
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**json.loads(Path(rules).read_text()), **without}))
    assert kanopy.check(messy, rules).to_dict() != kanopy.check(messy, str(other)).to_dict()
