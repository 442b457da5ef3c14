"""Kinds that everybody knows: a column of animals is divided into mammals, birds and fish before anything else.

Nearness asks what things have to do with each other, and puts a dog nearer to its owner's horse than to a wolf. Where
all values are of one kind with sub-kinds that school teaches, these sub-kinds are the coarsest level, and groups of
near values lie within them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from kanopy._arrays import Ints
from kanopy.hierarchy.builders.semantic.naming import GroupNames

KINDS: Mapping[str, str] = {
    "animal#1": "mammal#1 bird#1 fish#1 reptile#1 amphibian#3 insect#1 arachnid#1 crustacean#1 mollusk#1 worm#1 "
    "echinoderm#1 coelenterate#1",
    "plant#2": "tree#1 shrub#1 herb#1 vine#1 fern#1 succulent#1 grass#1",
}
"""Sense by sense what a kind is divided into."""
LEAST_OF_KIND, LEAST_DIVIDED = 0.9, 0.75
"""So large a share of the values must be of the kind, and of one of its sub-kinds."""


def with_kinds(names: GroupNames, partitions: Sequence[Ints], left_over: int) -> tuple[list[Ints], int]:
    """Partitions (the coarsest first) with the sub-kinds of the values' kind as the coarsest, if they have one."""
    kinds = sub_kinds(names)
    if kinds is None or not partitions:
        return list(partitions), left_over
    # What is of no sub-kind keeps its groups beside them.
    coarsest = np.where(kinds >= 0, kinds, partitions[0] + len(names.labels)).astype(np.int32)
    divided = [np.unique(np.stack([coarsest, groups]), axis=1, return_inverse=True)[1] for groups in partitions[1:]]
    return [coarsest, *(groups.ravel().astype(np.int32) for groups in divided)], left_over + len(
        names.labels
    ) if left_over >= 0 else -1


def sub_kinds(names: GroupNames) -> Ints | None:
    """Per value the sub-kind it is of (-1: none), where nearly all values are of one kind; otherwise `None`."""
    for kind, texts in KINDS.items():
        if not names.taxonomy.knows(kind.split("#")[0].replace("_", " ")):
            continue
        above = names.taxonomy.sense(kind.replace("_", " "))
        if sum(above in concepts_above for concepts_above in names.above) < LEAST_OF_KIND * len(names.above):
            continue
        concepts = [names.taxonomy.sense(text.replace("_", " ")) for text in texts.split()]
        kind_of_value = np.array(
            [
                next((at for at, one in enumerate(concepts) if one in concepts_above), -1)
                for concepts_above in names.above
            ]
        )
        count = Counter(kind_of_value[kind_of_value >= 0].tolist())
        if sum(count.values()) >= LEAST_DIVIDED * len(kind_of_value) and sum(size > 1 for size in count.values()) > 1:
            return kind_of_value.astype(np.int32)
    return None
