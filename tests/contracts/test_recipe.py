"""The newcomer's recipe of CONTRIBUTING.md, carried out: one new file, one line in a dictionary, nothing else.

Each is done in a copy of the sources, and the contract suite must find the newcomer there and let it pass.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "kanopy"

BUILDER = '''
"""Halves of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from kanopy._parameter_types import Integer
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.column import Column
from kanopy.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True)
class Halves(Builder):
    """The lower and the upper half of the values, in their order, and all of them above."""

    method: ClassVar[str] = "halves"
    summary: ClassVar[str] = "the lower and the upper half of the values"
    parts: Annotated[int, Integer(2), "how many parts instead of two"] = 2

    def build_column(self, column: Column) -> Hierarchy:
        names = column.labels()
        size = -(-len(names) // self.parts)
        rows = [[name, f"part {place // size + 1}", "*"] for place, name in enumerate(names)]
        return Hierarchy.from_rows(rows, name=column.name)
'''
MODEL = '''
"""Classes of even size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from kanopy._arrays import Mask
from kanopy._core.classes import Classes
from kanopy._parameter_types import Integer
from kanopy.privacy.base import Model


@dataclass(frozen=True)
class Multiples(Model):
    """The size of every class is a multiple of a number, as it is where everybody answers with a partner."""

    of: Annotated[int, Integer(2), "the number"]
    name, example = "multiples", "multiples:2"
    summary = "Multiples: the size of every class is a multiple of a number."
    monotonic = True

    def violated(self, classes: Classes) -> Mask:
        return np.asarray(classes.sizes % self.of != 0, np.bool_)

    def explain(self) -> str:
        return f"The size of every class is a multiple of {self.of}."
'''
ALGORITHM = '''
"""The coarsest release."""

from __future__ import annotations

from dataclasses import dataclass

from kanopy._progress import Progress
from kanopy.search.problem import Problem
from kanopy.search.partition_solution import release_levels
from kanopy.search.solution import About, Algorithm, Solution


@dataclass(frozen=True)
class Highest(Algorithm):
    """Publishes every column at the highest level that the job allows, whatever the table is.

    **Guarantee.** None but safety: no other full-domain release is coarser. **Cost.** One look at the table. **Do not
    use it** where anything else finds a release.
    """

    name, recoding = "highest", "full-domain"
    about = About("publishes every column at its highest level", "this test", models="any", weights=False, units=True)

    def search(self, problem: Problem, progress: Progress) -> Solution:
        return release_levels(self.name, problem, problem.evaluate(problem.lattice.highest))
'''
READER = '''
"""Ontologies of lines such as `heron < bird`."""

from __future__ import annotations

from pathlib import Path

from kanopy._errors import OntologyError
from kanopy._files import read_text
from kanopy.ontology.taxonomy import Concept, Taxonomy

SAMPLE = "bird < animal\\nfish < animal\\nheron < bird\\ntrout < fish\\n"


def read_pairs(path: Path) -> Taxonomy:
    """One link a line."""
    parents: dict[str, list[str]] = {}
    for number, line in enumerate(read_text(path, OntologyError).splitlines(), 1):
        child, _, parent = (part.strip() for part in line.partition("<"))
        if not child or not parent:
            raise OntologyError(f"{path.name}, line {number}: expected child < parent, found {line!r}.")
        parents.setdefault(child, []).append(parent)
        parents.setdefault(parent, [])
    concepts = (Concept(name, (name,), tuple(above), 0) for name, above in parents.items())
    return Taxonomy.from_concepts(concepts, name=path.stem, source=path.name)
'''
RECIPES = {
    "builder": ("hierarchy/builders/halves.py", BUILDER, "hierarchy/builders/registry.py", "halves", "Halves"),
    "model": ("privacy/multiples.py", MODEL, "privacy/models.py", "multiples", "Multiples"),
    "algorithm": ("search/full_domain/highest.py", ALGORITHM, "search/algorithms.py", "highest", "Highest"),
    "reader": ("ontology/readers/pairs.py", READER, "ontology/load.py", ".pairs", "read_pairs"),
}


def linked(source: str, target: str) -> None:
    os.symlink(source, target)


@pytest.mark.parametrize(
    "kind", [kind if kind == "builder" else pytest.param(kind, marks=pytest.mark.slow) for kind in RECIPES]
)
def test_one_file_and_one_line_are_enough(kind: str, tmp_path: Path) -> None:
    file, text, dictionary, name, thing = RECIPES[kind]
    copy = tmp_path / "kanopy"
    shutil.copytree(SOURCES, copy, copy_function=linked, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / file).write_text(text.lstrip(), encoding="utf-8")
    lines = (copy / dictionary).read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if ": Named[" in line)
    end = next(number for number in range(start, len(lines)) if lines[number] == "    },\n")
    module = ".".join(("kanopy", *Path(file).with_suffix("").parts))
    lines.insert(end, f'        "{name}": "{module}:{thing}",\n')
    (copy / dictionary).unlink()
    (copy / dictionary).write_text("".join(lines), encoding="utf-8")
    suite = [
        ROOT / "tests" / "contracts" / f"test_{each}.py" for each in ("algorithms", "builders", "models", "readers")
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rp", "-p", "no:cacheprovider", "-k", name, *map(str, suite)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("PASSED") >= 4, done.stdout[-3000:]
