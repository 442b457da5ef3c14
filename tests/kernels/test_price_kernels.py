"""The kernels of the lower bound: compiled and plain, and what they promise."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.cut_prices_kernel import improve_prices
from kanopy.search.bound.ladders import Priced, make_ladders, price_records
from kanopy.search.bound.prices_kernel import make_cuts, make_walk, scan_boxes
from kanopy.search.problem import Problem
from tests.kernels import definitions
from tests.search.problems import domains


def laid_out(domain: Domain, most: int = 10**6) -> Priced:
    problem = Problem(domain, [KAnonymity(2)])
    return price_records(problem, make_ladders(problem, most))


def box_ratios(priced: Priced, price: np.ndarray, k: int) -> list[tuple[float, float]]:
    """(sum of the k largest prices, k times the weight) of every box with at least k rows."""
    boxes, found = priced.boxes, []
    for levels in itertools.product(*(range(int(h[1])) for h in boxes.head)):
        at = [int(h[2] + level * h[0]) for h, level in zip(boxes.head, levels, strict=True)]
        inside: dict[tuple[int, ...], list[int]] = {}
        for t, record in enumerate(boxes.tuples.tolist()):
            inside.setdefault(tuple(int(boxes.codes[a + v]) for a, v in zip(at, record, strict=True)), []).append(t)
        for members in inside.values():
            rows = sorted((price[t] for t in members for _ in range(int(priced.counts[t]))), reverse=True)
            if len(rows) >= k:
                first = boxes.tuples[members[0]]
                weight = sum(float(boxes.weights[a + v]) for a, v in zip(at, first, strict=True))
                found.append((sum(rows[:k]), k * weight))
    return found


@settings(max_examples=40, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 5), st.integers(0, 5), st.sampled_from([1, 7, 10**9]))
def test_scan_finds_what_is_too_dear_and_mends_it(domain: Domain, k: int, seed: int, visits: int) -> None:
    priced = laid_out(domain)
    price = np.random.default_rng(seed).random(len(priced.counts)) * 0.6
    order = np.argsort(-price, kind="stable").astype(np.int32)
    attributes = np.random.default_rng(seed).permutation(domain.width).astype(np.int64)
    results = []
    for run in (scan_boxes, definitions.scan_boxes):
        walk = make_walk(priced.boxes, int(priced.counts.sum()), k, order)
        cuts = make_cuts(10_000, 100_000)
        repaired, worst = price.copy(), np.full(len(price), -np.inf)
        while not run(
            priced.boxes, priced.sizes, attributes, price, priced.counts, k, walk, cuts, repaired, worst, visits
        ):
            pass
        results.append((cuts, repaired, worst))
    (one, mended, worst), (two, plain_mended, plain_worst) = results
    np.testing.assert_allclose(mended, plain_mended, rtol=1e-12)
    np.testing.assert_allclose(worst, plain_worst, rtol=1e-12)
    np.testing.assert_array_equal(one.used, two.used)
    count, entries, lost = one.used.tolist()
    assert lost == 0
    np.testing.assert_array_equal(one.record[:entries], two.record[:entries])
    np.testing.assert_array_equal(one.start[: count + 1], two.start[: count + 1])
    np.testing.assert_allclose(one.share[:entries], two.share[:entries])
    np.testing.assert_allclose(one.weight[:count], two.weight[:count])
    # Mended prices are honest in every box and never above those asked for; cuts are what they say.
    assert all(paid <= most + 1e-9 for paid, most in box_ratios(priced, mended, k))
    assert (mended <= price).all() and (mended >= 0).all()
    too_dear = sum(paid > most * (1 + 1e-9) + 1e-12 for paid, most in box_ratios(priced, price, k))
    assert (count > 0) == (too_dear > 0)
    for c in range(count):
        part = slice(one.start[c], one.start[c + 1])
        assert abs(one.share[part].sum() - 1) < 1e-12
        assert one.share[part] @ price[one.record[part]] - one.weight[c] == np.float64(one.excess[c]) or np.isclose(
            one.share[part] @ price[one.record[part]] - one.weight[c], one.excess[c]
        )


def test_scan_without_room_for_groups_side_by_side_finds_the_same() -> None:
    """Large products of groups and codes go through a hash table instead of direct places."""
    from kanopy.hierarchy.hierarchy import Hierarchy

    generator = np.random.default_rng(0)
    tree = Hierarchy.from_rows([[f"v{i}", f"g{i // 50}", "*"] for i in range(400)], name="wide")
    cells = generator.integers(0, 400, (900, 2)).astype(np.int32)
    cells = np.repeat(cells, 2, axis=0)
    tuples, inverse, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    domain = Domain(
        ("a", "b"), (tree, tree), tuples.astype(np.int32), counts.astype(np.int64), inverse.reshape(-1).astype(np.int32)
    )
    priced = laid_out(domain)
    price = generator.random(len(counts))
    order = np.argsort(-price, kind="stable").astype(np.int32)
    found = []
    for run, small in (
        (scan_boxes, False),
        (scan_boxes, True),
        (scan_boxes.plain, False),
        (definitions.scan_boxes, False),
    ):
        walk = make_walk(priced.boxes, int(counts.sum()), 2, order)
        if small:
            walk = walk._replace(table=np.full(4096, -1, np.int32))
        repaired, worst = price.copy(), np.full(len(price), -np.inf)
        cuts = make_cuts(100_000, 1_000_000)
        args = (priced.boxes, priced.sizes, np.arange(2), price, priced.counts, 2, walk, cuts, repaired, worst, 10**9)
        assert run(*args)
        found.append((repaired, worst, cuts.used.copy()))
    for other in found[1:]:
        for left, right in zip(found[0], other, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(0, 8))
def test_improving_prices_is_the_same_with_whole_arrays(seed: int, records: int, cuts: int) -> None:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, records + 1, cuts)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    record = np.concatenate([generator.permutation(records)[:s] for s in sizes] or [[]]).astype(np.int32)
    share = np.repeat(1.0 / sizes, sizes) if cuts else np.zeros(0)
    weight, gain = generator.random(cuts), generator.integers(1, 4, records).astype(np.float64)
    results = []
    for run in (definitions.improve_prices, improve_prices, improve_prices.plain):
        price, pressure = np.full(records, 0.3), np.zeros(cuts)
        for _ in range(3):
            run(start, record, share, weight, gain, np.full(records, 0.9), price, pressure, 4.0, 25)
        results.append((price, pressure))
    for price, pressure in results[1:]:
        np.testing.assert_allclose(results[0][0], price, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(results[0][1], pressure, rtol=1e-9, atol=1e-9)


def test_improved_prices_approach_the_optimum() -> None:
    """Three rows, two cuts: at most a + b = 2 and b + c = 2 (halves of 1), so 4 is best, with b at 0."""
    start, record = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32)
    price, pressure = np.full(3, 0.5), np.zeros(2)
    for _ in range(20):
        improve_prices(
            start, record, np.full(4, 0.5), np.ones(2), np.ones(3), np.full(3, 5.0), price, pressure, 1.0, 100
        )
    np.testing.assert_allclose(price, [2, 0, 2], atol=1e-2)
