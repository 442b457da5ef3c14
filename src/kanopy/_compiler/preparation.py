"""Having kernels ready before they are needed: what is missing is compiled by as many processes as pay."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kanopy._progress import SILENT, Progress

if TYPE_CHECKING:
    from kanopy._compiler.machine_code import MachineCode

MOST_PROCESSES = 2
"""More would compile the same helpers again and again."""


def is_prepared(kernels: Iterable[Any]) -> bool:
    """Whether these kernels are compiled and cached on this machine (or no compiler is in use)."""
    return not _missing(kernels)


def prepare(kernels: Iterable[Any], progress: Progress = SILENT) -> None:
    """Compile those of some kernels that are not on disk yet, in processes of their own, and say how far that is.

    What such a process cannot do, because none can be started or nothing can be written, this one does.
    """
    wanted = _missing(kernels)
    if not wanted:
        return
    helpers = [_start(share) for share in _shared_out(wanted, min(MOST_PROCESSES, _cores()))] if len(wanted) > 1 else []
    try:
        while any(process is not None and process.poll() is None for process in helpers):
            _tell(wanted, progress)
            time.sleep(0.02)
    finally:
        for process in helpers:
            if process is not None and process.poll() is None:
                process.terminate()
    for code in wanted:
        _tell(wanted, progress)
        code.ready()


def _missing(kernels: Iterable[Any]) -> list[MachineCode]:
    codes = [getattr(function, "code", None) for function in kernels]
    return [code for code in codes if code is not None and not code.is_ready()]


def _tell(wanted: list[MachineCode], progress: Progress) -> None:
    if progress.active:
        from kanopy._compiler.machine_code import is_kept

        done = sum(code.is_ready() for code in wanted)
        often = "only the first time" if is_kept() else "each time: NUMBA_CACHE_DIR names no folder to keep it in"
        progress("preparing compiled code", done / len(wanted), f"{done} of {len(wanted)}, {often}")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shared_out(wanted: list[MachineCode], parts: int) -> list[list[MachineCode]]:
    """About equal stretches of the list, counting once what neighbours in it have in common."""
    seen: set[str] = set()
    begins, total = [], 0
    for code in wanted:
        begins.append(total)
        total += sum(len(text) for text in code.sources if text not in seen)
        seen.update(code.sources)
    shares: list[list[MachineCode]] = [[] for _ in range(parts)]
    for code, begin in zip(wanted, begins, strict=True):
        shares[begin * parts // max(1, total)].append(code)
    return [share for share in shares if share]


def _start(share: list[MachineCode]) -> subprocess.Popen[bytes] | None:
    """A process that compiles some kernels; `None` where none can be started."""
    from kanopy._compiler.machine_code import folder

    try:
        return subprocess.Popen(
            [sys.executable, "-m", "kanopy._compiler", *(code.name for code in share)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "NUMBA_CACHE_DIR": str(folder()), "NUMBA_OPT": "0"},
        )  # fmt: skip
    except OSError:
        return None
