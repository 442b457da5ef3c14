"""What is said of the four papers is true: places exist, claims are computed, and the documentation says it."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kanopy.cli import app
from kanopy_papers.checks import CHECKS
from kanopy_papers.overview import STATES, Overview, items, markdown, reproduce_all, verdict_of
from kanopy_papers.reproduction import PAPERS, VERDICTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "papers.md"


def test_every_item_has_a_place_that_exists() -> None:
    import typer

    commands = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    for item in items():
        if item.place.startswith("kanopy "):
            assert item.place.split()[1] in commands, item
        else:
            module, _, name = item.place.partition(":")
            assert hasattr(importlib.import_module(module), name), item


def test_items_are_told_apart_and_say_why() -> None:
    assert len({(item.paper, item.part, item.what) for item in items()}) == len(items()) >= 157
    assert {item.paper for item in items()} == set(PAPERS)
    for item in items():
        assert item.state in STATES
        assert item.why or item.state == "done", item


def test_every_item_that_is_called_done_is_computed() -> None:
    named = {item.why for item in items() if item.state == "done" and item.why}
    assert named == set(CHECKS)
    assert [name for name, check in CHECKS.items() if not check()] == []
    unchecked = next(item for item in items() if item.state == "done" and not item.why)
    assert verdict_of(unchecked, None)[0] == "not checked"  # type: ignore[arg-type]


def test_the_page_lists_every_item_with_its_place() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "`" in line]
    shown = {(row[0], row[1], row[2].strip("`")): row[3] for row in rows if len(row) >= 4}
    for item in items():
        said = shown[item.part, item.what, item.place]
        words = (
            VERDICTS if item.state == "claim" else (item.state if item.state != "done" or item.why else "not checked",)
        )
        assert said.split(" ", 1)[1] in words, item


@pytest.fixture(scope="module")
def overview() -> Overview:
    return reproduce_all()


@pytest.mark.slow
def test_claims_are_found_and_the_page_is_up_to_date(overview: Overview) -> None:
    from kanopy_papers.overview import claims_of

    named: dict[str, set[str]] = {key: set() for key in PAPERS}
    for item in items():
        if item.state == "claim":
            claims = claims_of(item, overview.papers[item.paper])
            assert claims, item
            named[item.paper] |= {claim.claim for claim in claims}
    for key, found in overview.papers.items():
        theirs = {claim.claim for claim in found.claims if claim.source == "paper"}
        assert theirs <= named[key], f"{key}: claims that no item names"
    assert markdown(overview) == PAGE.read_text(encoding="utf-8"), "run `python tools/papers.py`"


@pytest.mark.slow
def test_one_page_over_all(overview: Overview, tmp_path: Any) -> None:
    written = overview.write(tmp_path)
    page = written[-1].read_text(encoding="utf-8")
    assert written[-1] == tmp_path / "index.html" and all(f'href="{key}/index.html"' in page for key in PAPERS)
    assert len(re.findall("<tr", page)) >= len(items())
    found = overview.json()
    assert sum(found["verdicts"].values()) == len(items())
    assert Counter(each["verdict"] for each in found["items"]) == Counter(found["verdicts"])
