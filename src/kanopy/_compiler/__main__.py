"""Compile kernels for another process: `python -m kanopy._compiler <module>.<loop> …`; with `--prebuild`, all kernels
that pass no arrays of Numba's own, for every processor of this kind, into the package."""

import sys
from importlib import import_module
from pathlib import Path

from kanopy._compiler import machine_code
from kanopy._compiler.machine_code import MachineCode


def every_kernel() -> list[MachineCode]:
    """All kernels that are kept as machine code."""
    root = Path(machine_code.__file__).parents[1]
    modules = sorted(
        ".".join(path.relative_to(root.parent).with_suffix("").parts) for path in root.rglob("*_kernel.py")
    )
    kernels = [value for module in modules for value in vars(import_module(module)).values() if hasattr(value, "code")]
    codes = {code.name: code for code in (value.code for value in kernels) if isinstance(code, MachineCode)}
    return [codes[name] for name in sorted(codes)]


def prebuild() -> None:
    """Make the machine code that comes with Kanopy anew."""
    machine_code.PREBUILT.mkdir(exist_ok=True)
    wanted = {machine_code.prebuilt_path(code): code for code in every_kernel()}
    for path in machine_code.PREBUILT.glob("*.bin"):
        if path not in wanted:
            path.unlink()
    for path, code in wanted.items():
        if machine_code.unsealed(path) is None:
            path.write_bytes(machine_code.sealed(machine_code.compile_loop(code.loop, any_processor=True)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--prebuild"]:
        prebuild()
    for name in sys.argv[1:]:
        if name.startswith("kanopy."):
            module, _, loop = name.rpartition(".")
            kernel = getattr(import_module(module), loop)
            MachineCode(getattr(kernel, "loop", kernel)).ready()
