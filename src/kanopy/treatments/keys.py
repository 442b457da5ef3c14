"""Secret keys: checked for strength, told apart by purpose, recipient and version, written nowhere."""

from __future__ import annotations

import itertools
import math
from collections import Counter

from kanopy._errors import JobError
from kanopy._table.pseudonyms import KEY_VARIABLE, SHORTEST_KEY

LEAST_BITS = 40
"""Bits that the bytes of a key must hold, by how often each occurs in it: a sentence does, a repeated word does not."""
HOW = "Make one with: head -c 32 /dev/urandom | base64 > key.txt"


def check_strength(key: bytes | None) -> bytes:
    """Refuse a key that is absent, short, or made of few different bytes.

    >>> check_strength(b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
    Traceback (most recent call last):
    kanopy.extend.JobError: The key is too simple: it can be guessed. Make one with: head -c 32 ...
    """
    if key is None:
        raise JobError(
            f"A treatment of the job needs a secret key: give key=…, a file with --key-file, or set {KEY_VARIABLE}. "
            f"{HOW}"
        )
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
        raise JobError(f"The key must have at least {SHORTEST_KEY} bytes: a shorter one can be guessed. {HOW}")
    counts = Counter(key).values()
    bits = -sum(count * math.log2(count / len(key)) for count in counts)
    steps = {(b - a) % 256 for a, b in itertools.pairwise(key)}
    repeated = (key + key).find(key, 1) < len(key)
    if bits < LEAST_BITS or len(steps) < 3 or repeated:
        raise JobError(f"The key is too simple: it can be guessed. {HOW}")
    return key
