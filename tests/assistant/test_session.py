"""An assistant never sees a value that few rows have: planted ones are looked for in every answer and in the log."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import string
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kanopy.assistant.approvals import Approvals
from kanopy.assistant.gate import Gate
from kanopy.assistant.server import TOOLS
from kanopy.assistant.session import EDITABLE, ROLES, Session

ROWS, PLANTED = 60, 50


def canary(rng: random.Random, kind: int) -> Any:
    """A value that nobody else has, of one of several kinds."""
    word = "".join(rng.choices(string.ascii_lowercase, k=9))
    return [
        word.title(),
        f"{word} {rng.choice('ABC')}. {word[::-1].title()}",
        f"{word}@{word[:4]}.example",
        rng.randrange(10**8, 10**10),
        round(rng.uniform(10**4, 10**6), 5),
        f"{word} was seen with {word[2:]} near the {word[::-1]} house on a rainy day",
        f"{rng.randrange(10**4):04d}-{rng.randrange(10**8):08d}",
    ][kind]


def planted(rng: random.Random) -> tuple[pl.DataFrame, set[str]]:
    """A table in which some columns hold values of one row each, and the texts to look for."""
    columns: dict[str, Any] = {
        "age": [rng.randrange(20, 90) for _ in range(ROWS)],
        "town": [rng.choice(["Lyon", "Rome", "Bern"]) for _ in range(ROWS)],
        "ill": [rng.choice(["flu", "cold"]) for _ in range(ROWS)],
        "seen": [dt.date(2020, 1, 1) + dt.timedelta(rng.randrange(5)) for _ in range(ROWS)],
    }
    found = set()
    for number, kind in enumerate(rng.sample(range(7), 3)):
        values = [canary(rng, kind) for _ in range(ROWS)]
        if rng.random() < 0.4 and kind != 5:
            shared = values[0]
            values = [value if at < PLANTED // 3 else shared for at, value in enumerate(values)]
            values[0] = values[1]
        columns[rng.choice(["name", "note", "code", "income", "contact"]) + str(number)] = values
        alone = {value for value in values if values.count(value) < 5}
        found |= {str(value).casefold() for value in alone}
    return pl.DataFrame(columns), found


def call(session: Session, rng: random.Random, canaries: list[str]) -> str:
    """One call of one tool, sensible, wrong or hostile; the answer as text."""
    jobs, releases = [f"job-{n}" for n in range(1, 5)], [f"release-{n}" for n in range(1, 4)]
    columns = ["age", "town", "ill", "seen", "name0", "note1", "code2", "nothing", "", "*"]
    odd = [None, -1, 10**30, "x", "nan", "", [], {}, rng.choice(canaries)]
    tool = rng.choice(TOOLS)
    arguments: dict[str, Any] = {
        "tables": {},
        "describe": {"table": rng.choice(["people.csv", "people.csv", "../people.csv", "none.csv", "/etc/passwd"])},
        "propose": {"table": rng.choice(["people.csv", "broken.csv"])},
        "show_job": {"job": rng.choice([*jobs, "x"])},
        "edit_job": {
            "job": rng.choice(jobs),
            "settings": {rng.choice([*EDITABLE, "nothing"]): rng.choice([5, 7, "10%", "optimal", True, *odd])},
            "roles": {rng.choice(columns): rng.choice([*ROLES, "other"])},
        },
        "run": {"job": rng.choice(jobs)},
        "compare": {"job": rng.choice(jobs), "algorithms": rng.choice([["optimal"], ["nothing"], ["mondrian"]])},
        "risk": {"release": rng.choice(releases)},
        "utility": {"release": rng.choice(releases)},
        "labels": {"release": rng.choice(releases), "column": rng.choice(columns)},
        "write": {"release": rng.choice(releases), "file": rng.choice(["out.csv", "../out.csv", ".x", "out.exe"])},
    }[tool]
    return json.dumps(getattr(session, tool)(**arguments), ensure_ascii=False)


def told_canaries(tables: int, calls: int, folder: Path, seed: int) -> tuple[int, int, list[str]]:
    """How many values were planted, how many calls answered without an error, and what was told that must not be."""
    leaked, count, answered = [], 0, 0
    for number in range(tables):
        rng = random.Random(f"{seed} {number}")
        frame, canaries = planted(rng)
        count += len(canaries)
        place = folder / str(number)
        place.mkdir()
        frame.write_csv(place / "people.csv")
        (place / "broken.csv").write_text(f'a,b\n"{sorted(canaries)[0]},1\n{sorted(canaries)[1]},2,3\n')
        session = Session(place, k=5)
        given = sorted(canaries)
        told = [json.dumps(session.propose("people.csv")), json.dumps(session.run("job-1"))]
        told += [call(session, rng, given) for _ in range(calls)]
        answered += sum('"error"' not in each for each in told)
        text = "\n".join([*told, (place / ".kanopy" / "told.jsonl").read_text()]).casefold()
        leaked += [each for each in canaries if each in text]
    return count, answered, leaked


def test_no_value_of_few_rows_is_told(tmp_path: Path) -> None:
    count, answered, leaked = told_canaries(2, 25, tmp_path, seed=1)
    assert count > 50 and answered > 15
    assert leaked == []


@pytest.mark.slow
def test_no_value_of_few_rows_is_told_in_many_calls(tmp_path: Path) -> None:
    """KANOPY_CANARY_TABLES=200 is the full size: 20,000 calls, half an hour."""
    tables = int(os.environ.get("KANOPY_CANARY_TABLES", "8"))
    count, answered, leaked = told_canaries(tables, 100, tmp_path, seed=2)
    assert count > 50 * tables and answered > 25 * tables
    assert leaked == []


def test_a_gate_that_is_open_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, canaries = planted(random.Random(1))
    frame.write_csv(tmp_path / "people.csv")
    session = Session(tmp_path, k=5)
    session.propose("people.csv")
    own = max(canaries)
    told = str(session.edit_job("job-1", settings={"k": own}))
    assert "withheld" in told and own not in told
    monkeypatch.setattr(Gate, "passes", lambda *_: True)
    assert own in str(session.edit_job("job-1", settings={"k": own}))


def test_a_release_is_written_once_and_only_when_a_person_approved_it(tmp_path: Path) -> None:
    pl.DataFrame({"age": [30] * 5 + [40] * 6, "ill": ["a", "b"] * 5 + ["a"]}).write_csv(tmp_path / "people.csv")
    session = Session(tmp_path, k=5)
    session.propose("people.csv")
    session.edit_job("job-1", roles={"age": "quasi-identifier", "ill": "sensitive"})
    assert session.edit_job("job-2", settings={"k": 2})["error"] == "JobError"
    assert session.run("job-2")["smallest_class"] >= 5
    asked = session.write("release-1", "out.csv")
    assert asked["state"] == "waiting" and not (tmp_path / "out.csv").exists()
    approvals = Approvals(tmp_path)
    (request,) = approvals.waiting()
    approvals.approve(request)
    # Another file is another request; the one that was approved is written, once.
    assert session.write("release-1", "other.csv")["state"] == "waiting"
    assert session.write("release-1", "out.csv")["written"] is True
    assert not approvals.is_approved(request)
    assert pl.read_csv(tmp_path / "out.csv").height == 11
    assert (tmp_path / ".kanopy").stat().st_mode & 0o077 == 0


def test_a_table_that_changed_needs_a_new_approval(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": [30] * 5 + [40] * 6, "ill": ["a", "b"] * 5 + ["a"]})
    table.write_csv(tmp_path / "people.csv")
    session = Session(tmp_path, k=5)
    session.propose("people.csv")
    session.edit_job("job-1", roles={"age": "quasi-identifier", "ill": "sensitive"})
    session.run("job-2")
    session.write("release-1", "out.csv")
    approvals = Approvals(tmp_path)
    approvals.approve(approvals.waiting()[0])
    table.head(9).write_csv(tmp_path / "people.csv")
    assert session.write("release-1", "out.csv")["written"] is False


def test_the_first_person_of_a_table_without_a_header_is_not_told(tmp_path: Path) -> None:
    rows = ["Maria Quintanilla,41,Lyon", *["Ann,30,Lyon"] * 6]
    session = Session(tmp_path, k=5)
    for number, file in enumerate((rows, [row.replace("41", "old") for row in rows])):
        (tmp_path / f"{number}.csv").write_text("\n".join(file))
        for tool in (session.describe, session.propose):
            told = tool(f"{number}.csv")
            assert "header" not in told and "may be a row" in told["message"] and "Quintanilla" not in str(told)


def test_lists_in_cells_are_judged_too(tmp_path: Path) -> None:
    tags = [["solo"]] + [["often"]] * 9
    pl.DataFrame({"town": ["Lyon"] * 10, "tags": tags}).write_parquet(tmp_path / "n.parquet")
    told = str(Session(tmp_path, k=5).describe("n.parquet"))
    assert "often" in told and "solo" not in told


def test_an_assistant_talks_to_the_server(tmp_path: Path) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="pip install 'kanopy[mcp]'")
    import asyncio
    import sys

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    (tmp_path / "people.csv").write_text("town,ill\n" + "Lyon,a\n" * 6 + "Little Rock,b\n")

    async def talk() -> tuple[set[str], str]:
        at = StdioServerParameters(command=sys.executable, args=["-m", "kanopy", "mcp", str(tmp_path)])
        async with stdio_client(at) as streams, ClientSession(*streams) as client:
            await client.initialize()
            listed = await client.list_tools()
            answer = await client.call_tool("describe", {"table": "people.csv"})
            return {each.name for each in listed.tools}, str(answer)

    with ThreadPoolExecutor(1) as pool:  # a loop of its own, whatever runs in this one
        names, answer = pool.submit(lambda: asyncio.run(talk())).result()
    assert names == set(TOOLS)
    assert "Lyon" in answer and "Rock" not in answer
