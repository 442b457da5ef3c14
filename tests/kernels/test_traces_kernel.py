"""What is known of units: compiled, uncompiled and by the definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kanopy._core import units as units_module
from kanopy._core.distinct_kernel import pack_lifted
from kanopy._core.numbering import number_keys, number_lifted, number_rows
from kanopy._core.traces_kernel import Traces, like_traces, sort_traces
from kanopy._core.units import ALL, Units
from tests.people.test_measures import fitting
from tests.people.test_optimal import leaving


@pytest.mark.parametrize("known", [ALL, 2, 3, 4])
def test_compiled_search_for_rare_combinations_is_the_definition(known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_module, "SMALL", 0)
    draw = np.random.default_rng(known)
    for _ in range(150):
        rows = int(draw.integers(1, 60))
        units = number_keys(draw.integers(0, rows // 3 + 1, rows)).number
        count, k = int(draw.integers(1, 6)), int(draw.integers(2, 4))
        groups = draw.integers(-1, count, rows)
        wanted = leaving(units.tolist(), groups.tolist(), k, known)
        assert Units(units, known).leaving(groups, count, k).tolist() == wanted
        most = int(draw.integers(0, rows))
        stopped = Units(units, known).leaving(groups, count, k, most)
        # Whoever leaves before the search stops leaves in the end, and it stops only beyond what may leave.
        assert not (stopped & ~np.array(wanted)).any()
        assert stopped.tolist() == wanted or (stopped.sum() > most and sum(wanted) > most)


@pytest.mark.parametrize("known", [ALL, 1, 2, 3])
@pytest.mark.parametrize("small", [0, 10_000])
def test_how_many_fit_what_is_known_is_the_definition(known: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_module, "SMALL", small)
    draw = np.random.default_rng(known)
    for _ in range(60):
        rows = int(draw.integers(1, 50))
        units = number_keys(draw.integers(0, rows // 3 + 1, rows)).number
        groups = draw.integers(-1, 4, rows)
        there = groups >= 0
        wanted = fitting([(own,) for own in groups[there]], units[there].tolist(), known or "all")
        order = list(dict.fromkeys(units[there].tolist()))
        found = Units(units, known).fitting(groups, 4).tolist()
        assert found == [wanted[order.index(unit)] for unit in sorted(order)]


def test_traces_are_sorted_and_compared_alike_by_all_twins() -> None:
    draw = np.random.default_rng(0)
    for rows in (1, 40, 902):
        owner = np.sort(number_keys(draw.integers(0, max(2, rows // 20), rows)).number)
        groups = draw.integers(-1, 3, rows).astype(np.int32)
        count, found, once = int(owner.max()) + 1, [], rows % 4 // 2
        for sort, compare in ((sort_traces, like_traces), (sort_traces.plain, like_traces.plain)):  # type: ignore[attr-defined]
            traces = Traces(np.zeros(rows, np.int32), np.zeros(count + 1, np.int64), np.zeros(count, np.bool_))
            sort(groups, owner, traces.group, traces.starts, once)
            like, sizes = np.empty(count, np.int32), np.zeros(count, np.int32)
            compare(traces, np.full(4096, -1, np.int32), like, sizes)
            found.append((traces.group[: traces.starts[-1]].tolist(), traces.starts.tolist(), like.tolist()))
            own = [sorted(groups[(owner == u) & (groups >= 0)].tolist()) for u in range(count)]
            same = Counter(tuple(sorted(set(each)) if once else each) for each in own)
            assert sorted(sizes[sizes > 0].tolist()) == sorted(n for trace, n in same.items() if trace)
        assert found[0] == found[1]


def test_tuples_are_numbered_as_if_they_were_lifted_first() -> None:
    draw = np.random.default_rng(1)
    tuples = draw.integers(0, 7, (500, 3)).astype(np.int32)
    lifts, sizes = [draw.integers(0, 3, 7).astype(np.int32) for _ in range(3)], [3, 3, 3]
    wanted = number_rows([lift[tuples[:, j]] for j, lift in enumerate(lifts)], sizes)
    for small in (0, 2_000):
        for laid_out in (tuples, np.asfortranarray(tuples)):  # as columns chosen from a table are
            assert all(map(np.array_equal, number_lifted(laid_out, lifts, sizes, small=small), wanted))
    keys = np.zeros((2, 500), np.int64)
    table, starts = np.arange(21), np.array([0, 7, 14])
    for loop, key in zip((pack_lifted, pack_lifted.plain), keys, strict=True):  # type: ignore[attr-defined]
        loop(tuples, table, starts, key)
    assert np.array_equal(keys[0], keys[1])
