"""The stand-in survey: figures that group sizes decide (spec), and the order of the guides at every k.

Source of the numbers: Martínez 2010, Table 5 (profile) and the closed computation on its group sizes.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl
import pytest

from kanopy._table.survey import PROFILE, survey
from kanopy.masking.algorithms.fusion import final_targets
from kanopy.masking.algorithms.fusion_kernel import FusionRules, begin_fusion, fuse
from kanopy.masking.encoding import encode_columns, masking_tables
from kanopy.masking.evaluation import Evaluation, unmasked
from kanopy.masking.job import MaskJob
from kanopy.masking.table import MaskingTable
from kanopy.release.run import mask
from tests.kernels import masking_definitions
from tests.shared_input import FIGURES

TEXT = ("reason1", "reason2")
FIXED = {2: (152, 15.5897, 35_301), 5: (74, 7.5897, 36_635), 10: (47, 4.8205, 39_399), 20: (27, 2.7692, 47_507)}


@lru_cache
def oracle() -> pl.DataFrame:
    return pl.read_csv(FIGURES / "survey975.csv")


def own_survey() -> pl.DataFrame:
    return pl.DataFrame(survey())


@lru_cache
def table_of(shared: bool) -> MaskingTable:
    frame = oracle() if shared else own_survey()
    job = MaskJob(text=TEXT, targets="any")
    return masking_tables(frame, job, encode_columns(frame, job))[0]


def run(table: MaskingTable, k: int, **options: object) -> Evaluation:
    masked = MaskJob(text=TEXT, k=k, **options).make().mask(table, k, {}, lambda *_: None)  # type: ignore[arg-type]
    return Evaluation(table, masked, k)


def test_our_survey_has_the_published_profile() -> None:
    table = table_of(False)
    counts, times = np.unique(table.counts, return_counts=True)
    assert dict(zip(counts.tolist(), times.tolist(), strict=True)) == PROFILE
    assert (table.rows, len(table.tuples), sum(PROFILE.values())) == (975, 211, 211)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("k", FIXED)
def test_discernibility_guide_gives_the_fixed_figures(k: int, shared: bool) -> None:
    found = mask(
        oracle() if shared else own_survey(), MaskJob(text=TEXT, k=k, guide="discernibility", targets="any")
    ).summary()
    groups, linkage, dm = FIXED[k]
    assert (found["groups"], found["dm"]) == (groups, dm)
    assert found["record_linkage_percent"] == pytest.approx(linkage, abs=5e-5)


@pytest.mark.parametrize("shared", [True, False])
def test_unmasked_linkage_and_discernibility(shared: bool) -> None:
    table = table_of(shared)
    found = Evaluation(table, unmasked(table), 1)
    assert found.record_linkage_percent == pytest.approx(21.641, abs=5e-4)
    assert int((found.sizes**2).sum()) == 35_183
    assert found.semantic_quality == 1.0


@pytest.mark.parametrize("shared", [True, False])
def test_meaning_beats_sizes_and_chance_and_refined_beats_greedy_at_every_k(shared: bool) -> None:
    table = table_of(shared)
    for k in range(2, 21):
        semantic = run(table, k)
        others = [run(table, k, guide="discernibility"), *(run(table, k, guide="random", seed=s) for s in range(5))]
        assert semantic.semantic_quality > max(other.semantic_quality for other in others), k
        assert semantic.record_linkage_percent == pytest.approx(100 * len(semantic.sizes) / 975)
        assert semantic.record_linkage_percent < others[0].record_linkage_percent, k
        refined = run(table, k, search="refined")
        assert refined.semantic_quality > semantic.semantic_quality, k
        assert refined.record_linkage_percent == pytest.approx(100 * len(refined.sizes) / 975)
        assert min(semantic.sizes.min(), refined.sizes.min(), *(other.sizes.min() for other in others)) >= k


@pytest.mark.parametrize("k", [2, 6, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_fusion_of_the_survey_is_the_plain_algorithm(k: int, seed: int) -> None:
    table = table_of(True)
    like, priority = table.likeness, np.random.default_rng(seed).permutation(len(table.counts))
    results = []
    for step in (fuse, masking_definitions.fuse):
        state = begin_fusion(like, table.counts, np.zeros((len(table.counts), 0, 1), np.int32), priority)
        while not step(like, state, FusionRules(k, True, True, np.zeros(0, np.int64)), 10_000):
            pass
        results.append(final_targets(state.into).tolist())
    assert results[0] == results[1]


def test_masking_the_survey_is_fast_once_warm() -> None:
    job = MaskJob(text=TEXT, k=5, targets="any")
    mask(own_survey(), job)
    seconds = min(sum(mask(own_survey(), job).clock.seconds[s] for s in ("meanings", "search")) for _ in range(5))
    assert seconds < 0.1
