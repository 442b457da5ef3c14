"""Minimality attack and downcoding: the examples of the papers, brute force on small classes, and what closes them."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy import Hierarchy
from kanopy._errors import JobError
from kanopy.attacks.minimal import assignments_left, downcoding, minimality, remaining_share
from kanopy.attacks.minimal_release import minimal_release
from kanopy.privacy.models import make_models
from kanopy.release.prepare import make_problem, prepare
from kanopy.release.run import search
from kanopy.search.margin.within import candidates_within
from tests.attacks.test_anonymeter import table_of

ZIPS = Hierarchy.flat(["a", "b"])
WONG = pl.DataFrame({"zip": list("aabbb"), "ill": ["HIV", "HIV", "flu", "cold", "ok"]})
MODELS = ["k:2", "l-distinct:ill:2"]


def attack_wong(original: pl.DataFrame, released: pl.DataFrame, models: list[str] = MODELS):
    return minimal_release(
        original, released, np.arange(original.height), quasi=["zip"], sensitive=["ill"], hierarchies={"zip": ZIPS},
        models=make_models(models), k=2, local=False, random=np.random.default_rng(1),
    ).minimality[0]  # fmt: skip


def test_the_example_of_wong() -> None:
    """Two of five rows have zip a; the release publishes `*` (k = 2, two different values). At the level below, only
    class a can have violated the model: its people have the same illness, and only HIV occurs twice."""
    job = kanopy.Job(quasi="zip", sensitive="ill", k=2, models="l-distinct:ill:2", hierarchies={"zip": ZIPS})
    released = kanopy.anonymize(WONG, job).data
    assert released["zip"].to_list() == ["*"] * 5, "the minimal release is the one of the example"
    found = attack_wong(WONG, released)
    assert (found.believed, found.people, found.promised) == (1.0, 2, 0.5)
    assert found.by_frequency == 0.4 and found.exact


def test_beliefs_equal_those_of_every_world_run_as_a_job() -> None:
    """The oracle: each world is a table of its own, and credible if the job makes the same release of it."""
    values = ["x", "x", "y", "z", "z"]
    table = pl.DataFrame({"zip": list("aabbb"), "ill": values})
    job = kanopy.Job(quasi="zip", sensitive="ill", k=2, models="l-distinct:ill:2", hierarchies={"zip": ZIPS})
    released = kanopy.anonymize(table, job).data
    worlds = sorted(set(permutations(values)))
    credible = []
    for world in worlds:
        other = kanopy.anonymize(table.with_columns(ill=pl.Series(world)), job).data
        if other["zip"].to_list() == released["zip"].to_list():
            credible.append(world)
    share = max(
        sum(world[place] == value for world in credible) / len(credible) for place in range(5) for value in "xyz"
    )
    found = attack_wong(table, released)
    assert (found.worlds, found.credible) == (len(worlds), len(credible))
    assert found.believed == pytest.approx(share)


def test_a_level_fixed_before_closes_it() -> None:
    """With the level fixed, nothing finer was possible: all worlds are credible, and beliefs are frequencies."""
    found = minimality(
        "ill", np.array([0, 0, 1, 2, 3], np.int32), np.zeros(5, np.int64), [], make_models(MODELS),
        random=np.random.default_rng(1),
    )  # fmt: skip
    assert found.believed == pytest.approx(found.by_frequency) and found.people == 0


def test_a_margin_closes_it() -> None:
    """The attacker knows the margin too: he weighs every world by how probable it makes the release. The weights are
    counted by running the job's search in every world; by hand: 6 worlds allow the release alone, 54 one more, and the
    person has HIV in the 6 and in 18 of the 54, so he believes (6 + 18 / 2) / (6 + 54 / 2)."""
    job = kanopy.Job(
        quasi="zip", sensitive="ill", k=2, models="l-distinct:ill:2", hierarchies={"zip": ZIPS}, margin=1.0
    )
    belief = total = 0.0
    for world in permutations(WONG["ill"].to_list()):
        prepared = prepare(WONG.with_columns(ill=pl.Series(world)), job)
        found = search(prepared, job)
        possible = candidates_within(make_problem(prepared.domain, job), found.score + job.margin)
        chance = ((1,) in possible) / len(possible)
        total += chance
        belief += chance * (world[0] == "HIV")
    assert belief / total == pytest.approx(15 / 33) and belief / total < 1 / 2
    world = WONG.with_columns(ill=pl.Series(["HIV", "flu", "HIV", "cold", "ok"]))
    drawn = [kanopy.anonymize(world, job, key=f"a secret key {n:09}".encode()) for n in range(60)]
    stars = sum(each.data["zip"][0] == "*" for each in drawn)
    assert 15 < stars < 45, "both releases are equally likely"
    told = {(each.solution.optimal, each.solution.floor, each.solution.judged, *each.notes) for each in drawn}
    assert len(told) == 1, "nothing tells which of the two it is, or what the least loss was"
    again = kanopy.anonymize(world, job, key=b"a secret key 000000007").data
    assert again.equals(kanopy.anonymize(world, job, key=b"a secret key 000000007").data)


def test_a_margin_makes_downcoding_err() -> None:
    """Cohen 2022: in a class of two with two children each member knows the other's, if the release is minimal. With a
    margin some such classes hold two of the same child, and nobody but the owner of the key knows which."""
    table = pl.DataFrame({"sex": list("ffffmmmmfm"), "age": ["y"] * 4 + ["o"] * 4 + ["z"] * 2})
    trees = {"sex": Hierarchy.flat(["f", "m"]), "age": Hierarchy.flat(["y", "o", "z"])}
    job = kanopy.Job(quasi="sex,age", k=2, algorithm="best", parameters={"steps": 20}, hierarchies=trees)
    minimal = kanopy.anonymize(table, job)
    truth = {"sex": np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1])}

    def attacked(result: kanopy.Result) -> tuple[int, int]:
        keys = list(zip(result.data["sex"].to_list(), result.data["age"].to_list(), strict=True))
        classes = list(dict.fromkeys(keys))
        found = downcoding(
            ["sex"], {"sex": [sex for sex, _ in classes]}, np.array([classes.index(key) for key in keys]), trees, 2,
            truth,
        )[0]  # fmt: skip
        return found.certain_for_members, found.not_minimal

    assert attacked(minimal) == (2, 0)
    wrong = []
    for seed in range(20):
        result = kanopy.anonymize(table, job.replaced(margin=0.5), key=f"a secret key {seed:09}".encode())
        assert minimal.solution.score <= result.solution.score <= minimal.solution.score + 0.5
        assert result.smallest_class >= 2
        wrong.append(attacked(result)[1])
    assert 0 < sum(each > 0 for each in wrong) < 20


def test_a_margin_is_used_or_refused(tmp_path: Path) -> None:
    table, trees = WONG.with_columns(ill=pl.Series(list("xyzxy"))), {"zip": ZIPS}
    fixed = {"min_levels": {"zip": 1}, "max_levels": {"zip": 1}}
    for more, message in (
        ({"margin": -0.1}, "at least 0"), (fixed, "labels are searched for"),
        ({"algorithm": "bayardo-agrawal"}, "no nodes of a hierarchy"),
    ):  # fmt: skip
        with pytest.raises(JobError, match=message):
            kanopy.anonymize(table, kanopy.Job(**{"quasi": "zip", "k": 2, "hierarchies": trees, "margin": 0.5, **more}))
    table.write_csv(tmp_path / "in.csv")
    with pytest.raises(JobError, match="draws a release within"):
        job = kanopy.Job(quasi="zip", k=2, hierarchies=trees, margin=0.5)
        kanopy.anonymize(tmp_path / "in.csv", job, engine="stream", output=tmp_path / "out.csv")


def test_k_anonymity_alone_tells_nothing_of_sensitive_values() -> None:
    found = attack_wong(WONG, WONG.with_columns(zip=pl.lit("*")), ["k:3"])
    assert found.credible == found.worlds and found.believed == pytest.approx(found.by_frequency)


@pytest.mark.parametrize(
    ("rows", "children", "k"), [(n, m, k) for n, m, k in product(range(2, 7), range(2, 4), range(1, 4)) if n >= k]
)
def test_shares_equal_a_count_of_all_assignments(rows: int, children: int, k: int) -> None:
    left = assignments_left(rows, children, k)
    assert remaining_share(rows, children, k) == pytest.approx(len(left) / children**rows)


@pytest.mark.parametrize(("rows", "children", "k"), [(2, 2, 2), (2, 3, 2), (3, 2, 2), (3, 2, 3), (4, 2, 2)])
def test_certain_rows_equal_a_count_of_all_assignments(rows: int, children: int, k: int) -> None:
    """Downcoding of a class with k = n = 2 and two children is certain for its members (Cohen 2022), and only there."""
    left = assignments_left(rows, children, k)
    certain = sum(len({each[row] for each in left}) == 1 for row in range(rows))
    members = 0
    for row in range(rows):
        told = [
            len({each[row] for each in left if each[own] == value}) == 1
            for own in range(rows) if own != row for value in {each[own] for each in left}
        ]  # fmt: skip
        members += all(told)
    tree = Hierarchy.flat(["c", "d", "e"][:children])
    found = downcoding(["x"], {"x": ["*"]}, np.zeros(rows, np.int64), {"x": tree}, k)[0]
    assert (found.certain_rows, found.certain_for_members) == (certain, members)


@pytest.mark.slow
def test_on_adult_the_number_of_people_concerned_is_told() -> None:
    adult = table_of("adult")[:800].select("age", "education", "sex", "occupation")
    job = kanopy.Job(
        quasi="age,education,sex", sensitive="occupation", k=5, algorithm="mondrian", models="l-distinct:occupation:3",
        hierarchies={"age": {"method": "widths", "widths": [5, 10, 20, 40]}},
    )  # fmt: skip
    result = kanopy.anonymize(adult, job)
    found = minimal_release(
        adult, result.data, np.arange(adult.height), quasi=list(job.quasi), sensitive=["occupation"],
        hierarchies=dict(result.hierarchies), models=job.all_models, k=5, random=np.random.default_rng(1),
    )  # fmt: skip
    assert found.local
    assert {each.column for each in found.downcoding} == {"age", "education", "sex"}
    assert any(each.narrowed_rows for each in found.downcoding)
    assert 0 < found.minimality[0].believed <= 1
