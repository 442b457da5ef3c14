"""How wheels are tagged: a platform wheel has the machine code of `make prebuilt`, a pure wheel has none.

Hatchling runs this hook (`pyproject.toml`). `KANOPY_WHEEL` chooses: `platform`, `pure`, or, without it, what suits
this machine. The machine code is for every x86-64 processor, and LLVM loads it (decision 0260).
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORM, PURE = "py3-none-manylinux2014_x86_64", "py3-none-any"
PREBUILT = "src/kanopy/_compiler/prebuilt"


def wanted() -> str:
    """Which wheel is to be built: `platform` or `pure`."""
    asked = os.environ.get("KANOPY_WHEEL", "")
    if asked not in ("", "platform", "pure"):
        raise SystemExit(f"KANOPY_WHEEL is {asked!r}. Choose platform, pure, or leave it out.")
    fits = sys.platform == "linux" and platform.machine() == "x86_64"
    return asked or ("platform" if fits else "pure")


class Tags(BuildHookInterface[Any]):
    """Adds the machine code to a platform wheel, and the right tag to either."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; an editable one uses the files where they are."""
        if version == "editable":
            return
        platform_wheel = wanted() == "platform"
        build_data["tag"] = PLATFORM if platform_wheel else PURE
        build_data["pure_python"] = not platform_wheel
        if platform_wheel:
            files = sorted((Path(self.root) / PREBUILT).glob("*.bin"))
            build_data["force_include"] |= {str(path): f"kanopy/_compiler/prebuilt/{path.name}" for path in files}
