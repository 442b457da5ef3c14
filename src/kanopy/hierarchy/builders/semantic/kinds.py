"""Kinds that everybody knows: a column of animals is divided into mammals, birds and fish before anything else.

Nearness asks what things have to do with each other, and puts a dog nearer to its owner's horse than to a wolf. Where
all values are of one kind with sub-kinds that school teaches, these sub-kinds are the coarsest levels, and groups of
near values lie within them. Whether they are is counted on the values: the column name has no say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Ints
from kanopy.hierarchy.builders.semantic.naming import GroupNames
from kanopy.ontology.taxonomy import Taxonomy

KINDS: Mapping[str, Mapping[str, str]] = {
    "animal#1": {
        "vertebrate": "mammal#1 bird#1 fish#1 reptile#1 amphibian#3",
        "invertebrate": "insect#1 arachnid#1 crustacean#1 mollusk#1 worm#1 echinoderm#1 coelenterate#1",
    },
    "plant#2": {"": "tree#1 shrub#1 herb#1 vine#1 fern#1 succulent#1 grass#1"},
    "conveyance#3": {
        "land vehicle": "wheeled_vehicle#1+public_transport#1+sled#1+tracked_vehicle#1",
        "watercraft": "vessel#2+raft#1",
        "aircraft": "aircraft#1",
        "spacecraft": "spacecraft#1+rocket#1",
    },
}
"""Kind by kind the sub-kinds it is divided into, below larger groups where these have a name; `+` joins concepts."""
LEAST_OF_KIND, LEAST_DIVIDED = 0.9, 0.75
"""So large a share of the values must be of the kind, and of one of its sub-kinds."""


@dataclass(frozen=True)
class Divided:
    """Per value its sub-kind and its larger group (-1: none), and the names of those that no concept names."""

    kinds: Ints
    larger: Ints
    names: tuple[str, ...]
    one_each: bool
    """Whether every larger group has one sub-kind, and so only gives it a name."""


def with_kinds(names: GroupNames, partitions: Sequence[Ints], left_over: int) -> tuple[list[Ints], int]:
    """Partitions (the coarsest first) with the sub-kinds of the values' kind as the coarsest, if they have one."""
    divided = sub_kinds(names)
    if divided is None or not partitions:
        return list(partitions), left_over
    # What is of no sub-kind keeps its groups beside them.
    size = len(names.labels)
    tiers = [divided.kinds]
    if len(partitions) > 2 and _joins(divided.larger, divided.kinds):
        tiers.insert(0, divided.larger)
    divided_groups: list[Ints] = []
    for at, groups in enumerate(partitions):
        tier = tiers[min(at, len(tiers) - 1)]
        labels_of_tier = np.where(tier >= 0, tier, groups + size).astype(np.int32)
        keys = [labels_of_tier] if at < len(tiers) else [labels_of_tier, groups]
        divided_groups.append(_nested(keys if not divided_groups else [divided_groups[-1], *keys]))
    # Larger groups that are not made name nothing: a column with insects only has no `invertebrate`.
    for number, text in enumerate(divided.names if len(tiers) > 1 or divided.one_each else ()):
        if text and (members := np.flatnonzero(divided.larger == number)).size > 1:
            names.given[frozenset(members.tolist())] = text
    return divided_groups, left_over + size if left_over >= 0 else -1


def _nested(keys: Sequence[Ints]) -> Ints:
    return np.asarray(np.unique(np.stack(keys), axis=1, return_inverse=True)[1].ravel(), np.int32)


def _joins(larger: Ints, kinds: Ints) -> bool:
    """Whether larger groups hold several sub-kinds each, so that they tell more than these."""
    return all(len(np.unique(kinds[larger == one])) > 1 for one in np.unique(larger[larger >= 0])) and (
        len(np.unique(larger[larger >= 0])) > 1
    )


def sub_kinds(names: GroupNames) -> Divided | None:
    """The sub-kinds of the values, where nearly all are of one kind with several; otherwise `None`."""
    for kind, groups in KINDS.items():
        above = _concepts(names.taxonomy, kind)
        if not above or sum(
            not above.isdisjoint(concepts_above) for concepts_above in names.above
        ) < LEAST_OF_KIND * len(names.above):
            continue
        places = [
            (at, _concepts(names.taxonomy, one)) for at, text in enumerate(groups.values()) for one in text.split()
        ]
        kind_of_value = np.array(
            [
                next((at for at, (_, one) in enumerate(places) if not one.isdisjoint(concepts_above)), -1)
                for concepts_above in names.above
            ],
            np.int32,
        )
        count = Counter(kind_of_value[kind_of_value >= 0].tolist())
        if sum(count.values()) >= LEAST_DIVIDED * len(kind_of_value) and sum(size > 1 for size in count.values()) > 1:
            larger = np.array([places[at][0] if at >= 0 else -1 for at in kind_of_value.tolist()], np.int32)
            return Divided(kind_of_value, larger, tuple(groups), len(places) == len(groups))
    return None


def _concepts(taxonomy: Taxonomy, text: str) -> set[int]:
    words = [one.replace("_", " ") for one in text.split("+")]
    return {taxonomy.sense(one) for one in words if taxonomy.knows(one.split("#")[0])}
