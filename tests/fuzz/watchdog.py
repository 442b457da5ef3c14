"""Ends what never ends: a random job that takes too long is told apart from one that is wrong."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
from collections.abc import Iterator
from types import FrameType

SECONDS = 60


class Hangs(BaseException):
    """A job that did not end in time; no error that a program under test would catch."""


@contextlib.contextmanager
def watched(seconds: int = SECONDS) -> Iterator[None]:
    """Stop what takes longer; where compiled code does not listen, the process ends after three times as long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hangs(f"did not end within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(3 * seconds, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()
