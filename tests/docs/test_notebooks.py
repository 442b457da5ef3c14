"""The notebooks of the documentation run, and show what their pages show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in (ROOT / "docs" / "tutorial").glob("*.ipynb"))


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> Any:
    nbformat = pytest.importorskip("nbformat", reason="tools/environment test installs it")
    return nbformat.read(ROOT / "docs" / "tutorial" / f"{name}.ipynb", as_version=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_its_page_shows(name: str) -> None:
    pytest.importorskip("nbclient", reason="tools/environment test installs it")
    pytest.importorskip("ipykernel", reason="tools/environment test installs it")
    notebooks = tool("notebooks")
    shown = notebooks.texts(stored(name))
    assert len(shown) >= 6
    assert notebooks.texts(notebooks.executed(name)) == shown, "run python tools/notebooks.py"


def test_notebooks_are_whole_and_tell_nothing_of_where_they_ran() -> None:
    assert set(NAMES) == set(tool("notebooks").NOTEBOOKS)
    pages = tool("site_pages")
    for name in NAMES:
        text = (ROOT / "docs" / "tutorial" / f"{name}.ipynb").read_text("utf-8")
        notebook = json.loads(text)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        outputs = [output for cell in cells for output in cell["outputs"]]
        assert {output["output_type"] for output in outputs} <= {"stream", "execute_result"}
        assert all(output.get("name") != "stderr" for output in outputs)
        assert len(text) < 100_000
        page = pages.notebook_page(notebook, "")
        assert page.startswith("# A ") and page.count("```py\n") == len(cells)
