"""What results are drawn on: a Rich console that also prints plain lines, in which brackets are letters."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text


class Drawing(Console):
    """A console; loaded by the first command that draws."""

    def line(self, text: str, style: str = "", **options: Any) -> None:
        """Print a text as it is, without markup."""
        self.print(Text(text, style), **options)

    def headed(self, head: str, style: str, text: str, rest: str = "default") -> None:
        """Print a text behind a head in another style."""
        self.print(Text(head, style=style).append(text, style=rest))

    def verdict(self, holds: bool, text: str) -> None:
        """Print a text behind a mark that says whether something holds."""
        self.headed(*(("✓ ", "bold green") if holds else ("✗ ", "bold red")), text)
