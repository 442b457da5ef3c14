"""ChiMerge and MDL: against slow readings of their definitions, and with the class from a table."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import HierarchyError, JobError
from kanopy._table.streams.scans import scan
from kanopy._table.streams.sinks import FileSink
from kanopy.engine.stream import StreamEngine
from kanopy.hierarchy.builders.by_class import ChiMerge, Mdl
from kanopy.release.out_of_core import run_on_engine
from tests.cli.running import run_hierarchy_json as run_json

AGES = pl.DataFrame({
    "age": [20, 21, 22, 23, 24, 60, 61, 62, 63, 64] * 4,
    "zip": ["a", "b"] * 20,
    "pay": (["low"] * 5 + ["high"] * 5) * 4,
})  # fmt: skip


def random_classes(seed: int) -> dict[str, dict[str, int]]:
    """Rows of three classes; every other seed has a class that prevails over a third of the values."""
    rng = np.random.default_rng(seed)
    prevails = {value: "abc"[(value - 1) // 5] if seed % 2 else "" for value in range(1, 15)}
    return {
        str(value): {name: int(rng.integers(0, 4)) + 6 * (name == prevails[value]) for name in "abc"}
        for value in range(1, 15)
    }


def joined(parts: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in "abc"}


def chi(left: dict[str, int], right: dict[str, int]) -> float:
    total, found = sum(left.values()) + sum(right.values()), 0.0
    for side, name in itertools.product((left, right), "abc"):
        expected = sum(side.values()) * (left[name] + right[name]) / total if total else 0.0
        found += (side[name] - expected) ** 2 / max(expected, 0.5)
    return found


def spans(tree: Any) -> set[tuple[int, int]]:
    return {(int(tree.low[node]), int(tree.high[node])) for node in range(tree.size, tree.node_count)}


@pytest.mark.parametrize("seed", range(8))
def test_chimerge_merges_the_pair_of_least_chi_square(seed: int) -> None:
    classes = random_classes(seed)
    parts, expected = [[value] for value in range(1, 15)], set()
    while len(parts) > 1:
        held = [joined([classes[str(value)] for value in part]) for part in parts]
        gaps = [round(chi(a, b), 9) for a, b in itertools.pairwise(held)]
        at = gaps.index(min(gaps))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        expected.add((parts[at][0], parts[at][-1]))
    assert spans(ChiMerge(classes=classes).build(range(1, 15))) == expected


def entropy(rows: dict[str, int]) -> float:
    total = sum(rows.values())
    return -sum(n / total * math.log2(n / total) for n in rows.values() if n)


def mdl_parts(classes: dict[str, dict[str, int]], low: int, high: int) -> set[tuple[int, int]]:
    """Fayyad and Irani's recursion, cut by cut."""
    found = {(low, high)} if low < high else set()
    whole = joined([classes[str(value)] for value in range(low, high + 1)])
    total, best = sum(whole.values()), None
    for cut in range(low, high):
        left = joined([classes[str(value)] for value in range(low, cut + 1)])
        right = {name: whole[name] - left[name] for name in "abc"}
        n1, n2 = sum(left.values()), sum(right.values())
        if n1 and n2:
            mixed = (n1 * entropy(left) + n2 * entropy(right)) / total
            if best is None or mixed < best[0] - 1e-12:
                best = (mixed, cut, left, right)
    if best is None:
        return found
    mixed, cut, left, right = best
    c, c1, c2 = (sum(n > 0 for n in rows.values()) for rows in (whole, left, right))
    delta = math.log2(3**c - 2) - (c * entropy(whole) - c1 * entropy(left) - c2 * entropy(right))
    if entropy(whole) - mixed > (math.log2(total - 1) + delta) / total:
        found |= mdl_parts(classes, low, cut) | mdl_parts(classes, cut + 1, high)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_mdl_cuts_as_long_as_a_cut_pays(seed: int) -> None:
    classes = random_classes(seed)
    assert spans(Mdl(classes=classes).build(range(1, 15))) == mdl_parts(classes, 1, 14)


def test_some_of_the_random_cases_are_cut() -> None:
    assert {len(mdl_parts(random_classes(seed), 1, 14)) > 1 for seed in range(12)} == {True, False}


@pytest.mark.parametrize("source", [{"method": "mdl", "target": "pay"}, Mdl(target="pay")])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_job_counts_the_classes_of_its_target(source: Any, engine: str, tmp_path: Any) -> None:
    job = kanopy.Job(quasi=["age", "zip"], k=8, hierarchies={"age": source, "zip": {"method": "suppress"}})
    if engine == "stream":
        AGES.write_parquet(tmp_path / "ages.parquet")
        sink = FileSink(str(tmp_path / "out.parquet"))
        result = run_on_engine(StreamEngine(scan(str(tmp_path / "ages.parquet")), sink), job)
        ages = pl.read_parquet(tmp_path / "out.parquet")["age"]
    else:
        result = kanopy.anonymize(AGES, job)
        ages = result.data["age"]
    assert result.verification.smallest_class >= 8
    assert set(ages) == {"[20, 24]", "[60, 64]"}


def test_the_command_line_reads_the_target_too(tmp_path: Any) -> None:
    AGES.write_csv(tmp_path / "ages.csv")
    found = run_json("build", tmp_path / "ages.csv", "age", "-m", "chimerge", "-p", "target=pay")
    assert {"[20, 24]", "[60, 64]"} <= {node["label"] for node in found["nodes"]}


@pytest.mark.parametrize(("target", "message"), [("py", "Did you mean 'pay'"), ("age", "the column itself")])
def test_a_target_that_is_no_other_column_is_refused(target: str, message: str) -> None:
    job = kanopy.Job(quasi=["age"], k=2, hierarchies={"age": {"method": "mdl", "target": target}})
    with pytest.raises(JobError, match=message):
        kanopy.anonymize(AGES, job)


def test_without_classes_or_with_too_many_it_says_what_to_do() -> None:
    with pytest.raises(HierarchyError, match=r"needs a class per row\. Name a column with target"):
        ChiMerge().build([1, 2])
    with pytest.raises(HierarchyError, match="needs the classes of 'pay', which only a table has"):
        Mdl(target="pay").build([1, 2])
    many = {"1": {str(number): 1 for number in range(101)}}
    with pytest.raises(HierarchyError, match=r"101 .* too many"):
        Mdl(classes=many).build([1, 2])
