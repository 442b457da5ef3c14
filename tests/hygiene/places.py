"""What is left in a folder."""

from __future__ import annotations

from pathlib import Path


def left_in(folder: Path) -> set[str]:
    """Every file, hidden and temporary ones too."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.is_symlink()}
