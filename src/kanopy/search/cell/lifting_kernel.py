"""Which classes generalize which cell: the cheapest way for small classes to meet others, first come first served."""

from __future__ import annotations

from typing import NamedTuple

from kanopy._arrays import Ints, Longs
from kanopy._compiler import kernel


class Meetings(NamedTuple):
    """Classes that would be published alike after one cell each was lifted in the same column.

    `group[c, j]` is the meeting of class `c` in column `j`, -1 where it cannot be lifted. The options
    `members[start[g]:start[g + 1]]` (numbers `c * width + j`) make up meeting `g`. `rows[g]` counts all its rows,
    `needed[g]` those without which it is not what it was thought to be, `size[c]` the rows of class `c`.
    """

    group: Longs
    members: Longs
    start: Longs
    rows: Longs
    needed: Longs
    size: Longs


@kernel()
def meet(meetings: Meetings, options: Longs, lifted: Ints) -> int:
    """Go through `options` (numbers `c * width + j`, best first): where class `c` is still free and its meeting in
    column `j` still holds the rows it needs, all free classes of the meeting go there.

    `lifted[c]` (-1 where free) becomes the column. Returns how many classes are lifted.
    """
    group, size = meetings.group, meetings.size
    width = group.shape[1]
    rows = meetings.rows.copy()
    count = 0
    for option in options:
        c = option // width
        if lifted[c] >= 0:
            continue
        g = group[c, option % width]
        if rows[g] < meetings.needed[g] or rows[g] <= size[c]:
            continue
        for i in range(meetings.start[g], meetings.start[g + 1]):
            other = meetings.members[i] // width
            if lifted[other] < 0:
                lifted[other] = meetings.members[i] % width
                count += 1
                for j in range(width):
                    if group[other, j] >= 0:
                        rows[group[other, j]] -= size[other]
    return count
