"""Addresses of servers: their text hides the password, and only what connects asks for it."""

from __future__ import annotations

import re
import urllib.parse
from typing import Any

HIDDEN = "…"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SOMEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")


class Address(str):
    """The name of a file, or an address as it may be written down: without password, token and parameters.

    Whatever is done with its text (shown, joined, written to a file, sent as JSON) happens to the text without them.
    `in_full` is for what connects.

    >>> place = Address("postgresql://ann:secret@host/clinic?sslmode=require::visits")
    >>> print(place, repr(place.partition("?")[0]), sep="\\n")
    postgresql://ann:…@host/clinic?…::visits
    'postgresql://ann:…@host/clinic'
    >>> in_full(place)
    'postgresql://ann:secret@host/clinic?sslmode=require::visits'
    """

    _full: str

    def __new__(cls, text: str) -> Address:
        """An address, given in full; one that is one already stays as it is, and the name of a file is plain text."""
        if isinstance(text, cls) or _SCHEME.match(text) is None:
            return text  # type: ignore[return-value]
        made = super().__new__(cls, _without_secrets(text))
        made._full = text
        return made

    def __str__(self) -> str:
        return self  # and not a plain text, which could be connected to no more

    def __reduce__(self) -> Any:
        return Address, (self._full,)


def in_full(source: str) -> str:
    """The text of an address with all that it holds, for what connects and nothing else."""
    return source._full if isinstance(source, Address) else source


def is_incomplete(source: str) -> bool:
    """Whether an address was written down without its secrets, so that nothing can connect to it."""
    return HIDDEN in _SCHEME.sub("", in_full(source).partition("::")[0]) and bool(_SCHEME.match(source))


def is_ambiguous(source: str) -> bool:
    """Whether signs of a password would be taken for others, so that a part of it would be taken for the server."""
    full = in_full(source)
    scheme = _SCHEME.match(full)
    return scheme is not None and bool(re.search(r"[@/?#]|:.*:", _parts(full[scheme.end() :])[0]))


def split_table(source: str) -> tuple[Address, str]:
    """An address without the table or the query after `::`, and these.

    >>> split_table("postgresql://ann:secret@host/clinic::visits")
    ('postgresql://ann:…@host/clinic', 'visits')
    """
    full = in_full(source)
    scheme = _SCHEME.match(full)
    begin = 0 if scheme is None else scheme.end()
    *_, table = _parts(full[begin:])
    return Address(full[: len(full) - len(table)]), table.removeprefix("::")


def shown_address(source: str) -> str:
    """A file or an address as it may be written down.

    >>> shown_address("postgresql://ann:secret@host/clinic?sslmode=require::visits"), shown_address("people.csv")
    ('postgresql://ann:…@host/clinic?…::visits', 'people.csv')
    """
    return str.__str__(Address(source))


def secrets_of(source: str) -> list[str]:
    """What an address hides, as it stands there and as a server reads it.

    >>> secrets_of("postgresql://ann:a%40b@host/clinic?password=c")
    ['a%40b', 'a@b', 'c']
    """
    full = in_full(source)
    scheme = _SCHEME.match(full)
    if scheme is None or scheme[1] == "file":
        return []
    who, location, _ = _parts(full[scheme.end() :])
    password = who.partition(":")[2]
    settings = urllib.parse.parse_qsl(location.partition("?")[2])
    asked = [text for name, text in settings if re.search("pass|secret|token|key|sig", name, re.IGNORECASE)]
    secrets = [password, urllib.parse.unquote(password), *asked]
    return list(dict.fromkeys(text for text in secrets if len(text) > 0))


def without_addresses(text: str) -> str:
    """A message in which every address hides its secrets.

    >>> without_addresses("no route to postgresql://ann:secret@host/clinic now")
    'no route to postgresql://ann:…@host/clinic now'
    """
    return _SOMEWHERE.sub(lambda match: _without_secrets(match[0]), text) if "://" in text else text


def _without_secrets(source: str) -> str:
    scheme = _SCHEME.match(source)
    if scheme is None or scheme[1] == "file":
        return str.__str__(source)
    who, location, table = _parts(source[scheme.end() :])
    user, colon, _ = who.partition(":")
    if who:
        user = f"{HIDDEN if scheme[1].startswith('http') else user}{':' + HIDDEN if colon else ''}@"
    location, question, _ = location.partition("?")
    return f"{scheme[0]}{user}{location}{'?' + HIDDEN if question else ''}{table}"


def _parts(rest: str) -> tuple[str, str, str]:
    """Who and where an address says, and from `::` on which table or query.

    Passwords hold all kinds of signs, also those that should have been written otherwise: what stands before the last
    `@` of the address is never part of a place.
    """
    end = _table_at(rest, rest.find("@") + 1)
    while end < len(rest) and "@" in rest[end:] and not re.search(r"\s", rest[end:]):
        end = _table_at(rest, rest.index("@", end) + 1)
    who, at, location = rest[:end].rpartition("@")
    return who + ":" * (bool(at) and not who), location, rest[end:]


def _table_at(rest: str, begin: int) -> int:
    """Where `::` stands that is not part of a number of a machine in brackets."""
    bare = re.sub(r"\[[^\]@]*\]", lambda match: "x" * len(match[0]), rest)
    at_table = bare.find("::", begin)
    return len(rest) if at_table < 0 else at_table
