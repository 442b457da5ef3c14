"""Codes whose labels may not be handed on: the code alone tells what lies above it, by its length.

`A02BC01` of the ATC lies in `A02BC`, `A02B`, `A02` and `A`. With the file of the user come the labels; without it
the levels are right, and labels are the codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kanopy._errors import HierarchyError, some
from kanopy.classifications.classification import About, Classification, bare


@dataclass(frozen=True)
class Shape:
    """A pattern of codes without dots, how long the codes of each level are, and what the levels are called."""

    pattern: re.Pattern[str]
    lengths: tuple[int, ...]
    levels: tuple[str, ...]
    dot_after: int = 0


SHAPES: Mapping[str, Shape] = {
    "atc": Shape(
        re.compile(r"[ABCDGHJLMNPRSV](\d\d([A-Z]([A-Z](\d\d)?)?)?)?"), (1, 3, 4, 5, 7),
        ("anatomical group", "therapeutic group", "pharmacological group", "chemical group", "substance"),
    ),
    "icd": Shape(
        re.compile(r"[A-Z]\d\d(\d{1,3})?[+*!]?"), (3, 4, 5), ("category", "4 characters", "5 characters"), 3
    ),
    "isco": Shape(
        re.compile(r"\d{1,4}"), (1, 2, 3, 4), ("major group", "sub-major group", "minor group", "unit group")
    ),
}  # fmt: skip


def of_shape(shape: str, values: Iterable[str], *, name: str = "", role: str = "quasi-identifier") -> Classification:
    """The classification that the codes among some values imply.

    >>> drugs = of_shape("atc", ["A02BC01", "C09AA05", "aspirin"])
    >>> [drugs.codes[at] for at in drugs.chain(drugs.find("a02bc01"))]
    ['A02BC01', 'A02BC', 'A02B', 'A02', 'A']
    """
    described_shape = SHAPES[shape]
    given = list(values)
    keys = {bare(value).rstrip("+*!") for value in given}
    codes = sorted(
        key for key in keys if described_shape.pattern.fullmatch(key) and len(key) in described_shape.lengths
    )
    if not codes:
        raise HierarchyError(
            f"None of the values has the format of a code of {name or shape}: {some(given)}. Give the file of the "
            "classification, or another one."
        )
    every: dict[str, None] = {}
    for code in codes:
        every |= {code[:length]: None for length in described_shape.lengths if length <= len(code)}
    every = dict.fromkeys(sorted(every))
    number = {code: at for at, code in enumerate(every)}
    rank = [described_shape.lengths.index(len(code)) for code in every]
    parent = [
        number[code[: described_shape.lengths[depth - 1]]] if depth else -1
        for code, depth in zip(every, rank, strict=True)
    ]
    after = described_shape.dot_after
    written = [f"{code[:after]}.{code[after:]}" if after and len(code) > after else code for code in every]
    about = About(title=name or shape, version="from the format of the codes, without labels", role=role)
    return Classification(
        name or shape,
        written,
        np.array(parent, np.int32),
        np.array(rank, np.int32),
        described_shape.levels,
        {},
        {},
        {},
        about,
    )
