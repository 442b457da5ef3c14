"""Parameters that bound the work of an algorithm by something else than time, so that results repeat."""

from __future__ import annotations

from typing import Any

QUICK: dict[str, dict[str, Any]] = {
    "best": {"steps": 1},
    "iyengar": {"generations": 3, "population": 8},
    "bayardo-agrawal": {"steps": 50},
    "li-sps": {"steps": 1},
    "li-gsps": {"steps": 1},
    "li-gops": {"steps": 1},
}
