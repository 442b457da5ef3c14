"""What the contracts share: that something wrong is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refused(error: type[Exception] | tuple[type[Exception], ...], words: str = "") -> Iterator[None]:
    """What is done inside must raise an error whose message has these words.

    >>> with refused(ValueError, "invalid"):
    ...     int("x")
    """
    try:
        yield
    except error as raised:
        assert re.search(words, str(raised)), f"the error should say {words!r} and says: {raised}"
    else:
        raise AssertionError(f"nothing was refused, where an error should say {words!r}")
