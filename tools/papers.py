"""Writes docs/reference/papers.md: every item of the four papers with its place and its verdict.

Run: python tools/papers.py (about four minutes: it reruns the papers in full).
"""

from __future__ import annotations

from pathlib import Path

from kanopy_papers.overview import markdown, reproduce_all

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "papers.md"


def main() -> None:
    PAGE.write_text(markdown(reproduce_all()), encoding="utf-8")


if __name__ == "__main__":
    main()
