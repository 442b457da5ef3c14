"""Class tables of full-domain candidates, each rolled up from a finer one that is already there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kanopy.classes import Domain
from kanopy.kernels.rollup import roll_up
from kanopy.search.lattice import Lattice, Levels

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

WORD_BITS = 63


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The classes of one candidate: packed keys `[word, class]` and sizes."""

    keys: Longs
    sizes: Longs

    @property
    def count(self) -> int:
        """How many classes."""
        return len(self.sizes)


class Packing:
    """Where each attribute's code sits in the packed key, and the maps from any level to any higher one."""

    def __init__(self, domain: Domain, lattice: Lattice) -> None:
        width = domain.width
        self.word = np.zeros(width, np.int64)
        self.shift = np.zeros(width, np.int64)
        self.mask = np.zeros(width, np.int64)
        word, used = 0, 0
        for j, hierarchy in enumerate(domain.hierarchies):
            bits = max(1, (hierarchy.level(lattice.lowest[j]).size - 1).bit_length())
            if used + bits > WORD_BITS:
                word, used = word + 1, 0
            self.word[j], self.shift[j], self.mask[j] = word, used, (1 << bits) - 1
            used += bits
        self.words = word + 1
        self.starts: dict[tuple[int, int, int], int] = {}
        maps: list[Ints] = []
        length = 0
        for j, hierarchy in enumerate(domain.hierarchies):
            low, high = lattice.lowest[j], lattice.highest[j]
            for a in range(low, high + 1):
                for b in range(a + 1, high + 1):
                    one = np.zeros(hierarchy.level(a).size, np.int32)
                    one[hierarchy.level(a).codes] = hierarchy.level(b).codes
                    self.starts[j, a, b] = length
                    maps.append(one)
                    length += len(one)
        self.maps = np.concatenate(maps) if maps else np.zeros(1, np.int32)

    def pack(self, codes: list[Ints]) -> Longs:
        """Packed keys of rows of codes at the lowest levels."""
        keys = np.zeros((self.words, len(codes[0])), np.int64)
        for j, column in enumerate(codes):
            keys[self.word[j]] |= column.astype(np.int64) << self.shift[j]
        return keys


class ClassTables:
    """Builds and keeps class tables, within a memory budget.

    A candidate is rolled up from the smallest finer table at hand: a direct neighbour that was judged before, or
    an anchor. Anchors generalize only the attributes with the largest domains and are built on first use; many
    candidates share them.
    """

    def __init__(self, domain: Domain, lattice: Lattice, budget_bytes: int = 512_000_000) -> None:
        self.lattice = lattice
        self.packing = Packing(domain, lattice)
        self.order = sorted(range(domain.width), key=lambda j: -domain.hierarchies[j].size)
        codes = [h.level(lattice.lowest[j]).codes[domain.tuples[:, j]] for j, h in enumerate(domain.hierarchies)]
        count = len(domain.counts)
        capacity = 16
        while capacity < 2 * count:
            capacity *= 2
        self._slots = np.empty(capacity, np.int32)
        self._keys = np.empty((self.packing.words, count), np.int64)
        self._sizes = np.empty(count, np.int64)
        self._kept: dict[Levels, ClassTable] = {}
        self._room = budget_bytes
        base = ClassTable(self.packing.pack(codes), domain.counts)
        self.base = self._rolled(base, lattice.lowest, lattice.lowest) if any(lattice.lowest) else base
        self._kept[lattice.lowest] = self.base
        width = domain.width
        self._anchor_widths = sorted({(width + 2) // 3, (2 * width + 2) // 3} - {0, width})

    def table(self, levels: Levels) -> ClassTable:
        """The class table of a candidate."""
        found = self._kept.get(levels)
        if found is None:
            source_levels, source = self._source(levels)
            found = self._keep(levels, self._rolled(source, source_levels, levels))
        return found

    def _source(self, levels: Levels) -> tuple[Levels, ClassTable]:
        best = self._anchor(levels, len(self._anchor_widths))
        for j, level in enumerate(levels):
            if level > self.lattice.lowest[j]:
                neighbour = (*levels[:j], level - 1, *levels[j + 1 :])
                near = self._kept.get(neighbour)
                if near is not None and near.count < best[1].count:
                    best = (neighbour, near)
        return best

    def _anchor(self, levels: Levels, depth: int) -> tuple[Levels, ClassTable]:
        if depth == 0:
            return self.lattice.lowest, self.base
        place = list(self.lattice.lowest)
        for j in self.order[: self._anchor_widths[depth - 1]]:
            place[j] = levels[j]
        anchor = tuple(place)
        found = self._kept.get(anchor)
        if found is None:
            below_levels, below = self._anchor(levels, depth - 1)
            found = self._keep(anchor, self._rolled(below, below_levels, anchor))
        return anchor, found

    def _keep(self, levels: Levels, table: ClassTable) -> ClassTable:
        cost = table.keys.nbytes + table.sizes.nbytes
        if cost <= self._room:
            self._room -= cost
            self._kept[levels] = table
        return table

    def _rolled(self, source: ClassTable, finer: Levels, coarser: Levels) -> ClassTable:
        packing = self.packing
        start = np.full(len(finer), -1, np.int64)
        for j, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                start[j] = packing.starts[j, a, b]
        found = roll_up(
            source.keys, source.sizes, packing.word, packing.shift, packing.mask, packing.maps, start,
            self._keys, self._sizes, self._slots,
        )  # fmt: skip
        return ClassTable(self._keys[:, :found].copy(), self._sizes[:found].copy())
