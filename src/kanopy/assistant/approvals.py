"""What a person approves outside the conversation, and the log of all that was told in it.

Both are in the hidden folder `.kanopy` of the folder that is served, readable by its owner alone. A request to write a
release is bound to the table, the job and the name of the file: if any of them changes, it is another request. Only
`kanopy mcp FOLDER --approve`, which asks at a terminal, approves one; no tool of the assistant can.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kanopy._files import private_folder, stamp, write_whole

PLACE = ".kanopy"


@dataclass(frozen=True)
class Request:
    """A release that is to be written: its file, the table, the digest of table and job, and what it publishes."""

    file: str
    table: str
    k: int
    digest: str
    asked: str
    publishes: str = ""

    @property
    def number(self) -> str:
        """What the request is called by."""
        return self.digest[:12]


class Approvals:
    """The requests of one folder.

    >>> import tempfile
    >>> approvals = Approvals(Path(tempfile.mkdtemp()))
    >>> request = approvals.ask("release.csv", "people.csv", 5, "ab" * 32)
    >>> approvals.is_approved(request), [each.file for each in approvals.waiting()]
    (False, ['release.csv'])
    >>> approvals.approve(request)
    >>> approvals.is_approved(request)
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder / PLACE)

    def ask(self, file: str, table: str, k: int, digest: str, publishes: str = "") -> Request:
        """Note that somebody wants to write a release."""
        whole = hashlib.sha256(json.dumps([file, table, k, digest]).encode()).hexdigest()
        request = Request(file, table, k, whole, stamp().isoformat(), publishes)
        if not self._path(request).exists():
            self._write(request, "waiting")
        return request

    def waiting(self) -> list[Request]:
        """The requests that nobody has answered."""
        requests = (json.loads(path.read_text("utf-8")) for path in sorted(self.folder.glob("request-*.json")))
        return [Request(**request["request"]) for request in requests if request["state"] == "waiting"]

    def approve(self, request: Request) -> None:
        """A person allows it, once."""
        self._write(request, "approved")

    def refuse(self, request: Request) -> None:
        """A person does not allow it."""
        self._write(request, "refused")

    def is_approved(self, request: Request) -> bool:
        """Whether a person allowed it, and it was not used since."""
        return self._state(request) == "approved"

    def is_refused(self, request: Request) -> bool:
        """Whether a person said no."""
        return self._state(request) == "refused"

    def use(self, request: Request) -> None:
        """It was written; the next time somebody has to approve it again."""
        self._write(request, "used")

    def log(self, tool: str, answer: Any) -> None:
        """Note what was told."""
        line = {"at": dt.datetime.now(dt.UTC).isoformat(), "tool": tool, "told": answer}
        path = self.folder / "told.jsonl"
        path.touch(mode=0o600)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _path(self, request: Request) -> Path:
        return self.folder / f"request-{request.number}.json"

    def _state(self, request: Request) -> str:
        path = self._path(request)
        if not path.exists():
            return ""
        request_file = json.loads(path.read_text("utf-8"))
        return str(request_file["state"]) if request_file["request"]["digest"] == request.digest else ""

    def _write(self, request: Request, state: str) -> None:
        text = json.dumps({"request": asdict(request), "state": state}, indent=1)
        write_whole(self._path(request), text + "\n", private=True)
