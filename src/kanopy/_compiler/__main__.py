"""Compile the kernels that are named, for another process: `python -m kanopy._compiler <module>.<loop> …`."""

import sys
from importlib import import_module

from kanopy._compiler.machine_code import MachineCode

if __name__ == "__main__":
    for name in sys.argv[1:]:
        module, _, loop = name.rpartition(".")
        found = getattr(import_module(module), loop)
        MachineCode(getattr(found, "loop", found)).ready()
