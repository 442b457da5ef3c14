"""The tools of a session as a server of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kanopy._errors import MissingDependency
from kanopy.assistant.session import Session

INSTRUCTIONS = (
    "Kanopy turns a table about people into one that may be published. You never see rows: answers hold names, "
    "types, counts, and values that several rows share. Look at `tables`, `describe` one, `propose` a job, ask the "
    "person about columns that are undecided, `edit_job`, `build_hierarchy`, `run` and `explain` it, and show `risk` "
    "and `utility`. `write` needs the approval of the person, who gives it in a terminal."
)
TOOLS = (
    "tables", "describe", "propose", "show_job", "edit_job", "hierarchy", "build_hierarchy", "edit_hierarchy", "run",
    "explain", "compare", "risk", "utility", "labels", "write",
)  # fmt: skip


def server(folder: Path, *, k: int) -> Any:
    """The server for one folder; needs the extra `kanopy[mcp]`."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        raise MissingDependency("The server for assistants needs the extra kanopy[mcp] (mcp 2 or newer).") from None
    session = Session(folder, k=k)
    made = MCPServer("kanopy", instructions=INSTRUCTIONS, log_level="ERROR")
    for name in TOOLS:
        made.add_tool(getattr(session, name), name=name)
    return made
