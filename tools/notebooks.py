"""Execute the notebooks of the documentation: `python tools/notebooks.py` writes their outputs, a test compares them.

The site shows them as pages (`tools/site_pages.py`), without any further library.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "tutorial"
NOTEBOOKS = ("steward", "researcher")
UNSTABLE = re.compile(r"\b[\d.]+ ?s\b|0x[0-9a-f]+")
"""Times and addresses differ in every run."""


def executed(name: str) -> Any:
    """The notebook with the outputs of a run in an empty folder; nothing in it tells when or where it ran."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}, record_timing=False,
            coalesce_streams=True,
        ).execute()  # fmt: skip
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def texts(notebook: Any) -> list[str]:
    """What the cells print or show as text, without times."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            found.append(UNSTABLE.sub("…", "".join(text)))
    return found


def main() -> None:
    """Execute all and write their outputs."""
    import nbformat

    for name in sys.argv[1:] or NOTEBOOKS:
        nbformat.write(executed(name), FOLDER / f"{name}.ipynb")


if __name__ == "__main__":
    main()
