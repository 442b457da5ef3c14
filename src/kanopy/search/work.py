"""A budget in seconds as an amount of work: the same job gives the same release, whatever else the machine is doing.

A search that looked at the clock would stop elsewhere each time it runs. Here it is charged for what it does instead:
loops count what they look at, and a price per look, measured once on a machine of ordinary speed (two cores, 2.5 GHz),
turns that into seconds. A budget of 5 s takes about 5 s of one such processor, more on a slower or a busier one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator


class Work:
    """What a search may spend, and what it has spent so far, in seconds of an ordinary machine.

    >>> work = Work(2.0)
    >>> work.spend(0.5)
    >>> work.left, work.done, work.over
    (1.5, 0.25, False)
    >>> Work(None).left
    inf
    """

    def __init__(self, seconds: float | None, whole: Work | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.spent = 0.0
        self.whole = whole

    def spend(self, seconds: float) -> None:
        """Charge for something done."""
        self.spent += seconds
        if self.whole is not None:
            self.whole.spend(seconds)

    @property
    def left(self) -> float:
        """Seconds not spent yet."""
        return self.seconds - self.spent

    @property
    def over(self) -> bool:
        """Whether everything is spent, here or in the whole that this is a part of."""
        return self.spent >= self.seconds or self.cut

    @property
    def cut(self) -> bool:
        """Whether the whole is spent."""
        return self.whole is not None and self.whole.over

    @property
    def done(self) -> float:
        """The share that is spent."""
        return min(1.0, self.spent / self.seconds)

    def part(self, seconds: float) -> Work:
        """So many seconds of this work, with an account of their own.

        How much of it is `done` does not depend on the whole, so what goes by that does not depend on where it is cut.
        """
        return Work(seconds, self)


STAGES = (1.0, 2.0, 5.0, 10.0, 30.0)


def stages(first: float) -> Iterator[float]:
    """When the stages of a search end that has no end of its own: round numbers, since people ask for those.

    What is done in a stage does not depend on how many stages are to follow, so a larger budget begins with all that a
    smaller one does.

    >>> from itertools import islice
    >>> list(islice(stages(0.4), 8))
    [0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0]
    """
    ends = [0.05, 0.1, 0.2, 0.5, *STAGES]
    while True:
        yield from (end for end in ends if end >= first)
        ends = [60.0 * each for each in STAGES] if ends[-1] <= 30.0 else [2.0 * ends[-1]]
