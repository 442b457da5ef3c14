"""Places where a random fault in the source went unnoticed: each has a test of what a user sees there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl

from kanopy._table.guessing.guess import Guess
from kanopy._table.official.classified import with_classified_roles
from kanopy._table.roles import Role
from kanopy.classifications.classification import Classification
from kanopy.hierarchy.builders.official.classified import narrowest_parents
from kanopy.hierarchy.quantities import read_quantities
from kanopy.linked.linked_result import LinkedResult
from kanopy.ontology.load import read_ontology
from kanopy.verify.treatments import _moments


def test_a_point_is_decimal_where_all_values_have_one_and_refused_where_one_has_none() -> None:
    numbers, _ = read_quantities(["1.200 kg", "2.500 kg"])  # type: ignore[misc]
    assert [float(number) for number in numbers] == [1.2, 2.5]
    assert read_quantities(["1.200 kg", "2.500 kg", "3 kg"]) is None


def test_ontologies_are_joined_by_a_plus(tmp_path: Path) -> None:
    for name, line in (("birds", "heron,bird"), ("fish", "trout,fish")):
        (tmp_path / f"{name}.csv").write_text(f"child,parent\n{line}\n", encoding="utf-8")
    joined = read_ontology(f"{tmp_path / 'birds.csv'}+{tmp_path / 'fish.csv'}")
    assert joined.knows("heron") and joined.knows("trout")
    assert not read_ontology(tmp_path / "birds.csv").knows("trout")


def test_all_three_promises_of_several_tables_are_sentences() -> None:
    def promise(rows_known: int | None) -> str:
        job = SimpleNamespace(k=5, known_rows=rows_known)
        result = SimpleNamespace(job=job, related=SimpleNamespace(people="patients"))
        return str(LinkedResult.promise.fget(result))  # type: ignore[attr-defined]

    assert promise(None) == "All published rows of a person in all tables together are shared by at least 5 people."
    assert promise(0) == "Every published row of a person in 'patients' is shared by at least 5 people."
    assert promise(2).startswith("The published data of a person together with any 2 rows of theirs")


def test_at_most_five_choices_of_parents_are_named_and_the_rest_counted() -> None:
    values = [f"v{number}" for number in range(7)]
    rows = [("a", "left", ""), ("b", "right", ""), *((value, value, ("a", "b")) for value in values)]
    _, notes = narrowest_parents(Classification.from_rows(rows, name="two ways"), np.arange(2, 9, dtype=np.int32))
    assert notes[0].count(" under ") == 5 and notes[0].endswith("and 2 more.")


def test_diagnoses_that_nobody_decided_about_stay_undecided_only_where_each_is_rare() -> None:
    codes = ["I10", "E11.9", "J45", "F32.1", "K21.9", "M54.5", "N39.0", "I25.1", "I10"]

    def role_of(before: Role, values: list[str]) -> Role:
        guess = Guess("diagnosis", before, "nothing is known", None)
        return with_classified_roles(pl.DataFrame({"diagnosis": values}), [guess])[0].role

    assert role_of(Role.UNDECIDED, codes) == Role.UNDECIDED
    assert role_of(Role.INSENSITIVE, codes) == Role.SENSITIVE
    assert role_of(Role.UNDECIDED, codes * 2) == Role.SENSITIVE


def test_dates_are_verified_as_microseconds() -> None:
    days = pl.Series("day", ["1970-01-02", None])
    assert _moments(days.str.to_date(), None).to_list() == [86_400_000_000, None]
