"""One self-contained page about the meaning of hierarchies: ranking, levels, faults, an interactive tree each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kanopy.hierarchy.hierarchy import Hierarchy
from kanopy.hierarchy.quality.semantic_quality import SemanticQuality, rank_hierarchies
from kanopy.report.charts.semantic import level_curve, stacked
from kanopy.report.drawings.tree import folding_tree, tree_script
from kanopy.report.shell import bullets, drawing, pair, records, section, shell, table
from kanopy.report.text import Markup, plural, sentence


def edge_losses(h: Hierarchy, quality: SemanticQuality) -> dict[int, float]:
    """Per node the loss of the edge above it, between 0 and 1: the largest of the values that pass over it."""
    losses: dict[int, float] = {}
    most = max(quality.maximum, float(np.nanmax(quality.losses)), 1e-12)
    parent = h.tree()
    for level in range(1, h.height + 1):
        for value in range(h.size):
            node = int(h.table[level - 1, value])
            if parent[node] == h.table[level, value] and not np.isnan(quality.losses[level - 1, value]):
                losses[node] = max(losses.get(node, 0.0), float(quality.losses[level - 1, value]) / most)
    return losses


def semantic_page(items: Sequence[tuple[str, Hierarchy, SemanticQuality]], level_score: str = "mean") -> str:
    """The page for one or several judged hierarchies; it needs no network."""
    qualities = [(name, quality) for name, _, quality in items]
    ranked = rank_hierarchies([(name, quality.ranked_by(level_score)) for name, quality in qualities])
    by_name = dict(qualities)
    rows = []
    for entry in ranked:
        semantic_quality = by_name[entry["file"]]
        numbers = (semantic_quality.mean_score, semantic_quality.score, semantic_quality.agreement)
        rows.append([str(entry["rank"]), entry["file"], *(f"{number:.4f}" for number in numbers)])
    head, names = qualities[0][1], ", ".join(name for name, _ in qualities)
    best = by_name[ranked[0]["file"]]
    keeps = "this hierarchy loses" if len(items) == 1 else f"{ranked[0]['file']} loses least:"
    curve = drawing(stacked([level_curve(qualities)]), "curve", f"LevelGSL level by level of {names}.")
    titles = ["rank", "hierarchy", "mean loss", "VghGSL", "agreement of groups"]
    ranking = pair(table("VghGSL", titles, rows, [2, 3, 4]), curve)
    return shell(
        "How much meaning the hierarchies keep",
        names,
        verdict=f"Of the meaning, {keeps} VghGSL {best.score:.4f}.",
        sentences=[sentence("semantic.words", measure=head.measure, ontology=head.ontology)],
        parts=[
            ("ranking", "Ranking", section("Ranking", "", ranking)),
            *(
                (f"h{number}", name, section(name, "", _judged(h, quality)))
                for number, (name, h, quality) in enumerate(items)
            ),
        ],
        script=tree_script(),
    )


def levels_table(quality: SemanticQuality) -> Markup:
    """What each level loses, and its worst transitions."""
    rows = [
        {**vars(level), "transitions": ", ".join(f"{t.leaf} → {t.ancestor}" for t in level.worst[:3])}
        for level in quality.levels
    ]
    return records("semantic", rows, score=quality.score)


def faults_list(quality: SemanticQuality) -> str:
    """What an expert would correct."""
    faults = [fault.message for fault in quality.faults]
    return f"<h3>{plural(len(faults), 'fault')}</h3>" + bullets(faults or ["none found"])


def _judged(h: Hierarchy, quality: SemanticQuality) -> str:
    tree = ""
    if h.nested:
        tree = folding_tree(h, edge_values=edge_losses(h, quality), edge_title="loss of meaning")
    return levels_table(quality) + faults_list(quality) + tree
