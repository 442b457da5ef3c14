"""Usefulness in plain words: the sections of the utility page and of a release's report.

Each takes what `Assessment.to_dict` gives. A section about which nothing is known is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kanopy.report.charts import assessment as charts
from kanopy.report.charts.release_charts import column_losses
from kanopy.report.shell import LEGEND, bullets, drawing, pair, part, records, section, table
from kanopy.report.text import WITHHELD, Markup, esc, lines, listed, percent, plural, sentence, told

Found = Mapping[str, Any]

MOST_DRAWN, MOST_HEAT, MOST_PAIRS = 12, 10, 15


def losses(results: Found, beside: str = "") -> str:
    """What each column lost; `beside` is markup that stands beside the picture."""
    columns = results["columns"]
    drawn = column_losses({column["name"]: column["loss"] for column in columns})
    described = "Detail lost per column. " + "; ".join(
        f"{column['name']}: {percent(column['loss'])}" for column in columns
    )
    quasi = results["quasi_identifiers"]
    rows = [
        {**column, "shown": column["name"] + (" (quasi-identifier)" if column["name"] in quasi else "")}
        for column in columns
    ]
    picture = drawing(drawn, "losses", described, "Greatest first.")
    return part("utility.losses", pair(picture, beside), records("utility.losses", rows))


def distributions(
    results: Found, shares: Mapping[str, Mapping[str, Any]], least: int = 1, most: int = MOST_DRAWN
) -> str:
    """How distributions moved; only values that at least `least` rows have are named in the pictures."""
    ordered = sorted(results["columns"], key=lambda entry: -entry["total_variation"])
    pictures = []
    for number, entry in enumerate([entry for entry in ordered if entry["changed_rows"]][:most]):
        drawn = shares.get(entry["name"])
        if drawn is None:
            continue
        chart = charts.before_after(drawn["bins"], drawn["before"], drawn["after"], entry["name"])
        distance = sentence("utility.distributions.distance", **entry)
        caption = Markup(f"<b>{esc(entry['name'])}</b>. {esc(distance)}")
        pictures.append(drawing(chart, f"d{number}", f"{entry['name']} before and after. {distance}", caption))
    rare = sentence("utility.distributions.rare", least=least) if least > 1 else ""
    listing = records("utility.distributions", ordered)
    return part("utility.distributions", f"<p>{LEGEND}</p>", pair(*pictures), listing, rare=rare)


def pairs(results: Found) -> str:
    """Associations of columns before and after."""
    compared = results["pairs"]
    if not compared:
        return ""
    names = list(dict.fromkeys(name for entry in compared for name in (entry["left"], entry["right"])))[:MOST_HEAT]
    number_of_name = {name: number for number, name in enumerate(names)}
    before: dict[tuple[int, int], float] = {}
    change: dict[tuple[int, int], float] = {}
    for entry in compared:
        if entry["left"] in number_of_name and entry["right"] in number_of_name:
            i, j = number_of_name[entry["left"]], number_of_name[entry["right"]]
            before[i, j] = before[j, i] = entry["v_before"]
            change[i, j] = change[j, i] = entry["v_after"] - entry["v_before"]
    ordered = sorted(compared, key=lambda entry: -entry["total_variation"])[:MOST_PAIRS]
    pictures = pair(
        drawing(charts.heat(names, before, "Association before"), "v1", "Association before"),
        drawing(charts.heat(names, change, "Change", diverging=True), "v2", "Change of association"),
    )
    return part("utility.pairs", pictures, records("utility.pairs", ordered))


def queries(results: Found) -> str:
    """Errors of count queries."""
    asked = results["queries"]
    if not asked:
        return ""
    shares = [(plural(int(number), "column"), error) for number, error in asked["by_columns"].items()]
    chart = charts.bars(shares, "Median relative error", top=None)
    described = "Median relative error by number of columns"
    picture = drawing(chart, "queries", described, "By number of columns asked for.")
    listing = table("Relative error", ["", "Error", "In words"], lines("utility.queries.lines", asked), [1])
    return part("utility.queries", pair(picture, listing), one=asked["queries"] == 1, **asked)


def learning(results: Found) -> str:
    """Accuracy of classifiers before and after."""
    learners = results["learners"]
    if not learners:
        return ""
    described = "; ".join(
        f"{learner['learner']}: {percent(learner['before'])}, {percent(learner['after'])}" for learner in learners
    )
    rows = [{**learner, "kept": None if learner["kept"] is None else max(0.0, learner["kept"])} for learner in learners]
    picture = drawing(charts.accuracy(learners), "learners", f"Accuracy before and after. {described}")
    listing = records("utility.learning", rows)
    return part("utility.learning", f"<p>{LEGEND}</p>", pair(picture, listing), **learners[0])


def bounds(results: Found, treated: Collection[str] = ()) -> str:
    """Statistics with bounds that hold whatever the original values were; `None` stands for a number withheld.

    What is said of columns that are published unchanged is not said of `treated` ones.
    """
    stated = results["bounds"]
    if not stated:
        return ""
    names = list(dict.fromkeys(entry["column"] for entry in stated if _open(entry)))
    pictures = []
    for number, name in enumerate(names[:6]):
        bounds_of_column = [
            entry for entry in stated if entry["column"] == name and None not in (entry["low"], entry["high"])
        ]
        if not bounds_of_column:
            continue
        described = "; ".join(
            f"{e['statistic']} {e['low']:g} to {e['high']:g}"
            + ("" if e["truth"] is None else f", truly {e['truth']:g}")
            for e in bounds_of_column
        )
        pictures.append(
            drawing(charts.bound_ranges(bounds_of_column, name), f"b{number}", described, Markup(f"<b>{esc(name)}</b>"))
        )
    bounds_shown = [entry for entry in stated if _open(entry) or not entry["holds"]]
    listing = records("utility.bounds", bounds_shown)
    not_same = {*treated, *(entry["column"] for entry in bounds_shown)}
    same = [entry["column"] for entry in stated if entry["column"] not in not_same]
    exact = sentence("utility.bounds.exact", names=listed(list(dict.fromkeys(same)), 12)) if same else ""
    withheld = told("utility.bounds.withheld") if WITHHELD in listing else ""
    return part("utility.bounds", pair(*pictures), listing, withheld, exact)


def _open(bound: Found) -> bool:
    return bound["low"] is None or bound["high"] is None or bool(bound["low"] < bound["high"])


def notes(results: Found) -> str:
    """What else is to be said."""
    return section("Notes", "", bullets(results["notes"])) if results["notes"] else ""
