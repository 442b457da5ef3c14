"""What CONTRIBUTING.md promises: a builder, model, algorithm or reader is one class and one line in a dictionary.

Each is written here as a newcomer would write it, registered, and used through everything that uses its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

import kanopy
from kanopy._core.classes import Classes
from kanopy._parameter_types import Integer
from kanopy._parameters import describe
from kanopy._progress import Progress
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.hierarchy.column import Column
from kanopy.ontology.load import READERS
from kanopy.privacy.base import Model
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS
from kanopy.search.partition_solution import release_levels
from kanopy.search.problem import Problem
from kanopy.search.solution import About, Algorithm, Solution

TENS = {"age": {"method": "widths", "widths": [10]}}
PEOPLE = {"age": [21, 22, 31, 32, 41, 42, 51, 52], "sex": list("ffmmffmm")}


@dataclass(frozen=True)
class Halves(Builder):
    """The lower and the upper half of the values, in their order, and all of them above."""

    method: ClassVar[str] = "halves"
    summary: ClassVar[str] = "the lower and the upper half of the values"
    parts: Annotated[int, Integer(2), "how many parts instead of two"] = 2

    def build_column(self, column: Column) -> kanopy.Hierarchy:
        names = column.labels()
        size = -(-len(names) // self.parts)
        rows = [[name, f"part {place // size + 1}", "*"] for place, name in enumerate(names)]
        return kanopy.Hierarchy.from_rows(rows, name=column.name)


@dataclass(frozen=True)
class Multiples(Model):
    """The size of every class is a multiple of a number."""

    name: ClassVar[str] = "multiples"
    summary: ClassVar[str] = "the size of every class is a multiple of a number"
    example: ClassVar[str] = "multiples:2"
    of: Annotated[int, Integer(2), "the number"] = 2

    def violated(self, classes: Classes) -> Any:
        return np.asarray(classes.sizes % self.of != 0, np.bool_)

    def explain(self) -> str:
        return f"The size of every class is a multiple of {self.of}."


@dataclass(frozen=True)
class Highest(Algorithm):
    """Publishes every column at its highest level, whatever the table is."""

    name: ClassVar[str] = "highest"
    recoding: ClassVar[str] = "full-domain"
    about: ClassVar[About] = About("publishes every column at its highest level", "this test", models="any")

    def search(self, problem: Problem, progress: Progress) -> Solution:
        return release_levels(self.name, problem, problem.evaluate(problem.lattice.highest))


def test_a_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILDERS, Halves.method, Halves)
    assert kanopy.build_hierarchy([1, 2, 3, 4], "halves").labels_at(1) == ("part 1", "part 2")
    job = kanopy.Job(quasi=["age", "sex"], k=2, hierarchies={"age": {"method": "halves", "parts": 4}})
    assert kanopy.anonymize(PEOPLE, job).smallest_class == 2
    assert kanopy.Job.from_toml(job.to_toml()) == job
    assert "parts" in str(describe(Halves))
    with pytest.raises(kanopy.KanopyError, match=r"parts .*must be a whole number of at least 2"):
        kanopy.build_hierarchy([1, 2], "halves", parts=1)


def test_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODELS, Multiples.name, Multiples)
    job = kanopy.Job(
        quasi=["age", "sex"], k=2, models=["multiples:2"], hierarchies={"age": {"method": "widths", "widths": [10]}}
    )
    result = kanopy.anonymize(PEOPLE, job)
    assert result.smallest_class == 2 and kanopy.Job.from_toml(job.to_toml()) == job
    assert not kanopy.check({"a": [1, 1, 1]}, quasi=["a"], models=["multiples:2"]).models[-1].holds


def test_an_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALGORITHMS, Highest.name, Highest)
    result = kanopy.anonymize(PEOPLE, kanopy.Job(quasi=["age", "sex"], k=3, algorithm="highest"))
    assert result.smallest_class == 8 and result.solution is not None and result.solution.algorithm == "highest"
    entries = kanopy.compare(PEOPLE, kanopy.Job(quasi=["age", "sex"], k=3), algorithms=["highest", "optimal"]).entries
    assert {entry.algorithm for entry in entries} == {"highest", "optimal"}


def test_a_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def read_pairs(path: Path) -> Any:
        """Lines such as `heron < bird`."""
        from kanopy.ontology.readers.parent_csv import read_parent_csv

        table = tmp_path / "pairs.csv"
        table.write_text("child,parent\n" + path.read_text().replace(" < ", ","))
        return read_parent_csv(table)

    monkeypatch.setitem(READERS, ".pairs", read_pairs)
    path = tmp_path / "birds.pairs"
    path.write_text("heron < bird\nbird < animal\n")
    assert kanopy.load_ontology(path).size == 3
