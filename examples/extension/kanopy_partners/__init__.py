"""A privacy model, a hierarchy builder, an algorithm and a reader of ontologies, in a package of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from kanopy.extend import (
    About,
    Algorithm,
    Builder,
    Classes,
    Column,
    Concept,
    Hierarchy,
    Integer,
    Model,
    OntologyError,
    Problem,
    Progress,
    Solution,
    Taxonomy,
    release_levels,
)


@dataclass(frozen=True)
class Partners(Model):
    """The size of every class is a multiple of a number, as it is where everybody answers with a partner."""

    of: Annotated[int, Integer(2), "how many answer together"] = 2
    name, example = "partners", "partners:2"
    summary = "Partners: the size of every class is a multiple of a number."
    monotonic = True  # two classes of such sizes have such a size together

    def violated(self, classes: Classes) -> Any:
        return np.asarray(classes.sizes % self.of != 0)

    def explain(self) -> str:
        return f"The size of every class is a multiple of {self.of}."


@dataclass(frozen=True)
class Parts(Builder):
    """Parts of equally many values, in the order of the values, and all of them above."""

    parts: Annotated[int, Integer(2), "how many parts"] = 2
    method, summary = "parts", "parts of equally many values, in the order of the values"

    def build_column(self, column: Column) -> Hierarchy:
        values = column.labels()
        size = -(-len(values) // self.parts)
        rows = [[value, f"part {place // size + 1}", "*"] for place, value in enumerate(values)]
        return Hierarchy.from_rows(rows, name=column.name)


@dataclass(frozen=True)
class Coarsest(Algorithm):
    """Publishes every column at the highest level that the job allows, whatever the table is.

    **Guarantee.** None but safety: no other release of one level per column is coarser. **Cost.** One judgement.
    """

    name, recoding = "coarsest", "full-domain"
    about = About(
        "publishes every column at its highest level", "this example", models="any", weights=False, units=True
    )

    def search(self, problem: Problem, progress: Progress) -> Solution:
        return release_levels(self.name, problem, problem.evaluate(problem.lattice.highest))


SAMPLE = "bird < animal\nfish < animal\nheron < bird\ntrout < fish\n"


def read_pairs(path: Path) -> Taxonomy:
    """An ontology of lines such as `heron < bird`."""
    parents: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        child, _, parent = (part.strip() for part in line.partition("<"))
        if not child or not parent:
            raise OntologyError(f"{path.name}, line {number}: expected child < parent, found {line!r}.")
        parents.setdefault(child, []).append(parent)
        parents.setdefault(parent, [])
    if not parents:
        raise OntologyError(f"{path.name} holds no line such as heron < bird.")
    concepts = (Concept(name, (name,), tuple(above), 0) for name, above in parents.items())
    return Taxonomy.from_concepts(concepts, name=path.stem, source=path.name)
