"""Parameters that bound the work of an algorithm by something else than time, so that results repeat."""

from __future__ import annotations

from typing import Any

QUICK: dict[str, dict[str, Any]] = {
    "best": {"steps": 1},
    "microaggregation": {"distance": "gower", "effort": 0.01},
    "iyengar": {"generations": 3, "population": 8},
    "bayardo-agrawal": {"steps": 50},
    "li-sps": {"steps": 1},
    "li-gsps": {"steps": 1},
    "li-gops": {"steps": 1},
}

CLASSES = {"17": {"no": 3}, "18": {"no": 2, "yes": 1}, "58": {"yes": 4}, "1.5": {"no": 4}, "30.5": {"yes": 4}}
"""Rows of each class for some values; the others have none."""

BUILDER_NEEDS: dict[tuple[str, str], dict[str, Any]] = {
    ("cuts", ""): {"edges": (10, 20)},
    ("groups", ""): {"groups": {"some": ["cat", "dog", "17", "18", "1.5", "2.25", "2001-01-01"]}, "other": "rest"},
    ("chimerge", ""): {"classes": CLASSES},
    ("mdl", ""): {"classes": CLASSES},
    ("widths", ""): {"widths": (5, 10)},
    ("order", "text"): {
        "order": (
            "cat",
            "dog",
            "horse",
            "cow",
            "eagle",
            "parrot",
            "snake",
            "lizard",
            "frog",
            "salmon",
            "trout",
            "shark",
        )
    },
}
"""Parameters that a builder cannot do without, on every kind of column or on one."""

TREATMENT_NEEDS: dict[str, dict[str, Any]] = {
    "microaggregate": {"too_small": "suppress", "together": ("cost",)},
    "top-code": {"top_share": 0.1},
    "round": {"base": 10},
    "shift-dates": {"unit": ("patient",)},
    "tokens": {"table": "tokens-that-do-not-exist.csv"},
    "follow": {"column": "number"},
}
"""The parameters that a treatment cannot do without on the table of its contract."""
