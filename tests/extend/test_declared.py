"""Nothing is asked by name: what an algorithm, model, builder, masking or measure can do is declared by its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kanopy
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.ontology.similarity.measures import MEASURES
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS
from kanopy.search.full_domain.optimal import Optimal
from kanopy.treatments.registry import TREATMENTS

SOURCES = Path(kanopy.__file__).parent
REGISTERED = {*ALGORITHMS, *MODELS, *BUILDERS, *MASKINGS, *MEASURES, *TREATMENTS}
ORDINARY = {name for name in REGISTERED if name.isalpha() and name in (
    "k", "suppress", "path", "prefix", "ontology", "order", "groups", "frequency", "dates", "round", "cuts", "widths",
    "hash", "mask", "shuffle",
)}  # fmt: skip
"""Words that mean other things as well: they count where the name, method or the like of something is compared."""
ASKS = {"name", "method", "algorithm", "model", "builder", "kind", "measure"}
OTHER_MEANINGS = {
    ("verify/treatments.py", "format-preserving"): "verification has a check per treatment, and imports none of them",
    ("_job/guess.py", "suppress"): "the method that this file wrote into the guessed job itself",
    ("assistant/levels.py", "classification"): "the name of a parameter of several builders",
    ("app/tasks/trees.py", "k"): "the parameter k of a builder",
    ("masking/job.py", "k"): "the setting k of a job",
}
"""Where a text that is also a registered name means something else."""


def asks(node: ast.AST) -> bool:
    """Whether what is compared is the name, the method or the like of something."""
    spoken = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    subscripts = [each.slice for each in ast.walk(node) if isinstance(each, ast.Subscript)]
    spoken |= {each.value for each in subscripts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    spoken |= {str(one.value) for each in calls for one in each.args[:1] if isinstance(one, ast.Constant)}
    return bool(spoken & ASKS)


def asked_by_name(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Registered names that code compares with, looks up or matches, with their lines."""
    constants = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and node.value.value in REGISTERED
    }
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node]
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Tuple | ast.Set | ast.List):
            # A collection of several names waits to be consulted.
            texts = [each.value for each in node.value.elts if isinstance(each, ast.Constant)]
            parts = [node.value] if len(texts) > 1 and REGISTERED.issuperset(texts) else []
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Dict)
        ):
            parts = [key for key in node.func.value.keys if key is not None]
        for part in parts:
            own = part.elts if isinstance(part, ast.Tuple | ast.Set | ast.List) else [part]
            yield from (
                (str(constants[one.id]), one.lineno) for one in own if isinstance(one, ast.Name) and one.id in constants
            )
            for each in ast.walk(part):
                if not isinstance(each, ast.Constant) or each.value not in REGISTERED:
                    continue
                if each.value not in ORDINARY or asks(node):
                    yield each.value, each.lineno


def test_no_code_asks_for_a_registered_name() -> None:
    found = {
        (str(path.relative_to(SOURCES)), name): line
        for path in SOURCES.rglob("*.py")
        for name, line in asked_by_name(ast.parse(path.read_text(encoding="utf-8")))
    }
    asked = [
        f"{path}:{line} asks for {name!r}" for (path, name), line in found.items() if (path, name) not in OTHER_MEANINGS
    ]
    assert not asked, "declare what the class can do instead:\n" + "\n".join(asked)
    assert not OTHER_MEANINGS.keys() - found.keys(), "exceptions that nothing needs any more"


@pytest.mark.parametrize(
    "code",
    [
        'job.algorithm == "best"',
        'builder.method != "ontology"',
        'model.name == "k"',
        'FAST = "xu"\nfast = name == FAST',
        'name in ("optimal", "incognito")',
        'FAST = ("datafly", "mondrian")',
        'need = {"l-distinct": "l"}.get(model.name)',
        'match name:\n    case "fusion":\n        pass',
    ],
)
def test_asking_by_name_is_noticed(code: str) -> None:
    assert list(asked_by_name(ast.parse(code)))


class Mine(Optimal):
    """The search for the optimum under another name."""

    name = "mine"


def test_a_search_under_another_name_is_the_same_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its numbers are cut for the release, its tree is limited, and it answers where the table lies."""
    from kanopy.release.out_of_core import why_in_memory
    from kanopy.release.pushdown.steps import why_not_pushdown

    monkeypatch.setitem(ALGORITHMS, "mine", Mine)
    table = kanopy.read_table(kanopy.datasets.path("adult.parquet")).head(2000)
    jobs = [
        kanopy.Job(quasi=["age", "sex", "race"], k=5, suppress=0.02, algorithm=name) for name in ("optimal", "mine")
    ]
    one, two = (kanopy.anonymize(table, job) for job in jobs)
    assert two.losses == one.losses and two.data.equals(one.data)
    assert two.solution is not None and two.solution.optimal
    models = ["l-recursive:salary-class:3,2"]
    for job in jobs:
        assert why_not_pushdown(job.replaced(models=models)) is None and why_in_memory(job) is None
