"""The numbers of a masking: what it did to meaning, to the sizes of groups, to risk, and to an analysis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kanopy._arrays import Floats, Ints, Longs, Mask
from kanopy.masking.likeness_kernel import TICKS, linkage, matrix
from kanopy.masking.masking_result import Masked
from kanopy.masking.table import MaskingTable
from kanopy.masking.targets import rare_answers_shown
from kanopy.metrics.cluster_loss import average_class_size, discernibility
from kanopy.metrics.partition_distance import Dendrogram, partition_distance, ward
from kanopy.metrics.semantic_masking import (
    certainty_penalty,
    discernibility_per_record,
    exact_linkage_percent,
    information_content_loss,
    linkage_percent,
    loss_metric,
    normalized_semantic_quality,
    semantic_quality,
)

MOST_CLUSTERED = 1_500
"""Distinct tuples that are clustered; larger tables are sampled."""
CLUSTERS = 14
"""The finest cut of the thesis (Table 6)."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A masking beside its original. Every number is computed when it is asked for, and once.

    `shown[m]` numbers the tuple that move `m` publishes: an original tuple, or, from `len(table.tuples)` on, a new one.
    """

    table: MaskingTable
    masked: Masked
    k: int

    @cached_property
    def _tuples(self) -> tuple[Ints, Longs]:
        originals = self.table.tuples
        index = {values: number for number, values in enumerate(map(tuple, originals.tolist()))}
        published_tuple = np.empty(len(self.masked.published), np.int64)
        for move, values in enumerate(map(tuple, self.masked.published.tolist())):
            published_tuple[move] = index.setdefault(values, len(index))
        return np.array(list(index), np.int32).reshape(-1, originals.shape[1]), published_tuple

    @property
    def shown(self) -> Longs:
        """Per move the number of the published tuple."""
        return self._tuples[1]

    @cached_property
    def sizes(self) -> Longs:
        """Records per published group."""
        sizes = np.bincount(self.shown, weights=self.masked.people).astype(np.int64)
        return sizes[sizes > 0]

    @cached_property
    def similarities(self) -> Floats:
        """Per move and attribute the similarity of original and published value, as the measure states it."""
        origin, published = self.table.tuples[self.masked.origin], self.masked.published
        return np.column_stack(
            [
                attribute.similarities(origin[:, j].astype(np.int64), published[:, j].astype(np.int64), raw=True)
                for j, attribute in enumerate(self.table.attributes)
            ]
        )

    @cached_property
    def semantic_quality_sum(self) -> float:
        """Eq. 21."""
        return semantic_quality(self.similarities, self.masked.people)

    @cached_property
    def semantic_quality(self) -> float:
        """Eq. 22: the mean similarity of original and published values, in the measure's own scale."""
        return normalized_semantic_quality(self.similarities, self.masked.people)

    @cached_property
    def semantic_quality_of_changes(self) -> float:
        """The mean similarity of the values of records that changed; `semantic_quality` of 1 if none did."""
        changed = self.shown != self.masked.origin
        if not changed.any():
            return self.semantic_quality
        return normalized_semantic_quality(self.similarities[changed], self.masked.people[changed])

    @cached_property
    def _changed(self) -> Mask:
        """Per move and attribute whether another value is published."""
        return np.asarray(self.table.tuples[self.masked.origin] != self.masked.published, np.bool_)

    @cached_property
    def changed_answers(self) -> int:
        """Answers that are published as something else, over all columns."""
        return int((self._changed * self.masked.people[:, None]).sum())

    @cached_property
    def similarity_of_changes(self) -> float | None:
        """The mean similarity of the answers that changed and what is published for them; `None` if none did."""
        weight = self._changed * self.masked.people[:, None]
        return float((self.similarities * weight).sum() / weight.sum()) if weight.any() else None

    @cached_property
    def rare_answers_shown(self) -> int:
        """Different published answers that fewer than k people gave."""
        return sum(
            rare_answers_shown(
                self.masked.published[:, j],
                attribute.labels,
                np.bincount(self.table.tuples[:, j], weights=self.table.counts, minlength=len(attribute.labels)),
                self.k,
            )
            for j, attribute in enumerate(self.table.attributes)
        )

    @cached_property
    def record_linkage_percent(self) -> float:
        """Eq. 27: records found by matching the published text with the original table."""
        return exact_linkage_percent(self.masked.people, self.masked.origin, self.shown, self.table.counts)

    @cached_property
    def semantic_linkage_percent(self) -> float:
        """Records found by linking each published record to the originals most similar to it."""
        like = self.table.likeness_of(self._tuples[0])
        chances = linkage(like, self.table.counts, self.masked.origin.astype(np.int64), self.shown)
        return linkage_percent(self.masked.people, chances)

    @cached_property
    def changed_records(self) -> int:
        """Records that publish something else than they had."""
        return int(self.masked.people[self.shown != self.masked.origin].sum())

    @cached_property
    def information_content_loss(self) -> float:
        """Information content of the original sample minus that of the masked one."""
        before, after = [], []
        for j, attribute in enumerate(self.table.attributes):
            values = len(attribute.labels)
            before.append(np.bincount(self.table.tuples[:, j], weights=self.table.counts, minlength=values))
            after.append(np.bincount(self.masked.published[:, j], weights=self.masked.people, minlength=values))
        return information_content_loss(before, after)

    def substitutions(self) -> list[dict[str, Any]]:
        """What was replaced by what, most people first: `from`, `to`, `people` and `similarity`."""
        table, masked = self.table, self.masked
        changed = np.flatnonzero(self.shown != masked.origin)
        order = changed[np.lexsort((masked.origin[changed], -masked.people[changed]))]
        weights = np.array(table.weights)
        mean = self.similarities @ (weights / weights.sum())
        return [
            {
                "from": list(self._labels(table.tuples[masked.origin[move]])),
                "to": list(self._labels(masked.published[move])),
                "people": int(masked.people[move]),
                "similarity": float(mean[move]),
            }
            for move in order
        ]

    def groups(self) -> list[dict[str, Any]]:
        """The published groups, largest first: values, records, and how many different original tuples they hide."""
        people = np.bincount(self.shown, weights=self.masked.people).astype(np.int64)
        hidden = np.bincount(self.shown, minlength=len(people))
        quality = np.bincount(self.shown, weights=self.masked.people * self.similarities.mean(axis=1))
        order = sorted(np.flatnonzero(people), key=lambda g: (-people[g], g))
        return [
            {
                "values": list(self._labels(self._tuples[0][group])),
                "people": int(people[group]),
                "answers": int(hidden[group]),
                "similarity": float(quality[group] / people[group]),
            }
            for group in order
        ]

    def _labels(self, codes: Ints) -> tuple[str | None, ...]:
        return tuple(a.labels[int(code)] for a, code in zip(self.table.attributes, codes, strict=True))

    def numbers(self, *, semantic_linkage: bool = True) -> dict[str, Any]:
        """All figures as plain data."""
        columns = [self.table.tuples[self.masked.origin, j] for j in range(len(self.table.attributes))]
        scaled = [attribute.numbers for attribute in self.table.attributes]
        figures: dict[str, Any] = {
            "groups": len(self.sizes),
            "smallest_group": int(self.sizes.min()),
            "changed_records": self.changed_records,
            "semantic_quality": self.semantic_quality,
            "semantic_quality_sum": self.semantic_quality_sum,
            "semantic_quality_of_changes": self.semantic_quality_of_changes,
            "changed_answers": self.changed_answers,
            "similarity_of_changes": self.similarity_of_changes,
            "rare_answers_shown": self.rare_answers_shown,
            "record_linkage_percent": self.record_linkage_percent,
            "dm": discernibility(self.sizes),
            "dm_per_record": discernibility_per_record(self.sizes),
            "c_avg": average_class_size(self.sizes, self.k),
            "ic_loss": self.information_content_loss,
            "lm": loss_metric(self.shown, columns, self.masked.people),
            "ncp": certainty_penalty(self.shown, columns, self.masked.people, scaled),
        }
        if semantic_linkage:
            figures["semantic_linkage_percent"] = self.semantic_linkage_percent
        return figures

    def unknown(self) -> list[dict[str, Any]]:
        """Values that no ontology knows, with suggestions."""
        answers: dict[str, dict[str, Any]] = {}
        for attribute in self.table.attributes:
            for answer in attribute.meanings.unknown if attribute.meanings else ():
                answers.setdefault(answer.value, answer.to_dict())
        return list(answers.values())

    @cached_property
    def clustering(self) -> Clustering:
        """Ward clustering of the records before and after."""
        return cluster_both(self)


@dataclass(frozen=True, eq=False)
class Clustering:
    """Ward clusterings by semantic distance of the same records before and after masking.

    `origin` and `shown` say, per kind of record, which leaf of which tree it is; `people` how many records it stands
    for. `sampled` is the number of distinct tuples left out because the table is large.
    """

    before: Dendrogram
    after: Dendrogram
    origin: Longs
    shown: Longs
    people: Longs
    sampled: int = 0

    def distance(self, clusters: int = CLUSTERS) -> float:
        """The distance of the two partitions (eq. 23), 0 if an analyst finds the same clusters."""
        return partition_distance(
            self.before.cut(clusters)[self.origin], self.after.cut(clusters)[self.shown], self.people
        )


def cluster_both(evaluation: Evaluation, most: int = MOST_CLUSTERED, seed: int = 0) -> Clustering:
    """Cluster originals and published tuples, each as the records they stand for."""
    table, masked = evaluation.table, evaluation.masked
    origin, people = masked.origin, masked.people
    chosen = np.arange(len(origin))
    sampled = 0
    if len(origin) > most:
        rng = np.random.default_rng(seed)
        sampled = len(origin) - most
        chosen = np.sort(rng.choice(len(origin), most, replace=False, p=people / people.sum()))
    before, leaf_before = np.unique(origin[chosen], return_inverse=True)
    after, leaf_after = np.unique(evaluation.shown[chosen], return_inverse=True)
    weight = people[chosen].astype(np.int64)
    trees = []
    for tuples, leaf in ((table.tuples[before], leaf_before), (evaluation._tuples[0][after], leaf_after)):
        load = np.bincount(leaf.reshape(-1), weights=weight)
        trees.append(ward(distances(table, tuples), load))
    leaves = [leaf.reshape(-1).astype(np.int64) for leaf in (leaf_before, leaf_after)]
    return Clustering(trees[0], trees[1], leaves[0], leaves[1], weight, sampled)


def distances(table: MaskingTable, tuples: Ints) -> Floats:
    """One minus the similarity, in both directions averaged; 0 between equals."""
    similar = matrix(table.likeness_of(tuples)) / TICKS
    away = 1.0 - (similar + similar.T) / 2
    np.fill_diagonal(away, 0.0)
    return np.maximum(away, 0.0)


def unmasked(table: MaskingTable) -> Masked:
    """The table as it is: what every comparison begins with."""
    return Masked.per_tuple("none", table, table.tuples, guarantees_k=False)
