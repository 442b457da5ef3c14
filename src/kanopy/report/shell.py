"""The frame of every page: heading, verdict, tiles, sections, and what sections are made of.

A page is one self-contained file without pictures or fonts from elsewhere. Markup is kept well-formed, everything that
comes from data goes through `esc`, and the page forbids itself by policy to load or run anything, so even a mistake
there could not do harm; a page that needs a script of ours allows this one only, by its checksum.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any, NamedTuple

from kanopy import __version__
from kanopy._errors import MissingDependency
from kanopy.report.render import svg
from kanopy.report.style import CSS, SNIPPET_CSS
from kanopy.report.text import Markup, esc, lines, sentence, told, worded

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
PAGE, LEAF, GOOD, BAD = (
    (resources.files("kanopy.report.style") / name).read_text(encoding="utf-8").rstrip()
    for name in ("page.html", "leaf.svg", "good.svg", "bad.svg")
)
LEGEND = Markup(
    '<span class="legend"><span class="swatch before" aria-hidden="true"></span>before (outlined)</span>'
    '<span class="legend"><span class="swatch" aria-hidden="true"></span>after (solid)</span>'
)
WORDY = ("In words", "How", "What it assumes", "What it is")

Tile = tuple[Any, ...]
"""Name, number and note."""


class Chapter(NamedTuple):
    """Sections under one heading: each an id and its markup."""

    heading: str
    sections: Sequence[tuple[str, str]]


def shell(
    kind: str,
    source: str,
    *,
    verdict: str,
    version: str = __version__,
    good: bool | None = True,
    sentences: Sequence[str] = (),
    warning: str = "",
    tiles: Sequence[Tile] = (),
    parts: Sequence[tuple[str, str, str | Chapter]] = (),
    footer: str = "",
    script: str = "",
) -> str:
    """A whole page. `parts` are id, short title and markup (empty ones are left out) or a chapter of several sections.

    Everything but the markup of `parts` is escaped here. `script` is the only one that the page may run. Where the
    page as a whole has no verdict, `good` is `None`: then there is neither a tick nor a cross at its head.

    >>> "<h1>&lt;k&gt;</h1>" in shell("Report", "a.csv", verdict="<k>")
    True
    """
    links, body = [], []
    for name, title, content in parts:
        content_markup = _chapter(name, content) if isinstance(content, Chapter) else _section(name, content)
        if content_markup:
            links.append(f'<a href="#{name}">{esc(title)}</a>')
            body.append(content_markup)
    policy = POLICY
    if script:
        policy += f"; script-src 'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    note = f'<div class="confidential"><span aria-hidden="true">⚠</span><p>{esc(warning)}</p></div>' if warning else ""
    return Template(PAGE).substitute(
        policy=policy, kind=esc(kind), source=esc(source), css=CSS, leaf=LEAF, links="".join(links),
        bad="" if good or good is None else " bad", icon="" if good is None else GOOD if good else BAD,
        verdict=esc(verdict),
        sentences="".join(f"<p>{esc(sentence)}</p>" for sentence in sentences), note=note, tiles=tile_row(tiles),
        body="".join(body), version=esc(version), footer=esc(footer),
    ) + "\n"  # fmt: skip


def _section(name: str, content: str) -> str:
    return f'<section id="{name}">{content}</section>\n' if content else ""


def _chapter(name: str, chapter: Chapter) -> str:
    chapter_markup = "".join(_section(section_name, content) for section_name, content in chapter.sections)
    heading = f'<h2 class="chapter">{esc(chapter.heading)}</h2>' if chapter.heading else ""
    return f'<div id="{name}">{heading}\n{chapter_markup}</div>\n' if chapter_markup else ""


def snippet(title: str, note: str, *content: str) -> str:
    """A few lines for a notebook: the heading (escaped) and markup, in a style that touches nothing else.

    >>> snippet("<a>", "1 row").partition("</style>")[2]
    '<p><b>&lt;a&gt;</b> <span class="muted">1 row</span></p></div>'
    """
    heading = f'<p><b>{esc(title)}</b> <span class="muted">{esc(note)}</span></p>'
    return f'<div class="kanopy"><style>{SNIPPET_CSS}</style>{heading}{"".join(content)}</div>'


def tile_row(tiles: Sequence[Tile]) -> Markup:
    """The numbers that matter most, side by side; one per line where styles are removed, as in a notebook that is not
    trusted."""
    cells = "".join(
        f'<div class="tile"><span class="name">{esc(name)}</span> <b class="number">{esc(number)}</b>'
        f' <span class="note">{esc(note)}</span></div>'
        for name, number, note in tiles
    )
    return Markup(f'<div class="tiles">{cells}</div>' if cells else "")


def section(title: str, words: str, *content: str) -> Markup:
    """What one section holds: its heading and words (escaped unless `Markup`), then markup.

    >>> section("Risk", "a < b", "<hr/>")
    '<h2>Risk</h2><p>a &lt; b</p><hr/>'
    """
    return Markup(f"<h2>{esc(title)}</h2>" + (f"<p>{esc(words)}</p>" if words else "") + "".join(content))


def pair(*content: str) -> Markup:
    """Markup side by side where there is room."""
    return Markup(f'<div class="pair">{"".join(content)}</div>')


def fold(title: str, note: str, content: str, *, opened: bool = False) -> Markup:
    """Markup that is shown when asked for."""
    state = ' open="open"' if opened else ""
    aside = f' <span class="muted">· {esc(note)}</span>' if note else ""
    return Markup(
        f'<details{state}><summary><b>{esc(title)}</b>{aside}</summary><div class="in">{content}</div></details>'
    )


def bullets(lines: Iterable[object]) -> Markup:
    """A list of notes; nothing for none."""
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    return Markup(f'<ul class="notes">{items}</ul>' if items else "")


def bar(share: float, text: str, kind: str = "bar") -> Markup:
    """A share as a small bar beside its text."""
    filled = max(0.0, min(1.0, share))
    return Markup(
        f'<span class="{kind}" aria-hidden="true"><i style="width:{filled:.1%}"></i></span>'
        f'<span class="share">{esc(text)}</span>'
    )


def drawing(chart: dict[str, Any], name: str, description: str, caption: str = "") -> Markup:
    """A drawn chart; where the plotting library is absent the page says so and its tables remain."""
    try:
        return framed_picture(svg(chart, name, description), caption)
    except MissingDependency as error:
        return framed_picture(f"<p>{esc(error)}</p>", caption)


def framed_picture(picture: str, caption: str = "") -> Markup:
    """Markup of a picture under its caption."""
    heading = f"<figcaption>{esc(caption)}</figcaption>" if caption else ""
    return Markup(f'<figure>{heading}<div class="scroll">{picture}</div></figure>')


def explained(words: Iterable[Sequence[object]]) -> Markup:
    """Names and what they mean.

    >>> explained([("<k>", "size")])
    '<dl class="facts"><dt>&lt;k&gt;</dt><dd>size</dd></dl>'
    """
    listing = "".join(f"<dt>{esc(name)}</dt><dd>{esc(text)}</dd>" for name, text in words)
    return Markup(f'<dl class="facts">{listing}</dl>' if listing else "")


def part(name: str, /, *content: str, **numbers: Any) -> Markup:
    """A section whose title, words and meanings `words.toml` holds under `name`; the meanings stand last.

    >>> part("compare.losses", "<hr/>")[:19]
    '<h2>Every loss</h2>'
    """
    texts = told(name)
    meanings = explained(lines(f"{name}.meanings", numbers)) if "meanings" in texts else ""
    return section(texts["title"], worded(texts.get("words", ""), numbers), *content, meanings)


def records(name: str, rows_of_numbers: Iterable[Mapping[str, Any]], /, **numbers: Any) -> Markup:
    """A table of records whose caption and columns `words.toml` holds under `name`; numbers are set flush right.

    >>> records("risk.examples", [{"group": "a", "value": "b", "rows": 2, "confidence": 0.5}], name="x").count("50%")
    1
    """
    heads, cells = zip(*told(f"{name}.columns"), strict=True)
    rows = [[worded(cell, row) for cell in cells] for row in rows_of_numbers]
    right = [index for index, cell in enumerate(cells) if re.search(":[^?]", cell.replace(": ", ""))]
    return table(sentence(f"{name}.caption", **numbers), [worded(head, numbers) for head in heads], rows, right)


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    numbers: Iterable[int] = (),
    *,
    kinds: Sequence[str] = (),
    look: str = "",
) -> Markup:
    """A table of escaped cells. Columns in `numbers` are set flush right, the first column heads its row and one
    called "In words" is set as words; `kinds` are classes of the rows, `look` one of the table.

    >>> table("T", ["a", "b"], [["x", "<1%"]], numbers=[1]).count("&lt;1%")
    1
    """
    right = set(numbers)
    looks = ["n" if index in right else "words" if name in WORDY else "" for index, name in enumerate(heads)]
    classes = [f' class="{cell_class}"' if cell_class else "" for cell_class in looks]
    right_head = [f' class="{cell_class}"' if cell_class == "n" else "" for cell_class in looks]
    head = "".join(
        f'<th scope="col"{attribute}>{esc(name)}</th>' for attribute, name in zip(right_head, heads, strict=True)
    )
    body = []
    for number, row in enumerate(rows):
        cells = "".join(
            f"<td{attribute}>{esc(value)}</td>" for attribute, value in zip(classes[1:], row[1:], strict=False)
        )
        row_class = f' class="{kinds[number]}"' if kinds and kinds[number] else ""
        body.append(f'<tr{row_class}><th scope="row">{esc(row[0])}</th>{cells}</tr>')
    few = " few" if len(heads) <= 4 else ""
    top = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    return Markup(
        f'<div class="scroll"><table class="wide{few}{" " + look if look else ""}"><caption>{esc(caption)}</caption>'
        f"{top}<tbody>{''.join(body)}</tbody></table></div>"
    )
