"""The statistician's risk in plain words: sampling weights, special uniques, combinations of a few columns.

Each section takes what `RiskAssessment.to_dict` gives; one about which nothing was asked is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from kanopy.report.charts import assessment as charts
from kanopy.report.shell import drawing, fold, pair, part, records, table
from kanopy.report.text import lines, percent, sentence, told, whole

Found = Mapping[str, Any]

MOST_SETS, MOST_EXAMPLES = 20, 50


def survey(found: Found) -> str:
    """Individual and household risk, and rows by their risk."""
    own = found["survey"]
    if own is None:
        return ""
    shown = lines("risk.survey.lines", own)
    household = ""
    if own["household"] is not None:
        shown += lines("risk.survey.household_lines", own["household"])
        household = sentence("risk.survey.household", **own["household"])
    published = sum(each["rows"] for each in own["bins"])
    bins = [(_range(each), each["rows"] / (published or 1)) for each in own["bins"]]
    chart = charts.columns_chart(bins, "Share of rows", "Risk of the row")
    listing = table("Individual risk", ["Risk", "Number", "In words"], shown, [1])
    counted = table(
        "Rows by risk", ["Risk of the row", "Rows"], [[_range(each), whole(each["rows"])] for each in own["bins"]], [1]
    )
    return part(
        "risk.survey", listing, pair(drawing(chart, "individual", told("risk.survey.described")), counted),
        weight=own["weight"], rows=published, people=round(own["represented"]), missing=own["missing_means"] == "any",
        household=household,
    )  # fmt: skip


def _range(each: Found) -> str:
    ends = percent(each["over"]), percent(each["up_to"])
    return "–".join(ends) if each["over"] else f"up to {ends[1]}"


def special_uniques(found: Found, values: Sequence[Found] = ()) -> str:
    """SUDA: which columns and values single rows out."""
    own = found["special_uniques"]
    if own is None:
        return ""
    ordered = sorted(own["columns"], key=lambda each: -each["share"])
    chart = charts.bars([(each["column"], each["share"]) for each in ordered[:20]], "Share of all scores")
    sizes = [[whole(each["size"]), whole(each["sets"])] for each in own["sets"]]
    shown = [
        {**each, "shown": "missing" if each["value"] is None else each["value"]} for each in values[:MOST_EXAMPLES]
    ]
    dis = "" if own["highest_dis"] is None else sentence("risk.special.dis", **own)
    return part(
        "risk.special",
        pair(
            drawing(chart, "special", told("risk.special.described")),
            table(told("risk.special.sizes_caption"), ["Columns in the set", "Sets"], sizes, [1]),
        ),
        records("risk.special", ordered),
        fold("Values", "examples", records("risk.special.values", shown)) if shown else "",
        **{**own, "dis": dis},
    )


def unsafe_combinations(found: Found, combinations: Iterable[Found] = ()) -> str:
    """Combinations of a few columns that too few rows share."""
    own = found["every"]
    if own is None:
        return ""
    asked = ", ".join(f"{each['k']:,} rows behind every {each['columns']} columns" for each in own["asked"])
    sets = [{**each, "names": " + ".join(each["columns"])} for each in own["sets"][:MOST_SETS]]
    more = sentence("risk.every.more", shown=len(sets), sets=len(own["sets"])) if len(own["sets"]) > len(sets) else ""
    examples = [
        {**each, "group": ", ".join(
            f"{column} = {'missing' if value is None else value}"
            for column, value in zip(each["columns"], each["values"], strict=True)
        )}
        for each in islice(combinations, MOST_EXAMPLES)
    ]  # fmt: skip
    return part(
        "risk.every",
        records("risk.every", sets) if sets else "",
        fold("Combinations", "examples", records("risk.every.examples", examples)) if examples else "",
        asked=asked, rows=own["rows"], more=more,
    )  # fmt: skip
