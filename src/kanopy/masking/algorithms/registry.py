"""All masking algorithms by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy._errors import called
from kanopy._parameters import make
from kanopy.masking.algorithms.fusion import Fusion
from kanopy.masking.algorithms.microaggregation import SemanticMicroaggregation
from kanopy.masking.algorithms.recoding import LocalRecodingByMeaning
from kanopy.masking.algorithms.swapping import SemanticSwapping
from kanopy.masking.result import Masking

MASKINGS: Mapping[str, type[Masking]] = {
    each.name: each for each in (Fusion, LocalRecodingByMeaning, SemanticMicroaggregation, SemanticSwapping)
}


def make_masking(name: str, **parameters: Any) -> Masking:
    """A masking algorithm by name.

    >>> make_masking("fusion", heuristics="12").heuristics
    '12'
    """
    return make(MASKINGS[called(name, MASKINGS, "masking algorithm")], parameters)
