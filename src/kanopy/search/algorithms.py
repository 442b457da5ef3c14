"""Every algorithm by name."""

from __future__ import annotations

from typing import Any

from kanopy._parameters import faults_of_class, make, parameters_of
from kanopy._registry import Named
from kanopy.search.solution import Algorithm

ALGORITHMS: Named[type[Algorithm]] = Named(
    {
        "optimal": "kanopy.search.full_domain.optimal:Optimal",
        "samarati": "kanopy.search.full_domain.samarati:Samarati",
        "datafly": "kanopy.search.full_domain.datafly:Datafly",
        "incognito": "kanopy.search.full_domain.incognito:Incognito",
        "top-down-specialization": "kanopy.search.subtree.top_down_specialization:TopDownSpecialization",
        "bayardo-agrawal": "kanopy.search.sets.bayardo_agrawal:BayardoAgrawal",
        "iyengar": "kanopy.search.subtree.iyengar:Iyengar",
        "li-sps": "kanopy.search.sets.li_schemes:LiSPS",
        "li-gsps": "kanopy.search.sets.li_schemes:LiGSPS",
        "li-gops": "kanopy.search.sets.li_schemes:LiGOPS",
        "cell-level": "kanopy.search.cell.cell_level:CellLevel",
        "k-member": "kanopy.search.clustering.kmember:KMember",
        "one-pass-k-means": "kanopy.search.clustering.one_pass:OnePassKMeans",
        "nearest-neighbours": "kanopy.search.clustering.nearest_neighbours:NearestNeighbours",
        "mondrian": "kanopy.search.clustering.mondrian:Mondrian",
        "microaggregation": "kanopy.search.clustering.microaggregation:Microaggregation",
        "he-naughton": "kanopy.search.local.he_naughton:HeNaughton",
        "xu": "kanopy.search.local.xu:Xu",
        "iterative-local": "kanopy.search.local.iterative_local:IterativeLocal",
        "best": "kanopy.search.local.best.best:Best",
    },
    "algorithm",
    group="kanopy.algorithms",
    faults=faults_of_class("kanopy.search.solution:Algorithm"),
)
"""Loaded one by one: each brings compiled kernels along, and those of all would slow every command."""


def algorithm_class(name: str) -> type[Algorithm]:
    """The class behind the name of an algorithm.

    >>> algorithm_class("k-member").recoding
    'local'
    """
    return ALGORITHMS.find(name)


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """The algorithm behind a name, with its parameters.

    >>> make_algorithm("optimal", threads=1)
    Optimal(most_candidates=1000000, budget_seconds=None, threads=1)
    """
    return make(algorithm_class(name), parameters)


def takes(name: str, parameter: str) -> bool:
    """Whether an algorithm has a parameter of that name."""
    return parameter in parameters_of(algorithm_class(name))


def takes_budget(name: str) -> bool:
    """Whether an algorithm can be told how long it may take."""
    return takes(name, "budget_seconds")


def timed_algorithms() -> list[str]:
    """The algorithms that take a time budget.

    >>> "best" in timed_algorithms(), "datafly" in timed_algorithms()
    (True, False)
    """
    return [name for name in ALGORITHMS if takes_budget(name)]
