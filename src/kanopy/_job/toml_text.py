"""Plain data as TOML text: the standard library reads TOML but does not write it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def toml_key(name: str) -> str:
    """A name as a TOML key, quoted where needed.

    >>> toml_key("marital-status"), toml_key("âge")
    ('marital-status', '"âge"')
    """
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else _toml_text(name)


def _toml_text(text: str) -> str:
    # TOML knows the escapes of JSON but no pairs of surrogates, so only what must be is escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: Any) -> str:
    """A plain value as TOML.

    >>> toml_value({"name": "best", "free": ["age"], "strict": True})
    '{ name = "best", free = ["age"], strict = true }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    return _toml_text(str(value))
