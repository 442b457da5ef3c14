"""The frame of a page that looks at a table or a release: heading, verdict, tiles, sections. No scripts, no pictures
from elsewhere, everything from data through `esc`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kanopy._errors import MissingDependency
from kanopy.report.render import svg
from kanopy.report.style import CSS
from kanopy.report.words import esc

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
LEAF = (
    '<svg width="26" height="26" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" '
    'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 21v-8"/>'
    '<path d="M12 13c-5 0-8-2.6-8-5.6 0 0 2-1 4-.6C8.6 4.4 10.2 3 12 3s3.4 1.4 4 3.8c2-.4 4 .6 4 .6 0 3-3 5.6-8 5.6z"/>'
    '<path d="M12 17l3-2.2M12 18.5l-3-2.2"/></svg>'
)
GOOD = (
    '<svg width="54" height="54" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" '
    'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">'
    '<path d="M12 2.8l7.5 2.7v5.7c0 4.7-3.1 8.2-7.5 10-4.4-1.8-7.5-5.3-7.5-10V5.5z"/>'
    '<path d="M8.4 12l2.5 2.5 4.8-5"/></svg>'
)
BAD = (
    '<svg width="54" height="54" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" '
    'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">'
    '<path d="M12 3.5L22 20.5H2z"/><path d="M12 10v5M12 17.6v.1"/></svg>'
)
LEGEND = (
    '<span class="legend"><span class="swatch before" aria-hidden="true"></span>before (outlined)</span>'
    '<span class="legend"><span class="swatch" aria-hidden="true"></span>after (solid)</span>'
)
WORDY = ("In words", "How", "What it assumes", "What it is")


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
<header class="top"><div class="brand">{LEAF}<span>{esc(kind)}</span></div>
<div class="muted">{esc(source)}</div><nav aria-label="Sections">{links}</nav></header>
<main>
<div class="hero{"" if good else " bad"}" id="verdict">{GOOD if good else BAD}<div><h1>{esc(verdict)}</h1>{lines}
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


def explained(words: Sequence[tuple[str, str]]) -> str:
    """Names and what they mean, escaped.

    >>> explained([("<k>", "size")])
    '<dl class="facts"><dt>&lt;k&gt;</dt><dd>size</dd></dl>'
    """
    return '<dl class="facts">' + "".join(f"<dt>{esc(name)}</dt><dd>{esc(text)}</dd>" for name, text in words) + "</dl>"


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[object]], numbers: Iterable[int] = ()) -> str:
    """A table of escaped cells; columns in `numbers` are set flush right, the first column heads its row and one
    called "In words" is set as words.

    >>> table("T", ["a", "b"], [["x", "<1%"]], numbers=[1]).count("&lt;1%")
    1
    """
    right = set(numbers)
    kinds = ["n" if place in right else "words" if name in WORDY else "" for place, name in enumerate(heads)]

    def cell(place: int, value: object) -> str:
        if place == 0:
            return f'<th scope="row">{esc(value)}</th>'
        return f'<td class="{kinds[place]}">{esc(value)}</td>' if kinds[place] else f"<td>{esc(value)}</td>"

    head = "".join(
        f'<th scope="col"{" class=" + chr(34) + "n" + chr(34) if place in right else ""}>{esc(name)}</th>'
        for place, name in enumerate(heads)
    )
    few = " few" if len(heads) <= 4 else ""
    body = "".join("<tr>" + "".join(cell(place, value) for place, value in enumerate(row)) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="wide{few}"><caption>{esc(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
