"""Kanopy turns a table about people into one that may be published.

Everything a user may import is here; it is loaded on first use, so that `import kanopy` is light.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kanopy.anonymize import Result as Result
    from kanopy.anonymize import anonymize
    from kanopy.assess import assess
    from kanopy.check import Check as Check
    from kanopy.check import check
    from kanopy.compare import compare
    from kanopy.errors import KanopyError, NoSolution
    from kanopy.explore import explore
    from kanopy.hierarchy.builders import build_hierarchy
    from kanopy.hierarchy.files import read_hierarchy, write_hierarchy
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.masking_flow import MaskResult as MaskResult
    from kanopy.masking_flow import mask
    from kanopy.risk import assess_risk
    from kanopy.spec import Job
    from kanopy.table import datasets
    from kanopy.table.sources import read_table

_HOMES = {
    "anonymize": "kanopy.anonymize",
    "Result": "kanopy.anonymize",
    "assess": "kanopy.assess",
    "assess_risk": "kanopy.risk",
    "check": "kanopy.check",
    "compare": "kanopy.compare",
    "explore": "kanopy.explore",
    "Check": "kanopy.check",
    "Job": "kanopy.spec",
    "Hierarchy": "kanopy.hierarchy.hierarchy",
    "build_hierarchy": "kanopy.hierarchy.builders",
    "read_hierarchy": "kanopy.hierarchy.files",
    "write_hierarchy": "kanopy.hierarchy.files",
    "read_table": "kanopy.table.sources",
    "datasets": "kanopy.table",
    "mask": "kanopy.masking_flow",
    "MaskJob": "kanopy.masking.job",
    "MaskResult": "kanopy.masking_flow",
    "NoSolution": "kanopy.errors",
    "KanopyError": "kanopy.errors",
}

__all__ = [
    "Hierarchy",
    "Job",
    "KanopyError",
    "MaskJob",
    "NoSolution",
    "anonymize",
    "assess",
    "assess_risk",
    "build_hierarchy",
    "check",
    "compare",
    "datasets",
    "explore",
    "mask",
    "read_hierarchy",
    "read_table",
    "write_hierarchy",
]


class _Package(types.ModuleType):
    """Importing the file `anonymize.py` would put the module where users find the function; the function stays."""

    def __setattr__(self, name: str, value: Any) -> None:
        if _HOMES.get(name) == f"{__name__}.{name}" and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"kanopy has no attribute {name!r}")
    if name == "datasets":
        value: Any = importlib.import_module("kanopy.table.datasets")
    else:
        value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
