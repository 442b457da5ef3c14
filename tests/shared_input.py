"""What tests are compared with: figures kept in the repository, and tables that lie beside the checkout.

Published figures and fixtures of our own are in `tests/golden/figures`. The tables of other projects and the rated word
pairs are read from a folder `shared` beside the checkout; tests that need them skip where it is absent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FIGURES = Path(__file__).resolve().parent / "golden" / "figures"
SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def figures(name: str) -> Any:
    """The figures of one file; its `source`, or the test that uses it, says where they come from."""
    return json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))


def needs_shared(*parts: str) -> Path:
    """The path of a shared input, or skip."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared input {'/'.join(parts)} in a folder 'shared' beside the checkout")
    return path
