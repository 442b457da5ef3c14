"""Random jobs of other kinds: quasi-identifiers that hold lists, and maskings asked for by an ordinary job."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._job.usage import used_alone
from kanopy.masking.algorithms.registry import MASKINGS
from tests.fuzz.jobs import ABOVE, WORDS, Case
from tests.fuzz.textbook import is_true
from tests.quick import QUICK

TREE = kanopy.Hierarchy.from_rows([[word, ABOVE[word], "*"] for word in WORDS])
SEARCHES = ("optimal", "samarati", "datafly", "incognito")
Basket = tuple[str, ...]


def above(value: str) -> list[str]:
    return [ABOVE.get(value, "")]


# ---- lists --------------------------------------------------------------------------------------------------------


def lists_case(seed: int) -> Case:
    """A few rows with lists, as such or as texts, and maybe another quasi-identifier."""
    draw = np.random.default_rng([seed, 11])
    rows = int(draw.integers(5, 41))
    words = WORDS[: int(draw.integers(2, len(WORDS) + 1))]
    bought: list[Any] = [draw.choice(words, int(draw.integers(0, 4))).tolist() for _ in range(rows)]
    if draw.random() < 0.3:
        bought = [None if draw.random() < 0.1 else each for each in bought]
    separator = [None, ";", " | "][int(draw.integers(0, 3))]
    quasi = ["q0"]
    columns: dict[str, pl.Series] = {"q0": pl.Series("q0", bought, dtype=pl.List(pl.String))}
    if separator is not None:
        columns["q0"] = pl.Series("q0", [each if each is None else separator.join(each) for each in bought])
    if draw.random() < 0.5:
        quasi.append("q1")
        columns["q1"] = pl.Series("q1", draw.choice(["f", "m"], rows).tolist())
    table = pl.DataFrame({
        "name": [f"person {number}" for number in range(rows)], **columns,
        "ill": draw.choice(list("abc"), rows).tolist(), "row": range(rows),
    })  # fmt: skip
    algorithm = str(draw.choice(SEARCHES))
    job = kanopy.Job(
        quasi=quasi,
        k=int(draw.integers(2, 5)),
        identifiers=["name"],
        sensitive=["ill"],
        insensitive=["row"],
        hierarchies={"q0": TREE} if draw.random() < 0.8 else {},
        separators={} if separator is None else {"q0": separator},
        repeats=str(draw.choice(["once", "each"])),
        known=[1, 1, 2, 3, "all"][int(draw.integers(0, 5))],
        algorithm=algorithm,
        parameters=QUICK.get(algorithm, {}),
        suppress=float(draw.choice([0.0, 0.2, 0.5, 1.0])),
        missing=str(draw.choice(["as-value", "suppress"])),
        suppressed_rows=str(draw.choice(["keep", "keep", "drop"])),
    )
    return Case(seed, table, used_alone(job), {}, {"q0": above})


def judge_lists_release(case: Case, frame: pl.DataFrame, source: pl.DataFrame) -> None:
    """Whoever knows a few elements of a list, and what else is published of its row, finds k rows; labels are true."""
    job = case.job
    assert sorted(frame.columns) == sorted([*job.quasi, "ill", "row"]), frame.columns
    rows = frame["row"].cast(pl.Int64).to_list()
    assert len(set(rows)) == frame.height, "a row is published twice"
    separator = job.separators.get("q0")
    given = [_elements(each, separator) for each in source["q0"].to_list()]
    published = [_elements(each, separator) for each in frame["q0"].to_list()]
    others = [tuple(str(frame[name][at]) for name in job.quasi if name != "q0") for at in range(frame.height)]
    baskets: list[tuple[tuple[str, ...], Basket]] = []
    for row, labels, other in zip(rows, published, others, strict=True):
        for label in labels:
            assert label == "*" or any(is_true(value, label, above) for value in given[row]) or label == "(missing)", (
                f"{given[row]} is published as {labels}"
            )
        assert len(labels) <= max(1, len(given[row])), f"{given[row]} is published as {labels}"
        told = [label for label in labels if label != "*"]
        told = sorted(set(told)) if job.repeats == "once" else sorted(told)
        if told or not labels or (other and set(other) != {"*"}):
            baskets.append((other, tuple(told)))
    fits: Counter[tuple[Any, ...]] = Counter()
    for other, told in baskets:
        known = len(told) if job.known == "all" else min(int(job.known), len(told))
        sizes = [known] if job.known == "all" else range(known + 1)
        fits.update({(other, part) for size in sizes for part in combinations(told, size)})
    few = {part: number for part, number in fits.items() if number < job.k}
    assert not few, f"known = {job.known} fits too few rows: {list(few.items())[:3]}"
    values = frame["ill"].to_list()
    for at, row in enumerate(rows):
        assert values[at] is None or values[at] == source["ill"][row], "a sensitive value was changed"


def _elements(cell: Any, separator: str | None) -> list[str]:
    if cell is None:
        return []
    if isinstance(cell, str) and separator is not None:
        return [part.strip() for part in cell.split(separator) if part.strip()]
    if isinstance(cell, str):  # a list that a file of text keeps
        return [cell]
    return [str(each) for each in cell if each is not None]


# ---- maskings -----------------------------------------------------------------------------------------------------


def masks_case(seed: int) -> Case:
    """A few rows with one or two columns of words, and what substitutes them."""
    draw = np.random.default_rng([seed, 12])
    rows = int(draw.integers(5, 41))
    words = draw.choice(WORDS, rows).tolist()
    if draw.random() < 0.25:
        words = [None if draw.random() < 0.1 else word for word in words]
    columns: dict[str, pl.Series] = {"q0": pl.Series("q0", words, dtype=pl.String)}
    if draw.random() < 0.4:
        columns["q1"] = pl.Series("q1", draw.integers(0, 20, rows).tolist())
    table = pl.DataFrame({
        "name": [f"person {number}" for number in range(rows)], **columns,
        "ill": draw.choice(list("abc"), rows).tolist(), "row": range(rows),
    })  # fmt: skip
    algorithm = str(draw.choice(list(MASKINGS)))
    parameters: dict[str, Any] = {"text": ["q0"], "seed": int(draw.integers(0, 4))}
    if algorithm == "fusion" and draw.random() < 0.5:
        parameters["guide"] = str(draw.choice(["discernibility", "random"]))
    job = kanopy.Job(
        quasi=list(columns),
        k=int(draw.integers(2, 6)),
        identifiers=["name"],
        sensitive=["ill"],
        insensitive=["row"],
        algorithm=algorithm,
        parameters=parameters,
        models=["l-distinct:ill:2"] if algorithm == "fusion" and draw.random() < 0.4 else [],
        weights={"q0": 2.0} if len(columns) > 1 and draw.random() < 0.4 else {},
        missing=str(draw.choice(["as-value", "as-value", "suppress"])),
        shuffle=bool(draw.random() < 0.2),
    )
    return Case(seed, table, job, {}, {})


def judge_masks_release(case: Case, frame: pl.DataFrame, source: pl.DataFrame) -> None:
    """Everything published is shared by k rows, where the masking promises it; what is not masked is as it was."""
    job = case.job
    assert sorted(frame.columns) == sorted([*job.quasi, "ill", "row"]), frame.columns
    rows = frame["row"].cast(pl.Int64).to_list()
    assert len(set(rows)) == frame.height, "a row is published twice"
    assert frame.height == source.height or job.missing == "suppress", "rows were left out"
    assert frame["ill"].to_list() == source["ill"][rows].to_list(), "a sensitive value was changed"
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, labels in zip(rows, frame.select(job.quasi).rows(), strict=True):
        groups.setdefault(labels, []).append(row)
    if job.algorithm != "semantic-swapping":
        for labels, members in groups.items():
            assert len(members) >= job.k, f"{labels} is published of {len(members)} rows, k is {job.k}"
            if job.models:
                assert len({source["ill"][row] for row in members}) >= 2, f"one value behind {labels}"
