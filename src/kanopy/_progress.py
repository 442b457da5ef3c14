"""How long work tells its caller where it is, and how a caller stops it.

A callback receives a `Step`; returning `False` (or raising) cancels the work cleanly. The terminal's progress
bar, a browser page and a test all use this one shape.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kanopy._errors import Cancelled
from kanopy._lazy import public


@dataclass(frozen=True)
class Step:
    """Where the work is: a stage in plain words, the part of it that is done (0 to 1, or `None`), a short note."""

    stage: str
    fraction: float | None = None
    note: str = ""


Callback = Callable[[Step], bool | None]
Note = str | Callable[[], str]
LEAST_WORK = 20
"""How many times as long as wording a note the work goes on before it is worded again."""


@public("kanopy.extend")
class Progress:
    """Calls back at most every `interval` seconds, and always when a stage begins.

    A note that takes time to word is a function: it is asked only when it is shown, and the longer it took, the longer
    the same words are shown (with an interval of 0 everything is said, whatever it takes).

    >>> seen = []
    >>> progress = Progress(lambda step: seen.append(step.stage))
    >>> progress("reading"); progress("reading", 0.5); progress("searching")
    >>> seen
    ['reading', 'searching']
    """

    def __init__(self, callback: Callback | None = None, interval: float = 0.1) -> None:
        self._callback = callback
        self._interval = interval
        self._stage = ""
        self._last = self._reworded = 0.0
        self._said = ""

    @property
    def active(self) -> bool:
        """Whether anyone listens: notes that take time to word can be left out otherwise."""
        return self._callback is not None

    def __call__(self, stage: str, fraction: float | None = None, note: Note = "") -> None:
        """Report; raises `Cancelled` if the callback says so."""
        if self._callback is None:
            return
        now = time.monotonic()
        begins = stage != self._stage
        if not begins and now - self._last < self._interval:
            return
        self._stage, self._last = stage, now
        if isinstance(note, str):
            self._said = note
        elif begins or now >= self._reworded or not self._interval:
            self._said = note()
            self._reworded = now + LEAST_WORK * (time.monotonic() - now)
        if self._callback(Step(stage, fraction, self._said)) is False:
            raise Cancelled(f"Stopped while {stage}. Nothing was written.")


SILENT = Progress()


STAGES = ("read", "encode", "search", "apply", "verify", "write")
"""The stages of a release."""


class Clock:
    """Seconds per stage of the work."""

    def __init__(self, stages: Iterable[str] = STAGES) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(stages, 0.0)
        self._started = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def total(self) -> dict[str, float]:
        """All stages, and the time since the clock was made."""
        return {**self.seconds, "total": time.perf_counter() - self._started}
