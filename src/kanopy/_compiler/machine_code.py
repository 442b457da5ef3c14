"""Machine code of one kernel: found on disk or compiled, loaded with LLVM, called with pointers."""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from kanopy import _temporary
from kanopy._compiler.arrays import KINDS, SLOTS, Arrays, describe, members

ALONE = {"", "log", "exp", "memcpy", "memmove", "memset"}
"""What machine code may call without Numba being loaded."""


PREBUILT = Path(__file__).parent / "prebuilt"
"""Machine code that comes with Kanopy, so that a new machine need not wait; `make prebuilt` makes it."""
ANY_PROCESSOR = "x86-64"
PREBUILT_FITS = sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


class MachineCode:
    """A loop as machine code. It is looked for, or made, when it is first called; threads may call it at once."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.loop = loop
        self.name = f"{loop.__module__}.{loop.__name__}"
        self._run: Callable[..., Any] | None = None
        self._lock = threading.Lock()
        *given, self._returns = (str(text) for text in loop.__annotations__.values())
        names = loop.__code__.co_varnames
        self._arrays = [(i, KINDS[text], names[i]) for i, text in enumerate(given) if text in KINDS]
        self._bundles = [i for i, text in enumerate(given) if text not in KINDS and text not in ("int", "float")]
        scalars: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double, "None": None}
        self._type = ctypes.CFUNCTYPE(scalars[self._returns], *(scalars.get(text, ctypes.c_void_p) for text in given))
        self._described = ctypes.c_int64 * (SLOTS * len(self._arrays))

    def __call__(self, *args: Any) -> Any:
        """Run it."""
        run = self._run or self.ready()
        described = self._described()
        address = ctypes.addressof(described)
        values = list(args)
        at = 0
        for i, kind, name in self._arrays:
            described[at : at + SLOTS] = list(describe(args[i], kind, name))
            values[i] = address + 8 * at
            at += SLOTS
        for i in self._bundles:
            values[i] = args[i].address
        return run(*values)

    @cached_property
    def path(self) -> Path:
        """The file with its machine code."""
        digest = hashlib.sha256(machine().encode())
        for text in _sources(self.loop):
            digest.update(text.encode())
        return folder() / f"{self.name.removeprefix('kanopy.')}-{digest.hexdigest()[:20]}.bin"

    @property
    def sources(self) -> list[str]:
        """The texts of all that is compiled with it."""
        return _sources(self.loop)

    @cached_property
    def prebuilt(self) -> Path | None:
        """The file that came with Kanopy, for every processor of this kind; `None` where there is none."""
        if not PREBUILT_FITS or os.environ.get("KANOPY_PREBUILT", "").lower() == "off":
            return None
        path = prebuilt_path(self)
        return path if path.exists() else None

    def is_ready(self) -> bool:
        """Whether it need not be compiled: it is loaded, it came with Kanopy, or it is on disk."""
        return self._run is not None or self.prebuilt is not None or self.path.exists()

    def ready(self) -> Callable[..., Any]:
        """Have it ready for being called; returns the function that takes pointers."""
        with self._lock:
            if self._run is None:
                data = None if self.prebuilt is None else unsealed(self.prebuilt)
                data = data or unsealed(self.path)
                if data is None:
                    data = compile_loop(self.loop)
                    _keep(self.path, sealed(data))
                self._run = self._type(_load(data))
            return self._run


def sealed(data: bytes) -> bytes:
    """Machine code as it is kept: with its digest, so that a damaged file is never run.

    >>> len(sealed(b"code"))
    36
    """
    return data + hashlib.sha256(data).digest()


def unsealed(path: Path) -> bytes | None:
    """What was sealed; `None` where the file is not there, or is not as it was written."""
    try:
        contents = path.read_bytes()
    except OSError:
        return None
    data, digest = contents[:-32], contents[-32:]
    return data if hashlib.sha256(data).digest() == digest else None


def prebuilt_path(code: MachineCode) -> Path:
    """Where the machine code that comes with Kanopy is, if it was made from the files as they are now."""
    digest = hashlib.sha256(b"1")
    for text in _foreign(code.loop):
        digest.update(text.encode())
    for module in sorted({function.__module__ for function in _parts(code.loop)}):
        digest.update(_content(module))
    return PREBUILT / f"{code.name.removeprefix('kanopy.')}-{digest.hexdigest()[:20]}.bin"


@cache
def _content(module: str) -> bytes:
    return Path(str(sys.modules[module].__file__)).read_bytes()


def _sources(loop: Callable[..., Any]) -> list[str]:
    """What the machine code of a loop depends on: itself, all it calls, and the constants and fields they use."""
    texts = [f"{f.__qualname__}{list(f.__annotations__.items())}{_text_of(f.__code__)}" for f in _parts(loop)]
    return [*texts, *_foreign(loop)]


def _parts(loop: Callable[..., Any]) -> list[Callable[..., Any]]:
    """A loop and all the helpers that are compiled with it."""
    from kanopy._compiler import PARTS

    loops = [loop]
    for function in loops:
        for name in _names(function):
            value = function.__globals__.get(name)
            if callable(value) and value in PARTS and PARTS[value] not in loops:
                loops.append(PARTS[value])
    return loops


def _foreign(loop: Callable[..., Any]) -> list[str]:
    """The constants and the fields of bundles that a loop and its helpers use, wherever they are defined."""
    members_used: list[str] = []
    for function in _parts(loop):
        for name in _names(function):
            value = function.__globals__.get(name)
            if isinstance(value, type) and issubclass(value, Arrays):
                members_used.append(f"{name}{members(value)}")
            elif isinstance(value, (int, float, np.generic)):
                members_used.append(f"{name}={value!r}")
    return members_used


def _names(function: Callable[..., Any]) -> list[str]:
    return sorted({*function.__code__.co_names, *(str(text) for text in function.__annotations__.values())})


def _text_of(code: CodeType) -> str:
    constants = [_text_of(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts[1:]]
    return f"{code.co_code.hex()}{constants}{code.co_names}{code.co_varnames}"


@cache
def machine() -> str:
    """What machine code depends on beside its source: this processor, the versions of the compiler, this format."""
    import llvmlite
    import llvmlite.binding as llvm

    spec = find_spec("numba")
    version = Path(spec.origin).with_name("_version.py") if spec is not None and spec.origin else None
    texts = (
        "2", sys.version, llvmlite.__version__, version.read_text() if version is not None else "",
        llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(),
    )  # fmt: skip
    return "\n".join(texts)


@cache
def folder() -> Path:
    """Where machine code is kept: where Numba is told to keep its own, or with the package, the user, the process."""
    own_folder = Path(__file__).parent / "__pycache__"
    given = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for candidate in [Path(given)] if given else [own_folder, Path(home) / "kanopy"]:
        try:
            candidate.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(candidate, os.W_OK | os.X_OK):
            return candidate
    return _of_this_process()


def is_kept() -> bool:
    """Whether what is compiled now is there for the next run."""
    return not folder().name.startswith(_temporary.PREFIX)


@cache
def _of_this_process() -> Path:
    """A folder that goes with the process. One that lasts, where everybody can write, could hold anybody's code."""
    process_folder = _temporary.Folder()
    atexit.register(process_folder.remove)
    return process_folder.path


def _keep(path: Path, data: bytes) -> None:
    """Write machine code for the next time; a folder that cannot be written to is no reason to stop."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        pass


def _target_machine(*, any_processor: bool = False) -> Any:
    import llvmlite.binding as llvm

    triple = llvm.get_default_triple()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=ANY_PROCESSOR if any_processor else llvm.get_host_cpu_name(),
        features="" if any_processor else llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="static" if triple.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )


def compile_loop(loop: Callable[..., Any], *, any_processor: bool = False) -> bytes:
    """Machine code, after a line with what loading needs to know: the name of the function, whether Numba is needed.

    It is made for this processor, or for `any_processor` of its kind.
    """
    import llvmlite.binding as llvm

    from kanopy._compiler.front_end import compiled

    function = compiled(loop)
    module = llvm.parse_assembly(function.inspect_llvm())
    _initialize()
    # All that it calls is in the module. Optimized once and as a whole, it need not have been optimized before:
    # processes that only compile ask Numba not to (NUMBA_OPT=0).
    for part_function in module.functions:
        if not part_function.is_declaration and part_function.name != function.native_name:
            part_function.linkage = "internal"
    machine = _target_machine(any_processor=any_processor)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    called = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    alone = "numba" if called - ALONE else ""
    return f"{function.native_name} {alone}\n".encode() + bytes(machine.emit_object(module))


@cache
def _initialize() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


_engines: list[Any] = []
"""Machine code stays loaded until the process ends."""


def _load(data: bytes) -> int:
    """Load machine code; returns the address of the function."""
    import llvmlite.binding as llvm

    head, _, code = data.partition(b"\n")
    name, needs = head.decode().split(" ")
    if needs:
        from kanopy._compiler.front_end import offer_run_time

        offer_run_time()
    _initialize()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    address: int = engine.get_function_address(name)
    return address
