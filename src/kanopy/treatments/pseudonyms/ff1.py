"""FF1 of NIST SP 800-38G (Dworkin 2016): encryption of digit strings to digit strings, on the AES of `cryptography`.

No kept package has it for every version of Python that Kanopy runs on (docs/decisions/0183). The mode is followed line
by line; its block cipher and its cipher block chaining are the library's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kanopy._errors import JobError

LEAST_DOMAIN = 1_000_000
"""Fewer different values could be tried one by one (SP 800-38G, section 5.1)."""
ROUNDS = 10


class FF1:
    """A key, a number of letters, and a tweak.

    >>> FF1(bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C"), 10).encrypt([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    [2, 4, 3, 3, 4, 7, 7, 4, 8, 4]
    """

    def __init__(self, key: bytes, radix: int, tweak: bytes = b"") -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        if not 2 <= radix <= 2**16:
            raise JobError(f"FF1 has 2 to 65,536 letters, not {radix}.")
        self.radix, self.tweak = radix, tweak
        self._block = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update
        self._key = key
        self.shortest = max(2, math.ceil(math.log(LEAST_DOMAIN) / math.log(radix) - 1e-12))

    def _chain(self, data: bytes) -> bytes:
        """The last block of cipher block chaining."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        return Cipher(algorithms.AES(self._key), modes.CBC(bytes(16))).encryptor().update(data)[-16:]

    def encrypt(self, digits: Sequence[int]) -> list[int]:
        """The digits encrypted: as many, of the same radix."""
        return self._run(digits, False)

    def decrypt(self, digits: Sequence[int]) -> list[int]:
        """The digits behind encrypted ones."""
        return self._run(digits, True)

    def _run(self, digits: Sequence[int], back: bool) -> list[int]:
        n, radix = len(digits), self.radix
        if n < self.shortest:
            raise JobError(f"FF1 needs at least {self.shortest} letters of {radix}, not {n}: fewer could all be tried.")
        u = n // 2
        v = n - u
        left, right = self._number(digits[:u]), self._number(digits[u:])
        b = (
            (math.ceil(v * math.log2(radix)) + 7) // 8
            if radix & (radix - 1)
            else (v * (radix.bit_length() - 1) + 7) // 8
        )
        b = max(b, ((radix**v - 1).bit_length() + 7) // 8)
        d = 4 * ((b + 3) // 4) + 4
        head = (bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big")
                + len(self.tweak).to_bytes(4, "big") + self.tweak + bytes((-len(self.tweak) - b - 1) % 16))  # fmt: skip
        for turn in range(ROUNDS) if not back else range(ROUNDS - 1, -1, -1):
            half = left if back else right
            r = self._chain(head + bytes([turn]) + half.to_bytes(b, "big"))
            s = r + b"".join(
                self._block((int.from_bytes(r, "big") ^ block).to_bytes(16, "big"))
                for block in range(1, (d + 15) // 16)
            )
            y = int.from_bytes(s[:d], "big")
            modulus = radix ** (u if turn % 2 == 0 else v)
            if back:
                left, right = (right - y) % modulus, left
            else:
                left, right = right, (left + y) % modulus
        return [*self._digits(left, u), *self._digits(right, v)]

    def _number(self, digits: Sequence[int]) -> int:
        number_read = 0
        for digit in digits:
            number_read = number_read * self.radix + digit
        return number_read

    def _digits(self, number: int, count: int) -> list[int]:
        digits = []
        for _ in range(count):
            number, digit = divmod(number, self.radix)
            digits.append(digit)
        return digits[::-1]
