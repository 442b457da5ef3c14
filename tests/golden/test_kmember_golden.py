"""k-member on Adult, all 45,222 records, and on a small table: labels and exact losses.

Source: `figures/kmember_fixtures.json` (computed by an independent implementation of Campan, Cooper,
Truta 2011, section 4; records in file order, first reference row 0; digests of little-endian int32 labels).
"""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from kanopy._core.classes import Domain
from kanopy._core.numbering import distinct_tuples
from kanopy.metrics.local_losses import local_losses
from kanopy.search.clustering.kmember import k_member_clusters
from kanopy_papers.campan2011 import ATTRIBUTES, adult_domain, setting_hierarchies
from tests.shared_input import figures

# setting, k: SHA-256 of the labels, NTIL, DM, classes after merging, DM after merging
ADULT = {
    ("IOTF", 2): (
        "fb1830cb84345632c54432128ac5771a5e87a39e9012e6379fd68dd81ac27868",
        "14602703/3639579615",
        90444,
        8084,
        2513636,
    ),
    ("IOTF", 10): (
        "66c341f1bbb72fc6d13158a474e2a8941fdce15457c4fefd11fd3c9502a9ead1",
        "5298667/242638641",
        452242,
        3031,
        2264082,
    ),
    ("OTF", 2): (
        "fc24161d684946f983091f397216b8c366ef31ba3514e2e8c6c866a9fa5c4628",
        "30323479/7279159230",
        90444,
        8120,
        2513804,
    ),
    ("OTF", 10): (
        "b9417d6531782d0056d16d609f7ea2d08251f02c3ae771879bf95f7498d2ae3a",
        "1543091/69325326",
        452242,
        3058,
        2229822,
    ),
    ("Predefined", 2): (
        "9741c9d4e795d2af5e22dadad36eab4388306baadaa181681eeb43ded09a91e2",
        "293081/49518090",
        90444,
        7689,
        2473292,
    ),
    ("Predefined", 10): (
        "b1e9700f6a6c43a615fa90f5bea973050ad3bc12916892bd4b0ed82e42abf7a7",
        "7525729/242638641",
        452244,
        2898,
        1917964,
    ),
    ("Free", 2): (
        "6ee6ff284efc09355f2d2cfb2cb041d13bd01cfecb4f0f49b15fef33ccd8354a",
        "12587011/7279159230",
        90444,
        8215,
        2517148,
    ),
    ("Free", 10): (
        "2fb5e8621be69fd5ce60dfa58e113cd3365b1060a74f7a7ef8894310f9e23da4",
        "1974563/161759094",
        452244,
        3098,
        2230364,
    ),
    ("Han", 2): (
        "64b91af1287e100653f977314f96ba094f705685273515d18b130c4c762581a6",
        "45957599/7279159230",
        90444,
        7732,
        2535188,
    ),
    ("Han", 10): (
        "cfe50a2d432a8af85624bc8025f5e27eb24f33695279fd28088077241c84eb11",
        "3323728/103987989",
        452242,
        2584,
        2470682,
    ),
    ("Chu", 2): (
        "3a390e6ba2cd6bc05a1b25eabcb777c44cc97b4dd8c846b946d8c3c6a05fc7df",
        "10395473/2426386410",
        90444,
        8088,
        2514852,
    ),
    ("Chu", 10): (
        "846e16a6b5e757f5666c5e5a500e275a0cc262b04bba0e484daa4ea0e683b124",
        "33758021/1455831846",
        452244,
        3051,
        2258404,
    ),
}


@pytest.mark.parametrize("setting", sorted({setting for setting, _ in ADULT}))
def test_adult_labels_and_losses(setting):
    domain = adult_domain(setting)
    for (own, k), (digest, total, squares, merged, merged_squares) in ADULT.items():
        if own != setting:
            continue
        groups = k_member_clusters(domain, k, free=ATTRIBUTES if setting == "Free" else ())
        assert hashlib.sha256(groups.of_row.astype("<i4").tobytes()).hexdigest() == digest
        assert groups.total_loss() == Fraction(total)
        recoding = groups.recoding(domain)
        losses = local_losses(domain, recoding, k)
        assert losses["NTIL"] == pytest.approx(float(Fraction(total)), rel=1e-12)
        assert (losses["DM"], recoding.classes.count, losses["DM_merged"]) == (squares, merged, merged_squares)
        assert recoding.classes.smallest >= k


def test_small_table_and_every_other_number_of_the_fixtures():
    fixtures = figures("kmember_fixtures")
    rows = np.array(fixtures["small"]["rows"])
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in rows.T]
    for case in fixtures["small"]["cases"]:
        trees = setting_hierarchies(case["setting"], list(rows.T))
        tuples, counts, of_row, _ = distinct_tuples(codes, [tree.size for tree in trees])
        domain = Domain(ATTRIBUTES, trees, tuples, counts, of_row)
        groups = k_member_clusters(domain, case["k"], free=ATTRIBUTES if case["setting"] == "Free" else ())
        assert groups.of_row.tolist() == case["labels"]
        assert groups.total_loss() == Fraction(case["NTIL"])
        recoding = groups.recoding(domain)
        losses = local_losses(domain, recoding, case["k"])
        for name in ("NIL1", "NILinf", "DM", "AVG", "DM_merged", "AVG_merged"):
            assert losses[name] == pytest.approx(case[name], rel=1e-12), (case["setting"], case["k"], name)
        assert (groups.count, recoding.classes.count) == (case["u"], case["u_merged"])
    for setting, cases in fixtures["adult_file_order"]["digests"].items():
        domain = adult_domain(setting)
        for k, case in cases.items():
            groups = k_member_clusters(domain, int(k), free=ATTRIBUTES if setting == "Free" else ())
            losses = local_losses(domain, groups.recoding(domain), int(k))
            assert losses["NIL1"] == pytest.approx(case["NIL1"], rel=1e-12)
            assert losses["NILinf"] == pytest.approx(case["NILinf"], rel=1e-12)
