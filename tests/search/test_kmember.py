"""k-member: the pruned algorithm gives the textbook's clusters, and refuses what cannot be clustered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._errors import Cancelled, DataError, HierarchyError, JobError, NoSolution
from kanopy._progress import Progress
from kanopy.hierarchy.builders.divisors import Dbgh
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.privacy.models import KAnonymity
from kanopy.search.clustering import kmember_kernel as kernel
from kanopy.search.clustering.costs import make_measure
from kanopy.search.clustering.kmember import KMember, k_member_clusters
from kanopy.search.clustering.kmember_kernel import grow_clusters, join_cluster
from kanopy.search.problem import Problem
from tests.kernels import clustering_definitions
from tests.search.clustering_support import CATEGORIES, domains, make_domain, multiplicity, plain_costs, textbook


@settings(max_examples=60, deadline=None)
@given(domains(), st.integers(1, 6), st.data())
def test_clusters_are_the_textbooks(drawn, k, data):
    domain, free = drawn
    k = min(k, domain.rows)
    seed = data.draw(st.integers(0, domain.rows - 1))
    expected = textbook.k_member(multiplicity(domain), plain_costs(domain, free), k, seed)
    groups = k_member_clusters(domain, k, free=free, seed=seed)
    assert groups.of_row.tolist() == expected
    assert groups.measure.exact
    costs, rows = plain_costs(domain, free), multiplicity(domain)
    members = [[i for i, label in enumerate(expected) if label == c] for c in range(max(expected) + 1)]
    spent = sum(len(m) * sum(cost([rows[i][j] for i in m]) for j, cost in enumerate(costs)) for m in members)
    assert groups.total_loss() == spent / (domain.rows * domain.width)


@settings(max_examples=40, deadline=None)
@given(domains(most_rows=60), st.integers(1, 7), st.booleans())
def test_kernel_and_plain_twin_agree(drawn, k, in_slices):
    domain, free = drawn
    k = min(k, domain.rows)
    measure = make_measure(domain, free, (), 2 * k)
    results = []
    for run in (grow_clusters, grow_clusters.plain, clustering_definitions.grow_clusters):
        pool = kernel.make_pool(measure.positions, domain.tuple_of_row)
        boxes = kernel.make_boxes(pool, np.ones(domain.width))
        state = np.array([0, domain.tuple_of_row[0], domain.rows], np.int64)
        count = domain.rows // k
        low, high = np.zeros((count, domain.width), np.int32), np.zeros((count, domain.width), np.int32)
        costs, of_row = np.zeros(count, np.int64), np.full(domain.rows, -1, np.int32)
        # In slices of one cluster: stopping and going on must not change anything.
        for until in range(1, count + 1) if in_slices else [count]:
            run(measure.lines, pool, boxes, state, k, until, low, high, costs, of_row)
        results.append((of_row.tolist(), low.tolist(), high.tolist(), costs.tolist(), state.tolist()))
    assert results[0] == results[1] == results[2]


@settings(max_examples=30, deadline=None)
@given(domains(), st.integers(2, 4))
def test_leftover_kernel_and_twin_agree(drawn, k):
    domain, free = drawn
    k = min(k, domain.rows)
    groups = k_member_clusters(domain, k, free=free)
    place = groups.measure.positions[0]
    results = []
    for run in (join_cluster, join_cluster.plain, clustering_definitions.join_cluster):
        sizes, low, high, costs = groups.sizes.copy(), groups.low.copy(), groups.high.copy(), groups.costs.copy()
        best = run(groups.measure.lines, place, groups.count, sizes, low, high, costs)
        results.append((int(best), sizes.tolist(), low.tolist(), high.tolist(), costs.tolist()))
    assert results[0] == results[1] == results[2]


def test_many_values_are_priced_on_demand_with_the_same_result():
    random = np.random.default_rng(3)
    size = kernel.FILLED_PLACES + 500
    wide = Iotf().build(np.arange(size))
    codes = random.choice(size, 300)
    domain = make_domain([codes, random.integers(0, 5, 300)], [wide, Hierarchy.from_rows(CATEGORIES)])
    few = np.unique(codes)
    assert len(few) < kernel.FILLED_PLACES
    groups = k_member_clusters(domain, 5, free=("a",))
    narrow = make_domain([np.searchsorted(few, codes), domain.tuples[domain.tuple_of_row, 1]],
                         [Iotf().build(few), Hierarchy.from_rows(CATEGORIES)])  # fmt: skip
    assert groups.of_row.tolist() == k_member_clusters(narrow, 5, free=("a",)).of_row.tolist()


def small_domain():
    ages = Iotf().build([17, 18, 25, 40, 41])
    return make_domain([[0, 1, 2, 3, 4, 0], [0, 2, 3, 1, 1, 4]], [ages, Hierarchy.from_rows(CATEGORIES)],
                       ("age", "animal"))  # fmt: skip


def test_solution_is_a_local_recoding_with_readable_labels():
    domain = small_domain()
    solution = KMember(free=("age",)).solve(Problem(domain, [KAnonymity(2)]))
    assert solution.algorithm == "k-member" and KMember.recoding == "local" and solution.levels is None
    assert solution.recoding.classes.smallest >= 2 and solution.recoding.suppressed_rows == 0
    assert (
        solution.recoding.labels[0] == ("[17, 25]", "[17, 18]", "[40, 41]") or "[40, 41]" in solution.recoding.labels[0]
    )
    assert all(0 <= share <= 1 for shares in solution.recoding.shares for share in shares)
    assert 0 <= solution.score <= 1


def test_single_values_are_published_as_they_are():
    ages = Iotf().build([17, 18])
    domain = make_domain([[0, 0, 1, 1]], [ages])
    for free in ((), ("a",)):
        assert sorted(KMember(free=free).solve(Problem(domain, [KAnonymity(2)])).recoding.labels[0]) == ["17", "18"]


def test_k_larger_than_the_table_is_no_solution():
    with pytest.raises(NoSolution, match="6 usable rows, fewer than k = 7"):
        k_member_clusters(small_domain(), 7)


def test_k_equal_to_the_table_is_one_class():
    assert set(k_member_clusters(small_domain(), 6).of_row.tolist()) == {0}


def test_hierarchies_that_do_not_nest_are_refused():
    tree = Dbgh(min_width=10, high=100, chain=False).build(np.arange(1, 101))
    domain = make_domain([np.arange(100)], [tree])
    with pytest.raises(HierarchyError, match="does not nest"):
        k_member_clusters(domain, 5)


def test_several_tops_are_refused():
    tree = Hierarchy.from_rows([["a", "x"], ["b", "x"], ["c", "y"]])
    with pytest.raises(HierarchyError, match="several tops"):
        k_member_clusters(make_domain([[0, 1, 2]], [tree]), 2)


def test_free_needs_numbers_and_known_names():
    with pytest.raises(JobError, match="does not hold numbers"):
        k_member_clusters(small_domain(), 2, free=("animal",))
    with pytest.raises(JobError, match="Did you mean 'age'"):
        k_member_clusters(small_domain(), 2, free=("agee",))


def test_numbers_that_are_not_finite_are_refused():
    values = np.array([1.0, 2.0, np.inf])
    tree = Hierarchy.from_intervals(
        np.append(values, 1.0), np.append(values, np.inf), np.array([3, 3, 3, -1]), 3, labels=["1", "2", "inf", "*"]
    )
    with pytest.raises(DataError, match="not finite"):
        k_member_clusters(make_domain([[0, 1, 2]], [tree]), 2, free=("a",))


def test_seed_outside_the_table_is_refused():
    with pytest.raises(JobError, match="rows 0 to 5"):
        k_member_clusters(small_domain(), 2, seed=6)


def test_a_constant_column_costs_nothing_and_changes_nothing():
    domain = small_domain()
    rows = np.array(multiplicity(domain))
    constant = Iotf().build([7])
    wider = make_domain([rows[:, 0], rows[:, 1], [0] * 6], [*domain.hierarchies, constant])
    for free in ((), ("c",)):
        assert k_member_clusters(wider, 2, free=free).of_row.tolist() == k_member_clusters(domain, 2).of_row.tolist()


def test_excluded_rows_stay_out():
    domain = small_domain()
    shorter = type(domain)(domain.names, domain.hierarchies, domain.tuples, domain.counts,
                           np.insert(domain.tuple_of_row, 0, -1).astype(np.int32))  # fmt: skip
    assert k_member_clusters(shorter, 2).of_row.tolist() == [-1, *k_member_clusters(domain, 2).of_row.tolist()]


def test_decimals_are_exact_and_reals_are_rounded_with_a_note():
    decimals = Iotf().build([0.1, 0.2, 0.3, 0.7])
    assert make_measure(make_domain([[0, 1, 2, 3]], [decimals]), ("a",), (), 10).exact
    reals = Iotf().build([0.1, 2**0.5, 3**0.5, 7**0.5])
    domain = make_domain([[0, 1, 2, 3]], [reals])
    assert not make_measure(domain, ("a",), (), 10).exact
    solution = KMember(free=("a",)).solve(Problem(domain, [KAnonymity(2)]))
    assert any("rounded" in note for note in solution.notes)


def test_weights_turn_attributes_off():
    domain = small_domain()
    only_age = make_domain([np.array(multiplicity(domain))[:, 0]], [domain.hierarchies[0]])
    weighted = k_member_clusters(domain, 2, weights=(1.0, 0.0))
    assert weighted.of_row.tolist() == k_member_clusters(only_age, 2).of_row.tolist()


def test_it_can_be_stopped_and_calls_back_often():
    tree = Iotf().build(np.arange(200))
    domain = make_domain(np.random.default_rng(0).integers(0, 200, (2, 9000)), [tree, tree])
    seen = []
    k_member_clusters(domain, 3, progress=Progress(lambda step: seen.append(step.fraction), interval=0.0))
    assert len(seen) >= 4 and seen == sorted(seen)
    with pytest.raises(Cancelled):
        k_member_clusters(domain, 3, progress=Progress(lambda step: False))
