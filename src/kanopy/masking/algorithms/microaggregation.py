"""Semantic microaggregation: groups of at least `k` similar records that publish their semantic centroid.

Named as future work in Martínez 2010. Groups are formed as in V-MDAV (Solanas, Martínez-Ballesté 2006): around the
record farthest from the middle of the table, then around the one farthest from that, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._progress import Progress
from kanopy.masking.likeness_kernel import TICKS, Likeness, plain_row
from kanopy.masking.masking_result import Masked, Masking, Seed
from kanopy.masking.table import Attribute, MaskingTable


@dataclass(frozen=True)
class SemanticMicroaggregation(Masking):
    """Groups of at least `k` records, each published as, per attribute, the value most similar to all its values."""

    seed: Seed = 0

    name: ClassVar[str] = "semantic-microaggregation"
    does: ClassVar[str] = (
        "forms groups of k similar rows; each group publishes the value that is most similar to all its values"
    )
    source: ClassVar[str] = "MDAV (Domingo-Ferrer, Mateo-Sanz 2002) with semantic similarity"

    def masked(self, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress) -> Masked:
        """Group the table's tuples and publish centroids."""
        group = _groups(table.likeness, table, k, np.random.default_rng(self.seed), progress)
        published = np.empty_like(table.tuples)
        order = np.argsort(group, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            published[members] = centroid(table, members)
        return Masked.per_tuple(self.name, table, published, fusions=len(group) - len(np.unique(group)))


def centroid(table: MaskingTable, members: Longs) -> Ints:
    """Per attribute the value, of those the members have, that is most similar to all of them (ties: the first)."""
    counts = table.counts[members]
    return np.array(
        [_middle(attribute, table.tuples[members, j], counts) for j, attribute in enumerate(table.attributes)], np.int32
    )


def _middle(attribute: Attribute, values: Ints, counts: Longs) -> int:
    """The value in the middle of a group: the median of numbers, otherwise the one most similar to all (the medoid)."""
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) == 1:
        return int(distinct[0])
    people = np.bincount(inverse.reshape(-1), weights=counts)
    if attribute.numbers is not None:
        order = np.argsort(attribute.numbers[distinct])
        half = np.searchsorted(np.cumsum(people[order]), people.sum() / 2)
        return int(distinct[order[half]])
    position = attribute.position[distinct].astype(np.int64)
    inside = position < len(attribute.table)
    similar = np.eye(len(distinct))
    similar[np.ix_(inside, inside)] = attribute.table[np.ix_(position[inside], position[inside])]
    np.fill_diagonal(similar, 1.0)
    return int(distinct[np.argmax((people @ similar).round(9))])


def _groups(like: Likeness, table: MaskingTable, k: int, rng: np.random.Generator, progress: Progress) -> Longs:
    counts = table.counts
    tuples = len(counts)
    group = np.full(tuples, -1, np.int64)
    left = rng.permutation(tuples)  # ties go to the first of a random order
    middle = centroid(table, np.arange(tuples))
    whole = table.likeness_of(np.vstack([table.tuples, middle[None, :]]))
    from_middle = plain_row(whole, tuples, np.arange(tuples))
    number, seed = 0, -1
    seeds: list[int] = []
    while counts[left].sum() >= 2 * k or (number == 0 and len(left)):
        progress("grouping", 1 - len(left) / tuples, f"{number:,} groups")
        nearness = from_middle[left] if seed < 0 else plain_row(like, seed, left)
        start = int(left[np.argmin(nearness)])
        row = plain_row(like, start, left)
        row[left == start] = 2 * TICKS
        # Everybody counts at least one, so k tuples are enough; ties go to the first, whatever the partition does.
        key = row * len(left) - np.arange(len(left))
        most = min(k, len(left))
        nearest = np.argpartition(-key, most - 1)[:most]
        order = nearest[np.argsort(-key[nearest])]
        enough = int(np.searchsorted(np.cumsum(counts[left[order]]), k)) + 1
        chosen = order[:enough]
        group[left[chosen]] = number
        left = np.delete(left, chosen)
        seed = start if seed < 0 else -1
        seeds.append(start)
        number += 1
    if len(left) and counts[left].sum() >= k:
        group[left] = number
        left = left[:0]
    for tuple_left in left:
        closest = seeds[int(np.argmax(plain_row(like, int(tuple_left), np.array(seeds))))]
        group[tuple_left] = group[closest]
    return group
