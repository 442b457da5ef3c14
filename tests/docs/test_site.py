"""The site builds without a warning and asks no other host for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(\s*["']?((?:https?:)?//[^"')]+)|@import\s+["']((?:https?:)?//[^"']+)""",
    re.IGNORECASE,
)
"""What makes a browser ask for something; plain links (`<a href>`) do not."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="`tools/environment docs` installs it")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg")]
    assert len(pages) > 20
    found = {
        str(page.relative_to(site)): sorted({next(filter(None, hit)) for hit in LOADS.findall(page.read_text("utf-8"))})
        for page in pages
    }
    assert {page: hits for page, hits in found.items() if hits} == {}


def test_no_page_uses_what_would_fetch_a_script(site: Path) -> None:
    # Material fetches a script for these diagrams, and numbers for a repository that it is told of.
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert 'class="mermaid"' not in text, page
        assert 'data-md-component="source"' not in text, page


def test_pages_written_by_code_are_whole(site: Path) -> None:
    import kanopy

    text = (site / "reference" / "api.html").read_text("utf-8")
    for name in kanopy.__all__:
        assert f"kanopy.{name}" in text, name
    listed = (site / "decisions" / "index.html").read_text("utf-8")
    for path in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert path.stem in listed


def test_every_page_stands_once_in_the_navigation() -> None:
    named = re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(set(named))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("decisions/0")} <= set(named)
