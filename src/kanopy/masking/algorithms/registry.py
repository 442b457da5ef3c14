"""Every masking algorithm by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanopy._lazy import Named
from kanopy._parameters import make

if TYPE_CHECKING:
    from kanopy.masking.result import Masking

MASKINGS: Named[type[Masking]] = Named(
    {
        "fusion": "kanopy.masking.algorithms.fusion:Fusion",
        "local-recoding": "kanopy.masking.algorithms.recoding:LocalRecodingByMeaning",
        "semantic-microaggregation": "kanopy.masking.algorithms.microaggregation:SemanticMicroaggregation",
        "semantic-swapping": "kanopy.masking.algorithms.swapping:SemanticSwapping",
    },
    "masking algorithm",
)
"""Loaded one by one: whoever only asks whether an algorithm masks (`name in MASKINGS`) loads no kernels."""

SUBSTITUTION = "substitution"
"""What maskings do instead of recoding."""


def make_masking(name: str, **parameters: Any) -> Masking:
    """A masking algorithm by name.

    >>> make_masking("fusion", heuristics="12").heuristics
    '12'
    """
    return make(MASKINGS.find(name), parameters)
