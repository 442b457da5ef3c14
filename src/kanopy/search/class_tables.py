"""Class tables of full-domain candidates, each rolled up from a finer one that is already there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kanopy._arrays import Ints, Longs
from kanopy._core.classes import Domain
from kanopy._core.numbering import SMALL
from kanopy.search.budget import Spare
from kanopy.search.lattice import Lattice, Levels
from kanopy.search.rollup_kernel import regroup, roll_up, slots_for, smallest_finer

WORD_BITS = 63
FIELD_BITS = 11
"""Attributes side by side in a key are lifted together while they have so many bits: their lifts stay in the cache."""
LARGEST_ARENA = 64_000_000
Memory = tuple[Longs, Longs, Ints]
"""Keys and sizes of classes, one table after the other, and room for joining them."""


def memory_for(classes: int, most: int = LARGEST_ARENA) -> Memory:
    """Room for the tables of a problem with so many classes at its lowest levels; `most` beside the first table."""
    capacity = min(most, 64 * classes) + classes
    return np.empty(capacity, np.int64), np.empty(capacity, np.int64), slots_for(classes)


@dataclass(frozen=True, eq=False)
class ClassTable:
    """The classes of one candidate: packed keys `[word, class]` and sizes."""

    keys: Longs
    sizes: Longs
    histogram: Ints | None = None
    """`[class, value]`, all sensitive columns side by side."""

    @property
    def count(self) -> int:
        """How many classes."""
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Tuples:
    """What the finest class table is made of: distinct tuples, rows of each, and their histogram."""

    tuples: Ints
    counts: Longs
    histogram: Ints | None = None


class Packing:
    """Where each attribute's code sits in the packed key, and what to add to a key to lift an attribute."""

    def __init__(self, domain: Domain, lattice: Lattice, finer: Packing | None = None) -> None:
        """`finer` is one of the same domain: what was worked out for it is used again."""
        width = domain.width
        self.word = np.zeros(width, np.int64)
        self.shift = np.zeros(width, np.int64)
        self.mask = np.zeros(width, np.int64)
        word, used = 0, 0
        for j, hierarchy in enumerate(domain.hierarchies):
            bits = (hierarchy.level(lattice.lowest[j]).size - 1).bit_length()
            if used + bits > WORD_BITS:
                word, used = word + 1, 0
            self.word[j], self.shift[j], self.mask[j] = word, used, (1 << bits) - 1
            used += bits
        self.words = word + 1
        self.starts: dict[tuple[int, int, int], int] = {}
        self._steps: dict[tuple[int, int, int], Longs] = {} if finer is None else finer._steps
        pieces: list[Longs] = []
        length = 0
        for j, hierarchy in enumerate(domain.hierarchies):
            low, high = lattice.lowest[j], lattice.highest[j]
            for a in range(low, high + 1):
                for b in range(a + 1, high + 1):
                    step = self._steps.get((j, a, b))
                    if step is None:
                        level = hierarchy.level(a)
                        step = np.zeros(level.size, np.int64)
                        step[level.codes] = hierarchy.level(b).codes
                        step -= np.arange(level.size)
                        self._steps[j, a, b] = step
                    self.starts[j, a, b] = length
                    pieces.append(step << self.shift[j])
                    length += len(step)
        self.deltas = np.concatenate(pieces) if pieces else np.zeros(1, np.int64)

    def pack(self, tuples: Ints, lifts: Sequence[Ints]) -> Longs:
        """Packed keys of tuples `[row, column]`, where `lifts[j]` are the codes of the values of column `j`."""
        keys = np.zeros((self.words, len(tuples)), np.int64)
        if len(tuples) <= SMALL:
            for j, lift in enumerate(lifts):
                keys[self.word[j]] |= lift[tuples[:, j]].astype(np.int64) << self.shift[j]
            return keys
        from kanopy._core.distinct_kernel import pack_lifted

        starts = np.cumsum([0, *(len(lift) for lift in lifts[:-1])]).astype(np.int64)
        for word, row in enumerate(keys):
            packed = [lift.astype(np.int64) * (self.word[j] == word) << self.shift[j] for j, lift in enumerate(lifts)]
            pack_lifted(np.ascontiguousarray(tuples, np.int32), np.concatenate(packed), starts, row)
        return keys


class _Room:
    """Where a table is rolled up before it is known how large it is."""

    def __init__(self, words: int, largest: Tuples) -> None:
        count = len(largest.counts)
        self.keys, self.sizes = np.empty((words, count), np.int64), np.empty(count, np.int64)
        self.histogram = np.empty((0, 0) if largest.histogram is None else largest.histogram.shape, np.int32)
        self.slots = slots_for(count)


class Rooms(Spare[_Room]):
    """Rooms for all tables of some tuples."""

    def __init__(self, words: int, largest: Tuples) -> None:
        super().__init__(lambda: _Room(words, largest))
        self.words = words


class ClassTables:
    """Builds and keeps class tables, within a memory budget.

    A candidate is rolled up from the smallest finer table at hand. Besides judged candidates these are anchors:
    they generalize only the attributes with the largest domains, are built on first use, and serve many candidates.
    """

    def __init__(
        self, domain: Domain, lattice: Lattice, budget_bytes: int = 512_000_000, counted: Tuples | None = None,
        finer: ClassTables | None = None, memory: Memory | None = None,
    ) -> None:  # fmt: skip
        """`counted` replaces the domain's tuples and counts where models need more than sizes.

        `finer` are tables of the same tuples that begin at lower levels; the first one made of theirs, if its keys have
        one word, lies at the head of `memory`.
        """
        counted = counted if counted is not None else Tuples(domain.tuples, domain.counts)
        self.domain, self.lattice = domain, lattice
        self.packing: Packing = Packing(domain, lattice, None if finer is None else finer.packing)
        self.order = sorted(range(domain.width), key=lambda j: -domain.hierarchies[j].size)
        # Measured on wide tables: one anchor over the two fifths of the attributes with most values pays best.
        self.anchored = self.order[: (2 * domain.width + 2) // 5]
        lifts = [h.level(level).codes for h, level in zip(domain.hierarchies, lattice.lowest, strict=True)]
        rooms: Rooms | None = None if finer is None else finer._rooms
        self._rooms: Rooms = (
            rooms if rooms and rooms.words >= self.packing.words else Rooms(self.packing.words, counted)
        )
        # Beside its words a class has a histogram to be added up.
        self._dearness = self.packing.words + (0 if counted.histogram is None else counted.histogram.shape[-1] >> 3)
        self._tables: list[ClassTable] = []
        self._number: dict[Levels, int] = {}
        self._levels = np.empty((64, domain.width), np.int32)
        self._classes = np.empty(64, np.int64)
        self._room = budget_bytes
        self.looked_at = 0
        """Classes that tables were rolled up from, which is what work is measured by."""
        self._lifts: dict[tuple[int, int], Longs] = {}
        if finer is not None and memory is not None and self.packing.words == 1:
            self.base = finer._regrouped(self.packing, lattice.lowest, memory)
        else:
            base = ClassTable(self.packing.pack(counted.tuples, lifts), counted.counts, counted.histogram)
            self.base = self.rolled(base, lattice.lowest, lattice.lowest) if any(lattice.lowest) else base
        self._keep(lattice.lowest, self.base)

    def table(self, levels: Levels) -> ClassTable:
        """The class table of a candidate."""
        number = self._number.get(levels)
        if number is not None:
            return self._tables[number]
        anchor = self.anchor(levels)
        if anchor != levels and anchor not in self._number:
            self._build(anchor)
        return self._build(levels)

    def anchor(self, levels: Levels) -> Levels:
        """The finer candidate to begin with: only the attributes with the largest domains are generalized."""
        lowest = list(self.lattice.lowest)
        for j in self.anchored:
            lowest[j] = levels[j]
        return tuple(lowest)

    def _build(self, levels: Levels) -> ClassTable:
        """Roll up from the smallest finer table that is kept (the base always is)."""
        wanted = np.array(levels, np.int32)
        source = smallest_finer(self._levels, self._classes, len(self._tables), wanted)
        finer = tuple(self._levels[source].tolist())
        return self._keep(levels, self.rolled(self._tables[source], finer, levels))

    def _keep(self, levels: Levels, table: ClassTable) -> ClassTable:
        cost = table.keys.nbytes + table.sizes.nbytes + (0 if table.histogram is None else table.histogram.nbytes)
        if cost <= self._room or not self._tables:
            self._room -= cost
            number = len(self._tables)
            if number == len(self._classes):
                self._levels = np.concatenate([self._levels, np.empty_like(self._levels)])
                self._classes = np.concatenate([self._classes, np.empty_like(self._classes)])
            self._levels[number] = levels
            self._classes[number] = table.count
            self._number[levels] = number
            self._tables.append(table)
        return table

    def rolled(self, source: ClassTable, finer: Levels, coarser: Levels) -> ClassTable:
        """The table of a coarser candidate from that of a finer one."""
        packing = self.packing
        self.looked_at += source.count * self._dearness
        start = np.full(len(finer), -1, np.int64)
        for j, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                start[j] = packing.starts[j, a, b]
        with self._rooms.one() as room:
            keys, sizes, histogram = room.keys[: packing.words], room.sizes, room.histogram
            count = roll_up(
                source.keys, source.sizes, histogram if source.histogram is None else source.histogram,
                packing.word, packing.shift, packing.mask, packing.deltas, start, keys, sizes, histogram, room.slots,
            )  # fmt: skip
            made = None if source.histogram is None else histogram[:count].copy()
            return ClassTable(keys[:, :count].copy(), sizes[:count].copy(), made)

    @cached_property
    def _fields(self) -> list[list[int]]:
        """Attributes side by side in the key, a few bits together."""
        fields: list[list[int]] = []
        bits = 0
        for j, mask in enumerate(self.packing.mask.tolist()):
            bits += mask.bit_length()
            if not fields or bits > FIELD_BITS or self.packing.word[j] != self.packing.word[j - 1]:
                fields.append([])
                bits = mask.bit_length()
            fields[-1].append(j)
        return fields

    def _lift(self, j: int, level: int) -> Longs:
        """The code at a level for every code of the base table."""
        lift = self._lifts.get((j, level))
        if lift is None:
            hierarchy = self.domain.hierarchies[j]
            lift = np.zeros(int(self.packing.mask[j]) + 1, np.int64)
            lift[hierarchy.level(self.lattice.lowest[j]).codes] = hierarchy.level(level).codes
            # Other threads may ask for it from here on.
            self._lifts[j, level] = lift
        return lift

    def _regrouped(self, packing: Packing, levels: Levels, memory: Memory) -> ClassTable:
        """The table of a coarser candidate under the keys of another packing, which has one word, made in `memory`."""
        old, lifts = self.packing, list[Longs]()
        for field in self._fields:
            lift = np.zeros(1, np.int64)
            for j in field:
                lift = ((self._lift(j, levels[j]) << packing.shift[j])[:, None] + lift).reshape(-1)
            lifts.append(lift)
        first = [field[0] for field in self._fields]
        masks = np.array([len(lift) - 1 for lift in lifts])
        starts = np.cumsum([0, *(masks[:-1] + 1)])
        count = regroup(
            self.base.keys, self.base.sizes, old.word[first], old.shift[first], masks, starts, np.concatenate(lifts),
            *memory,
        )  # fmt: skip
        return ClassTable(memory[0][None, :count], memory[1][:count])
