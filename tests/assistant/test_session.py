"""An assistant never sees a value that few rows have: planted ones are looked for in every answer and in the log."""

from __future__ import annotations

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from kanopy.assistant.approvals import Approvals
from kanopy.assistant.gate import Gate
from kanopy.assistant.server import TOOLS
from kanopy.assistant.session import Session
from tests.assistant.canaries import planted, tell


def test_no_value_of_few_rows_is_told(tmp_path: Path) -> None:
    told = tell(2, 25, tmp_path, seed=1)
    assert told.canaries > 50 and told.calls.total() == 50 and told.errors.total() < 45
    assert told.leaked == []


@pytest.mark.slow
def test_no_value_of_few_rows_is_told_in_many_calls(tmp_path: Path) -> None:
    """KANOPY_CANARY_TABLES=200 is the full size: 20,000 calls, ten minutes of processor time."""
    tables = int(os.environ.get("KANOPY_CANARY_TABLES", "8"))
    told = tell(tables, 100, tmp_path, seed=2)
    assert told.canaries > 50 * tables and told.calls.total() == 100 * tables
    assert set(told.calls) == set(TOOLS) == {error.split()[0] for error in told.errors} | {"tables"}
    assert told.errors.total() < 80 * tables
    assert told.leaked == []


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


def test_hierarchies_are_built_edited_and_part_of_what_is_approved(tmp_path: Path) -> None:
    ages = [20 + at % 40 for at in range(240)]
    pl.DataFrame({"age": [*ages, 77], "ill": ["a", "b"] * 120 + ["a"]}).write_csv(tmp_path / "people.csv")
    session = Session(tmp_path, k=5)
    session.propose("people.csv")
    session.edit_job("job-1", roles={"age": "quasi-identifier", "ill": "sensitive"}, settings={"suppress": "5%"})
    told = session.build_hierarchy("job-2", "age", "widths", {"widths": [5, 10]})
    assert told["job"] == "job-3" and "77" not in json.dumps(told)
    assert told["levels"][1]["labels"]["[20, 24]"] == 30 and told["levels"][0]["labels_of_fewer_rows"] == 1
    digests = set()
    for label in ("young", "twenties"):
        job = session.edit_hierarchy("job-3", "age", [{"edit": "rename", "label": "[20, 29]", "to": label}])["job"]
        release = session.run(job)["release"]
        explained = session.explain(release)
        assert explained["publishes"] == "generalized: age; unchanged: ill" and explained["promises"]
        digests.add(session.write(release, "out.csv")["request"])
    assert len(digests) == 2, "another hierarchy is another request"
    for method, parameters in (("hipaa_zip", {"population": "/etc/passwd"}), ("nothing", {}), ("auto", {"k": 2})):
        assert session.build_hierarchy("job-3", "age", method, parameters)["error"] == "JobError"
    for edits in ([{"edit": "drop_level", "level": "x"}], [{"edit": "rename"}], [{}]):
        assert session.edit_hierarchy("job-3", "age", edits)["error"] in ("JobError", "InputError")


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
