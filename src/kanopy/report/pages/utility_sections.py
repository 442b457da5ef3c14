"""Usefulness in plain words: the sections of the utility page and of a release's report.

Each takes what `Assessment.to_dict` gives. A section about which nothing is known is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.charts import assessment as charts
from kanopy.report.charts.release_charts import column_losses
from kanopy.report.shell import LEGEND, bullets, drawing, pair, part, records, section, table
from kanopy.report.text import WITHHELD, Markup, esc, lines, listed, percent, plural, sentence, told

Found = Mapping[str, Any]

MOST_DRAWN, MOST_HEAT, MOST_PAIRS = 12, 10, 15


def losses(found: Found, beside: str = "") -> str:
    """What each column lost; `beside` is markup that stands beside the picture."""
    columns = found["columns"]
    drawn = column_losses({each["name"]: each["loss"] for each in columns})
    described = "Detail lost per column. " + "; ".join(f"{each['name']}: {percent(each['loss'])}" for each in columns)
    quasi = found["quasi_identifiers"]
    rows = [
        {**each, "shown": each["name"] + (" (quasi-identifier)" if each["name"] in quasi else "")} for each in columns
    ]
    picture = drawing(drawn, "losses", described, "Greatest first.")
    return part("utility.losses", pair(picture, beside), records("utility.losses", rows))


def distributions(found: Found, shares: Mapping[str, Mapping[str, Any]], least: int = 1, most: int = MOST_DRAWN) -> str:
    """How distributions moved; only values that at least `least` rows have are named in the pictures."""
    ordered = sorted(found["columns"], key=lambda each: -each["total_variation"])
    pictures = []
    for number, each in enumerate([each for each in ordered if each["changed_rows"]][:most]):
        drawn = shares.get(each["name"])
        if drawn is None:
            continue
        chart = charts.before_after(drawn["bins"], drawn["before"], drawn["after"], each["name"])
        distance = sentence("utility.distributions.distance", **each)
        caption = Markup(f"<b>{esc(each['name'])}</b>. {esc(distance)}")
        pictures.append(drawing(chart, f"d{number}", f"{each['name']} before and after. {distance}", caption))
    rare = sentence("utility.distributions.rare", least=least) if least > 1 else ""
    listing = records("utility.distributions", ordered)
    return part("utility.distributions", f"<p>{LEGEND}</p>", pair(*pictures), listing, rare=rare)


def pairs(found: Found) -> str:
    """Associations of columns before and after."""
    compared = found["pairs"]
    if not compared:
        return ""
    names = list(dict.fromkeys(name for each in compared for name in (each["left"], each["right"])))[:MOST_HEAT]
    place = {name: number for number, name in enumerate(names)}
    before: dict[tuple[int, int], float] = {}
    change: dict[tuple[int, int], float] = {}
    for each in compared:
        if each["left"] in place and each["right"] in place:
            i, j = place[each["left"]], place[each["right"]]
            before[i, j] = before[j, i] = each["v_before"]
            change[i, j] = change[j, i] = each["v_after"] - each["v_before"]
    ordered = sorted(compared, key=lambda each: -each["total_variation"])[:MOST_PAIRS]
    pictures = pair(
        drawing(charts.heat(names, before, "Association before"), "v1", "Association before"),
        drawing(charts.heat(names, change, "Change", diverging=True), "v2", "Change of association"),
    )
    return part("utility.pairs", pictures, records("utility.pairs", ordered))


def queries(found: Found) -> str:
    """Errors of count queries."""
    asked = found["queries"]
    if not asked:
        return ""
    shares = [(plural(int(number), "column"), error) for number, error in asked["by_columns"].items()]
    chart = charts.bars(shares, "Median relative error", top=None)
    described = "Median relative error by number of columns"
    picture = drawing(chart, "queries", described, "By number of columns asked for.")
    listing = table("Relative error", ["", "Error", "In words"], lines("utility.queries.lines", asked), [1])
    return part("utility.queries", pair(picture, listing), one=asked["queries"] == 1, **asked)


def learning(found: Found) -> str:
    """Accuracy of classifiers before and after."""
    learners = found["learners"]
    if not learners:
        return ""
    described = "; ".join(
        f"{each['learner']}: {percent(each['before'])}, {percent(each['after'])}" for each in learners
    )
    rows = [{**each, "kept": None if each["kept"] is None else max(0.0, each["kept"])} for each in learners]
    picture = drawing(charts.accuracy(learners), "learners", f"Accuracy before and after. {described}")
    listing = records("utility.learning", rows)
    return part("utility.learning", f"<p>{LEGEND}</p>", pair(picture, listing), **learners[0])


def bounds(found: Found) -> str:
    """Statistics with bounds that hold whatever the original values were; `None` stands for a number withheld."""
    stated = found["bounds"]
    if not stated:
        return ""
    names = list(dict.fromkeys(each["column"] for each in stated if _open(each)))
    pictures = []
    for number, name in enumerate(names[:6]):
        own = [each for each in stated if each["column"] == name and None not in (each["low"], each["high"])]
        if not own:
            continue
        described = "; ".join(
            f"{e['statistic']} {e['low']:g} to {e['high']:g}"
            + ("" if e["truth"] is None else f", truly {e['truth']:g}")
            for e in own
        )
        pictures.append(drawing(charts.bound_ranges(own, name), f"b{number}", described, Markup(f"<b>{esc(name)}</b>")))
    shown = [each for each in stated if _open(each) or not each["holds"]]
    listing = records("utility.bounds", shown)
    same = [each["column"] for each in stated if each["column"] not in {every["column"] for every in shown}]
    exact = sentence("utility.bounds.exact", names=listed(list(dict.fromkeys(same)), 12)) if same else ""
    withheld = told("utility.bounds.withheld") if WITHHELD in listing else ""
    return part("utility.bounds", pair(*pictures), listing, withheld, exact)


def _open(bound: Found) -> bool:
    return bound["low"] is None or bound["high"] is None or bool(bound["low"] < bound["high"])


def notes(found: Found) -> str:
    """What else is to be said."""
    return section("Notes", "", bullets(found["notes"])) if found["notes"] else ""
