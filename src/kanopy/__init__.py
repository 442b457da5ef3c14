"""Kanopy turns a table about people into one that may be published.

Everything a user may import is here, or in the rooms `kanopy.hierarchy`, `kanopy.ontology` and `kanopy.privacy`; it is
loaded on first use, so that `import kanopy` is light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kanopy._errors import KanopyError, NoSolution
    from kanopy._job.guess import guess_job
    from kanopy._job.job import Job
    from kanopy._table import datasets
    from kanopy._table.sources import read_table
    from kanopy.hierarchy.builders.registry import build_hierarchy
    from kanopy.hierarchy.files.files import read_hierarchy, write_hierarchy
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.masking.job import MaskJob
    from kanopy.release.compare import compare
    from kanopy.release.explore import explore
    from kanopy.release.masking_flow import MaskResult as MaskResult
    from kanopy.release.masking_flow import mask
    from kanopy.release.run import Result as Result
    from kanopy.release.run import anonymize
    from kanopy.study.assess import assess
    from kanopy.study.check import Check as Check
    from kanopy.study.check import check
    from kanopy.study.risk import assess_risk

_HOMES = {
    "Check": "kanopy.study.check",
    "Hierarchy": "kanopy.hierarchy.hierarchy",
    "Job": "kanopy._job.job",
    "KanopyError": "kanopy._errors",
    "MaskJob": "kanopy.masking.job",
    "MaskResult": "kanopy.release.masking_flow",
    "NoSolution": "kanopy._errors",
    "Result": "kanopy.release.run",
    "anonymize": "kanopy.release.run",
    "assess": "kanopy.study.assess",
    "assess_risk": "kanopy.study.risk",
    "build_hierarchy": "kanopy.hierarchy.builders.registry",
    "check": "kanopy.study.check",
    "compare": "kanopy.release.compare",
    "datasets": "kanopy._table.datasets",
    "explore": "kanopy.release.explore",
    "guess_job": "kanopy._job.guess",
    "mask": "kanopy.release.masking_flow",
    "read_hierarchy": "kanopy.hierarchy.files.files",
    "read_table": "kanopy._table.sources",
    "write_hierarchy": "kanopy.hierarchy.files.files",
}
"""Where each public name is found."""

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
    "guess_job",
    "mask",
    "read_hierarchy",
    "read_table",
    "write_hierarchy",
]


def __getattr__(name: str) -> Any:
    import importlib

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"kanopy has no attribute {name!r}")
    module = importlib.import_module(home)
    value: Any = module if home.endswith(f".{name}") and not hasattr(module, name) else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
