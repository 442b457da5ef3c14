"""The one place that knows Numba: turn a loop into a compiled function, or fall back on its plain twin."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN = os.environ.get("KANOPY_KERNELS", "").lower() == "plain"
if not PLAIN:
    try:
        import numba
    except ImportError:  # pragma: no cover - exercised by the no-Numba test environment
        PLAIN = True

_compiled: list[Any] = []
_lock = threading.Lock()


def helper(loop: Function) -> Function:
    """Compile a small function that kernels call; it needs no twin of its own because its callers have one."""
    if PLAIN:
        return loop
    compiled: Any = numba.njit(cache=True, nogil=True)(loop)
    result: Function = compiled
    return result


def kernel(plain: Callable[..., Any], *, parallel: bool = False) -> Callable[[Function], Function]:
    """Decorate a loop so that it is compiled, cached on disk and released from the GIL.

    `plain` is the NumPy twin with the same arguments and results: it replaces the loop where there is no
    compiler, and tests compare the two (`kernel.plain` and `kernel.loop` hold both).
    """

    def decorate(loop: Function) -> Function:
        if PLAIN:
            chosen: Any = plain
        else:
            chosen = numba.njit(cache=True, nogil=True, parallel=parallel)(loop)
            _compiled.append(chosen)
        chosen.plain = plain
        chosen.loop = loop
        result: Function = chosen
        return result

    return decorate


def is_prepared() -> bool:
    """Whether the kernels loaded so far are compiled and cached on this machine (or no compiler is in use)."""
    if PLAIN:
        return True
    with _lock:
        for function in _compiled:
            folder = Path(function.stats.cache_path or "")
            # Numba names its index files after the module, the function and its line.
            if not any(folder.glob(f"*{function.py_func.__name__}-*.nbi")):
                return False
    return True
