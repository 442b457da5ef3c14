"""The thesis rerun: verdicts that group sizes decide, the order of the guides, files."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kanopy.metrics.partition_distance import ward
from kanopy_papers import martinez_clusters, martinez_tables
from kanopy_papers.martinez2010 import QUICK_K
from kanopy_papers.one_question import PROFILE, one_question
from kanopy_papers.reproduction import VERDICTS, Reproduction, reproduce_paper
from tests.shared_input import needs_shared


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
    assert len(rerun.figures) == 16
    assert all(figure.chart["data"]["values"] for figure in rerun.figures)


def test_one_question_has_the_printed_repetitions() -> None:
    assert Counter(Counter(one_question()).values()) == PROFILE


def test_appended_papers_are_judged_by_their_numbers(rerun: Reproduction) -> None:
    assert [c.verdict for c in rerun.claims if "considerable margin" in c.claim] == ["holds", "holds"]
    far = next(t for t in rerun.tables if t.name == "ipmu_path_length")
    assert far.header == ("k", "Wu & Palmer", "Leacock & Chodorow", "Path length", "random")
    for row in far.rows:
        assert 0 < row[3] <= min(row[1:]) < row[4]  # recoding by path length is best judged by path length
    three = next(c for c in rerun.claims if "three times more meaning" in c.claim)
    ratios = [row[4] / np.mean(row[1:4]) for row in far.rows if row[0] <= 6]
    assert (three.verdict == "holds") == (min(ratios) >= 3)


def test_cuts_are_where_the_variance_ratio_peaks() -> None:
    middles = np.repeat([0.0, 100.0, 200.0], 20)
    points = middles + np.random.default_rng(0).normal(0, 5, 60)
    ratios = martinez_clusters.variance_ratio(ward(np.abs(points[:, None] - points), np.ones(60)), 60)
    assert martinez_clusters.good_cuts(ratios)[0] == 3
    within, total = sum(points[middles == m].var() * 20 for m in (0, 100, 200)), points.var() * 60
    assert ratios[1] == pytest.approx(((total - within) / 2) / (within / 57))


def test_clusters_over_two_ontologies_are_another_table(rerun: Reproduction) -> None:
    tables = {table.name: table.rows for table in rerun.tables}
    one, two = tables["cluster_distance_between"], tables["cluster_distance_two_ontologies"]
    assert [row[:2] for row in one] == [row[:2] for row in two] and one != two


def test_table_4_needs_ratings_and_follows_from_them(rerun: Reproduction) -> None:
    assert verdict(rerun, "ratings of M&C") == "not decidable"
    published = {name: row[2] for name, row in martinez_tables.TABLE_4.items()}
    same = martinez_tables.table_4({"M&C": dict(published)})[1]
    assert [claim.verdict for claim in same] == ["holds", "not decidable", "holds"]
    other = martinez_tables.table_4({"M&C": {**published, "lin": 0.2, "resnik": 0.2}})[1]
    assert [claim.verdict for claim in other] == ["does not hold", "not decidable", "does not hold"]


def test_table_4_with_the_ratings_of_people() -> None:
    files = [needs_shared("oracles", name) for name in ("mc30.csv", "rg65.csv")]
    table = martinez_tables.thesis_tables(files)[0][2]
    here = {row[0]: row[4:] for row in table.rows}
    assert here["Wu & Palmer"] == pytest.approx((0.728, 0.785), abs=5e-4)
    assert here["Leacock & Chodorow"] == pytest.approx((0.779, 0.839), abs=5e-4)
