"""Groups that a model over sensitive columns finds unsafe are merged until it agrees."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Sensitive
from kanopy._errors import NoSolution
from kanopy.privacy.models import KAnonymity, Model
from kanopy.search.clustering.groups import merge_until_safe
from kanopy.search.clustering.kmember import KMember, k_member_clusters
from kanopy.search.clustering.mondrian import Mondrian
from kanopy.search.problem import Problem
from tests.search.clustering_support import domains


@dataclass(frozen=True)
class TwoDifferent(Model):
    """Every class holds at least `least` different sensitive values."""

    least: ClassVar[int] = 2
    name: ClassVar[str] = "two-different"

    @property
    def sensitive(self):
        return ("ill",)

    def violated(self, classes):
        return (classes.histograms["ill"] > 0).sum(axis=1) < self.least

    def explain(self):
        return "Every class holds different values of ill."


@settings(max_examples=40, deadline=None)
@given(domains(most_rows=30), st.integers(2, 4), st.data(), st.booleans())
def test_unsafe_groups_are_merged(drawn, k, data, cut):
    domain, free = drawn
    k = min(k, domain.rows)
    codes = data.draw(st.lists(st.integers(0, 1), min_size=domain.rows, max_size=domain.rows))
    domain = replace(domain, sensitive=(Sensitive("ill", ("no", "yes"), np.array(codes, np.int32)),))
    models = [KAnonymity(max(k, 2)), TwoDifferent()]
    groups = k_member_clusters(domain, k, free=free)
    if len(set(codes)) < 2:
        with pytest.raises(NoSolution, match="Even all rows together"):
            merge_until_safe(groups, Problem(domain, models))
        return
    safe, _ = merge_until_safe(groups, Problem(domain, models))
    recoding = safe.recoding(domain)
    classes = recoding.class_of_group[recoding.group_of_row]
    for number in set(classes.tolist()):
        assert len(set(np.array(codes)[classes == number])) == 2
    assert safe.sizes.sum() == domain.rows
    placed = safe.measure.positions[domain.tuple_of_row]
    for row, group in enumerate(safe.of_row):
        assert (safe.low[group] <= placed[row]).all() and (placed[row] <= safe.high[group]).all()
    if domain.rows >= 2:
        algorithm = Mondrian(free=free) if cut else KMember(free=free)
        solution = algorithm.solve(Problem(domain, models))
        assert solution.recoding.classes.smallest >= 2
