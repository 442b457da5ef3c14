"""Kanopy turns a table about people into one that may be published.

Everything a user may import is here, or in the rooms `kanopy.hierarchy`, `kanopy.ontology` and `kanopy.privacy`; it is
loaded on first use, so that `import kanopy` is light. Every other module is an implementation detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Check", "Hierarchy", "Job", "KanopyError", "MaskJob", "NoSolution", "Result", "anonymize",
    "assess", "assess_risk", "build_hierarchy", "check", "compare", "datasets", "evaluate_hierarchy", "explore",
    "guess_job", "hierarchy", "improve_hierarchy", "load_ontology", "lower_bound", "mask", "ontology", "privacy",
    "read_hierarchy", "read_table", "suggest_hierarchies", "write_hierarchy",
]  # fmt: skip

if TYPE_CHECKING:
    from kanopy import hierarchy, ontology, privacy
    from kanopy._errors import KanopyError, NoSolution
    from kanopy._job.guess import guess_job
    from kanopy._job.job import Job
    from kanopy._table import datasets
    from kanopy._table.sources import read_table
    from kanopy.hierarchy import (
        Hierarchy,
        build_hierarchy,
        evaluate_hierarchy,
        improve_hierarchy,
        read_hierarchy,
        suggest_hierarchies,
        write_hierarchy,
    )
    from kanopy.masking.job import MaskJob
    from kanopy.ontology import load_ontology
    from kanopy.release.bound import lower_bound
    from kanopy.release.compare import compare
    from kanopy.release.explore import explore
    from kanopy.release.result import Result
    from kanopy.release.run import anonymize, mask
    from kanopy.study.assess import assess
    from kanopy.study.check import Check, check
    from kanopy.study.risk import assess_risk
else:
    from kanopy._lazy import lazy_names

    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "kanopy._errors": ("KanopyError", "NoSolution"),
            "kanopy._job.guess": ("guess_job",),
            "kanopy._job.job": ("Job",),
            "kanopy._table.sources": ("read_table",),
            "kanopy.hierarchy": (
                "Hierarchy", "build_hierarchy", "evaluate_hierarchy", "improve_hierarchy", "read_hierarchy",
                "suggest_hierarchies", "write_hierarchy",
            ),
            "kanopy.masking.job": ("MaskJob",),
            "kanopy.ontology": ("load_ontology",),
            "kanopy.release.bound": ("lower_bound",),
            "kanopy.release.compare": ("compare",),
            "kanopy.release.explore": ("explore",),
            "kanopy.release.result": ("Result",),
            "kanopy.release.run": ("anonymize", "mask"),
            "kanopy.study.assess": ("assess",),
            "kanopy.study.check": ("Check", "check"),
            "kanopy.study.risk": ("assess_risk",),
        },
        modules={
            "datasets": "kanopy._table.datasets",
            "hierarchy": "kanopy.hierarchy",
            "ontology": "kanopy.ontology",
            "privacy": "kanopy.privacy",
        },
    )  # fmt: skip
