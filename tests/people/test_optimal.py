"""`optimal` by people equals brute force over all candidates, and so do the rows that leave."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from kanopy._core.classes import Domain, Recoding, full_domain_recoding
from kanopy._core.numbering import distinct_tuples, number_keys
from kanopy._core.units import ALL, Units
from kanopy._core.units_kernel import count_once
from kanopy._errors import NoSolution
from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.metrics.full_domain import METRICS, metric_named
from kanopy.metrics.release_losses import release_losses
from kanopy.privacy.models import KAnonymity
from kanopy.search.algorithms import make_algorithm
from kanopy.search.problem import Problem

TREES = (
    Hierarchy.from_rows([[str(i), "ab"[i // 2], "*"] for i in range(4)]),
    Hierarchy.from_rows([[str(i), "*"] for i in range(3)]),
    Hierarchy.from_rows([[str(i), "xyz"[i // 2], "vw"[i // 4], "*"] for i in range(6)]),
)


def leaving(units: list[int], groups: list[int], k: int, known: int) -> list[bool]:
    """The rows that leave, by the definitions: sets, multisets and nothing else."""
    rows = list(zip(units, groups, strict=True))
    if known == 1:
        members: dict[int, set[int]] = {}
        for unit, group in rows:
            members.setdefault(group, set()).add(unit)
        return [group >= 0 and len(members[group]) < k for _, group in rows]
    staying = set(units)
    while True:
        traces = {u: tuple(sorted(g for v, g in rows if v == u and g >= 0)) for u in staying}
        fits: Counter[tuple[int, ...]] = Counter()
        parts = {}
        for unit, trace in traces.items():
            sizes = [len(trace)] if known == ALL else range(1, known + 1)
            parts[unit] = {part for size in sizes for part in combinations(trace, size)} if trace else set()
            fits.update(parts[unit])
        out = {unit for unit in staying if any(fits[part] < k for part in parts[unit])}
        if not out:
            return [unit not in staying and group >= 0 for unit, group in rows]
        staying -= out


@pytest.mark.parametrize("known", [ALL, 1, 2, 3])
def test_rows_that_leave_are_those_of_the_definition(known: int) -> None:
    draw = np.random.default_rng(known)
    for _ in range(400):
        rows = int(draw.integers(1, 25))
        units = number_keys(draw.integers(0, rows // 2 + 1, rows)).number
        count, k = int(draw.integers(1, 5)), int(draw.integers(2, 4))
        groups = draw.integers(-1, count, rows)
        found = Units(units, known).leaving(groups, count, k)
        assert found.tolist() == leaving(units.tolist(), groups.tolist(), k, known)


def test_the_compiled_count_is_the_plain_one() -> None:
    draw = np.random.default_rng(0)
    for rows in (1, 7, 200):
        units = np.sort(draw.integers(0, rows, rows)).astype(np.int32)
        cells = draw.integers(-1, 9, rows)
        found = []
        for loop in (count_once, count_once.plain, count_once.loop):  # type: ignore[attr-defined]
            counts = np.zeros(9, np.int64)
            loop(cells, units, np.full(9, -1, np.int32), counts)
            found.append(counts.tolist())
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("seed", range(4))
def test_optimal_equals_brute_force(seed: int) -> None:
    compare_with_brute_force(seed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 24))
def test_optimal_equals_brute_force_on_two_thousand_tables(seed: int) -> None:
    compare_with_brute_force(seed, 100)


def compare_with_brute_force(seed: int, tables: int) -> None:
    draw = np.random.default_rng(seed)
    for number in range(tables):
        rows, width = int(draw.integers(2, 30)), int(draw.integers(1, 4))
        trees = tuple(TREES[j] for j in draw.permutation(3)[:width])
        codes = [draw.integers(0, max(1, h.size - int(draw.integers(0, 3))), rows).astype(np.int32) for h in trees]
        if draw.random() < 0.3:
            codes[0][draw.random(rows) < 0.1] = -1
        tuples, counts, of_row, _ = distinct_tuples(codes, [h.size for h in trees])
        if not len(counts):
            continue
        units = number_keys(draw.integers(0, max(1, int(rows * draw.choice([0.3, 0.6, 1.0])) + 1), rows)).number
        known, k = number % 3, int(draw.integers(2, 4))
        limit, metric = float(draw.choice([0, 0, 0.1, 0.3, 1.0])), str(draw.choice(list(METRICS)))
        domain = Domain(tuple("abc"[:width]), trees, tuples, counts, of_row, units=Units(units, known))
        best = None
        for levels in product(*[range(h.height + 1) for h in trees]):
            made = full_domain_recoding(domain, levels, np.zeros(len(counts), np.bool_))
            classes = np.append(made.class_of_group, -1)[made.group_of_row]
            gone = np.array(leaving(units.tolist(), classes.tolist(), k, known))
            if gone.sum() > int(np.floor(limit * rows + 1e-9)):
                continue
            group_of_row = np.where(gone, -1, made.group_of_row).astype(np.int32)
            release = Recoding(group_of_row, made.codes, made.labels, made.shares, made.nodes)
            score = release_losses(domain, release, [1.0] * width, levels)[metric]
            if best is None or score < best[0] - 1e-9:
                best = (score, gone | (of_row < 0))
        for algorithm in ("optimal", "incognito"):
            problem = Problem(domain, [KAnonymity(k)], metric_named(metric), suppression_limit=limit)
            try:
                found = make_algorithm(algorithm).solve(problem)
            except NoSolution:
                assert best is None, (seed, number)
                continue
            assert best is not None and found.optimal, (seed, number)
            assert found.score == pytest.approx(best[0], abs=1e-9), (seed, number)
            gone_now = found.recoding.group_of_row < 0
            assert gone_now.sum() <= int(np.floor(limit * rows + 1e-9)) + domain.excluded_rows
