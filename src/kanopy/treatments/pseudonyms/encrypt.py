"""Reversible pseudonyms: AES-SIV, deterministic authenticated encryption (RFC 5297; Rogaway and Shrimpton 2006)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import ClassVar

from kanopy._errors import JobError, some
from kanopy.treatments.pseudonyms.keyed import Pseudonym, need_cryptography
from kanopy.treatments.random_numbers import derived


@dataclass(frozen=True)
class Encrypt(Pseudonym):
    """Reversible pseudonyms: who has the key turns them back, and notices every change of a letter.

    Each value is encrypted by AES-SIV with a key of 512 bits; the same value has the same pseudonym. Its length tells
    how long the value is.
    """

    name: ClassVar[str] = "encrypt"
    summary: ClassVar[str] = "replaces values by pseudonyms that the key turns back"
    guarantees: ClassVar[str] = (
        "without the key, nothing but the length of a value and which rows are equal can be told"
    )
    lacks: ClassVar[str] = "rows of one person stay linked; who has the key reads everything"
    source: ClassVar[str] = "RFC 5297"
    reversible: ClassVar[bool] = True

    def pseudonyms(self, column: str, labels: list[str], key: bytes) -> list[str]:
        """Each label encrypted, in letters and digits that survive spreadsheets and addresses."""
        cipher = _cipher(key)
        return [
            base64.b32encode(cipher.encrypt(label.encode("utf-8"), [])).decode().rstrip("=").lower() for label in labels
        ]

    def originals(self, column: str, pseudonyms: list[str], key: bytes) -> list[str]:
        """The values behind pseudonyms; an error names those that are none of this key."""
        from cryptography.exceptions import InvalidTag

        cipher = _cipher(key)
        originals_found, wrong = list[str](), list[str]()
        for text in pseudonyms:
            try:
                raw = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
                originals_found.append(cipher.decrypt(raw, []).decode("utf-8"))
            except (ValueError, InvalidTag):
                wrong.append(text)
        if wrong:
            raise JobError(
                f"{some(wrong)} of {column!r} were not made with this key, domain, recipient and version, or were "
                "changed."
            )
        return originals_found


def _cipher(key: bytes):  # type: ignore[no-untyped-def]
    need_cryptography("encrypt")
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return AESSIV(derived(key, "mac") + derived(key, "encryption"))
