"""Mondrian: twins agree, every part is large enough, strict parts do not overlap, our cuts lose less."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import Cancelled, HierarchyError, JobError, NoSolution
from kanopy._progress import Progress
from kanopy.hierarchy.builders.divisors import Dbgh
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.clustering.costs import make_measure
from kanopy.search.clustering.mondrian import Mondrian, mondrian_groups
from kanopy.search.clustering.mondrian_kernel import CLASSES, PARTS, WRITTEN, Rules, cut_parts, make_work
from kanopy.search.problem import Problem
from kanopy_papers.campan2011 import ATTRIBUTES, adult_domain
from tests.kernels import clustering_definitions
from tests.search.clustering_support import CATEGORIES, domains, make_domain, multiplicity


@settings(max_examples=60, deadline=None)
@given(domains(most_rows=60), st.integers(1, 6), st.booleans(), st.integers(0, 40), st.integers(1, 3))
def test_kernel_and_plain_twin_agree(drawn, k, strict, look, tries):
    domain, free = drawn
    measure = make_measure(domain, free, (), 2 * domain.rows + k)
    results = []
    for run in (cut_parts, cut_parts.plain, clustering_definitions.cut_parts):
        work, scratch = make_work(measure.positions, domain.counts, k)
        while work.state[PARTS] > 0:
            run(measure.lines, measure.positions, work, scratch, Rules(k, strict, look, tries), 10)
        written = int(work.state[WRITTEN])
        parts = [x[:written].tolist() for x in (work.out_tuples, work.out_counts, work.out_classes)]
        results.append((parts, int(work.state[CLASSES])))
    assert results[0] == results[1] == results[2]


@settings(max_examples=60, deadline=None)
@given(domains(most_rows=60), st.integers(1, 6), st.booleans(), st.sampled_from(["loss", "widest"]))
def test_parts_are_large_enough_and_cover_their_rows(drawn, k, strict, cut):
    domain, free = drawn
    k = min(k, domain.rows)
    groups = mondrian_groups(domain, k, strict=strict, cut=cut, free=free)
    assert (groups.sizes >= k).all() and groups.sizes.sum() == domain.rows
    placed = groups.measure.positions[domain.tuple_of_row]
    for part in range(groups.count):
        rows = placed[groups.of_row == part]
        assert rows.min(axis=0).tolist() == groups.low[part].tolist()
        assert rows.max(axis=0).tolist() == groups.high[part].tolist()
    if strict:
        owners = {tuple(row): part for row, part in zip(multiplicity(domain), groups.of_row, strict=True)}
        assert [owners[row] for row in multiplicity(domain)] == groups.of_row.tolist()
        boxes = list(zip(groups.low.tolist(), groups.high.tolist(), strict=True))
        for i, (low, high) in enumerate(boxes):
            for other_low, other_high in boxes[:i]:
                apart = [h < ol or oh < lo for lo, h, ol, oh in zip(low, high, other_low, other_high, strict=True)]
                assert any(apart)


@settings(max_examples=40, deadline=None)
@given(domains(most_rows=50), st.integers(2, 5))
def test_strict_parts_publish_nodes_that_do_not_overlap(drawn, k):
    domain, _ = drawn
    k = min(k, domain.rows)
    recoding = mondrian_groups(domain, k, strict=True).recoding(domain)
    sets = [
        [set(h.leaves_under(int(recoding.nodes[j][codes[j]]))) for j, h in enumerate(domain.hierarchies)]
        for codes in recoding.codes
    ]
    for i, mine in enumerate(sets):
        for other in sets[:i]:
            assert any(a.isdisjoint(b) for a, b in zip(mine, other, strict=True))


def test_relaxed_cuts_share_equal_tuples_lowest_rows_first():
    tree = Iotf().build([1, 2])
    domain = make_domain([[0, 1, 0, 0, 0, 0]], [tree])
    groups = mondrian_groups(domain, 3, free=("a",))
    assert sorted(groups.sizes.tolist()) == [3, 3]
    assert groups.of_row[[0, 2, 3]].tolist() == [0, 0, 0] and groups.of_row[[1, 4, 5]].tolist() == [1, 1, 1]


def test_adult_reaches_the_published_penalty_and_our_cuts_beat_the_textbooks():
    domain = adult_domain("Free")
    for k, most in ((5, 0.0062), (10, 0.0120), (25, 0.0240)):
        ours = mondrian_groups(domain, k, free=ATTRIBUTES)
        textbook = mondrian_groups(domain, k, cut="widest", free=ATTRIBUTES)
        assert float(ours.total_loss()) <= most
        assert float(ours.total_loss()) < 0.7 * float(textbook.total_loss())
        assert ours.sizes.min() >= k
        strict = mondrian_groups(domain, k, strict=True, free=ATTRIBUTES)
        assert strict.total_loss() < mondrian_groups(domain, k, strict=True, cut="widest", free=ATTRIBUTES).total_loss()


def test_solution_goes_through_the_shared_shapes():
    ages = Iotf().build([17, 18, 25, 40, 41])
    domain = make_domain([[0, 1, 2, 3, 4, 0], [0, 2, 3, 1, 1, 4]], [ages, Hierarchy.from_rows(CATEGORIES)])
    for algorithm in (Mondrian(), Mondrian(strict=True), Mondrian(cut="widest", free=("a",))):
        solution = algorithm.solve(Problem(domain, [KAnonymity(2)]))
        assert solution.algorithm == "mondrian" and solution.recoding.classes.smallest >= 2


def test_bad_input_has_its_own_words():
    tree = Iotf().build([1, 2, 3])
    domain = make_domain([[0, 1, 2]], [tree])
    with pytest.raises(NoSolution, match="fewer than k = 4"):
        mondrian_groups(domain, 4)
    with pytest.raises(JobError, match="Did you mean 'widest'"):
        Mondrian(cut="wides")
    loose = Dbgh(min_width=10, high=100, chain=False).build(np.arange(1, 101))
    with pytest.raises(HierarchyError, match="does not nest"):
        mondrian_groups(make_domain([np.arange(100)], [loose]), 2)
    constant = make_domain([[0, 0, 0, 0]], [Iotf().build([9])])
    assert mondrian_groups(constant, 2).count == 1
    with pytest.raises(Cancelled):
        mondrian_groups(domain, 1, progress=Progress(lambda step: False))
