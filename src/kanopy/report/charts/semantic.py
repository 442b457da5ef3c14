"""Pictures of a hierarchy's semantic quality as Vega-Lite dictionaries: the tree with coloured edges, the curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kanopy.hierarchy.quality.semantic_quality import SemanticQuality
from kanopy.report.charts.marks import Chart, lines, sheet, short, spec
from kanopy.report.drawings.icicle import leaf_order

MOST_ROWS = 60
LONGEST = 26
ROW, STEP = 24, 190


def loss_tree(quality: SemanticQuality, title: str = "") -> Chart:
    """The hierarchy with every edge coloured by the largest loss (TransGSL) of the values that pass over it.

    Values are on the left, the top on the right. Of hierarchies with very many values the lowest levels are left out.

    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.hierarchy.quality.semantic_quality import evaluate_hierarchy
    >>> from kanopy.ontology.load import load_ontology
    >>> h = Hierarchy.from_rows([["cat", "animal"], ["dog", "animal"]])
    >>> [layer["mark"]["type"] for layer in loss_tree(evaluate_hierarchy(h, load_ontology("wordnet")))["layer"]]
    ['rule', 'circle', 'text', 'text', 'text']
    """
    labels, height = quality.labels, len(quality.labels) - 1
    base = next((level for level in range(height) if len(set(labels[level])) <= MOST_ROWS), height - 1)
    order = leaf_order(labels).tolist()
    rows: dict[str, int] = {}
    for value in order:
        rows.setdefault(labels[base][value], len(rows))
    rows_of_node: dict[tuple[int, str], list[int]] = {}
    for level in range(base, height + 1):
        for value in order:
            rows_of_node.setdefault((level, labels[level][value]), []).append(rows[labels[base][value]])
    height_of = {node: float(np.mean(sorted(set(leaf_rows)))) for node, leaf_rows in rows_of_node.items()}
    edges: dict[tuple[int, str, str], float] = {}
    for level in range(base + 1, height + 1):
        for value in order:
            edge = (level, labels[level - 1][value], labels[level][value])
            loss = float(quality.losses[level - 1, value])
            edges[edge] = max(edges.get(edge, -1.0), -1.0 if np.isnan(loss) else loss)
    lines_between = [
        {
            "x": level - 1, "y": height_of[level - 1, child], "x2": level, "y2": height_of[level, parent],
            "loss": None if loss < 0 else round(loss, 4), "from": child, "to": parent,
        }
        for (level, child, parent), loss in edges.items()
    ]  # fmt: skip
    repeated = {(level, labels[level][v]) for level in range(base + 1, height + 1) for v in order
                if labels[level][v] == labels[level - 1][v]}  # fmt: skip
    nodes = [
        {"x": level, "y": y, "label": "" if (level, label) in repeated else short(label, LONGEST)}
        for (level, label), y in height_of.items()
    ]
    ticks = {"0": "values"} | {
        str(item.level): f"level {item.level}: GSL {item.gsl:.4f}" for item in quality.levels if item.level >= base
    }
    losses = [loss for loss in edges.values() if loss >= 0]
    # Measures from 0 to 1 get one scale, so that two trees can be compared; a loss above one half is red anyway.
    domain = [0, max([0.5, *losses])] if quality.maximum == 1.0 else [0, max([1e-9, *losses])]
    x = spec(
        "loss tree levels",
        domain=[base - 0.95, height + 0.45], levels=list(range(base, height + 1)), labels=f"{ticks!r}[datum.value]",
    )  # fmt: skip
    chart: Chart = spec(
        "loss tree",
        title=title or quality.name or "hierarchy",
        subtitle=f"VghGSL {quality.score:.4f}, {quality.measure}, {quality.ontology}",
        width=STEP * (height - base + 1.4),
        height=max(120, ROW * len(rows)),
        x=x,
        y={"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [len(rows) - 0.4, -0.6]}},
        edges=lines_between,
        domain=domain,
        nodes=nodes,
        inner=[node for node in nodes if node["x"] != base],
        lowest=[node for node in nodes if node["x"] == base],
    )
    return chart


def level_curve(qualities: Sequence[tuple[str, SemanticQuality]], *, weighted: bool = False) -> Chart:
    """LevelGSL level by level, one line per hierarchy, as Figure 4 of Ayala-Rivera et al. 2014 draws it.

    `weighted` draws each level's share of the score instead of the loss itself.
    """
    values = [
        {"series": name, "level": level.level, "gsl": level.weighted if weighted else level.gsl}
        for name, quality in qualities
        for level in quality.levels
    ]
    return curve(values, [name for name, _ in qualities], "weighted LevelGSL" if weighted else "LevelGSL")


def curve(values: Sequence[dict[str, Any]], names: Sequence[str], axis: str, *, width: int = 420) -> Chart:
    """Lines with points over levels; `values` have `series`, `level` and `gsl`."""
    return lines(values, names, "level", "gsl", axis=axis, width=width, height=240, steps=True)


def trees_and_curves(qualities: Sequence[tuple[str, SemanticQuality]]) -> Chart:
    """One sheet: the tree of every hierarchy and, below, the curves of them all."""
    parts = [loss_tree(quality, name) for name, quality in qualities]
    parts.append({**level_curve(qualities), "title": "What is lost at each level"})
    return stacked(parts)


def stacked(parts: Sequence[Chart]) -> Chart:
    """Charts below one another, each with its own scales, on a sheet of their own."""
    scales = {"color": "independent", "shape": "independent", "size": "independent"}
    return sheet("", "", {"padding": 16, "vconcat": list(parts), "spacing": 36, "resolve": {"scale": scales}})
