"""The frame of a page that looks at a table or a release: heading, verdict, tiles, sections. No scripts, no pictures
from elsewhere, everything from data through `esc`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanopy.errors import MissingDependency
from kanopy.report.html import _BAD, _GOOD, _LEAF, POLICY
from kanopy.report.render import svg
from kanopy.report.style import CSS
from kanopy.report.words import esc


def shell(
    kind: str,
    source: str,
    version: str,
    *,
    good: bool,
    verdict: str,
    sentences: Sequence[str],
    warning: str,
    tiles: Sequence[tuple[str, str, str]],
    parts: Sequence[tuple[str, str, str]],
    footer: str,
) -> str:
    """A whole page. `tiles` are name, number and note; `parts` are id, short title and markup (empty ones are left
    out). Everything but the markup of `parts` is escaped here."""
    shown = [part for part in parts if part[2]]
    links = "".join(f'<a href="#{name}">{esc(title)}</a>' for name, title, _ in shown)
    body = "".join(f'<section id="{name}">{content}</section>\n' for name, _, content in shown)
    cells = "".join(
        f'<dl class="tile"><dt>{esc(name)}</dt><dd class="number">{esc(number)}</dd>'
        f'<dd class="note">{esc(note)}</dd></dl>'
        for name, number, note in tiles
    )
    lines = "".join(f"<p>{esc(sentence)}</p>" for sentence in sentences)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>{esc(kind)}: {esc(source)}</title>
<style>{CSS}</style>
</head>
<body>
<a class="skip" href="#verdict">To the verdict</a>
<header class="top"><div class="brand">{_LEAF}<span>{esc(kind)}</span></div>
<div class="muted">{esc(source)}</div><nav aria-label="Sections">{links}</nav></header>
<main>
<div class="hero{"" if good else " bad"}" id="verdict">{_GOOD if good else _BAD}<div><h1>{esc(verdict)}</h1>{lines}
</div></div>
<div class="confidential"><span aria-hidden="true">⚠</span><p>{esc(warning)}</p></div>
<div class="tiles">{cells}</div>
{body}</main>
<footer><p>Made by Kanopy {esc(version)}. {esc(footer)}</p></footer>
</body>
</html>
"""


def drawing(chart: dict[str, Any], name: str, description: str, caption: str = "") -> str:
    """A drawn chart; where the plotting library is absent the page says so and its tables remain."""
    try:
        picture = svg(chart, name, description)
    except MissingDependency as error:
        picture = f"<p>{esc(error)}</p>"
    heading = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure>{heading}<div class="scroll">{picture}</div></figure>'


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    """A table of escaped cells; columns in `numbers` are set flush right, the first column heads its row.

    >>> table("T", ["a", "b"], [["x", "<1%"]], numbers=[1]).count("&lt;1%")
    1
    """
    right = set(numbers)

    def cell(place: int, value: object) -> str:
        if place == 0:
            return f'<th scope="row">{esc(value)}</th>'
        return f"<td{' class=' + chr(34) + 'n' + chr(34) if place in right else ''}>{esc(value)}</td>"

    head = "".join(
        f'<th scope="col"{" class=" + chr(34) + "n" + chr(34) if place in right else ""}>{esc(name)}</th>'
        for place, name in enumerate(heads)
    )
    body = "".join("<tr>" + "".join(cell(place, value) for place, value in enumerate(row)) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="wide"><caption>{esc(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
