"""Format-preserving pseudonyms: digits stay digits and letters letters, in the same places (NIST SP 800-38G)."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from kanopy._errors import some
from kanopy._parameter_types import OneOf
from kanopy.treatments.pseudonyms.ff1 import FF1
from kanopy.treatments.pseudonyms.keyed import Pseudonym, need_cryptography, refuse_value
from kanopy.treatments.random_numbers import derived

ALPHABETS = {
    "digits": string.digits,
    "letters": string.ascii_uppercase,
    "digits-letters": string.digits + string.ascii_uppercase,
    "digits-letters-cases": string.digits + string.ascii_uppercase + string.ascii_lowercase,
}


@dataclass(frozen=True)
class FormatPreserving(Pseudonym):
    """Format-preserving encryption, FF1: account numbers become account numbers, and the key turns them back.

    Characters of the `alphabet` are encrypted together; hyphens, spaces and other signs stay where they are. A value
    must have enough of them that a million others are possible, and no letters or digits besides, which would stay.
    """

    alphabet: Annotated[str, OneOf(*ALPHABETS), "the characters that are encrypted"] = "digits"

    name: ClassVar[str] = "format-preserving"
    summary: ClassVar[str] = "replaces numbers and codes by others of the same form, which the key turns back"
    guarantees: ClassVar[str] = "without the key, a pseudonym looks like any other value of its form"
    lacks: ClassVar[str] = (
        "it is not authenticated: every text of the form can be turned back; check digits do not hold"
    )
    source: ClassVar[str] = "NIST SP 800-38G (Dworkin 2016), FF1"
    reversible: ClassVar[bool] = True

    def pseudonyms(self, column: str, labels: list[str], key: bytes) -> list[str]:
        """Each label encrypted."""
        return self._texts(column, labels, key, lambda cipher: cipher.encrypt)

    def originals(self, column: str, pseudonyms: list[str], key: bytes) -> list[str]:
        """The values behind pseudonyms."""
        return self._texts(column, pseudonyms, key, lambda cipher: cipher.decrypt)

    def _texts(
        self, column: str, labels: list[str], key: bytes, way: Callable[[FF1], Callable[[Sequence[int]], list[int]]]
    ) -> list[str]:
        need_cryptography(self.name)
        letters = ALPHABETS[self.alphabet]
        cipher = FF1(derived(key, "ff1"), len(letters))
        code = {letter: number for number, letter in enumerate(letters)}
        if plain := [label for label in labels if any(sign.isalnum() and sign not in code for sign in label)]:
            raise refuse_value(
                self.name, column, some(sorted(plain)),
                f"have letters or digits besides {self.alphabet}, which would be published as they are. Choose another "
                "alphabet (`kanopy treatments format-preserving`), or 'encrypt'.",
            )  # fmt: skip
        short = [label for label in labels if sum(letter in code for letter in label) < cipher.shortest]
        if short:
            raise refuse_value(
                self.name, column, some(short),
                f"have fewer than {cipher.shortest} {self.alphabet}: all pseudonyms could be tried. Use 'hash', "
                "'encrypt' or "
                "'tokens', or a larger alphabet.",
            )  # fmt: skip
        run = way(cipher)
        texts = []
        for label in labels:
            made = iter(run([code[letter] for letter in label if letter in code]))
            texts.append("".join(letters[next(made)] if letter in code else letter for letter in label))
        return texts
