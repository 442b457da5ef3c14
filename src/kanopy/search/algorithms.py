"""Every algorithm by name."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from kanopy.errors import JobError, near_miss
from kanopy.search.solution import Algorithm

ALGORITHMS: dict[str, str] = {
    "optimal": "kanopy.search.optimal.Optimal",
    "samarati": "kanopy.search.samarati.Samarati",
    "datafly": "kanopy.search.datafly.Datafly",
    "incognito": "kanopy.search.incognito.Incognito",
    "top-down-specialization": "kanopy.search.top_down_specialization.TopDownSpecialization",
    "bayardo-agrawal": "kanopy.search.bayardo_agrawal.BayardoAgrawal",
    "iyengar": "kanopy.search.iyengar.Iyengar",
    "li-sps": "kanopy.search.li_sps.LiSPS",
    "li-gsps": "kanopy.search.li_gsps.LiGSPS",
    "li-gops": "kanopy.search.li_gops.LiGOPS",
    "cell-level": "kanopy.search.cell_level.CellLevel",
    "k-member": "kanopy.search.kmember.KMember",
    "mondrian": "kanopy.search.mondrian.Mondrian",
    "he-naughton": "kanopy.search.he_naughton.HeNaughton",
    "xu": "kanopy.search.xu.Xu",
    "iterative-local": "kanopy.search.iterative_local.IterativeLocal",
    "best": "kanopy.search.best.Best",
}
"""Names to classes, by path: each brings compiled kernels along, and loading those of all would slow every command."""


def algorithm_class(name: str) -> type[Algorithm]:
    """The class behind the name of an algorithm.

    >>> algorithm_class("k-member").recoding
    'local'
    """
    path = ALGORITHMS.get(name.replace("_", "-"))
    if path is None:
        raise JobError(f"There is no algorithm called {name!r}. {near_miss(name, ALGORITHMS)}")
    module, _, kind = path.rpartition(".")
    found: type[Algorithm] = getattr(importlib.import_module(module), kind)
    return found


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """The algorithm behind a name, with its parameters.

    >>> make_algorithm("optimal", threads=1)
    Optimal(most_candidates=1000000, budget_seconds=30.0, threads=1)
    """
    kind: Any = algorithm_class(name)
    known = [field.name for field in dataclasses.fields(kind)]
    for given in parameters:
        if given not in known:
            hint = near_miss(given, known) if known else "It has none."
            raise JobError(f"The algorithm {name!r} has no parameter {given!r}. {hint}")
    made: Algorithm = kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()})
    return made


def takes_budget(name: str) -> bool:
    """Whether an algorithm can be told how long it may take."""
    kind: Any = algorithm_class(name)
    return "budget_seconds" in {each.name for each in dataclasses.fields(kind)}


def timed_algorithms() -> list[str]:
    """The algorithms that take a time budget.

    >>> "best" in timed_algorithms(), "datafly" in timed_algorithms()
    (True, False)
    """
    return [name for name in ALGORITHMS if takes_budget(name)]
