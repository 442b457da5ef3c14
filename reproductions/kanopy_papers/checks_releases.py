"""Computed checks of models, losses, attacks, treatments and searches: small cases settled by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def _close(one: Any, other: float) -> bool:
    return abs(float(one) - other) < 1e-12


SIZES, EXTENTS = np.array([3, 1]), np.array([[0.5, 0.0], [1.0, 1.0]])
"""Two clusters, and what share of two columns' ranges each spans."""


def cluster_loss() -> bool:
    """(3 · 0.5 + 1 · 2) of at most 4 · 2."""
    from kanopy.metrics.cluster_loss import normalized_total_loss

    return _close(normalized_total_loss(SIZES, EXTENTS), 3.5 / 8)


def nil_one() -> bool:
    """Mean over clusters of the mean extent: (0.25 + 1) / 2."""
    from kanopy.metrics.cluster_loss import average_extent

    return _close(average_extent(EXTENTS), 0.625)


def nil_largest() -> bool:
    """Per column the largest extent of any cluster, averaged: (1 + 0.25) / 2."""
    from kanopy.metrics.cluster_loss import largest_extent

    return _close(largest_extent(np.array([[0.5, 0.25], [1.0, 0.0]])), 0.625)


def _classes(*rows: list[int]) -> Any:
    from kanopy._core.classes import Classes, ColumnFacts

    held = np.array(rows)
    facts = {"ill": ColumnFacts(tuple("abc"[: held.shape[1]]), held.sum(axis=0))}
    return Classes(held.sum(axis=1), histograms={"ill": held}, facts=facts)


def p_sensitive() -> bool:
    """A class of one illness breaks 2-sensitivity, one of two keeps it."""
    from kanopy.privacy.diversity import PSensitive

    return bool(PSensitive("ill", 2).violated(_classes([3, 0], [2, 1])).tolist() == [True, False])


def l_diversity() -> bool:
    """Distinct: two values of three. Entropy: e to ln 2 is 2, above 1.9, and 3 : 1 is 1.75, below."""
    from kanopy.privacy.diversity import DistinctDiversity, EntropyDiversity

    distinct = DistinctDiversity("ill", 3).violated(_classes([1, 1, 0], [1, 1, 1])).tolist() == [True, False]
    return bool(distinct and EntropyDiversity("ill", 1.9).violated(_classes([2, 2], [3, 1])).tolist() == [False, True])


def alpha_k() -> bool:
    """No value of more than half of a class."""
    from kanopy.privacy.diversity import AlphaK

    return bool(AlphaK("ill", 0.5, 2).violated(_classes([3, 1], [2, 2])).tolist() == [True, False])


def t_closeness() -> bool:
    """Half of all are ill: three of four are (|.75 - .5| + |.25 - .5|) / 2 away."""
    from kanopy.privacy.closeness import EqualCloseness

    return np.allclose(EqualCloseness("ill", 0.2).distances(_classes([3, 1], [1, 3])), [0.25, 0.25])


def qi_cluster() -> bool:
    """Rows that are equal on all quasi-identifiers, and no others."""
    from kanopy import check

    found = check({"a": ["x", "x", "y"], "b": ["1", "1", "1"]}, quasi=["a", "b"])
    return found.k == 1


def otf() -> bool:
    """0, 2, 4, 7: the nearest are joined first, then the next to their union's centre (1, 4), then all."""
    from kanopy.hierarchy.builders.on_the_fly import Otf

    h = Otf().build([0, 2, 4, 7])
    return [h.label(node) for node in range(h.size, h.node_count)] == ["[0, 2]", "[0, 4]", "[0, 7]"]


def iotf_nodes() -> bool:
    """Nodes are a smallest and a largest value; the union of adjacent nodes that is smallest is made first."""
    from kanopy.hierarchy.builders.on_the_fly import Iotf

    h = Iotf().build([0, 2, 4, 7])
    return [h.label(node) for node in range(h.size, h.node_count)] == ["[0, 2]", "[4, 7]", "[0, 7]"]


def top_and_bottom() -> bool:
    from kanopy.hierarchy.builders.bins import Cuts

    found = Cuts(edges=(30,), bottom=17, top=80).build([3, 17, 18, 40, 80, 95]).labels_at(1)
    return found == ("≤ 17", "[18, 29]", "[30, 79]", "≥ 80")


def k_member() -> bool:
    """Every cluster has k records or more, and near ones are together."""
    from kanopy.search.clustering.kmember import k_member_clusters
    from kanopy.search.example import letters

    groups = k_member_clusters(letters("acbd").domain, 2).of_row.tolist()
    return bool(groups[0] == groups[2] != groups[1] == groups[3])


def _job(**more: Any) -> Any:
    from kanopy import Job

    tree: dict[str, Any] = {"age": {"method": "widths", "widths": [2, 4]}, "zip": {"method": "redact"}}
    return Job(quasi=["age", "zip"], k=2, hierarchies=tree, **more)


TABLE: dict[str, list[Any]] = {"age": [0, 1, 2, 3, 4, 5, 6, 7], "zip": ["10", "10", "11", "11", "20", "20", "21", "21"]}


def _losses() -> dict[tuple[int, int], tuple[float, bool]]:
    """The loss and the feasibility of every choice of one level per column, counted row by row."""
    from kanopy.hierarchy.builders.bins import Widths
    from kanopy.hierarchy.builders.masking import Redact

    trees = Widths(widths=(2, 4)).build(TABLE["age"]), Redact().build(TABLE["zip"])
    found = {}
    for levels in itertools.product(*(range(tree.height + 1) for tree in trees)):
        columns = [
            [tree.generalize(str(value), level) for value in values]
            for tree, level, values in zip(trees, levels, TABLE.values(), strict=True)
        ]
        rows = list(zip(*columns, strict=True))
        found[levels[0], levels[1]] = (float(sum(levels)), all(rows.count(row) > 1 for row in rows))
    return found


def full_domain() -> bool:
    """One level per column, and no feasible choice lies wholly below the one that is published."""
    from kanopy import anonymize

    solution: Any = anonymize(TABLE, _job()).solution
    chosen = solution.levels
    feasible = [levels for levels, (_, holds) in _losses().items() if holds]
    below = [one for one in feasible if one != tuple(chosen) and all(a <= b for a, b in zip(one, chosen, strict=True))]
    return tuple(chosen) in feasible and not below


def searches_named() -> bool:
    """Top-down specialization and Incognito publish what their models ask."""
    from kanopy import anonymize

    found = [anonymize(TABLE, _job(algorithm=name)).smallest_class for name in ("top-down-specialization", "incognito")]
    return min(found) >= 2


def local_recoding() -> bool:
    """Equal values may be published differently, and the loss is no higher than by one level per column."""
    from kanopy import anonymize

    table = {"age": [0, 1, 2, 3, 4, 5, 6, 7, 0], "zip": ["10", "10", "11", "11", "20", "20", "21", "21", "21"]}
    whole, cells = (anonymize(table, _job(algorithm=name)) for name in ("optimal", "best"))
    return cells.smallest_class >= 2 and cells.losses["loss"] <= whole.losses["loss"]


def local_suppression() -> bool:
    """One odd row is suppressed within the limit instead of everybody being generalized."""
    from kanopy import anonymize

    rows = {"age": [0, 0, 0, 0, 7], "zip": ["10"] * 4 + ["21"]}
    found = anonymize(rows, _job(suppress=0.2))
    return list(found.data["age"])[:4] == ["0"] * 4 or list(found.data["age"])[:4] == [0] * 4


def roles() -> bool:
    """Columns without a role and identifiers are not published."""
    from kanopy import anonymize

    rows = {**TABLE, "name": list("abcdefgh"), "note": list("abcdefgh")}
    return set(anonymize(rows, _job(identifiers=["name"])).data) == {"age", "zip"}


def linking() -> bool:
    """Names left out, two columns still tell one person from all others."""
    from kanopy import check

    return check(TABLE, quasi=["age", "zip"]).k == 1 and check(TABLE, quasi=["zip"]).k == 2


def homogeneity() -> bool:
    """Four rows of one illness: whoever is in the class has it, for certain."""
    from kanopy.metrics.risk.disclosure import attribute_disclosure

    found = attribute_disclosure("ill", groups=[0, 1, 1], values=[0, 0, 1], counts=[4, 3, 1])
    return found.certain_rows == 4 and _close(found.expected_confidence, (4 * 1 + 4 * 0.75) / 8)


def same_order() -> bool:
    """Rows in the order of the table are found by their place."""
    from kanopy.study.earlier_release import row_order

    return (row_order(np.array([0, 1, -1, 2])).found, row_order(np.array([2, 1, 0])).found) == (3, 1)


def two_releases() -> bool:
    """20–29 in one release and 25–34 in another is 25–29: all four rows become unique."""
    import polars as pl

    from kanopy.study.earlier_release import beside

    one = pl.DataFrame({"age": ["20-29", "20-29", "30-39", "30-39"]})
    two = pl.DataFrame({"age": ["20-24", "25-34", "25-34", "35-39"]})
    return beside(one, two, ["age"]).unique_rows == 4


def halving() -> bool:
    """A node at a level of two is distorted by 1, at the top by 2; three rows and two rows: 5."""
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.metrics.distortion import distortion, node_distortions

    one = Hierarchy.from_rows([["1", "[1, 2]", "*"], ["2", "[1, 2]", "*"]])
    nodes = [level.tolist() for level in node_distortions(one, "halving")]
    return nodes[1] == [1.0] and _close(distortion([one], [np.array([3, 2])], [1], "halving"), 5.0)


def printed_discernibility() -> bool:
    """Over records: three times 3², and twice 2²."""
    from kanopy.metrics.semantic_masking import discernibility_per_record

    return discernibility_per_record([3, 2]) == 3 * 9 + 2 * 4


def loss_metric_lm() -> bool:
    """Two of three values are hidden for two of four people: (2 - 1) / (3 - 1), half of the time."""
    from kanopy.metrics.semantic_masking import loss_metric

    return _close(loss_metric(np.array([0, 0, 1]), [np.array([1, 2, 3])], [1, 1, 2]), 0.25)


def certainty_penalty_ncp() -> bool:
    """Two of three values for two of four people: 2 / 3, half of the time."""
    from kanopy.metrics.semantic_masking import certainty_penalty

    return _close(certainty_penalty(np.array([0, 0, 1]), [np.array([1, 2, 3])], [1, 1, 2]), 1 / 3)


def semantic_quality_sum() -> bool:
    """Similarities of 1 and 1 for three people, .5 and 1 for one: 7.5 of 8."""
    from kanopy.metrics.semantic_masking import normalized_semantic_quality, semantic_quality

    similar, people = np.array([[1.0, 1.0], [0.5, 1.0]]), [3, 1]
    return _close(semantic_quality(similar, people), 7.5) and _close(
        normalized_semantic_quality(similar, people), 7.5 / 8
    )


def sample_content() -> bool:
    """Two different answers carry ln 2, two equal ones nothing."""
    from kanopy.metrics.semantic_masking import information_content_loss

    return bool(abs(information_content_loss([[1, 1]], [[2]]) - np.log(2)) < 1e-9)


def exact_linkage() -> bool:
    """Of four people in one class one is linked rightly by chance."""
    from kanopy.metrics.semantic_masking import exact_linkage_percent

    return _close(exact_linkage_percent([1, 3], np.array([0, 1]), np.array([1, 1]), np.array([1, 3])), 25.0)


def partitions_apart() -> bool:
    """Equal partitions are 0 apart whatever the names, independent ones 1."""
    from kanopy.metrics.partition_distance import partition_distance

    same, crossed = ([1, 1, 0, 0], [0, 1, 0, 1])
    return (partition_distance([0, 0, 1, 1], same), partition_distance([0, 0, 1, 1], crossed)) == (0.0, 1.0)


def ward_joins() -> bool:
    """The two near ones are joined first."""
    from kanopy.metrics.partition_distance import ward

    near = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
    return sorted(ward(near, [1, 1, 1]).merges[0, :2].tolist()) == [0.0, 1.0]


def drawn_sample() -> bool:
    import polars as pl

    from kanopy.release.baseline import baseline

    rows = baseline(pl.DataFrame({"row": range(100)}), "sampling", ["row"], 0.3, seed=4)["row"].to_list()
    return len(rows) == len(set(rows)) == 30 and 0 <= min(rows) <= max(rows) < 100


def one_of_each_group() -> bool:
    import polars as pl

    from kanopy.release.baseline import one_per_group

    found = one_per_group(pl.DataFrame({"why": ["bird", "beach", "bird"]}), ["why"]).rows()
    return found == [("bird", 2), ("beach", 1)]


def swapped_ranks() -> bool:
    """The values stay, and none moves further than its share of the ranks."""
    from kanopy.treatments.apply import treat_values

    values = [float(one) for one in range(100)]
    found = treat_values(values, {"method": "rank-swap", "percent": 5})
    far = max(abs(one - other) for one, other in zip(values, found, strict=True))
    return sorted(found) == values and found != values and far <= 5


def pram_keeps() -> bool:
    """With a probability of 1 to stay every category stays; an invariant matrix keeps the frequencies it expects."""
    from kanopy.treatments.pram import invariant

    t = np.array([0.5, 0.3, 0.2])
    matrix = invariant(np.full((3, 3), 0.1) + 0.7 * np.eye(3), t)
    return bool(np.abs(t @ matrix - t).max() <= 1e-12 and np.allclose(matrix.sum(axis=1), 1.0))


RELEASES = (
    cluster_loss, nil_one, nil_largest, p_sensitive, l_diversity, alpha_k, t_closeness, qi_cluster, otf,
    iotf_nodes, top_and_bottom, k_member, full_domain, searches_named, local_recoding, local_suppression, roles,
    linking, homogeneity, same_order, two_releases, halving, printed_discernibility, loss_metric_lm,
    certainty_penalty_ncp, semantic_quality_sum, sample_content, exact_linkage, partitions_apart, ward_joins,
    drawn_sample, one_of_each_group, swapped_ranks, pram_keeps,
)  # fmt: skip
