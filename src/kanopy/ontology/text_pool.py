"""Many short strings in one block of bytes, so that a vocabulary loads as fast as an array."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt


class TextPool(Sequence[str]):
    """A frozen list of strings without line breaks, decoded one at a time.

    >>> pool = TextPool.of(["ant", "bee", "cat"])
    >>> pool[1], len(pool), pool.find_sorted("cat"), pool.find_sorted("dog")
    ('bee', 3, 2, -1)
    """

    def __init__(self, data: bytes) -> None:
        """`data`: every string in UTF-8 followed by a line feed."""
        self.data = data
        self._ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 10).astype(np.int32)

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextPool:
        """A pool of the given strings, in their order; line breaks inside a string become spaces."""
        return cls("".join(" ".join(text.splitlines()) + "\n" for text in texts).encode())

    @classmethod
    def from_array(cls, array: npt.NDArray[np.uint8]) -> TextPool:
        """The pool whose bytes `array` holds."""
        return cls(array.tobytes())

    def to_array(self) -> npt.NDArray[np.uint8]:
        """The bytes as an array, for saving."""
        return np.frombuffer(self.data, np.uint8)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._bytes(range(len(self))[index]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.data.decode().split("\n")[:-1])

    def _bytes(self, index: int) -> bytes:
        start = int(self._ends[index - 1]) + 1 if index else 0
        return self.data[start : self._ends[index]]

    def first_from(self, text: str) -> int:
        """Where a string stands, or would stand, in a pool sorted by UTF-8 bytes (binary search, nothing is built)."""
        return bisect_left(range(len(self)), text.encode(), key=self._bytes)

    def find_sorted(self, text: str) -> int:
        """The position of a string in a pool sorted by UTF-8 bytes, or -1."""
        at = self.first_from(text)
        return at if at < len(self) and self._bytes(at) == text.encode() else -1
