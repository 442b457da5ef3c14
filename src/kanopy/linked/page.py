"""The report of several tables: what is promised over joins, and what links and numbers of rows still tell."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kanopy.linked.result import LinkedResult


def report_text(result: LinkedResult, path: Path) -> str:
    """The report as JSON or as a page, by the suffix of its file."""
    if path.suffix == ".json":
        return json.dumps(result.summary(), ensure_ascii=False, indent=1)
    return page(result)


def page(result: LinkedResult) -> str:
    """A page without values of the tables."""
    found, job = result.verification, result.job
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{result.related.frames[name].height:,}</td><td>{found.rows[name]:,}</td>"
        f"<td>{found.suppressed[name]:,}</td><td>{_levels(result, name)}</td></tr>"
        for name in result.related.order
    )
    links = "".join(f"<li>{html.escape(str(link.child))} → {html.escape(str(link.parent))}</li>" for link in job.links)
    remarks = "".join(f"<li>{html.escape(line)}</li>" for line in result.remarks())
    notes = "".join(f"<li>{html.escape(line)}</li>" for line in result.notes if line not in _private(result))
    proved = "proved optimal" if result.solution.optimal else "not proved optimal"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Release of several tables</title>'
        "<style>body{font-family:sans-serif;max-width:60rem;margin:2rem auto;line-height:1.5}"
        "td,th{padding:.2rem .8rem;text-align:left}</style></head><body><h1>Release of several tables</h1>"
        f"<p><strong>{html.escape(result.promise)}</strong> Counted again on the published labels, joined by the "
        f"published keys: {found.people:,} people, smallest group {found.smallest:,}, {found.orphans:,} keys without "
        f"their row. {html.escape(job.metric)} {result.solution.score:.4f}, {proved}.</p>"
        "<h2>Joins</h2>"
        + (f"<ul>{remarks}</ul>" if remarks else "<p>Nothing further is known to be told by joins.</p>")
        + "<h2>Tables</h2><table><tr><th>table</th><th>rows</th><th>published</th><th>suppressed</th>"
        f"<th>levels</th></tr>{rows}</table>"
        f"<h2>Links</h2><ul>{links}</ul><h2>Notes</h2><ul>{notes}</ul></body></html>\n"
    )


def _private(result: LinkedResult) -> set[str]:
    """Notes that name values of the tables: for the steward, not for pages that are handed on."""
    return {f"{name}: {note}" for name, own in result.results.items() for note in own._private_notes}


def _levels(result: LinkedResult, name: str) -> str:
    own = {column: level for column, level in result.levels[name].items() if not column.startswith("\0")}
    return html.escape(", ".join(f"{column} {level}" for column, level in own.items()))
