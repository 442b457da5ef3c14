"""Files and folders that a run needs only while it lasts: whose they are can be told, and the next run sweeps them.

Their names hold the machine and the process. A run that is killed cannot remove its own; whoever comes next on the same
machine does, if the process is no more and nobody holds the lock on the file.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

PREFIX = "kanopy-"
_made: set[str] = set()


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def mark() -> str:
    """Part of the names of temporary files that says whose they are: those of a killed run can be told."""
    made = f"{_machine()}-{os.getpid()}-{os.urandom(4).hex()}"
    _made.add(made)
    return made


def hold(handle: int) -> bool:
    """Lock what is open until its handle is closed, however that comes; `False` where that cannot be."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def is_abandoned(file: Path) -> bool:
    """Whether a temporary file or folder was made on this machine by a process that is no more.

    >>> is_abandoned(Path("kanopy-report.csv")), is_abandoned(Path(f"kanopy-{mark()}"))
    (False, False)
    """
    match = re.search(rf"({_machine()}-(\d+)-[0-9a-f]{{8}})([.-]\w+)*$", file.name)
    if match is None or match[1] in _made:
        return False
    if int(match[2]) != os.getpid():
        try:
            os.kill(int(match[2]), 0)
            return False
        except ProcessLookupError:
            pass
        except (OSError, OverflowError):
            return False
    return not _is_held(file)


def _is_held(file: Path) -> bool:
    """Whether a process holds a file that cannot be seen from here, in a container for example."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def remove(file: Path) -> None:
    """Remove a file, or a folder with all in it, if that can be done."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def sweep() -> None:
    """Remove the temporary folders of dead processes."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and is_abandoned(Path(entry.path)):
                remove(Path(entry.path))


class Folder:
    """A folder among the temporary files (`TMPDIR`) that only its owner may read, until it is removed."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.gettempdir()) / f"{PREFIX}{mark()}"
        self.path.mkdir(mode=0o700)
        self._handle: int | None = None
        with contextlib.suppress(OSError):  # not every system opens folders
            self._handle = os.open(self.path, os.O_RDONLY)
            hold(self._handle)

    def remove(self) -> None:
        """Remove it with all in it."""
        remove(self.path)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder that is gone when the block ends.

    >>> with folder() as place:
    ...     _ = (place / "rows").write_bytes(b"41")
    >>> place.exists()
    False
    """
    temporary = Folder()
    try:
        yield temporary.path
    finally:
        temporary.remove()
