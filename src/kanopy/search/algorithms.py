"""Every algorithm by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from kanopy.errors import JobError, near_miss
from kanopy.search.best import Best
from kanopy.search.datafly import Datafly
from kanopy.search.incognito import Incognito
from kanopy.search.kmember import KMember
from kanopy.search.mondrian import Mondrian
from kanopy.search.optimal import Optimal
from kanopy.search.samarati import Samarati
from kanopy.search.solution import Algorithm

ALGORITHMS: dict[str, type[Algorithm]] = {
    "optimal": Optimal,
    "samarati": Samarati,
    "datafly": Datafly,
    "incognito": Incognito,
    "k-member": KMember,
    "mondrian": Mondrian,
    "best": Best,
}


def make_algorithm(name: str, **parameters: Any) -> Algorithm:
    """The algorithm behind a name, with its parameters.

    >>> make_algorithm("optimal", threads=1)
    Optimal(most_candidates=1000000, budget_seconds=30.0, threads=1)
    """
    kind: Any = ALGORITHMS.get(name.replace("_", "-"))
    if kind is None:
        raise JobError(f"There is no algorithm called {name!r}. {near_miss(name, ALGORITHMS)}")
    known = [field.name for field in dataclasses.fields(kind)]
    for given in parameters:
        if given not in known:
            hint = near_miss(given, known) if known else "It has none."
            raise JobError(f"The algorithm {name!r} has no parameter {given!r}. {hint}")
    made: Algorithm = kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in parameters.items()})
    return made
