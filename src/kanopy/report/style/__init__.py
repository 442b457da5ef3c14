"""The style sheets of pages and of what a notebook shows: light, dark, narrow and print; nothing from elsewhere."""

from __future__ import annotations

from importlib import resources

_COLOURS, _PARTS, _PAGE = (
    (resources.files("kanopy.report.style") / f"{name}.css").read_text(encoding="utf-8")
    for name in ("colours", "parts", "page")
)

CSS = f"\n{_COLOURS}{_PARTS}{_PAGE}"

_FRAME = (
    "font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--card); padding: 8px 14px; "
    "border-radius: 10px; max-width: 1100px;"
)
SNIPPET_CSS = f"{_COLOURS.replace(':root', '.kanopy')}.kanopy {{ {_FRAME}\n{_PARTS}}}"
"""The same for a part of somebody else's page: every rule holds below `.kanopy` only."""
