"""A list of events to which lines are added and of which none is changed: each line has the hash of the one before.

Two files: `NAME.jsonl` has a line per event, `head` (or `NAME.head`) the hash of the last one. Whatever is changed,
removed or put between them in either file, is noticed when the list is read. Whoever may write the folder could write a
whole new list: its last hash, kept elsewhere (on paper, in a mail), shows that too.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kanopy._errors import KanopyError

Event = dict[str, Any]


class Broken(KanopyError):
    """A chain in which something was changed; says what."""


def line_of(event: Mapping[str, Any]) -> str:
    """An event as the one text it is written as.

    >>> line_of({"b": 1, "a": "é"})
    '{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(event, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def digest(content: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def head_of(events: Sequence[Mapping[str, Any]]) -> str:
    """The hash of the last event, which stands for all of them; nothing if there is none."""
    return digest(line_of(events[-1]).encode("utf-8")) if events else ""


def read_chain(listed: Path, head: Path) -> list[Event]:
    """The events of a list, every line and the head compared; `Broken` says what does not fit.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> def add(events, event):
    ...     for path, content in with_event(folder / "a.jsonl", folder / "a.head", events, event).items():
    ...         _ = path.write_bytes(content)
    >>> add([], {"event": "made"}); add(read_chain(folder / "a.jsonl", folder / "a.head"), {"event": "signed"})
    >>> [each["event"] for each in read_chain(folder / "a.jsonl", folder / "a.head")]
    ['made', 'signed']
    >>> _ = (folder / "a.jsonl").write_bytes((folder / "a.jsonl").read_bytes().replace(b"made", b"mads"))
    >>> read_chain(folder / "a.jsonl", folder / "a.head")
    Traceback (most recent call last):
    kanopy._chain.Broken: line 2 of a.jsonl does not follow the line before it
    """
    if not listed.exists() and not head.exists():
        return []
    try:
        content = listed.read_bytes()
        lines = content.decode("utf-8").split("\n")
        events = [json.loads(line) for line in lines[:-1]]
    except (OSError, ValueError, RecursionError) as error:
        raise Broken(f"{listed.name} cannot be read ({error})") from None
    if not events or lines[-1]:
        raise Broken(f"{listed.name} does not end where a line ends")
    before = ""
    for number, (line, event) in enumerate(zip(lines, events, strict=False), 1):
        if not isinstance(event, dict) or event.get("previous") != before or "event" not in event:
            raise Broken(f"line {number} of {listed.name} does not follow the line before it")
        before = digest(line.encode("utf-8"))
    try:
        head_bytes = head.read_bytes()
    except OSError:
        head_bytes = b""
    if head_bytes != f"{before}\n".encode("ascii"):
        raise Broken(f"the last lines of {listed.name} are missing or changed")
    return events


def with_event(listed: Path, head: Path, events: Sequence[Event], event: Mapping[str, Any]) -> dict[Path, bytes]:
    """The content of both files after one more event: to be written together."""
    lines = [line_of(listed_event) for listed_event in events]
    lines.append(line_of({**event, "previous": head_of(events)}))
    return {
        listed: ("\n".join(lines) + "\n").encode("utf-8"),
        head: (digest(lines[-1].encode("utf-8")) + "\n").encode("ascii"),
    }


def now() -> str:
    """The time of an event."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
