"""The page of `kanopy assess`: what a release is still good for, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanopy.report import assessment_charts as charts
from kanopy.report.charts import column_losses
from kanopy.report.shell import drawing, shell, table
from kanopy.report.words import esc, figure, listed, percent, plural, whole

MOST_DRAWN, MOST_HEAT, MOST_PAIRS = 12, 10, 15

_LEGEND = (
    '<span class="legend"><span class="swatch before" aria-hidden="true"></span>before (outlined)</span>'
    '<span class="legend"><span class="swatch" aria-hidden="true"></span>after (solid)</span>'
)


def utility_page(
    found: Mapping[str, Any], distributions: Mapping[str, Mapping[str, Any]], *, source: str, version: str
) -> str:
    """The whole page from what `Assessment.to_dict` gives and the distributions before and after."""
    sentences = [
        f"{percent(found['released_rows'] / found['rows'] if found['rows'] else 0)} of the rows are in the release "
        f"({whole(found['released_rows'])} of {whole(found['rows'])}); {whole(found['hidden_rows'])} of them publish "
        "no quasi-identifier.",
    ]
    if found["dropped_columns"]:
        sentences.append(f"Not published: {listed(found['dropped_columns'], 8)}.")
    notes = "".join(f"<li>{esc(note)}</li>" for note in found["notes"])
    parts = [
        ("loss", "Loss", _losses(found)),
        ("distributions", "Distributions", _distributions(found, distributions)),
        ("pairs", "Associations", _pairs(found)),
        ("queries", "Counts", _queries(found)),
        ("learning", "Learning", _learning(found)),
        ("bounds", "Statistics", _bounds(found)),
        ("notes", "Notes", f'<h2>Notes</h2><ul class="notes">{notes}</ul>' if notes else ""),
    ]
    return shell(
        "Utility assessment", source, version,
        good=True,
        verdict=f"Published values lost {percent(found['loss'])} of their detail.",
        sentences=sentences,
        warning="This page holds statistics of the original table. Keep it as safe as the original.",
        tiles=_tiles(found),
        parts=parts,
        footer="A label stands for any of the values it covers, each equally likely where one number is needed.",
    )  # fmt: skip


def _tiles(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    columns = found["columns"]
    tiles = [
        ("Detail lost", percent(found["loss"]), "mean over the quasi-identifiers"),
        ("Rows published", percent(found["released_rows"] / found["rows"] if found["rows"] else 0), "of the original"),
    ]
    if columns:
        worst = max(columns, key=lambda each: each["total_variation"])
        tiles.append(("Largest shift", percent(worst["total_variation"]), f"of the distribution of {worst['name']}"))
    if found["queries"]:
        queries = found["queries"]
        tiles.append(("Error of a count", percent(queries["median"]), f"median of {whole(queries['queries'])} queries"))
    kept = [each["kept"] for each in found["learners"] if each["kept"] is not None]
    if kept:
        best = max(found["learners"], key=lambda each: each["after"])
        tiles.append(("Accuracy after", percent(best["after"]), f"{best['learner']}; was {percent(best['before'])}"))
    if found["pairs"]:
        change = sum(abs(each["v_after"] - each["v_before"]) for each in found["pairs"]) / len(found["pairs"])
        tiles.append(("Association changed", figure(change), "mean change of Cramér's V"))
    return tiles


def _losses(found: Mapping[str, Any]) -> str:
    columns = found["columns"]
    drawn = column_losses({each["name"]: each["loss"] for each in columns})
    rows = [
        [
            each["name"] + (" (quasi-identifier)" if each["name"] in found["quasi_identifiers"] else ""),
            percent(each["loss"]),
            "–" if each["range_loss"] is None else percent(each["range_loss"]),
            percent(each["bits_kept"]),
            whole(each["values_before"]),
            whole(each["labels_after"]),
            whole(each["changed_rows"]),
            whole(each["hidden_rows"]),
        ]
        for each in columns
    ]
    return (
        "<h2>What each column lost</h2><p>Loss is how much of a column a published value could stand for: 0% is as "
        "before, 100% says nothing. Rows that were left out count as 100%.</p>"
        f"{drawing(drawn, 'losses', 'Detail lost per column', 'Greatest first.')}"
        + table(
            "Columns",
            [
                "Column",
                "Loss",
                "Width of intervals",
                "Information kept",
                "Values before",
                "Labels after",
                "Cells changed",
                "Cells hidden",
            ],
            rows,
            list(range(1, 8)),
        )
    )


def _distributions(found: Mapping[str, Any], distributions: Mapping[str, Mapping[str, Any]]) -> str:
    ordered = sorted(found["columns"], key=lambda each: -each["total_variation"])
    pictures = []
    for number, each in enumerate([each for each in ordered if each["changed_rows"]][:MOST_DRAWN]):
        drawn = distributions.get(each["name"])
        if drawn is None:
            continue
        chart = charts.before_after(drawn["bins"], drawn["before"], drawn["after"], each["name"])
        moved = f"Total variation {percent(each['total_variation'])}, earth mover's {percent(each['earth_movers'])}."
        caption = f"<b>{esc(each['name'])}</b>. {moved}"
        pictures.append(drawing(chart, f"d{number}", f"{each['name']} before and after. {moved}", caption))
    rows = [[each["name"], percent(each["total_variation"]), percent(each["earth_movers"])] for each in ordered]
    return (
        "<h2>How the distributions moved</h2><p>After, every label is spread evenly over the values it covers. Total "
        "variation is the share of rows that would have to change their value; the earth mover's distance also counts "
        f"how far they would have to go, over the range of the column.</p><p>{_LEGEND}</p>"
        f'<div class="pair">{"".join(pictures)}</div>'
        + table("Distances", ["Column", "Total variation", "Earth mover's distance"], rows, [1, 2])
    )


def _pairs(found: Mapping[str, Any]) -> str:
    pairs = found["pairs"]
    if not pairs:
        return ""
    names = list(dict.fromkeys(name for each in pairs for name in (each["left"], each["right"])))[:MOST_HEAT]
    place = {name: number for number, name in enumerate(names)}
    before: dict[tuple[int, int], float] = {}
    change: dict[tuple[int, int], float] = {}
    for each in pairs:
        if each["left"] in place and each["right"] in place:
            i, j = place[each["left"]], place[each["right"]]
            before[i, j] = before[j, i] = each["v_before"]
            change[i, j] = change[j, i] = each["v_after"] - each["v_before"]
    ordered = sorted(pairs, key=lambda each: -each["total_variation"])[:MOST_PAIRS]
    rows = [
        [
            f"{each['left']} × {each['right']}",
            percent(each["total_variation"]),
            figure(each["v_before"]),
            figure(each["v_after"]),
            figure(each["correlation_before"]),
            figure(each["correlation_after"]),
        ]
        for each in ordered
    ]
    return (
        "<h2>Do columns still belong together?</h2><p>Cramér's V is 0 for columns that know nothing of each other and "
        "1 if one gives the other away. Generalizing usually weakens associations.</p>"
        f'<div class="pair">{drawing(charts.heat(names, before, "Association before"), "v1", "Association before")}'
        f"{drawing(charts.heat(names, change, 'Change', diverging=True), 'v2', 'Change of association')}</div>"
        + table(
            "Contingency tables that moved most",
            ["Columns", "Total variation", "V before", "V after", "Correlation before", "Correlation after"],
            rows,
            [1, 2, 3, 4, 5],
        )
    )


def _queries(found: Mapping[str, Any]) -> str:
    queries = found["queries"]
    if not queries:
        return ""
    shares = [(plural(int(number), "column"), error) for number, error in queries["by_columns"].items()]
    chart = charts.bars(shares, "Median relative error", top=None)
    rows = [
        ["Median", percent(queries["median"])],
        ["Mean", percent(queries["mean"])],
        ["Three quarters are below", percent(queries["upper_quartile"])],
        ["Nine tenths are below", percent(queries["ninetieth"])],
    ]
    return (
        f"<h2>How wrong counts become</h2><p>{whole(queries['queries'])} random questions of the kind “how many rows "
        f"lie in this range and that group” were asked of both tables, each about {percent(queries['selectivity'])} of "
        "the rows in up to "
        f"{plural(queries['columns'], 'column')}; the release answers as if every value under a label were equally "
        'likely.</p><div class="pair">'
        f"{drawing(chart, 'queries', 'Median relative error by number of columns', 'By number of columns asked for.')}"
        f"{table('Relative error', ['', 'Error'], rows, [1])}</div>"
    )


def _learning(found: Mapping[str, Any]) -> str:
    learners = found["learners"]
    if not learners:
        return ""
    first = learners[0]
    rows = [
        [
            each["learner"],
            f"{percent(each['before'])} ± {each['spread_before'] * 100:.1f}",
            f"{percent(each['after'])} ± {each['spread_after'] * 100:.1f}",
            "–" if each["kept"] is None else percent(max(0.0, each["kept"])),
        ]
        for each in learners
    ]
    described = "; ".join(
        f"{each['learner']}: {percent(each['before'])}, {percent(each['after'])}" for each in learners
    )
    return (
        f"<h2>Can a model still be learned?</h2><p>Each learner predicts <b>{esc(first['target'])}</b> from the other "
        f"columns, once trained on the original and once on the release, and is tested on held-out original rows "
        f"({first['folds']} folds, {whole(first['rows'])} rows). The dashed line is always guessing the most frequent "
        f"value ({percent(first['baseline'])}); what is kept is the gain over that line.</p><p>{_LEGEND}</p>"
        f'<div class="pair">{drawing(charts.accuracy(learners), "learners", "Accuracy before and after. " + described)}'
        f"{table('Accuracy', ['Learner', 'Before', 'After', 'Kept'], rows, [1, 2, 3])}</div>"
    )


def _bounds(found: Mapping[str, Any]) -> str:
    bounds = found["bounds"]
    if not bounds:
        return ""
    names = list(dict.fromkeys(each["column"] for each in bounds if each["low"] < each["high"]))
    pictures = []
    for number, name in enumerate(names[:6]):
        own = [each for each in bounds if each["column"] == name]
        described = "; ".join(f"{e['statistic']} {e['low']:g} to {e['high']:g}, truly {e['truth']:g}" for e in own)
        pictures.append(drawing(charts.bound_ranges(own, name), f"b{number}", described, f"<b>{esc(name)}</b>"))
    rows = [
        [
            each["column"],
            each["statistic"],
            f"{each['truth']:,.6g}",
            f"{each['low']:,.6g}",
            f"{each['high']:,.6g}",
            f"{each['estimate']:,.6g}",
            "yes" if each["holds"] else "no",
        ]
        for each in bounds
        if each["low"] < each["high"] or not each["holds"]
    ]
    same = [each["column"] for each in bounds if each["column"] not in {row[0] for row in rows}]
    exact = (
        f"<p>Exact, because published as they were: {esc(listed(list(dict.fromkeys(same)), 12))}.</p>" if same else ""
    )
    return (
        "<h2>Statistics that stay true</h2><p>Whatever the original values were, as long as each lies within its "
        "published interval the statistic lies within these bounds (the bar; the tick is the true value). A hidden "
        "cell may be anything between the ends of its column.</p>"
        f'<div class="pair">{"".join(pictures)}</div>'
        + table(
            "Bounds", ["Column", "Statistic", "True", "At least", "At most", "By middles", "Holds"], rows, [2, 3, 4, 5]
        )
        + exact
    )
