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


def survey(results: Found) -> str:
    """Individual and household risk, and rows by their risk."""
    survey_risk = results["survey"]
    if survey_risk is None:
        return ""
    survey_lines = lines("risk.survey.lines", survey_risk)
    household = ""
    if survey_risk["household"] is not None:
        survey_lines += lines("risk.survey.household_lines", survey_risk["household"])
        household = sentence("risk.survey.household", **survey_risk["household"])
    published = sum(entry["rows"] for entry in survey_risk["bins"])
    bins = [(_range(entry), entry["rows"] / (published or 1)) for entry in survey_risk["bins"]]
    chart = charts.columns_chart(bins, "Share of rows", "Risk of the row")
    listing = table("Individual risk", ["Risk", "Number", "In words"], survey_lines, [1])
    counted = table(
        "Rows by risk",
        ["Risk of the row", "Rows"],
        [[_range(entry), whole(entry["rows"])] for entry in survey_risk["bins"]],
        [1],
    )
    return part(
        "risk.survey", listing, pair(drawing(chart, "individual", told("risk.survey.described")), counted),
        weight=survey_risk["weight"], rows=published, people=round(survey_risk["represented"]),
        missing=survey_risk["missing_means"] == "any",
        household=household,
    )  # fmt: skip


def _range(entry: Found) -> str:
    ends = percent(entry["over"]), percent(entry["up_to"])
    return "–".join(ends) if entry["over"] else f"up to {ends[1]}"


def special_uniques(results: Found, values: Sequence[Found] = ()) -> str:
    """SUDA: which columns and values single rows out."""
    suda = results["special_uniques"]
    if suda is None:
        return ""
    ordered = sorted(suda["columns"], key=lambda entry: -entry["share"])
    chart = charts.bars([(entry["column"], entry["share"]) for entry in ordered[:20]], "Share of all scores")
    sizes = [[whole(entry["size"]), whole(entry["sets"])] for entry in suda["sets"]]
    values_shown = [
        {**entry, "shown": "missing" if entry["value"] is None else entry["value"]} for entry in values[:MOST_EXAMPLES]
    ]
    dis = "" if suda["highest_dis"] is None else sentence("risk.special.dis", **suda)
    return part(
        "risk.special",
        pair(
            drawing(chart, "special", told("risk.special.described")),
            table(told("risk.special.sizes_caption"), ["Columns in the set", "Sets"], sizes, [1]),
        ),
        records("risk.special", ordered),
        fold("Values", "examples", records("risk.special.values", values_shown)) if values_shown else "",
        **{**suda, "dis": dis},
    )


def unsafe_combinations(results: Found, combinations: Iterable[Found] = ()) -> str:
    """Combinations of a few columns that too few rows share."""
    unsafe = results["every"]
    if unsafe is None:
        return ""
    asked = ", ".join(f"{entry['k']:,} rows behind every {entry['columns']} columns" for entry in unsafe["asked"])
    sets = [{**entry, "names": " + ".join(entry["columns"])} for entry in unsafe["sets"][:MOST_SETS]]
    more = (
        sentence("risk.every.more", shown=len(sets), sets=len(unsafe["sets"]))
        if len(unsafe["sets"]) > len(sets)
        else ""
    )
    examples = [
        {**entry, "group": ", ".join(
            f"{column} = {'missing' if value is None else value}"
            for column, value in zip(entry["columns"], entry["values"], strict=True)
        )}
        for entry in islice(combinations, MOST_EXAMPLES)
    ]  # fmt: skip
    return part(
        "risk.every",
        records("risk.every", sets) if sets else "",
        fold("Combinations", "examples", records("risk.every.examples", examples)) if examples else "",
        asked=asked, rows=unsafe["rows"], more=more,
    )  # fmt: skip
