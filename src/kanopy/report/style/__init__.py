"""The style sheets of pages and of what a notebook shows: light, dark, narrow and print; nothing from elsewhere."""

from __future__ import annotations

import re
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
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MINE, _THEIRS = ".kanopy:not(#_)", ".kanopy.kanopy.kanopy"
"""Rules below the first outweigh those of any page without ids, rules below the second those of notebooks."""


def _scoped(rules: str) -> str:
    """Rules that hold below `.kanopy` only, whatever the page around says of the same elements."""

    def below(rule: re.Match[str]) -> str:
        selectors = ",".join(f"{_MINE} {selector.strip()}" for selector in rule[1].split(","))
        return f"{selectors}{{{' '.join(rule[2].split())}}}\n"

    return _RULE.sub(below, re.sub(r"/\*.*?\*/\s*", "", rules, flags=re.DOTALL)).strip()


_LIGHT, _DARK = re.findall(r":root\s*\{([^}]*)\}", _COLOURS)[:2]
_EDITORS = "".join(
    f":is(.vscode-{name}, [data-jp-theme-light={str(name == 'light').lower()}]) {_MINE} "
    f"{{ color-scheme: {name}; {' '.join(colours.replace('color-scheme: light dark;', '').split())} }}\n"
    for name, colours in (("light", _LIGHT), ("dark", _DARK))
)
"""VS Code and JupyterLab have themes of their own, whatever the system prefers."""

SNIPPET_CSS = (
    f"{_COLOURS.replace(':root', _MINE)}@media screen {{\n{_EDITORS}}}\n{_MINE} {{ {_FRAME} }}\n"
    # Jupyter, VS Code and Colab set floats, margins, colours and stripes of lists and tables: first none of that.
    f"{_THEIRS} *:not(svg, svg *) {{ all: revert; }}\n{_scoped(_PARTS)}"
)
"""The same for a part of somebody else's page: every rule holds below `.kanopy` only, and none of the page's does."""
