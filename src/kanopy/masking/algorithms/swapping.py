"""Semantic swapping: people whose answers are rare exchange them with people whose answers mean nearly the same.

Named as future work in Martínez 2010. How often each value occurs does not change at all, but no number of equal
records is promised: whoever publishes it should look at the linkage figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._errors import DataError, some
from kanopy._progress import Progress
from kanopy.masking.masking_result import Masked, Masking, Seed
from kanopy.masking.table import Attribute, MaskingTable


@dataclass(frozen=True)
class SemanticSwapping(Masking):
    """Every record in a group of fewer than `k` exchanges each of its values for the most similar other one."""

    seed: Seed = 0

    name: ClassVar[str] = "semantic-swapping"
    does: ClassVar[str] = "exchanges the values of rare rows with similar ones; does not guarantee k-anonymity"
    source: ClassVar[str] = "rank swapping (Moore 1996) with semantic similarity"
    way: ClassVar[str] = "random"
    guarantees_k: ClassVar[bool] = False

    def masked(self, table: MaskingTable, k: int, needed: Mapping[str, int], progress: Progress) -> Masked:
        """Swap values between records, one attribute after the other."""
        rng = np.random.default_rng(self.seed)
        rows = table.tuples[table.tuple_of_row].copy()
        rare = np.flatnonzero(table.counts[table.tuple_of_row] < k)
        for j, attribute in enumerate(table.attributes):
            progress("swapping", j / len(table.attributes), attribute.name)
            rows[:, j] = _swapped(attribute, rows[:, j], rng.permutation(rare), rng)
        keys = np.column_stack([table.tuple_of_row, rows])
        moves, move_of_row, people = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        return Masked(
            self.name,
            np.ascontiguousarray(moves[:, 1:], np.int32),
            moves[:, 0].astype(np.int64),
            people.astype(np.int64),
            move_of_row.reshape(-1).astype(np.int32),
            guarantees_k=False,
            fusions=len(rare),
            notes=(
                "Swapping keeps the values of every column but does not guarantee k-anonymity: see the linkage "
                "figures.",
            ),
        )


def _swapped(attribute: Attribute, column: Ints, rare: Longs, rng: np.random.Generator) -> Ints:
    """The column after swapping; each row takes part at most once, unless nothing else is left for the last ones."""
    values = len(attribute.labels)
    waiting: list[list[int]] = [[] for _ in range(values)]
    for row in rng.permutation(len(column)).tolist():
        waiting[column[row]].append(row)
    out = column.copy()
    swapped = np.zeros(len(column), bool)
    nearest: dict[int, Longs] = {}
    reached: dict[int, int] = {}
    stuck = []
    for row in rare.tolist():
        if swapped[row]:
            continue
        old_value = int(column[row])
        if old_value not in nearest:
            order = np.argsort(-attribute.row(old_value), kind="stable")
            nearest[old_value], reached[old_value] = order[order != old_value], 0
        partner = -1
        while reached[old_value] < len(nearest[old_value]):
            bin_ = waiting[nearest[old_value][reached[old_value]]]
            while bin_ and swapped[bin_[-1]]:
                bin_.pop()
            if bin_:
                partner = bin_.pop()
                break
            reached[old_value] += 1
        if partner < 0:
            stuck.append(row)
            continue
        out[row], out[partner] = column[partner], old_value
        swapped[row] = swapped[partner] = True
    for row in stuck:
        old_value = column[row]
        able = np.flatnonzero((column != old_value) & (out != old_value))
        if not len(able):
            raise DataError(
                f"The value {some([attribute.labels[old_value]])} of {attribute.name!r} cannot be swapped: too few "
                f"records "
                "have another one. Use algorithm='fusion', or a smaller k."
            )
        partner = int(able[rng.integers(len(able))])
        out[row], out[partner] = out[partner], out[row]
    return out
