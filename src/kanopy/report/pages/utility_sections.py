"""Usefulness in plain words: the sections of the utility page and of a release's report.

Each takes what `Assessment.to_dict` gives. A section about which nothing is known is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report.charts import assessment as charts
from kanopy.report.charts.release import column_losses
from kanopy.report.shell import LEGEND, Column, bullets, drawing, explained, pair, records, section, table
from kanopy.report.words import Markup, esc, figure, listed, percent, plural, whole

Found = Mapping[str, Any]

MOST_DRAWN, MOST_HEAT, MOST_PAIRS = 12, 10, 15
WITHHELD = "withheld"


def losses(found: Found, beside: str = "") -> str:
    """What each column lost; `beside` is markup that stands beside the picture."""
    columns = found["columns"]
    drawn = column_losses({each["name"]: each["loss"] for each in columns})
    described = "Detail lost per column. " + "; ".join(f"{each['name']}: {percent(each['loss'])}" for each in columns)
    quasi = found["quasi_identifiers"]
    listing = records("Columns", columns, [
        ("Column", lambda each: each["name"] + (" (quasi-identifier)" if each["name"] in quasi else ""), str),
        ("Loss", "loss", percent), ("Width of intervals", "range_loss", percent),
        ("Information kept", "bits_kept", percent), ("Values before", "values_before", whole),
        ("Labels after", "labels_after", whole), ("Cells changed", "changed_rows", whole),
        ("Cells hidden", "hidden_rows", whole),
    ])  # fmt: skip
    words = [
        ("Loss", "the share of the column's values that a published value could stand for, on average"),
        ("Width of intervals", "for numbers, how much of the range a published interval spans, on average"),
        ("Information kept", "how much of what the original value told is still told by the published one (in bits)"),
        ("Values, labels", "how many different values there were, and how many different ones are published"),
        ("Cells changed", "rows in which the column is published as something else than it was"),
        ("Cells hidden", "rows in which nothing is published for the column (*)"),
    ]
    return section(
        "What each column lost",
        "Loss is how much of a column a published value could stand for: 0% is as exact as before, 100% says nothing. "
        "Rows that were left out count as 100%.",
        pair(drawing(drawn, "losses", described, "Greatest first."), beside),
        listing,
        explained(words),
    )


def distributions(found: Found, shares: Mapping[str, Mapping[str, Any]], least: int = 1, most: int = MOST_DRAWN) -> str:
    """How distributions moved; only values that at least `least` rows have are named in the pictures."""
    ordered = sorted(found["columns"], key=lambda each: -each["total_variation"])
    pictures = []
    for number, each in enumerate([each for each in ordered if each["changed_rows"]][:most]):
        drawn = shares.get(each["name"])
        if drawn is None:
            continue
        chart = charts.before_after(drawn["bins"], drawn["before"], drawn["after"], each["name"])
        distance = f"Total variation {percent(each['total_variation'])}, earth mover's {percent(each['earth_movers'])}."
        caption = Markup(f"<b>{esc(each['name'])}</b>. {esc(distance)}")
        pictures.append(drawing(chart, f"d{number}", f"{each['name']} before and after. {distance}", caption))
    moved: list[Column] = [
        ("Column", "name", str), ("Total variation", "total_variation", percent),
        ("Earth mover's distance", "earth_movers", percent),
    ]  # fmt: skip
    rare = f" Values that fewer than {whole(least)} rows have are lumped together and not named." if least > 1 else ""
    return section(
        "How the distributions moved",
        "After, every label is spread evenly over the values it covers. Total variation is the share of rows that "
        "would have to change their value; the earth mover's distance also counts how far they would have to go, "
        f"over the range of the column.{rare}",
        f"<p>{LEGEND}</p>",
        pair(*pictures),
        records("Distances", ordered, moved),
    )


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
    compared_by: list[Column] = [
        ("Columns", lambda each: f"{each['left']} × {each['right']}", str),
        ("Total variation", "total_variation", percent),
        *((f"{name} {phase}", f"{key}_{phase}", figure)
          for name, key in (("V", "v"), ("Correlation", "correlation")) for phase in ("before", "after")),
    ]  # fmt: skip
    words = [
        ("Total variation", "the share of rows that would have to move for the table of both columns to be as before"),
        ("V", "Cramér's V: from 0 (the columns know nothing of each other) to 1 (one gives the other away)"),
        ("Correlation", "Pearson's, from −1 to 1, where both columns are numbers (labels as their middles)"),
    ]
    return section(
        "Do columns still belong together?",
        "Cramér's V is 0 for columns that know nothing of each other and 1 if one gives the other away. Generalizing "
        "usually weakens associations.",
        pair(
            drawing(charts.heat(names, before, "Association before"), "v1", "Association before"),
            drawing(charts.heat(names, change, "Change", diverging=True), "v2", "Change of association"),
        ),
        records("Contingency tables that moved most", ordered, compared_by),
        explained(words),
    )


def queries(found: Found) -> str:
    """Errors of count queries."""
    asked = found["queries"]
    if not asked:
        return ""
    shares = [(plural(int(number), "column"), error) for number, error in asked["by_columns"].items()]
    chart = charts.bars(shares, "Median relative error", top=None)
    rows = [
        ["Median", percent(asked["median"]), "Half of the questions are answered with at most this error."],
        ["Mean", percent(asked["mean"]), "The error on average; a few bad answers weigh much."],
        ["Upper quartile", percent(asked["upper_quartile"]), "Three quarters of the answers err by less."],
        ["Nine tenths", percent(asked["ninetieth"]), "Nine tenths of the answers err by less."],
    ]
    described = "Median relative error by number of columns"
    return section(
        "How wrong counts become",
        f"{plural(asked['queries'], 'random question')} of the kind “how many rows lie in this range and that group” "
        f"{'was' if asked['queries'] == 1 else 'were'} asked of both tables, each about "
        f"{percent(asked['selectivity'])} of the rows in up to {plural(asked['columns'], 'column')}; the release "
        "answers as if every value under a label were equally likely. An error of 10% means 90 or 110 instead of 100.",
        pair(
            drawing(chart, "queries", described, "By number of columns asked for."),
            table("Relative error", ["", "Error", "In words"], rows, [1]),
        ),
    )


def learning(found: Found) -> str:
    """Accuracy of classifiers before and after."""
    learners = found["learners"]
    if not learners:
        return ""
    first = learners[0]
    listing = records("Accuracy", learners, [
        ("Learner", "learner", str),
        *((phase.capitalize(), lambda each, phase=phase: (each[phase], each[f"spread_{phase}"]), _with_spread)
          for phase in ("before", "after")),
        ("Kept", lambda each: None if each["kept"] is None else max(0.0, each["kept"]), percent),
    ])  # fmt: skip
    described = "; ".join(
        f"{each['learner']}: {percent(each['before'])}, {percent(each['after'])}" for each in learners
    )
    words = Markup(
        f"Each learner predicts <b>{esc(first['target'])}</b> from the other columns, once trained on the original and "
        f"once on the release, and is tested on held-out original rows ({plural(first['folds'], 'fold')}, "
        f"{plural(first['rows'], 'row')}). The dashed line is always guessing the most frequent value "
        f"({percent(first['baseline'])}); what is kept is the gain over that line."
    )
    return section(
        "Can a model still be learned?",
        words,
        f"<p>{LEGEND}</p>",
        pair(
            drawing(charts.accuracy(learners), "learners", f"Accuracy before and after. {described}"),
            listing,
        ),
    )


def _with_spread(found: tuple[float, float]) -> str:
    return f"{percent(found[0])} ± {found[1] * 100:.1f}"


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
    listing = records("Bounds", shown, [
        ("Column", "column", str), ("Statistic", "statistic", str), ("True", "truth", _or_withheld),
        ("At least", "low", _or_withheld), ("At most", "high", _or_withheld),
        ("By middles", "estimate", _or_withheld), ("Holds", lambda each: "yes" if each["holds"] else "no", str),
    ])  # fmt: skip
    same = [each["column"] for each in stated if each["column"] not in {every["column"] for every in shown}]
    exact = (
        f"<p>Exact, because published as they were: {esc(listed(list(dict.fromkeys(same)), 12))}.</p>" if same else ""
    )
    withheld = (
        "<p>Withheld are numbers that are, or would give away, an original value that too few rows have.</p>"
        if WITHHELD in listing
        else ""
    )
    return section(
        "Statistics that stay true",
        "Whatever the original values were, as long as each lies within its published interval the statistic lies "
        "within these bounds (the bar; the tick is the true value). A hidden cell may be anything between the ends of "
        "its column. “By middles” is what comes out if every interval is taken for its middle.",
        pair(*pictures),
        listing,
        withheld,
        exact,
    )


def _or_withheld(value: float | None) -> str:
    return WITHHELD if value is None else f"{value:,.6g}"


def _open(bound: Found) -> bool:
    return bound["low"] is None or bound["high"] is None or bool(bound["low"] < bound["high"])


def notes(found: Found) -> str:
    """What else is to be said."""
    return section("Notes", "", bullets(found["notes"])) if found["notes"] else ""
