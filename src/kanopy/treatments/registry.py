"""Every treatment by name, and how a treatment is written in a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kanopy._errors import JobError, short
from kanopy._parameters import faults_of_class, make
from kanopy._registry import Named

if TYPE_CHECKING:
    from kanopy.treatments.base import Treatment

TREATMENTS: Named[type[Treatment]] = Named(
    {
        "microaggregate": "kanopy.treatments.microaggregate:Microaggregate",
        "top-code": "kanopy.treatments.coding:TopCode",
        "round": "kanopy.treatments.rounding:Rounding",
        "noise": "kanopy.treatments.noise:Noise",
        "rank-swap": "kanopy.treatments.swapping:RankSwap",
        "shuffle": "kanopy.treatments.swapping:Shuffle",
        "pram": "kanopy.treatments.pram:Pram",
        "resample": "kanopy.treatments.swapping:Resample",
        "shift-dates": "kanopy.treatments.dates:ShiftDates",
        "cut-dates": "kanopy.treatments.dates:CutDates",
        "hash": "kanopy.treatments.pseudonyms.keyed:KeyedHash",
        "tokens": "kanopy.treatments.pseudonyms.tokens:Tokens",
        "encrypt": "kanopy.treatments.pseudonyms.encrypt:Encrypt",
        "format-preserving": "kanopy.treatments.pseudonyms.format_preserving:FormatPreserving",
        "mask": "kanopy.treatments.pseudonyms.mask:PartialMask",
        "follow": "kanopy.treatments.linked:Follow",
    },
    "treatment",
    group="kanopy.treatments",
    faults=faults_of_class("kanopy.treatments.base:Treatment"),
)

TreatmentSource = Any
"""A treatment, its name, or its name and parameters: `{"method": "round", "base": 100}`."""


def make_treatment(given: TreatmentSource) -> Treatment:
    """A treatment in any of its forms.

    >>> make_treatment({"method": "round", "base": 100}).base
    100
    """
    from kanopy.treatments.base import Treatment

    if isinstance(given, Treatment):
        TREATMENTS.adopt(type(given))
        return given
    if isinstance(given, str):
        given = {"method": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("method"), str):
        raise JobError(
            f'A treatment is written {{ method = "round", base = 100 }}, not {short(given)}. `kanopy treatments` lists '
            "the methods."
        )
    parameters = {str(name).replace("-", "_"): value for name, value in given.items() if name != "method"}
    return make(TREATMENTS.find(given["method"]), parameters)
