"""Every bug ever found keeps a test here."""

from __future__ import annotations

import kanopy


def test_a_label_repeated_at_a_higher_level_is_one_published_label() -> None:
    """k-member published "White" from two nodes; the classes claimed and the classes found differed by one."""
    race = kanopy.Hierarchy.from_rows([["w", "w", "*"], ["b", "other", "*"], ["a", "other", "*"]])
    people = {"race": ["w", "w", "w", "w", "b", "a"], "age": [30, 30, 41, 42, 50, 51]}
    job = kanopy.Job(
        quasi=["race", "age"], k=2, algorithm="k-member",
        hierarchies={"race": race, "age": {"method": "iotf"}},
    )  # fmt: skip
    result = kanopy.anonymize(people, job)
    assert result.verification.smallest_class >= 2


def test_local_recoding_of_all_of_adult_verifies() -> None:
    """Two nodes with one label made the count of classes differ from the published labels."""
    job = kanopy.Job(
        quasi=["age", "race", "sex"], k=5, algorithm="mondrian", hierarchies=kanopy.datasets.adult_hierarchies()
    )
    result = kanopy.anonymize(kanopy.datasets.adult(), job)
    assert kanopy.check(result.data, quasi=job.quasi).k >= 5


def test_a_column_of_record_numbers_stays_home() -> None:
    """A unique column called id was published as insensitive: it points at one person in every row."""
    people = {"id": list(range(6)), "age": [30, 30, 30, 40, 40, 40], "shop no": [1, 1, 1, 1, 2, 2]}
    result = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3))
    assert list(result.data) == ["age", "shop no"]
    assert "'id' was left out" in result.notes[0]
    kept = kanopy.anonymize(people, kanopy.Job(quasi=["age"], k=3, insensitive=["id"]))
    assert "id" in kept.data
