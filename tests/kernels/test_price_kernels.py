"""The kernels of the lower bound: compiled and plain, and what they promise."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy.privacy.models import KAnonymity
from kanopy.search.bound.cut_prices_kernel import improve_prices, make_room
from kanopy.search.bound.ladders import Priced, make_ladders, price_records
from kanopy.search.bound.prices_kernel import Cuts, Found, cap_boxes, cut_again, make_cuts, make_dear
from kanopy.search.bound.walks import Walks
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


def found_by(walks: Walks, price: np.ndarray) -> list[Found]:
    return [part for parts, _ in walks.too_dear(price, lambda: None) for part in parts]


def in_boxes(found: list[Found]) -> list[tuple[float, list[int]]]:
    return [
        (float(part.weight[b]), part.record[part.start[b] : part.start[b + 1]].tolist())
        for part in found
        for b in range(int(part.used[0]))
    ]


def mended(
    run: Callable[..., None], found: list[Found], priced: Priced, price: np.ndarray, k: int
) -> tuple[Cuts, np.ndarray, np.ndarray]:
    cuts, repaired, worst = make_cuts(100_000, 1_000_000), price.copy(), np.full(len(price), -np.inf)
    for part in found:
        run(part, price, priced.counts, k, cuts, repaired, worst, make_dear(len(price)))
    return cuts, repaired, worst


@settings(max_examples=40, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 5), st.integers(0, 5), st.integers(0, 2), st.sampled_from([1, 3]))
def test_walks_find_what_is_too_dear_and_it_is_mended(
    domain: Domain, k: int, seed: int, split: int, threads: int
) -> None:
    priced = laid_out(domain)
    price = np.random.default_rng(seed).random(len(priced.counts)) * 0.6
    walks = Walks(priced, k, threads)
    walks.split = min(split, domain.width - 1)
    found = found_by(walks, price)
    want = definitions.boxes_too_dear(priced.boxes, walks.attributes, price, priced.counts, k)
    assert [inside for _, inside in in_boxes(found)] == [inside for _, inside in want]
    np.testing.assert_allclose([w for w, _ in in_boxes(found)], [w for w, _ in want], rtol=1e-12)
    cuts, repaired, worst = mended(cap_boxes, found, priced, price, k)
    for left, right in zip((repaired, worst), mended(cap_boxes.plain, found, priced, price, k)[1:], strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    # Mended prices are honest in every box and never above those asked for; cuts are what they say.
    assert all(paid <= most + 1e-9 for paid, most in box_ratios(priced, repaired, k))
    assert (repaired <= price).all() and (repaired >= 0).all()
    count, _, lost = cuts.used.tolist()
    assert lost == 0 and (count > 0) == bool(found)
    for c in range(count):
        part = slice(cuts.start[c], cuts.start[c + 1])
        assert abs(cuts.share[part].sum() - 1) < 1e-12
        assert np.isclose(cuts.share[part] @ price[cuts.record[part]] - cuts.weight[c], cuts.excess[c])


def test_boxes_kept_are_cut_again_where_other_rows_have_become_dear() -> None:
    """A box of weight .5 with prices .9, .2, .1, 0 and k = 2: at first the first two count, then the last two."""
    box = Found(np.array([0.5]), np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 4]))
    counts, ceiling = np.ones(4, np.int64), np.full(4, np.inf)
    for price, held in (([0.9, 0.2, 0.1, 0.0], [0, 1]), ([0.0, 0.1, 0.9, 0.8], [2, 3]), ([0.1, 0.2, 0.3, 0.4], [])):
        for run in (cut_again, cut_again.plain):
            cuts = make_cuts(5, 20)
            run(box, np.array(price), counts, 2, ceiling, cuts, np.zeros(4), make_dear(4))
            assert cuts.record[: cuts.used[1]].tolist() == held


def test_walks_without_room_for_groups_side_by_side_find_the_same() -> None:
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
    walks, small = Walks(priced, 2, 1), Walks(priced, 2, 1)
    made = small._new_walk
    small._new_walk = lambda order: replace(made(order), table=np.full(4096, -1, np.int32))  # type: ignore[method-assign]
    want = definitions.boxes_too_dear(priced.boxes, walks.attributes, price, priced.counts, 2)
    for each in (walks, small):
        assert [inside for _, inside in in_boxes(found_by(each, price))] == [inside for _, inside in want]


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
        price, pressure, room = np.full(records, 0.3), np.zeros(cuts), make_room(records, cuts)
        for _ in range(3):
            run(start, record, share, weight, gain, np.full(records, 0.9), price, pressure, room, 4.0, 25)
        results.append((price, pressure))
    for price, pressure in results[1:]:
        np.testing.assert_allclose(results[0][0], price, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(results[0][1], pressure, rtol=1e-9, atol=1e-9)


def test_improved_prices_approach_the_optimum() -> None:
    """Three rows, two cuts: at most a + b = 2 and b + c = 2 (halves of 1), so 4 is best, with b at 0."""
    start, record = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32)
    price, pressure, room = np.full(3, 0.5), np.zeros(2), make_room(3, 2)
    for _ in range(20):
        improve_prices(
            start, record, np.full(4, 0.5), np.ones(2), np.ones(3), np.full(3, 5.0), price, pressure, room, 1.0, 100
        )
    np.testing.assert_allclose(price, [2, 0, 2], atol=1e-2)
