"""Models, algorithms, builders and the like of somebody else: passed as objects, offered by packages, kept honest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Annotated, Any

import numpy as np
import pytest

import kanopy
from kanopy._errors import JobError, VerificationFailed
from kanopy._registry import Named
from kanopy.extend import (
    About,
    Algorithm,
    Builder,
    Classes,
    Column,
    ContractBroken,
    Hierarchy,
    Integer,
    Measure,
    Model,
    Problem,
    Progress,
    Solution,
    check,
    release_levels,
)
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS

PEOPLE = {"age": [21, 22, 31, 32, 41, 42, 51, 52], "sex": list("ffmmffmm")}
TENS = {"age": {"method": "widths", "widths": [10]}}


@dataclass(frozen=True)
class Even(Model):
    """The size of every class is a multiple of a number, as it is where everybody answers with a partner."""

    of: Annotated[int, Integer(2), "the number"] = 2
    name, example = "even", "even:2"
    summary = "Even: the size of every class is a multiple of a number."
    monotonic = True

    def violated(self, classes: Classes) -> Any:
        return np.asarray(classes.sizes % self.of != 0)

    def explain(self) -> str:
        return f"The size of every class is a multiple of {self.of}."


@dataclass(frozen=True)
class Parts(Builder):
    """Parts of equally many values, in the order of the values, and all of them above."""

    parts: Annotated[int, Integer(2), "how many parts"] = 2
    method, summary = "parts", "parts of equally many values, in their order"

    def build_column(self, column: Column) -> Hierarchy:
        names = column.labels()
        size = -(-len(names) // self.parts)
        return Hierarchy.from_rows(
            [[each, f"part {i // size + 1}", "*"] for i, each in enumerate(names)], name=column.name
        )


@dataclass(frozen=True)
class Coarsest(Algorithm):
    """Publishes every column at the highest level that the job allows, whatever the table is.

    **Guarantee.** None but safety: no other full-domain release is coarser. **Cost.** One look at the table. **Do not
    use it** where anything else finds a release.
    """

    up: Annotated[int, Integer(0), "levels below the highest"] = 0
    name, recoding = "coarsest", "full-domain"
    about = About("publishes every column at its highest level", "this test", models="any", weights=False, units=True)

    def search(self, problem: Problem, progress: Progress) -> Solution:
        return release_levels(self.name, problem, problem.evaluate(problem.lattice.highest))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """What a test passes is forgotten after it."""
    yield
    MODELS.adopted.clear()
    ALGORITHMS.adopted.clear()


def job(**changes: Any) -> kanopy.Job:
    return kanopy.Job(**({"quasi": ["age", "sex"], "k": 2, "hierarchies": TENS} | changes))


def test_objects_are_passed_to_a_job() -> None:
    wanted = job(models=[Even(2)], algorithm=Coarsest(up=1), hierarchies={"age": Parts(4)})
    assert (wanted.algorithm, wanted.parameters) == ("coarsest", {"up": 1})
    found = kanopy.anonymize(PEOPLE, wanted)
    assert found.smallest_class == 8 and found.solution is not None and found.solution.algorithm == "coarsest"
    assert kanopy.Job.from_toml(wanted.to_toml()).models == wanted.models
    assert kanopy.build_hierarchy([1, 2, 3, 4], "parts").labels_at(1) == ("part 1", "part 2")
    with pytest.raises(JobError, match="Leave the others out"):
        job(algorithm=Coarsest(), parameters={"up": 1})
    assert "coarsest" not in list(ALGORITHMS), "what one program passes is not listed"


@pytest.mark.parametrize("kind", [Even, Parts, Coarsest])
def test_what_keeps_the_contract_is_told_so(kind: type) -> None:
    assert "says_what_it_is" in check(kind)


def test_a_measure_keeps_the_contract_or_not() -> None:
    same = Measure("same", lambda taxonomy, a, b: np.asarray(np.equal(a, b), np.float64), "this test")
    assert check(same)
    with pytest.raises(ContractBroken, match="the directions differ"):
        check(dataclasses.replace(same, name="one-way", function=lambda t, a, b: 1.0 - np.less(a, b)))


def test_what_breaks_the_contract_is_told_why() -> None:
    @dataclass(frozen=True)
    class Odd(Even):
        """Says that it is monotonic, which two odd classes together are not: their sum is even."""

        name, example = "odd", "odd:2"

        def violated(self, classes: Classes) -> Any:
            return np.asarray(classes.sizes % self.of == 0)

    with pytest.raises(ContractBroken, match="declares_what_holds: What it declares"):
        check(Odd)
    with pytest.raises(ContractBroken, match="nothing that extends Kanopy"):
        check(5)


class Unfinished(Model):
    """What the search asked before anybody said that something is missing."""

    name, example, summary = "unfinished", "unfinished:1", "Nothing."


@dataclass(frozen=True)
class InsteadOfK(Even):
    """Wants to stand in for k."""

    name, instead_of_k = "instead", True


@dataclass(frozen=True)
class WeakerT(Even):
    """Calls itself as a model of Kanopy."""

    name = "t-equal"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Unfinished, "does not define violated, explain"), (InsteadOfK, "stand in for k-anonymity"),
     (WeakerT, "'t-equal', which is the name of a privacy model of Kanopy")],
)  # fmt: skip
def test_a_model_that_cannot_be_trusted_is_refused_when_it_is_given(kind: type[Model], reason: str) -> None:
    with pytest.raises(JobError, match=reason):
        job(models=[kind()])


def test_another_class_of_a_name_that_was_passed_is_refused_and_the_same_defined_again_is_not() -> None:
    def defined_again() -> type[Model]:
        @dataclass(frozen=True)
        class Mine(Even):
            """As a notebook defines it again and again."""

            name = "mine-again"

        return Mine

    first, second = defined_again(), defined_again()
    assert job(models=[first()]).models and job(models=[second()]).models
    assert MODELS["mine-again"] is second
    own = {"name": "mine-again"}
    with pytest.raises(JobError, match="have the same name 'mine-again'"):
        job(models=[dataclasses.make_dataclass("Other", [], bases=(Even,), frozen=True, namespace=own)()])


@dataclass(frozen=True)
class Forgetful(Even):
    """Finds classes unsafe when it is asked first, and safe ever after: a second look by the model alone is none."""

    name, example = "forgetful", "forgetful:2"
    asked = 0

    def violated(self, classes: Classes) -> Any:
        type(self).asked += 1
        return np.full(classes.count, type(self).asked % 2 == 0)


@dataclass(frozen=True)
class ByPlace(Even):
    """Never minds the first class, whatever it is."""

    name, example = "by-place", "by-place:2"

    def violated(self, classes: Classes) -> Any:
        return (np.arange(classes.count) > 0) & (classes.sizes < 4)


@dataclass(frozen=True)
class Changing(Even):
    """Makes unsafe classes safe by changing what it is shown."""

    name, example = "changing", "changing:2"

    def violated(self, classes: Classes) -> Any:
        classes.sizes[:] = 1000
        return classes.sizes < 2


@pytest.mark.parametrize("kind", [Forgetful, ByPlace, Changing])
def test_the_second_look_refuses_a_model_that_contradicts_itself(kind: type[Model]) -> None:
    from kanopy.privacy.models import failing

    with pytest.raises(VerificationFailed, match=r"contradicts itself|failed when the release was verified"):
        failing(kind(), Classes(np.array([2, 2, 6])))


def offered(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> Named[Any]:
    """A registry with what packages offer."""
    import importlib.metadata

    found = tuple(EntryPoint(name, value, "kanopy.models") for name, value in points)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: found)
    return Named({"k": "kanopy.privacy.sizes:KAnonymity"}, "privacy model", None, "kanopy.models", MODELS.faults)


HERE = "tests.extend.test_extensions"


def test_packages_are_looked_at_when_their_names_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    known = offered(
        monkeypatch, ("even", f"{HERE}:Even"), ("gone", "no_such_package:Thing"), ("wrong", f"{HERE}:PEOPLE"),
        ("even-more", f"{HERE}:Even"), ("k", f"{HERE}:Even"), ("twice", f"{HERE}:Even"),
        ("twice", f"{HERE}:InsteadOfK"),
    )  # fmt: skip
    assert "offered" not in vars(known)
    assert known.find("k").__name__ == "KAnonymity" and "offered" not in vars(known), "a name of Kanopy asks no package"
    assert known.find("even") is Even and list(known) == ["k", "even"], "what cannot be used is in no list"
    for name, reason in {
        "gone": r"no_such_package:Thing cannot be used: it cannot be loaded \(ModuleNotFoundError: No module",
        "wrong": "not a class that derives from kanopy.extend.Model", "even-more": "calls itself 'even'",
        "twice": "claimed by several packages", "missing": "There is no privacy model called 'missing'",
    }.items():  # fmt: skip
        with pytest.raises(JobError, match=reason):
            known.find(name)
