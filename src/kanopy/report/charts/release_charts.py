"""The figures of a release's report as Vega-Lite dictionaries: group sizes, losses, rows at risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.charts.assessment import bars
from kanopy.report.charts.marks import PHASES, WIDTH, Chart, above_the_bars, framed, paired_bars, share_axis
from kanopy.report.text import of_counted, percent

MOST_BINS = 9


def class_sizes(before: Sequence[SizeBin], after: Sequence[SizeBin]) -> Chart:
    """Share of the published rows by the size of their class, before and after.

    >>> from kanopy.metrics.risk.class_sizes import size_histogram
    >>> chart = class_sizes(size_histogram([1, 1]), size_histogram([2]))
    >>> [(row["size"], row["phase"], row["share"]) for row in chart["data"]["values"]][:2]
    [('1', 'before', 1.0), ('1', 'after', 0.0)]
    """
    before, after = _lumped(before), _lumped(after)
    bins = before if len(before) >= len(after) else after
    names = [size_bin.label for size_bin in bins]
    if len(bins) == MOST_BINS:
        names[-1] = f"{bins[-1].low:,}+"
    values = []
    for number, name in enumerate(names):
        for phase, bins_of_phase in zip(PHASES, (before, after), strict=True):
            total = sum(b.rows for b in bins_of_phase)
            share = bins_of_phase[number].rows / total if number < len(bins_of_phase) and total else 0.0
            values.append({"size": name, "phase": phase, "share": share, "text": percent(share) if share else ""})
    x = {
        "field": "size",
        "type": "ordinal",
        "sort": names,
        "axis": {"labelAngle": 0, "title": of_counted("Rows in the group")},
    }
    y = share_axis(of_counted("Share of rows"), above_the_bars([value["share"] for value in values]))  # type: ignore[misc]
    return framed(values, paired_bars(x, y), width=WIDTH, height=290)


def column_losses(losses: Mapping[str, float]) -> Chart:
    """Loss per column, the greatest first; the track behind each bar is everything that could be lost.

    >>> column_losses({"age": 0.25, "sex": 0.0})["data"]["values"][0]["text"]
    '25%'
    """
    ordered = sorted(losses.items(), key=lambda pair: -pair[1])
    return bars(ordered, "Detail lost", top=max(1.0, max(losses.values(), default=1.0)))


def rows_at_risk(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Chart:
    """Share of rows above each risk threshold, before and after.

    >>> chart = rows_at_risk([{"above": 0.5, "share": 1.0}], [{"above": 0.5, "share": 0.0}])
    >>> [(row["threshold"], row["share"]) for row in chart["data"]["values"]][:2]
    [('above 50%', 1.0), ('above 50%', 0.0)]
    """
    values = [
        {"threshold": f"above {percent(was['above'])}", "phase": phase, "share": risk_row["share"],
         "text": percent(risk_row["share"])}
        for was, now in zip(before, after, strict=True)
        for phase, risk_row in zip(PHASES, (was, now), strict=True)
    ]  # fmt: skip
    order = list(dict.fromkeys(value["threshold"] for value in values))
    y = {"field": "threshold", "type": "ordinal", "sort": order, "axis": {"title": "Risk of a row"}}
    layers = paired_bars(y, share_axis(of_counted("Share of rows"), 1), sideways=True)
    return framed(values, layers, width=WIDTH - 60, height=250)


def _lumped(bins: Sequence[SizeBin]) -> list[SizeBin]:
    """At most `MOST_BINS` bins, the largest sizes in one."""
    bins_kept, rest = list(bins[: MOST_BINS - 1]), bins[MOST_BINS - 1 :]
    if rest:
        classes, rows = sum(b.classes for b in rest), sum(b.rows for b in rest)
        bins_kept.append(type(rest[0])(rest[0].low, rest[-1].high, classes, rows))
    return bins_kept
