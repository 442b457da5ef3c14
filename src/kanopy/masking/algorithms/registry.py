"""Every masking algorithm by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kanopy._parameters import faults_of_class, make
from kanopy._registry import Named

if TYPE_CHECKING:
    from kanopy.masking.masking_result import Masking

MASKINGS: Named[type[Masking]] = Named(
    {
        "fusion": "kanopy.masking.algorithms.fusion:Fusion",
        "local-recoding": "kanopy.masking.algorithms.recoding:LocalRecodingByMeaning",
        "semantic-microaggregation": "kanopy.masking.algorithms.microaggregation:SemanticMicroaggregation",
        "semantic-swapping": "kanopy.masking.algorithms.swapping:SemanticSwapping",
    },
    "masking algorithm",
    group="kanopy.maskings",
    faults=faults_of_class("kanopy.masking.masking_result:Masking"),
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
