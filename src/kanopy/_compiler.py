"""The one place that knows Numba: turn a loop into a compiled function, or fall back on its plain twin."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

COMMAND = "KANOPY_COMMAND"
"""Set in the environment by the `kanopy` command: this process runs nobody's code but ours."""

PLAIN = os.environ.get("KANOPY_KERNELS", "").lower() == "plain"
if not PLAIN:
    try:
        import numba
    except ImportError:  # pragma: no cover - exercised by the no-Numba test environment
        PLAIN = True


def _load_without_scipy() -> None:
    """Let Numba load without looking for SciPy's linear algebra, which our kernels never use.

    The look costs a third of a second wherever SciPy is installed. In a process of somebody else it must stay:
    their compiled code may need it.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[name]


if not PLAIN and os.environ.get(COMMAND):
    _load_without_scipy()


UNCOUNTED: dict[str, Any] = {"_nrt": False}
"""Numba's option for functions that count no references, so cannot make arrays."""


def helper(loop: Function) -> Function:
    """Compile a small function that kernels call; it needs no twin of its own because its callers have one."""
    if PLAIN:
        return loop
    compiled: Any = numba.njit(cache=True, nogil=True)(loop)
    result: Function = compiled
    return result


def part_of_kernel(loop: Function) -> Function:
    """Compile a helper of kernels that make no arrays (`kernel(…, makes_arrays=False)`)."""
    if PLAIN:
        return loop
    compiled: Any = numba.njit(cache=True, nogil=True, **UNCOUNTED)(loop)
    result: Function = compiled
    return result


def kernel(
    plain: Callable[..., Any], *, parallel: bool = False, makes_arrays: bool = True
) -> Callable[[Function], Function]:
    """Decorate a loop so that it is compiled, cached on disk and released from the GIL.

    `plain` is the NumPy twin with the same arguments and results: it replaces the loop where there is no
    compiler, and tests compare the two (`kernel.plain` and `kernel.loop` hold both). A kernel that makes no arrays of
    its own needs no counting of references; loops over the fields of named tuples then run up to eight times faster.
    """

    def decorate(loop: Function) -> Function:
        if PLAIN:
            chosen: Any = plain
        else:
            options: dict[str, Any] = {} if makes_arrays else UNCOUNTED
            chosen = numba.njit(cache=True, nogil=True, parallel=parallel, **options)(loop)
        chosen.plain = plain
        chosen.loop = loop
        result: Function = chosen
        return result

    return decorate


def is_prepared(kernels: Iterable[Any]) -> bool:
    """Whether these kernels are compiled and cached on this machine (or no compiler is in use)."""
    if PLAIN:
        return True
    for function in kernels:
        folder = Path(function.stats.cache_path or "")
        # Numba names its index files after the module, the function and its line.
        if not any(folder.glob(f"*{function.py_func.__name__}-*.nbi")):
            return False
    return True


def for_size(compiled: Function, size: int, small: int = 2_000) -> Function:
    """The plain twin where the input is small: it is quicker than compiling, or even loading, the compiled one."""
    twin: Function = compiled.plain if size <= small else compiled  # type: ignore[attr-defined]
    return twin
