"""Privacy models by their class names; `make_model` makes one from its short form, such as `t-equal:income:0.2`.

What a user may import is named here; the modules below are an implementation detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "MODELS", "AlphaK", "AverageRisk", "BasicLikeness", "Constrained", "DeltaDisclosure", "DeltaPresence",
    "DistinctDiversity", "EnhancedLikeness", "EntropyDiversity", "EpsilonM", "EqualCloseness", "Guarding",
    "HierarchicalCloseness", "KAnonymity", "KMap", "LPlus", "Model", "OrderedCloseness", "PSensitive",
    "PopulationUniqueness", "RecursiveDiversity", "Uniqueness", "make_model",
]  # fmt: skip

if TYPE_CHECKING:
    from kanopy.privacy.base import Model
    from kanopy.privacy.closeness import (
        BasicLikeness,
        DeltaDisclosure,
        EnhancedLikeness,
        EqualCloseness,
        HierarchicalCloseness,
        OrderedCloseness,
    )
    from kanopy.privacy.diversity import (
        AlphaK,
        DistinctDiversity,
        EntropyDiversity,
        LPlus,
        PSensitive,
        RecursiveDiversity,
    )
    from kanopy.privacy.models import MODELS, make_model
    from kanopy.privacy.personal import Constrained, EpsilonM, Guarding
    from kanopy.privacy.sizes import AverageRisk, DeltaPresence, KAnonymity, KMap, PopulationUniqueness, Uniqueness
else:
    from kanopy._lazy import lazy_names

    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "kanopy.privacy.base": ("Model",),
            "kanopy.privacy.closeness": (
                "BasicLikeness", "DeltaDisclosure", "EnhancedLikeness", "EqualCloseness", "HierarchicalCloseness",
                "OrderedCloseness",
            ),
            "kanopy.privacy.diversity": (
                "AlphaK", "DistinctDiversity", "EntropyDiversity", "LPlus", "PSensitive", "RecursiveDiversity",
            ),
            "kanopy.privacy.models": ("MODELS", "make_model"),
            "kanopy.privacy.personal": ("Constrained", "EpsilonM", "Guarding"),
            "kanopy.privacy.sizes": (
                "AverageRisk", "DeltaPresence", "KAnonymity", "KMap", "PopulationUniqueness", "Uniqueness",
            ),
        },
    )  # fmt: skip
