"""A table is read once: the first worker leaves what it read in a private folder, and the others open it from there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanopy._table.sources import Source


def read_once(folder: Path | None, named: str, read: Callable[[], Source], *, anew: bool = False) -> Source:
    """What `read` returns, read by whoever asks first; `named` contains the digest of the content and how it is read.

    Whoever asks meanwhile waits. `anew` reads again, for what has no digest before it is read.
    """
    import polars as pl

    if folder is None:
        return read()
    mark = hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    rows, rest = folder / f"{mark}.arrow", folder / f"{mark}.rest"
    with _turn(folder / f"{mark}.lock"):
        if rest.exists() and not anew:
            source_read: Source = pickle.loads(
                rest.read_bytes()
            )  # written by a worker of this very app, in a private folder
            return replace(source_read, frame=pl.read_ipc(rows))
        source_read = read()
        rest.unlink(missing_ok=True)
        fresh = folder / f"{mark}.new"
        source_read.frame.write_ipc(fresh)
        fresh.replace(rows)
        rest.write_bytes(pickle.dumps(replace(source_read, frame=pl.DataFrame())))
        return source_read


@contextlib.contextmanager
def _turn(file: Path) -> Iterator[None]:
    """One after another; where files cannot be locked, everybody reads for themselves at once."""
    handle = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        with contextlib.suppress(ImportError):
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
