"""The figures of a comparison: what each algorithm loses, and what it takes to lose no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.marks import INK, WIDTH, Chart, framed, named_bars, quantity, spec
from kanopy.report.text import figure, seconds

KINDS = {
    "full-domain": ("#0072B2", "square"),
    "subtree": ("#009E73", "triangle-up"),
    "cell": ("#CC79A7", "diamond"),
    "local": ("#D55E00", "circle"),
    "substitution": ("#7A7A7A", "cross"),
}
"""Colour and shape of each kind of recoding: both tell them apart, for readers who do not see the colours."""


def loss_bars(entries: Sequence[Mapping[str, Any]], metric: str) -> Chart:
    """A bar per algorithm, best first, coloured by the kind of recoding.

    >>> one = {"name": "best", "recoding": "local", "losses": {"loss": 0.05}, "seconds": 1.0}
    >>> loss_bars([one], "loss")["data"]["values"][0]["text"]
    '0.0500 · 1.0 s'
    """
    rows = [
        {
            "name": entry["name"],
            "kind": entry["recoding"],
            "loss": entry["losses"][metric],
            "text": f"{figure(entry['losses'][metric])} · {seconds(entry['seconds'])}",
        }
        for entry in entries
        if metric in entry["losses"]
    ]
    highest = max((row["loss"] for row in rows), default=1.0) or 1.0
    x = quantity("loss", f"{metric} (shorter keeps more)", scale={"domain": [0, highest]})
    return named_bars(rows, x, width=WIDTH, colour=_by_kind(rows, 0, symbolType="circle"), at_end=True)


def loss_and_time(entries: Sequence[Mapping[str, Any]], metric: str) -> Chart:
    """A point per algorithm: how long it took against what it loses; lower left is better."""
    solved = [entry for entry in entries if metric in entry["losses"]]
    rows = [
        {
            "name": entry["name"],
            "kind": entry["recoding"],
            "loss": entry["losses"][metric],
            "seconds": max(1e-3, entry["seconds"]),
            "front": not any(_beats(other, entry, metric) for other in solved),
        }
        for entry in solved
    ]
    log = {"type": "log", "nice": True}
    x = quantity("seconds", "seconds of search (logarithmic)", ticks=6, scale=log, format="~g")
    y = quantity("loss", f"{metric} (lower keeps more)", ticks=6, scale={"zero": True})
    layers = spec("loss and time", x=x, y=y, colour=_by_kind(rows, 0), shape=_by_kind(rows, 1))
    return framed(rows, layers, width=WIDTH + 150, height=320)


def _beats(other: Mapping[str, Any], entry: Mapping[str, Any], metric: str) -> bool:
    better = other["losses"][metric] < entry["losses"][metric] and other["seconds"] <= entry["seconds"]
    quicker = other["losses"][metric] <= entry["losses"][metric] and other["seconds"] < entry["seconds"]
    return bool(better or quicker)


def _by_kind(rows: Sequence[Mapping[str, Any]], which: int, **legend: Any) -> Chart:
    """The colours (0) or the shapes (1) of the kinds of recoding that occur."""
    there = {row["kind"] for row in rows}
    kinds = {kind: looks[which] for kind, looks in KINDS.items() if kind in there}
    return {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": list(kinds), "range": list(kinds.values())},
        "legend": {"title": None, "orient": "top", "labelColor": INK, **legend},
    }
