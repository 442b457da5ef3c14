"""The thesis rerun: verdicts that group sizes decide, the order of the guides, files."""

from __future__ import annotations

import pytest

from kanopy_papers.martinez2010 import QUICK_K
from kanopy_papers.reproduction import VERDICTS, Reproduction, reproduce_paper


@pytest.fixture(scope="module")
def rerun() -> Reproduction:
    return reproduce_paper("martinez2010", quick=True)


def verdict(rerun: Reproduction, text: str) -> str:
    (found,) = [claim.verdict for claim in rerun.claims if text in claim.claim]
    return found


def test_claims_that_hold_and_one_that_does_not(rerun: Reproduction) -> None:
    assert all(claim.verdict in VERDICTS for claim in rerun.claims)
    assert verdict(rerun, "keeps more meaning than the discernibility metric") == "holds"
    assert verdict(rerun, "keeps more meaning than random") == "holds"
    assert verdict(rerun, "better discernibility") == "holds"
    assert verdict(rerun, "Unmasked, record linkage") == "holds"
    assert verdict(rerun, "lower record linkage than the discernibility") == "holds"
    assert verdict(rerun, "second heuristic brings the most") == "holds"
    assert verdict(rerun, "A search beyond the greedy") == "holds"
    assert verdict(rerun, "identical results (5.1)") == "does not hold"
    assert verdict(rerun, "identical results for one attribute") == "holds"


def test_numbers_fixed_by_group_sizes(rerun: Reproduction) -> None:
    fixed = dict(zip(rerun.data["k"], rerun.data["dm"]["discernibility"], strict=True))
    assert [fixed[k] for k in (2, 5, 10, 20)] == [35_301, 36_635, 39_399, 47_507]
    assert rerun.data["unmasked_record_linkage_percent"] == pytest.approx(21.641, abs=5e-4)


def test_tables_cover_every_k(rerun: Reproduction) -> None:
    table = next(table for table in rerun.tables if table.name == "semantic_quality")
    assert [row[0] for row in table.rows] == list(QUICK_K)
    assert len(rerun.figures) == 10
    assert all(figure.chart["data"]["values"] for figure in rerun.figures)
