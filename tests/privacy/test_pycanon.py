"""A second implementation: pycanon measures the parameters of a table, our models must agree at its number."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kanopy.study.check import check

pycanon = pytest.importorskip("pycanon.anonymity", reason="pycanon is the second implementation to compare with")
pandas = pytest.importorskip("pandas")

JUST = 1e-9


def table(seed: int, rows: int = 80) -> pl.DataFrame:
    """Two quasi-identifiers and two sensitive columns, with classes of very different sizes."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "zip": rng.choice(["130", "131", "140"], rows, p=[0.5, 0.3, 0.2]),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold", "hiv", "ulcer"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "pay": rng.choice([10, 20, 30, 70], rows),
        }
    )


def holds(frame: pl.DataFrame, model: str) -> bool:
    return check(frame, quasi=["zip", "sex"], models=[model]).models[0].holds


@pytest.mark.parametrize("seed", range(6))
def test_same_parameters(seed: int) -> None:
    frame = table(seed)
    other, quasi, ill = frame.to_pandas(), ["zip", "sex"], ["ill"]

    k = pycanon.k_anonymity(other, quasi)
    assert check(frame, quasi=quasi).k == k
    assert holds(frame, f"k:{k}") and not holds(frame, f"k:{k + 1}")

    alpha, _ = pycanon.alpha_k_anonymity(other, quasi, ill)
    assert holds(frame, f"alpha-k:ill:{min(1, alpha + JUST)},2")
    assert not holds(frame, f"alpha-k:ill:{alpha - JUST},2")

    l_distinct = pycanon.l_diversity(other, quasi, ill)
    assert holds(frame, f"l-distinct:ill:{l_distinct}")
    assert l_distinct == 4 or not holds(frame, f"l-distinct:ill:{l_distinct + 1}")

    t = pycanon.t_closeness(other, quasi, ill)
    assert holds(frame, f"t-equal:ill:{t + JUST}") and not holds(frame, f"t-equal:ill:{t - JUST}")
    ordered = pycanon.t_closeness(other, quasi, ["pay"])
    assert holds(frame, f"t-ordered:pay:{ordered + JUST}") and not holds(frame, f"t-ordered:pay:{ordered - JUST}")

    beta = pycanon.basic_beta_likeness(other, quasi, ill)
    assert holds(frame, f"beta-basic:ill:{beta + JUST}") and not holds(frame, f"beta-basic:ill:{beta - JUST}")

    delta = pycanon.delta_disclosure(other, quasi, ill)
    # It looks only at the values that a class has.
    assert holds(frame, f"delta-disclosure:ill:{delta + JUST},ignored")
    assert not holds(frame, f"delta-disclosure:ill:{delta - JUST},ignored")
    if l_distinct == 4:
        assert holds(frame, f"delta-disclosure:ill:{delta + JUST}")


@pytest.mark.parametrize("seed", range(6))
def test_entropy_diversity(seed: int) -> None:
    frame = table(seed)
    whole = pycanon.entropy_l_diversity(frame.to_pandas(), ["zip", "sex"], ["ill"])
    # It reports the whole part of the entropy's exponential.
    assert holds(frame, f"l-entropy:ill:{whole}")
    assert whole == 4 or not holds(frame, f"l-entropy:ill:{whole + 1}")
