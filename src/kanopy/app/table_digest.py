"""Whether a table is still the one that was opened: a digest of its content, computed anew when its file was touched.

Results belong to a digest, not to a name: a file that was cut, a row that was corrected, a database that went on are
another table.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kanopy._errors import KanopyError

if TYPE_CHECKING:
    import polars as pl

PIECE = 1 << 20
JOURNALS = ("-wal", ".wal")
"""Files beside those of SQLite and DuckDB that contain rows which are not in the file itself yet."""

Signature = tuple[tuple[int, int, int, int], ...]


def _files(source: str) -> tuple[Path, ...]:
    """The files that a source is read from: of databases their journals too, of fixed-width text its dictionary."""
    from kanopy._table.sources import local_path, split_source

    if not source:
        return ()
    try:
        path = local_path(source)
        if path is None or not path.name:
            return ()
        inner = None if source.startswith("file://") else split_source(source)[1]
    except KanopyError:
        return ()
    beside = [path.with_name(path.name + ending) for ending in JOURNALS]
    if inner and Path(inner).suffix.lower() in (".dct", ".sps"):
        beside += [Path(inner), path.with_name(inner)]
    return (path, *(file for file in beside if file.is_file()))


def is_local(source: str) -> bool:
    """Whether a source is read from files of this machine."""
    return bool(_files(source))


def signature(source: str) -> Signature:
    """What changes whenever the files of a source are written: cheap, and only a reason to compute the digest anew.

    Empty for servers and addresses, and where the file is gone.
    """
    try:
        return tuple(
            (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in (file.stat() for file in _files(source))
        )
    except OSError:
        return ()


def digest_of(source: str) -> str:
    """The SHA-256 of a source's files; nothing for servers, addresses, and files that are gone.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("a,b")
    >>> before = digest_of(str(file))
    >>> _ = file.write_text("a,c")
    >>> before != digest_of(str(file)), digest_of(str(file) + ".none"), digest_of("")
    (True, '', '')
    """
    digest = hashlib.sha256()
    files = _files(source)
    try:
        for file in files:
            if not file.is_file():  # devices and pipes never end
                return ""
            digest.update(f"{file.name}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            with file.open("rb") as stream:
                while piece := stream.read(PIECE):
                    digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest() if files else ""


def digest_of_frame(frame: pl.DataFrame) -> str:
    """A digest of what was read from a server or an address: names, types and all values, in their order."""
    import io

    stream = io.BytesIO()
    frame.rechunk().write_ipc(stream)
    return hashlib.sha256(stream.getbuffer()).hexdigest()


def resolved(source: str) -> str:
    """A source as the user typed it, with the whole path of its file: relative to where the app was started.

    >>> resolved("postgresql://user@host/db::t"), resolved("/a/b.duckdb::t")
    ('postgresql://user@host/db::t', '/a/b.duckdb::t')
    """
    if "://" in source:
        return source
    from kanopy._table.sources import split_source

    try:
        path = os.fspath(split_source(source)[0])
    except KanopyError:
        return source
    if not source.startswith(path) or path.startswith("~"):
        return str(Path(source).expanduser())
    return str(Path(path).resolve()) + source[len(path) :]
