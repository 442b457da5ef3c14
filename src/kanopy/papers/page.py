"""The page of a reproduction: each published claim beside what came out, figures and tables below."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanopy.papers.reproduction import Claim, Reproduction, Table

MARKS = {"holds": ("✓", "good"), "does not hold": ("✗", "bad"), "not decidable": ("?", "open")}
SHOWN_ROWS = 40

STYLE = """
:root { color-scheme: light; --ink: #22303c; --soft: #5b6b78; --line: #dde3e8;
  --good: #00704a; --bad: #b3261e; --open: #7a5b00 }
* { box-sizing: border-box }
body { font: 16px/1.55 system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; color: var(--ink);
  margin: 0; background: #fff }
main { max-width: 1080px; margin: 0 auto; padding: 2.2rem 1.2rem 4rem }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 2.4rem 0 .8rem }
p.cite, figcaption, .why { color: var(--soft) } .why { font-size: .87rem; display: block; margin-top: .25rem }
.tally { display: flex; gap: .8rem; flex-wrap: wrap; margin: 1.2rem 0 }
.tally div { border: 1px solid var(--line); border-radius: 8px; padding: .55rem 1rem; min-width: 9rem }
.tally b { font-size: 1.5rem; display: block }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .93rem }
th, td { text-align: left; vertical-align: top; padding: .55rem .7rem; border-bottom: 1px solid var(--line) }
th { font-weight: 600; background: #f5f7f9; position: sticky; top: 0 }
td.number { text-align: right; font-variant-numeric: tabular-nums }
.verdict { white-space: nowrap; font-weight: 600 } .good { color: var(--good) }
.bad { color: var(--bad) } .open { color: var(--open) }
figure { margin: 1.6rem 0 2.4rem } figure .scroll { border: 1px solid var(--line); border-radius: 8px; padding: .4rem }
figure svg { max-width: 100%; height: auto } figcaption { margin-top: .5rem; font-size: .92rem }
details { margin: .6rem 0 } summary { cursor: pointer; font-weight: 600 }
@media print { th { position: static } details { display: none } }
"""


def page(found: Reproduction, drawings: dict[str, str]) -> str:
    """One self-contained HTML page; `drawings` are the figures as SVG."""
    counts = {word: sum(claim.verdict == word for claim in found.claims) for word in MARKS}
    tally = "".join(
        f'<div><b class="{css}">{mark} {counts[word]}</b>{escape(word)}</div>' for word, (mark, css) in MARKS.items()
    )
    figures = "".join(
        f'<figure><div class="scroll">{drawings[figure.name]}</div><figcaption>{escape(figure.caption)} '
        f'<a href="{figure.name}.png">PNG</a> · <a href="{figure.name}.svg">SVG</a></figcaption></figure>'
        for figure in found.figures
    )
    tables = "".join(_table(table) for table in found.tables)
    note = "<p>Run with <code>--quick</code>: fewer settings than in the paper.</p>" if found.quick else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(found.title)}</title><style>{STYLE}</style></head><body><main>"
        f'<h1>{escape(found.title)}</h1><p class="cite">{escape(found.citation)}</p>'
        f'<p>{escape(found.introduction)}</p>{note}<div class="tally">{tally}</div>'
        f"<h2>Claims</h2>{_claims(found.claims)}<h2>Figures</h2>{figures}<h2>Tables</h2>{tables}"
        f"</main></body></html>\n"
    )


def _claims(claims: tuple[Claim, ...]) -> str:
    rows = []
    for claim in claims:
        mark, css = MARKS[claim.verdict]
        why = f'<span class="why">{escape(claim.why)}</span>' if claim.why else ""
        rows.append(
            f"<tr><td>{escape(claim.claim)}{why}</td><td>{escape(claim.published)}</td><td>{escape(claim.ours)}</td>"
            f'<td class="verdict {css}">{mark} {escape(claim.verdict)}</td></tr>'
        )
    head = "<tr><th>The paper says</th><th>Published</th><th>Here</th><th>Verdict</th></tr>"
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in table.rows[:SHOWN_ROWS])
    more = len(table.rows) - SHOWN_ROWS
    note = f"<p>{more:,} more rows are in the CSV file.</p>" if more > 0 else ""
    return (
        f'<details><summary>{escape(table.name)} (<a href="{table.name}.csv">CSV</a>, {len(table.rows):,} rows)'
        f"</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}</details>'
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{value:.5g}</td>'
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
