"""The reference pages say what the code says: they are made again and compared."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from kanopy._registry import Named

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import reference  # noqa: E402


@pytest.fixture
def nothing_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registries as a new process finds them: other tests pass objects of their own, which stay usable."""
    for each in [each for each in gc.get_objects() if type(each) is Named]:
        monkeypatch.setattr(each, "adopted", {})


@pytest.mark.usefixtures("nothing_adopted")
@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_reference_pages_are_true(name: str) -> None:
    made = reference.PAGES[name]()
    kept = (reference.DOCS / name).read_text(encoding="utf-8")
    assert made == kept, f"docs/reference/{name} is out of date: run `python tools/reference.py`."


def test_every_word_is_used() -> None:
    """Words for fields that no command prints any more are deleted."""
    page = (reference.DOCS / "json.md").read_text(encoding="utf-8")
    names = {name.rpartition(":")[2] for name in reference.MEANINGS}
    unused = [name for name in names if f".{name}`" not in page and f"`{name}`" not in page]
    assert not unused
