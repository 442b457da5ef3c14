"""Global masking by record fusion (Martínez 2010, chapter 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kanopy._arrays import Longs
from kanopy._errors import JobError, short
from kanopy._parameter_types import OneOf, Text
from kanopy._progress import Progress
from kanopy.masking.algorithms.fusion_kernel import FUSIONS, LEFT, SCANS, FusionRules, begin_fusion, fuse
from kanopy.masking.algorithms.refinement import refine
from kanopy.masking.algorithms.size_guides import fuse_at_random, fuse_smallest, replace_records_at_random
from kanopy.masking.masking_result import Masked, Masking, Seed
from kanopy.masking.table import MaskingTable

SIZE_GUIDES = ("discernibility", "random", "random-record")
SEARCHES = ("greedy", "refined")
PAIRS_AT_ONCE = 200_000_000


def _heuristics(text: str) -> None:
    if set(text) - set("123"):
        raise JobError(f"Heuristics are named by their numbers, e.g. '123' or '12'; not {short(text)}.")


Heuristics = Annotated[
    str, Text("numbers of heuristics such as '12'", empty=True, usable=_heuristics), "the heuristics in use"
]
Search = Annotated[str, OneOf(*SEARCHES), "greedy (as in the thesis), or refined, which keeps more meaning"]


@dataclass(frozen=True)
class Fusion(Masking):
    """Groups that are too small take the values of the group most like them, until none is left.

    `guide` is "similarity" (whatever the table's attributes were compared by), "discernibility", "random" (groups go
    anywhere) or "random-record" (each record of a small group goes anywhere on its own).
    `heuristics` are those of section 4.2 that are switched on: 1 (smallest group first), 2 (most similar fusion first;
    without it targets are random) and 3 (smallest result first). `search="refined"` improves the result until nothing
    gains any more. Ties are settled by `seed`.
    """

    guide: Annotated[str, OneOf("similarity", *SIZE_GUIDES), "the measure that guides the fusions"] = "similarity"
    heuristics: Heuristics = "123"
    search: Search = "greedy"
    seed: Seed = 0

    name: ClassVar[str] = "fusion"
    does: ClassVar[str] = "replaces rare combinations by the most similar ones until each is shared by k rows"
    source: ClassVar[str] = "Martínez 2010"
    keeps_diversity: ClassVar[bool] = True

    def contradictions(self) -> Iterable[str]:
        if self.search == "refined" and (self.guide != "similarity" or "2" not in self.heuristics):
            yield "The refined search needs a similarity measure as its guide. Leave it out, or choose another guide."

    def masked(self, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress) -> Masked:
        """Fuse the table's tuples until every group has `k` records (and enough different confidential values)."""
        rng = np.random.default_rng(self.seed)
        if self.guide == "random-record":
            return self._by_record(table, k, needed, rng)
        priority = rng.permutation(len(table.counts)).astype(np.int64)
        if self.guide == "similarity" and "2" in self.heuristics:
            into, fusions, scans = self._by_similarity(table, k, needed, priority, progress)
        else:
            seen = [_value_sets(table, name) for name in needed]
            if self.guide == "discernibility":
                into = fuse_smallest(table.counts, priority, k, seen, list(needed.values()))
            else:
                into = fuse_at_random(
                    table.counts, priority, k, rng,
                    smallest_first="1" in self.heuristics, seen=seen, needed=list(needed.values()),
                )  # fmt: skip
            fusions, scans = int((into >= 0).sum()), 0
        center = final_targets(into)
        if self.search == "refined":
            symmetric = all(a.meanings is None or a.meanings.measure.is_symmetric for a in table.attributes)
            center = refine(
                table.likeness, table.counts, center, k,
                only_join=bool(needed), symmetric=symmetric, progress=progress,
            )  # fmt: skip
        return Masked.per_tuple(self.name, table, table.tuples[center], fusions=fusions, scans=scans)

    def _by_record(self, table: MaskingTable, k: int, needed: Mapping[str, int], rng: np.random.Generator) -> Masked:
        if needed:
            raise JobError("Random replacement by record keeps no diversity. Use guide='random' for that.")
        published = replace_records_at_random(table.counts, table.tuple_of_row, k, rng)
        moves, move_of_row, people = np.unique(
            np.column_stack([table.tuple_of_row, published]), axis=0, return_inverse=True, return_counts=True
        )
        return Masked(
            self.name,
            np.ascontiguousarray(table.tuples[moves[:, 1]], np.int32),
            moves[:, 0].astype(np.int64),
            people.astype(np.int64),
            move_of_row.reshape(-1).astype(np.int32),
            fusions=int((published != table.tuple_of_row).sum()),
        )

    def _by_similarity(
        self, table: MaskingTable, k: int, needed: Mapping[str, int], priority: Longs, progress: Progress
    ) -> tuple[Longs, int, int]:
        like = table.likeness
        needs = np.array(list(needed.values()), np.int64)
        seen = np.full((len(table.counts), len(needs), max(1, int(needs.max(initial=1)))), -1, np.int32)
        for column, (name, need) in enumerate(needed.items()):
            for group, values in enumerate(_value_sets(table, name)):
                values_kept = sorted(values)[:need]
                seen[group, column, : len(values_kept)] = values_kept
        state = begin_fusion(like, table.counts, seen, priority)
        rules = FusionRules(k, "1" in self.heuristics, "3" in self.heuristics, needs)
        expected = max(1, int((table.counts < k).sum()))
        finished = False
        while not finished:
            progress("fusing", min(1.0, state.numbers[FUSIONS] / expected), f"{int(state.numbers[LEFT]):,} groups left")
            budget = max(200, PAIRS_AT_ONCE // max(1, int(state.numbers[LEFT])))
            finished = fuse(like, state, rules, budget)
        return state.into, int(state.numbers[FUSIONS]), int(state.numbers[SCANS])


def final_targets(into: Longs) -> Longs:
    """Follow the fusions to the group that is left.

    >>> final_targets(np.array([1, 2, -1, -1])).tolist()
    [2, 2, 2, 3]
    """
    target = np.where(into < 0, np.arange(len(into)), into)
    while True:
        further = target[target]
        if (further == target).all():
            return target
        target = further


def _value_sets(table: MaskingTable, name: str) -> list[set[int]]:
    column = next(column for column in table.sensitive if column.name == name)
    sets: list[set[int]] = [set() for _ in table.counts]
    pairs = np.unique(np.column_stack([table.tuple_of_row, column.code_of_row]), axis=0)
    for group, value in pairs.tolist():
        sets[group].add(value)
    return sets
