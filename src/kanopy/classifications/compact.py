"""One small file per bundled classification: header, codes, ranks and labels as compressed text, read in milliseconds.

The codes stand in depth-first order, each with its rank, so that parents need not be stored: the parent of a code is
the nearest one before it with a smaller rank.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kanopy._arrays import Ints
from kanopy._errors import HierarchyError
from kanopy._files import write_whole
from kanopy.classifications.classification import About, Classification, bare, plain

SECTION = "\x1e"
_FIRST_RANK = ord("0")


def write_compact(classification: Classification, path: str | Path, variants: Mapping[str, str] | None = None) -> None:
    """Write a classification; `variants` gives other spellings (of codes or labels) and the code each means."""
    order = _depth_first(classification)
    header: dict[str, Any] = {
        "name": classification.name,
        "levels": classification.levels,
        "languages": classification.languages,
        **{item.name: getattr(classification.about, item.name) for item in fields(About)},
    }
    sections = [
        json.dumps(header, ensure_ascii=False),
        "\n".join(classification.codes[at] for at in order),
        "".join(chr(_FIRST_RANK + int(classification.rank[at])) for at in order),
        *("\n".join(labels[at] for at in order) for labels in classification.labels_by_language.values()),
        "\n".join(f"{spelling}\t{code}" for spelling, code in sorted((variants or {}).items())),
    ]
    if any(mark in section for section in sections[1:] for mark in (SECTION, "\r")):
        raise HierarchyError("A label contains a control character. Remove it before you store the classification.")
    # No time and no name in the file: the same classification gives the same bytes.
    write_whole(path, gzip.compress(SECTION.join(sections).encode(), 9, mtime=0))


def read_compact(content: bytes, where: str) -> Classification:
    """Read what `write_compact` wrote."""
    try:
        head, codes, ranks, *labels, variants = zlib.decompress(content, 31).decode().split(SECTION)
        header = json.loads(head)
        about = About(**{item.name: header.get(item.name, "") for item in fields(About)})
        rank = (np.frombuffer(ranks.encode("ascii"), np.uint8) - _FIRST_RANK).astype(np.int32)
        languages = header["languages"]
        spelled = dict(zip(languages, (text.split("\n") for text in labels), strict=True))
        code_list = codes.split("\n")
        aliases = _aliases(variants, code_list) if variants else {}
        return Classification(
            header["name"], code_list, _parents(rank), rank, tuple(header["levels"]), spelled, aliases, {}, about
        )
    except (ValueError, KeyError, zlib.error) as error:
        raise HierarchyError(f"{where} is not a compact classification, or it is incomplete ({error}).") from None


def _aliases(variants: str, codes: Sequence[str]) -> dict[str, int]:
    """Other spellings, as codes and as labels are compared."""
    number = {code: at for at, code in enumerate(codes)}
    aliases = {}
    for line in variants.split("\n"):
        spelling, _, code = line.partition("\t")
        aliases[bare(spelling)] = aliases[plain(spelling)] = number[code]
    return aliases


def _parents(rank: Ints) -> Ints:
    """The nearest code before each with a smaller rank, all of one rank at a time."""
    parent = np.full(len(rank), -1, np.int32)
    at = np.arange(len(rank), dtype=np.int32)
    for level in range(1, int(rank.max(initial=0)) + 1):
        last_broader = np.maximum.accumulate(np.where(rank < level, at, -1))
        of_level = rank == level
        parent[of_level] = last_broader[of_level]
    return parent


def _depth_first(classification: Classification) -> Sequence[int]:
    """All codes, each followed by what lies below it."""
    children = classification.children
    order: list[int] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        at = stack.pop()
        order.append(at)
        stack.extend(reversed(children.get(at, [])))
    return order
