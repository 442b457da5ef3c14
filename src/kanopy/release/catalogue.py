"""Every algorithm with what it is, what it supports and where it comes from: what `kanopy algorithms` lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kanopy._job.parameter_types import masks
from kanopy._parameters import defaults, parse
from kanopy.masking.algorithms.registry import MASKINGS, SUBSTITUTION
from kanopy.search.algorithms import ALGORITHMS, algorithm_class
from kanopy.search.solution import RECODINGS, About

if TYPE_CHECKING:
    from kanopy.masking.masking_result import Masking

MODEL_WORDS = {
    "any": "all",
    "monotone": "those for which a more general release is never less safe",
    "classes": "those that judge one class at a time: k, l, t, α, β, δ-disclosure and the like",
    "rows": "those, and average risk and uniqueness of the whole release",
    "sizes": "k-anonymity",
}


def _masking(kind: type[Masking]) -> About:
    """Maskings substitute values by meaning instead of generalizing them."""
    return About(
        kind.does, kind.source, kind.way, "semantic distance", models="sizes" if kind.guarantees_k else "none",
        suppresses=False, level_limits=False, row_order=True, seeded=True,
        attributes="text by meaning; numbers and categories beside it",
    )  # fmt: skip


def algorithms() -> list[dict[str, Any]]:
    """One plain entry per algorithm, generalizing ones first.

    >>> [(each["name"], each["recoding"]) for each in algorithms()][:2]
    [('optimal', 'full-domain'), ('samarati', 'full-domain')]
    """
    return [
        *(_entry(name, kind.recoding, kind.about, kind) for name, kind in ALGORITHMS.items()),
        *(_entry(name, SUBSTITUTION, _masking(kind), kind) for name, kind in MASKINGS.items()),
    ]


def _entry(name: str, recoding: str, about: About, kind: type) -> dict[str, Any]:
    entry = dataclasses.asdict(about)
    entry["depends_on_row_order"] = entry.pop("row_order")
    return {"name": name, "recoding": recoding, **entry, "parameters": defaults(kind)}


def parameters_for(algorithm: str, texts: Iterable[str]) -> dict[str, Any]:
    """Parameters of an algorithm from texts `name=value`, each read as the kind that it declares.

    >>> parameters_for("mondrian", ["strict=true"])
    {'strict': True}
    """
    if masks(algorithm):
        from kanopy.masking.job import MaskJob

        return parse(MaskJob, texts)
    return parse(algorithm_class(algorithm), texts)


def recoding_words(recoding: str) -> str:
    """A kind of recoding in a few words.

    >>> recoding_words("full-domain")
    'one level per column, the same for all rows'
    """
    return RECODINGS.get(recoding, "values are replaced by other values of the table")
