"""Local recoding of one textual attribute (the first method of Martínez 2010)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy._arrays import Longs
from kanopy._errors import JobError, some
from kanopy._progress import Progress
from kanopy.masking.algorithms.fusion import Fusion
from kanopy.masking.likeness_kernel import plain_row
from kanopy.masking.masking_result import Masked, Masking, Seed
from kanopy.masking.table import MaskingTable


@dataclass(frozen=True)
class LocalRecodingByMeaning(Masking):
    """Values seen fewer than `k` times become the most similar value that is seen often enough.

    Values of the same meaning count together (the thesis compares stems): a rare spelling joins the most frequent one.
    Frequent values never change, so one pass settles every rare one. Where nothing is frequent yet, fusion has to
    make the first frequent values.
    """

    seed: Seed = 0

    name: ClassVar[str] = "local-recoding"
    does: ClassVar[str] = "replaces values that occur fewer than k times by the most similar frequent value"
    source: ClassVar[str] = "Martínez 2010"

    def masked(self, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress) -> Masked:
        """Recode the table's only attribute."""
        if len(table.attributes) != 1:
            raise JobError(
                f"Local recoding treats one column alone; {some(table.names)} together would not be anonymous. Use "
                "algorithm='fusion' for several columns."
            )
        counts = table.counts
        meaning = table.attributes[0].position[table.tuples[:, 0]].astype(np.int64)
        if table.attributes[0].numbers is not None:
            meaning = np.arange(len(counts))
        priority = np.random.default_rng(self.seed).permutation(len(counts))
        spelling = _most_frequent(meaning, counts, priority)
        people = np.bincount(meaning, weights=counts)[meaning]
        frequent = np.flatnonzero((people >= k) & (spelling == np.arange(len(counts))))
        if not len(frequent):
            fused = Fusion(seed=self.seed).mask(table, k, {}, progress)
            note = f"No value was seen {k} times, so the first frequent values were made by fusion."
            return Masked.per_tuple(self.name, table, fused.published, fusions=fused.fusions, notes=(note,))
        target = np.arange(len(counts))
        changed = 0
        for rare_value in np.flatnonzero(counts < k):
            changed += 1
            if people[rare_value] >= k:
                target[rare_value] = spelling[rare_value]
                continue
            row = plain_row(table.likeness, int(rare_value), frequent)
            tied = frequent[row == row.max()]
            target[rare_value] = tied[np.argmin(priority[tied])]
            progress("recoding", None, f"{changed:,} values")
        return Masked.per_tuple(
            self.name, table, table.tuples[target], fusions=int((target != np.arange(len(counts))).sum())
        )


def _most_frequent(meaning: Longs, counts: Longs, priority: Longs) -> Longs:
    """Per value the most frequent value of the same meaning."""
    order = np.lexsort((priority, -counts, meaning))
    first = np.r_[True, meaning[order][1:] != meaning[order][:-1]]
    leader = order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    out = np.empty(len(counts), np.int64)
    out[order] = leader
    return out
