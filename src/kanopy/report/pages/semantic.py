"""One self-contained page about the meaning of hierarchies: ranking, levels, faults, an interactive tree each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import SemanticQuality, rank
from kanopy.report.charts.semantic import level_curve, sheet
from kanopy.report.drawings.tree import tree_html

STYLE = """
body { font: 15px/1.55 system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; color: #22303c; margin: 0 }
main { max-width: 1060px; margin: 0 auto; padding: 2rem 1.2rem 4rem }
h1 { font-size: 1.6rem; margin: 0 0 .3rem } h2 { margin: 2.4rem 0 .4rem } .soft { color: #5b6b78 }
.scroll { overflow-x: auto } table { border-collapse: collapse; margin: .6rem 0 1.2rem }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #dde3e8; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums } svg { max-width: 100%; height: auto }
"""


def draw_svg(chart: dict[str, Any]) -> str:
    """A Vega-Lite chart as SVG, drawn offline."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart, vl_version="5.20"))


def edge_losses(h: Hierarchy, quality: SemanticQuality) -> dict[int, float]:
    """Per node the loss of the edge above it, between 0 and 1: the largest of the values that pass over it."""
    found: dict[int, float] = {}
    most = max(quality.maximum, float(np.nanmax(quality.losses)), 1e-12)
    parent = h.tree()
    for level in range(1, h.height + 1):
        for value in range(h.size):
            node = int(h.table[level - 1, value])
            if parent[node] == h.table[level, value] and not np.isnan(quality.losses[level - 1, value]):
                found[node] = max(found.get(node, 0.0), float(quality.losses[level - 1, value]) / most)
    return found


def semantic_page(items: Sequence[tuple[str, Hierarchy, SemanticQuality]]) -> str:
    """The page for one or several judged hierarchies; it needs no network."""
    qualities = [(name, quality) for name, _, quality in items]
    ranking = "".join(
        f'<tr><td class="n">{entry["rank"]}</td><td>{escape(entry["file"])}</td><td class="n">{entry["score"]:.4f}</td>'
        "</tr>"
        for entry in rank([(name, quality.score) for name, quality in qualities])
    )
    head = qualities[0][1]
    body = "".join(_section(name, h, quality) for name, h, quality in items)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Meaning kept by hierarchies</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body><main>'
        "<h1>How much meaning the hierarchies keep</h1>"
        f'<p class="soft">Generalization semantic loss (Ayala-Rivera et al. 2014), measure {escape(head.measure)}, '
        f"ontology {escape(head.ontology)}. Lower is better.</p>"
        f"<table><tr><th>rank</th><th>hierarchy</th><th>VghGSL</th></tr>{ranking}</table>"
        f'<div class="scroll">{draw_svg(sheet([level_curve(qualities)]))}</div>{body}</main></body></html>\n'
    )


def _section(name: str, h: Hierarchy, quality: SemanticQuality) -> str:
    levels = "".join(
        f'<tr><td class="n">{level.level}</td><td class="n">{level.gsl:.4f}</td><td class="n">{level.mean:.4f}</td>'
        f'<td class="n">{level.sd:.4f}</td><td class="n">{level.weighted:.4f}</td>'
        f"<td>{escape(', '.join(f'{t.leaf} → {t.ancestor}' for t in level.worst[:3]))}</td></tr>"
        for level in quality.levels
    )
    faults = "".join(f"<li>{escape(fault.message)}</li>" for fault in quality.faults) or "<li>none found</li>"
    tree = ""
    if h.nested:
        tree = tree_html(h, edge_values=edge_losses(h, quality), edge_title="loss of meaning", whole_page=False)
    return (
        f"<h2>{escape(name)}</h2><p>VghGSL <b>{quality.score:.4f}</b></p><div class='scroll'><table><tr><th>level</th>"
        "<th>LevelGSL</th><th>mean</th><th>sd</th><th>weighted</th><th>worst transitions</th></tr>"
        f"{levels}</table></div><h3>Faults</h3><ul>{faults}</ul>{tree}"
    )
