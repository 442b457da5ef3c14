"""What `anonymize` writes, `check` with the same job accepts: random jobs, read back from every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import NoSolution

FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".xlsx", ".csv.gz", ".dta")
ALGORITHMS = ("optimal", "datafly", "incognito", "mondrian", "best", "k-member", "cell-level", "iterative-local")
MODELS = (
    [], ["l-distinct:ill:2"], ["l-entropy:ill:1.5"], ["alpha-k:ill:0.8"], ["p-sensitive:ill:2"],
    ["risk-average:0.3"], ["subset-k:1:4"],
)  # fmt: skip


def drawn(seed: int) -> tuple[pl.DataFrame, kanopy.Job]:
    """A small table and a job that suppresses rows."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(12, 60))
    table = pl.DataFrame(
        {
            "age": draw.choice([20, 21, 35, 36, 50, 77, None], rows).tolist(),
            "town": draw.choice(["Bonn", "Ulm", "?", "Kiel"], rows, p=[0.5, 0.3, 0.1, 0.1]).tolist(),
            "ill": draw.choice(["flu", "cold", "HIV", None], rows, p=[0.5, 0.3, 0.1, 0.1]).tolist(),
            "score": draw.choice([1.5, 2.5, 99.0], rows).tolist(),
        },
        strict=False,
    )
    job = kanopy.Job(
        quasi=["age", "town"], sensitive=["ill", "score"], k=int(draw.integers(2, 5)),
        suppress=float(draw.choice([0.1, 0.3, 1.0])), algorithm=str(draw.choice(ALGORITHMS)),
        models=MODELS[int(draw.integers(len(MODELS)))], missing_tokens="?", column_tokens={"score": "99.0"},
        suppressed_rows=str(draw.choice(["keep", "keep", "drop"])), shuffle=bool(draw.integers(2)),
        missing=str(draw.choice(["as-value", "suppress"])),
    )  # fmt: skip
    if kanopy.Job(quasi="a", algorithm=job.algorithm).algorithm in ("best", "k-member", "cell-level", "mondrian"):
        job = job.replaced(parameters={"budget_seconds": 0.05} if job.algorithm == "best" else {})
    return table, job


def with_lists(seed: int) -> tuple[pl.DataFrame, kanopy.Job]:
    """A table with lists in cells, as such or as texts, and a job that protects them."""
    draw = np.random.default_rng([seed, 1])
    rows = int(draw.integers(20, 80))
    goods = ["ale", "nuts", "tea", "milk"]
    bought = [draw.choice(goods, int(draw.integers(1, 4)), replace=False).tolist() for _ in range(rows)]
    table = pl.DataFrame({"bought": bought, "ill": draw.choice(list("xyz"), rows)})
    table = table.with_columns(pl.col("bought").list.join(";"))  # what files of text can hold
    job = kanopy.Job(
        quasi="bought", sensitive="ill", k=int(draw.integers(2, 4)), known=[1, 2, "all"][int(draw.integers(3))],
        suppress=float(draw.choice([0.1, 0.5, 1])), separators={"bought": ";"},
        suppressed_rows=str(draw.choice(["keep", "drop"])), models=["l-distinct:ill:2"] if draw.integers(2) else [],
    )  # fmt: skip
    return table, job


def checked(seed: int, folder: Path) -> bool:
    """Whether a random job had a release; that must pass the check as it is and read back from a file."""
    table, job = with_lists(seed) if seed % 5 == 4 else drawn(seed)
    try:
        made = kanopy.anonymize(table, job)
    except NoSolution:
        return False
    except kanopy.KanopyError as error:
        assert any(words in str(error) for words in ("Use algorithm", "nothing is left", "has only")), (seed, error)
        return False
    file = folder / f"release{FORMATS[seed % len(FORMATS)]}"
    made.write(str(file))
    for release in (made.data, str(file)):
        found: Any = kanopy.check(release, job, as_release=True)
        assert found.holds, (seed, file.suffix, found.models)
        assert found.k >= job.k, seed
        assert found.rows == made.verification.rows or job.separators, seed  # records, and elements of their lists
    return True


@pytest.mark.parametrize("start", range(0, 40, 20))
def test_every_release_passes_check(start: int, tmp_path: Path) -> None:
    done = sum(checked(seed, tmp_path) for seed in range(start, start + 20))
    assert done >= 8  # not all jobs are refused


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 1_400, 100))
def test_many_releases_pass_check(start: int, tmp_path: Path) -> None:
    assert sum(checked(seed, tmp_path) for seed in range(start, start + 100)) >= 40
