"""The one room that knows Numba and LLVM: turn a loop into machine code, or run its plain twin or the bare loop.

Two kinds of compiled loops live side by side. A *kernel* works on arrays that others made: it is compiled for the one
signature that its annotations state, its machine code is kept on disk, and running it again loads LLVM only. A kernel
that *makes arrays* needs Numba's own types, its run time and its cache. Numba is loaded when something must be
compiled, or when a kernel that makes arrays is called: not when modules are imported.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

from kanopy._compiler.arrays import Arrays

__all__ = ["PLAIN", "Arrays", "for_size", "helper", "is_prepared", "kernel", "prepare"]

Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN = os.environ.get("KANOPY_KERNELS", "").lower() == "plain" or find_spec("numba") is None

PARTS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""What compiled loops may call by name: helpers and other kernels, and the loop behind each."""


def helper(loop: Function) -> Function:
    """Let kernels call a small function; it needs no twin of its own because its callers have one."""
    PARTS[loop] = loop
    return loop


def kernel(
    plain: Callable[..., Any] | None = None, *, parallel: bool = False, makes_arrays: bool = True
) -> Callable[[Function], Function]:
    """Decorate a loop so that it is compiled, cached on disk and released from the GIL.

    `plain` is the NumPy twin with the same arguments and results: it replaces the loop where there is no
    compiler, and tests compare the two (`kernel.plain` and `kernel.loop` hold both). Without one the loop itself runs
    uncompiled, and tests compare it with its definition (`tests/kernels/definitions.py`). A kernel that makes no arrays
    of its own (`makes_arrays=False`) says by its annotations what it takes: `int`, `float`, the array types of
    `kanopy._arrays`, and `Arrays`. It reads and writes single elements, at indices from 0 on.
    """

    def decorate(loop: Function) -> Function:
        twin = _bare(loop) if plain is None else plain
        if PLAIN:
            chosen: Any = twin
        elif makes_arrays:
            chosen = _with_numba(loop, parallel)
        else:
            from kanopy._compiler.machine_code import MachineCode

            code = MachineCode(loop)

            @functools.wraps(loop)
            def chosen(*args: Any) -> Any:
                return code(*args)

            chosen.code = code
            PARTS[chosen] = loop
        chosen.plain = twin
        chosen.loop = loop
        result: Function = chosen
        return result

    return decorate


def _bare(loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop that runs as it is; whole numbers that grow too large wrap around in silence, as in compiled code."""

    @functools.wraps(loop)
    def call(*args: Any) -> Any:
        import numpy as np

        with np.errstate(over="ignore"):
            return loop(*args)

    return call


def _with_numba(loop: Callable[..., Any], parallel: bool) -> Callable[..., Any]:
    """A loop that Numba compiles for the types of its arguments when it is first called, and caches itself."""
    made: list[Any] = []

    @functools.wraps(loop)
    def call(*args: Any) -> Any:
        if not made:
            from kanopy._compiler.front_end import numba_function

            made.append(numba_function(loop, parallel))
        return made[0](*args)

    PARTS[call] = loop
    return call


def for_size(compiled: Function, size: int, small: int = 2_000) -> Function:
    """The plain twin or bare loop where the input is small: quicker than compiling, or even loading, the other."""
    twin: Function = compiled.plain if size <= small else compiled  # type: ignore[attr-defined]
    return twin


from kanopy._compiler.preparation import is_prepared, prepare  # noqa: E402
