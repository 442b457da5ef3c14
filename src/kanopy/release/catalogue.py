"""Every algorithm with what it is, what it supports and where it comes from: what `kanopy algorithms` lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal

from kanopy._parameters import defaults, parse
from kanopy.masking.names import MASKING_NAMES
from kanopy.search.algorithms import algorithm_class
from kanopy.search.solution import RECODINGS, About

MODEL_WORDS = {
    "any": "all",
    "monotone": "those for which a more general release is never less safe",
    "classes": "those that judge one class at a time: k, l, t, α, β, δ-disclosure and the like",
    "rows": "those, and average risk and uniqueness of the whole release",
    "sizes": "k-anonymity",
}


def _masking(does: str, source: str, search: str = "greedy", models: Literal["sizes", "none"] = "sizes") -> About:
    return About(
        does, source, search, "semantic distance", models=models, suppresses=False, level_limits=False, row_order=True,
        seeded=True, attributes="text by meaning; numbers and categories beside it",
    )  # fmt: skip


MASKING_ENTRIES = {
    "fusion": _masking(
        "replaces rare combinations by the most similar ones until each is shared by k rows", "Martínez 2010"
    ),
    "local-recoding": _masking(
        "replaces values seen fewer than k times by the most similar frequent value", "Martínez 2010"
    ),
    "semantic-microaggregation": _masking(
        "forms groups of k similar rows and publishes, for each, the value most similar to all of its own",
        "MDAV (Domingo-Ferrer, Mateo-Sanz 2002) with semantic similarity",
    ),
    "semantic-swapping": _masking(
        "exchanges the values of rare rows for similar ones; a distortion that promises no k",
        "rank swapping (Moore 1996) with semantic similarity",
        "random",
        "none",
    ),
}
"""Maskings substitute values by meaning instead of generalizing them."""


def algorithms() -> list[dict[str, Any]]:
    """One plain entry per algorithm, generalizing ones first.

    >>> [(each["name"], each["recoding"]) for each in algorithms()][:2]
    [('optimal', 'full-domain'), ('samarati', 'full-domain')]
    """
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.search.algorithms import ALGORITHMS

    kinds = [(name, algorithm_class(name)) for name in ALGORITHMS]
    return [
        *(_entry(name, kind.recoding, kind.about, kind) for name, kind in kinds),
        *(_entry(name, "substitution", about, MASKINGS[name]) for name, about in MASKING_ENTRIES.items()),
    ]


def _entry(name: str, recoding: str, about: About, kind: type) -> dict[str, Any]:
    said = dataclasses.asdict(about)
    said["depends_on_row_order"] = said.pop("row_order")
    return {"name": name, "recoding": recoding, **said, "parameters": defaults(kind)}


def parameters_for(algorithm: str, texts: Iterable[str]) -> dict[str, Any]:
    """Parameters of an algorithm from texts `name=value`, each read as the kind that it declares.

    >>> parameters_for("mondrian", ["strict=true"])
    {'strict': True}
    """
    if algorithm in MASKING_NAMES:
        from kanopy.masking.job import MaskJob

        return parse(MaskJob, texts)
    return parse(algorithm_class(algorithm), texts)


def recoding_words(recoding: str) -> str:
    """A kind of recoding in a few words.

    >>> recoding_words("full-domain")
    'one level per column, the same for all rows'
    """
    return RECODINGS.get(recoding, "values are replaced by other values of the table")
