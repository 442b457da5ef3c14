"""Every algorithm with what it is, what it supports and where it comes from: what `kanopy algorithms` lists."""

from __future__ import annotations

from typing import Any

from kanopy._parameters import defaults
from kanopy.search.solution import RECODINGS

MODEL_WORDS = {
    "any": "all",
    "monotone": "those for which a more general release is never less safe",
    "classes": "those that judge one class at a time: k, l, t, α, β, δ-disclosure and the like",
    "rows": "those, and average risk and uniqueness of the whole release",
    "sizes": "k-anonymity",
}

_MEANING = "text by meaning; numbers and categories beside it"
MASKING_ENTRIES: dict[str, dict[str, str]] = {
    "fusion": {
        "does": "replaces rare combinations by the most similar ones until each is shared by k rows",
        "source": "Martínez 2010",
        "search": "greedy",
    },
    "local-recoding": {
        "does": "replaces values seen fewer than k times by the most similar frequent value",
        "source": "Martínez 2010",
        "search": "greedy",
    },
    "semantic-microaggregation": {
        "does": "forms groups of k similar rows and publishes, for each, the value most similar to all of its own",
        "source": "MDAV (Domingo-Ferrer, Mateo-Sanz 2002) with semantic similarity",
        "search": "greedy",
    },
    "semantic-swapping": {
        "does": "exchanges the values of rare rows for similar ones; a distortion that promises no k",
        "source": "rank swapping (Moore 1996) with semantic similarity",
        "search": "random",
    },
}
"""Maskings substitute values by meaning instead of generalizing them."""


def algorithms() -> list[dict[str, Any]]:
    """One plain entry per algorithm, generalizing ones first.

    >>> [(each["name"], each["recoding"]) for each in algorithms()][:2]
    [('optimal', 'full-domain'), ('samarati', 'full-domain')]
    """
    from kanopy.search.algorithms import ALGORITHMS, algorithm_class

    found: list[dict[str, Any]] = []
    for name in ALGORITHMS:
        kind: Any = algorithm_class(name)
        about = kind.about
        found.append(
            {
                "name": name,
                "recoding": kind.recoding,
                "does": about.does,
                "source": about.source,
                "search": about.search,
                "lowers": about.lowers,
                "proves": about.proves,
                "models": about.models,
                "attributes": about.attributes,
                "suppresses": about.suppresses,
                "level_limits": about.level_limits,
                "weights": about.weights,
                "depends_on_row_order": about.row_order,
                "seeded": about.seeded,
                "anytime": about.anytime,
                "parameters": defaults(kind),
            }
        )
    found += [_masking_entry(name, words) for name, words in MASKING_ENTRIES.items()]
    return found


def _masking_entry(name: str, words: dict[str, str]) -> dict[str, Any]:
    from kanopy.masking.algorithms.registry import MASKINGS

    kind = MASKINGS[name]
    return {
        "name": name,
        "recoding": "substitution",
        **words,
        "lowers": "semantic distance",
        "proves": "",
        "models": "sizes" if kind.guarantees_k else "none",
        "attributes": _MEANING,
        "suppresses": False,
        "level_limits": False,
        "weights": True,
        "depends_on_row_order": True,
        "seeded": True,
        "anytime": False,
        "parameters": defaults(kind),
    }


def recoding_words(recoding: str) -> str:
    """A kind of recoding in a few words.

    >>> recoding_words("full-domain")
    'one level per column, the same for all rows'
    """
    return RECODINGS.get(recoding, "values are replaced by other values of the table")
