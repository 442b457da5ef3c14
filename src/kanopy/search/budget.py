"""A budget in seconds as an amount of work: the same job gives the same release, whatever else the machine is doing.

A search that looked at the clock would stop elsewhere each time it runs. Here it is charged for what it does instead:
loops count what they look at, and a price per look, measured once on a machine of ordinary speed (two cores, 2.5 GHz),
turns that into seconds. A budget of 5 s takes about 5 s of one such processor, more on a slower or a busier one.
Where work falls into parts that have nothing in common, several threads share it; what is done stays the same.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event
from typing import Generic, TypeVar

LEAST_SECONDS = 1e-5
"""What an iteration of a search is charged for at least: so long an ordinary machine takes to find nothing to do."""


class Budget:
    """What a search may spend, and what it has spent so far, in seconds of an ordinary machine.

    Every loop that lasts while something is left ends: who asks twice whether everything is spent (`over`, `need`), and
    has spent nothing in between, is charged for the iteration.

    >>> work = Budget(2.0)
    >>> work.spend(0.5)
    >>> work.left, work.done, work.over
    (1.5, 0.25, False)
    >>> Budget(None).left
    inf
    >>> idle, iterations = Budget(0.001), 0
    >>> while not idle.over:
    ...     iterations += 1
    >>> iterations <= 101
    True
    """

    def __init__(self, seconds: float | None, whole: Budget | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.spent = 0.0
        self.whole = whole
        self._last_seen = -1.0
        """What was spent when somebody last asked whether everything is."""

    def spend(self, seconds: float) -> None:
        """Charge for something done."""
        self.spent += seconds
        if self.whole is not None:
            self.whole.spend(seconds)

    def spend_up_to(self, seconds: float) -> None:
        """Charge for what was done since the beginning, where that is counted elsewhere."""
        self.spend(max(0.0, seconds - self.spent))

    @property
    def left(self) -> float:
        """Seconds not spent yet."""
        return self.seconds - self.spent

    @property
    def over(self) -> bool:
        """Whether everything is spent, here or in the whole that this is a part of.

        To be asked once per iteration of a search, by the one thread that spends: it is charged if it did not spend.
        """
        if self.spent <= self._last_seen:
            self.spend(LEAST_SECONDS)
        self._last_seen = self.spent
        return self.spent >= self.seconds or self.cut

    @property
    def cut(self) -> bool:
        """Whether the whole is spent; may be asked at any time."""
        return self.whole is not None and (self.whole.spent >= self.whole.seconds or self.whole.cut)

    @property
    def done(self) -> float:
        """The share that is spent."""
        return min(1.0, self.spent / self.seconds) if self.seconds > 0.0 else 1.0

    @property
    def share(self) -> float | None:
        """The share that is spent, for a progress line: nothing where there is no end."""
        return None if math.isinf(self.seconds) else self.done

    def need(self) -> None:
        """Go on only if something is left; `BudgetExhausted` otherwise."""
        if self.over:
            raise BudgetExhausted

    def part(self, seconds: float) -> Budget:
        """So many seconds of this work, with an account of their own.

        How much of it is `done` does not depend on the whole, so what goes by that does not depend on where it is cut.
        """
        return Budget(seconds, self)


class BudgetExhausted(Exception):
    """Everything is spent."""


def used_up(before: str, judged: int) -> str:
    """The note of a search whose budget ended it.

    >>> used_up("the proof was complete", 1234)
    'Its work was used up before the proof was complete: 1,234 candidates judged.'
    """
    return f"Its work was used up before {before}: {judged:,} candidates judged."


def so_far(measure: str, score: float, floor: float = 0.0) -> str:
    """What a progress line says of the best release yet: what it scores, and the gap to what is proved of all.

    >>> so_far("loss", 0.25, 0.2)
    'loss 0.2500, at least 0.2000 (gap 20.0%)'
    >>> so_far("discernibility", 2153939)
    'discernibility 2,153,939'

    Of a loss of nothing there is no gap to tell.

    >>> so_far("loss", 0.0, 0.2)
    'loss 0.0000'
    """
    if floor <= 0.0 or score <= 0.0:
        return f"{measure} {figure(score)}"
    least = min(floor, score)
    return f"{measure} {figure(score)}, at least {figure(least, down=True)} (gap {1.0 - least / score:.1%})"


def none_below(floor: float) -> str:
    """The sentence on what is proved where an optimum is not; empty where nothing is.

    >>> none_below(0.19257)
    ' None scores less than 0.1925.'
    """
    return f" None scores less than {figure(floor, down=True)}." if floor > 0.0 else ""


def figure(score: float, *, down: bool = False) -> str:
    """A score with as many digits as tell something; a bound is never rounded up, or it would be none.

    >>> figure(0.25), figure(7220555.0), figure(0.04009, down=True)
    ('0.2500', '7,220,555', '0.0400')
    """
    digits = 4 if score < 100 else 1 if score < 10_000 else 0
    return f"{math.floor(score * 10**digits) / 10**digits if down else score:,.{digits}f}"


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
        ends = [60.0 * minutes for minutes in STAGES] if ends[-1] <= 30.0 else [2.0 * ends[-1]]


LOOK_SECONDS = 0.1
"""How often the caller hears of what several threads do, and may stop them."""
Answer = TypeVar("Answer")


def usable_threads(threads: int | None) -> int:
    """The number asked for, or one thread per processor."""
    if threads is not None:
        return threads
    # Not all systems say which processors this process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_once(tasks: Sequence[Callable[[], Answer]], threads: int, look: Callable[[], None], stop: Event) -> list[Answer]:
    """The answers of all tasks, in their order; `look` is called now and then, and may raise to stop them all.

    >>> at_once([lambda: 1, lambda: 2], 2, lambda: None, Event())
    [1, 2]
    """
    with ThreadPoolExecutor(max(1, min(threads, len(tasks)))) as pool:
        futures: list[Future[Answer]] = [pool.submit(task) for task in tasks]
        try:
            while wait(futures, LOOK_SECONDS).not_done:
                look()
        except BaseException:
            stop.set()  # those under way end at their next look, the others before they begin
            wait(futures)
            raise
    return [future.result() for future in futures]


MOST_THREADS = 64
"""More would only take memory."""


def in_order(
    tasks: Iterable[Callable[[], Answer]], threads: int, look: Callable[[], None], ahead: int | None = None
) -> Iterator[Answer]:
    """The answers of tasks that are made as they are needed, in their order, a few ahead of who takes them.

    Where tasks depend on answers, `ahead` says how many: a task is made when all answers save the last so many have
    been taken, whatever the number of threads. `look` is called now and then while waiting, and may raise to stop.

    >>> list(in_order((lambda n=n: n * n for n in range(5)), 2, lambda: None))
    [0, 1, 4, 9, 16]
    """
    threads = min(threads, MOST_THREADS)
    most = (2 * threads if threads > 1 else 0) if ahead is None else ahead
    if threads <= 1 or not most:
        done: deque[Answer] = deque()
        for task in tasks:
            look()
            done.append(task())
            if len(done) > most:
                yield done.popleft()
        yield from done
        return
    waiting: deque[Future[Answer]] = deque()

    def first() -> Answer:
        while wait([waiting[0]], LOOK_SECONDS).not_done:
            look()
        return waiting.popleft().result()

    with ThreadPoolExecutor(threads) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                while len(waiting) > most:
                    yield first()
            while waiting:
                yield first()
        finally:
            for future in waiting:
                future.cancel()


Thing = TypeVar("Thing")


class Spare(Generic[Thing]):
    """Large arrays that are used again and again, by one thread at a time: fresh memory takes time.

    >>> spare = Spare(lambda: [0])
    >>> with spare.one() as first, spare.one() as second:
    ...     first is second
    False
    >>> with spare.one() as again:
    ...     again is first or again is second
    True
    """

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make, self._spare = make, list[Thing]()

    @contextmanager
    def one(self) -> Iterator[Thing]:
        """One that nobody else has."""
        try:
            thing = self._spare.pop()
        except IndexError:
            thing = self._make()
        yield thing
        self._spare.append(thing)
