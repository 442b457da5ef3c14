"""What clustering finds before and after masking (Martínez 2010, section 5.4, and its appended papers)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kanopy.masking.evaluation import CLUSTERS, Evaluation, unmasked
from kanopy.masking.masking_result import Masked
from kanopy.masking.table import Attribute, MaskingTable, category_attribute
from kanopy.metrics.partition_distance import Dendrogram, partition_distance
from kanopy_papers.martinez_bench import CLUSTERING_K, Curve
from kanopy_papers.reproduction import Claim, at_every, verdict

FUSION_TABLE_1 = {"semantic": 0.26, "discernibility": 0.57, "between": 0.56}
"""Information Fusion paper (appended), Table 1, k = 5: distances to the original, and between the two maskings."""
TABLE_6 = {"WordNet": 0.398, "VGH": 0.515, "discernibility": 0.560}


Crossed = tuple[tuple[str, str, float], ...]


def both_ontologies(first: MaskingTable, second: MaskingTable) -> MaskingTable:
    """A table whose answers are as similar as the ontology says that finds them most alike (CCIA paper, section 4)."""

    def joined(a: Attribute, b: Attribute) -> Attribute:
        values = len(a.labels)
        left, right = np.repeat(np.arange(values), values), np.tile(np.arange(values), values)
        best = np.maximum(a.similarities(left, right), b.similarities(left, right))
        return category_attribute(a.name, a.labels, best.reshape(values, values).astype(np.float32))

    pairs = zip(first.attributes, second.attributes, strict=True)
    return replace(first, attributes=tuple(joined(a, b) for a, b in pairs))


def crossed_distances(table: MaskingTable, maskings: Mapping[str, Masked]) -> Crossed:
    """Table 6: the distances between clusterings of the original and of each masking."""
    labels = {"original": Evaluation(table, unmasked(table), CLUSTERING_K).clustering.before.cut(CLUSTERS)}
    for name, masked in maskings.items():
        both = Evaluation(table, masked, CLUSTERING_K).clustering
        labels[name] = both.after.cut(CLUSTERS)[both.shown]
    names = list(labels)
    return tuple(
        (a, b, partition_distance(labels[a], labels[b], table.counts))
        for x, a in enumerate(names)
        for b in names[x + 1 :]
    )


def variance_ratio(tree: Dendrogram, people: int) -> Curve:
    """Variance between clusters over variance within, per cut into 2, 3, … clusters (Caliński, Harabasz 1974).

    A joining of Ward's method adds half of its squared height to the variance within.

    >>> from kanopy.metrics.partition_distance import ward
    >>> away = np.abs(np.subtract.outer([0.0, 1.0, 10.0], [0.0, 1.0, 10.0]))
    >>> [round(ratio, 1) for ratio in variance_ratio(ward(away, np.ones(3)), 3)[:1]]
    [120.3]
    """
    added = tree.merges[:, 2] ** 2 / 2
    ratios = []
    for clusters in range(2, CLUSTERS + 1):
        within = added[: max(0, len(added) - clusters + 1)].sum()
        between = added.sum() - within
        ratios.append(float((between / (clusters - 1)) / (within / (people - clusters))) if within else np.inf)
    return ratios


def variance_ratios(table: MaskingTable, maskings: Mapping[str, Masked]) -> dict[str, Curve]:
    """The variance ratio per number of clusters, of the original and of each masking."""
    trees = {"original": Evaluation(table, unmasked(table), CLUSTERING_K).clustering.before}
    trees |= {name: Evaluation(table, masked, CLUSTERING_K).clustering.after for name, masked in maskings.items()}
    return {name: variance_ratio(tree, table.rows) for name, tree in trees.items()}


def good_cuts(ratios: Curve) -> list[int]:
    """The numbers of clusters, of 3 and more, with a higher ratio than one cluster less and one more.

    >>> good_cuts([5.0, 6.0, 4.0, 4.5, 3.0])
    [3, 5]
    """
    return [at + 2 for at in range(1, len(ratios) - 1) if ratios[at] > max(ratios[at - 1], ratios[at + 1])]


def cut_claims(ratios: Mapping[str, Curve]) -> list[Claim]:
    """Where the dendrograms can be cut (section 5.4)."""
    cuts = {name: good_cuts(ratio) for name, ratio in ratios.items()}
    ours = "; ".join(f"{name}: {', '.join(map(str, good)) or 'nowhere'}" for name, good in cuts.items())
    why = (
        "A good cut is read as: the variance ratio between clusters and within is higher than with one cluster less "
        "and with one more. The dendrograms of the thesis are pictures."
    )
    return [
        Claim("All dendrograms have a clear cut in 3 clusters (5.4).", "3 in all four", f"good cuts: {ours}",
              verdict(all(3 in good for good in cuts.values())), why),
        Claim("Original and semantically masked data can be cut in 5 clusters, data masked by discernibility "
              "not (5.4).", "5, 5, and 6", f"good cuts: {ours}",
              verdict(5 in cuts["original"] and 5 in cuts["semantic"] and 5 not in cuts["discernibility"]), why),
        Claim("Masking by an ad-hoc hierarchy can be cut in 5 clusters too, less clearly (5.4).", "5",
              f"good cuts: {ours}; the ratio there is {ratios['VGH'][3]:.0f}, of semantic masking "
              f"{ratios['semantic'][3]:.0f}",
              verdict(5 in cuts["VGH"] and ratios["VGH"][3] < ratios["semantic"][3]), why),
    ]  # fmt: skip


def cluster_claims(clusterings: dict[str, Curve], ks: Sequence[int]) -> list[Claim]:
    """Table 6 of the thesis: distances to the original."""
    at = list(ks).index(CLUSTERING_K)
    here = {"WordNet": "semantic", "VGH": "VGH", "discernibility": "discernibility"}
    distances = {name: clusterings[guide][at] for name, guide in here.items()}
    published = ", ".join(f"{name} {value}" for name, value in TABLE_6.items())
    ours = ", ".join(f"{name} {value:.3f}" for name, value in distances.items())
    over_vgh = [a < b for a, b in zip(clusterings["semantic"], clusterings["VGH"], strict=True)]
    over_dm = [a < b for a, b in zip(clusterings["semantic"], clusterings["discernibility"], strict=True)]
    why = "k = 5, as the appended Information Fusion paper says of its own comparison (its Table 1)."
    return [
        Claim("Clusters of the semantically masked data lie nearer to the original than those of the discernibility "
              "metric (5.4, Table 6).", published, f"k = {CLUSTERING_K}: {ours}; {at_every(over_dm, ks)}",
              verdict(distances["WordNet"] < distances["discernibility"]), why=why),
        Claim("Masking by WordNet keeps the clusters better than masking by an ad-hoc hierarchy (5.4, Table 6).",
              published, f"k = {CLUSTERING_K}: {ours}; {at_every(over_vgh, ks)}",
              verdict(distances["WordNet"] < distances["VGH"]), why=why),
    ]  # fmt: skip


def crossed_claims(crossed: Crossed, over_two: Crossed) -> list[Claim]:
    """Tables 1 of the appended Information Fusion paper, which says its k (5), and of the CCIA paper."""
    why = "The survey is not public, so only the order can be compared."
    own_distance, theirs, between = (
        _between(crossed, *pair)
        for pair in (("original", "semantic"), ("original", "discernibility"), ("semantic", "discernibility"))
    )
    published = "{semantic} and {discernibility}; {between} between the two".format(**FUSION_TABLE_1)
    ours = f"{own_distance:.2f} and {theirs:.2f}; {between:.2f} between the two (k = {CLUSTERING_K})"
    names = ("semantic", "VGH", "discernibility")
    first, second, third = (_between(over_two, "original", name) for name in names)
    apart = [value for a, _, value in over_two if a != "original"]
    return [
        Claim("Clusters after semantic masking are nearer to the original than after discernibility (appended paper, "
              "Table 1, k = 5).", published, ours, verdict(own_distance < theirs), why),
        Claim("The two maskings lie far apart: nearly as far as discernibility from the original (appended paper, "
              "Table 1).", published, ours, verdict(between > own_distance),
              why + " Far is read as: farther than semantic "
              "masking from the original."),
        Claim("Clustered by both ontologies, WordNet and the ad-hoc hierarchy, masking by WordNet is nearest to the "
              "original, the hierarchy next, discernibility last (CCIA paper, Table 1).",
              ", ".join(f"{value:.3f}" for value in TABLE_6.values()), f"{first:.3f}, {second:.3f}, {third:.3f}",
              verdict(first < second < third), why),
        Claim("The maskings differ much among themselves (CCIA paper, Table 1).", "0.531 to 0.623",
              f"{min(apart):.3f} to {max(apart):.3f}", verdict(min(apart) > first), why + " Much is read as: more than "
              "masking by WordNet from the original."),
    ]  # fmt: skip


def _between(crossed: Crossed, first: str, second: str) -> float:
    return next(value for a, b, value in crossed if {a, b} == {first, second})
