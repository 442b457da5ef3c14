"""The ledger: what earlier releases said of every person, as keyed hashes in a chain that shows every change.

A folder for internal use. `releases.jsonl` has a line per event (a release, people who were forgotten), each with the
hash of the line before it. `NNNN.parquet` has a row per person ever seen: a keyed hash (HMAC-SHA256) of who it is, the
keyed hash of what the release published of the person (empty: not in the table, `-`: suppressed), and one of the whole
history. No value of a table is in it, and without the key nobody can tell whose line is whose.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._chain import Broken, now, read_chain
from kanopy._chain import digest as digest_of
from kanopy._chain import with_event as with_line
from kanopy._errors import DataError, JobError, some
from kanopy._files import private_folder

if TYPE_CHECKING:
    import polars as pl

FORMAT = "kanopy-ledger"
RELEASES = "releases.jsonl"
HEAD = "head"
LOCK = ".lock"
ABSENT, SUPPRESSED = "", "-"
UNIT, STATE, HISTORY = "unit", "class", "history"
NEW = "new"
"""The history of people whom no earlier release is about."""
DIGITS = 32
SHOWN = ("release", "date", "k", "rows", "people", "present", "suppressed_people", "output_sha256")
"""What is shown of a release."""


def keyed(key: bytes, purpose: str, text: str) -> str:
    """A keyed hash of a text, different for every purpose.

    >>> keyed(b"0123456789abcdef", "unit", "Ann") == keyed(b"0123456789abcdef", "class", "Ann")
    False
    """
    return hmac.new(key, f"kanopy ledger {purpose}\0{text}".encode(), hashlib.sha256).hexdigest()[:DIGITS]


@dataclass(frozen=True, eq=False)
class Ledger:
    """A ledger that was read and found whole: its events in order."""

    folder: Path
    events: tuple[dict[str, Any], ...] = ()

    @property
    def releases(self) -> list[dict[str, Any]]:
        """What was recorded of each release, the earliest first."""
        return [event for event in self.events if event["event"] == "release"]

    @property
    def last(self) -> int:
        """The number of the last release; 0 if there is none."""
        return int(self.releases[-1]["release"]) if self.releases else 0

    def people(self, release: int) -> pl.DataFrame:
        """What a release recorded per person."""
        import polars as pl

        return pl.read_parquet(self.folder / _file_of(release))

    @property
    def forgotten(self) -> set[str]:
        """Keyed hashes of people who were forgotten: what was published of them is not known any more."""
        return {unit for event in self.events if event["event"] == "forget" for unit in event["units"]}

    def to_dict(self) -> dict[str, Any]:
        """What `kanopy ledger show` says: no value of a table."""
        return {
            "folder": str(self.folder),
            "releases": [
                {name: event[name] for name in SHOWN} for event in self.releases
            ],
            "forgotten": sum(len(event["units"]) for event in self.events if event["event"] == "forget"),
        }  # fmt: skip


def _file_of(release: int) -> str:
    return f"{release:04d}.parquet"


def read_ledger(folder: str | os.PathLike[str], key: bytes | None = None) -> Ledger:
    """A ledger, checked line by line: raises `DataError` if one is missing or changed, or if the key is another.

    A folder that does not exist, or is empty, is a ledger without releases.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise DataError(f"The ledger {str(path)!r} is a file. Name a folder.")
    listed = path / RELEASES
    if not listed.exists():
        if path.is_dir() and any(file.name != LOCK for file in path.iterdir()):
            raise DataError(
                f"The folder {str(path)!r} contains other files and no {RELEASES}. Name an empty folder, or a ledger."
            )
        return Ledger(path)
    try:
        events = read_chain(listed, path / HEAD)
    except Broken as error:
        raise _altered(path, str(error)) from None
    if events[0].get("format") != FORMAT:
        raise _altered(path, f"{RELEASES} does not begin like a ledger")
    ledger = Ledger(path, tuple(events))
    digests: dict[int, str] = {}
    for event in events:
        for release, digest in event.get("files", {}).items():
            digests[int(release)] = digest
    for release, digest in digests.items():
        file = path / _file_of(release)
        if not file.is_file() or digest_of(file.read_bytes()) != digest:
            raise _altered(path, f"{file.name} is missing or changed")
    if key is not None and events[0]["key"] != keyed(key, "key", "check"):
        raise DataError(
            f"The ledger {str(path)!r} was written with another key, so people cannot be recognized. Give the key of "
            "the earlier releases (--key-file)."
        )
    return ledger


def _altered(path: Path, what: str) -> DataError:
    return DataError(
        f"The ledger {str(path)!r} is not complete: {what}. Nothing was written. Restore it from a copy: a ledger "
        "with gaps does not record what earlier releases disclosed."
    )


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Keep others from writing the same ledger; a run that was killed holds nothing."""
    path = private_folder(Path(folder))
    handle = os.open(path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if not _take(handle):
            raise DataError(f"Another run is writing the ledger {str(path)!r}. Wait until it has ended.")
        yield path
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A table as the content of a Parquet file."""
    stream = io.BytesIO()
    frame.write_parquet(stream, compression="zstd")
    return stream.getvalue()


def with_event(ledger: Ledger, event: Mapping[str, Any], files: Mapping[int, bytes]) -> dict[Path, bytes]:
    """The files of a ledger after one more event: to be staged together with the release."""
    whole = {**event, "files": {f"{release:04d}": digest_of(content) for release, content in files.items()}}
    lists = with_line(ledger.folder / RELEASES, ledger.folder / HEAD, ledger.events, whole)
    return {**{ledger.folder / _file_of(release): data for release, data in files.items()}, **lists}


def forget(folder: str | os.PathLike[str], values: Sequence[str], key: bytes) -> int:
    """Remove what the ledger knows of some people; they stay marked, and later releases suppress them.

    What was published of them is out of reach: without a record of it, no later release of them can be proved safe.
    """
    import polars as pl

    from kanopy._table.sinks import staged

    with locked(folder):
        ledger = read_ledger(folder, key)
        if not ledger.releases:
            raise DataError(f"The ledger {str(ledger.folder)!r} has no releases, so there is nobody to forget.")
        units = [keyed(key, "unit", value) for value in values]
        last = ledger.people(ledger.last)
        units_known = [unit for unit in units if unit in set(last[UNIT].to_list())]
        if not units_known:
            raise JobError(
                f"Nobody of {some([f'{len(values)} named'])} is in the ledger. Check the values and the key."
            )
        files = {}
        for release in range(1, ledger.last + 1):
            frame = ledger.people(release)
            remaining = frame.filter(~pl.col(UNIT).is_in(units_known))
            if remaining.height < frame.height:
                files[release] = parquet_bytes(remaining)
        event = {"event": "forget", "date": now(), "units": sorted(units_known)}
        with staged() as release_files:
            for path, content in with_event(ledger, event, files).items():
                release_files.bytes(path, content, private=True)
    return len(units_known)
