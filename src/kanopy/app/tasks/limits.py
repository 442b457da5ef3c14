"""What reading a table may take: a file that becomes far larger than any table of its size is refused in words.

Readers of some formats take as much memory as a file tells them to. While a table is read, the memory of its worker is
therefore limited by the size of the file. Where a reader asks for more, it is refused, or its process ends (`Worker`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from kanopy._errors import DataError, shown_address

LEAST_BYTES, TIMES = 1_400 << 20, 60
"""Memory that a file may take however small it is, and how many times its size a larger one may take."""
BYTES_OF_CELL = 4
MOST_TIMES_PACKED = 200
"""A columnar file is refused if its cells take so many times its size, and more than half of `LEAST_BYTES`."""
COLUMNAR = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


@contextlib.contextmanager
def memory_limited(source: str) -> Iterator[None]:
    """Let the block take as much memory as a table of this size may; where it takes more, `DataError`.

    >>> with memory_limited("people.csv"):
    ...     raise MemoryError
    Traceback (most recent call last):
    kanopy._errors.DataError: 'people.csv' takes more than 1,400 MB of memory, which no table of 0 KB does. ...
    """
    _check_cells(source)
    limits = _limits(source)
    try:
        if limits is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, limits)
        yield
    except MemoryError:
        raise DataError(too_much(source)) from None
    finally:
        if limits is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limits[1], limits[1]))


def too_much(source: str, needed: int = 0) -> str:
    """What is said of a table that takes more memory than its size explains."""
    limit = (needed or _allowed(source)) >> 20
    return (
        f"{Path(shown_address(source)).name!r} takes more than {limit:,} MB of memory, which no table of "
        f"{_size(source) >> 10:,} KB does. Check where it comes from. If it is a table, read it with another program "
        "and save it as CSV."
    )


def _check_cells(source: str) -> None:
    """Refuse a columnar file whose cells take far more memory than the file: its own numbers say so."""
    path = Path(source)
    if path.suffix.lower() not in COLUMNAR or not path.is_file():
        return
    import polars as pl

    try:
        parquet = path.suffix.lower() in COLUMNAR[:2]
        scan = pl.scan_parquet(path, glob=False) if parquet else pl.scan_ipc(path)
        cells = int(scan.select(pl.len()).collect().item()) * len(scan.collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return  # damaged: reading it says how
    needed = cells * BYTES_OF_CELL
    if needed > LEAST_BYTES // 2 and needed > MOST_TIMES_PACKED * _size(source):
        raise DataError(too_much(source, needed))


def _limits(source: str) -> tuple[int, int] | None:
    """The soft and the hard limit of private memory; `None` where the system tells or takes none."""
    try:
        import resource

        status = Path("/proc/self/status").read_text("ascii", "replace")
    except (ImportError, OSError):
        return None
    taken = next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:")), 0)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = taken + _allowed(source)
    return (soft, hard) if taken and (hard == resource.RLIM_INFINITY or soft < hard) else None


def _allowed(source: str) -> int:
    return max(LEAST_BYTES, TIMES * _size(source))


def _size(source: str) -> int:
    """Bytes of the file of a source; 0 of servers and addresses."""
    try:
        return Path(source.partition("::")[0]).stat().st_size
    except (OSError, ValueError):
        return 0
