"""Runs that are killed at random moments leave no half file, and nothing after the next run. `make fuzz-kills` kills
more of them, of every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.kills import WAYS, harass


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memory", "stream of CSV", "stream on disk", "DuckDB"])
def test_what_is_killed_leaves_nothing(name: str, tmp_path: Path) -> None:
    harass(tmp_path / "place", WAYS[name], kills=2, terms=1, seed=5)
