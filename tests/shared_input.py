"""Where the read-only inputs lie beside the checkout; tests that need them skip where they are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def needs_shared(*parts: str) -> Path:
    """The path of a shared input, or skip."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared input {'/'.join(parts)} in a folder 'shared' beside the checkout")
    return path
