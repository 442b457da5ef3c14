"""The page of a reproduction: each published claim beside what came out, figures and tables below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kanopy.report.shell import Tile, bullets, drawing, fold, framed_picture, section, shell, table
from kanopy.report.text import Markup, esc, plural, whole

if TYPE_CHECKING:
    from kanopy_papers.reproduction import Claim, Figure, Picture, Reproduction, Table

MARKS = {"holds": ("✓", "good"), "does not hold": ("✗", "bad"), "not decidable": ("?", "open")}
SHOWN_ROWS = 40


def page(reproduction: Reproduction) -> str:
    """One self-contained HTML page."""
    theirs, ours = (tuple(claim for claim in reproduction.claims if claim.source == who) for who in ("paper", "ours"))
    counts = {word: sum(claim.verdict == word for claim in theirs) for word in MARKS}
    tally: list[Tile] = [(word, f"{mark} {counts[word]}", f"of {plural(len(theirs), 'claim')}")
                         for word, (mark, _) in MARKS.items()]  # fmt: skip
    quick = [Markup("Run with <code>--quick</code>: fewer settings than in the paper.")] if reproduction.quick else []
    return shell(
        "Reproduction of a paper",
        reproduction.key,
        verdict=reproduction.title,
        good=None,  # each claim has its own verdict
        sentences=[reproduction.citation, reproduction.introduction, *quick],
        tiles=tally,
        parts=[
            ("claims", "Claims", section("Claims", "", _claims(theirs, "The paper says"))),
            ("ours", "Ours", section("Not in the paper", "", _claims(ours, "We say")) if ours else ""),
            (
                "read",
                "How it was read",
                section("How it was read", "", bullets(reproduction.conventions)) if reproduction.conventions else "",
            ),
            (
                "figures",
                "Figures",
                section("Figures", "", *map(_figure, reproduction.figures), *map(_picture, reproduction.pictures)),
            ),
            ("tables", "Tables", section("Tables", "", *map(_table, reproduction.tables))),
        ],
    )


def _figure(figure: Figure) -> str:
    files = " · ".join(f'<a href="{figure.name}.{kind}">{kind.upper()}</a>' for kind in ("png", "svg"))
    return drawing(figure.chart, figure.name, figure.caption, Markup(f"{esc(figure.caption)} {files}"))


def _picture(picture: Picture) -> str:
    link = f'<a href="{picture.name}.svg">SVG</a>'
    return framed_picture(picture.svg, Markup(f"{esc(picture.caption)} {link}"))


def _claims(claims: tuple[Claim, ...], who: str) -> str:
    rows = []
    for claim in claims:
        mark, css = MARKS[claim.verdict]
        why = f'<span class="why">{esc(claim.why)}</span>' if claim.why else ""
        verdict = Markup(f'<span class="verdict {css}">{mark} {esc(claim.verdict)}</span>')
        rows.append([Markup(esc(claim.claim) + why), claim.published, claim.ours, verdict])
    return table(f"{who}, and what came out here", [who, "Published", "Here", "Verdict"], rows)


def _table(paper_table: Table) -> str:
    rows = [[_cell(value) for value in row] for row in paper_table.rows[:SHOWN_ROWS]]
    first = paper_table.rows[0] if paper_table.rows else ()
    numbers = [index for index, value in enumerate(first) if isinstance(value, (int, float))]
    more = len(paper_table.rows) - SHOWN_ROWS
    note = f"<p>{plural(more, 'more row')} in the CSV file.</p>" if more > 0 else ""
    aside = Markup(f'<a href="{paper_table.name}.csv">CSV</a>, {plural(len(paper_table.rows), "row")}')
    return fold(paper_table.name, aside, table(paper_table.name, paper_table.header, rows, numbers) + note)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return whole(value) if isinstance(value, int) else str(value)
