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
from kanopy.search.bound.box_enumeration import BoxEnumeration
from kanopy.search.bound.cut_prices_kernel import Eased, improve_prices, make_room
from kanopy.search.bound.level_chains import Priced, make_level_chains, price_records
from kanopy.search.bound.limits_kernel import find_limits, grow_crowds, make_crowds, span_boxes
from kanopy.search.bound.odd_set_cuts import LARGEST_AROUND, LimitedSets, index_limits, no_limits, with_crowded
from kanopy.search.bound.prices_kernel import Cuts, Found, cap_boxes, cut_again, make_cuts, make_dear
from kanopy.search.problem import Problem
from tests.kernels import definitions
from tests.search.problems import domains


def laid_out(domain: Domain, most: int = 10**6) -> Priced:
    problem = Problem(domain, [KAnonymity(2)])
    return price_records(problem, make_level_chains(problem, most))


def all_boxes(priced: Priced) -> list[tuple[tuple[int, ...], float, list[int]]]:
    """Levels, weight and records of every box."""
    boxes, found = priced.boxes, []
    for levels in itertools.product(*(range(int(h[1])) for h in boxes.head)):
        at = [int(h[2] + level * h[0]) for h, level in zip(boxes.head, levels, strict=True)]
        inside: dict[tuple[int, ...], list[int]] = {}
        for t, record in enumerate(boxes.tuples.tolist()):
            inside.setdefault(tuple(int(boxes.codes[a + v]) for a, v in zip(at, record, strict=True)), []).append(t)
        for members in inside.values():
            first = boxes.tuples[members[0]]
            found.append((levels, sum(float(boxes.weights[a + v]) for a, v in zip(at, first, strict=True)), members))
    return found


def some_limits(priced: Priced, k: int, count: int, generator: np.random.Generator) -> LimitedSets:
    """Boxes and unions of two boxes, drawn by chance."""
    boxes = all_boxes(priced)
    limit = np.sort(np.concatenate([np.arange(count), np.arange(count // 2)])).astype(np.int32)
    drawn = [boxes[i] for i in generator.integers(0, len(boxes), len(limit))]
    levels = np.array([levels for levels, _, _ in drawn], np.int32).reshape(len(limit), priced.boxes.tuples.shape[1])
    start = np.cumsum([0, *(len(members) for _, _, members in drawn)])
    record = np.array([t for _, _, members in drawn for t in members], np.int32)
    return index_limits(priced, k, limit, levels, start, record)


def within(limits: LimitedSets, members: list[int]) -> list[int]:
    """The limits of which a box holds all these records."""
    ends = itertools.pairwise(limits.box_start.tolist())
    sets = [{*limits.box_record[a:b].tolist()} for a, b in ends]
    return sorted({r for r, own in zip(limits.arrays.limit.tolist(), sets, strict=True) if {*members} <= own})


def excesses(priced: Priced, price: np.ndarray, k: int, limits: LimitedSets, allowance: np.ndarray) -> list[float]:
    """By how much the classes of k to 2k - 1 rows of every box cost too much, at most."""
    found = []
    for _, weight, members in all_boxes(priced):
        rows = sorted((price[t] for t in members for _ in range(int(priced.counts[t]))), reverse=True)
        allowed = float(allowance[within(limits, members)].sum())
        found += [sum(rows[:n]) - n * weight - allowed for n in range(k, min(len(rows), 2 * k - 1) + 1)]
    return found


def found_by(walks: BoxEnumeration, price: np.ndarray) -> list[Found]:
    return [part for parts, _ in walks.too_dear(price, lambda: None) for part in parts]


def in_boxes(found: list[Found]) -> list[tuple[float, list[int]]]:
    return [
        (float(part.weight[b]), part.record[part.start[b] : part.start[b + 1]].tolist())
        for part in found
        for b in range(int(part.used[0]))
    ]


def mended(
    run: Callable[..., None], found: list[Found], priced: Priced, price: np.ndarray, k: int, limits: LimitedSets,
    allowance: np.ndarray,
) -> tuple[Cuts, np.ndarray, np.ndarray]:  # fmt: skip
    cuts, repaired, worst = make_cuts(100_000, 1_000_000), price.copy(), np.full(len(price), -np.inf)
    for part in found:
        run(
            priced.boxes, part, price, priced.counts, k, limits.arrays, allowance, cuts, repaired, worst,
            make_dear(len(price)),
        )  # fmt: skip
    return cuts, repaired, worst


@settings(max_examples=40, deadline=None)
@given(
    domains(most_attributes=3), st.integers(1, 5), st.integers(0, 5), st.integers(0, 2), st.sampled_from([1, 3]),
    st.integers(0, 4),
)  # fmt: skip
def test_walks_find_what_is_too_dear_and_it_is_mended(
    domain: Domain, k: int, seed: int, split: int, threads: int, count: int
) -> None:
    priced = laid_out(domain)
    generator = np.random.default_rng(seed)
    price = generator.random(len(priced.counts)) * 0.6
    limits, allowance = some_limits(priced, k, count, generator), generator.random(count)
    walks = BoxEnumeration(priced, k, threads)
    walks.split = min(split, domain.width - 1)
    found = found_by(walks, price)
    want = definitions.boxes_too_dear(priced.boxes, walks.attributes, price, priced.counts, k)
    assert [inside for _, inside in in_boxes(found)] == [inside for _, inside in want]
    np.testing.assert_allclose([w for w, _ in in_boxes(found)], [w for w, _ in want], rtol=1e-12)
    cuts, repaired, worst = mended(cap_boxes, found, priced, price, k, limits, allowance)
    plain = mended(cap_boxes.plain, found, priced, price, k, limits, allowance)
    for left, right in zip((repaired, worst), plain[1:], strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)
    # Mended prices are honest in every box and never above those asked for; cuts are what they say.
    assert max(excesses(priced, repaired, k, limits, allowance), default=0.0) <= 1e-9
    assert (repaired <= price).all() and (repaired >= 0).all()
    kept, _, lost = cuts.used.tolist()
    assert lost == 0 and (kept > 0) == (max(excesses(priced, price, k, limits, allowance), default=0.0) > 1e-9)
    for c in range(kept):
        part = slice(cuts.start[c], cuts.start[c + 1])
        assert abs(cuts.share[part].sum() - 1) < 1e-12
        paid = cuts.share[part] @ price[cuts.record[part]] - cuts.weight[c]
        assert paid >= cuts.excess[c] - 1e-9 and (count or np.isclose(paid, cuts.excess[c]))


def test_boxes_kept_are_cut_again_where_other_rows_have_become_dear() -> None:
    """A box of weight .5 with prices .9, .2, .1, 0 and k = 2: at first the first two count, then the last two."""
    box = Found(np.array([0.5]), np.array([0, 4]), np.arange(4, dtype=np.int32), np.array([1, 4]))
    counts, ceiling = np.ones(4, np.int64), np.full(4, np.inf)
    for price, held in (([0.9, 0.2, 0.1, 0.0], [0, 1]), ([0.0, 0.1, 0.9, 0.8], [2, 3]), ([0.1, 0.2, 0.3, 0.4], [])):
        for run in (cut_again, cut_again.plain):
            cuts = make_cuts(5, 20)
            run(box, np.array(price), counts, 2, np.zeros(1), ceiling, cuts, np.zeros(4), make_dear(4))
            assert cuts.record[: cuts.used[1]].tolist() == held


def test_what_a_box_is_allowed_makes_room_for_a_third_row() -> None:
    """A box of weight .5, prices .9, .8, .7, k = 2: all three cost .9 more than they weigh, any two .7 at most."""
    box = Found(np.array([0.5]), np.array([0, 3]), np.arange(3, dtype=np.int32), np.array([1, 3]))
    for allowed, held in ((0.0, [0, 1]), (0.8, [0, 1, 2]), (0.95, [])):
        for run in (cut_again, cut_again.plain):
            cuts, price = make_cuts(5, 20), np.array([0.9, 0.8, 0.7])
            run(
                box, price, np.ones(3, np.int64), 2, np.array([allowed]), np.full(3, np.inf), cuts, np.zeros(3),
                make_dear(3),
            )  # fmt: skip
            assert cuts.record[: cuts.used[1]].tolist() == held
            assert cuts.size[: cuts.used[0]].tolist() == [float(len(held))] * bool(held)


@settings(max_examples=30, deadline=None)
@given(domains(most_attributes=3), st.integers(1, 4), st.integers(0, 1000))
def test_limits_are_found_around_boxes_and_where_classes_crowd(domain: Domain, k: int, seed: int) -> None:
    priced, generator = laid_out(domain), np.random.default_rng(seed)
    limits, boxes = some_limits(priced, k, 4, generator), all_boxes(priced)
    width = priced.boxes.tuples.shape[1]
    record = np.array([t for _, _, members in boxes for t in members], np.int32)
    begins = np.cumsum([0, *(len(members) for _, _, members in boxes)])
    which = np.arange(len(boxes))
    for span, find in ((span_boxes, find_limits), (span_boxes.plain, find_limits.plain)):
        levels, rows = np.zeros((len(boxes), width), np.int32), np.zeros(len(boxes), np.int64)
        span(priced.boxes, priced.counts, begins, record, which, 10**6, levels, rows)
        assert rows.tolist() == [int(priced.counts[members].sum()) for _, _, members in boxes]
        start, found = np.zeros(len(boxes) + 1, np.int64), np.zeros(0, np.int32)
        heads = record[begins[:-1]]
        find(limits.arrays, heads, levels, rows, start, found)
        found = np.zeros(int(start[-1]), np.int32)
        find(limits.arrays, heads, levels, rows, start, found)
        for b, (_, _, members) in enumerate(boxes):
            assert sorted(found[start[b] : start[b + 1]].tolist()) == within(limits, members)
    part = generator.random(len(boxes)) * (rows >= k)
    crowded, _ = with_crowded(priced, k, no_limits(priced, k), levels, part, begins, record, 10**6)
    sets = [tuple(crowded.record[a:b].tolist()) for a, b in itertools.pairwise(crowded.start.tolist())]
    assert len({*sets}) == len(sets)

    def beyond(members: tuple[int, ...]) -> tuple[float, int]:
        """The parts of classes within a set beyond those it has rows for, and its rows."""
        held = sum(p for p, (_, _, own) in zip(part, boxes, strict=True) if {*own} <= {*members})
        return held - int(priced.counts[list(members)].sum()) // k, int(priced.counts[list(members)].sum())

    assert all(beyond(members)[0] > 0.04 - 1e-9 for members in sets)
    assert crowded.classes.tolist() == [beyond(members)[1] // k for members in sets]
    # No box is missed that is itself chosen.
    for _, _, members in boxes:
        excess, inside = beyond(tuple(members))
        if excess > 0.04 + 1e-9 and inside <= LARGEST_AROUND * k and inside % k > 0:
            assert tuple(sorted(members)) in sets
    again, _ = with_crowded(priced, k, crowded, levels, part, begins, record, 10**6)
    assert len(again.classes) == len(crowded.classes)


def test_a_union_of_boxes_is_too_full_where_each_of_them_is_not() -> None:
    """Two boxes of 6 rows that share 4 and are chosen by .9 each: 8 rows hold one class of five, not 1.8."""
    start, record = np.array([0, 6, 12]), np.array([0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7], np.int32)
    first, holding = np.array([0, 1, 2, 4, 6, 8, 10, 11, 12]), np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1], np.int32)
    for run in (grow_crowds, grow_crowds.plain):
        sizes, chosen, excess = np.zeros(2, np.int64), np.zeros((2, 3), np.int32), np.zeros(2)
        run(
            start, record, np.array([6, 6]), np.array([0.9, 0.9]), first, holding, np.ones(8, np.int64), 5, 60,
            make_crowds(8, 2, 3), sizes, chosen, excess,
        )  # fmt: skip
        assert sizes.tolist() == [2, 2] and chosen[:, :2].tolist() == [[0, 1], [1, 0]]
        np.testing.assert_allclose(excess, 0.8)


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
    walks, small = BoxEnumeration(priced, 2, 1), BoxEnumeration(priced, 2, 1)
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
    limits = int(generator.integers(0, 3))
    lies_in = [np.flatnonzero(generator.random(limits) < 0.6) for _ in range(cuts)]
    begins = np.cumsum([0, *map(len, lies_in)])
    of_limit, part = np.concatenate([[], *lies_in]).astype(np.int32), 1.0 / generator.integers(1, 4, cuts)
    results = []
    for run in (definitions.improve_prices, improve_prices, improve_prices.plain):
        price, pressure, room = np.full(records, 0.3), np.zeros(cuts), make_room(records, cuts, limits)
        eased = Eased(begins, of_limit, part, np.ones(limits), np.full(limits, 0.1))
        for _ in range(3):
            run(start, record, share, weight, gain, np.full(records, 0.9), price, pressure, eased, room, 4.0, 25)
        results.append((price, pressure, eased.allowance))
    for result in results[1:]:
        for want, got in zip(results[0], result, strict=True):
            np.testing.assert_allclose(want, got, rtol=1e-9, atol=1e-9)


def test_improved_prices_approach_the_optimum() -> None:
    """Three rows, two cuts: at most a + b = 2 and b + c = 2 (halves of 1), so 4 is best, with b at 0."""
    start, record = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32)
    price, pressure, room = np.full(3, 0.5), np.zeros(2), make_room(3, 2)
    none = Eased(np.zeros(3, np.int64), np.zeros(0, np.int32), np.ones(2), np.zeros(0), np.zeros(0))
    for _ in range(20):
        improve_prices(
            start, record, np.full(4, 0.5), np.ones(2), np.ones(3), np.full(3, 5.0), price, pressure, none, room, 1.0,
            100,
        )  # fmt: skip
    np.testing.assert_allclose(price, [2, 0, 2], atol=1e-2)
