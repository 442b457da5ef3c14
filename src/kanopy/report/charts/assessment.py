"""The figures of the risk and utility pages as Vega-Lite dictionaries, in the colours of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report.charts.marks import (
    PHASES,
    WIDTH,
    Chart,
    above_the_bars,
    framed,
    labelled,
    named_bars,
    paired_bars,
    place_of,
    share_axis,
    spec,
)
from kanopy.report.text import percent


def bars(values: Sequence[tuple[str, float]], title: str, *, top: float | None = 1.0) -> Chart:
    """Shares as bars beside their names, in the order given; the track behind each is the whole.

    >>> bars([("age", 0.25)], "Share")["data"]["values"][0]["text"]
    '25%'
    """
    rows = [{"name": name, "share": share, "text": percent(share)} for name, share in values]
    highest = top or max([share for _, share in values], default=1.0) or 1.0
    return named_bars(rows, share_axis(title, highest), width=WIDTH - 150, track=top or 0.0)


def columns_chart(values: Sequence[tuple[str, float]], title: str, axis: str) -> Chart:
    """Shares as upright bars with their numbers above."""
    rows = [{"name": name, "share": share, "text": percent(share) if share else ""} for name, share in values]
    names = [name for name, _ in values]
    x = {"field": "name", "type": "ordinal", "sort": names, "axis": {"labelAngle": 0, "title": axis}}
    y = share_axis(title, above_the_bars([share for _, share in values]))
    return framed(rows, spec("columns", x=x, y=y), width=WIDTH, height=230)


def before_after(names: Sequence[str], before: Sequence[float], after: Sequence[float], axis: str) -> Chart:
    """Two distributions over the same bins: before outlined, after solid."""
    rows = [
        {"bin": place_of(index), "phase": phase, "share": shares[index]}
        for index in range(len(names))
        for phase, shares in zip(PHASES, (before, after), strict=True)
    ]
    x = labelled("bin", names, 14, title=axis, labelAngle=-40 if len(names) > 5 else 0, labelFontSize=10)
    layers = paired_bars(x, share_axis("Share of rows", ticks=4), text=False)
    return framed(rows, layers, width=WIDTH - 60, height=170)


def heat(names: Sequence[str], cells: Mapping[tuple[int, int], float], title: str, *, diverging: bool = False) -> Chart:
    """A share for every pair of columns, written into the square as well as coloured."""
    most = max((abs(value) for value in cells.values()), default=1.0) or 1.0
    least = 0.005 if diverging else 0.0005  # what two decimals, or a tenth of a percent, can show
    rows = [
        {
            "x": place_of(j),
            "y": place_of(i),
            "value": abs(value) / most,
            "text": (f"{value:+.2f}" if diverging else percent(value)) if abs(value) >= least else "0",
            "sign": "before" if value < 0 else "after",
        }
        for (i, j), value in cells.items()
    ]
    x = labelled("x", names, 16, title=None, labelAngle=-40, orient="top")
    y = labelled("y", names, 16, title=None)
    side = max(34, min(56, 520 // max(len(names), 1)))
    layers = spec("heat", x=x, y=y)
    chart = framed(rows, layers, width=side * len(names), height=round(side * 0.62) * len(names))
    return {**chart, "title": spec("heat title", title=title)}


def accuracy(learners: Sequence[Mapping[str, Any]]) -> Chart:
    """Accuracy of each learner before and after, with the line of guessing the most frequent class."""
    rows = [
        {"learner": learner["learner"], "phase": phase, "share": learner[phase], "text": percent(learner[phase])}
        for learner in learners
        for phase in PHASES
    ]
    y = {
        "field": "learner",
        "type": "nominal",
        "sort": [learner["learner"] for learner in learners],
        "axis": {"title": None},
    }
    x = share_axis("Held-out original rows classified rightly", 1)
    guessing = spec("guessing", x=x, share=learners[0]["baseline"] if learners else 0.0)
    layers = [*paired_bars(y, x, sideways=True), guessing]
    return framed(rows, layers, width=WIDTH - 120, height=46 * max(len(learners), 1))


def bound_ranges(bounds: Sequence[Mapping[str, Any]], column: str) -> Chart:
    """What the release allows each statistic to be (a bar), and what it was (a tick)."""
    layers = spec("bound ranges", order=[bound["statistic"] for bound in bounds], column=column)
    return framed(bounds, layers, width=WIDTH - 120, height={"step": 30})
