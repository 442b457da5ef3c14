"""The map of risk and utility as a Vega-Lite dictionary, a picture, a table and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kanopy._errors import MissingDependency

COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#7A7A7A")
COLUMNS = ("k", "suppress", "models", "algorithm", "loss", "highest_risk", "average_risk", "suppressed", "classes",
           "smallest_class", "optimal", "best", "reason")  # fmt: skip


def series_name(point: Mapping[str, Any]) -> str:
    """What a point has in common with those it is drawn in one colour with."""
    models = " + ".join(point["models"]) or "k-anonymity"
    return f"{point['algorithm']}, {models}, up to {point['suppress']:.4g} suppressed"


def risk_map(points: Sequence[Mapping[str, Any]], metric: str) -> dict[str, Any]:
    """Loss against the highest risk; the points that no other beats are joined by a line.

    >>> point = {"k": 2, "suppress": 0.0, "models": [], "algorithm": "optimal", "loss": 0.1, "highest_risk": 0.5,
    ...          "best": True}
    >>> risk_map([point], "loss")["layer"][0]["mark"]["type"]
    'line'
    """
    values = [
        {
            "k": point["k"],
            "loss": point["loss"],
            "risk": point["highest_risk"],
            "series": series_name(point),
            "best": point["best"],
        }
        for point in points
        if point["loss"] is not None
    ]
    x = {
        "field": "risk",
        "type": "quantitative",
        "axis": {"format": "~%", "title": "Highest risk of being singled out (1 / smallest class)"},
        "scale": {"zero": False, "type": "log"},
    }
    y = {"field": "loss", "type": "quantitative", "title": f"{metric} (lower keeps more)", "scale": {"zero": False}}
    names = list(dict.fromkeys(value["series"] for value in values))
    colour: dict[str, Any] = {"field": "series", "type": "nominal", "title": None}
    colour["legend"] = {"orient": "bottom", "columns": 1, "labelLimit": 600}
    if len(names) <= len(COLOURS):
        colour["scale"] = {"domain": names, "range": list(COLOURS[: len(names)])}
    front: dict[str, Any] = {"filter": "datum.best"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": "Risk against utility", "subtitle": "the line joins releases that no other beats in both"},
        "width": 620,
        "height": 380,
        "data": {"values": values},
        "layer": [
            {
                "transform": [front],
                "mark": {"type": "line", "color": "#9aa7b1", "strokeWidth": 1.5, "interpolate": "step-after"},
                "encoding": {"x": x, "y": y, "order": {"field": "risk"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "opacity": {"condition": {"test": "datum.best", "value": 1}, "value": 0.45},
                    "tooltip": [{"field": name} for name in ("series", "k", "loss", "risk")],
                },
            },
            {
                "transform": [front],
                "mark": {"type": "text", "dy": -9, "fontSize": 10, "color": "#22303c"},
                "encoding": {"x": x, "y": y, "text": {"field": "k"}},
            },
        ],
        "config": {"background": "white", "view": {"stroke": None}, "axis": {"gridColor": "#e3e8ec"}},
    }


def draw(chart: dict[str, Any], kind: str) -> bytes:
    """A chart as `svg` or `png`, drawn offline."""
    try:
        import vl_convert
    except ImportError as error:
        raise MissingDependency("Figures need vl-convert-python: install the package of that name.") from error
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(chart, scale=2))
    return str(vl_convert.vegalite_to_svg(chart)).encode("utf-8")


def table_csv(points: Sequence[Mapping[str, Any]]) -> str:
    """All points as CSV text."""
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for point in points:
        writer.writerow([" + ".join(point[name]) if name == "models" else point[name] for name in COLUMNS])
    return stream.getvalue()


_STYLE = """
body { font: 15px/1.55 system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; color: #22303c; margin: 0 }
main { max-width: 1060px; margin: 0 auto; padding: 2rem 1.2rem 4rem } h1 { font-size: 1.6rem; margin: 0 0 .3rem }
table { border-collapse: collapse; margin: 1rem 0 } .scroll { overflow-x: auto } svg { max-width: 100%; height: auto }
th, td { text-align: right; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #dde3e8 }
td.t, th.t { text-align: left } tr.best td { font-weight: 600 }
"""


def page(points: Sequence[Mapping[str, Any]], metric: str) -> str:
    """One self-contained page: the picture, and every point as a table."""
    picture = draw(risk_map(points, metric), "svg").decode("utf-8")
    lines = []
    for point in points:
        mark = ' class="best"' if point["best"] else ""
        name = escape(series_name(point))
        if point["loss"] is None:
            shown = f'<td class="t" colspan="5">{escape(str(point["reason"]))}</td>'
        else:
            shown = (
                f"<td>{point['loss']:.4f}</td><td>{point['highest_risk']:.2%}</td><td>{point['average_risk']:.2%}</td>"
                f"<td>{point['suppressed']:,}</td><td>{point['classes']:,}</td>"
            )
        lines.append(f'<tr{mark}><td>{point["k"]}</td><td class="t">{name}</td>{shown}</tr>')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Risk against utility</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        "<body><main>"
        "<h1>Risk against utility</h1><p>Each point is a release. Further left is safer, further down keeps more; bold "
        "lines and full colours are releases that no other beats in both. The highest risk is the chance of singling "
        "out somebody of the smallest group; the average risk is that of an average row.</p>"
        f'<div class="scroll">{picture}</div><div class="scroll"><table><thead><tr><th>k</th><th class="t">release</th>'
        f"<th>{escape(metric)}</th><th>highest risk</th><th>average risk</th><th>suppressed</th><th>classes</th></tr>"
        f"</thead><tbody>{''.join(lines)}</tbody></table></div></main></body></html>"
    )
