"""The proved lower bound on the Adult example of ARX, where its files are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from kanopy._table.sources import read_table
from kanopy.engine.local import LocalEngine
from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.bound import lower_bound
from kanopy.search.local.best.best import Best
from kanopy.search.problem import Problem

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "arx_adult"

BY_UPDATES = {2: 0.0173, 5: 0.0421, 10: 0.0621, 100: 0.1623}
"""What multiplicative updates of the prices prove in 6 to 11 passes of 8 s each."""


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.exists(), reason="needs the Adult example of ARX beside the project (shared/data)")
@pytest.mark.parametrize(("k", "passes"), [(2, 4), (5, 5), (100, 4)])
def test_the_bound_is_higher_than_by_multiplicative_updates(k: int, passes: int) -> None:
    frame = read_table(FOLDER / "adult.csv")
    files = find_hierarchies(FOLDER, frame.columns)
    hierarchies = {name: read_hierarchy(files[name], column=name) for name in frame.columns}
    problem = Problem(LocalEngine().count(frame, hierarchies).domain, [KAnonymity(k)])
    found = lower_bound(problem, passes=passes)
    assert found.value >= BY_UPDATES[k]
    assert found.value <= Best(steps=1).solve(problem).score
    assert found.left_out == ()
    assert found.checked == 12_960
