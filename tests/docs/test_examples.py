"""Every example in the documentation runs, and says what the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.examples import ROOT, Reader, blocks

PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts)]
EXAMPLES = [page for page in PAGES if "```" in page.read_text(encoding="utf-8")]
LONG = ("docs/tutorial/index.md", "docs/reference/ontologies.md")
"""Pages that search for seconds or compile an ontology; what they call is called by other tests, too."""


def as_case(page: Path) -> Any:
    name = str(page.relative_to(ROOT))
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if name in LONG else [])


@pytest.mark.parametrize("page", [as_case(page) for page in EXAMPLES])
def test_examples_say_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = Reader(tmp_path).follow(page.read_text(encoding="utf-8"), str(page.relative_to(ROOT)))
    assert not wrong, "\n\n".join(wrong)


def test_few_examples_cannot_run_and_each_says_why() -> None:
    skipped = {
        f"{page.relative_to(ROOT)}:{block.line}": block.not_run
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.not_run
    }
    assert len(skipped) <= 6, skipped


def test_no_code_hides_in_indentation() -> None:
    for page in PAGES:
        outside = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert not re.findall(r"^    (?:kanopy|from|import|>>>|\$) .*", outside, re.MULTILINE), page


def test_a_wrong_example_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "```python\n>>> 1 + 1\n3\n```": "Expected",
        "```python\nx = 1\n```": "without >>>",
        "```console\n$ kanopy check nothing.csv -q age\n```": "nothing.csv",
        "```console\n$ kanopy check nothing.csv -q age\n...\n$ echo $?\n0\n```": "said:\n2",
        "```\nkanopy models\n```": "no language",
        "```toml\nk = \n```": "TOMLDecodeError",
    }
    for text, said in texts.items():
        (wrong,) = Reader(tmp_path).follow(text, "page.md")
        assert said in wrong, text
